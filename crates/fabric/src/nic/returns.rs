//! Room of a router's host buffer that comes back to an interface without an event.
//!
//! When it counts is known when the packet that held it leaves, a window before, and the interface alone asks for it. So it is written down beside the
//! interface, which does with it what it would do with events as soon as it cannot do without. An interface that waits for room is woken at the
//! first of these times.

use super::next_size;
use crate::network::InterfaceTerms;
use crate::network::model::{AtRouter, Fabric, RouterModel};
use crate::state::{Nic, State, returns};
use des::{Journal, Sink};

impl<M: RouterModel> Fabric<M> {
    /// Whether room comes back so: not where it wakes interfaces that have nothing to send, nor where lost packets ask for it at any time.
    #[inline(always)]
    pub(crate) fn keeps_returns(&self) -> bool {
        let may_ask = !M::PLAIN && self.net.retransmit.is_some();
        M::HOST_CREDITS && !M::TICKS && self.model.wake() == 0 && !may_ask
    }

    /// Whether an interface has so much room for what starts at `start`, with what has come back by then; else it waits for it.
    #[inline(never)]
    pub(super) fn finds_room<J: Journal>(
        &self,
        st: &mut State,
        j: &mut J,
        (lp, place): (u32, u32),
        room: i32,
        start: u64,
    ) -> bool {
        let back = match self.keeps_returns() {
            true => returns::take(st, j, lp, place, start) as i32,
            false => 0,
        };
        let nic = st.nics.edit(j, place);
        nic.credit += back;
        let finds = nic.credit >= room;
        if !finds {
            nic.target |= Nic::BLOCKED;
        }
        finds
    }

    /// Lets an interface wait for room that has data alone to send, before `end`, and not the room that its next packet takes: when it can act again (ps).
    /// `None` where there is more to do.
    #[inline(always)]
    pub(super) fn waits_for_room<J: Journal>(
        &self,
        st: &mut State,
        j: &mut J,
        (lp, place): (u32, u32),
        end: u64,
    ) -> Option<u64> {
        let nic = st.nics.get(place);
        let (start, room) = (
            nic.ready.max(nic.free),
            self.model.room(next_size(&self.net, nic)) as i32,
        );
        let has_data = nic.birth != u64::MAX && nic.target & (Nic::BLOCKED | Nic::CONTROL) == 0;
        if !self.keeps_returns() || !has_data || start >= end || nic.credit >= room {
            return None;
        }
        if self.finds_room(st, j, (lp, place), room, start) {
            return None;
        }
        let due = returns::first(st, place);
        if due < end {
            return None;
        }
        st.due.set(j, place, due);
        Some(due)
    }

    /// Lets room count that comes back at `time` to an interface, which waits for some.
    #[inline(never)]
    pub(super) fn room_has_come<J: Journal>(&self, st: &mut State, j: &mut J, (lp, place): (u32, u32), time: u64) {
        let back = returns::take(st, j, lp, place, time);
        self.room_is_back(st, j, place, back as i32, time);
    }
}

impl<M: RouterModel, J: Journal, S: Sink<Fabric<M>>> AtRouter<'_, M, J, S> {
    /// Whether an interface has so much room for what starts at `start`: [`Fabric::finds_room`].
    #[inline(always)]
    pub(super) fn finds_room(&mut self, place: u32, room: i32, start: u64) -> bool {
        self.fabric.finds_room(self.st, self.j, (self.lp, place), room, start)
    }

    /// When room comes back (ps) to an interface that waits for some, as far as that is known; `u64::MAX` to others.
    #[inline(always)]
    pub(super) fn room_comes(&self, place: u32) -> u64 {
        match self.fabric.keeps_returns() && self.st.nics.get(place).is(Nic::BLOCKED) {
            true => returns::first(self.st, place),
            false => u64::MAX,
        }
    }
}

/// Gives room for `bytes` back to the interface at `place`, to count at `time` (ps), which is not in the open window; all that happened before `since` is
/// done with, and the interface is given nothing of before.
///
/// It counts at once where nobody can tell: where the interface cannot run short of room until then, whatever it is given.
#[inline(always)]
pub(crate) fn give_back<M: RouterModel, J: Journal, S>(
    at: &mut AtRouter<'_, M, J, S>,
    place: u32,
    (since, time): (u64, u64),
    bytes: u32,
) {
    let due = *at.st.due.get(place);
    let nic = at.st.nics.edit(at.j, place);
    if is_ample(&at.net.interface, (nic, due), since, time) {
        nic.credit += bytes as i32;
        return;
    }
    keep(at.st, at.j, (at.lp, place), time, bytes);
}

/// Whether an interface that can act next at `due` by itself, and is given nothing of before `since`, has room until `time` for whatever it is given.
#[inline(always)]
pub(crate) fn is_ample(interface: &InterfaceTerms, (nic, due): (&Nic, u64), since: u64, time: u64) -> bool {
    // It starts nothing before its link is idle, nor before it can act by itself or is given something.
    let next = nic.free.max(due.min(since));
    nic.credit > interface.ample && time <= next + interface.ample_for
}

/// Keeps what comes back to an interface until it counts.
#[inline(never)]
fn keep<J: Journal>(st: &mut State, j: &mut J, (lp, place): (u32, u32), time: u64, bytes: u32) {
    if !returns::put(st, j, place, time, bytes) {
        let nic = *st.nics.get(place);
        if !nic.is(Nic::BLOCKED) {
            // What counts before the interface can act again may as well count now.
            let counts = returns::take(st, j, lp, place, nic.free);
            st.nics.edit(j, place).credit += counts as i32;
        }
        returns::add(st, j, (lp, place), time, bytes);
    }
    if *st.due.get(place) > time && st.nics.get(place).is(Nic::BLOCKED) {
        st.due.set(j, place, time);
    }
}
