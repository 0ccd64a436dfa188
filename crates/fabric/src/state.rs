//! The state of all routers and nodes: flat records in journalled columns.

use crate::packet::{EnvelopeWords, Label, MAX_NODES, NUMBERS, Packet};
use bytemuck::{Pod, Zeroable};
use work::memory::MemoryColumns;
use work::ranks::RankColumns;
use work::workload::{Ledger, Source};

pub mod crossbar;
pub mod lists;
pub mod pipeline;
pub mod returns;

pub use des::lists::NONE;
use std::mem::offset_of;

/// A branch on the way to records of incoming messages: sixteen ways, each [`NONE`], a record, or a branch. One cache line.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Ways(pub [u32; 16]);

/// An output port: when its link is free, what it has sent, what waits. One cache line.
///
/// No two counters that change together are neighbours: two plain additions are less than the vector one that would take their place.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Port {
    /// The link is idle from this time (ps) on.
    pub free: u64,
    /// Time (ps) the link has been or will be busy with packets it has accepted.
    pub busy: u64,
    /// Virtual channels with waiting packets.
    pub channels: u64,
    /// Free for the router model.
    pub mark: u64,
    /// Packets sent.
    pub packets: u64,
    /// Number of the next packet to be queued, for first-come order.
    pub sequence: u32,
    /// The virtual channel served last.
    pub served: u32,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets waiting, all channels.
    pub waiting: u32,
    /// Free for the router model.
    pub extra: u32,
}

/// The link of an output port: when it is idle, and what it has sent. Half a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct OutLink {
    /// The link is idle from this time (ps) on.
    pub free: u64,
    /// Time (ps) the link has been or will be busy with packets it has accepted.
    pub busy: u64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// An [`OutLink`] with both counts, of packets and of bytes, as one number.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(32))]
struct OutLinkOfOneCount {
    free: u64,
    busy: u64,
    sent: u128,
}

const _: () = assert!(
    offset_of!(OutLinkOfOneCount, sent) == offset_of!(OutLink, packets)
        && offset_of!(OutLink, packets) + size_of::<u64>() == offset_of!(OutLink, bytes)
);

impl OutLink {
    /// As [`Port::book`].
    #[inline(always)]
    pub fn book(&mut self, bytes: u32, taken: u64, idle: u64) {
        let link: &mut OutLinkOfOneCount = bytemuck::cast_mut(self);
        link.free = idle;
        link.busy += taken;
        // Two additions, with a carry that there never is, where two counts side by side would be one of vectors, whose parts are put together first.
        let bytes = u128::from(bytes);
        link.sent += match cfg!(target_endian = "little") {
            true => bytes << u64::BITS | 1,
            false => 1 << u64::BITS | bytes,
        };
    }
}

/// A port that has its only channel in its record, in place of a set of channels and a mark.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct PortOfOneChannel {
    free: u64,
    busy: u64,
    channel: Channel,
    counts: [u64; 4],
}

const _: () = assert!(
    offset_of!(PortOfOneChannel, channel) == offset_of!(Port, channels)
        && offset_of!(PortOfOneChannel, counts) == offset_of!(Port, packets)
);

impl Port {
    /// The only channel, of a port that has it in its record: what would be its channels and its mark.
    #[inline(always)]
    pub fn only_channel(&self) -> &Channel {
        let port: &PortOfOneChannel = bytemuck::cast_ref(self);
        &port.channel
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn only_channel_mut(&mut self) -> &mut Channel {
        let port: &mut PortOfOneChannel = bytemuck::cast_mut(self);
        &mut port.channel
    }

    /// Books the link for another packet of so many bytes, which keeps it busy for `taken` ps and leaves it idle from `idle` on.
    #[inline(always)]
    pub fn book(&mut self, bytes: u32, taken: u64, idle: u64) {
        self.free = idle;
        self.busy += taken;
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// Its link.
    pub fn link(&self) -> OutLink {
        OutLink {
            free: self.free,
            busy: self.busy,
            packets: self.packets,
            bytes: self.bytes,
        }
    }

    /// The port with another state of its link.
    pub fn with_link(self, link: OutLink) -> Port {
        let OutLink {
            free,
            busy,
            packets,
            bytes,
        } = link;
        Port {
            free,
            busy,
            packets,
            bytes,
            ..self
        }
    }
}

/// A virtual channel of an output port: its queue and the room in the next buffer.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Channel {
    /// First waiting packet's slot.
    pub head: u32,
    /// Last waiting packet's slot.
    pub tail: u32,
    /// Free bytes of the buffer at the other end (credit models), or bytes held (late admission).
    pub credit: i64,
}

/// List links of a packet slot.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Link {
    /// The next slot of the same list.
    pub next: u32,
    /// The packet's number in its port's first-come order.
    pub sequence: u32,
}

