//! The event of a network: a packet, a credit or a message's notice, 32 bytes, passed by value.
//!
//! What each field holds, and what happens at its edge; the tests are in this file or in `crates/judge/tests/all/limits.rs`.
//!
//! | word | field | bits | range | at the edge | test |
//! |---|---|---|---|---|---|
//! | 0 | time | 57 | to 2^57 ps, 40 h ([`HORIZON`]) | `run.end` beyond it is refused; work that is not done by then is an error | `work_beyond_the_end_of_time_is_an_error` |
//! | 0 | kind | 3 | 8 kinds | - | `identity_is_kept_on_the_way_and_kinds_survive` |
//! | 0 | routing phase | 4 | 0 to 15 | it belongs to the routing, which has fewer; where lost packets are sent again it says how often, up to [`MOST_RETRIES`] | `fields_do_not_touch_each_other` |
//! | 1 | logical process | 26 | [`MAX_NODES`] | larger networks are refused | `networks_beyond_the_fields_are_refused` |
//! | 1 | port or local index | 16 | 65,535 | routers with more ports are refused | `routers_with_more_ports_than_the_field_has_are_refused` |
//! | 1 | virtual channel | 6 | [`MAX_VCS`] | more are refused | `more_channels_than_the_field_has_are_refused` |
//! | 1 | size in bytes, minus one | 16 | 1 to [`MAX_PACKET`] | larger packets are refused | `packets_of_the_largest_size_and_no_larger` |
//! | 2 | mark | 63 | see below | see below | `fields_do_not_touch_each_other` |
//! | 2 | one-packet message | 1 | - | - | `fields_do_not_touch_each_other` |
//! | 3 | hops | 12 | [`MAX_HOPS`] | they stick there, and the run is an error | `more_hops_than_are_counted_are_an_error` |
//! | 3 | source node | 26 | [`MAX_NODES`] | larger networks are refused | `networks_beyond_the_fields_are_refused` |
//! | 3 | destination node | 26 | the same | the same | the same |
//!
//! The mark tells a packet of a message from the others of its source:
//!
//! | of | bits, from the highest | at the edge | test |
//! |---|---|---|---|
//! | a part of a message | what the message is 2, its number at its source 30 ([`NUMBERS`]), the part's number 31 | numbers begin again; where the earlier message of that number has yet to arrive, the run is an error; longer messages are an error | `a_number_in_use_twice_is_an_error`, `a_message_of_more_parts_than_are_numbered_is_an_error` |
//! | a message of one packet | birth 61 | beyond the horizon | `fields_do_not_touch_each_other` |
//! | the same, where several may be born at one time | what it is 2, number 13, birth 48 | numbers only spread ways; what is older than 140 s when it sets out goes as a message of parts; what is under way for longer than that is an error | `old_messages_of_one_packet_keep_their_births` |
//! | a message of a rank, in its envelope | its number among those to the same rank 16 | numbers begin again; 32,768 messages behind one that is not done with are an error | `ranks_that_leave_a_message_behind_for_too_long_are_an_error` |
//!
//! In events that are no packets the mark is a value: room in bytes of a credit, birth or size of a notice, which has its message's number
//! and a part of an envelope in place of hops, destination (which is where it is), size and phase.
//!
//! At one LP and time packets come last, in the order of a hash of (seed, source node, input port, packet number), or of their input ports ([`BY_INPUT`]): two
//! cannot arrive on one port at one time. The rest of the content only orders events that are interchangeable or of different kinds.

use bytemuck::{Pod, Zeroable};
use des::{Event, Time, mix};
use std::cmp::Ordering;

/// An envelope as messages carry it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvelopeWords {
    /// 0 where there is none.
    pub word: u64,
    /// The upper half of its context.
    pub rest: u8,
}

pub use des::HORIZON;
/// Most nodes of a network, and most routers.
pub const MAX_NODES: u32 = 1 << 26;
/// Most virtual channels per port.
pub const MAX_VCS: u8 = 63;
/// Largest packet in bytes.
pub const MAX_PACKET: u64 = 1 << 16;
/// A packet is sent again so often at most where lost ones are: its phase counts it.
pub const MOST_RETRIES: u8 = 14;
/// Hop counts stick here.
pub const MAX_HOPS: u32 = 4095;
/// So many messages of a source have numbers of their own, one after the other.
pub const NUMBERS: u32 = 1 << 30;
/// Most parts of a message.
pub const MAX_PARTS: u64 = ONLY as u64;
/// In place of its number: the part is all of its message.
pub const ONLY: u32 = (1 << 31) - 1;

