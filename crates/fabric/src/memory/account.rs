//! What memory nodes have done, as it stands at the end of a run.

use crate::network::Network;
use crate::state::State;
use bytemuck::{Pod, Zeroable};
use work::memory::state::{Beyond, Core};

/// A memory node at the end of a run: the sums of its cores, and what else it has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct MemoryRow {
    /// Its number among memory nodes.
    pub node: u32,
    /// Its job.
    pub job: u32,
    /// Cores that have all their accesses behind them.
    pub finished_cores: u64,
    /// Accesses that its cores have before them.
    pub left: u64,
    /// Its cores together; `finished` is the latest, `longest` the longest.
    pub cores: Core,
    /// What lies beyond its caches.
    pub beyond: Beyond,
}

/// The memory nodes of a part of the network.
pub fn see(net: &Network, state: &State, rows: &mut Vec<MemoryRow>) {
    let Some(plan) = net.workload.memory() else {
        return;
    };
    for lp in state.routers.range() {
        let site = &net.sites[lp as usize];
        for (place, node) in net.node_places(lp, site).zip(site.node_numbers()) {
            let Some((_, logical)) = net.workload.memory_of(node).filter(|_| plan.is_first(node)) else {
                continue;
            };
            let mut row = MemoryRow {
                node: logical,
                job: plan.job,
                beyond: *state.memory.beyond.get(place),
                ..MemoryRow::default()
            };
            let cores = plan.shape.cores;
            for local in 0..cores {
                let core = state.memory.cores.get(place * cores + local);
                let number = u64::from(logical) * u64::from(cores) + u64::from(local);
                row.left += plan.accesses(number) - core.done;
                row.finished_cores += u64::from(core.done == plan.accesses(number));
                add(&mut row.cores, core);
            }
            rows.push(row);
        }
    }
}

/// Adds what a core has done to a sum.
pub fn add(sum: &mut Core, core: &Core) {
    sum.issued += core.issued;
    sum.done += core.done;
    sum.stores += core.stores;
    sum.by.iter_mut().zip(core.by).for_each(|(sum, by)| *sum += by);
    sum.finished = sum.finished.max(core.finished);
    sum.waited += core.waited;
    sum.latency += core.latency;
    sum.l1 += core.l1;
    sum.bus += core.bus;
    sum.l2 += core.l2;
    sum.beyond += core.beyond;
    sum.longest = sum.longest.max(core.longest);
}