/// A router with its nodes. Half a cache line, whose place is found by a shift.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Router {
    /// Packets in its queues.
    pub queued: u32,
    /// Free packet slots, a list.
    pub free_slot: u32,
    /// Free post records, a list.
    pub free_post: u32,
    /// Free records of incoming messages, a list.
    pub free_incoming: u32,
    /// Free branches on the way to them, a list.
    pub free_ways: u32,
    /// Free records of what comes back to interfaces, a list; 0 if there are none.
    pub free_returns: u32,
    /// What has gone beyond what the run can tell apart: [`fault`]s, which make it an error.
    pub faults: u32,
    /// Always 0.
    pub unused: u32,
}

/// Reasons for which a run that has come to them is an error.
pub mod fault {
    /// A message has set out with the number of another that has yet to arrive.
    pub const NUMBER_IN_USE: u32 = 1;
    /// A message has more parts than have numbers.
    pub const TOO_MANY_PARTS: u32 = 2;
    /// A packet of a message came before an earlier one, on a network that keeps their order.
    pub const OUT_OF_ORDER: u32 = 4;
    /// A rank has sent half as many messages to another as have numbers after one that is not done with.
    pub const RANK_NUMBERS_USED_UP: u32 = 8;
}

/// A network interface. One cache line.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Nic {
    /// The injection link is idle from this time (ps) on.
    pub free: u64,
    /// Birth of the message at the head, or `u64::MAX` if there is none.
    pub birth: u64,
    /// Its bytes not yet injected.
    pub left: u64,
    /// Earliest injection of its next packet.
    pub ready: u64,
    /// Packets injected.
    pub packets: u64,
    /// Its destination in the lowest bits, and above them [`Nic::WHOLE`], [`Nic::OF_RANK`], [`Nic::BLOCKED`] and [`Nic::CONTROL`].
    pub target: u32,
    /// Packets of it injected.
    pub part: u32,
    /// Free bytes of the router's host buffer.
    pub credit: i32,
    /// First posted message; `NONE` if none.
    pub post_head: u32,
    /// Last posted message.
    pub post_tail: u32,
    /// Label of the message at the head.
    pub label: Label,
}

impl Nic {
    /// The message at the head has one packet only, which tells all about it.
    pub const WHOLE: u32 = MAX_NODES;
    /// It is a rank's, and the first posted message until it has left.
    pub const OF_RANK: u32 = MAX_NODES << 1;
    /// The head packet waits for credit.
    pub const BLOCKED: u32 = MAX_NODES << 2;
    /// Control messages wait beside it, in a queue of their own.
    pub const CONTROL: u32 = MAX_NODES << 3;

    /// Destination of the message at the head.
    #[inline(always)]
    pub fn destination(&self) -> u32 {
        self.target & (MAX_NODES - 1)
    }

    /// Whether all of these flags are set.
    #[inline(always)]
    pub fn is(&self, flags: u32) -> bool {
        self.target & flags == flags
    }
}

const _: () = assert!(size_of::<Nic>() == 64, "an interface is one cache line");

/// A node's control messages that go before its data. `controls` has such records only where a run has them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct ControlQueue {
    /// Bytes of the first one that have yet to set out, once a packet of it has.
    pub left: u64,
    /// First posted control message; `NONE` if none.
    pub head: u32,
    /// The last one.
    pub tail: u32,
    /// Packets of the first one that have set out.
    pub part: u32,
    /// Label of the first one, once a packet of it has set out.
    pub label: Label,
}

impl ControlQueue {
    /// Nothing waits.
    pub const EMPTY: ControlQueue = ControlQueue {
        left: 0,
        head: NONE,
        tail: NONE,
        part: 0,
        label: 0,
    };
}

/// Takes the number of the next message of a node.
#[inline(always)]
pub fn next_number(ledger: &mut Ledger) -> Label {
    let number = ledger.number & (NUMBERS - 1);
    ledger.number = ledger.number.wrapping_add(1);
    number
}

