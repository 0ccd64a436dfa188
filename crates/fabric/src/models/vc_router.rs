//! `credit` with `architecture = "vc-router"`: packets travel as flits through input queues per virtual channel; channels and the switch
//! are allocated cycle by cycle (Dally and Towles 2004, chapters 16 to 19; the cycle is that of BookSim2's `iq` router).
//!
//! * **Input.** The first packet of an input channel is routed, gets a channel of its output, and sends a flit for each time that it wins
//!   the switch and has a credit. The next packet of the channel begins when the tail of the first has left.
//! * **Step.** Events of a time come first. Then all allocations are made from what was so at the start of the step, then all that they
//!   change is changed. A cycle has `internal_speedup` steps.
//! * **Output.** Flits pass the crossbar into a queue per port, from which the link takes one after the other.
//! * **Source.** A node's packets become flits beside its router, at the time at which these arrive there.
//!
//! Credits wait for others where nobody can tell ([`credits`]).
//!
//! Ticks are no events: a router is caught up before it looks at an event and when its window closes, and one in which nothing can change
//! has no tick. Heads travel as packets, flits behind them as credits with [`FLIT`]. Units: ps, bytes, flits.

use crate::blocks::NO_ROUTER;
use crate::network::model::{AtRouter, Fabric, ModelRecords, RouterModel};
use crate::network::{Network, Part, Site};
use crate::packet::Packet;
use crate::packing;
use crate::spec::{Allocator, Matcher, PipelineSpec, RunSpec};
use crate::state::pipeline::{FlitSource, InputChannel, OutputBuffer, OutputChannel, RouterClock, SwitchPort, stage};
use crate::state::{NONE, State};
use buffered::Outputs;
use des::checkpoint::{put, take};
use des::{Event, Journal, NoJournal, Sink, Torn, mix};
use std::ops::Range;

mod allocators;
mod buffered;
mod credits;
mod matching;
mod named;
mod source;
mod step;

/// A credit with this bit is a flit behind its packet's head; it may bring credits as well, counted as by [`CREDITS`].
const FLIT: u64 = 1 << 63;
/// One with this value is a credit for the source of a node.
const FOR_SOURCE: u64 = 1 << 62;
/// One with this bit brings credits of several channels, see [`credits`].
const CREDITS: u64 = 1 << 61;

/// Sets of channels that a router has.
const SETS: u32 = 6;
/// Input channels whose first packet is to be routed.
const ROUTING: u32 = 0;
/// Input channels whose first packet wants an output channel.
const ALLOCATION: u32 = 1;
/// Input channels with a flit that may leave.
const BIDS: u32 = 2;
/// Output channels without a packet.
const FREE: u32 = 3;
/// Nodes, by their local number, whose source may send a flit.
const SOURCES: u32 = 4;
/// Output channels with flits in their buffer, of routers that have such buffers.
const QUEUED: u32 = 5;

/// What a link takes, ps.
#[derive(Clone, Copy, Debug)]
struct LinkTimes {
    /// A flit occupies it.
    flit: u64,
    /// From a flit's start until it is at the other end.
    flight: u64,
    /// From the departure of a flit from a buffer until its credit counts at the other end.
    credit: u64,
    /// Credits may wait as long as the sender knows of so much room (flits), [`credits::NEVER`] if they may not.
    spare: u16,
    /// A flit takes as long as a credit, so that credits may go with it.
    carries: bool,
}

/// How many words the sets of a step have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// Up to 64 channels, 8 of a port, and 16 ports of the switch.
    Few,
    /// Up to 64 channels, and ports of the switch.
    One,
    /// Up to 128 channels, 8 of a port, and 32 ports of the switch.
    Two,
    /// Up to 512 channels, 64 ports of the switch.
    Eight,
    /// Up to 4,096 channels, 256 ports of the switch.
    All,
}

