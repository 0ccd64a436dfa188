//! What ranks send, from a sample of their programs.

use super::{Phase, Plan, Plans};
use crate::mpi::op::{Action, Collective, Op, Transfer};
use crate::traffic::{PERIODS_TO_REPEAT, Traffic};
use des::mix;
use std::collections::BTreeMap;
use topo::subnet::engine::JobDemand;

/// Ranks that are looked at, rounds of each, operations of a round, and steps of a collective.
const RANKS: u32 = 128;
const ROUNDS: u32 = 16;
const OPS: u32 = 4_096;
const STEPS: u32 = 512;

/// Rounds, operations of a round and steps of a collective that are looked at one by one where all pairs matter.
const MOST: u32 = 1 << 16;

/// Numbers below `n`, all or `most` of them, and how many each stands for. One of each of `most` equal parts, somewhere in it by
/// a hash: no stride of a grid or of a loop falls in with them.
fn sample(n: u32, most: u32) -> (impl Iterator<Item = u32>, f64) {
    let spread = move |k: u32| match n <= most {
        true => k,
        false => {
            let place = u128::from(k) << 32 | u128::from(mix(k.into()) >> 32);
            ((place * u128::from(n) / u128::from(most)) >> 32) as u32
        }
    };
    let looked_at = n.min(most);
    ((0..looked_at).map(spread), f64::from(n) / f64::from(looked_at.max(1)))
}

/// The first number for which there is nothing.
fn length(there: impl Fn(u32) -> bool) -> u32 {
    let mut end = 1;
    while there(end - 1) {
        match end.checked_mul(2) {
            Some(twice) => end = twice,
            None => return end,
        }
    }
    let (mut from, mut to) = (end / 2, end - 1);
    while from < to {
        let middle = from + (to - from) / 2;
        match there(middle) {
            true => from = middle + 1,
            false => to = middle,
        }
    }
    from
}

impl Plan {
    /// About what all ranks send in packets of `packet` bytes; `hops` as in
    /// [`Workload::traffic`](crate::workload::Workload::traffic).
    pub fn traffic(&self, packet: u64, hops: &dyn Fn(u32, u32, u64) -> f64) -> Traffic {
        let (mut sum, mut repeated) = (Traffic::default(), 0.0);
        let control = self.costs.control.div_ceil(packet);
        // What a process will do is not known before it does it.
        sum.is_open = self.phases.iter().any(|phase| phase.program.is_live());
        for phase in self.phases.iter().filter(|phase| !phase.program.is_live()) {
            let (all, before) = (phase.program.rounds(), sum);
            let (ranks, each) = sample(self.ranks, RANKS);
            for (rank, round) in ranks.flat_map(|rank| sample(all, ROUNDS).0.map(move |round| (rank, round))) {
                let each = each * f64::from(phase.iterations) / f64::from(all.min(ROUNDS));
                let computing = self.round(phase, rank, round, [OPS, STEPS], &mut |message, times| {
                    let (to, bytes, times) = (message.peer, message.bytes, times * each);
                    // Copies are left out, but where pieces of sizes say what a message takes with them.
                    let both = self
                        .costs
                        .sending(bytes, false)
                        .saturating_add(self.costs.receiving(bytes, false));
                    sum.busy += times * both as f64;
                    let (from, to) = (self.locate(rank).0, self.locate(to).0);
                    if from == to {
                        sum.local += times;
                        return;
                    }
                    let mut add = |messages: f64, packets: u64, bytes: f64| {
                        sum.messages += times * messages;
                        sum.packets += times * messages * packets as f64;
                        sum.bytes += times * messages * bytes;
                        sum.packet_hops += times * messages * packets as f64 * hops(from, to, packets);
                    };
                    let wire = self.wire(bytes);
                    let parts = match self.costs.rails.stripes(wire) {
                        true => u64::from(self.costs.rails.count),
                        false => 1,
                    };
                    let part = wire.div_ceil(parts);
                    add(parts as f64, part.div_ceil(packet), part as f64);
                    add(
                        self.costs.controls(bytes, message.synchronous),
                        control,
                        self.costs.control as f64,
                    );
                });
                sum.busy += each * computing;
            }
            let of_one = (sum.packets - before.packets) / f64::from(phase.iterations.max(1));
            sum.at_once = sum.at_once.max(of_one);
            if let Some(period) = phase.program.repeats_after() {
                let needed = period.saturating_mul(PERIODS_TO_REPEAT).min(phase.iterations);
                let left = 1.0 - f64::from(needed) / f64::from(phase.iterations.max(1));
                repeated += left * (sum.messages + sum.local - before.messages - before.local);
            }
        }
        sum.repeated = repeated / (sum.messages + sum.local).max(1.0);
        sum.busy /= f64::from(self.ranks.max(1));
        sum
    }

