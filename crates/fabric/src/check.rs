//! The proofs that every run carries: conservation, capacity, the zero-load bound, progress, completeness, credits.

use crate::network::{BuildError, Network};
use crate::observe::Stats;
use crate::packet::{Kind, Packet};
use crate::router::late_admission;
use crate::spec::RunSpec;
use crate::state::{NONE, Parts};
use serde::Serialize;

/// One self-check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What is checked.
    pub name: &'static str,
    /// Whether it holds.
    pub ok: bool,
    /// The numbers.
    pub detail: String,
}

/// All self-checks of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// All hold.
    pub ok: bool,
    /// One by one.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The failed checks in words.
    pub fn failures(&self) -> String {
        let failed: Vec<String> = self
            .checks
            .iter()
            .filter(|check| !check.ok)
            .map(|check| format!("{}: {}", check.name, check.detail))
            .collect();
        failed.join("; ")
    }
}

/// Packets and bytes in pending events.
#[derive(Clone, Copy, Debug, Default)]
pub struct InFlight {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl InFlight {
    /// Counts an event if it is a packet.
    pub fn count(&mut self, event: &Packet, net: &Network) {
        if event.kind() == Kind::Arrival {
            self.packets += u64::from(net.parts(event.size()));
            self.bytes += u64::from(event.size());
        }
    }
}

/// What the checks look at.
pub struct Facts<'a> {
    /// The network.
    pub net: &'a Network,
    /// Its final state.
    pub state: &'a Parts<'a>,
    /// What was recorded.
    pub stats: &'a Stats,
    /// Packets in pending events.
    pub in_flight: &'a InFlight,
    /// Nothing was left to do.
    pub idle: bool,
    /// The run was stopped for want of progress.
    pub stalled: bool,
    /// Messages a finite workload had to deliver; `None` if the run may end before it has.
    pub expected: Option<u64>,
}

/// Judges a finished run.
pub fn verdict(facts: &Facts<'_>) -> Verdict {
    let checks = vec![
        conservation(facts),
        capacity(facts),
        zero_load(facts),
        credits(facts),
        progress(facts),
    ];
    Verdict {
        ok: checks.iter().all(|check| check.ok),
        checks,
    }
}

/// Packets and bytes that wait in queues, found by walking every queue.
fn queued(net: &Network, parts: &Parts<'_>) -> (u64, u64) {
    let (mut packets, mut bytes) = (0, 0);
    for state in parts.iter() {
        let heads = state.channels.as_slice().iter().map(|channel| channel.head);
        let lists = state.lists.as_slice().iter().map(|list| list.head);
        let inputs = state.inputs.as_slice().iter().map(|input| input.head);
        for head in heads.chain(lists).chain(inputs) {
            let mut slot = head;
            while slot != NONE {
                packets += u64::from(net.parts(state.slots.get(slot).size()));
                bytes += u64::from(state.slots.get(slot).size());
                slot = state.links.get(slot).next;
            }
        }
    }
    (packets, bytes)
}

fn conservation(facts: &Facts<'_>) -> Check {
    let stats = facts.stats;
    let (queued_packets, queued_bytes) = queued(facts.net, facts.state);
    let flying = queued_packets + facts.in_flight.packets + stats.landing;
    let flying_bytes = queued_bytes + facts.in_flight.bytes + stats.landing_bytes;
    let out = stats.packets + flying;
    let out_bytes = stats.packet_bytes + flying_bytes;
    let nics = facts.state.iter().flat_map(|state| state.nics.as_slice());
    let sent: u64 = nics.map(|nic| nic.packets).sum();
    let routers = facts.state.iter().flat_map(|state| state.routers.as_slice());
    let counted: u64 = routers.map(|router| u64::from(router.queued)).sum();
    let ok = stats.injected == out
        && stats.injected_bytes == out_bytes
        && sent == stats.injected
        && counted == queued_packets;
    Check {
        name: "conservation",
        ok,
        detail: format!(
            "{} packets and {} bytes injected = {} and {} delivered + {} and {} in flight",
            stats.injected, stats.injected_bytes, stats.packets, stats.packet_bytes, flying, flying_bytes
        ),
    }
}