/// The model.
#[derive(Debug)]
pub struct VcRouter {
    /// What the study says of the inside.
    pipeline: PipelineSpec,
    /// Period of the clock (ps).
    clock: u64,
    /// Channels of a port are numbered `port << shift` onwards.
    shift: u32,
    /// Words of a set.
    words: u32,
    width: Width,
    /// Bytes of a flit, and of the largest packet; its flits.
    flit: u32,
    full: (u32, u16),
    /// Flits of a buffer.
    buffer: u16,
    /// Flits of an output queue.
    output_queue: u64,
    /// By link class.
    links: Box<[LinkTimes]>,
    /// From nodes to their routers.
    injection: LinkTimes,
    /// The class of each virtual channel.
    class_of: Box<[u8]>,
    /// First channel of each class, and behind the last.
    first_of: Box<[u8]>,
    /// Classes of a virtual network.
    classes_of_network: u8,
    /// Nodes may have too little room for what is on its way to them.
    node_credits: bool,
    /// Some stage takes more than a cycle.
    is_timed: bool,
    /// All that is usual, which a tick of its own need not ask for: [`VcRouter::is_usual`].
    usual: bool,
    /// Channels of a port whose credits wait for others where nobody can tell, see [`credits`]; 0 if all are told at once.
    counted: u8,
    /// The departures of a node's flits are kept at its source, which is spared an event for each.
    keeps_returns: bool,
    /// What a node's source hands on counts at the interface at once if nothing waits there: no packet can tell.
    returns_at_once: bool,
    /// Steps have numbers that something depends on.
    counts_steps: bool,
    /// As many bits as there are channels.
    mask: u64,
    /// What random choices of this run have in common.
    seed: u64,
    /// Ports of the switch per port.
    switch_ports: u8,
    /// Buffers per output channel, in place of stages.
    outputs: Option<Box<Outputs>>,
    /// Local output ports by place and destination node, on small networks where these two alone decide on the class, too; else empty.
    ways: Box<[u8]>,
    /// They are there, and all is usual: a packet knows its way when it comes, and nothing else is to be asked.
    usual_ways: bool,
    /// Nodes.
    nodes: u32,
    /// There are more records than the caches hold.
    is_large: bool,
}

/// Channels of a network whose records, some 100 B each, stay in a second-level cache.
const SMALL: usize = 1 << 12;

/// Most pairs of router and node whose ways are kept: they stay in a cache.
const MOST_WAYS: u64 = 1 << 16;

/// [`VcRouter::ways`].
fn ways(net: &Network) -> Box<[u8]> {
    let (places, nodes) = (net.sites.len(), net.n_nodes());
    let routing = &net.routing;
    let are_decided =
        routing.is_minimal() && !routing.is_asked_first() && routing.networks() == 1 && net.topology.goes_by_place();
    let ports_fit = net.sites.iter().all(|site| site.ports() <= 1 << 8);
    if !are_decided || !ports_fit || places as u64 * u64::from(nodes) > MOST_WAYS {
        return Box::default();
    }
    let way = |site: &Site, node: u32| match site.router == NO_ROUTER {
        true => 0,
        false => net.route(site, &Packet::whole(0, node, 1, 0)).port() as u8,
    };
    let all = net
        .sites
        .iter()
        .flat_map(|site| (0..nodes).map(move |node| way(site, node)));
    all.collect()
}

impl VcRouter {
    /// Flits of a packet.
    #[inline(always)]
    fn flits(&self, size: u32) -> u16 {
        match size {
            _ if size == self.full.0 => self.full.1,
            _ if size <= self.flit => 1,
            _ => size.div_ceil(self.flit) as u16,
        }
    }

    /// Bytes of the last of so many flits of a packet, minus one.
    #[inline(always)]
    fn last_of(&self, size: u32, flits: u16) -> u16 {
        (size - 1 - (u32::from(flits) - 1) * self.flit) as u16
    }

    /// The first tick at `time` or later (ps).
    #[inline(always)]
    fn tick_from(&self, time: u64) -> u64 {
        time.next_multiple_of(self.clock)
    }

    /// Number of the first step of the tick at `now`.
    #[inline(always)]
    fn step_at(&self, now: u64) -> u64 {
        now / self.clock * u64::from(self.pipeline.internal_speedup)
    }

