//! The crossbar of an input-queued router: one tick.

use super::InputQueued;
use crate::network::model::{AtRouter, Fabric};
use crate::state::{NONE, State};
use des::{Journal, Sink};
use std::cell::RefCell;

thread_local! {
    /// The queues that may go at a tick: (stamp, index). Kept to spare allocations.
    static HEADS: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
}

impl<J: Journal, S: Sink<Fabric<InputQueued>>> AtRouter<'_, InputQueued, J, S> {
    /// Performs the tick at `now`: packets cross in least-recently-served order of their queues. Of those that go in one tick the first
    /// served becomes the last of the order.
    pub(super) fn tick(&mut self, now: u64) {
        let AtRouter { net, model, lp, .. } = *self;
        HEADS.with_borrow_mut(|heads| {
            heads.clear();
            self.each_head(|index| {
                if self.may_cross(index, now) {
                    heads.push((self.st.inputs.get(index).stamp, index));
                }
            });
            heads.sort_unstable();
            let mut n = 0;
            for at in 0..heads.len() {
                let index = heads[at].1;
                // An earlier one may have taken the input or the output port.
                if !self.may_cross(index, now) {
                    continue;
                }
                let input = *self.st.inputs.get(index);
                let free = now + model.crossing(input.room);
                self.st.crossings.edit(self.j, index / net.vcs).input_free = free;
                self.st.crossings.edit(self.j, input.output).output_free = free;
                heads[n].1 = index;
                n += 1;
            }
            heads.truncate(n);
            let arbiter = self.st.arbiters.edit(self.j, lp);
            arbiter.grants += n as u64;
            for (stamp, head) in (0..arbiter.grants).rev().zip(heads.iter()) {
                self.st.inputs.edit(self.j, head.1).stamp = stamp;
            }
            // The moves are made in port order: an adaptive choice of the next first packet sees those before it.
            heads.sort_unstable_by_key(|&(_, index)| index);
            for &(_, index) in heads.iter() {
                self.cross(index, now);
            }
        });
        let from = now + model.tick;
        let mut due = u64::MAX;
        self.each_head(|index| due = due.min(self.chance(index, from)));
        self.st.arbiters.edit(self.j, lp).due = due;
    }

    /// Calls `see` for every input queue with packets, in the order of ports and channels.
    fn each_head(&self, mut see: impl FnMut(u32)) {
        let AtRouter { net, site, lp, .. } = *self;
        for word in 0..net.words {
            let mut ports = *self.st.arriving.get(lp * net.words + word);
            while ports != 0 {
                let port = site.port + word * 64 + ports.trailing_zeros();
                ports &= ports - 1;
                let mut vcs = self.st.crossings.get(port).heads;
                while vcs != 0 {
                    see(port * net.vcs + vcs.trailing_zeros());
                    vcs &= vcs - 1;
                }
            }
        }
    }

    /// `true` if the first packet of queue `index` can cross now.
    fn may_cross(&self, index: u32, now: u64) -> bool {
        let st: &State = self.st;
        let input = st.inputs.get(index);
        st.crossings.get(index / self.net.vcs).input_free <= now
            && st.crossings.get(input.output).output_free <= now
            && input.ready <= now
            && !self.is_full(index)
    }

    /// `true` if the output buffer has no room for the first packet of queue `index`.
    fn is_full(&self, index: u32) -> bool {
        let input = self.st.inputs.get(index);
        let output = input.output * self.net.vcs + u32::from(input.vc);
        let held = self.st.inputs.get(output).held;
        held + u64::from(input.room) > self.model.output_buffer
    }

    /// A tick (ps), `from` or later, before which the first packet of queue `index` cannot cross; `u64::MAX` if it needs a credit first.
    pub(super) fn chance(&self, index: u32, from: u64) -> u64 {
        let input = self.st.inputs.get(index);
        let output = self.st.crossings.get(input.output);
        let free = self.st.crossings.get(index / self.net.vcs).input_free;
        let free = free.max(output.output_free).max(input.ready);
        if free > from {
            return self.model.tick_from(free);
        }
        if !self.is_full(index) {
            return from;
        }
        match output.turn {
            u64::MAX => u64::MAX,
            turn => from.max(self.model.tick_after(turn)),
        }
    }

    /// Moves the first packet of an input queue into its output buffer.
    fn cross(&mut self, index: u32, now: u64) {
        let AtRouter { net, site, lp, .. } = *self;
        let port = index / net.vcs;
        let input = *self.st.inputs.get(index);
        let slot = input.head;
        let packet = *self.st.slots.get(slot);
        let next = self.st.links.get(slot).next;
        self.st.inputs.edit(self.j, index).head = next;
        if next == NONE {
            let crossing = self.st.crossings.edit(self.j, port);
            crossing.heads &= !(1 << (index % net.vcs));
            if crossing.heads == 0 {
                let local = port - site.port;
                *self.st.arriving.edit(self.j, lp * net.words + local / 64) &= !(1 << (local % 64));
            }
        } else {
            self.route_first(index, now);
        }
        self.return_credit(&packet, now);
        self.wake(input.output, now);
        self.accept(slot, &input);
    }
}