/// A message that a node has posted and whose injection has not begun, or is a rank's and has not ended.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Post {
    /// When it was handed to the interface (ps).
    pub birth: u64,
    /// Its size.
    pub bytes: u64,
    /// Its destination.
    pub destination: u32,
    /// The next post.
    pub next: u32,
    /// What its label says besides its number: [`ACK`](crate::packet::ACK), or its class.
    pub mark: Label,
    /// The rest of its envelope's context.
    pub rest: u32,
    /// A rank's message: its envelope's word, else 0.
    pub word: u64,
}

impl Post {
    /// Its envelope, of a rank's message.
    pub fn envelope(&self) -> EnvelopeWords {
        EnvelopeWords {
            word: self.word,
            rest: self.rest as u8,
        }
    }
}

/// A message of several packets on its way to a node, or a rank's of any number until the rank has it. One cache line.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Incoming {
    /// Bytes not yet here.
    pub left: u64,
    /// Its size.
    pub bytes: u64,
    /// Birth (ps).
    pub birth: u64,
    /// Arrival of the latest part so far (ps).
    pub latest: u64,
    /// Source node.
    pub source: u32,
    /// Next free record; cumulative completion: next message of its flow.
    pub next: u32,
    /// The message's label.
    pub label: Label,
    /// Most hops of a packet so far.
    pub hops: u32,
    /// Cumulative completion: bytes of its source's messages to this node up to its end. A rank's message, which does not go with that:
    /// its envelope's word as far as it has come. Else 0.
    pub about: u64,
    /// Its parts that have come, on a network that keeps their order; cumulative completion: those up to the highest number that has.
    pub parts: u32,
    /// 1 once it counts as delivered.
    pub delivered: u8,
    /// 1 if its last packet tells its size, which is not known until then.
    pub sizeless: u8,
    /// The rest of its envelope's context.
    pub rest: u8,
    /// 1 if some of it is lost.
    pub lost: u8,
}

impl Incoming {
    /// All of it has come, and who sent it and how much it is are known.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.left == 0 && self.bytes != 0 && self.birth != u64::MAX
    }

    /// Its envelope, of a rank's message, as far as it has come.
    pub fn envelope(&self) -> EnvelopeWords {
        EnvelopeWords {
            word: self.about,
            rest: self.rest,
        }
    }
}

const _: () = assert!(
    size_of::<Incoming>() == 64,
    "a packet of a message touches one cache line of its record"
);

// Memory per node, as ARCHITECTURE.md adds it up.
const _: () = assert!(
    size_of::<Port>() == 64 && size_of::<OutLink>() == 32 && size_of::<Channel>() == 16 && size_of::<Router>() == 32
);
const _: () = assert!(
    size_of::<Source>() == 32
        && size_of::<Ledger>() == 16
        && size_of::<ControlQueue>() == 24
        && size_of::<Post>() == 40
);
const _: () = assert!(size_of::<Packet>() + size_of::<Link>() == 40, "a packet that waits");

/// The states of all blocks of a network, in the order of their routers.
#[derive(Clone, Debug)]
pub struct Parts<'a>(Vec<&'a State>);

impl<'a> Parts<'a> {
    /// The whole of these states.
    pub fn new(states: impl IntoIterator<Item = &'a State>) -> Self {
        Parts(states.into_iter().collect())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'a State> + '_ {
        self.0.iter().copied()
    }

    /// The links of all output ports with the ports' numbers, block by block.
    pub fn numbered_links(&self) -> impl Iterator<Item = (u32, OutLink)> + '_ {
        self.iter().flat_map(State::numbered_links)
    }

    /// The state that output port `port` of routers with queues is in; `None` if these are not the whole and it is in another.
    pub fn of_port(&self, port: u32) -> Option<&'a State> {
        let behind = self.0.partition_point(|state| state.ports.range().start <= port);
        // Blocks without ports come before the one that begins with the same number.
        let state = *self.0[..behind].last()?;
        state.ports.range().contains(&port).then_some(state)
    }
}

impl State {
    /// Channel `vc` of an output port of whatever router with queues, of `vcs`.
    pub fn channel_of(&self, port: u32, vc: u32, vcs: u32) -> &Channel {
        match self.channels.is_empty() {
            true => self.ports.get(port).only_channel(),
            false => self.channels.get(port * vcs + vc),
        }
    }