    /// The step behind which a stage of `cycles` may end that is entered after step `after`.
    #[inline(always)]
    fn ready(&self, after: u64, cycles: u8) -> u32 {
        let longer = u64::from(cycles.max(1)) - 1;
        after.wrapping_add(longer * u64::from(self.pipeline.internal_speedup)) as u32
    }

    /// Channels of a class: the first, and how many.
    #[inline(always)]
    fn channels_of(&self, class: u8) -> (u8, u8) {
        let first = self.first_of[usize::from(class)];
        (first, self.first_of[usize::from(class) + 1] - first)
    }

    /// Channels of the virtual network that a class is of.
    fn network_of(&self, class: u8) -> (u8, u8) {
        let classes = self.classes_of_network;
        let first = class / classes * classes;
        let (from, to) = (
            self.first_of[usize::from(first)],
            self.first_of[usize::from(first + classes)],
        );
        (from, to - from)
    }

    /// Every stage takes a cycle, a step is one, ports of the switch are ports, and allocators are round robins with whom nobody waits
    /// for the credits of nodes, of tails, or for room in output queues.
    fn is_usual(&self) -> bool {
        let pipeline = &self.pipeline;
        let speeds = [
            pipeline.internal_speedup,
            pipeline.input_speedup,
            pipeline.output_speedup,
        ];
        let matchers = [pipeline.vc, pipeline.switch];
        self.outputs.is_none()
            && !self.is_timed
            && pipeline.stages[0] == 1
            && speeds == [1; 3]
            && matchers.into_iter().all(matching::is_round_robin)
            && !self.node_credits
            && !pipeline.wait_for_tail_credit
            && self.output_queue == u64::MAX
    }

    /// Place of the first record of the switch of a port, which has a place in the columns.
    #[inline(always)]
    fn switch_port(&self, port: u32) -> u32 {
        port * u32::from(self.switch_ports)
    }

    /// A flit's way through the crossbar where a step is a cycle (ps).
    #[inline(always)]
    fn crossbar(&self) -> u64 {
        u64::from(self.pipeline.stages[3]) * self.clock
    }

    /// Place of a set's first word.
    #[inline(always)]
    fn set(&self, lp: u32, set: u32) -> u32 {
        (lp * SETS + set) * self.words
    }
}

impl RouterModel for VcRouter {
    const HOST_CREDITS: bool = true;
    const TICKS: bool = true;
    const RECORDS: ModelRecords = ModelRecords {
        per_port: size_of::<SwitchPort>(),
        per_channel: size_of::<InputChannel>() + size_of::<OutputChannel>() + 1,
        per_router: size_of::<RouterClock>(),
    };