    /// The nodes of the job in the order of their ranks, of several rails the first, and what they send each other in all (from, to and bytes, counted among
    /// those). Of what is much the same over and over a part stands for all; what processes will send is not known.
    pub fn demand(&self) -> JobDemand {
        let ranks = || (0..self.ranks).map(|rank| self.locate(rank).0);
        let mut place = BTreeMap::new();
        let mut hosts = Vec::new();
        for host in ranks() {
            place.entry(host).or_insert_with(|| {
                hosts.push(host);
                hosts.len() as u32 - 1
            });
        }
        let at = |rank: u32| place[&self.locate(rank).0];
        let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let known = self.work().filter(|(_, phase)| !phase.program.is_live());
        for (_, phase) in known {
            let all = phase.program.rounds();
            let (looked_at, times) = sample(all, MOST);
            for (rank, round) in looked_at.flat_map(|round| (0..self.ranks).map(move |rank| (rank, round))) {
                let times = times * f64::from(phase.iterations) / f64::from(all);
                let from = at(rank);
                self.round(phase, rank, round, [MOST; 2], &mut |message, each| {
                    let to = at(message.peer);
                    if from != to && message.bytes > 0 {
                        *pairs.entry((from, to)).or_default() += times * each * message.bytes as f64;
                    }
                });
            }
        }
        JobDemand {
            hosts,
            pairs: pairs.into_iter().map(|((from, to), bytes)| (from, to, bytes)).collect(),
        }
    }

    /// Shows what a rank sends in a round, and how often. Returns how long it computes (ps).
    /// At most `most` operations of it and steps of each collective are looked at.
    fn round(&self, phase: &Phase, rank: u32, round: u32, most: [u32; 2], send: &mut dyn FnMut(&Transfer, f64)) -> f64 {
        let mut computing = 0.0;
        let op = |index| phase.program.op(rank, round, index);
        let (indices, times) = sample(length(|index| op(index).is_some()), most[0]);
        for op in indices.filter_map(op) {
            match op {
                Op::Send(transfer) | Op::Isend(transfer) | Op::SendRecv { send: transfer, .. } => {
                    send(&transfer, times);
                }
                Op::Collective(collective) | Op::Icollective { collective, .. } => {
                    self.actions(phase, rank, collective, most[1], &mut |to, bytes, each| {
                        send(&Transfer::new(to, bytes), each * times)
                    });
                }
                Op::Compute { time } => computing += times * time as f64,
                _ => {}
            }
        }
        computing
    }

    fn actions(
        &self,
        phase: &Phase,
        rank: u32,
        collective: Collective,
        most: u32,
        send: &mut dyn FnMut(u32, u64, f64),
    ) {
        let communicator = phase.program.communicator(collective.communicator);
        let rank_of = |other| communicator.rank(rank, other);
        let pair_bytes = |from, to| phase.program.pair_bytes(&collective, rank_of(from), rank_of(to));
        let call = self.call(collective, communicator, rank, &pair_bytes);
        let (steps, times) = sample(length(|step| call.action(step) != Action::Done), most);
        for step in steps {
            if let Action::Send { to, bytes } = call.action(step) {
                send(rank_of(to), bytes, times);
            }
        }
    }
}