/// A message's number at its source, below [`NUMBERS`], and above it what the message is: [`ACK`], or its class.
pub type Label = u32;
/// In place of a class: the message is an acknowledgement.
pub const ACK: Label = 3 << CLASS;
/// Where a label has the message's class, in two bits, on a network that knows classes.
pub const CLASS: u32 = 30;

/// `true` for the label or [name](Packet::name) of an acknowledgement, in a run that has some.
#[inline(always)]
pub fn is_ack(label: Label) -> bool {
    label >> CLASS == ACK >> CLASS
}

/// Bits of a birth in the mark of a one-packet message where several may be born at one time.
const SHORT_BIRTH: u32 = 48;
/// Such a message that is older (ps) when it sets out goes as a message of parts.
pub const OLD: u64 = 1 << (SHORT_BIRTH - 1);
/// Bits of its number there.
const SHORT_NUMBER: u32 = 13;

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

const _: () = assert!(
    MAX_NODES as u64 == topo::MOST_PLACES,
    "a network that can be built has places for all its routers and nodes"
);

const NODE_BITS: u32 = MAX_NODES.ilog2();
const NODE: u64 = MAX_NODES as u64 - 1;
/// Source and destination.
const ENDS: u64 = NODE << NODE_BITS | NODE;
/// Where the time begins in its word.
const TIME: u32 = 7;
/// Where the kind is.
const KIND: u32 = 4;
/// Where the hops are.
const HOPS: u32 = 2 * NODE_BITS;
/// Where the logical process is.
const PLACE: u32 = 64 - NODE_BITS;
/// Where the virtual channel is.
const CHANNEL: u32 = 16;
/// Where the port is.
const PORT: u32 = CHANNEL + 6;
/// What stays in the word of place and port when these change: size and channel.
const CONTENT: u64 = (1 << PORT) - 1;
const _: () = assert!(PORT + 16 == PLACE, "port and place are side by side");
/// In place of a kind: a word from a router of the group. No [`Kind`], so that networks without such do not look for it with every event.
const NEWS: u64 = 7;

/// Where an event happens: the port of a logical process, as the bits of the word that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(u64);

impl Address {
    /// The bits of an address that are always zero, for others to use.
    pub const SPARE: u64 = CONTENT;

    /// Port `port` of `lp`.
    #[inline(always)]
    pub fn new(lp: u32, port: u16) -> Address {
        Address(u64::from(lp) << PLACE | u64::from(port) << PORT)
    }

    /// The address in a word that has other things in the [`Address::SPARE`] bits.
    #[inline(always)]
    pub fn within(word: u64) -> Address {
        Address(word & !Address::SPARE)
    }

    /// As a word.
    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    /// The logical process.
    #[inline(always)]
    pub fn lp(self) -> u32 {
        (self.0 >> PLACE) as u32
    }

    /// The port.
    #[inline(always)]
    pub fn port(self) -> u16 {
        (self.0 >> PORT) as u16
    }
}

impl Packet {
    /// An event of `kind` at `port` of `lp`; everything else zero.
    #[inline(always)]
    pub fn new(kind: Kind, time: Time, lp: u32, port: u16) -> Packet {
        Packet {
            words: [time.0 << TIME | (kind as u64) << KIND, Address::new(lp, port).0, 0, 0],
        }
    }

    /// Buffer space that comes back to an output port.
    #[inline(always)]
    pub fn credit(time: Time, to: Address) -> Packet {
        Packet {
            words: [time.0 << TIME | (Kind::Credit as u64) << KIND, to.0, 0, 0],
        }
    }

    /// A word from a router of the group about its port with number `slot` there; what it says is the value.
    #[inline(always)]
    pub fn news(time: Time, lp: u32, slot: u16) -> Packet {
        Packet {
            words: [time.0 << TIME | NEWS << KIND, Address::new(lp, slot).0, 0, 0],
        }
    }

    #[inline(always)]
    fn with_mark(source: u32, destination: u32, size: u32, mark: u64, single: bool) -> Packet {
        Packet {
            words: [
                0,
                u64::from(size - 1),
                mark << 1 | u64::from(single),
                u64::from(source) << NODE_BITS | u64::from(destination),
            ],
        }
    }

