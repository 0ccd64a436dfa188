//! The proofs that every run carries: conservation, capacity, the zero-load bound, progress, completeness, credits.

use crate::harvest::{ChannelCredit, Harvest};
use crate::results::{Check, LoadState, Verdict, lost_words};
use fabric::mpi::RankRow;
use fabric::network::Network;
use fabric::packet::{HORIZON, MAX_HOPS, MAX_PARTS, NUMBERS, OLD};
use fabric::spec::{Engine, RunSpec};
use fabric::state::fault;
use work::build_error::BuildError;

mod cycle;
mod values;

/// What the checks look at.
pub struct RunFacts<'a> {
    /// The network.
    pub net: &'a Network,
    /// What the run has come to, all parts together.
    pub harvest: &'a Harvest,
    /// Nothing was left to do.
    pub idle: bool,
    /// The run was stopped for want of progress.
    pub stalled: bool,
    /// Messages a finite workload had to deliver; `None` if the run may end before it has.
    pub expected: Option<u64>,
    /// The run was to go on until the work is done.
    pub until_done: bool,
}

/// The end of simulated time in words.
fn end_of_time() -> String {
    format!("simulated time ends at {:.0} s", HORIZON.0 as f64 * 1e-12)
}

/// Judges a finished run.
pub fn verdict(facts: &RunFacts<'_>) -> Verdict {
    let checks = vec![
        conservation(facts),
        flows(facts),
        capacity(facts),
        zero_load(facts),
        credits(facts),
        progress(facts),
        limits(facts),
    ];
    let checks = checks
        .into_iter()
        .chain(programs(facts))
        .chain(ranks(facts))
        .chain(memory(facts))
        .chain(values(facts));
    let checks = checks.collect::<Vec<_>>();
    Verdict {
        ok: checks.iter().all(|check| check.ok),
        checks,
        state: LoadState::Ok,
        because: String::new(),
        settles_ns: None,
    }
}

fn conservation(facts: &RunFacts<'_>) -> Check {
    let harvest = facts.harvest;
    let stats = &harvest.stats;
    let flying = harvest.queued.packets + harvest.in_flight.packets + stats.landing;
    let flying_bytes = harvest.queued.bytes + harvest.in_flight.bytes + stats.landing_bytes;
    let lost = stats.lost();
    let out = stats.packets + flying + lost.packets;
    let out_bytes = stats.packet_bytes + flying_bytes + lost.bytes;
    let ok = stats.injected == out
        && stats.injected_bytes == out_bytes
        && harvest.sent == stats.injected
        && harvest.counted == harvest.queued.packets;
    Check {
        name: "conservation",
        ok,
        detail: format!(
            "{} packets and {} bytes injected = {} and {} delivered + {} and {} in flight{}",
            stats.injected,
            stats.injected_bytes,
            stats.packets,
            stats.packet_bytes,
            flying,
            flying_bytes,
            match facts.net.changes {
                Some(_) => format!(" + {} and {} lost", lost.packets, lost.bytes),
                None => String::new(),
            }
        ),
    }
}

/// What each node sent to each other has arrived or is under way, message by message: no sum agrees by chance, see
/// [`weight`](fabric::packet::weight).
fn flows(facts: &RunFacts<'_>) -> Check {
    let (stats, harvest) = (&facts.harvest.stats, &facts.harvest);
    let under_way = harvest.under_way();
    let (bytes, messages) = (
        stats.flow == under_way.flow,
        stats.message_flow == under_way.message_flow,
    );
    let swapped = harvest.faults.filter(|(_, faults)| faults & fault::OUT_OF_ORDER != 0);
    let wrong = match (bytes, messages) {
        (true, true) => None,
        (false, _) => Some("bytes"),
        (true, false) => Some("messages"),
    };
    let detail = match (wrong, swapped) {
        (None, Some((router, _))) => format!(
            "packets of a message to a node of router {} came in another order than they were sent, on a network with one way and no queue in \
             which they could pass each other",
            facts.net.topology.router_name(router)
        ),
        (None, None) => "the messages and bytes of every node to every other have arrived or are under way".into(),
        (Some(what), _) => format!(
            "the {what} of some node to some other are not those that have arrived or are under way, though all together may be as many; \
             one-packet messages that are under way for more than {:.0} s look the same",
            OLD as f64 * 1e-12
        ),
    };
    Check {
        name: "flows",
        ok: wrong.is_none() && swapped.is_none(),
        detail,
    }
}