    fn new(spec: &RunSpec, net: &Network) -> Self {
        let router = &spec.router;
        let pipeline = router.pipeline.unwrap_or_default();
        let flit = net.model.flit(router);
        let clock = pipeline.clock.0.max(1);
        let credit = clock + router.credit_delay.0;
        let times = |class: &crate::network::Class| LinkTimes {
            flit: class.ser(flit),
            flight: class.latency + class.ser(flit),
            credit: class.latency + credit,
            spare: credits::NEVER,
            carries: false,
        };
        let links: Box<[LinkTimes]> = net.classes.iter().map(times).collect();
        let injection = LinkTimes {
            credit: net.injection.latency + clock,
            ..times(&net.injection)
        };
        let shift = net.vcs.next_power_of_two().trailing_zeros();
        let switch_ports = pipeline.input_speedup.max(pipeline.output_speedup).max(1);
        let most_ports = net.sites.iter().map(|site| site.ports()).max().unwrap_or(0);
        let words = (most_ports << shift).div_ceil(64).max(1);
        let width = match (words, most_ports * u32::from(switch_ports), net.vcs) {
            (1, ..=16, ..=8) => Width::Few,
            (1, ..=64, _) => Width::One,
            (2, ..=32, ..=8) => Width::Two,
            (..=8, ..=64, _) => Width::Eight,
            _ => Width::All,
        };
        let classes = u32::from(net.routing.vcs()).min(net.vcs);
        let first_of: Box<[u8]> = (0..=classes).map(|class| (class * net.vcs / classes) as u8).collect();
        let class_of = |vc: u32| (first_of.partition_point(|&first| u32::from(first) <= vc) - 1) as u8;
        let buffer = (net.buffer / i64::from(flit)).clamp(1, i64::from(u16::MAX)) as u16;
        let packet = spec.nic.packet.0 as u32;
        let host = links[0];
        let around = host.flight + host.credit + u64::from(pipeline.stages[3] + 1) * clock;
        let is_timed = pipeline.stages.iter().any(|&cycles| cycles > 1);
        let drawn = |matcher: Matcher| {
            matches!(
                matcher.rule,
                Allocator::Pim | Allocator::MaxSize | Allocator::RandomGreedy
            )
        };
        let speeds = [pipeline.internal_speedup, pipeline.output_speedup];
        let mut model = VcRouter {
            pipeline,
            clock,
            shift,
            words,
            width,
            flit,
            full: (packet, packet.div_ceil(flit) as u16),
            buffer,
            output_queue: pipeline
                .output_queue
                .map_or(u64::MAX, |bytes| bytes.0 / u64::from(flit)),
            injection,
            class_of: (0..net.vcs).map(class_of).collect(),
            first_of,
            classes_of_network: (classes / u32::from(net.routing.networks())).max(1) as u8,
            node_credits: pipeline.outputs.is_none()
                && (pipeline.wait_for_tail_credit
                    || speeds.iter().any(|&speed| speed > 1)
                    || host.flit > clock
                    || u64::from(buffer) * clock < around),
            outputs: (pipeline.outputs.as_ref()).map(|outputs| {
                Box::new(Outputs::new(
                    outputs,
                    pipeline.vc.rule,
                    (flit, router.bubble),
                    spec.nic.packet,
                ))
            }),
            is_timed,
            usual: false,
            counted: 0,
            keeps_returns: false,
            returns_at_once: false,
            counts_steps: pipeline.outputs.is_some()
                || is_timed
                || pipeline.internal_speedup > 1
                || drawn(pipeline.vc)
                || drawn(pipeline.switch),
            mask: (1 << net.vcs) - 1,
            seed: mix(net.seed ^ 0x7663_2D72_6F75_7465),
            switch_ports,
            links,
            ways: ways(net),
            usual_ways: false,
            nodes: net.n_nodes(),
            is_large: net.peers.entries().len() << shift > SMALL,
        };
        model.usual = model.is_usual();
        model.usual_ways = model.usual && !model.ways.is_empty();
        model.tell_late(net);
        model.keep_returns(net);
        model
    }

    fn is_large(&self, _: &Network) -> bool {
        self.is_large
    }

    /// Whole flits.
    #[inline(always)]
    fn room(&self, size: u32) -> u32 {
        u32::from(self.flits(size)) * self.flit
    }

    #[inline(always)]
    fn tells_late(&self) -> bool {
        self.counted > 0
    }

    fn owed(&self, _: &Network, st: &State, port: u32, vc: u32) -> u64 {
        match self.tells_late() {
            true => credits::owed(st, port, vc) * u64::from(self.flit),
            false => 0,
        }
    }