    /// Packet number `part` of the message `label` from `source` to `destination`.
    #[inline(always)]
    pub fn part(source: u32, destination: u32, label: Label, size: u32, part: u32) -> Packet {
        let mark = u64::from(label) << 31 | u64::from(part);
        Self::with_mark(source, destination, size, mark, false)
    }

    /// A message of one packet that was born at `birth` ps.
    #[inline(always)]
    pub fn whole(source: u32, destination: u32, size: u32, birth: u64) -> Packet {
        Self::with_mark(source, destination, size, birth, true)
    }

    /// A message of one packet where its source may have several at one time: `label` tells them apart. It was born less than
    /// [`OLD`] ps before it sets out.
    #[inline(always)]
    pub fn whole_of_many(source: u32, destination: u32, label: Label, size: u32, birth: u64) -> Packet {
        let number = u64::from(label) & ((1 << SHORT_NUMBER) - 1);
        let mark = u64::from(label >> CLASS) << 61 | number << SHORT_BIRTH | birth & ((1 << SHORT_BIRTH) - 1);
        Self::with_mark(source, destination, size, mark, true)
    }

    /// Sets when and where the event happens.
    #[inline(always)]
    pub fn at(self, time: Time, lp: u32, port: u16) -> Packet {
        self.to(time, Address::new(lp, port))
    }

    /// Sets when and where the event happens.
    #[inline(always)]
    pub fn to(self, time: Time, address: Address) -> Packet {
        let [when, place, content, ends] = self.words;
        Packet {
            words: [
                time.0 << TIME | when & ((1 << TIME) - 1),
                place & CONTENT | address.0,
                content,
                ends,
            ],
        }
    }

    /// The same for a packet on a network without channels and phases.
    #[inline(always)]
    pub fn plainly_to(self, time: Time, address: Address) -> Packet {
        let [when, place, content, ends] = self.words;
        if des::CHECKS {
            assert!(when & ((1 << TIME) - 1) == 0 && self.vc() == 0, "{self:?} is not plain");
        }
        Packet {
            words: [time.0 << TIME, u64::from(place as u16) | address.0, content, ends],
        }
    }