    /// The channels of all output ports, port by port.
    pub fn all_channels(&self) -> impl Iterator<Item = &Channel> {
        let in_ports = match self.channels.is_empty() {
            true => self.ports.as_slice(),
            false => &[],
        };
        in_ports.iter().map(Port::only_channel).chain(self.channels.as_slice())
    }

    /// The link of an output port, of whatever router.
    pub fn link_of(&self, port: u32) -> OutLink {
        match self.out_links.is_empty() {
            true => self.ports.get(port).link(),
            false => *self.out_links.get(port),
        }
    }

    /// The links of all output ports with the ports' numbers.
    pub fn numbered_links(&self) -> impl Iterator<Item = (u32, OutLink)> + '_ {
        let booked = self.out_links.range().zip(self.out_links.as_slice().iter().copied());
        let of_queues = self.ports.range().zip(self.ports.as_slice().iter().map(Port::link));
        booked.chain(of_queues)
    }
}

des::columns! {
    /// State of the routers of a block.
    pub struct State {
        /// A record per router.
        pub routers: Router,
        /// Bit sets of output ports with waiting packets: `words_per_router` words per router.
        pub waiting: u64,
        /// Credit routers: of these ports, those whose packets all wait for room.
        pub shut: u64,
        /// Routers with queues: a record per output port: network ports, then one ejection port per node, router by router.
        pub ports: Port,
        /// Routers without queues: the same of its link, which is all that there is.
        pub out_links: OutLink,
        /// Routers with queues: a record per output port and virtual channel, unless ports have their [only channel](Port::only_channel) in their record.
        pub channels: Channel,
        /// Credit routers that tell late of free room: a word per port and virtual channel, as inputs ([`models::credit`](crate::models::credit)).
        pub inlets: u64,
        /// Waiting packets.
        pub slots: Packet,
        /// Their list links.
        pub links: Link,
        /// A record per node.
        pub nics: Nic,
        /// What comes back to interfaces where that takes no event: a record per node, and others behind them.
        pub returns: returns::Returns,
        /// When each node's interface can act next (ps).
        pub due: u64,
        /// A record per node.
        pub sources: Source,
        /// Another.
        pub ledgers: Ledger,
        /// Posted messages.
        pub posts: Post,
        /// Where control messages go before data, a record per node.
        pub controls: ControlQueue,
        /// Roots of the ways to records of incoming messages: [`Network::buckets`](crate::network::Network) per node.
        pub incoming_roots: u32,
        /// Branches of these ways.
        pub incoming_ways: Ways,
        /// Incoming messages of several packets.
        pub incoming: Incoming,
        /// Late-admission routers: the lists of each output port.
        pub lists: lists::List,
        /// Late-admission routers with channels, and those with output buffers: what waits beside the queue of each port and channel.
        pub refused: lists::List,
        /// Routers with output buffers: bytes in that of each port and channel.
        pub held: u64,
        /// Input-queued routers: a record per port and virtual channel.
        pub inputs: crossbar::Input,
        /// Input-queued routers: a record per port.
        pub crossings: crossbar::Crossing,
        /// Input-queued routers: bit sets of ports with packets in input queues, `words_per_router` words per router.
        pub arriving: u64,
        /// Input-queued routers: a record per router.
        pub arbiters: crossbar::Arbiter,
        /// Vc-routers: a record per port and virtual channel, as inputs.
        pub input_channels: pipeline::InputChannel,
        /// Vc-routers: the same as outputs.
        pub output_channels: pipeline::OutputChannel,
        /// Vc-routers with buffers at their outputs: a record per port and virtual channel.
        pub output_buffers: pipeline::OutputBuffer,
        /// Vc-routers: bit sets of channels, some words per router.
        pub channel_sets: u64,
        /// Vc-routers: a record per port of the switch.
        pub switch_ports: pipeline::SwitchPort,
        /// Vc-routers: a record per node.
        pub flit_sources: pipeline::FlitSource,
        /// Vc-routers: a record per router.
        pub clocks: pipeline::RouterClock,
        /// Routings with news: until when each port of the group has work, as far as each router has been told (ps).
        pub told: u64,
        /// Routings that deal packets out in turn: the counters of each router.
        pub turns: u32,
    } with {
        /// Of ranks.
        pub mpi: RankColumns,
        /// Of memory nodes.
        pub memory: MemoryColumns,
    }
}