    fn start(&self, net: &Network, routers: &Range<u32>, st: &mut State) {
        let Part { ports, nodes } = net.part(routers);
        let sites = &(*net.sites)[routers.start as usize..routers.end as usize];
        let channels = ports.start << self.shift..ports.end << self.shift;
        let rooms = sites
            .iter()
            .flat_map(|site| (0..site.ports()).map(|port| self.first_room(net, site, port)));
        let inputs = rooms.flat_map(|room| std::iter::repeat_n(InputChannel::idle(room), 1 << self.shift));
        st.input_channels.fill(channels.start, inputs.collect());
        let output = OutputChannel {
            owner: OutputChannel::FREE,
            grant: 0,
        };
        st.output_channels.fill(channels.start, vec![output; channels.len()]);
        if self.outputs.is_some() {
            let empty = vec![OutputBuffer::EMPTY; channels.len()];
            st.output_buffers.fill(channels.start, empty);
        }
        let mut sets = vec![0u64; (routers.len() as u32 * SETS * self.words) as usize];
        for (router, site) in sites.iter().enumerate() {
            let first = (router as u32 * SETS + FREE) * self.words;
            let free = &mut sets[first as usize..(first + self.words) as usize];
            for port in 0..site.ports() {
                for vc in 0..net.vcs {
                    let channel = (port << self.shift) + vc;
                    free[channel as usize / 64] |= 1 << (channel % 64);
                }
            }
        }
        st.channel_sets.fill(routers.start * SETS * self.words, sets);
        let switch_ports = self.switch_port(ports.start)..self.switch_port(ports.end);
        let unused = vec![SwitchPort::default(); switch_ports.len()];
        st.switch_ports.fill(switch_ports.start, unused);
        let source = FlitSource {
            free: 0,
            head: NONE,
            tail: NONE,
            left: 0,
            flits: 0,
            vc: net.vcs as u16 - 1,
            first_return: 0,
            n_returns: 0,
            returns: [0; FlitSource::MOST_RETURNS],
        };
        st.flit_sources.fill(nodes.start, vec![source; nodes.len()]);
        let idle = RouterClock {
            due: u64::MAX,
            vc_diagonal: 0,
            switch_diagonal: 0,
        };
        st.clocks.fill(routers.start, vec![idle; routers.len()]);
        if self.node_credits {
            let all = st.channels.as_mut_slice();
            for site in sites {
                for port in site.port + u32::from(site.net)..site.port + site.ports() {
                    let first = ((port - ports.start) * net.vcs) as usize;
                    all[first..first + net.vcs as usize]
                        .iter_mut()
                        .for_each(|channel| channel.credit = net.buffer);
                }
            }
        }
    }