    /// What the event is.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        match self.words[0] >> KIND & 7 {
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
        self.words[0] & 7 << KIND == 0
    }

    /// `true` for a word from a router of the group, to be asked before [`Packet::kind`] where there may be one.
    #[inline(always)]
    pub fn is_news(&self) -> bool {
        self.words[0] >> KIND & 7 == NEWS
    }

    /// `true` for buffer space that comes back to an interface.
    #[inline(always)]
    pub fn is_host_credit(&self) -> bool {
        self.words[0] & 7 << KIND == (Kind::HostCredit as u64) << KIND
    }

    /// `true` for a packet at a router or buffer space that comes back to an output port: the two frequent kinds with credits.
    #[inline(always)]
    pub fn is_arrival_or_credit(&self) -> bool {
        self.words[0] & 6 << KIND == 0
    }

    /// Input port of an arrival, output port of a credit, local node otherwise.
    #[inline(always)]
    pub fn port(&self) -> u16 {
        (self.words[1] >> PORT) as u16
    }

    /// Destination node.
    #[inline(always)]
    pub fn destination(&self) -> u32 {
        (self.words[3] & NODE) as u32
    }

    /// Source node.
    #[inline(always)]
    pub fn source(&self) -> u32 {
        (self.words[3] >> NODE_BITS & NODE) as u32
    }

    /// Size in bytes, 1 to 65,536.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        u32::from(self.words[1] as u16) + 1
    }

    /// The label of the message of a part, or of a delivered message.
    #[inline(always)]
    pub fn label(&self) -> Label {
        (self.words[2] >> 32) as u32
    }

    /// What the message is: its class, or 3 for an acknowledgement.
    #[inline(always)]
    pub fn class(&self) -> u8 {
        (self.words[2] >> 62) as u8
    }

    /// `true` for an acknowledgement, in a run that has some.
    #[inline(always)]
    pub fn is_ack(&self) -> bool {
        self.words[2] >> 62 == 3
    }

    /// The message's number at its source, in a run that numbers all messages; of one packet, the lowest 13 bits of it.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        match self.single() {
            true => (self.words[2] >> (SHORT_BIRTH + 1)) as u32 & ((1 << SHORT_NUMBER) - 1),
            false => self.label() & (NUMBERS - 1),
        }
    }

    /// What tells a message from others of its ends, birth and size as far as all of its packets and its source know it: the label of a
    /// message of parts; of one packet class and number, in a run that numbers all messages (`many`), else zero.
    #[inline]
    pub fn name(&self, many: bool) -> Label {
        match (self.single(), many) {
            (false, _) => self.label(),
            (true, true) => Label::from(self.class()) << CLASS | self.number(),
            (true, false) => 0,
        }
    }

    /// The packet's number within its message.
    #[inline(always)]
    pub fn part_number(&self) -> u32 {
        self.words[2] as u32 >> 1
    }

    /// Birth in ps of a message of one packet that has arrived at `now`; `many`: in a run that numbers all messages.
    #[inline(always)]
    pub fn birth(&self, now: u64, many: bool) -> u64 {
        let mark = self.words[2] >> 1;
        match many {
            true => now - (now.wrapping_sub(mark) & ((1 << SHORT_BIRTH) - 1)),
            false => mark,
        }
    }

    /// `true` if the message has no other packet.
    #[inline]
    pub fn is_whole(&self) -> bool {
        // It is single, which has the lowest bit, or its part has the highest number there is: one question with that bit on top.
        (self.words[2] as u32).rotate_right(1) >= ONLY
    }

    /// `true` if the packet is a message of which it tells all.
    #[inline(always)]
    pub fn single(&self) -> bool {
        self.words[2] & 1 != 0
    }

    /// Routing phase, 0 to 15; its meaning belongs to the routing.
    #[inline(always)]
    pub fn phase(&self) -> u8 {
        self.words[0] as u8 & 15
    }

    /// Sets the routing phase.
    #[inline(always)]
    pub fn set_phase(&mut self, phase: u8) {
        self.words[0] = self.words[0] & !15 | u64::from(phase);
    }

    /// The virtual channel the packet holds a buffer of, or the credit is for.
    #[inline(always)]
    pub fn vc(&self) -> u8 {
        (self.words[1] >> CHANNEL & 63) as u8
    }

    /// Sets the virtual channel.
    #[inline(always)]
    pub fn set_vc(&mut self, vc: u8) {
        self.words[1] = self.words[1] & !(63 << CHANNEL) | u64::from(vc) << CHANNEL;
    }

    /// Router-to-router links passed so far, at most [`MAX_HOPS`].
    #[inline(always)]
    pub fn hops(&self) -> u32 {
        (self.words[3] >> HOPS) as u32
    }

    /// Counts a hop.
    #[inline(always)]
    pub fn count_hop(&mut self) {
        let (more, full) = self.words[3].overflowing_add(1 << HOPS);
        if !full {
            self.words[3] = more;
        }
    }

    /// Counts a hop of a packet that has passed fewer than [`MAX_HOPS`] links.
    #[inline(always)]
    pub fn count_one_of_few_hops(&mut self) {
        if des::CHECKS {
            assert!(self.hops() < MAX_HOPS, "a packet of few hops has {}", self.hops());
        }
        self.words[3] = self.words[3].wrapping_add(1 << HOPS);
    }

    /// A credit or notice carries a 64-bit value in place of the mark.
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
        first.words[1] = self.words[1] & !0xFFFF | u64::from(bytes - 1);
        self.words[1] -= u64::from(bytes);
        self.words[2] += 2;
        first
    }

    /// The event at local node `local` of `lp`, the source, that has this lost packet sent again: a start that knows how often it was.
    pub fn to_be_sent_again(&self, at: Time, lp: u32, local: u16) -> Packet {
        let [when, place, mark, ends] = self.words;
        let retries = (when & 15) + 1;
        Packet {
            words: [
                at.0 << TIME | (Kind::Start as u64) << KIND | retries,
                Address::new(lp, local).0 | u64::from(place as u16),
                mark,
                ends & ENDS,
            ],
        }
    }

    /// `true` for such an event among the starts.
    #[inline]
    pub fn is_sent_again(&self) -> bool {
        self.phase() != 0
    }

    /// The packet of such an event, as it sets out.
    pub fn again(&self) -> Packet {
        let [when, place, mark, ends] = self.words;
        Packet {
            words: [when & 15, u64::from(place as u16), mark, ends],
        }
    }

    /// Sets virtual channel in passing.
    #[inline(always)]
    pub fn with_vc(mut self, vc: u8) -> Packet {
        self.set_vc(vc);
        self
    }

    /// Sets source, destination and message in passing, in an event that has neither yet nor a value of its own.
    #[inline(always)]
    pub fn with_message(mut self, source: u32, destination: u32, label: Label) -> Packet {
        self.words[2] = u64::from(label) << 32;
        self.words[3] = u64::from(source) << NODE_BITS | u64::from(destination);
        self
    }

    /// A part of another message, or what tells that it has come.
    #[inline]
    pub(crate) fn with_label(mut self, label: Label) -> Packet {
        self.words[2] = u64::from(label) << 32 | self.words[2] & 0xFFFF_FFFF;
        self
    }

    /// Makes a notice one about a message of `source`, which keeps its value, with 26 bits of an envelope.
    ///
    /// In place of the ends are, from the highest bit, the label's lower bits, where numbers carry into nothing that is [folded](Event::fold), six
    /// of the envelope, the label's upper bits, and the source; in place of the phase are the envelope's upper four.
    #[inline]
    pub fn about(mut self, source: u32, label: Label, part_of_envelope: u32) -> Packet {
        let (label, part) = (u64::from(label), u64::from(part_of_envelope));
        self.words[0] = self.words[0] & !15 | part >> 22 & 15;
        self.words[1] = self.words[1] & !0xFFFF | part & 0xFFFF;
        let between = label >> NODE_BITS | (part >> 16 & 63) << 6;
        self.words[3] = label << (64 - NODE_BITS) | between << NODE_BITS | u64::from(source);
        self
    }

    /// The source of the message that a notice is about.
    #[inline(always)]
    pub fn noticed_source(&self) -> u32 {
        (self.words[3] & NODE) as u32
    }

    /// The label of the message that a notice is about.
    #[inline]
    pub fn noticed(&self) -> Label {
        let ends = self.words[3];
        ((ends >> NODE_BITS & 63) << NODE_BITS | ends >> (64 - NODE_BITS)) as u32
    }

    /// The part of an envelope that a notice has.
    #[inline]
    pub fn part_of_envelope(&self) -> u32 {
        let [when, content, _, ends] = self.words;
        ((when & 15) << 22 | (ends >> (NODE_BITS + 6) & 63) << 16 | content & 0xFFFF) as u32
    }

    /// A number that is the same at every hop and, but for hash collisions, different for every packet of a run; to be mixed before any
    /// bits of it are chosen.
    #[inline(always)]
    pub fn identity(&self) -> u64 {
        let source = u64::from(self.source()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.words[2].wrapping_add(source)
    }

    /// The same, but for messages of one source whose numbers are equal modulo `cycle`: their packets have the same numbers in turn. For runs that number
    /// all messages.
    #[inline]
    pub fn identity_in_turn(&self, cycle: u32) -> u64 {
        let part = match self.single() {
            true => 0,
            false => u64::from(self.part_number()) + 1,
        };
        let turn = u64::from(self.number() % cycle);
        mix(self.ends()) ^ turn << 32 ^ part
    }

    /// A number that all packets of a message have in common and, but for hash collisions, no other message under way has.
    #[inline]
    pub fn message_identity(&self) -> u64 {
        let part = match self.single() {
            true => 0,
            false => u64::from(self.part_number()) << 1,
        };
        mix(mix(self.words[3] & ENDS) ^ self.words[2] ^ part)
    }

    /// Source and destination in one word.
    #[inline(always)]
    pub fn ends(&self) -> u64 {
        self.words[3] & ENDS
    }

    /// The packet's share of what its ends send: of a part, its bytes by the [`weight`] of its message, so that pieces of it have as
    /// much together; of a message of one packet, a hash of all that it is. `now` and `many` as in [`Packet::birth`].
    #[inline(always)]
    pub fn share(&self, now: u64, many: bool) -> u64 {
        match self.single() {
            true => self.share_of_whole(self.birth(now, many)),
            false => self.share_of_part(),
        }
    }

    /// [`Packet::share`] of a part.
    #[inline]
    pub fn share_of_part(&self) -> u64 {
        weight(self.ends(), by_label(self.label())).wrapping_mul(u64::from(self.size()))
    }

    /// [`Packet::share`] of a message of one packet.
    ///
    /// The square is what finds two that have exchanged their ends or sizes, whose births may be the same.
    #[inline(always)]
    pub fn share_of_whole(&self, birth: u64) -> u64 {
        let about = self
            .ends()
            .wrapping_add(u64::from(self.size()).wrapping_mul(0x3C6E_F371));
        about.wrapping_mul(about.wrapping_add(birth))
    }

    /// Time and port in one word.
    #[inline(always)]
    fn instant(&self) -> u64 {
        self.words[0] >> TIME << 16 ^ u64::from(self.port())
    }

    /// A number that differs from hop to hop as well: of a packet at router `router`.
    #[inline(always)]
    pub fn moment(&self, router: u32) -> u64 {
        self.instant() ^ u64::from(router) << 32
    }
}

