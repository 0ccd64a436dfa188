//! Room of the buffers between routers that is free again, and of which the router before is told of late.
//!
//! When a credit counts matters only to a sender that runs short of room. The receiver knows what the sender knows of: the buffer, less what waits here, what has left and
//! is not told of, what is told of on the way, and what is on the link. As long as all of that leaves room for a packet, what is free again is owed, and one event tells of much of
//! it; else it is told of at once, as it is where somebody may see it: where routings compare credits, where the bubble rule counts, where something fails, and where
//! iterations may repeat, whose states would otherwise differ by what is owed.
//!
//! Whether a channel owes turns when a packet comes, and everything that starts before is performed then: packets come in the same order on every engine, while departures
//! are performed when somebody looks.

use super::{Credit, channel_of, is_changed, longest};
use crate::network::Network;
use crate::network::model::{AtRouter, Fabric};
use crate::packet::Packet;
use crate::router::waiting_behind;
use crate::spec::RunSpec;
use crate::state::State;
use des::checkpoint::{put, take};
use des::{Event, Journal, NoJournal, Sink, Torn};
use std::ops::Range;

/// How much may be told of late.
///
/// Twice as much is what a buffer has room for besides a packet that is to find some: what is on the link, which starts within the time of a hop; what
/// comes while what is owed is told of; and a packet for each of these, which may begin or end outside. One half waits or is owed, the other is told of and on the way: what
/// was owed before, of which nobody is told again until that has come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owing {
    /// A channel with more bytes that wait or are owed is told of these; 0: none owes.
    pub(super) most: u32,
    /// From when a packet is sent on until its tail has left, at most (ps).
    tail: u64,
    /// From then until its room is told of at the other end, at most (ps).
    flight: u64,
    /// Times of words are counted in so many ps, a power of two whose logarithm this is.
    tick: u32,
}

impl Owing {
    /// What may be told of late on a network, where packets are sent on so long [ahead](Credit::ahead) of their start (ps).
    pub(super) fn new(spec: &RunSpec, net: &Network, ahead: u64) -> Owing {
        let sees_credits = net.routing.sense().is_some_and(|sense| sense.credits || sense.reserve);
        let sees_slots = spec.router.bubble > 1;
        if sees_credits || sees_slots || is_changed(net) || net.is_unlike(1).is_none() {
            return Owing::default();
        }
        // A link that is as fast as the fastest, and as long as the longest.
        let packet = longest(net, |class| class.ser(net.packet));
        let tail = ahead + packet;
        let flight = tail + longest(net, |class| class.credit);
        let hop = longest(net, |class| class.hop) + if net.store_and_forward { packet } else { 0 };
        let rate = u128::from(longest(net, |class| class.bandwidth().0));
        let passing = ((u128::from(hop) + u128::from(flight)) * rate).div_ceil(8_000_000_000_000);
        let taken = passing + 5 * u128::from(net.packet);
        let spare = match u32::try_from(net.buffer) {
            Ok(buffer @ ..=LARGEST) => u128::from(buffer).saturating_sub(taken) as u32,
            _ => 0,
        };
        match spare / net.packet {
            0..LEAST => Owing::default(),
            _ => Owing {
                most: spare / 2,
                tail,
                flight,
                tick: (flight / 4).max(1).ilog2(),
            },
        }
    }

    /// The tick that some time (ps) is in.
    #[inline(always)]
    fn tick_of(&self, time: u64) -> u64 {
        time >> self.tick
    }

    /// Ticks from that of `now` on until all of a span (ps) is over.
    fn ticks(&self, now: u64, span: u64) -> u64 {
        self.tick_of(now + span) + 1 - self.tick_of(now)
    }
}

/// What is noted of an input channel, in a word: bytes that waited when the word was begun and those that have come since; bytes of these that have left; and whether what has
/// left is owed or told of at once; and a tick: until then at least it is told of at once, or until then at most what was owed before is on its way. All zero: nothing is here, and
/// what leaves is owed.
///
/// Ticks begin again: a channel that tells may do so for longer than it has to, and one that owes take what has come for what is on its way, which nobody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inlet(u64);

