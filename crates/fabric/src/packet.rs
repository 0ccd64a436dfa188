//! The event of a network: a packet, a credit or a message's notice, 32 bytes, passed by value.
//!
//! | word | bits, from the lowest |
//! |---|---|
//! | 0 | port or local index 16, time in ps 48 |
//! | 1 | logical process (a router, by its place) 32, destination node 28, routing phase 4 |
//! | 2 | size in bytes minus one 16, birth in ps (packets of one-packet messages) or packet number within its message 48 |
//! | 3 | source node 28, message number 16, virtual channel 6, kind 3, one-packet message 1, hops 10 |
//!
//! At one LP and time packets come last, in the order of a hash of (seed, source node, input port, packet number): two cannot arrive on
//! one port at one time. The rest of the content only orders events that are interchangeable or of different kinds.

use bytemuck::{Pod, Zeroable};
use des::{Event, Time, mix};
use std::cmp::Ordering;

/// Simulated time ends here: 2^48 ps, 281 s.
pub const HORIZON: Time = Time(1 << 48);
/// Most nodes and routers of a network.
pub const MAX_NODES: u32 = 1 << 28;
/// Most virtual channels per port.
pub const MAX_VCS: u8 = 63;
/// Largest packet in bytes.
pub const MAX_PACKET: u64 = 1 << 16;
/// Hop counts saturate here.
pub const MAX_HOPS: u32 = 1023;

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A packet's head is ready for routing at a router; `port` is the input port.
    Arrival = 0,
    /// Buffer space comes back to output `port`.
    Credit = 1,
    /// Buffer space of the router's host port comes back to the interface of local node `port`.
    HostCredit = 2,
    /// A message of several packets has set out; tells its size to the receiver before its first packet.
    Notice = 3,
    /// A message is complete at local node `port` and its workload reacts.
    Delivered = 4,
    /// A workload's start at local node `port`.
    Start = 5,
    /// A rank of local node `port` goes on, or hears that its send has left.
    Rank = 6,
}

/// An event of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Packet {
    words: [u64; 4],
}

const _: () = assert!(
    size_of::<Packet>() == 32,
    "network events stay at 32 bytes: larger ones cost 4 to 30 % of speed"
);

const NODE: u64 = (1 << 28) - 1;
/// In place of a kind: a word from a router of the group. No [`Kind`], so that networks without such do not look for it with every event.
const NEWS: u64 = 7;

impl Packet {
    /// An event of `kind` at `port` of `lp`; everything else zero.
    #[inline(always)]
    pub fn new(kind: Kind, time: Time, lp: u32, port: u16) -> Packet {
        Packet {
            words: [time.0 << 16 | u64::from(port), u64::from(lp), 0, (kind as u64) << 50],
        }
    }

    /// A word from a router of the group about its port with number `slot` there; what it says is the value.
    #[inline(always)]
    pub fn news(time: Time, lp: u32, slot: u16) -> Packet {
        Packet {
            words: [time.0 << 16 | u64::from(slot), u64::from(lp), 0, NEWS << 50],
        }
    }

    /// A packet of a message from `source` to `destination`.
    ///
    /// `mark` is the message's birth in ps if it has one packet, else the packet's number.
    #[inline(always)]
    pub fn message_part(source: u32, destination: u32, message: u16, size: u32, single: bool, mark: u64) -> Packet {
        Packet {
            words: [
                0,
                u64::from(destination) << 32,
                mark << 16 | u64::from(size - 1),
                u64::from(source) | u64::from(message) << 28 | u64::from(single) << 53,
            ],
        }
    }

    /// Sets when and where the event happens.
    #[inline(always)]
    pub fn at(self, time: Time, lp: u32, port: u16) -> Packet {
        let [_, place, content, kind] = self.words;
        Packet {
            words: [
                time.0 << 16 | u64::from(port),
                place & !0xFFFF_FFFF | u64::from(lp),
                content,
                kind,
            ],
        }
    }

