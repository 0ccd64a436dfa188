//! Outputs with a buffer per virtual channel, as CAMINOS' routers have them: within one cycle a packet asks for an output channel, is given it,
//! and its flits cross into the channel's buffer and leave over the link.
//!
//! * **Ask.** Every packet without an output channel asks, in every cycle anew, for one of the ways that its routing offers, as the rule says.
//! * **Give.** One of those that ask for a channel without a packet is drawn, or the next in turn. It keeps the channel until its tail is in
//!   the buffer.
//! * **Cross.** Every channel takes a flit from its packet, so that a port may take, and give, several.
//! * **Send.** A link takes a flit of a packet under way, else a head with room for all that it must find, beginning behind the channel
//!   whose packet has ended last.
//!
//! A router in which nothing has moved sleeps until something arrives: what is drawn anew is drawn from the same that could not move.

use super::allocators::{Set, first_from, has, is_empty, lowest, pop, put};
use super::matching::ClockStep;
use super::{ALLOCATION, BIDS, FREE, QUEUED, VcRouter, Width};
use crate::network::model::{AtRouter, Fabric};
use crate::packet::Packet;
use crate::routing::{Offer, Way};
use crate::spec::{Allocator, OutputsSpec, RequestRule};
use crate::state::pipeline::{InputChannel, OutputChannel, stage};
use crate::state::{Link, NONE};
use des::rng::below;
use des::{Journal, Sink, mix};
use std::cell::RefCell;
use study::Bytes;

thread_local! {
    /// Ways of a packet; kept to spare allocations.
    static OFFERS: RefCell<Vec<Offer>> = const { RefCell::new(Vec::new()) };
}

/// What flits must find room for, and how packets choose; in flits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outputs {
    /// One of those that ask for a channel is drawn, or they take turns.
    draws: bool,
    /// Of a channel's buffer.
    buffer: u16,
    /// For a head.
    head_room: u16,
    /// For the other packets that one finds room for that enters a ring.
    ring_room: u16,
    request: RequestRule,
    label_weight: u64,
    extra: u64,
}

impl Outputs {
    /// Of a study, with flits of so many bytes and packets of as many as `packet` at most, of which `bubble` must find room that enter a ring.
    pub(super) fn new(spec: &OutputsSpec, allocator: Allocator, (flit, bubble): (u32, u8), packet: Bytes) -> Outputs {
        let flits = |bytes: u64| bytes.div_ceil(u64::from(flit)).clamp(1, u64::from(u16::MAX)) as u16;
        Outputs {
            draws: allocator == Allocator::RandomGreedy,
            buffer: (spec.buffer.0 / u64::from(flit)).clamp(1, u64::from(u16::MAX)) as u16,
            head_room: flits(spec.room(packet)),
            ring_room: flits(packet.0).saturating_mul(u16::from(bubble.saturating_sub(1))),
            request: spec.request,
            label_weight: spec.label_weight.into(),
            extra: spec.extra_congestion.into(),
        }
    }

    /// Flits of room that a node's head must find at its router.
    pub(super) fn head_room(&self) -> u16 {
        self.head_room
    }
}

/// What a packet asks for.
#[derive(Clone, Copy)]
struct ChannelRequest {
    port: u16,
    vc: u8,
    /// Its phase once it is given that.
    phase: u8,
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// Performs all cycles before `end` of a router with buffers per output channel.
    pub(super) fn cycles(&mut self, outputs: &Outputs, end: u64) {
        loop {
            let now = self.st.clocks.get(self.lp).due;
            if now >= end {
                return;
            }
            match self.model.width {
                Width::Few | Width::One => self.cycle::<1>(outputs, now),
                Width::Two | Width::Eight => self.cycle::<8>(outputs, now),
                Width::All => self.cycle::<64>(outputs, now),
            }
        }
    }

    /// A cycle of a router with buffers per output channel, with sets of so many words as in [`AtRouter::tick_of`].
    fn cycle<const W: usize>(&mut self, outputs: &Outputs, now: u64) {
        let model = self.model;
        let sends = self.emit_all::<W>(now);
        let step = ClockStep {
            now,
            number: model.step_at(now),
            through: now,
        };
        let moved = self.cross::<W>(outputs, &step);
        let is_busy = |set: u32| !is_empty(&self.set_of::<W>(set));
        let goes_on = sends || moved && [ALLOCATION, BIDS, QUEUED].into_iter().any(is_busy);
        let due = if goes_on { now + model.clock } else { u64::MAX };
        self.st.clocks.edit(self.j, self.lp).due = due;
    }