/// The time a link has been busy is never more than the time until it is idle again, and its bytes fit that time.
fn capacity(facts: &Facts<'_>) -> Check {
    let over = facts.state.ports().zip(&facts.net.peers).position(|(port, peer)| {
        let bandwidth = facts.net.classes[usize::from(peer.class)].bandwidth().0;
        // Late-admission routers hand chunks to their nodes without a link: class 0 has no time of its own there.
        let linked = peer.class != 0 || !facts.net.model.late_admission;
        let over = u128::from(port.bytes) * 8_000_000_000_000 > u128::from(port.free) * u128::from(bandwidth);
        port.busy > port.free || (linked && over)
    });
    let detail = match over {
        None => format!("no link of {} above its bandwidth", facts.net.peers.len()),
        Some(port) => format!(
            "link {} carried more than its bandwidth allows",
            name(facts.net, port as u32)
        ),
    };
    Check {
        name: "capacity",
        ok: over.is_none(),
        detail,
    }
}

fn zero_load(facts: &Facts<'_>) -> Check {
    let early = facts.stats.early;
    let detail = match early {
        0 => format!(
            "none of {} messages faster than its zero-load bound",
            facts.stats.messages
        ),
        _ => format!("{early} messages came faster than the zero-load bound"),
    };
    Check {
        name: "zero-load bound",
        ok: early == 0,
        detail,
    }
}

fn credits(facts: &Facts<'_>) -> Check {
    let full = facts.net.buffer;
    let empty_network = facts.idle && facts.stats.injected == facts.stats.packets;
    let mut wrong = None;
    for site in &facts.net.sites {
        let network = site.port * facts.net.vcs..(site.port + u32::from(site.net)) * facts.net.vcs;
        // Nodes of input-queued routers give credits too, for all channels of a port together.
        if site.ports() == 0 {
            continue;
        }
        let state = facts.state.of_port(site.port);
        let bounded = !state.crossings.is_empty();
        let hosts = site.port + u32::from(site.net)..site.port + if bounded { site.ports() } else { 0 };
        for channel in network.chain(hosts.map(|port| port * facts.net.vcs)) {
            let credit = state.channels.get(channel).credit;
            if credit < 0 || credit > full || (empty_network && credit != full) {
                wrong = wrong.or(Some((channel, credit)));
            }
        }
    }
    let detail = match wrong {
        None if empty_network => "all buffer space came back".into(),
        None => "between zero and the buffer's size everywhere".into(),
        Some((channel, credit)) => {
            let port = name(facts.net, channel / facts.net.vcs);
            format!(
                "{port} channel {} holds {credit} bytes of credit of {full}",
                channel % facts.net.vcs
            )
        }
    };
    Check {
        name: "credits",
        ok: wrong.is_none(),
        detail,
    }
}

fn progress(facts: &Facts<'_>) -> Check {
    let stats = facts.stats;
    let left = stats.injected - stats.packets - stats.landing;
    let check = |ok, detail| Check {
        name: "progress",
        ok,
        detail,
    };
    if facts.stalled || (facts.idle && left > 0) {
        let cycle = waiting_cycle(facts.net, facts.state);
        let cycle = if cycle.is_empty() {
            "no cycle of full buffers found".into()
        } else {
            cycle.join(" -> ")
        };
        return check(
            false,
            format!("{left} packets are in flight and nothing moves; waiting channels: {cycle}"),
        );
    }
    match facts.expected {
        Some(expected) if facts.idle && stats.messages != expected => check(
            false,
            format!(
                "{} of {expected} messages were delivered, and nothing is left to do",
                stats.messages
            ),
        ),
        Some(expected) if facts.idle => check(true, format!("all {expected} messages delivered")),
        Some(expected) if stats.messages < expected => check(
            false,
            format!(
                "simulated time ends at 281 s, when {} of {expected} messages were delivered",
                stats.messages
            ),
        ),
        _ => check(
            true,
            format!(
                "{} messages delivered, {left} packets under way at the end",
                stats.messages
            ),
        ),
    }
}