/// A weight for what a node sends to another, to be multiplied with what is to be conserved: sums over all that was sent and over all
/// that arrived or is under way agree, whatever their order, and something lost, doubled or given to another shows. `ends` are as in
/// [`Packet::ends`]; `what` tells the message from others of the same ends.
#[inline(always)]
pub fn weight(ends: u64, what: u64) -> u64 {
    let product = u128::from(ends ^ 0x9E37_79B9_7F4A_7C15) * u128::from(what ^ 0xD1B5_4A32_D192_ED03);
    product as u64 ^ (product >> 64) as u64
}

/// Source and destination in one word.
#[inline(always)]
pub fn ends(source: u32, destination: u32) -> u64 {
    u64::from(source) << NODE_BITS | u64::from(destination)
}

/// What tells a message of parts from others of the same ends, for [`weight`]; a message of one packet has its birth.
#[inline(always)]
pub fn by_label(label: Label) -> u64 {
    1 << 63 | u64::from(label)
}

/// In place of a seed: packets that come to a router at one time are taken in the order of their inputs.
pub const BY_INPUT: u64 = u64::MAX;

impl Packet {
    /// What the order of packets that come to a router at one time goes by. No time is hashed, nor anything that grows with it: a network
    /// that is twice as fast does the same in half the time.
    #[inline(always)]
    fn hash(&self, seed: u64) -> u64 {
        if seed == BY_INPUT {
            return u64::from(self.port()) << 1;
        }
        // Of nothing it is nothing, which messages of one packet are spared.
        let part = match self.is_whole() {
            true => 0,
            false => mix(self.part_number().into()),
        };
        let place = u64::from(self.source()) << 16 | u64::from(self.port());
        mix(seed ^ place ^ part)
    }
}

