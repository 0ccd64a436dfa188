//! What memory nodes have done, told at the end of a run.

use super::shape::Shape;
use super::state::{Beyond, Core};
use crate::network::Network;
use crate::run::BusyLink;
use crate::state::State;
use bytemuck::{Pod, Zeroable};
use serde::Serialize;

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
pub(crate) fn see(net: &Network, state: &State, rows: &mut Vec<MemoryRow>) {
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
                beyond: *state.beyond.get(place),
                ..MemoryRow::default()
            };
            let cores = plan.shape.cores;
            for local in 0..cores {
                let core = state.cores.get(place * cores + local);
                let number = u64::from(logical) * u64::from(cores) + u64::from(local);
                row.left += plan.accesses(number) - core.done;
                row.finished_cores += u64::from(core.done == plan.accesses(number));
                add(&mut row.cores, core);
            }
            rows.push(row);
        }
    }
}

fn add(sum: &mut Core, core: &Core) {
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

/// The memory nodes of a job: times are means over accesses unless they say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemorySummary {
    /// Its name.
    pub name: String,
    /// Nodes.
    pub nodes: u64,
    /// Cores in all.
    pub cores: u64,
    /// Accesses performed.
    pub accesses: u64,
    /// Stores among them.
    pub stores: u64,
    /// When the last core had its last access; `None` if one has not.
    pub time_ns: Option<f64>,
    /// From giving out an access to having it.
    pub latency_ns: f64,
    /// The longest of all.
    pub latency_max_ns: f64,
    /// Time per access for which a core had no place for it, or stood at a fence.
    pub slot_wait_ns: f64,
    /// Share of the time until the last access for which a core had no place for another, over cores.
    pub slots_full: f64,
    /// In cores' own caches.
    pub l1_ns: f64,
    /// On the nodes' buses and waiting for them.
    pub bus_ns: f64,
    /// In shared caches.
    pub l2_ns: f64,
    /// Between the shared cache's miss and what has come for it: the parts that follow, and what they do not tell.
    pub beyond_ns: f64,
    /// Requests on their way through an idle network.
    pub request_ns: f64,
    /// Requests waiting in interfaces and routers.
    pub request_wait_ns: f64,
    /// Forwards on their way.
    pub forward_ns: f64,
    /// Forwards waiting.
    pub forward_wait_ns: f64,
    /// Responses on their way.
    pub response_ns: f64,
    /// Responses waiting.
    pub response_wait_ns: f64,
    /// Between caches and directory of one node.
    pub inside_ns: f64,
    /// In directories.
    pub directory_ns: f64,
    /// In the caches of owners.
    pub owner_ns: f64,
    /// Waiting for memory.
    pub memory_wait_ns: f64,
    /// In memory.
    pub memory_ns: f64,
    /// Waiting for another access, acknowledgements, or leave to ask: what is left.
    pub protocol_ns: f64,
    /// Share of accesses that the core's own cache has served.
    pub by_l1: f64,
    /// The shared cache.
    pub by_l2: f64,
    /// The cache of another core of the node.
    pub by_neighbour: f64,
    /// A message.
    pub by_message: f64,
    /// Messages to other nodes.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Lines read from memory.
    pub memory_reads: u64,
    /// Lines written to memory.
    pub memory_writes: u64,
    /// Entries that directories had to get from memory.
    pub directory_misses: u64,
    /// Share of the time for which memory was busy, over nodes.
    pub memory_busy: f64,
    /// What takes the most of an access, in words.
    pub bottleneck: String,
}