    #[inline(always)]
    fn arrive<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let packet = *event;
        let site = *at.site;
        let mut at = at.with(&site);
        let now = packet.time().0;
        at.catch_up(now);
        let slot = at.keep(packet, 1);
        let due = if packet.port() >= at.site.net {
            at.give_to_source(u32::from(packet.port() - at.site.net), slot)
        } else {
            let (port, vc) = (u32::from(packet.port()), u32::from(packet.vc()));
            let channel = (port << at.model.shift) + vc;
            at.takes_room(port, vc, now);
            at.head_arrives(channel, slot, &packet, now)
        };
        if due {
            at.wake(now);
        }
    }

    #[inline(always)]
    fn credit<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, event: &Packet) {
        let site = *at.site;
        let mut at = at.with(&site);
        let now = event.time().0;
        at.catch_up(now);
        let (port, vc) = (u32::from(event.port()), u32::from(event.vc()));
        let value = event.value();
        let due = if value & FLIT != 0 {
            let channel = (port << at.model.shift) + vc;
            let credited = at.credit_outputs(port, value);
            at.takes_room(port, vc, now);
            at.body_arrives(channel) | credited
        } else if value & CREDITS != 0 {
            at.credit_outputs(port, value)
        } else if value == FOR_SOURCE {
            at.credit_source(port, vc)
        } else {
            at.credit_output(port, vc, value as i64)
        };
        if due {
            at.wake(now);
        }
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Fabric<Self>>>(mut at: AtRouter<'_, Self, J, S>, end: u64) -> u64 {
        at.catch_up(end);
        at.st.clocks.get(at.lp).due
    }

    fn pack(&self, net: &Network, st: &State, lp: u32, out: &mut Vec<u8>) {
        let site = &net.sites[lp as usize];
        let ports = site.port..site.port + site.ports();
        for index in ports.start << self.shift..ports.end << self.shift {
            let input = *st.input_channels.get(index);
            let (first, head, tail) = (NONE, NONE, NONE);
            put(
                out,
                InputChannel {
                    first,
                    head,
                    tail,
                    ..input
                },
            );
            packing::put_packets(net, st, lp, input.first, out);
            packing::put_packets(net, st, lp, input.head, out);
            put(out, *st.output_channels.get(index));
            if self.outputs.is_some() {
                let buffer = *st.output_buffers.get(index);
                put(
                    out,
                    OutputBuffer {
                        first,
                        head,
                        tail,
                        ..buffer
                    },
                );
                packing::put_packets(net, st, lp, buffer.first, out);
                packing::put_packets(net, st, lp, buffer.head, out);
            }
        }
        let sets = self.set(lp, 0)..self.set(lp + 1, 0);
        sets.for_each(|word| put(out, *st.channel_sets.get(word)));
        let switch_ports = self.switch_port(ports.start)..self.switch_port(ports.end);
        switch_ports.for_each(|port| put(out, *st.switch_ports.get(port)));
        for node in net.node_places(lp, site) {
            let source = *st.flit_sources.get(node);
            let (head, tail) = (NONE, NONE);
            put(out, FlitSource { head, tail, ..source });
            packing::put_packets(net, st, lp, source.head, out);
        }
        put(out, *st.clocks.get(lp));
    }

    fn unpack(&self, net: &Network, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        let j = &mut NoJournal;
        let site = net.sites[lp as usize];
        let ports = site.port..site.port + site.ports();
        for index in ports.start << self.shift..ports.end << self.shift {
            let record: InputChannel = take(input)?;
            let (first, _) = packing::take_packets::<Self>(net, st, lp, input)?;
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            if u32::from(record.output) >= site.ports() || u32::from(record.vc) >= net.vcs {
                return Err(Torn("a packet in it wants a port that is not there"));
            }
            let record = InputChannel {
                first,
                head,
                tail,
                ..record
            };
            st.input_channels.set(j, index, record);
            st.output_channels.set(j, index, take(input)?);
            if self.outputs.is_some() {
                let buffer: OutputBuffer = take(input)?;
                let (first, _) = packing::take_packets::<Self>(net, st, lp, input)?;
                let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
                let buffer = OutputBuffer {
                    first,
                    head,
                    tail,
                    ..buffer
                };
                st.output_buffers.set(j, index, buffer);
            }
        }
        if self.tells_late() && ports.clone().any(|port| !self.counts_fit(st.ports.get(port).mark)) {
            return Err(Torn("a port owes credits of channels that it does not have"));
        }
        for word in self.set(lp, 0)..self.set(lp + 1, 0) {
            st.channel_sets.set(j, word, take(input)?);
        }
        for port in self.switch_port(ports.start)..self.switch_port(ports.end) {
            st.switch_ports.set(j, port, take(input)?);
        }
        for node in net.node_places(lp, &site) {
            let source: FlitSource = take(input)?;
            if !source.is_sound(net.vcs) {
                return Err(Torn("a source of flits keeps more than it can"));
            }
            let (head, tail) = packing::take_packets::<Self>(net, st, lp, input)?;
            st.flit_sources.set(j, node, FlitSource { head, tail, ..source });
        }
        st.clocks.set(j, lp, take(input)?);
        Ok(())
    }

    /// Time (ps) that what was sent by that port and is not yet credited takes on its link, whatever the channel.
    fn backlog<J: Journal, S: Sink<Fabric<Self>>>(at: AtRouter<'_, Self, J, S>, port: u32, _: u8, _: u64) -> u64 {
        let bytes = at.model.downstream(at.net, at.st, port, None);
        at.net.classes[at.net.peers[port as usize].class() as usize].time_of(bytes)
    }

    /// What the output queue has to send.
    fn waiting(&self, _: &Network, st: &State, port: u32, _: Option<u8>, now: u64) -> u64 {
        st.ports.get(port).free.saturating_sub(now)
    }

    fn downstream(&self, net: &Network, st: &State, port: u32, class: Option<u8>) -> u64 {
        let (first, channels) = match class {
            Some(class) => self.channels_of(class),
            None => (0, net.vcs as u8),
        };
        let first = port * net.vcs + u32::from(first);
        let held = |channel: u32| (net.buffer - st.channels.get(channel).credit).max(0) as u64;
        (first..first + u32::from(channels)).map(held).sum()
    }
}

