//! Runs of ranks that go on as they have on the average: iterations are left out that are like those before, and none that was run.
//!
//! All ranks of a job are so many iterations further from one moment to the next, and all times of the run are moved by what that takes on the average.
//! Nothing else is changed: numbers of messages go on where they were, so that what the routing draws behind it was drawn for no message before. What
//! ranks, links and interfaces have counted grows as it has between two moments.

use crate::envelope::{Notice, notice_later, read};
use crate::models::AnyFabric;
use crate::mpi::account::ranks_of_jobs_at;
use crate::network::Network;
use crate::packet::{Kind, Packet};
use crate::recurrence::{own_columns, pairs};
use crate::state::crossbar::{Arbiter, Crossing, Input};
use crate::state::{Incoming, Nic, OutLink, Post, State};
use des::recurrence::{Differs, Drift};
use des::{Column, Event, NoJournal, Time};
use work::ranks::Plan;
use work::ranks::state::{Item, Rank};
use work::workload::Source;

/// Why nothing can be left out of runs of a network, or is not known to be; `None` if it can.
pub fn may_drift(net: &Network) -> Option<&'static str> {
    match net.routing.news() {
        Some(_) => Some("routers tell each other of their queues"),
        None => net.is_unlike(1),
    }
}

/// Moves the state of all LPs at the second of two moments, by so many iterations of each job.
///
/// # Errors
/// Something of it is not known to drift, a rank has done none of the work between the moments, or it has not as much left.
pub fn drift_state(
    world: &AnyFabric,
    first: &State,
    second: &mut State,
    iterations: &[u32],
    drift: &Drift,
) -> Result<(), Differs> {
    let net = world.net();
    own_columns(first, second, matches!(world, AnyFabric::OutputBuffered(_)))?;
    if !drift.by.is_multiple_of(world.clock()) {
        return Err(Differs("the time to the next tick of a clock"));
    }
    ranks(net, first, second, iterations, drift)?;
    let link = |was: &OutLink, is: &OutLink| {
        Ok(OutLink {
            free: drift.time(is.free)?,
            busy: drift.sum(was.busy, is.busy)?,
            packets: drift.sum(was.packets, is.packets)?,
            bytes: drift.sum(was.bytes, is.bytes)?,
        })
    };
    pairs(&first.ports, &mut second.ports, |was, is| {
        Ok(is.with_link(link(&was.link(), &is.link())?))
    })?;
    pairs(&first.out_links, &mut second.out_links, link)?;
    pairs(&first.nics, &mut second.nics, |was, is| {
        Ok(Nic {
            free: drift.time(is.free)?,
            birth: drift.time(is.birth)?,
            ready: drift.time(is.ready)?,
            packets: drift.sum(was.packets, is.packets)?,
            ..*is
        })
    })?;
    pairs(&first.sources, &mut second.sources, |was, is| {
        Ok(Source::new(drift.sum(was.made, is.made)?, drift.time(is.clock)?))
    })?;
    each(&mut second.returns, |back| {
        let mut later = *back;
        for (time, bytes) in later.times.iter_mut().zip(back.bytes) {
            *time = if bytes == 0 { 0 } else { drift.time(*time)? };
        }
        Ok(later)
    })?;
    each(&mut second.slots, |packet| moved(packet, drift))?;
    each(&mut second.due, |&time| drift.time(time))?;
    each(&mut second.posts, |post| {
        let birth = drift.time(post.birth)?;
        Ok(Post { birth, ..*post })
    })?;
    each(&mut second.incoming, |message| {
        Ok(Incoming {
            birth: drift.time(message.birth)?,
            latest: unless_zero(message.latest, drift)?,
            ..*message
        })
    })?;
    each(&mut second.inputs, |input| {
        let ready = drift.time(input.ready)?;
        Ok(Input { ready, ..*input })
    })?;
    each(&mut second.crossings, |crossing| {
        Ok(Crossing {
            input_free: drift.time(crossing.input_free)?,
            output_free: drift.time(crossing.output_free)?,
            turn: drift.time(crossing.turn)?,
            heads: crossing.heads,
        })
    })?;
    each(&mut second.arbiters, |arbiter| {
        Ok(Arbiter {
            due: drift.time(arbiter.due)?,
            turn: drift.time(arbiter.turn)?,
            grants: arbiter.grants,
        })
    })?;
    each(&mut second.mpi.items, |item| {
        let time = unless_zero(item.time, drift)?;
        Ok(Item { time, ..*item })
    })
}