impl MemorySummary {
    /// Adds up the nodes of a job.
    pub(crate) fn new(
        name: &str,
        shape: &Shape,
        rows: &[MemoryRow],
        (busiest, injection): (Option<&BusyLink>, u64),
    ) -> MemorySummary {
        let mut sum = Core::default();
        rows.iter().for_each(|row| add(&mut sum, &row.cores));
        let all = |of: fn(&Beyond) -> u64| rows.iter().map(|row| of(&row.beyond)).sum::<u64>();
        let n = sum.done.max(1) as f64;
        let mean = |ps: u64| ps as f64 / 1e3 / n;
        let n_cores = u64::from(shape.cores) * rows.len() as u64;
        let done = rows.iter().map(|row| row.finished_cores).sum::<u64>() == n_cores;
        let network = [all(|of| of.way[0]), all(|of| of.way[1]), all(|of| of.way[2])];
        let queued = [all(|of| of.queued[0]), all(|of| of.queued[1]), all(|of| of.queued[2])];
        let told = [
            all(|of| of.inside),
            all(|of| of.directory),
            all(|of| of.owner),
            all(|of| of.memory_queue),
            all(|of| of.memory),
        ];
        let known = network.iter().chain(&queued).chain(&told).sum::<u64>();
        let busy = all(|of| of.memory_busy) as f64 / (sum.finished.max(1) as f64 * rows.len().max(1) as f64);
        let [by_l1, by_l2, by_neighbour, by_message] = sum.by.map(|by| by as f64 / n);
        let mut summary = MemorySummary {
            name: name.to_owned(),
            nodes: rows.len() as u64,
            cores: n_cores,
            accesses: sum.done,
            stores: sum.stores,
            time_ns: done.then_some(sum.finished as f64 / 1e3),
            latency_ns: mean(sum.latency),
            latency_max_ns: sum.longest as f64 / 1e3,
            slot_wait_ns: mean(sum.waited),
            slots_full: sum.waited as f64 / (sum.finished.max(1) as f64 * n_cores.max(1) as f64),
            l1_ns: mean(sum.l1),
            bus_ns: mean(sum.bus),
            l2_ns: mean(sum.l2),
            beyond_ns: mean(sum.beyond),
            request_ns: mean(network[0]),
            request_wait_ns: mean(queued[0]),
            forward_ns: mean(network[1]),
            forward_wait_ns: mean(queued[1]),
            response_ns: mean(network[2]),
            response_wait_ns: mean(queued[2]),
            inside_ns: mean(told[0]),
            directory_ns: mean(told[1]),
            owner_ns: mean(told[2]),
            memory_wait_ns: mean(told[3]),
            memory_ns: mean(told[4]),
            protocol_ns: (sum.beyond as f64 - known as f64) / 1e3 / n,
            by_l1,
            by_l2,
            by_neighbour,
            by_message,
            messages: all(|of| of.messages),
            bytes: all(|of| of.bytes),
            memory_reads: all(|of| of.reads),
            memory_writes: all(|of| of.writes),
            directory_misses: all(|of| of.entries_read),
            memory_busy: busy,
            bottleneck: String::new(),
        };
        // Interfaces are no ports of routers: what the node with the most to send has sent, over the rate of its links.
        let sends = rows
            .iter()
            .max_by_key(|row| (row.beyond.bytes, std::cmp::Reverse(row.node)));
        let out = sends.map(|row| {
            let rate = injection as f64 * f64::from(shape.interfaces) * sum.finished.max(1) as f64;
            BusyLink {
                name: format!("memory node {} to its router", row.node),
                busy: (row.beyond.bytes as f64 * 8e12 / rate).min(1.0),
            }
        });
        let links = out.iter().chain(busiest);
        let link = links.max_by(|a, b| a.busy.total_cmp(&b.busy));
        summary.bottleneck = summary.sentence(link);
        summary
    }

    /// Names what an access spends most of its time with.
    fn sentence(&self, link: Option<&BusyLink>) -> String {
        let network = self.request_ns + self.forward_ns + self.response_ns;
        let waits = self.request_wait_ns + self.forward_wait_ns + self.response_wait_ns;
        let caches = self.l1_ns + self.bus_ns + self.l2_ns + self.inside_ns;
        let parts = [
            (waits, "waiting for links, in interfaces and routers: bandwidth"),
            (self.memory_wait_ns, "waiting for memory: its bandwidth"),
            (network, "the way through an idle network: latency and serialisation"),
            (self.memory_ns, "memory itself: its latency"),
            (caches, "caches and buses of the nodes"),
            (self.directory_ns + self.owner_ns, "directories and caches of owners"),
            (
                self.protocol_ns,
                "waiting for other accesses to the same lines, or for leave to ask",
            ),
        ];
        let most = parts.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((time, what)) = most.filter(|_| self.latency_ns > 0.0) else {
            return "no access was made".to_owned();
        };
        let share = 100.0 * time / self.latency_ns;
        let limit = match self.slots_full > 0.5 {
            true => format!(
                "; for {:.0} % of the time cores have no place for another access",
                100.0 * self.slots_full
            ),
            false => String::new(),
        };
        let link = match link.filter(|_| time == waits) {
            Some(link) => format!(
                "; the busiest link, {}, is busy for {:.0} % of the time",
                link.name,
                100.0 * link.busy
            ),
            None => String::new(),
        };
        format!("{share:.0} % of an access is {what}{link}{limit}")
    }
}