fn capacity(facts: &RunFacts<'_>) -> Check {
    let over = &facts.harvest.over;
    let detail = match over {
        None => format!("no link of {} above its bandwidth", facts.harvest.ports),
        Some(place) => format!("link {} carried more than its bandwidth allows", place.name),
    };
    Check {
        name: "capacity",
        ok: over.is_none(),
        detail,
    }
}

fn zero_load(facts: &RunFacts<'_>) -> Check {
    let stats = &facts.harvest.stats;
    let early = stats.early;
    let detail = match early {
        0 => format!("none of {} messages faster than its zero-load bound", stats.messages),
        _ => format!("{early} messages came faster than the zero-load bound"),
    };
    Check {
        name: "zero-load bound",
        ok: early == 0,
        detail,
    }
}

fn credits(facts: &RunFacts<'_>) -> Check {
    let harvest = facts.harvest;
    let gone = harvest.stats.packets + harvest.stats.lost().packets;
    let empty_network = facts.idle && harvest.stats.injected == gone;
    let wrong = match empty_network {
        true => &harvest.missing,
        false => &harvest.outside,
    };
    let detail = match wrong {
        None if empty_network => "all buffer space came back".into(),
        None => "between zero and the buffer's size everywhere".into(),
        Some(ChannelCredit { place, vc, bytes, full }) => {
            format!("{} channel {vc} holds {bytes} bytes of credit of {full}", place.name)
        }
    };
    Check {
        name: "credits",
        ok: wrong.is_none(),
        detail,
    }
}