    /// What the event is.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        match self.words[3] >> 50 & 7 {
            0 => Kind::Arrival,
            1 => Kind::Credit,
            2 => Kind::HostCredit,
            3 => Kind::Notice,
            4 => Kind::Delivered,
            5 => Kind::Start,
            _ => Kind::Rank,
        }
    }

    /// `true` for a packet at a router, by far the most frequent kind with credits.
    #[inline(always)]
    pub fn is_arrival(&self) -> bool {
        self.words[3] & 7 << 50 == 0
    }

    /// `true` for a word from a router of the group, to be asked before [`Packet::kind`] where there may be one.
    #[inline(always)]
    pub fn is_news(&self) -> bool {
        self.words[3] >> 50 & 7 == NEWS
    }

    /// `true` for a packet at a router or buffer space that comes back to an output port: the two frequent kinds with credits.
    #[inline(always)]
    pub fn is_arrival_or_credit(&self) -> bool {
        self.words[3] & 6 << 50 == 0
    }

    /// Input port of an arrival, output port of a credit, local node otherwise.
    #[inline(always)]
    pub fn port(&self) -> u16 {
        self.words[0] as u16
    }

    /// Destination node.
    #[inline(always)]
    pub fn destination(&self) -> u32 {
        (self.words[1] >> 32 & NODE) as u32
    }

    /// Source node.
    #[inline(always)]
    pub fn source(&self) -> u32 {
        (self.words[3] & NODE) as u32
    }

    /// Size in bytes, 1 to 65,536.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        (self.words[2] & 0xFFFF) as u32 + 1
    }

    /// The message's number at its source; the highest bit marks an acknowledgement.
    #[inline(always)]
    pub fn message(&self) -> u16 {
        (self.words[3] >> 28) as u16
    }

    /// Birth of a one-packet message in ps, or the packet's number within its message.
    #[inline(always)]
    pub fn mark(&self) -> u64 {
        self.words[2] >> 16
    }

    /// `true` if the packet is a whole message.
    #[inline(always)]
    pub fn single(&self) -> bool {
        self.words[3] >> 53 & 1 != 0
    }

    /// Routing phase, 0 to 15; its meaning belongs to the routing.
    #[inline(always)]
    pub fn phase(&self) -> u8 {
        (self.words[1] >> 60) as u8
    }

    /// Sets the routing phase.
    #[inline(always)]
    pub fn set_phase(&mut self, phase: u8) {
        self.words[1] = self.words[1] & !(15 << 60) | u64::from(phase) << 60;
    }

    /// The virtual channel the packet holds a buffer of, or the credit is for.
    #[inline(always)]
    pub fn vc(&self) -> u8 {
        (self.words[3] >> 44 & 63) as u8
    }

    /// Sets the virtual channel.
    #[inline(always)]
    pub fn set_vc(&mut self, vc: u8) {
        self.words[3] = self.words[3] & !(63 << 44) | u64::from(vc) << 44;
    }

    /// Router-to-router links passed so far, at most [`MAX_HOPS`].
    #[inline(always)]
    pub fn hops(&self) -> u32 {
        (self.words[3] >> 54) as u32
    }

    /// Counts a hop.
    #[inline(always)]
    pub fn count_hop(&mut self) {
        let (more, full) = self.words[3].overflowing_add(1 << 54);
        if !full {
            self.words[3] = more;
        }
    }

    /// Counts a hop of a packet that has passed fewer than [`MAX_HOPS`] links.
    #[inline(always)]
    pub fn count_one_of_few_hops(&mut self) {
        debug_assert!(self.hops() < MAX_HOPS, "a packet of few hops has {}", self.hops());
        self.words[3] = self.words[3].wrapping_add(1 << 54);
    }

    /// A credit or notice carries a 64-bit value in place of size and mark.
    #[inline(always)]
    pub fn value(&self) -> u64 {
        self.words[2]
    }

    /// Sets that value.
    #[inline(always)]
    pub fn with_value(mut self, value: u64) -> Packet {
        self.words[2] = value;
        self
    }

    /// Takes the first `bytes` of a part of a message, fewer than all, as a part of its own; what remains gets the next number.
    #[inline(always)]
    pub fn split_off(&mut self, bytes: u32) -> Packet {
        let mut first = *self;
        first.words[2] = self.words[2] & !0xFFFF | u64::from(bytes - 1);
        self.words[2] = self.words[2] + (1 << 16) - u64::from(bytes);
        first
    }

    /// Sets virtual channel in passing.
    #[inline(always)]
    pub fn with_vc(mut self, vc: u8) -> Packet {
        self.set_vc(vc);
        self
    }

    /// Sets ten bits in place of the hops in passing, in events that travel no links.
    #[inline(always)]
    pub fn with_hops(mut self, value: u16) -> Packet {
        self.words[3] = self.words[3] & !(1023 << 54) | u64::from(value) << 54;
        self
    }

    /// Sets source, destination and message number in passing.
    #[inline(always)]
    pub fn with_message(mut self, source: u32, destination: u32, message: u16) -> Packet {
        self.words[1] |= u64::from(destination) << 32;
        self.words[3] |= u64::from(source) | u64::from(message) << 28;
        self
    }

    /// A number that is the same at every hop and, but for hash collisions, different for every packet of a run.
    #[inline(always)]
    pub fn identity(&self) -> u64 {
        const FIXED: u64 = NODE | 0xFFFF << 28;
        self.words[2] ^ mix(self.words[3] & FIXED)
    }

    /// A number that all packets of a message have in common and, but for hash collisions, no other message under way has.
    #[inline]
    pub fn message_identity(&self) -> u64 {
        const FIXED: u64 = NODE | 0xFFFF << 28;
        let birth = if self.single() { self.mark() } else { 0 };
        mix(mix(self.words[3] & FIXED) ^ u64::from(self.destination())) ^ birth
    }

    /// A number that differs from hop to hop as well: of a packet at router `router`.
    #[inline(always)]
    pub fn moment(&self, router: u32) -> u64 {
        self.words[0] ^ u64::from(router) << 32
    }
}