impl Inlet {
    /// Bits of what has come, and of what has left.
    const BYTES: u32 = 24;
    /// Half as much as there are bits for, so that a packet more has some as well.
    const FULL: u64 = 1 << (Self::BYTES - 1);
    /// Where the tick is.
    const TICK: u32 = 2 * Self::BYTES;
    /// Ticks that are told apart.
    const TICKS: u64 = 1 << (63 - Self::TICK);
    /// What has left is told of at once.
    const TELLS: u64 = 1 << 63;

    /// That so many bytes wait, and that what leaves is told of at once until a tick.
    fn telling(waiting: u64, until: u64) -> Inlet {
        Inlet(Self::TELLS | Self::owing(waiting, until).0)
    }

    /// That so many bytes wait, and that what leaves is owed; what was owed before is on its way until a tick.
    fn owing(waiting: u64, until: u64) -> Inlet {
        Inlet((until % Self::TICKS) << Self::TICK | waiting)
    }

    /// What waited and what has come.
    #[inline(always)]
    fn held(self) -> u64 {
        self.0 & ((1 << Self::BYTES) - 1)
    }

    /// What of it has left.
    #[inline(always)]
    fn gone(self) -> u64 {
        self.0 >> Self::BYTES & ((1 << Self::BYTES) - 1)
    }

    /// Whether what leaves is told of at once.
    #[inline(always)]
    fn tells(self) -> bool {
        self.0 & Self::TELLS != 0
    }

    /// For how many ticks from `tick` on it is as it has to be until some tick.
    fn left(self, tick: u64) -> u64 {
        match (self.0 >> Self::TICK).wrapping_sub(tick) % Self::TICKS {
            left if left <= Self::TICKS / 2 => left,
            _ => 0,
        }
    }

    /// Whether one that tells has done so for long enough at `tick`, or so much has come that it has to be begun anew.
    #[inline(always)]
    fn has_told(self, tick: u64) -> bool {
        let since = tick.wrapping_sub(self.0 >> Self::TICK) % Self::TICKS;
        since < Self::TICKS / 2 || self.held() >= Self::FULL
    }
}

/// Packets of a buffer that have to be spare for anything to be told of late.
const LEAST: u32 = 4;

/// Nothing is told of late of a larger buffer (bytes): what comes is counted in a word.
const LARGEST: u32 = Inlet::FULL as u32 / 4;

/// A channel with too much that waits is looked at again after so many flights of a credit.
const LATER: u64 = 8;

/// Bytes that have left by an input channel, whose word this is, and that nobody has been told of.
pub(super) fn owed(word: u64) -> u64 {
    match Inlet(word) {
        inlet if inlet.tells() => 0,
        inlet => inlet.gone(),
    }
}

impl<const PLAIN: bool> Credit<PLAIN> {
    /// The records of a router's inputs, if they are kept.
    fn inlets_of(&self, net: &Network, lp: u32) -> Range<u32> {
        let site = &net.sites[lp as usize];
        match self.owing.most {
            0 => 0..0,
            _ => site.port * net.vcs..(site.port + u32::from(site.net)) * net.vcs,
        }
    }

    /// Appends what is noted of a router's inputs.
    pub(super) fn pack_inlets(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        self.inlets_of(net, lp)
            .for_each(|place| put(out, *st.inlets.get(place)));
    }

    /// Takes what [`Self::pack_inlets`] has written, of a router whose packets are there.
    pub(super) fn unpack_inlets(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let site = net.sites[lp as usize];
        let places = self.inlets_of(net, lp);
        if places.is_empty() {
            return Ok(());
        }
        let mut waiting = vec![0; places.len()];
        for channel in site.port * net.vcs..(site.port + site.ports()) * net.vcs {
            for slot in waiting_behind(st, st.channel::<Self>(channel).head) {
                let packet = st.slots.get(slot);
                if packet.port() < site.net {
                    let place = channel_of::<PLAIN>(net, site.port + u32::from(packet.port()), packet.vc());
                    waiting[(place - places.start) as usize] += u64::from(packet.size());
                }
            }
        }
        for (place, waiting) in places.zip(waiting) {
            let inlet = Inlet(take(input)?);
            if inlet.held().checked_sub(inlet.gone()) != Some(waiting) || owed(inlet.0) > self.owing.most.into() {
                return Err(Torn("what a router owes is not what has left it"));
            }
            st.inlets.set(&mut NoJournal, place, inlet.0);
        }
        Ok(())
    }
}

