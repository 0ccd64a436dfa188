//! A cycle of the clock: sources, then steps, each of allocations and what they change.

use super::allocators::{Asked, Occasion, Pointers, Set, allocate, drop_from, first_from, is_empty, pop, put};
use super::{ALLOCATION, BIDS, FLIT, FREE, ROUTING, SOURCES, VcRouter, Width};
use crate::network::model::{AtRouter, Fabric};
use crate::packet::{Kind, Packet};
use crate::spec::{Allocator, Matcher};
use crate::state::pipeline::{InputChannel, OutputChannel, stage};
use crate::state::{NONE, State};
use des::{Event, Journal, Sink, Time, mix};

/// The sets of a router during a tick.
#[derive(Clone, Copy)]
struct Sets<const W: usize> {
    routing: Set<W>,
    allocation: Set<W>,
    bids: Set<W>,
    free: Set<W>,
}

/// A step.
#[derive(Clone, Copy)]
pub(super) struct ClockStep {
    /// Time (ps).
    pub(super) now: u64,
    /// Its number, if something depends on it.
    pub(super) number: u64,
    /// The first tick at which what wins the switch now may be on its link.
    pub(super) through: u64,
}

/// What output channels of a port, and input channels that want them, remember.
struct ChannelPointers<'a, J> {
    st: &'a mut State,
    j: &'a mut J,
    /// Records of channels of the router.
    first: u32,
    /// Those of the port.
    outputs: u32,
    /// The number of the port's first channel, and how many it has.
    base: usize,
    vcs: u32,
}

impl<J> ChannelPointers<'_, J> {
    #[inline(always)]
    fn input(&self, channel: usize) -> u32 {
        self.first + channel as u32
    }
}

impl<J: Journal> Pointers for ChannelPointers<'_, J> {
    #[inline(always)]
    fn grant(&self, output: usize) -> usize {
        self.st.output_channels.get(self.outputs + output as u32).grant.into()
    }

    #[inline(always)]
    fn accept(&self, input: usize) -> usize {
        let accept = usize::from(self.st.input_channels.get(self.input(input)).accept);
        // Before this port's channels, or behind them: the search begins with the first.
        match accept.checked_sub(self.base) {
            Some(local) if local < self.vcs as usize => local,
            _ => 0,
        }
    }

    #[inline(always)]
    fn set_grant(&mut self, output: usize, to: usize) {
        self.st.output_channels.edit(self.j, self.outputs + output as u32).grant = to as u16;
    }

    #[inline(always)]
    fn set_accept(&mut self, input: usize, to: usize) {
        let index = self.input(input);
        self.st.input_channels.edit(self.j, index).accept = (self.base + to) as u16;
    }
}

/// What ports of the switch remember.
struct SwitchPointers<'a, J> {
    st: &'a mut State,
    j: &'a mut J,
    /// Records of the router's ports.
    first: u32,
}

impl<J: Journal> Pointers for SwitchPointers<'_, J> {
    #[inline(always)]
    fn grant(&self, output: usize) -> usize {
        self.st.switch_ports.get(self.first + output as u32).grant.into()
    }

    #[inline(always)]
    fn accept(&self, input: usize) -> usize {
        self.st.switch_ports.get(self.first + input as u32).accept.into()
    }

    #[inline(always)]
    fn set_grant(&mut self, output: usize, to: usize) {
        self.st.switch_ports.edit(self.j, self.first + output as u32).grant = to as u16;
    }

    #[inline(always)]
    fn set_accept(&mut self, input: usize, to: usize) {
        self.st.switch_ports.edit(self.j, self.first + input as u32).accept = to as u16;
    }
}

