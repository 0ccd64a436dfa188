//! The crossbar of an input-queued router: one tick.

use super::{InputQueued, route_first};
use crate::network::model::Fabric;
use crate::network::{Network, Site};
use crate::router::return_credit;
use crate::state::{NONE, State};
use des::{Journal, Sink};
use std::cell::RefCell;

thread_local! {
    /// The queues that may go at a tick: (stamp, index). Kept to spare allocations.
    static HEADS: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

/// Performs the tick at `now`: packets cross in least-recently-served order of their queues. Of those that go in one tick the first
/// served becomes the last of the order.
pub(super) fn tick<J: Journal, S: Sink<Fabric<InputQueued>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    now: u64,
    sink: &mut S,
) {
    HEADS.with_borrow_mut(|heads| {
        heads.clear();
        each_head(net, st, lp, site, |st, index| {
            if may_cross(net, st, index, now) {
                heads.push((st.inputs.get(index).stamp, index));
            }
        });
        heads.sort_unstable();
        let mut n = 0;
        for at in 0..heads.len() {
            let index = heads[at].1;
            // An earlier one may have taken the input or the output port.
            if !may_cross(net, st, index, now) {
                continue;
            }
            let input = *st.inputs.get(index);
            let free = now + net.model.crossing(input.room);
            st.crossings.edit(j, index / net.vcs).input_free = free;
            st.crossings.edit(j, input.output).output_free = free;
            heads[n].1 = index;
            n += 1;
        }
        heads.truncate(n);
        let arbiter = st.arbiters.edit(j, lp);
        arbiter.grants += n as u64;
        for (stamp, head) in (0..arbiter.grants).rev().zip(heads.iter()) {
            st.inputs.edit(j, head.1).stamp = stamp;
        }
        // The moves are made in port order: an adaptive choice of the next first packet sees those before it.
        heads.sort_unstable_by_key(|&(_, index)| index);
        for &(_, index) in heads.iter() {
            cross(net, st, j, lp, site, index, now, sink);
        }
    });
    let from = now + net.model.tick;
    let mut due = u64::MAX;
    each_head(net, st, lp, site, |st, index| {
        due = due.min(chance(net, st, index, from))
    });
    st.arbiters.edit(j, lp).due = due;
}

/// Calls `see` for every input queue with packets, in the order of ports and channels.
fn each_head(net: &Network, st: &State, lp: u32, site: &Site, mut see: impl FnMut(&State, u32)) {
    for word in 0..net.words {
        let mut ports = *st.arriving.get(lp * net.words + word);
        while ports != 0 {
            let port = site.port + word * 64 + ports.trailing_zeros();
            ports &= ports - 1;
            let mut vcs = st.crossings.get(port).heads;
            while vcs != 0 {
                see(st, port * net.vcs + vcs.trailing_zeros());
                vcs &= vcs - 1;
            }
        }
    }
}

/// `true` if the first packet of queue `index` can cross now.
fn may_cross(net: &Network, st: &State, index: u32, now: u64) -> bool {
    let input = st.inputs.get(index);
    st.crossings.get(index / net.vcs).input_free <= now
        && st.crossings.get(input.output).output_free <= now
        && input.ready <= now
        && !full(net, st, index)
}

/// `true` if the output buffer has no room for the first packet of queue `index`.
fn full(net: &Network, st: &State, index: u32) -> bool {
    let input = st.inputs.get(index);
    let held = st.inputs.get(input.output * net.vcs + u32::from(input.vc)).held;
    held + u64::from(input.room) > net.model.output_buffer
}

/// A tick (ps), `from` or later, before which the first packet of queue `index` cannot cross; `u64::MAX` if it needs a credit first.
pub(super) fn chance(net: &Network, st: &State, index: u32, from: u64) -> u64 {
    let input = st.inputs.get(index);
    let output = st.crossings.get(input.output);
    let free = st.crossings.get(index / net.vcs).input_free;
    let free = free.max(output.output_free).max(input.ready);
    if free > from {
        return net.model.tick_from(free);
    }
    if !full(net, st, index) {
        return from;
    }
    match output.turn {
        u64::MAX => u64::MAX,
        turn => from.max(net.model.tick_after(turn)),
    }
}

/// Moves the first packet of an input queue into its output buffer.
fn cross<J: Journal, S: Sink<Fabric<InputQueued>>>(
    net: &Network,
    st: &mut State,
    j: &mut J,
    lp: u32,
    site: &Site,
    index: u32,
    now: u64,
    sink: &mut S,
) {
    let port = index / net.vcs;
    let input = *st.inputs.get(index);
    let slot = input.head;
    let packet = *st.slots.get(slot);
    let next = st.links.get(slot).next;
    st.inputs.edit(j, index).head = next;
    if next == NONE {
        let crossing = st.crossings.edit(j, port);
        crossing.heads &= !(1 << (index % net.vcs));
        if crossing.heads == 0 {
            let local = port - site.port;
            *st.arriving.edit(j, lp * net.words + local / 64) &= !(1 << (local % 64));
        }
    } else {
        route_first(net, st, j, lp, site, index, now, sink);
    }
    return_credit::<InputQueued, S>(net, lp, site, &packet, now, sink);
    super::output::wake(net, st, j, input.output, now);
    super::output::accept(net, st, j, lp, site, slot, &input);
}
