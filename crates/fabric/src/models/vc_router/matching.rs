//! Who gets what in a step: packets channels of their outputs, flits the switch.

use super::VcRouter;
use super::allocators::{
    Asked, Occasion, Pointers, Set, allocate, drop_from, first_from, is_empty, islip, pop, put, rounds_of_islip,
};
use crate::network::model::{AtRouter, Fabric};
use crate::spec::{Allocator, Matcher};
use crate::state::State;
use crate::state::pipeline::{InputChannel, OutputChannel, SwitchPort, stage};
use des::{Journal, Sink, mix};

/// The sets of a router during a tick.
#[derive(Clone, Copy)]
pub(super) struct Sets<const W: usize> {
    pub(super) routing: Set<W>,
    pub(super) allocation: Set<W>,
    pub(super) bids: Set<W>,
    pub(super) free: Set<W>,
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

impl<J: Journal> Pointers for ChannelPointers<'_, J> {
    #[inline(always)]
    fn grant(&self, output: usize) -> usize {
        self.st.output_channels.get(self.outputs + output as u32).grant.into()
    }

    #[inline(always)]
    fn accept(&self, input: usize) -> usize {
        let accept = usize::from(self.st.input_channels.get(self.first + input as u32).accept);
        // Before this port's channels, or behind them: the search begins with the first.
        match accept.checked_sub(self.base) {
            Some(local) if local < self.vcs as usize => local,
            _ => 0,
        }
    }

    #[inline(always)]
    fn turn(&mut self, (output, grant): (usize, usize), (input, accept): (usize, usize)) {
        let (output, input) = (self.outputs + output as u32, self.first + input as u32);
        self.st.output_channels.edit(self.j, output).grant = grant as u16;
        self.st.input_channels.edit(self.j, input).accept = (self.base + accept) as u16;
    }
}

/// What ports of the switch remember.
struct SwitchPointers<'a, J> {
    st: &'a mut State,
    j: &'a mut J,
    /// Records of the router's ports.
    first: u32,
}

impl<J: Journal> SwitchPointers<'_, J> {
    /// That of a port, to be changed.
    #[inline(always)]
    fn record(&mut self, port: usize) -> &mut SwitchPort {
        self.st.switch_ports.edit(self.j, self.first + port as u32)
    }
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
    fn turn(&mut self, (output, grant): (usize, usize), (input, accept): (usize, usize)) {
        self.record(output).grant = grant as u16;
        self.record(input).accept = accept as u16;
    }
}

/// The packets that want a channel of one port.
struct PortRequests<const W: usize> {
    port: u32,
    /// Channels of the port without a packet.
    free: u64,
    /// Input channels.
    members: Set<W>,
}

/// Allocators with which one that asks alone gets what its pointer shows, and pointers move behind it.
#[inline(always)]
pub(super) fn is_round_robin(matcher: Matcher) -> bool {
    matches!(
        matcher.rule,
        Allocator::Islip | Allocator::SeparableInputFirst | Allocator::SeparableOutputFirst
    )
}