impl<const PLAIN: bool, J: Journal, S: Sink<Fabric<Credit<PLAIN>>>> AtRouter<'_, Credit<PLAIN>, J, S> {
    /// The place of the record of the channel that a packet has come by, if that is one of a network port of which it may be told late.
    #[inline(always)]
    fn inlet_of(&self, packet: &Packet) -> Option<u32> {
        let AtRouter { net, site, model, .. } = *self;
        let is_counted = model.owing.most != 0 && packet.port() < site.net;
        is_counted.then(|| channel_of::<PLAIN>(net, site.port + u32::from(packet.port()), packet.vc()))
    }

    /// A packet has come at `now`, and takes room of its channel.
    #[inline(always)]
    pub(super) fn takes_room(&mut self, packet: &Packet, now: u64) {
        let Some(place) = self.inlet_of(packet) else {
            return;
        };
        let word = self.st.inlets.edit(self.j, place);
        *word += u64::from(packet.size());
        let inlet = Inlet(*word);
        let turns = match inlet.tells() {
            false => inlet.held() > self.model.owing.most.into(),
            true => inlet.has_told(self.model.owing.tick_of(now)),
        };
        if turns {
            self.fabric.turn(self.st, self.j, (self.lp, place), packet, self.sink);
        }
    }

    /// The room of a packet is free at `when`, when its tail has left.
    #[inline(always)]
    pub(super) fn frees_room(&mut self, packet: &Packet, when: u64) {
        if let Some(place) = self.inlet_of(packet) {
            let word = self.st.inlets.edit(self.j, place);
            *word += u64::from(packet.size()) << Inlet::BYTES;
            if !Inlet(*word).tells() {
                return;
            }
        }
        self.return_credit(packet, when);
    }
}

impl<const PLAIN: bool> Fabric<Credit<PLAIN>> {
    /// A packet has come by the input channel at `place`, with which the channel owes too much, or before which it may owe again.
    #[inline(never)]
    fn turn<J: Journal, S: Sink<Self>>(
        &self,
        st: &mut State,
        j: &mut J,
        (lp, place): (u32, u32),
        packet: &Packet,
        sink: &mut S,
    ) {
        let (net, owing) = (&self.net, self.model.owing);
        let mut at = self.at(st, j, lp, sink);
        let (first, now) = (at.site.port, packet.time().0);
        for word in 0..net.words {
            let index = lp * net.words + word;
            let mut bits = *at.st.waiting.get(index) & !*at.st.shut.get(index);
            while bits != 0 {
                at.catch_up(first + word * 64 + bits.trailing_zeros(), now);
                bits &= bits - 1;
            }
        }
        let inlet = Inlet(*at.st.inlets.get(place));
        let (waiting, gone) = (inlet.held() - inlet.gone(), inlet.gone());
        let (tick, most) = (owing.tick_of(now), u64::from(owing.most));
        let left = inlet.left(tick);
        if !inlet.tells() && gone != 0 {
            at.tell_of_room(packet, now + owing.tail, gone);
        }
        let is_calm = waiting <= most / 2;
        let span = if inlet.tells() && !is_calm {
            LATER * owing.flight
        } else {
            owing.flight
        };
        let until = tick + left.max(owing.ticks(now, span));
        // What is on its way, from now on, is what has left since the word was begun, if all before has come.
        let word = match is_calm && left == 0 && gone <= most {
            true => Inlet::owing(waiting, until),
            false => Inlet::telling(waiting, until),
        };
        at.st.inlets.set(at.j, place, word.0);
    }
}

#[cfg(test)]
mod tests;