    /// Asks, gives, crosses and sends; whether something has moved.
    fn cross<const W: usize>(&mut self, outputs: &Outputs, step: &ClockStep) -> bool {
        let mut moved = false;
        let waiting = self.set_of::<W>(ALLOCATION);
        if !is_empty(&waiting) {
            moved |= self.give::<W>(outputs, &waiting, step);
        }
        let bids = self.set_of::<W>(BIDS);
        if !is_empty(&bids) {
            let mut able = [0; W];
            let mut bidding = bids;
            while let Some(channel) = pop(&mut bidding) {
                let input = self.st.input_channels.get(self.record_of(channel as u32));
                let output = self.output_of(input.output.into(), input.vc.into());
                if self.st.output_buffers.get(output).held < outputs.buffer {
                    put(&mut able, channel);
                }
            }
            moved |= !is_empty(&able);
            while let Some(channel) = pop(&mut able) {
                self.cross_flit(channel as u32, step);
            }
        }
        let queued = self.set_of::<W>(QUEUED);
        if !is_empty(&queued) {
            moved |= self.send_flits::<W>(outputs, &queued, step);
        }
        moved
    }

    /// The place of an output channel's records.
    #[inline(always)]
    fn output_of(&self, port: u32, vc: u32) -> u32 {
        self.record_of((port << self.model.shift) + vc)
    }

    /// Takes a channel out of a set of the router.
    #[inline(always)]
    fn drop_out_of(&mut self, set: u32, member: u32) {
        let word = self.model.set(self.lp, set) + member / 64;
        *self.st.channel_sets.edit(self.j, word) &= !(1 << (member % 64));
    }

