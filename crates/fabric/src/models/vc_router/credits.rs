//! Credits: the room of flits that leave an input buffer goes back to the router before.
//!
//! When a credit counts matters only to a sender that has no other. The receiver knows how much room the sender knows of: the buffer, less
//! flits that are here and those whose credits it owes. At most so many further flits can leave until a credit that is told now is there, so
//! that the sender has room left as long as the receiver sees more than that: until then credits wait, and many are told by one event. As soon as
//! there is less they are told at once, and count when they have to. Routings that compare credits see all of them at their times.
//!
//! A value with [`CREDITS`] counts the flits of each channel in [`BITS`] bits; so does one with [`super::FLIT`] where a flit takes as long as a credit, and what a
//! port keeps of those that it owes ([`Port::mark`](crate::state::Port::mark)).

use super::{CREDITS, LinkTimes, VcRouter};
use crate::network::model::{AtRouter, Fabric, RouterModel as _};
use crate::network::{Network, Site};
use crate::packet::Packet;
use crate::state::State;
use des::{Journal, Sink, Time};

/// Room that no buffer has: credits never wait.
pub(super) const NEVER: u16 = u16::MAX;

/// More flits of a buffer, and no credits wait: their room has half of a word, in which less than needed is negative.
const BUFFER: u16 = 1 << 13;
/// Of the count of a channel.
const BITS: u32 = 4;
/// Most credits of a channel that wait.
const MOST: u64 = (1 << BITS) - 1;
/// More channels have no counts.
const CHANNELS: u32 = 60 / BITS;

/// The count of a channel.
#[inline(always)]
fn count_of(counts: u64, vc: u32) -> u64 {
    counts >> (vc * BITS) & MOST
}

/// Flits of a channel of input `port` that have left and of which nobody has been told.
#[inline(always)]
pub(super) fn owed(st: &State, port: u32, vc: u32) -> u64 {
    count_of(st.ports.get(port).mark, vc)
}

/// Channels with their counts.
#[inline(always)]
fn counted(mut counts: u64) -> impl Iterator<Item = (u32, u64)> {
    std::iter::from_fn(move || {
        let vc = counts.trailing_zeros() / BITS;
        let flits = counts.checked_shr(vc * BITS)? & MOST;
        counts ^= flits << (vc * BITS);
        Some((vc, flits))
    })
}

impl LinkTimes {
    /// Most flits of a channel that leave before a credit that is told now can count and that cannot be seen at the other end: packets have up to `flits`.
    fn unseen(&self, through: u64, clock: u64, flits: u16) -> u64 {
        let span = through + self.flight + self.credit;
        let in_step = self.flight.is_multiple_of(clock) && self.credit.is_multiple_of(clock);
        let ticks = match in_step {
            true => span / clock - 1,
            false => span / clock + 1,
        };
        // Between two packets a cycle gives the channel away.
        ticks - ticks / (u64::from(flits) + 1)
    }
}

impl VcRouter {
    /// Finds out which credits may wait.
    pub(super) fn tell_late(&mut self, net: &Network) {
        let routing = &net.routing;
        let is_blind = !routing.is_asked_first() && !routing.leads_to_the_node();
        if !(self.usual && is_blind && net.vcs <= CHANNELS && self.buffer <= BUFFER) {
            return;
        }
        let (clock, through) = (self.clock, self.crossbar());
        for times in &mut self.links {
            let least = times.unseen(through, clock, self.full.1) + 1;
            // A link that is slower than the switch has a queue, in which flits wait unseen.
            if times.flit <= clock && least < u64::from(self.buffer) {
                times.spare = least as u16;
                times.carries = through + times.flight == times.credit;
                self.counted = net.vcs as u8;
            }
        }
    }

