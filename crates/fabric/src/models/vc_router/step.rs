//! A cycle of the clock: sources, then steps, each of allocations and what they change.

use super::allocators::{Set, drop_from, is_empty, pop, put};
use super::matching::{ClockStep, Sets};
use super::{ALLOCATION, BIDS, FLIT, FREE, ROUTING, SETS, SOURCES, VcRouter, Width};
use crate::network::model::{AtRouter, Fabric, RouterModel as _};
use crate::packet::{Kind, Packet};
use crate::state::NONE;
use crate::state::pipeline::{InputChannel, OutputChannel, stage};
use des::{Event, Journal, Sink, Time};

/// Whether ticks run often enough with such a journal and sink to have code of their own for what is usual.
#[inline(always)]
fn is_quick<J: Journal, S: Sink<Fabric<VcRouter>>>() -> bool {
    S::HOT && !J::ACTIVE
}

/// What has become of an input channel whose first packet has sent a flit. Two words, which come back in registers.
#[derive(Clone, Copy)]
struct AfterFlit {
    state: AfterState,
    /// The output channel that is free now, [`NONE`] if none is.
    freed: u32,
}

/// What an input channel waits for that has sent a flit.
#[derive(Clone, Copy)]
enum AfterState {
    /// The switch, as before.
    Bids,
    /// Flits, credits, or packets.
    Idle,
    /// The packet behind the one that has left waits for its way.
    Routing,
    /// It waits for an output channel.
    Allocation,
}

