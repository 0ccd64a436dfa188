//! What ranks send, from a sample of their programs.

use super::Plan;
use super::op::{Action, Collective, Op};
use super::plan::{Phase, Plans};
use crate::workload::Traffic;

/// Ranks that are looked at, operations of each in an iteration, and steps of a collective.
const RANKS: u32 = 128;
const OPS: u32 = 4_096;
const STEPS: u32 = 512;

/// Numbers below `n`, all or `most` of them, and how many each stands for. They are the multiples of the golden ratio: no stride of a
/// grid or of a loop falls in with them.
fn sample(n: u32, most: u32) -> (impl Iterator<Item = u32>, f64) {
    let spread = move |k: u32| match n <= most {
        true => k,
        false => ((u64::from(k.wrapping_mul(0x9E37_79B9)) * u64::from(n)) >> 32) as u32,
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
        let mut sum = Traffic::default();
        let control = self.costs.control.div_ceil(packet);
        for phase in &self.phases {
            let (ranks, each) = sample(self.ranks, RANKS);
            for rank in ranks {
                self.iteration(phase, rank, &mut |to, bytes, times| {
                    let times = times * each * f64::from(phase.iterations);
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
                    add(self.costs.controls(bytes), control, self.costs.control as f64);
                });
            }
        }
        sum
    }

    /// Shows what a rank sends in an iteration: to whom, how many bytes, how often.
    fn iteration(&self, phase: &Phase, rank: u32, send: &mut dyn FnMut(u32, u64, f64)) {
        let op = |index| phase.program.op(rank, 0, index);
        let (indices, times) = sample(length(|index| op(index).is_some()), OPS);
        for op in indices.filter_map(op) {
            match op {
                Op::Send(transfer) | Op::Isend(transfer) | Op::SendRecv { send: transfer, .. } => {
                    send(transfer.peer, transfer.bytes, times);
                }
                Op::Collective(collective) => {
                    self.actions(phase, rank, collective, &mut |to, bytes, each| {
                        send(to, bytes, each * times)
                    });
                }
                _ => {}
            }
        }
    }

    fn actions(&self, phase: &Phase, rank: u32, collective: Collective, send: &mut dyn FnMut(u32, u64, f64)) {
        let communicator = &phase.program.communicators()[usize::from(collective.communicator)];
        let rank_of = |other| communicator.rank(rank, other);
        let pair_bytes = |from, to| {
            phase
                .program
                .pair_bytes(collective.communicator, rank_of(from), rank_of(to))
        };
        let call = self.call(collective, communicator, rank, &pair_bytes);
        let (steps, times) = sample(length(|step| call.action(step) != Action::Done), STEPS);
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
        }
    }
}