fn progress(facts: &RunFacts<'_>) -> Check {
    let stats = &facts.harvest.stats;
    let lost = stats.lost();
    let left = stats
        .injected
        .saturating_sub(stats.packets + stats.landing + lost.packets);
    let check = |ok, detail| Check {
        name: "progress",
        ok,
        detail,
    };
    if facts.stalled || (facts.idle && left > 0) {
        let cycle = cycle::cycle(&facts.harvest.waits);
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
        None if facts.until_done && !facts.idle => check(false, format!("{}, when work was left to do", end_of_time())),
        Some(expected) if facts.idle && stats.messages + lost.messages == expected && lost.messages > 0 => check(
            true,
            format!("{} of {expected} messages delivered, the others lost", stats.messages),
        ),
        Some(expected) if facts.idle && stats.messages != expected => check(
            false,
            format!(
                "{} of {expected} messages were delivered, and nothing is left to do{}",
                stats.messages,
                first_lost(facts)
            ),
        ),
        Some(expected) if facts.idle => check(true, format!("all {expected} messages delivered")),
        Some(expected) if stats.messages < expected => check(
            false,
            format!(
                "{}, when {} of {expected} messages were delivered",
                end_of_time(),
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

/// What was lost first, to go on with where work waits for what never comes.
fn first_lost(facts: &RunFacts<'_>) -> String {
    let lost = facts.harvest.stats.lost();
    lost.first.map_or(String::new(), |first| {
        format!(
            "; {} packets were lost, and nobody sends {} again: the first that was lost is {}",
            lost.packets,
            match lost.again {
                0 => "them".to_owned(),
                again => format!("{} of them", lost.packets - again),
            },
            lost_words(facts.net, &first)
        )
    })
}

/// Nothing went beyond what the fields of a packet can tell apart.
fn limits(facts: &RunFacts<'_>) -> Check {
    let harvest = facts.harvest;
    let mut beyond = Vec::new();
    let beyond_fields = fault::NUMBER_IN_USE | fault::TOO_MANY_PARTS | fault::RANK_NUMBERS_USED_UP;
    if let Some((router, faults)) = &harvest.faults.filter(|(_, faults)| faults & beyond_fields != 0) {
        let name = facts.net.topology.router_name(*router);
        let reasons = [
            (
                fault::NUMBER_IN_USE,
                format!(
                    "a message was sent with the number of another that was still under way: of a node's messages, {NUMBERS} have numbers of their own"
                ),
            ),
            (
                fault::TOO_MANY_PARTS,
                format!("a message has more than {MAX_PARTS} packets; take larger packets or smaller messages"),
            ),
            (
                fault::RANK_NUMBERS_USED_UP,
                "a rank has sent 32768 messages or more to another after one that is not received yet: they are numbered with 16 bits; let it be received or waited for earlier".to_owned(),
            ),
        ];
        let reasons = reasons.into_iter().filter(|(fault, _)| faults & fault != 0);
        beyond.extend(reasons.map(|(_, reason)| format!("at router {name} {reason}")));
    }
    let most = harvest.stats.hops.len() as u64;
    if most > u64::from(MAX_HOPS) {
        beyond.push(format!(
            "a packet took {MAX_HOPS} links or more, hops are not counted any further; take a network with shorter ways"
        ));
    }
    if let Some(place) = &harvest.rounded {
        beyond.push(format!(
            "link {} lost more than 1 % of the time to packets whose times were rounded up to whole picoseconds; take larger messages or packets",
            place.name
        ));
    }
    Check {
        name: "limits",
        ok: beyond.is_empty(),
        detail: match beyond.is_empty() {
            true => "numbers, parts and hops fit their fields".into(),
            false => beyond.join("; "),
        },
    }
}

/// The processes of live programs have come to good ends; with their reasons where they have not.
fn programs(facts: &RunFacts<'_>) -> Option<Check> {
    let plans = facts.net.workload.ranks()?.jobs.iter().flatten();
    let phases = plans.filter(|plan| plan.is_live).flat_map(|plan| &plan.phases);
    let ends: Vec<(bool, String)> = phases.filter_map(|phase| phase.program.conclude()).collect();
    (!ends.is_empty()).then(|| Check {
        name: "programs",
        ok: ends.iter().all(|(is_well, _)| *is_well),
        detail: ends.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; "),
    })
}

/// When nothing is left to do, or the run was to go on until it is, every MPI rank has come to the end of its program.
fn ranks(facts: &RunFacts<'_>) -> Option<Check> {
    let rows = &facts.harvest.ranks;
    let left: Vec<_> = rows.iter().filter(|row| !row.is_done()).collect();
    let stuck = facts.idle && !left.is_empty();
    let faults: Vec<_> = rows.iter().filter_map(RankRow::fault).collect();
    let late = facts.until_done && !left.is_empty();
    let detail = match left.len() {
        _ if !faults.is_empty() => {
            let more = faults.len().saturating_sub(4);
            let more = if more > 0 {
                format!("; and {more} more")
            } else {
                String::new()
            };
            let words = faults.iter().take(4).cloned().collect::<Vec<_>>().join("; ");
            format!("the program of a rank is wrong: {words}{more}; it stopped there")
        }
        0 => format!("all {} ranks came to the end of their programs", rows.len()),
        n if late && !stuck => format!(
            "{}, when {n} of {} ranks had not come to the end of their programs",
            end_of_time(),
            rows.len()
        ),
        n if stuck => {
            let words: Vec<String> = left.iter().take(4).map(|row| row.words()).collect();
            let more = if n > 4 {
                format!("; and {} more", n - 4)
            } else {
                String::new()
            };
            format!(
                "{n} of {} ranks wait for what never comes: {}{more}; {}",
                rows.len(),
                words.join("; "),
                match facts.harvest.stats.lost().packets {
                    0 => "look for a send without its receive, or a receive without its send".to_owned(),
                    _ => first_lost(facts).trim_start_matches("; ").to_owned(),
                }
            )
        }
        n => format!("{n} of {} ranks were under way at the end", rows.len()),
    };
    (!rows.is_empty()).then_some(Check {
        name: "ranks",
        ok: !stuck && !late && faults.is_empty(),
        detail,
    })
}

/// When nothing is left to do, or the run was to go on until it is, every core has had all its accesses.
fn memory(facts: &RunFacts<'_>) -> Option<Check> {
    let (rows, plan) = (&facts.harvest.memory, facts.net.workload.memory()?);
    let cores = u64::from(plan.shape.cores);
    let left = rows.iter().filter(|row| row.finished_cores < cores);
    let left: Vec<_> = left.collect();
    let stuck = facts.idle && !left.is_empty();
    let late = facts.until_done && !left.is_empty();
    let detail = match left[..] {
        [] => format!("all cores of {} memory nodes had their accesses", rows.len()),
        [first, ..] => format!(
            "cores of {} of {} memory nodes still had accesses {}, those of node {} {}",
            left.len(),
            rows.len(),
            match (stuck, late) {
                (true, _) => format!("that nothing answers{}", first_lost(facts)),
                (_, true) => format!("when simulated time ended ({})", end_of_time()),
                _ => "at the end".to_owned(),
            },
            first.node,
            first.left,
        ),
    };
    Some(Check {
        name: "memory",
        ok: !stuck && !late,
        detail,
    })
}

/// Accesses of memory nodes have seen what they should, where that is written down.
fn values(facts: &RunFacts<'_>) -> Option<Check> {
    if !facts.net.workload.memory()?.shape.values {
        return None;
    }
    let found = values::check(&facts.harvest.performed);
    Some(Check {
        name: "values",
        ok: found.is_ok(),
        detail: found.map_or_else(
            |wrong| wrong,
            |seen| {
                format!(
                    "each of {} stores to {} lines saw the one before it, each of {} loads what was there while it was under way; {} \
                     loads saw what another core had stored",
                    seen.stores, seen.lines, seen.loads, seen.from_others
                )
            },
        ),
    })
}

/// Refuses a network whose routing can deadlock with the channels it has, before the run; else says why it cannot.
pub fn deadlock(spec: &RunSpec, net: &Network) -> Result<String, BuildError> {
    let proof = net.prove(&spec.router);
    if proof.free {
        return Ok(proof.words);
    }
    if spec.router.allow_deadlock {
        return Ok(format!("allowed by router.allow_deadlock: {}", proof.words));
    }
    let hint = match (proof.decided, spec.router.vcs) {
        (false, Some(_)) => {
            "take router.vcs = \"auto\", for which proofs end sooner; with router.allow_deadlock = true it runs unproved, and says who \
             waits for whom if nothing moves any more"
        }
        (false, None) => {
            "take a smaller network, or a routing with fewer ways, such as \"minimal\"; with router.allow_deadlock = true it runs \
             unproved, and says who waits for whom if nothing moves any more"
        }
        (true, Some(_)) => "take router.vcs = \"auto\", or set router.allow_deadlock = true to see what happens",
        (true, None) => {
            "take a routing that is free of deadlock here, or set router.allow_deadlock = true to see what happens"
        }
    };
    Err(BuildError::field("router.vcs", proof.words, Some(hint)))
}

/// Refuses what cannot be done with ranks whose operations are made up by processes as they go: these cannot be taken back, shared or saved.
pub fn processes(spec: &RunSpec, net: &Network, is_shared: bool, is_kept: bool) -> Result<(), BuildError> {
    let plans = net.workload.ranks();
    if !plans.is_some_and(|plans| plans.jobs.iter().flatten().any(|plan| plan.is_live)) {
        return Ok(());
    }
    let refuse = |field: &str, reason: &str, hint: &str| Err(BuildError::field(field, reason, Some(hint)));
    match spec.control.engine {
        Engine::Optimistic | Engine::RollbackCheck => refuse(
            "run.engine",
            "this engine takes back what it has done, which processes of programs cannot",
            "take auto, sequential or conservative; a recording of the run can be played on any engine",
        ),
        _ if is_shared => refuse(
            "job.work",
            "processes of programs are of one process of the simulator, ranks of mpirun cannot share them",
            "run without mpirun",
        ),
        _ if is_kept => refuse(
            "job.work",
            "processes of programs cannot be saved in a checkpoint",
            "run without checkpoints",
        ),
        _ => Ok(()),
    }
}

/// Refuses windows of links where a checkpoint would lose those of other ranks.
pub fn windows(spec: &RunSpec, is_shared: bool, is_kept: bool) -> Result<(), BuildError> {
    if spec.observe.links_every.is_none() || !is_shared || !is_kept {
        return Ok(());
    }
    let reason = "checkpoints of a run that ranks share do not hold the windows of all their links";
    let hint = "run it without mpirun, or leave out observe.links_every";
    Err(BuildError::field("observe.links_every", reason, Some(hint)))
}

/// Packets whose times are longer by more than this for being whole picoseconds are refused.
const MOST_ROUNDING: f64 = 0.1;

/// Refuses packets that are so short on such fast links that whole picoseconds are too coarse for them.
pub fn rounding(spec: &RunSpec, net: &Network) -> Result<(), BuildError> {
    let key = |class: usize| format!("link.{}.bandwidth", net.topology.rate_of_class(class).0);
    let classes = net.classes.iter().zip((0..net.classes.len()).map(key));
    let own = spec.nic.bandwidth.map(|_| (&net.injection, "nic.bandwidth".to_owned()));
    // Late-admission routers hand chunks to their nodes without a link.
    let linked = classes.skip(usize::from(!net.model.nodes_have_links()));
    for (class, key) in linked.chain(own) {
        for size in net.workload.usual_packets(net.unit) {
            if class.rounding(size) > MOST_ROUNDING {
                let (exact, takes) = (f64::from(size) * 8e12 / class.bandwidth().0 as f64, class.ser(size));
                let reason = format!(
                    "times are whole picoseconds: a packet of {size} B, which takes {exact:.3} ps, would take {takes} ps and the link \
                     carry {:.3} of its bandwidth",
                    exact / takes as f64
                );
                let hint = "take larger messages or packets (nic.packet), or a bandwidth at which a packet takes at least 100 ps or whole \
                            picoseconds";
                return Err(BuildError::field(&key, reason, Some(hint)));
            }
        }
    }
    Ok(())
}