impl<J: Journal, S: Sink<Fabric<VcRouter>>> AtRouter<'_, VcRouter, J, S> {
    /// Performs all ticks before `end`.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, end: u64) {
        loop {
            let now = self.st.clocks.get(self.lp).due;
            if now >= end {
                return;
            }
            self.tick(now, end);
        }
    }

    /// The cycle at `now` of the router's clock, and perhaps those that follow before `end`: with code of its own for small routers that are
    /// [usual](VcRouter::usual), where it runs often.
    #[inline(always)]
    fn tick(&mut self, now: u64, end: u64) {
        match (is_quick::<J, S>() && self.model.usual, self.model.width) {
            (true, Width::Few) => self.apart(move |mut at| at.tick_of::<1, 64, 1, 16, 8, true>(now)),
            (true, Width::Two) => self.apart(move |mut at| at.tick_of::<2, 128, 1, 32, 8, true>(now)),
            _ => self.apart(move |mut at| at.ticks(end)),
        }
    }

    /// All cycles before `end`.
    #[inline(always)]
    fn ticks(&mut self, end: u64) {
        if let Some(outputs) = &self.model.outputs {
            return self.cycles(outputs, end);
        }
        loop {
            let now = self.st.clocks.get(self.lp).due;
            if now >= end {
                return;
            }
            match (is_quick::<J, S>() && self.model.usual, self.model.width) {
                (true, Width::One | Width::Eight) => {
                    self.apart(move |mut at| at.tick_of::<8, 512, 1, 64, 64, true>(now));
                }
                (_, Width::Few | Width::One) => {
                    self.apart(move |mut at| at.tick_of::<1, 64, 1, 64, 64, false>(now));
                }
                (_, Width::Two | Width::Eight) => {
                    self.apart(move |mut at| at.tick_of::<8, 512, 1, 64, 64, false>(now));
                }
                (_, Width::All) => self.apart(move |mut at| at.tick_of::<64, 4_096, 4, 256, 64, false>(now)),
            }
        }
    }

    /// A cycle with sets of so many words: `W` of channels, of which there are at most `C`, `N` of at most `P` ports of the switch, at most `V`
    /// channels of a port. Without a loop around it: all that does not change would be read before the first turn, and hardly ever is there another.
    #[inline(always)]
    fn tick_of<const W: usize, const C: usize, const N: usize, const P: usize, const V: usize, const USUAL: bool>(
        &mut self,
        now: u64,
    ) {
        let model = self.model;
        let mut sends = self.emit_all::<W>(now);
        let mut sets = self.sets::<W>();
        let number = if !USUAL && model.counts_steps {
            model.step_at(now)
        } else {
            0
        };
        let steps = if USUAL {
            1
        } else {
            u64::from(model.pipeline.internal_speedup)
        };
        let mut moved = false;
        for sub in 0..steps {
            let crossbar = match model.pipeline.stages[3] {
                _ if USUAL => model.crossbar(),
                0 => 0,
                more => ((sub + 1) / steps + u64::from(more) - 1) * model.clock,
            };
            let step = ClockStep {
                now,
                number: number + sub,
                through: now + crossbar,
            };
            moved |= self.step::<W, C, N, P, V, USUAL>(&mut sets, &step);
        }
        let sources = self.write_sets(&sets);
        if USUAL || model.keeps_returns {
            // Flits that have left may have woken sources.
            sends = !is_empty(&sources);
        }
        let asks = !is_empty(&sets.allocation) && (moved || !USUAL && model.is_timed);
        let goes_on = asks || !is_empty(&sets.routing) || !is_empty(&sets.bids) || sends;
        let due = if goes_on { now + model.clock } else { u64::MAX };
        self.st.clocks.edit(self.j, self.lp).due = due;
    }

    /// Allocates by what is so at its start, then changes it; whether output channels may have come to be wanted or free.
    #[inline(always)]
    fn step<const W: usize, const C: usize, const N: usize, const P: usize, const V: usize, const USUAL: bool>(
        &mut self,
        sets: &mut Sets<W>,
        step: &ClockStep,
    ) -> bool {
        // The switch first: packets that get their channels now do not bid yet. All others that ask for channels see nothing of it.
        let free = sets.free;
        let (mut won, alone) = match is_empty(&sets.bids) {
            true => ([0; W], false),
            false => self.allocate_switch::<W, N, P, USUAL>(&sets.bids, step),
        };
        let routing = sets.routing;
        let mut moved = !is_empty(&won) || !is_empty(&routing);
        if !is_empty(&sets.allocation) {
            moved |= self.allocate_channels::<W, C, V, USUAL>(sets, &free, step);
        }
        self.route_all::<W, USUAL>(routing, sets, step);
        while let Some(channel) = pop(&mut won) {
            let sent = self.apart(move |mut at| at.send_flit::<USUAL>(channel, alone, step));
            if sent.freed != NONE {
                put(&mut sets.free, sent.freed as usize);
            }
            match sent.state {
                AfterState::Bids => continue,
                AfterState::Idle => {}
                AfterState::Routing => put(&mut sets.routing, channel),
                AfterState::Allocation => put(&mut sets.allocation, channel),
            }
            drop_from(&mut sets.bids, channel);
        }
        moved
    }

    /// Routes the first packets of these input channels.
    #[inline(always)]
    fn route_all<const W: usize, const USUAL: bool>(
        &mut self,
        mut routing: Set<W>,
        sets: &mut Sets<W>,
        step: &ClockStep,
    ) {
        if (USUAL || !self.model.is_timed) && !self.model.ways.is_empty() {
            // They know theirs since they came.
            let mut word = 0;
            while word < W {
                sets.allocation[word] |= routing[word];
                word += 1;
            }
            sets.routing = [0; W];
            return;
        }
        while let Some(channel) = pop(&mut routing) {
            if self.is_ready::<USUAL>(channel, step) {
                self.route_first(channel as u32, step.now, step.number);
                drop_from(&mut sets.routing, channel);
                put(&mut sets.allocation, channel);
            }
        }
    }

    /// A flit wins the switch; `alone`: pointers have yet to be moved.
    #[inline(always)]
    fn send_flit<const USUAL: bool>(&mut self, channel: usize, alone: bool, step: &ClockStep) -> AfterFlit {
        let AtRouter { net, site, model, .. } = *self;
        let index = self.record_of(channel as u32);
        let input = *self.st.input_channels.get(index);
        let (output, vc) = (u32::from(input.output), u32::from(input.vc));
        if alone {
            self.move_switch_pointers(channel, output);
        }
        let place = (site.port + output) * net.vcs + vc;
        let ejects = output >= u32::from(site.net);
        let mut room = true;
        if !ejects || !USUAL && model.node_credits {
            let channel = self.st.channels.edit(self.j, place);
            channel.credit -= i64::from(model.flit);
            room = channel.credit >= i64::from(model.flit);
        }
        self.put_on_link(&input, ejects, step);
        self.give_back::<USUAL>(channel, step);
        let record = self.st.input_channels.edit(self.j, index);
        record.left -= 1;
        record.present -= 1;
        if record.left > 0 {
            record.stage = stage::ACTIVE;
            if !ejects {
                record.first = NONE;
            }
            if !USUAL && model.is_timed {
                record.ready = model.ready(step.number, model.pipeline.stages[2]);
            }
            let state = match record.present == 0 || !room {
                true => AfterState::Idle,
                false => AfterState::Bids,
            };
            return AfterFlit { state, freed: NONE };
        }
        let given = (output << model.shift) + vc;
        let (owner, freed) = match !USUAL && model.pipeline.wait_for_tail_credit {
            true => (OutputChannel::ENDED, NONE),
            false => (OutputChannel::FREE, given),
        };
        let record_of_output = self.record_of(given);
        self.st.output_channels.edit(self.j, record_of_output).owner = owner;
        let state = match self.next_packet(channel as u32, step) {
            None => AfterState::Idle,
            Some(ROUTING) => AfterState::Routing,
            Some(_) => AfterState::Allocation,
        };
        AfterFlit { state, freed }
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
        let packet = *self.st.slots.get(slot);
        Some(self.begin(channel, (slot, &packet), step.now, || step.number))
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
            let credits = self.carried(input.output.into());
            let flit = Packet::credit(at, peer.address()).with_vc(input.vc);
            return self.sink.send_at(at, flit.with_value(FLIT | credits));
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
    pub(super) fn give_back<const USUAL: bool>(&mut self, channel: usize, step: &ClockStep) {
        let AtRouter { net, site, model, .. } = *self;
        let (port, vc) = self.port_and_vc(channel);
        let leaves = if USUAL { step.now } else { self.bundle(port, step) };
        if port >= u32::from(site.net) {
            return self.tell_source(port, vc as u8, leaves);
        }
        if model.tells_late() {
            return self.owe(port, vc, leaves);
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

    /// All sources that can send a flit; whether one can in the next cycle.
    #[inline(always)]
    pub(super) fn emit_all<const W: usize>(&mut self, now: u64) -> bool {
        let mut sources = self.set_of::<W>(SOURCES);
        if is_empty(&sources) {
            return false;
        }
        let mut ready = sources;
        while let Some(node) = pop(&mut ready) {
            if !self.apart(move |mut at| at.emit(node as u32, now)) {
                drop_from(&mut sources, node);
            }
        }
        self.write_set(SOURCES, &sources);
        !is_empty(&sources)
    }

    /// The sets that a tick changes.
    #[inline(always)]
    fn sets<const W: usize>(&self) -> Sets<W> {
        if W == 1 {
            // All from one place, which is worked out once.
            let words = self
                .st
                .channel_sets
                .get_run::<{ SETS as usize }>(self.first_word::<1>(0));
            let set = |set: u32| [words[set as usize]; W];
            return Sets {
                routing: set(ROUTING),
                allocation: set(ALLOCATION),
                bids: set(BIDS),
                free: set(FREE),
            };
        }
        Sets {
            routing: self.set_of(ROUTING),
            allocation: self.set_of(ALLOCATION),
            bids: self.set_of(BIDS),
            free: self.set_of(FREE),
        }
    }

    /// Writes them down; returns the nodes whose source may send a flit.
    #[inline(always)]
    fn write_sets<const W: usize>(&mut self, sets: &Sets<W>) -> Set<W> {
        if W == 1 && !J::ACTIVE {
            let first = self.first_word::<1>(0);
            let words = self.st.channel_sets.edit_run::<J, { SETS as usize }>(self.j, first);
            words[ROUTING as usize] = sets.routing[0];
            words[ALLOCATION as usize] = sets.allocation[0];
            words[BIDS as usize] = sets.bids[0];
            words[FREE as usize] = sets.free[0];
            return [words[SOURCES as usize]; W];
        }
        self.write_set(ROUTING, &sets.routing);
        self.write_set(ALLOCATION, &sets.allocation);
        self.write_set(BIDS, &sets.bids);
        self.write_set(FREE, &sets.free);
        self.set_of(SOURCES)
    }

    /// The words of a set.
    #[inline(always)]
    pub(super) fn set_of<const W: usize>(&self, set: u32) -> Set<W> {
        let first = self.first_word::<W>(set);
        let mut words = [0; W];
        let mut word = 0;
        while word < W && (W == 1 || (word as u32) < self.model.words) {
            words[word] = *self.st.channel_sets.get(first + word as u32);
            word += 1;
        }
        words
    }

    /// Writes down the words of a set that have changed.
    #[inline(always)]
    fn write_set<const W: usize>(&mut self, set: u32, words: &Set<W>) {
        let first = self.first_word::<W>(set);
        let mut word = 0;
        while word < W && (W == 1 || (word as u32) < self.model.words) {
            let index = first + word as u32;
            if !J::ACTIVE || words[word] != *self.st.channel_sets.get(index) {
                self.st.channel_sets.set(self.j, index, words[word]);
            }
            word += 1;
        }
    }

    /// [`VcRouter::set`], where sets have one word for sure if `W` says so.
    #[inline(always)]
    fn first_word<const W: usize>(&self, set: u32) -> u32 {
        match W {
            1 => self.lp * SETS + set,
            _ => self.model.set(self.lp, set),
        }
    }
}