/// The channels of a range.
#[inline(always)]
fn range(lowest: u8, choices: u8) -> u64 {
    ((1 << choices) - 1) << lowest
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// Whether the stage of an input channel has taken its time.
    #[inline(always)]
    pub(super) fn is_ready<const USUAL: bool>(&self, channel: usize, step: &ClockStep) -> bool {
        if USUAL || !self.model.is_timed {
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

    #[inline(always)]
    pub(super) fn port_and_vc(&self, channel: usize) -> (u32, u32) {
        let channel = channel as u32;
        (channel >> self.model.shift, channel & ((1 << self.model.shift) - 1))
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

    /// Gives output channels, of those that were free at the start of the step, to the packets that want one; whether any got one.
    #[inline(always)]
    pub(super) fn allocate_channels<const W: usize, const C: usize, const V: usize, const USUAL: bool>(
        &mut self,
        sets: &mut Sets<W>,
        free: &Set<W>,
        step: &ClockStep,
    ) -> bool {
        let mut moved = false;
        let mut left = sets.allocation;
        while let Some(channel) = pop(&mut left) {
            if !self.is_ready::<USUAL>(channel, step) {
                continue;
            }
            let index = self.record_of(channel as u32);
            let input = self.st.input_channels.get(index);
            let (port, lowest, choices) = (u32::from(input.output), input.lowest, input.choices);
            let mut members = [0; W];
            let mut others = left;
            while let Some(other) = pop(&mut others) {
                if u32::from(self.st.input_channels.get(self.record_of(other as u32)).output) == port {
                    drop_from(&mut left, other);
                    if self.is_ready::<USUAL>(other, step) {
                        put(&mut members, other);
                    }
                }
            }
            let free = self.of_port(free, port);
            if free == 0 {
                continue;
            }
            if !is_empty(&members) || !USUAL && !is_round_robin(self.model.pipeline.vc) {
                put(&mut members, channel);
                let asked = &PortRequests { port, free, members };
                let mut granted = self.apart(move |mut at| at.allocate_port::<W, C, V>(asked, step));
                moved |= !is_empty(&granted);
                while let Some(channel) = pop(&mut granted) {
                    let vc = self.st.input_channels.get(self.record_of(channel as u32)).vc;
                    self.activate::<W, USUAL, false>(channel, vc, sets, step);
                }
                continue;
            }
            let choice = [free & range(lowest, choices)];
            if let Some(vc) = first_from(&choice, self.channel_pointers(port).accept(channel)) {
                self.activate::<W, USUAL, true>(channel, vc as u8, sets, step);
                moved = true;
            }
        }
        moved
    }

    /// Gives channels of a port to the packets that want one, by writing them down: those that got one.
    #[inline(always)]
    fn allocate_port<const W: usize, const C: usize, const V: usize>(
        &mut self,
        asked: &PortRequests<W>,
        step: &ClockStep,
    ) -> Set<W> {
        let AtRouter { net, site, model, .. } = *self;
        let &PortRequests { port, free, members } = asked;
        let mut of_output = [[0; W]; V];
        let (mut inputs, mut outputs, mut common) = ([0; W], [0u64; 1], free);
        let mut asking = members;
        while let Some(channel) = pop(&mut asking) {
            let wanted = self.wanted(channel, free);
            if wanted == 0 {
                continue;
            }
            put(&mut inputs, channel);
            outputs[0] |= wanted;
            common &= wanted;
        }
        if outputs == [0] {
            return [0; W];
        }
        // Most often all want the same.
        let mut each = outputs;
        while let Some(vc) = pop(&mut each) {
            of_output[vc % V] = inputs;
        }
        let mut asking = if outputs == [common] { [0; W] } else { inputs };
        while let Some(channel) = pop(&mut asking) {
            let mut unwanted = [outputs[0] & !self.wanted(channel, free)];
            while let Some(vc) = pop(&mut unwanted) {
                drop_from(&mut of_output[vc % V], channel);
            }
        }
        let mut requests = Asked {
            inputs,
            outputs,
            of_output: &of_output,
            of_input: &[],
        };
        let (mut given, mut pairs) = ([0u8; C], [0; W]);
        let give = |input: usize, output: usize| {
            given[input % C] = output as u8;
            put(&mut pairs, input);
        };
        let matcher = model.pipeline.vc;
        if let Some(rounds) = rounds_of_islip(matcher) {
            islip::<W, 1, C, V, _>(rounds, &requests, &mut self.channel_pointers(port), give);
        } else {
            let mut of_input = [[0u64; 1]; C];
            let mut asking = inputs;
            while let Some(channel) = pop(&mut asking) {
                of_input[channel % C][0] = self.wanted(channel, free);
            }
            requests.of_input = &of_input;
            let all = (site.ports() * net.vcs) as usize;
            let occasion = Occasion {
                word: self.word(step, u64::from(port) << 1),
                step: step.number,
                diagonal: self.st.clocks.get(self.lp).vc_diagonal,
                sizes: (all, all),
                first_output: (port * net.vcs) as usize,
                channels: Some((model.shift, net.vcs as usize)),
            };
            allocate::<W, 1, C, V, _>(matcher, &requests, &mut self.channel_pointers(port), &occasion, give);
            if matcher.rule == Allocator::Wavefront {
                let clock = self.st.clocks.edit(self.j, self.lp);
                clock.vc_diagonal = (clock.vc_diagonal + 1) % all as u32;
            }
        }
        let granted = pairs;
        while let Some(channel) = pop(&mut pairs) {
            let index = self.record_of(channel as u32);
            self.st.input_channels.edit(self.j, index).vc = given[channel % C];
        }
        granted
    }

    /// Which of a port's free channels the first packet of an input channel may have.
    #[inline(always)]
    fn wanted(&self, channel: usize, free: u64) -> u64 {
        let input = self.st.input_channels.get(self.record_of(channel as u32));
        free & range(input.lowest, input.choices)
    }

    /// A packet has an output channel; `ALONE`: pointers have yet to be moved, in the records that are written anyway.
    #[inline(always)]
    fn activate<const W: usize, const USUAL: bool, const ALONE: bool>(
        &mut self,
        channel: usize,
        vc: u8,
        sets: &mut Sets<W>,
        step: &ClockStep,
    ) {
        let AtRouter { net, site, model, .. } = *self;
        let index = self.record_of(channel as u32);
        let input = self.st.input_channels.edit(self.j, index);
        let (port, owner) = (u32::from(input.output), channel as u16);
        let given = (port << model.shift) + u32::from(vc);
        let place = (site.port + port) * net.vcs + u32::from(vc);
        input.vc = vc;
        input.stage = stage::ACTIVE | InputChannel::HEAD;
        if !USUAL && model.is_timed {
            input.ready = model.ready(step.number, model.pipeline.stages[2]);
        }
        if ALONE {
            input.accept = given as u16 + 1;
        }
        let record = self.record_of(given);
        if ALONE {
            let grant = owner + 1;
            self.st
                .output_channels
                .set(self.j, record, OutputChannel { owner, grant });
        } else {
            self.st.output_channels.edit(self.j, record).owner = owner;
        }
        drop_from(&mut sets.allocation, channel);
        drop_from(&mut sets.free, given as usize);
        if self.st.channels.get(place).credit >= i64::from(model.flit) {
            put(&mut sets.bids, channel);
        }
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

    /// The input channels that send a flit, and whether they are all that bid: pointers have yet to be moved then.
    #[inline(always)]
    pub(super) fn allocate_switch<const W: usize, const N: usize, const P: usize, const USUAL: bool>(
        &mut self,
        bids: &Set<W>,
        step: &ClockStep,
    ) -> (Set<W>, bool) {
        let model = self.model;
        let pipeline = &model.pipeline;
        let plain = || !model.is_timed && model.output_queue == u64::MAX && is_round_robin(pipeline.switch);
        let fits = || pipeline.input_speedup == 1 && pipeline.output_speedup == 1;
        // Every input asks for one output, every output is asked by one input: all get what they ask for.
        if N == 1 && (USUAL || plain() && fits()) && self.do_not_meet(bids) {
            return (*bids, true);
        }
        let won = self.apart(move |mut at| at.match_ports::<W, N, P, USUAL>(bids, step));
        (won, false)
    }

    /// Whether all flits that bid come from different ports and go to different ones, of up to 64.
    #[inline(always)]
    fn do_not_meet<const W: usize>(&self, bids: &Set<W>) -> bool {
        if W == 1 && bids[0].is_power_of_two() {
            // There is but one.
            return true;
        }
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
    #[inline(always)]
    fn match_ports<const W: usize, const N: usize, const P: usize, const USUAL: bool>(
        &mut self,
        bids: &Set<W>,
        step: &ClockStep,
    ) -> Set<W> {
        let model = self.model;
        let pipeline = &model.pipeline;
        let (ins, outs) = match USUAL {
            true => (1, 1),
            false => (u32::from(pipeline.input_speedup), u32::from(pipeline.output_speedup)),
        };
        let mut of_output = [[0; N]; P];
        let (mut inputs, mut outputs) = ([0; N], [0; N]);
        let mut bidding = *bids;
        while let Some(channel) = pop(&mut bidding) {
            if !self.is_ready::<USUAL>(channel, step) {
                continue;
            }
            let (port, vc) = self.port_and_vc(channel);
            let output = u32::from(self.st.input_channels.get(self.record_of(channel as u32)).output);
            if !USUAL && self.is_full(output, step) {
                continue;
            }
            let (input, output) = ((port * ins + vc % ins) as usize, (output * outs + port % outs) as usize);
            put(&mut inputs, input);
            put(&mut outputs, output);
            put(&mut of_output[output % P], input);
        }
        if is_empty(&inputs) {
            return [0; W];
        }
        let requests = Asked {
            inputs,
            outputs,
            of_output: &of_output,
            of_input: &[],
        };
        let mut pairs = [0; N];
        let mut given = [0u16; P];
        let give = |input: usize, output: usize| {
            given[input % P] = output as u16;
            put(&mut pairs, input);
        };
        match rounds_of_islip(pipeline.switch) {
            Some(rounds) => islip::<N, N, P, P, _>(rounds, &requests, &mut self.switch_pointers(), give),
            None => self.match_otherwise::<N, P>(requests, step, give),
        }
        let mut won = [0; W];
        while let Some(input) = pop(&mut pairs) {
            let output = u32::from(given[input % P]) / outs;
            let channel = self.turn_of::<W, USUAL>(bids, input as u32, output, step);
            put(&mut won, channel);
        }
        won
    }

    /// Matches ports of the switch by another allocator than iSLIP.
    #[inline(always)]
    fn match_otherwise<const N: usize, const P: usize>(
        &mut self,
        requests: Asked<'_, N, N>,
        step: &ClockStep,
        give: impl FnMut(usize, usize),
    ) {
        let mut of_input = [[0; N]; P];
        let mut asked = requests.outputs;
        while let Some(output) = pop(&mut asked) {
            let mut asking = requests.of_output[output % P];
            while let Some(input) = pop(&mut asking) {
                put(&mut of_input[input % P], output);
            }
        }
        let requests = &Asked {
            of_input: &of_input,
            ..requests
        };
        let pipeline = &self.model.pipeline;
        let ports = self.site.ports();
        let size = |speedup: u8| (ports * u32::from(speedup)) as usize;
        let occasion = Occasion {
            word: self.word(step, 1),
            step: step.number,
            diagonal: self.st.clocks.get(self.lp).switch_diagonal,
            sizes: (size(pipeline.input_speedup), size(pipeline.output_speedup)),
            first_output: 0,
            channels: None,
        };
        allocate::<N, N, P, P, _>(pipeline.switch, requests, &mut self.switch_pointers(), &occasion, give);
        if pipeline.switch.rule == Allocator::Wavefront {
            let clock = self.st.clocks.edit(self.j, self.lp);
            clock.switch_diagonal = (clock.switch_diagonal + 1) % occasion.sizes.0.max(occasion.sizes.1) as u32;
        }
    }

    /// Which of the channels that share an input of the switch sends to an output.
    #[inline(always)]
    fn turn_of<const W: usize, const USUAL: bool>(
        &mut self,
        bids: &Set<W>,
        input: u32,
        output: u32,
        step: &ClockStep,
    ) -> usize {
        let ins = if USUAL {
            1
        } else {
            u32::from(self.model.pipeline.input_speedup)
        };
        let port = input / ins;
        let base = (port << self.model.shift) as usize;
        let mut able = [0u64; 1];
        let mut bidding = [self.of_port(bids, port)];
        while let Some(vc) = pop(&mut bidding) {
            let record = self.st.input_channels.get(self.record_of((base + vc) as u32));
            let is_of_input = vc as u32 % ins == input % ins;
            if is_of_input && u32::from(record.output) == output && self.is_ready::<USUAL>(base + vc, step) {
                put(&mut able, vc);
            }
        }
        let mut pointers = self.switch_pointers();
        let turn = &mut pointers.record(input as usize).turn;
        let vc = first_from(&able, (*turn).into()).unwrap_or_default();
        *turn = (vc as u32 + ins) as u16;
        base + vc
    }

    #[inline(always)]
    fn switch_pointers(&mut self) -> SwitchPointers<'_, J> {
        SwitchPointers {
            first: self.model.switch_port(self.site.port),
            st: self.st,
            j: self.j,
        }
    }

    /// Pointers of the switch move behind a flit that has won it without a rival.
    #[inline(always)]
    pub(super) fn move_switch_pointers(&mut self, channel: usize, output: u32) {
        let (port, vc) = self.port_and_vc(channel);
        let mut pointers = self.switch_pointers();
        pointers.pass(output as usize, port as usize);
        pointers.record(port as usize).turn = vc as u16 + 1;
    }
}