impl Plans {
    /// About how many packets of so many bytes all ranks send through the network.
    pub fn packets(&self, packet: u32) -> f64 {
        let plans = self.jobs.iter().flatten();
        plans
            .map(|plan| plan.traffic(packet.into(), &|_, _, _| 0.0).packets)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motif::{CollectiveLoop, CollectiveLoopParameters, Compute};
    use crate::mpi::collective::Algorithm;
    use crate::mpi::op::CollectiveKind;
    use crate::mpi::spec::{Mapping, MpiSpec, Ranks, Start};
    use crate::terms::{Starts, WorkTerms};
    use std::sync::Arc;

    #[test]
    fn a_job_s_demand_is_what_its_ranks_send_each_other() {
        let ring = CollectiveLoop::new(&CollectiveLoopParameters {
            ranks: 6,
            kind: CollectiveKind::Allreduce,
            bytes: 600,
            root: 0,
            groups: None,
            compute: Compute::Time(0),
        });
        let terms = WorkTerms {
            seed: 5,
            fine_seed: 5,
            perturbed: None,
            stop: u64::MAX,
        };
        let demand = |per_node, nodes: &[u32]| {
            let spec = Ranks {
                parts: Vec::new(),
                per_node,
                mapping: Mapping::Block,
                start: Start::InPhase,
                prelude: 0,
                mpi: MpiSpec {
                    algorithms: vec![(CollectiveKind::Allreduce, Algorithm::Ring)],
                    ..MpiSpec::default()
                },
            };
            let phases = vec![(Arc::new(ring.clone().unwrap()) as Arc<dyn crate::mpi::Program>, 3)];
            let starts = Starts::new(&terms, 0, Start::InPhase);
            Plan::new(phases, &spec, nodes, starts).unwrap().demand()
        };
        // Ten messages of 100 B to the next rank, three times.
        let alone = demand(1, &[7, 3, 5, 1, 9, 8]);
        assert_eq!(alone.hosts, [7, 3, 5, 1, 9, 8]);
        let next = (0..6).map(|rank| (rank, (rank + 1) % 6, 3_000.0));
        assert_eq!(alone.pairs, next.collect::<Vec<_>>());
        // Of two ranks on a node one sends to another node.
        let shared = demand(2, &[4, 2, 6]);
        assert_eq!(shared.hosts, [4, 2, 6]);
        assert_eq!(shared.pairs, [(0, 1, 3_000.0), (1, 2, 3_000.0), (2, 0, 3_000.0)]);
    }

    #[test]
    fn lengths_are_found_and_samples_stand_for_all() {
        for n in [0, 1, 2, 3, 7, 8, 9, 1_000, u32::MAX / 2 - 1] {
            assert_eq!(length(|k| k < n), n);
        }
        for (n, most) in [(5, 8), (8, 8), (4_096, 128), (32_768, 128)] {
            let (numbers, each) = sample(n, most);
            let numbers: Vec<u32> = numbers.collect();
            assert_eq!(numbers.len() as f64 * each, f64::from(n));
            assert!(numbers.iter().all(|&k| k < n));
            // In a grid of 32 wide rows, every column is as frequent as any other, to within four standard deviations of chance.
            let share = numbers.len() as f64 / 32.0;
            let deviation = (share * 31.0 / 32.0).sqrt();
            for column in (0..32).filter(|_| n > 32) {
                let here = numbers.iter().filter(|&&k| k % 32 == column).count() as f64;
                assert!(
                    (here - share).abs() <= 4.0 * deviation,
                    "{here} of {} at {column}",
                    numbers.len()
                );
            }
        }
    }
}