/// Allocators with which one that asks alone gets what its pointer shows, and pointers move behind it.
#[inline(always)]
fn is_round_robin(matcher: Matcher) -> bool {
    matches!(
        matcher.rule,
        Allocator::Islip | Allocator::SeparableInputFirst | Allocator::SeparableOutputFirst
    )
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// A cycle of the clock.
    #[inline(always)]
    pub(super) fn tick(&mut self, now: u64) {
        match self.model.width {
            Width::One => self.tick_of::<1, 64, 1, 64>(now),
            Width::Eight => self.tick_of::<8, 512, 1, 64>(now),
            Width::All => self.tick_of::<64, 4_096, 4, 256>(now),
        }
    }

    /// The words of a set.
    #[inline(always)]
    pub(super) fn set_of<const W: usize>(&self, set: u32) -> Set<W> {
        let first = self.model.set(self.lp, set);
        let mut words = [0; W];
        let mut word = 0;
        while word < W && (word as u32) < self.model.words {
            words[word] = *self.st.channel_sets.get(first + word as u32);
            word += 1;
        }
        words
    }

    /// Writes down the words of a set that have changed.
    #[inline(always)]
    fn write_set<const W: usize>(&mut self, set: u32, words: &Set<W>) {
        let first = self.model.set(self.lp, set);
        let mut word = 0;
        while word < W && (word as u32) < self.model.words {
            let index = first + word as u32;
            if words[word] != *self.st.channel_sets.get(index) {
                self.st.channel_sets.set(self.j, index, words[word]);
            }
            word += 1;
        }
    }

    /// All sources that can send a flit; whether one can in the next cycle.
    #[inline(always)]
    pub(super) fn emit_all<const W: usize>(&mut self, now: u64) -> bool {
        let mut sources = self.set_of::<W>(SOURCES);
        if is_empty(&sources) {
            return false;
        }
        let mut ready = sources;
        while let Some(node) = pop(&mut ready) {
            if !self.emit(node as u32, now) {
                drop_from(&mut sources, node);
            }
        }
        self.write_set(SOURCES, &sources);
        !is_empty(&sources)
    }

    /// [`AtRouter::tick`] with sets of so many words: `W` of channels, of which there are at most `C`, `N` of at most `P` ports of the switch.
    fn tick_of<const W: usize, const C: usize, const N: usize, const P: usize>(&mut self, now: u64) {
        let model = self.model;
        let sends = self.emit_all::<W>(now);
        let mut sets = Sets {
            routing: self.set_of::<W>(ROUTING),
            allocation: self.set_of(ALLOCATION),
            bids: self.set_of(BIDS),
            free: self.set_of(FREE),
        };
        let number = if model.counts_steps { model.step_at(now) } else { 0 };
        let steps = u64::from(model.pipeline.internal_speedup);
        let mut moved = false;
        for sub in 0..steps {
            let cycles = match model.pipeline.stages[3] {
                0 => 0,
                more => (sub + 1) / steps + u64::from(more) - 1,
            };
            let step = ClockStep {
                now,
                number: number + sub,
                through: now + cycles * model.clock,
            };
            moved |= self.step::<W, C, N, P>(&mut sets, &step);
        }
        self.write_set(ROUTING, &sets.routing);
        self.write_set(ALLOCATION, &sets.allocation);
        self.write_set(BIDS, &sets.bids);
        self.write_set(FREE, &sets.free);
        let asks = !is_empty(&sets.allocation) && (moved || model.is_timed);
        let goes_on = asks || !is_empty(&sets.routing) || !is_empty(&sets.bids) || sends;
        let due = if goes_on { now + model.clock } else { u64::MAX };
        self.st.clocks.edit(self.j, self.lp).due = due;
    }

    /// Allocates by what is so at its start, then changes it; whether output channels may have come to be wanted or free.
    #[inline(always)]
    fn step<const W: usize, const C: usize, const N: usize, const P: usize>(
        &mut self,
        sets: &mut Sets<W>,
        step: &ClockStep,
    ) -> bool {
        let mut granted = match is_empty(&sets.allocation) {
            true => [0; W],
            false => self.allocate_channels::<W, C>(sets, step),
        };
        let mut won = match is_empty(&sets.bids) {
            true => [0; W],
            false => self.allocate_switch::<W, N, P>(&sets.bids, step),
        };
        let mut moved = !is_empty(&granted) || !is_empty(&won);
        let mut routing = sets.routing;
        while let Some(channel) = pop(&mut routing) {
            if self.is_ready(channel, step) {
                self.route_first(channel as u32, step.now, step.number);
                drop_from(&mut sets.routing, channel);
                put(&mut sets.allocation, channel);
                moved = true;
            }
        }
        while let Some(channel) = pop(&mut granted) {
            self.activate(channel, sets, step);
        }
        while let Some(channel) = pop(&mut won) {
            self.send_flit(channel, sets, step);
        }
        moved
    }

    /// Whether the stage of an input channel has taken its time.
    #[inline(always)]
    fn is_ready(&self, channel: usize, step: &ClockStep) -> bool {
        if !self.model.is_timed {
            return true;
        }
        let ready = self.st.input_channels.get(self.record_of(channel as u32)).ready;
        (step.number as u32).wrapping_sub(ready) as i32 > 0
    }

    /// The channels of a port in a set.
    #[inline(always)]
    pub(super) fn of_port<const W: usize>(&self, set: &Set<W>, port: u32) -> u64 {
        let first = (port << self.model.shift) as usize;
        set[first / 64 % W] >> (first % 64) & self.model.mask
    }

    /// Gives output channels to the packets that want one, by writing them down: the input channels that have one now.
    #[inline(always)]
    fn allocate_channels<const W: usize, const C: usize>(&mut self, sets: &Sets<W>, step: &ClockStep) -> Set<W> {
        let mut granted = [0; W];
        let mut left = sets.allocation;
        while let Some(channel) = pop(&mut left) {
            if !self.is_ready(channel, step) {
                continue;
            }
            let index = self.record_of(channel as u32);
            let input = self.st.input_channels.get(index);
            let (port, lowest, choices) = (u32::from(input.output), input.lowest, input.choices);
            let mut members = [0; W];
            let mut alone = true;
            let mut others = left;
            while let Some(other) = pop(&mut others) {
                if u32::from(self.st.input_channels.get(self.record_of(other as u32)).output) == port {
                    drop_from(&mut left, other);
                    if self.is_ready(other, step) {
                        put(&mut members, other);
                        alone = false;
                    }
                }
            }
            let free = self.of_port(&sets.free, port);
            if free == 0 {
                continue;
            }
            if !alone || !is_round_robin(self.model.pipeline.vc) {
                put(&mut members, channel);
                self.allocate_port::<W, C>(port, free, &members, step, &mut granted);
                continue;
            }
            let choice = [free & range(lowest, choices)];
            let mut pointers = self.channel_pointers(port);
            if let Some(vc) = first_from(&choice, pointers.accept(channel)) {
                pointers.set_grant(vc, channel + 1);
                pointers.set_accept(channel, vc + 1);
                self.st.input_channels.edit(self.j, index).vc = vc as u8;
                put(&mut granted, channel);
            }
        }
        granted
    }

    #[inline(always)]
    fn channel_pointers(&mut self, port: u32) -> ChannelPointers<'_, J> {
        let AtRouter { net, site, model, .. } = *self;
        ChannelPointers {
            first: site.port << model.shift,
            outputs: (site.port + port) << model.shift,
            base: (port << model.shift) as usize,
            vcs: net.vcs,
            st: self.st,
            j: self.j,
        }
    }

    /// The same for all that want a channel of one port, of which `free` have no packet.
    #[inline(never)]
    fn allocate_port<const W: usize, const C: usize>(
        &mut self,
        port: u32,
        free: u64,
        members: &Set<W>,
        step: &ClockStep,
        granted: &mut Set<W>,
    ) {
        let AtRouter { net, site, model, .. } = *self;
        let (mut of_output, mut of_input) = ([[0; W]; 64], [[0u64; 1]; C]);
        let (mut inputs, mut outputs) = ([0; W], [0u64; 1]);
        let mut asking = *members;
        while let Some(channel) = pop(&mut asking) {
            let input = self.st.input_channels.get(self.record_of(channel as u32));
            let wanted = free & range(input.lowest, input.choices);
            if wanted == 0 {
                continue;
            }
            put(&mut inputs, channel);
            outputs[0] |= wanted;
            of_input[channel][0] = wanted;
            let mut each = [wanted];
            while let Some(vc) = pop(&mut each) {
                put(&mut of_output[vc], channel);
            }
        }
        if outputs == [0] {
            return;
        }
        let all = (site.ports() * net.vcs) as usize;
        let occasion = Occasion {
            word: self.word(step, u64::from(port) << 1),
            step: step.number,
            diagonal: self.st.clocks.get(self.lp).vc_diagonal,
            sizes: (all, all),
            first_output: (port * net.vcs) as usize,
            channels: Some((model.shift, net.vcs as usize)),
        };
        let requests = Asked {
            inputs,
            outputs,
            of_output: &of_output,
            of_input: &of_input,
        };
        let mut given = [0u8; C];
        let mut pairs = [0; W];
        let give = |input: usize, output: usize| {
            given[input] = output as u8;
            put(&mut pairs, input);
        };
        let mut pointers = self.channel_pointers(port);
        allocate::<W, 1, C, 64, _>(model.pipeline.vc, &requests, &mut pointers, &occasion, give);
        while let Some(channel) = pop(&mut pairs) {
            let index = self.record_of(channel as u32);
            self.st.input_channels.edit(self.j, index).vc = given[channel];
            put(granted, channel);
        }
        if model.pipeline.vc.rule == Allocator::Wavefront {
            let clock = self.st.clocks.edit(self.j, self.lp);
            clock.vc_diagonal = (clock.vc_diagonal + 1) % all as u32;
        }
    }

    /// Tells an allocation from all others of the run.
    #[inline(always)]
    pub(super) fn word(&self, step: &ClockStep, which: u64) -> u64 {
        let AtRouter { site, model, .. } = *self;
        if !model.counts_steps {
            return 0;
        }
        mix(mix(model.seed ^ step.number) ^ u64::from(site.router) << 32 ^ which)
    }

    /// The input channels that send a flit.
    #[inline(always)]
    fn allocate_switch<const W: usize, const N: usize, const P: usize>(
        &mut self,
        bids: &Set<W>,
        step: &ClockStep,
    ) -> Set<W> {
        let model = self.model;
        let pipeline = &model.pipeline;
        let plain = !model.is_timed && model.output_queue == u64::MAX && is_round_robin(pipeline.switch);
        let fits = pipeline.input_speedup == 1 && pipeline.output_speedup == 1 && N == 1;
        if !(plain && fits && self.do_not_meet(bids)) {
            return self.match_ports::<W, N, P>(bids, step);
        }
        // Every input asks for one output, every output is asked by one input: all get what they ask for.
        let first = self.site.port * model.switch_ports;
        let mut bidding = *bids;
        while let Some(channel) = pop(&mut bidding) {
            let (port, vc) = self.port_and_vc(channel);
            let output = self.st.input_channels.get(self.record_of(channel as u32)).output;
            self.st.switch_ports.edit(self.j, first + u32::from(output)).grant = port as u16 + 1;
            let record = self.st.switch_ports.edit(self.j, first + port);
            record.accept = output + 1;
            record.turn = vc as u16 + 1;
        }
        *bids
    }

    /// Whether all flits that bid come from different ports and go to different ones, of up to 64.
    #[inline(always)]
    fn do_not_meet<const W: usize>(&self, bids: &Set<W>) -> bool {
        let (mut inputs, mut outputs) = (0u64, 0u64);
        let mut bidding = *bids;
        while let Some(channel) = pop(&mut bidding) {
            let (port, _) = self.port_and_vc(channel);
            let output = self.st.input_channels.get(self.record_of(channel as u32)).output;
            let (input, output) = (1 << (port % 64), 1 << (output % 64));
            if inputs & input != 0 || outputs & output != 0 {
                return false;
            }
            inputs |= input;
            outputs |= output;
        }
        true
    }

    #[inline(always)]
    pub(super) fn port_and_vc(&self, channel: usize) -> (u32, u32) {
        let channel = channel as u32;
        (channel >> self.model.shift, channel & ((1 << self.model.shift) - 1))
    }

    /// Whether a port's output queue takes no more flits in a step.
    #[inline(always)]
    fn is_full(&self, output: u32, step: &ClockStep) -> bool {
        let AtRouter { net, site, model, .. } = *self;
        if model.output_queue == u64::MAX {
            return false;
        }
        let port = site.port + output;
        let flit = model.links[net.peers[port as usize].class() as usize].flit;
        let waits = self.st.ports.get(port).free.saturating_sub(step.through);
        waits >= model.output_queue.saturating_mul(flit)
    }

    /// [`AtRouter::allocate_switch`] where there is a choice.
    #[inline(never)]
    fn match_ports<const W: usize, const N: usize, const P: usize>(
        &mut self,
        bids: &Set<W>,
        step: &ClockStep,
    ) -> Set<W> {
        let model = self.model;
        let pipeline = &model.pipeline;
        let (ins, outs) = (u32::from(pipeline.input_speedup), u32::from(pipeline.output_speedup));
        let (mut of_output, mut of_input) = ([[0; N]; P], [[0; N]; P]);
        let (mut inputs, mut outputs) = ([0; N], [0; N]);
        let mut bidding = *bids;
        while let Some(channel) = pop(&mut bidding) {
            if !self.is_ready(channel, step) {
                continue;
            }
            let (port, vc) = self.port_and_vc(channel);
            let output = u32::from(self.st.input_channels.get(self.record_of(channel as u32)).output);
            if self.is_full(output, step) {
                continue;
            }
            let (input, output) = ((port * ins + vc % ins) as usize, (output * outs + port % outs) as usize);
            put(&mut inputs, input);
            put(&mut outputs, output);
            put(&mut of_output[output % P], input);
            put(&mut of_input[input % P], output);
        }
        if is_empty(&inputs) {
            return [0; W];
        }
        let ports = self.site.ports();
        let occasion = Occasion {
            word: self.word(step, 1),
            step: step.number,
            diagonal: self.st.clocks.get(self.lp).switch_diagonal,
            sizes: ((ports * ins) as usize, (ports * outs) as usize),
            first_output: 0,
            channels: None,
        };
        let requests = Asked {
            inputs,
            outputs,
            of_output: &of_output,
            of_input: &of_input,
        };
        let mut pairs = [0; N];
        let mut given = [0u16; P];
        let give = |input: usize, output: usize| {
            given[input % P] = output as u16;
            put(&mut pairs, input);
        };
        let first = self.site.port * model.switch_ports;
        let mut pointers = SwitchPointers {
            st: self.st,
            j: self.j,
            first,
        };
        allocate::<N, N, P, P, _>(pipeline.switch, &requests, &mut pointers, &occasion, give);
        if pipeline.switch.rule == Allocator::Wavefront {
            let clock = self.st.clocks.edit(self.j, self.lp);
            clock.switch_diagonal = (clock.switch_diagonal + 1) % occasion.sizes.0.max(occasion.sizes.1) as u32;
        }
        let mut won = [0; W];
        while let Some(input) = pop(&mut pairs) {
            let channel = self.turn_of(bids, input as u32, u32::from(given[input % P]) / outs, step);
            put(&mut won, channel);
        }
        won
    }

    /// Which of the channels that share an input of the switch sends to an output.
    #[inline(always)]
    fn turn_of<const W: usize>(&mut self, bids: &Set<W>, input: u32, output: u32, step: &ClockStep) -> usize {
        let ins = u32::from(self.model.pipeline.input_speedup);
        let port = input / ins;
        let base = (port << self.model.shift) as usize;
        let mut able = [0u64; 1];
        let mut bidding = [self.of_port(bids, port)];
        while let Some(vc) = pop(&mut bidding) {
            let record = self.st.input_channels.get(self.record_of((base + vc) as u32));
            if vc as u32 % ins == input % ins && u32::from(record.output) == output && self.is_ready(base + vc, step) {
                put(&mut able, vc);
            }
        }
        let index = self.site.port * self.model.switch_ports + input;
        let vc = first_from(&able, self.st.switch_ports.get(index).turn.into()).unwrap_or_default();
        self.st.switch_ports.edit(self.j, index).turn = (vc as u32 + ins) as u16;
        base + vc
    }

    /// A packet has an output channel.
    #[inline(always)]
    fn activate<const W: usize>(&mut self, channel: usize, sets: &mut Sets<W>, step: &ClockStep) {
        let AtRouter { net, site, model, .. } = *self;
        let index = self.record_of(channel as u32);
        let input = self.st.input_channels.edit(self.j, index);
        input.stage = stage::ACTIVE | InputChannel::HEAD;
        if model.is_timed {
            input.ready = model.ready(step.number, model.pipeline.stages[2]);
        }
        let (port, vc) = (u32::from(input.output), u32::from(input.vc));
        let place = (site.port + port) * net.vcs + vc;
        let given = (port << model.shift) + vc;
        let record = self.record_of(given);
        self.st.output_channels.edit(self.j, record).owner = channel as u16;
        drop_from(&mut sets.allocation, channel);
        drop_from(&mut sets.free, given as usize);
        if self.st.channels.get(place).credit >= i64::from(model.flit) {
            put(&mut sets.bids, channel);
        }
    }

    /// A flit wins the switch.
    #[inline(always)]
    fn send_flit<const W: usize>(&mut self, channel: usize, sets: &mut Sets<W>, step: &ClockStep) {
        let AtRouter { net, site, model, .. } = *self;
        let index = self.record_of(channel as u32);
        let input = *self.st.input_channels.get(index);
        let (output, vc) = (u32::from(input.output), u32::from(input.vc));
        let place = (site.port + output) * net.vcs + vc;
        let ejects = output >= u32::from(site.net);
        let mut room = true;
        if !ejects || model.node_credits {
            let channel = self.st.channels.edit(self.j, place);
            channel.credit -= i64::from(model.flit);
            room = channel.credit >= i64::from(model.flit);
        }
        self.put_on_link(&input, ejects, step);
        self.give_back(channel, step);
        let record = self.st.input_channels.edit(self.j, index);
        record.left -= 1;
        record.present -= 1;
        if record.left > 0 {
            record.stage = stage::ACTIVE;
            if !ejects {
                record.first = NONE;
            }
            if model.is_timed {
                record.ready = model.ready(step.number, model.pipeline.stages[2]);
            }
            if record.present == 0 || !room {
                drop_from(&mut sets.bids, channel);
            }
            return;
        }
        drop_from(&mut sets.bids, channel);
        let owner = match model.pipeline.wait_for_tail_credit {
            true => OutputChannel::ENDED,
            false => {
                put(&mut sets.free, ((output << model.shift) + vc) as usize);
                OutputChannel::FREE
            }
        };
        let record_of_output = (site.port << model.shift) + (output << model.shift) + vc;
        self.st.output_channels.edit(self.j, record_of_output).owner = owner;
        match self.next_packet(channel as u32, step) {
            None => {}
            Some(ROUTING) => put(&mut sets.routing, channel),
            Some(_) => put(&mut sets.allocation, channel),
        }
    }

    /// The packet behind the one whose tail has left an input channel becomes the first, if there is one: the set that the channel belongs to.
    #[inline(always)]
    pub(super) fn next_packet(&mut self, channel: u32, step: &ClockStep) -> Option<u32> {
        let index = self.record_of(channel);
        let record = self.st.input_channels.edit(self.j, index);
        let slot = record.head;
        if slot == NONE {
            record.stage = stage::IDLE;
            record.first = NONE;
            return None;
        }
        let link = self.st.links.edit(self.j, slot);
        record.present = link.sequence as u16;
        record.head = link.next;
        if link.next == NONE {
            record.tail = NONE;
        }
        link.next = NONE;
        Some(self.begin(channel, slot, step.now, step.number))
    }

    /// The first flit of an input channel goes through the crossbar into the output queue and from there to its link.
    #[inline(always)]
    pub(super) fn put_on_link(&mut self, input: &InputChannel, ejects: bool, step: &ClockStep) {
        let AtRouter {
            net, site, model, lp, ..
        } = *self;
        let port = site.port + u32::from(input.output);
        let peer = &net.peers[port as usize];
        let times = &model.links[peer.class() as usize];
        let is_tail = input.left == 1;
        let record = self.st.ports.edit(self.j, port);
        let start = step.through.max(record.free);
        record.free = start + times.flit;
        record.busy += times.flit;
        record.packets += u64::from(is_tail);
        record.bytes += u64::from(if is_tail { u32::from(input.last) + 1 } else { model.flit });
        let there = start + times.flight;
        if ejects {
            if model.node_credits {
                let at = Time(there + times.credit);
                let credit = Packet::new(Kind::Credit, at, lp, input.output).with_vc(input.vc);
                self.sink.send_at(at, credit.with_value(model.flit.into()));
            }
            if is_tail {
                let packet = self.let_go(input.first).with_lp(lp);
                let start = there - net.delivery_delay(packet.size());
                self.deliver(&packet, start);
            }
            return;
        }
        let at = Time(there);
        if input.stage & InputChannel::HEAD == 0 {
            let flit = Packet::credit(at, peer.address()).with_vc(input.vc).with_value(FLIT);
            return self.sink.send_at(at, flit);
        }
        let mut packet = self.let_go(input.first);
        if net.messages.follows_ranks {
            Fabric::<VcRouter>::show_stay(net, lp, peer.address(), packet, start + times.flit, self.sink);
        }
        packet.set_vc(input.vc);
        packet.count_hop();
        self.sink.send_at(at, packet.to(at, peer.address()));
    }

    /// The room of a flit that leaves its input buffer goes back to where it came from.
    #[inline(always)]
    pub(super) fn give_back(&mut self, channel: usize, step: &ClockStep) {
        let AtRouter { net, site, model, .. } = *self;
        let (port, vc) = self.port_and_vc(channel);
        let leaves = self.bundle(port, step);
        if port >= u32::from(site.net) {
            return self.tell_source(port, vc as u8, leaves);
        }
        let peer = &net.peers[(site.port + port) as usize];
        let at = Time(leaves + model.links[peer.class() as usize].credit);
        let credit = Packet::credit(at, peer.address()).with_vc(vc as u8);
        self.sink.send_at(at, credit.with_value(model.flit.into()));
    }

    /// When the credits of a step leave over an input port's link (ps): one bundle per cycle.
    #[inline(always)]
    fn bundle(&mut self, port: u32, step: &ClockStep) -> u64 {
        let model = self.model;
        if model.pipeline.internal_speedup == 1 {
            return step.now;
        }
        let record = self.st.ports.edit(self.j, self.site.port + port);
        if record.mark > 0 && record.extra == step.number as u32 {
            return record.mark - model.clock;
        }
        let leaves = step.now.max(record.mark);
        record.mark = leaves + model.clock;
        record.extra = step.number as u32;
        leaves
    }
}

/// The channels of a range.
#[inline(always)]
fn range(lowest: u8, choices: u8) -> u64 {
    ((1 << choices) - 1) << lowest
}
