//! What the jobs send and how far it goes, told before anything is simulated.

use super::{Job, JobKind, Listed, Message, Workload};
use crate::traffic::Traffic;

/// Senders of a job that are looked at, evenly spread, and messages of each.
const SENDERS: usize = 512;
const MESSAGES: u64 = 8;

impl Workload {
    /// The traffic of every job in packets of `packet` bytes, from a sample of the messages that it will really send; `hops` is asked
    /// for source and destination node, and the packets of the message that the packet is of, some thousand times per job.
    pub fn traffic(&self, packet: u64, hops: &dyn Fn(u32, u32, u64) -> f64) -> Vec<Traffic> {
        let plan = |j| self.plan_of(j);
        let of = |(j, job)| match plan(j) {
            Some(plan) => plan.traffic(packet, hops),
            None => self.of_one_message(job, packet, hops),
        };
        self.jobs.iter().enumerate().map(of).collect()
    }

    fn of_one_message(&self, job: &Job, packet: u64, hops: &dyn Fn(u32, u32, u64) -> f64) -> Traffic {
        if let JobKind::Listed(listed) = &job.kind {
            return of_listed(job, listed, packet, hops);
        }
        let all = 0..job.nodes.len() as u32;
        let senders: Vec<u32> = match &job.kind {
            JobKind::Synthetic { destinations, .. } => all.filter(|&i| destinations.sends(i)).collect(),
            JobKind::Pairs(plan) => all.filter(|&i| plan.sends[i as usize]).collect(),
            JobKind::Endpoints => all.collect(),
            JobKind::Listed(_) | JobKind::Idle => Vec::new(),
        };
        let looked_at = senders.len().min(SENDERS);
        let mut sum = 0.0;
        for i in (0..looked_at).map(|k| senders[k * senders.len() / looked_at]) {
            let node = job.nodes[i as usize];
            let one = |k: u64| match &job.kind {
                JobKind::Synthetic { destinations, .. } => {
                    let words = self.traffic.draw(u64::from(node), k);
                    hops(node, destinations.pick(&job.nodes, i, k, words), 1)
                }
                JobKind::Pairs(plan) => hops(node, plan.partner[i as usize], 1),
                // Memory nodes: those of ranks were asked before.
                JobKind::Endpoints => {
                    let to = self.traffic.draw(u64::from(node), k)[0] % job.nodes.len() as u64;
                    hops(node, job.nodes[to as usize], 1)
                }
                JobKind::Listed(_) | JobKind::Idle => 0.0,
            };
            sum += (0..MESSAGES).map(one).sum::<f64>() / MESSAGES as f64;
        }
        let n = senders.len() as f64;
        Traffic {
            messages: n,
            packets: n,
            bytes: n,
            packet_hops: n * sum / looked_at.max(1) as f64,
            ..Traffic::default()
        }
    }
}

/// All that is listed; the ways of an evenly spread sample of it stand for all.
fn of_listed(job: &Job, listed: &Listed, packet: u64, hops: &dyn Fn(u32, u32, u64) -> f64) -> Traffic {
    let packets_of = |message: &Message| message.bytes.div_ceil(packet.max(1)).max(1);
    let all = listed.all();
    let looked_at = all.len().min(SENDERS * MESSAGES as usize);
    let (mut weight, mut sum) = (0.0, 0.0);
    for k in (0..looked_at).map(|k| k * all.len() / looked_at) {
        let packets = packets_of(&all[k]);
        let from = job.nodes[listed.sender_of(k)];
        weight += packets as f64;
        sum += packets as f64 * hops(from, all[k].destination, packets);
    }
    let packets: u64 = all.iter().map(packets_of).sum();
    Traffic {
        messages: all.len() as f64,
        packets: packets as f64,
        bytes: all.iter().map(|message| message.bytes as f64).sum(),
        packet_hops: packets as f64 * sum / f64::max(weight, 1.0),
        ..Traffic::default()
    }
}