    /// Packets ask for channels, and those drawn get them; whether one has.
    fn give<const W: usize>(&mut self, outputs: &Outputs, waiting: &Set<W>, step: &ClockStep) -> bool {
        let free = self.set_of::<W>(FREE);
        let word = self.word(step, 2);
        // Of every channel that is asked for: the one that asks with the least draw, or stands nearest behind the last that was given it.
        let mut asked = [0; W];
        let mut asking = *waiting;
        while let Some(channel) = pop(&mut asking) {
            let draw = mix(word ^ (channel as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let Some(ChannelRequest { port, vc, phase }) = self.ask(outputs, channel as u32, &free, draw) else {
                continue;
            };
            let output = (u32::from(port) << self.model.shift) + u32::from(vc);
            let record = self.record_of(output);
            let OutputChannel { owner: rival, grant } = *self.st.output_channels.get(record);
            let place = |channel: u16| match outputs.draws {
                true => mix(word ^ !u64::from(channel)),
                false => channel.wrapping_sub(grant).into(),
            };
            if has(&asked, output as usize) && place(rival) <= place(channel as u16) {
                continue;
            }
            put(&mut asked, output as usize);
            self.st.output_channels.edit(self.j, record).owner = channel as u16;
            let index = self.record_of(channel as u32);
            let input = self.st.input_channels.edit(self.j, index);
            (input.output, input.vc, input.lowest) = (port, vc, phase);
        }
        let any = !is_empty(&asked);
        while let Some(output) = pop(&mut asked) {
            let record = self.record_of(output as u32);
            let given = self.st.output_channels.edit(self.j, record);
            let channel = u32::from(given.owner);
            given.grant = given.owner + 1;
            self.drop_out_of(FREE, output as u32);
            self.drop_out_of(ALLOCATION, channel);
            self.put_into(BIDS, channel);
            let index = self.record_of(channel);
            let input = self.st.input_channels.edit(self.j, index);
            input.stage = stage::ACTIVE | InputChannel::HEAD;
            let (slot, phase) = (input.first, input.lowest);
            input.choices = 0;
            self.st.slots.edit(self.j, slot).set_phase(phase);
        }
        any
    }

    /// What the first packet of an input channel asks for, if something that it may have would take it.
    fn ask<const W: usize>(
        &mut self,
        outputs: &Outputs,
        channel: u32,
        free: &Set<W>,
        draw: u64,
    ) -> Option<ChannelRequest> {
        let AtRouter { net, site, model, .. } = *self;
        let slot = self.st.input_channels.get(self.record_of(channel)).first;
        let mut packet = *self.st.slots.get(slot);
        packet.set_vc(model.class_of[usize::from(packet.vc())]);
        let offer = OFFERS.with_borrow_mut(|offers| {
            offers.clear();
            match site.ejection(&packet) {
                Some(local) => offers.push(Offer {
                    way: Way::new(local, packet.vc(), packet.phase()),
                    asked: packet.phase(),
                    label: 0,
                    hops: 1,
                }),
                None => net.routing.offers(&net.plant, site, &packet, offers),
            }
            self.choose(outputs, offers, &packet, free, draw)
        });
        let (Offer { way, asked, .. }, vc) = offer?;
        if asked != packet.phase() {
            self.st.slots.edit(self.j, slot).set_phase(asked);
        }
        Some(ChannelRequest {
            port: way.port() as u16,
            vc,
            phase: way.phase(),
        })
    }

    /// One of the offers with a channel, by the rule of the router: uniformly of those that are as good as each other.
    fn choose<const W: usize>(
        &self,
        outputs: &Outputs,
        offers: &[Offer],
        packet: &Packet,
        free: &Set<W>,
        draw: u64,
    ) -> Option<(Offer, u8)> {
        let AtRouter { net, site, model, .. } = *self;
        let mut chosen = None;
        let (mut least, mut equal) = (u64::MAX, 0);
        for offer in offers {
            let port = offer.way.port();
            let ejects = port >= u32::from(site.net);
            let (lowest, channels) = match ejects {
                // Channels are counted at the first port, and a node's has one where all are nodes'.
                true if site.net == 0 => (model.network_of(packet.vc()).0, 1),
                true => model.network_of(packet.vc()),
                false => model.channels_of(offer.way.vc().min(net.routing.vcs() - 1)),
            };
            let room = self.head_room(outputs, packet, port);
            for vc in lowest..lowest + channels {
                let channel = (port << model.shift) + u32::from(vc);
                let held = self.st.output_buffers.get(self.record_of(channel)).held;
                let is_allowed = has(free, channel as usize) && outputs.buffer.saturating_sub(held) >= room;
                let weight = match outputs.request {
                    _ if ejects => 0,
                    RequestRule::Random => 0,
                    RequestRule::LeastOccupied => {
                        outputs.label_weight * u64::from(offer.label) + self.waiting_for(port, vc, 1)
                    }
                    RequestRule::LeastWeight => {
                        (outputs.extra + self.waiting_for(port, 0, net.vcs as u8)) * u64::from(offer.hops)
                    }
                };
                // What cannot be had now counts only where the rule would rather wait for it.
                if weight > least || !is_allowed && outputs.request != RequestRule::LeastWeight {
                    continue;
                }
                if weight < least {
                    (least, equal, chosen) = (weight, 0, None);
                }
                if is_allowed {
                    equal += 1;
                    if below(mix(draw ^ equal), equal) == 0 {
                        chosen = Some((*offer, vc));
                    }
                }
            }
        }
        chosen
    }

    /// Flits in the buffers of some channels of a port and, as far as credits tell, behind its link.
    #[inline(always)]
    fn waiting_for(&self, port: u32, first: u8, channels: u8) -> u64 {
        let AtRouter { net, site, model, .. } = *self;
        let of = |vc: u8| {
            let held = self.st.output_buffers.get(self.output_of(port, vc.into())).held;
            let channel = self.st.channels.get((site.port + port) * net.vcs + u32::from(vc));
            u64::from(held) + (net.buffer - channel.credit).max(0) as u64 / u64::from(model.flit)
        };
        (first..first + channels).map(of).sum()
    }

    /// Flits of room that a packet's head must find at a port, in the buffer of its channel and behind the link.
    #[inline(always)]
    fn head_room(&self, outputs: &Outputs, packet: &Packet, port: u32) -> u16 {
        match outputs.ring_room {
            more if more > 0 && self.enters_a_ring(self.site.port + port, packet) => {
                outputs.head_room.max(self.model.flits(packet.size()) + more)
            }
            _ => outputs.head_room,
        }
    }

    /// The first flit of an input channel goes into the buffer of its output channel.
    fn cross_flit(&mut self, channel: u32, step: &ClockStep) {
        let index = self.record_of(channel);
        let input = *self.st.input_channels.get(index);
        let output = (u32::from(input.output) << self.model.shift) + u32::from(input.vc);
        self.give_back::<false>(channel as usize, step);
        self.fill(output, &input);
        let record = self.st.input_channels.edit(self.j, index);
        record.left -= 1;
        record.present -= 1;
        record.first = NONE;
        record.stage = stage::ACTIVE;
        let (left, present) = (record.left, record.present);
        if left == 0 || present == 0 {
            self.drop_out_of(BIDS, channel);
        }
        if left > 0 {
            return;
        }
        let record = self.record_of(output);
        self.st.output_channels.edit(self.j, record).owner = OutputChannel::FREE;
        self.put_into(FREE, output);
        if let Some(set) = self.next_packet(channel, step) {
            self.put_into(set, channel);
        }
    }

    /// The first flit of an input channel is in the buffer of an output channel.
    fn fill(&mut self, output: u32, input: &InputChannel) {
        let record = self.record_of(output);
        let mut buffer = *self.st.output_buffers.get(record);
        buffer.held += 1;
        match (input.stage & InputChannel::HEAD != 0, buffer.left, buffer.tail) {
            (true, 0, _) => {
                buffer.first = input.first;
                buffer.left = input.left;
                buffer.last = input.last;
                buffer.present = 1;
                buffer.stage = InputChannel::HEAD.into();
            }
            (true, _, tail) => {
                match tail {
                    NONE => buffer.head = input.first,
                    _ => self.st.links.edit(self.j, tail).next = input.first,
                }
                buffer.tail = input.first;
                let alone = Link {
                    next: NONE,
                    sequence: 1,
                };
                self.st.links.set(self.j, input.first, alone);
            }
            (false, _, NONE) => buffer.present += 1,
            (false, _, tail) => self.st.links.edit(self.j, tail).sequence += 1,
        }
        self.st.output_buffers.set(self.j, record, buffer);
        self.put_into(QUEUED, output);
    }

    /// Every port sends a flit, if it can; whether one has, or will when its link is free.
    fn send_flits<const W: usize>(&mut self, outputs: &Outputs, queued: &Set<W>, step: &ClockStep) -> bool {
        let AtRouter { net, site, model, .. } = *self;
        let mut moved = false;
        let mut left = *queued;
        while let Some(output) = lowest(&left) {
            let (port, _) = self.port_and_vc(output);
            let first = (port << model.shift) as usize;
            left[first / 64 % W] &= !(model.mask << (first % 64));
            if self.st.ports.get(site.port + port).free > step.now {
                moved = true;
                continue;
            }
            let ejects = port >= u32::from(site.net);
            let (mut under_way, mut heads) = ([0u64], [0u64]);
            let mut filled = [self.of_port(queued, port)];
            while let Some(vc) = pop(&mut filled) {
                let buffer = self.st.output_buffers.get(self.output_of(port, vc as u32));
                let credit = self.st.channels.get((site.port + port) * net.vcs + vc as u32).credit;
                let flits = credit / i64::from(model.flit);
                if buffer.stage & u16::from(InputChannel::HEAD) == 0 {
                    if ejects || flits > 0 {
                        put(&mut under_way, vc);
                    }
                } else if ejects || flits >= i64::from(self.head_room(outputs, self.st.slots.get(buffer.first), port)) {
                    put(&mut heads, vc);
                }
            }
            let able = if is_empty(&under_way) { heads } else { under_way };
            let token = model.switch_port(site.port) + port;
            let Some(vc) = first_from(&able, self.st.switch_ports.get(token).grant.into()) else {
                continue;
            };
            moved = true;
            let is_tail = self.send_from_buffer((port, vc as u32), ejects, step);
            self.st.switch_ports.edit(self.j, token).grant = vc as u16 + u16::from(is_tail);
        }
        moved
    }

    /// The first flit of a buffer goes over its link; whether it is a tail.
    fn send_from_buffer(&mut self, (port, vc): (u32, u32), ejects: bool, step: &ClockStep) -> bool {
        let AtRouter { net, site, model, .. } = *self;
        let output = (port << model.shift) + vc;
        let record = self.record_of(output);
        let mut buffer = *self.st.output_buffers.get(record);
        let flit = InputChannel {
            first: buffer.first,
            left: buffer.left,
            last: buffer.last,
            output: port as u16,
            vc: vc as u8,
            stage: buffer.stage as u8,
            ..InputChannel::idle(0)
        };
        self.put_on_link(&flit, ejects, step);
        if !ejects {
            self.st.channels.edit(self.j, (site.port + port) * net.vcs + vc).credit -= i64::from(model.flit);
            buffer.first = NONE;
        }
        buffer.held -= 1;
        buffer.present -= 1;
        buffer.left -= 1;
        buffer.stage = 0;
        if buffer.left == 0 {
            buffer.first = buffer.head;
            if buffer.head != NONE {
                let size = self.st.slots.get(buffer.first).size();
                let link = self.st.links.edit(self.j, buffer.first);
                buffer.present = link.sequence as u16;
                buffer.head = std::mem::replace(&mut link.next, NONE);
                buffer.left = model.flits(size);
                buffer.last = model.last_of(size, buffer.left);
                buffer.stage = InputChannel::HEAD.into();
            }
            if buffer.head == NONE {
                buffer.tail = NONE;
            }
        }
        self.st.output_buffers.set(self.j, record, buffer);
        if buffer.present == 0 {
            self.drop_out_of(QUEUED, output);
        }
        flit.left == 1
    }
}