/// A cycle of channels each of whose first packets waits for room that the next one holds, by name.
fn waiting_cycle(net: &Network, parts: &Parts<'_>) -> Vec<String> {
    let vcs = net.vcs;
    // A blocked channel waits for the buffer at the other end; the packets in that buffer wait in queues of that router.
    // With late admission the first of the chunks that wait beside a queue waits for it, and holds room of the queue it came from.
    let late = net.model.late_admission;
    let waiting = |port: u32, vc: u32| match late {
        true => late_admission::waiting(parts.of_port(port), port),
        false => [parts.of_port(port).channels.get(port * vcs + vc).head, NONE],
    };
    let blocked = |port: u32, vc: u32| {
        let state = parts.of_port(port);
        let channel = state.channels.get(port * vcs + vc);
        match late {
            true => waiting(port, vc) != [NONE; 2],
            false => channel.head != NONE && channel.credit < i64::from(state.slots.get(channel.head).size()),
        }
    };
    let holders = |port: u32, vc: u32| -> Vec<(u32, u32)> {
        let peer = net.peers[port as usize];
        let site = net.sites[peer.lp as usize];
        let state = parts.of_port(site.port);
        let mut found = Vec::new();
        if !state.inputs.is_empty() {
            // The first packet of the input queue waits for room before an output, the packets there for room at its other end.
            let input = state.inputs.get((site.port + u32::from(peer.port)) * vcs + vc);
            if input.head != NONE && blocked(input.output, u32::from(input.vc)) {
                found.push((input.output, u32::from(input.vc)));
            }
            return found;
        }
        for next in site.port..site.port + u32::from(site.net) {
            for next_vc in 0..vcs {
                let holds = |mut slot: u32| {
                    while slot != NONE {
                        let packet = state.slots.get(slot);
                        if packet.port() == peer.port && u32::from(packet.vc()) == vc {
                            return true;
                        }
                        slot = state.links.get(slot).next;
                    }
                    false
                };
                if blocked(next, next_vc) && waiting(next, next_vc).into_iter().any(holds) {
                    found.push((next, next_vc));
                }
            }
        }
        found
    };
    let mut done = std::collections::BTreeSet::new();
    for router in 0..net.n_routers() {
        let site = net.site_of(router);
        for port in site.port..site.port + u32::from(site.net) {
            for vc in 0..vcs {
                if !blocked(port, vc) || done.contains(&(port, vc)) {
                    continue;
                }
                // Depth-first along waiting channels; the first one met again closes the cycle.
                let mut path = vec![(port, vc)];
                let mut branches = vec![holders(port, vc)];
                while let Some(options) = branches.last_mut() {
                    let Some(next) = options.pop() else {
                        branches.pop();
                        done.extend(path.pop());
                        continue;
                    };
                    if let Some(at) = path.iter().position(|&step| step == next) {
                        let label = |&(port, vc): &(u32, u32)| format!("{} channel {vc}", name(net, port));
                        return path[at..].iter().chain([&next]).map(label).collect();
                    }
                    if !done.contains(&next) {
                        path.push(next);
                        branches.push(holders(next.0, next.1));
                    }
                }
            }
        }
    }
    Vec::new()
}

/// Name of an output port by its place in the columns.
pub fn name(net: &Network, port: u32) -> String {
    let lp = net.sites.partition_point(|site| site.port <= port) - 1;
    net.port_name(lp as u32, port - net.sites[lp].port)
}

/// Refuses a network whose routing can deadlock with the channels it has, before the run; else says why it cannot.
pub fn deadlock(spec: &RunSpec, net: &Network) -> Result<String, BuildError> {
    let proof = net.routing.prove(spec, &net.topology);
    if proof.free {
        return Ok(proof.words);
    }
    if spec.router.allow_deadlock {
        return Ok(format!("allowed by router.allow_deadlock: {}", proof.words));
    }
    let hint = "take router.vcs = \"auto\", or set router.allow_deadlock = true to see what happens";
    Err(BuildError::field("router.vcs", proof.words, Some(hint)))
}