/// Moves a pending event.
///
/// # Errors
/// It is one that is not known to drift.
pub fn drift_event(event: &Packet, drift: &Drift) -> Result<Packet, Differs> {
    if event.is_news() {
        return Err(Differs("what routers tell each other"));
    }
    let later = moved(event, drift)?;
    match event.kind() {
        Kind::Arrival if event.single() => Err(Differs("a message of one packet that was not announced")),
        Kind::Arrival | Kind::Credit | Kind::HostCredit | Kind::Delivered | Kind::Rank => Ok(later),
        Kind::Notice => match read(event) {
            Notice::Birth(birth, _) => Ok(notice_later(&later, event.noticed(), Some(drift.time(birth)?), None)),
            // The only one of a message says how old it is.
            Notice::Size(..) | Notice::Only(..) => Ok(later),
            Notice::Lost(_) => Err(Differs("what is lost")),
        },
        Kind::Start => Err(Differs("a start")),
    }
}

fn moved(event: &Packet, drift: &Drift) -> Result<Packet, Differs> {
    Ok(event.at(Time(drift.time(event.time().0)?), event.lp(), event.port()))
}

/// A time of which 0 stands for none.
fn unless_zero(time: u64, drift: &Drift) -> Result<u64, Differs> {
    if time == 0 { Ok(0) } else { drift.time(time) }
}

fn each<T: bytemuck::Pod>(column: &mut Column<T>, later: impl Fn(&T) -> Result<T, Differs>) -> Result<(), Differs> {
    for record in column.as_mut_slice() {
        *record = later(record)?;
    }
    Ok(())
}

/// All ranks, whose own sums grow by what they have done in an iteration on the average.
fn ranks(net: &Network, first: &State, second: &mut State, iterations: &[u32], drift: &Drift) -> Result<(), Differs> {
    for lp in 0..net.sites.len() as u32 {
        for (slot, job, plan, _) in ranks_of_jobs_at(net, lp) {
            let (was, is) = (*first.mpi.ranks.get(slot), *second.mpi.ranks.get(slot));
            let more = iterations.get(job as usize).copied().unwrap_or(0);
            let later = rank(plan, &was, &is, more, drift)?;
            second.mpi.ranks.set(&mut NoJournal, slot, later);
        }
    }
    Ok(())
}

fn rank(plan: &Plan, was: &Rank, is: &Rank, more: u32, drift: &Drift) -> Result<Rank, Differs> {
    let moved = Rank {
        clock: drift.time(is.clock)?,
        turned: drift.time(is.turned)?,
        local_free: drift.time(is.local_free)?,
        ..*is
    };
    if more == 0 {
        return Ok(moved);
    }
    let left = plan
        .phases
        .get(is.phase as usize)
        .map_or(0, |phase| phase.iterations.saturating_sub(is.iteration + 1));
    let done = is.iteration.wrapping_sub(was.iteration);
    if was.phase != is.phase || done == 0 || done > is.iteration || left < more {
        return Err(Differs("how far ranks are"));
    }
    let sum = |was: u64, is: u64| {
        let grown = is
            .checked_sub(was)
            .map(|grown| u128::from(grown) * u128::from(more) / u128::from(done));
        let grown = grown.and_then(|grown| u64::try_from(grown).ok());
        grown
            .and_then(|grown| is.checked_add(grown))
            .ok_or(Differs("a sum of a rank"))
    };
    Ok(Rank {
        computed: sum(was.computed, is.computed)?,
        waited: sum(was.waited, is.waited)?,
        worked: sum(was.worked, is.worked)?,
        messages: sum(was.messages, is.messages)?,
        bytes: sum(was.bytes, is.bytes)?,
        local_messages: sum(was.local_messages, is.local_messages)?,
        local_bytes: sum(was.local_bytes, is.local_bytes)?,
        iteration: is.iteration + more,
        ..moved
    })
}