impl Fabric<VcRouter> {
    /// Does something at a router in a function of its own, with a copy of the router's entry: its caller keeps what it has in registers.
    #[inline(never)]
    fn apart<J: Journal, S: Sink<Self>, T>(
        &self,
        st: &mut State,
        j: &mut J,
        lp: u32,
        sink: &mut S,
        what: impl FnOnce(AtRouter<'_, VcRouter, J, S>) -> T,
    ) -> T {
        let site = self.net.sites[lp as usize];
        what(self.at(st, j, lp, sink).with(&site))
    }
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// [`Fabric::apart`].
    #[inline(always)]
    fn apart<T>(&mut self, what: impl FnOnce(AtRouter<'_, VcRouter, J, S>) -> T) -> T {
        self.fabric.apart(self.st, self.j, self.lp, self.sink, what)
    }

    /// Something has changed at `now`: the tick that follows sees it.
    #[inline(always)]
    fn wake(&mut self, now: u64) {
        if self.st.clocks.get(self.lp).due == u64::MAX {
            self.st.clocks.edit(self.j, self.lp).due = self.model.tick_from(now);
        }
    }

    /// The place of a channel's records.
    #[inline(always)]
    fn record_of(&self, channel: u32) -> u32 {
        (self.site.port << self.model.shift) + channel
    }

    /// Puts a channel or node into a set of the router.
    #[inline(always)]
    fn put_into(&mut self, set: u32, member: u32) {
        let word = self.model.set(self.lp, set) + member / 64;
        *self.st.channel_sets.edit(self.j, word) |= 1 << (member % 64);
    }

    /// The head of a packet, which is kept in a slot, is in an input buffer; whether that changes what the router can do.
    #[inline(always)]
    fn head_arrives(&mut self, channel: u32, slot: u32, packet: &Packet, now: u64) -> bool {
        let index = self.record_of(channel);
        let input = self.st.input_channels.edit(self.j, index);
        if input.stage & 7 == stage::IDLE {
            input.present = 1;
            let model = self.model;
            let after = move || match model.is_timed {
                true => model.step_at(model.tick_from(now)).wrapping_sub(1),
                false => 0,
            };
            let set = self.begin(channel, (slot, packet), now, after);
            self.put_into(set, channel);
            return true;
        }
        if input.head == NONE {
            input.head = slot;
        } else {
            self.st.links.edit(self.j, input.tail).next = slot;
        }
        input.tail = slot;
        false
    }

    /// A packet becomes the first of its input channel, `present` flits of which are here, and may act in the steps after step `after`: the
    /// set that it belongs to.
    #[inline(always)]
    fn begin(&mut self, channel: u32, (slot, packet): (u32, &Packet), now: u64, after: impl FnOnce() -> u64) -> u32 {
        let AtRouter { net, model, lp, .. } = *self;
        let index = self.record_of(channel);
        let (size, destination) = (packet.size(), packet.destination());
        let flits = model.flits(size);
        let input = self.st.input_channels.edit(self.j, index);
        input.first = slot;
        input.left = flits;
        input.last = model.last_of(size, flits);
        let take_known_way = |input: &mut InputChannel| {
            input.output = model.ways[(lp * model.nodes + destination) as usize].into();
            (input.lowest, input.choices) = (0, net.vcs as u8);
            input.stage = stage::ALLOCATION | InputChannel::HEAD;
        };
        if model.usual_ways {
            take_known_way(input);
            return ROUTING;
        }
        let after = after();
        if model.outputs.is_some() {
            input.stage = stage::ALLOCATION | InputChannel::HEAD;
            return ALLOCATION;
        }
        if model.ways.is_empty() {
            input.stage = stage::ROUTING | InputChannel::HEAD;
        } else {
            take_known_way(input);
        }
        let cycles = model.pipeline.stages[0];
        if cycles == 0 {
            self.route_first(channel, now, after);
            return ALLOCATION;
        }
        let input = self.st.input_channels.edit(self.j, index);
        if model.is_timed {
            input.ready = model.ready(after, cycles);
        }
        ROUTING
    }

    /// The first packet of an input channel is routed: it waits for an output channel.
    #[inline(always)]
    fn route_first(&mut self, channel: u32, now: u64, after: u64) {
        let model = self.model;
        if model.ways.is_empty() {
            self.apart(move |mut at| at.find_way(channel, now));
        }
        let index = self.record_of(channel);
        let input = self.st.input_channels.edit(self.j, index);
        input.stage = stage::ALLOCATION | InputChannel::HEAD;
        if model.is_timed {
            input.ready = model.ready(after, model.pipeline.stages[1]);
        }
    }

    /// Finds output and channels of the first packet of an input channel.
    #[inline(always)]
    fn find_way(&mut self, channel: u32, now: u64) {
        let AtRouter { net, site, model, .. } = *self;
        let index = self.record_of(channel);
        let slot = self.st.input_channels.get(index).first;
        let mut packet = *self.st.slots.get(slot);
        let class = model.class_of[usize::from(packet.vc())];
        packet.set_vc(class);
        let to_the_node = net.routing.leads_to_the_node();
        let way = match to_the_node {
            true => self.lent().route_by_what_waits::<false>(&packet, now),
            false => self.route(&packet, now),
        };
        let ejects = way.port() >= u32::from(site.net);
        let (lowest, choices) = match ejects && !to_the_node {
            true => model.network_of(class),
            false => model.channels_of(way.vc().min(net.routing.vcs() - 1)),
        };
        if packet.phase() != way.phase() {
            self.st.slots.edit(self.j, slot).set_phase(way.phase());
        }
        let input = self.st.input_channels.edit(self.j, index);
        input.output = way.port() as u16;
        (input.lowest, input.choices) = (lowest, choices);
    }

    /// A flit behind its packet's head is in an input buffer; whether that changes what the router can do.
    #[inline(always)]
    fn body_arrives(&mut self, channel: u32) -> bool {
        let index = self.record_of(channel);
        let input = self.st.input_channels.edit(self.j, index);
        if input.tail != NONE {
            let tail = input.tail;
            self.st.links.edit(self.j, tail).sequence += 1;
            return false;
        }
        input.present += 1;
        let (is_active, first) = (input.stage & 7 == stage::ACTIVE, input.present == 1);
        let (output, vc) = (u32::from(input.output), u32::from(input.vc));
        is_active && first && self.bid(channel, output, vc)
    }

    /// An active input channel has a flit: it bids for the switch if there is a credit.
    #[inline(always)]
    fn bid(&mut self, channel: u32, output: u32, vc: u32) -> bool {
        let place = (self.site.port + output) * self.net.vcs + vc;
        let room = self.model.outputs.is_some() || self.st.channels.get(place).credit >= i64::from(self.model.flit);
        if room {
            self.put_into(BIDS, channel);
        }
        room
    }

    /// Room comes back to an output channel; whether that changes what the router can do.
    #[inline(always)]
    fn credit_output(&mut self, port: u32, vc: u32, bytes: i64) -> bool {
        let place = (self.site.port + port) * self.net.vcs + vc;
        let channel = self.st.channels.edit(self.j, place);
        channel.credit += bytes;
        let credit = channel.credit;
        if self.model.outputs.is_some() {
            return true;
        }
        let record = self.record_of((port << self.model.shift) + vc);
        let owner = self.st.output_channels.get(record).owner;
        if owner == OutputChannel::ENDED {
            if credit == self.net.buffer {
                self.st.output_channels.edit(self.j, record).owner = OutputChannel::FREE;
                self.put_into(FREE, (port << self.model.shift) + vc);
                return true;
            }
            return false;
        }
        credit - bytes < i64::from(self.model.flit) && self.has_room_again(port, vc)
    }

    /// An output channel that had no room has some; whether that changes what the router can do.
    #[inline(always)]
    fn has_room_again(&mut self, port: u32, vc: u32) -> bool {
        let record = self.record_of((port << self.model.shift) + vc);
        let owner = self.st.output_channels.get(record).owner;
        if owner == OutputChannel::FREE {
            return false;
        }
        let input = self.st.input_channels.get(self.record_of(owner.into()));
        if input.present == 0 {
            return false;
        }
        self.put_into(BIDS, owner.into());
        true
    }
}