    /// What is known of the room of a port's channels before the first flit. Where credits may wait: what the sender knows beyond what it needs, so that they may as
    /// long as it is not negative.
    pub(super) fn first_room(&self, net: &Network, site: &Site, port: u32) -> u16 {
        if !self.tells_late() || port >= u32::from(site.net) {
            return self.buffer;
        }
        let class = net.peers[(site.port + port) as usize].class();
        match self.links[usize::from(class)].spare {
            // Too little, whatever the buffer has.
            NEVER => (2 * BUFFER).wrapping_neg(),
            spare => self.buffer.wrapping_sub(spare),
        }
    }

    /// The counts of a value that are of channels.
    #[inline(always)]
    fn counts(&self, value: u64) -> u64 {
        value & ((1 << (BITS * u32::from(self.counted))) - 1)
    }

    /// Whether what a port owes, read from outside, is of channels.
    pub(super) fn counts_fit(&self, owed: u64) -> bool {
        self.counts(owed) == owed
    }
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// The times of the link at a network port.
    #[inline(always)]
    fn times_at(&self, port: u32) -> &LinkTimes {
        let peer = &self.net.peers[(self.site.port + port) as usize];
        &self.model.links[peer.class() as usize]
    }

    /// A flit that comes at `now` takes room of a network port's channel: credits that wait have to be told if the sender may be left with too little.
    #[inline(always)]
    pub(super) fn takes_room(&mut self, port: u32, vc: u32, now: u64) {
        if !self.model.tells_late() {
            return;
        }
        let index = self.record_of((port << self.model.shift) + vc);
        let input = self.st.input_channels.edit(self.j, index);
        input.room = input.room.wrapping_sub(1);
        if (input.room as i16) < 0 && owed(self.st, self.site.port + port, vc) > 0 {
            self.apart(move |mut at| at.tell(port, now));
        }
    }

    /// The room of a flit that leaves the buffer of a network port's channel at `now` goes back, now or later.
    #[inline(always)]
    pub(super) fn owe(&mut self, port: u32, vc: u32, now: u64) {
        let index = self.record_of((port << self.model.shift) + vc);
        let room = self.st.input_channels.get(index).room as i16;
        let record = self.st.ports.edit(self.j, self.site.port + port);
        record.mark += 1 << (vc * BITS);
        if room < 0 || count_of(record.mark, vc) == MOST {
            self.apart(move |mut at| at.tell(port, now));
        }
    }

    /// All credits that the channels of a port owe leave at `now`.
    #[inline(always)]
    fn tell(&mut self, port: u32, now: u64) {
        let counts = self.take_owed(port);
        let time = Time(now + self.times_at(port).credit);
        let address = self.net.peers[(self.site.port + port) as usize].address();
        let credits = Packet::credit(time, address).with_value(CREDITS | counts);
        self.sink.send_at(time, credits);
    }

    /// The credits that go with a flit over a port.
    #[inline(always)]
    pub(super) fn carried(&mut self, port: u32) -> u64 {
        match self.model.tells_late() && self.times_at(port).carries {
            true => self.take_owed(port),
            false => 0,
        }
    }

    /// The counts of what a port's channels owe, which is told now.
    #[inline(always)]
    fn take_owed(&mut self, port: u32) -> u64 {
        let owed = self.st.ports.get(self.site.port + port).mark;
        if owed == 0 {
            return 0;
        }
        self.st.ports.edit(self.j, self.site.port + port).mark = 0;
        let first = self.record_of(port << self.model.shift);
        for (vc, flits) in counted(owed) {
            let input = self.st.input_channels.edit(self.j, first + vc);
            input.room = input.room.wrapping_add(flits as u16);
        }
        owed
    }

    /// Credits of several channels of an output port; whether they change what the router can do.
    #[inline(always)]
    pub(super) fn credit_outputs(&mut self, port: u32, value: u64) -> bool {
        let mut due = false;
        for (vc, flits) in counted(self.model.counts(value)) {
            let place = (self.site.port + port) * self.net.vcs + vc;
            let channel = self.st.channels.edit(self.j, place);
            let had = channel.credit;
            channel.credit += (flits * u64::from(self.model.flit)) as i64;
            due |= had < i64::from(self.model.flit) && self.has_room_again(port, vc);
        }
        due
    }
}

#[cfg(test)]
mod tests;