impl Event for Packet {
    #[inline(always)]
    fn time(&self) -> Time {
        Time(self.words[0] >> TIME)
    }

    #[inline(always)]
    fn lp(&self) -> u32 {
        (self.words[1] >> PLACE) as u32
    }

    #[inline(always)]
    fn with_lp(self, lp: u32) -> Self {
        let [a, place, c, d] = self.words;
        Packet {
            words: [a, place & ((1 << PLACE) - 1) | u64::from(lp) << PLACE, c, d],
        }
    }

    /// Time, kind, message, ends, hops: not where it is, nor what shows in the times of what follows (port, channel, size).
    ///
    /// A sum, in which the number of a message has the highest bits, but for its class: of an event and the same a period later it differs by
    /// what depends on the period alone ([`des::recurrence`]).
    #[inline(always)]
    fn fold(&self) -> u64 {
        let [a, _, c, d] = self.words;
        a.wrapping_add(c << 2).wrapping_add(d)
    }

    fn tie(&self, other: &Self, seed: u64) -> Ordering {
        let first = match (self.is_arrival(), other.is_arrival()) {
            (false, false) => self.port().cmp(&other.port()),
            (true, true) => self.hash(seed).cmp(&other.hash(seed)),
            (mine, others) => mine.cmp(&others),
        };
        first
            .then_with(|| self.words[0].cmp(&other.words[0]))
            .then_with(|| {
                self.words[3]
                    .rotate_left(NODE_BITS)
                    .cmp(&other.words[3].rotate_left(NODE_BITS))
            })
            .then_with(|| self.words[2].cmp(&other.words[2]))
            .then_with(|| (self.words[1] << NODE_BITS).cmp(&(other.words[1] << NODE_BITS)))
    }