impl Event for Packet {
    #[inline(always)]
    fn time(&self) -> Time {
        Time(self.words[0] >> 16)
    }

    #[inline(always)]
    fn lp(&self) -> u32 {
        self.words[1] as u32
    }

    #[inline(always)]
    fn with_lp(self, lp: u32) -> Self {
        let [a, place, c, d] = self.words;
        Packet {
            words: [a, place & !0xFFFF_FFFF | u64::from(lp), c, d],
        }
    }

    /// All but the LP and what shows in where a packet goes next: its destination and phase.
    #[inline(always)]
    fn fold(&self) -> u64 {
        let [a, _, c, d] = self.words;
        (a ^ d.rotate_left(23)).wrapping_add(c)
    }

    fn tie(&self, other: &Self, seed: u64) -> Ordering {
        // No time is hashed, nor anything that grows with it: a network that is twice as fast does the same in half the time.
        let key = |event: &Packet| match event.is_arrival() {
            true => {
                let part = if event.single() { 0 } else { event.mark() };
                let place = u64::from(event.source()) << 16 | u64::from(event.port());
                (1, mix(seed ^ place ^ mix(part)))
            }
            false => (0, u64::from(event.port())),
        };
        key(self)
            .cmp(&key(other))
            .then_with(|| self.words[3].cmp(&other.words[3]))
            .then_with(|| self.words[2].cmp(&other.words[2]))
            .then_with(|| self.words[1].cmp(&other.words[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        let mut packet = Packet::message_part(0x0ABC_DEF1, 0x0FED_CBA9, 0xBEEF, 65_536, true, (1 << 48) - 2);
        packet = packet.at(Time((1 << 48) - 1), u32::MAX, 65_535);
        packet.set_phase(9);
        packet.set_vc(62);
        for _ in 0..2_000 {
            packet.count_hop();
        }
        assert_eq!(
            (packet.source(), packet.destination(), packet.message()),
            (0x0ABC_DEF1, 0x0FED_CBA9, 0xBEEF)
        );
        assert_eq!(
            (packet.size(), packet.mark(), packet.single()),
            (65_536, (1 << 48) - 2, true)
        );
        assert_eq!(
            (packet.time(), packet.lp(), packet.port()),
            (Time((1 << 48) - 1), u32::MAX, 65_535)
        );
        assert_eq!(
            (packet.phase(), packet.vc(), packet.hops(), packet.kind()),
            (9, 62, MAX_HOPS, Kind::Arrival)
        );
    }

    #[test]
    fn the_pieces_of_a_packet_have_its_bytes_and_rising_numbers() {
        let mut rest = Packet::message_part(3, 4, 5, 500, false, 7);
        let mut pieces = Vec::new();
        while rest.size() > 128 {
            pieces.push(rest.split_off(128));
        }
        pieces.push(rest);
        let seen: Vec<_> = pieces.iter().map(|piece| (piece.size(), piece.mark())).collect();
        assert_eq!(seen, [(128, 7), (128, 8), (128, 9), (116, 10)]);
        assert!(pieces.iter().all(|piece| piece.source() == 3 && piece.message() == 5));
    }

    #[test]
    fn packets_of_a_message_have_its_identity_and_others_have_not() {
        let part = |destination, message, single, mark| {
            Packet::message_part(3, destination, message, 2_048, single, mark).message_identity()
        };
        assert_eq!(part(4, 5, false, 0), part(4, 5, false, 17));
        let identities = [
            part(4, 5, false, 0),
            part(4, 6, false, 0),
            part(5, 5, false, 0),
            part(4, 0, true, 1_000),
            part(4, 0, true, 2_000),
        ];
        for (i, one) in identities.iter().enumerate() {
            assert!(identities[..i].iter().all(|other| other != one));
        }
    }

    #[test]
    fn identity_is_kept_on_the_way_and_kinds_survive() {
        let packet = Packet::message_part(3, 4, 5, 2_048, false, 17);
        let mut later = packet.at(Time(99), 7, 3);
        later.set_vc(2);
        later.set_phase(1);
        later.count_hop();
        assert_eq!(packet.identity(), later.identity());
        assert_ne!(
            packet.identity(),
            Packet::message_part(3, 4, 5, 2_048, false, 18).identity()
        );
        for kind in [
            Kind::Arrival,
            Kind::Credit,
            Kind::HostCredit,
            Kind::Notice,
            Kind::Delivered,
            Kind::Start,
            Kind::Rank,
        ] {
            assert_eq!(Packet::new(kind, Time(5), 1, 2).kind(), kind);
            assert!(!Packet::new(kind, Time(5), 1, 2).is_news());
        }
    }
}