    /// One bit less of the hash than there is: the highest says that there is one.
    #[inline(always)]
    fn tie_word(&self, seed: u64) -> u64 {
        match self.is_arrival() {
            true => 1 << 63 | self.hash(seed) >> 1,
            false => self.port().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_touch_each_other() {
        let last = MAX_NODES - 1;
        let (label, horizon) = (ACK | (NUMBERS - 1), HORIZON.0 - 1);
        // (bits set in every field or in none, packet)
        let packets = [
            (true, Packet::part(last, 0, label, MAX_PACKET as u32, ONLY - 1)),
            (false, Packet::part(0, last, 0, 1, 0)),
        ];
        for (full, mut packet) in packets {
            let of = |value: u64| if full { value } else { 0 };
            packet = packet.at(Time(of(horizon)), of(u64::from(last)) as u32, of(0xFFFF) as u16);
            packet.set_phase(of(15) as u8);
            packet.set_vc(of(u64::from(MAX_VCS)) as u8);
            for _ in 0..of(10_000) {
                packet.count_hop();
            }
            let ends = if full { (last, 0) } else { (0, last) };
            assert_eq!((packet.source(), packet.destination()), ends);
            assert_eq!(
                (packet.label(), packet.part_number()),
                (of(label.into()) as u32, of(u64::from(ONLY) - 1) as u32)
            );
            assert_eq!(
                (u64::from(packet.size()), packet.single()),
                (if full { MAX_PACKET } else { 1 }, false)
            );
            assert_eq!((packet.class(), packet.is_ack()), (of(3) as u8, full));
            assert_eq!(packet.time(), Time(of(horizon)));
            assert_eq!(
                (packet.lp(), packet.port()),
                (of(last.into()) as u32, of(0xFFFF) as u16)
            );
            assert_eq!((packet.phase(), packet.vc()), (of(15) as u8, of(MAX_VCS.into()) as u8));
            assert_eq!(
                (packet.hops(), packet.kind()),
                (of(MAX_HOPS.into()) as u32, Kind::Arrival)
            );
        }
        let single = Packet::whole(last, last, 7, horizon);
        assert_eq!(
            (single.birth(horizon + 5, false), single.single(), single.is_ack()),
            (horizon, true, false)
        );
    }

    #[test]
    fn births_among_many_of_one_time_are_found_from_when_they_arrive() {
        let range = 1 << SHORT_BIRTH;
        for birth in [0, 1, OLD, range - 1, range, 5 * range + 17, HORIZON.0 - 2 * range] {
            for age in [0, 1, OLD, range - 1] {
                let packet = Packet::whole_of_many(3, 4, ACK | 0x3FFF_5A5A, 9, birth);
                assert_eq!(packet.birth(birth + age, true), birth, "after {age} ps");
                assert_eq!((packet.number(), packet.class(), packet.is_ack()), (0x1A5A, 3, true));
            }
        }
    }

    #[test]
    fn the_pieces_of_a_packet_have_its_bytes_and_rising_numbers() {
        let mut rest = Packet::part(3, 4, 5, 500, 7);
        let mut pieces = Vec::new();
        while rest.size() > 128 {
            pieces.push(rest.split_off(128));
        }
        pieces.push(rest);
        let seen: Vec<_> = pieces.iter().map(|piece| (piece.size(), piece.part_number())).collect();
        assert_eq!(seen, [(128, 7), (128, 8), (128, 9), (116, 10)]);
        assert!(pieces.iter().all(|piece| piece.source() == 3 && piece.label() == 5));
        let mut largest = Packet::part(3, 4, 5, MAX_PACKET as u32, 0);
        assert_eq!(u64::from(largest.split_off(1).size()), 1);
        assert_eq!(u64::from(largest.size()), MAX_PACKET - 1);
    }

    #[test]
    fn packets_of_a_message_have_its_identity_and_others_have_not() {
        let part = |destination, label, number| Packet::part(3, destination, label, 2_048, number).message_identity();
        assert_eq!(part(4, 5, 0), part(4, 5, 17));
        assert_eq!(part(4, 5, 0), part(4, 5, ONLY));
        let identities = [
            part(4, 5, 0),
            part(4, 6, 0),
            part(5, 5, 0),
            Packet::whole(3, 4, 2_048, 1_000).message_identity(),
            Packet::whole(3, 4, 2_048, 2_000).message_identity(),
            Packet::whole_of_many(3, 4, 1, 2_048, 1_000).message_identity(),
            Packet::whole_of_many(3, 4, 2, 2_048, 1_000).message_identity(),
        ];
        for (i, one) in identities.iter().enumerate() {
            assert!(identities[..i].iter().all(|other| other != one));
        }
    }

    #[test]
    fn every_bit_of_mixed_identities_tells_packets_apart() {
        // Of parts of one message, of messages of one source, of sources.
        let kinds: [fn(u32) -> Packet; 3] = [
            |i| Packet::part(3, 4, 5, 2_048, i),
            |i| Packet::part(3, 4, i, 2_048, 0),
            |i| Packet::whole(i, 4, 2_048, 1_000),
        ];
        for (k, make) in kinds.iter().enumerate() {
            let ones = (0..4_096).map(|i| mix(make(i).identity()));
            let mut counts = [0u32; 64];
            ones.for_each(|identity| (0..64).for_each(|bit| counts[bit] += (identity >> bit) as u32 & 1));
            // Six standard deviations of 4,096 coins.
            assert!(
                counts.iter().all(|count| count.abs_diff(2_048) < 192),
                "kind {k}: {counts:?}"
            );
        }
    }

    #[test]
    fn a_notice_has_its_message_and_its_value() {
        let notice = Packet::new(Kind::Notice, Time(HORIZON.0 - 1), MAX_NODES - 1, 0xFFFF).with_vc(3);
        for (label, piece) in [(Label::MAX, 0), (0, (1 << 26) - 1), (0x1234_5678, 0x02AB_CDEF)] {
            let notice = notice.with_value(u64::MAX - 1).about(MAX_NODES - 1, label, piece);
            assert_eq!((notice.noticed(), notice.part_of_envelope()), (label, piece));
            assert_eq!(
                (notice.noticed_source(), notice.value(), notice.vc()),
                (MAX_NODES - 1, u64::MAX - 1, 3)
            );
            assert_eq!((notice.time(), notice.lp()), (Time(HORIZON.0 - 1), MAX_NODES - 1));
            assert_eq!((notice.kind(), notice.port()), (Kind::Notice, 0xFFFF));
        }
    }

    #[test]
    fn identity_is_kept_on_the_way_and_kinds_survive() {
        let packet = Packet::part(3, 4, 5, 2_048, 17);
        let mut later = packet.at(Time(99), 7, 3);
        later.set_vc(2);
        later.set_phase(1);
        later.count_hop();
        assert_eq!(packet.identity(), later.identity());
        assert_ne!(packet.identity(), Packet::part(3, 4, 5, 2_048, 18).identity());
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
        assert!(Packet::news(Time(HORIZON.0 - 1), 1, 2).is_news());
    }

    #[test]
    fn ties_are_broken_by_time_port_and_seed_and_places_do_not_show() {
        let packet = |port| Packet::part(3, 4, 5, 100, 0).at(Time(1_000), 9, port);
        let first = |seed| {
            (0..64)
                .filter(|&port| packet(port).tie(&packet(port + 64), seed).is_lt())
                .count()
        };
        assert!((10..54).contains(&first(1)), "neither low nor high ports go first");
        let counts: Vec<_> = (1..9).map(|seed| first(mix(seed))).collect();
        assert!(counts.iter().any(|&count| count != counts[0]), "{counts:?}");
        // The word that is compared first says nothing else.
        let credit = |port| Packet::new(Kind::Credit, Time(1_000), 9, port);
        let events = (0..99).flat_map(|port| [packet(port), credit(port)]);
        for (one, other) in events
            .clone()
            .flat_map(|one| events.clone().map(move |other| (one, other)))
        {
            let (word, others) = (one.tie_word(7), other.tie_word(7));
            assert!(
                word == others || word.cmp(&others) == one.tie(&other, 7),
                "{one:?} {other:?}"
            );
        }
        let by_input = |port| packet(port).tie_word(BY_INPUT);
        assert!((0..127).all(|port| by_input(port) < by_input(port + 1)));
        assert!(by_input(0) > credit(98).tie_word(BY_INPUT));
        assert_eq!(packet(3).with_lp(5).fold(), packet(3).fold());
        assert_eq!(packet(3).with_lp(5).tie(&packet(3), 1), Ordering::Equal);
        assert_ne!(packet(3).fold(), packet(3).at(Time(1_001), 9, 3).fold());
        let key = |packet: Packet| (packet.lp(), packet.time());
        assert!(key(packet(3).with_lp(8)) < key(packet(2)) && key(packet(9)) < key(packet(1).at(Time(1_001), 9, 1)));
    }
}
