//! A memory node at work: cores give out accesses, caches and directory answer, all with their times.
//!
//! What an access or a message does to caches and directory is done at one time: when the shared cache has been looked at, or when the
//! message has come. What follows from it bears the times of the parts that it passes: bus and memory serve first come, first served.

use crate::network::Network;
use crate::nic;
use crate::packet::{CLASS, EnvelopeWords, HORIZON, Kind, Label, Packet};
use crate::state::State;
use des::{Journal, Time};
use std::cell::Cell;
use work::memory::message::{CoherenceMessage, MessageClass, Say};
use work::memory::spec::InterfaceUse;
use work::memory::state::{Access, Line, MemoryColumns, NO_LINE, Performed};
use work::memory::{By, Cargo, Controller, Effects, Plan, word};
use work::workload;

/// What an event for a node means, in the channel number of [`Kind::Rank`].
mod step {
    /// A core may give out an access; the value is the core.
    pub const ISSUE: u8 = 0;
    /// The shared cache has been looked at for an access; the value is its place.
    pub const LOOKED: u8 = 1;
    /// The core has what it asked for; the value is the access's place.
    pub const DONE: u8 = 2;
    /// A message of the own node; the value is its word.
    pub const MESSAGE: u8 = 3;
}

/// A node with everything around it.
pub(super) struct MemoryEndpoint<'a, J> {
    pub net: &'a Network,
    pub st: &'a mut State,
    pub j: &'a mut J,
    pub around: Around<'a>,
}

/// What is outside the columns.
pub(super) struct Around<'a> {
    pub plan: &'a Plan,
    /// Messages for the network: what acts knows none, and they are handed to the interfaces when it has acted.
    pub outbox: Vec<Outgoing>,
    /// Sends an event.
    pub send_event: &'a mut dyn FnMut(Packet),
    /// Its router, its place in the node columns, its number at its router, and among memory nodes.
    pub lp: u32,
    pub place: u32,
    pub port: u16,
    pub node: u32,
    pub now: u64,
    /// What the part that acts takes before it sends (ps).
    pub delay: u64,
    /// What the own cache of a core takes on top to give up a line (ps).
    pub fetch: u64,
}

/// A message for the network.
pub(super) struct Outgoing {
    /// Interface of the node that sends it.
    interface: u32,
    message: workload::Message,
    /// Marks of its label, and its word.
    about: (Label, u64),
}

thread_local! {
    /// The memory of an outbox; kept to spare allocations.
    static OUTBOX: Cell<Vec<Outgoing>> = const { Cell::new(Vec::new()) };
}

/// An empty outbox.
pub(super) fn outbox() -> Vec<Outgoing> {
    OUTBOX.take()
}

/// What the label of a message of a class has besides a number.
fn mark(plan: &Plan, class: MessageClass) -> Label {
    if plan.tells_classes() {
        (class as Label) << CLASS
    } else {
        0
    }
}

impl Around<'_> {
    /// First place for accesses of the node; events have numbers from there on, as nodes may lie anywhere.
    fn first_access(&self) -> u32 {
        self.place * self.plan.shape.accesses()
    }

    fn later(&mut self, at: u64, step: u8, value: u64) {
        let at = Time(at.min(HORIZON.0 - 1));
        let event = Packet::new(Kind::Rank, at, self.lp, self.port);
        (self.send_event)(event.with_vc(step).with_value(value));
    }

    /// Writes down an access for the check of values.
    #[cold]
    fn record<J: Journal>(&self, st: &mut MemoryColumns, j: &mut J, access: &Access, number: u32, version: u32) {
        let shape = &self.plan.shape;
        let performed = Performed {
            line: access.line,
            issued: access.issued,
            at: self.now,
            version,
            store: access.store.into(),
            core: self.node * shape.cores + number / shape.outstanding,
            next: st.nodes.get(self.place).performed,
        };
        let at = st.performed.push(j, performed);
        st.nodes.edit(j, self.place).performed = at;
    }

    /// Memory takes up a line of this home at `from`; returns when it begins and when it has given it, or taken it.
    fn use_memory<J: Journal>(&self, st: &mut MemoryColumns, j: &mut J, line: u64, from: u64) -> (u64, u64) {
        let (times, shape) = (&self.plan.times, &self.plan.shape);
        let bank = (shape.index(line) % u64::from(shape.banks)) as u32;
        let bank = st.banks.edit(j, self.place * shape.banks + bank);
        let beyond = st.beyond.edit(j, self.place);
        let start = beyond.memory_free.max(*bank).max(from);
        *bank = start + times.bank;
        beyond.memory_free = start + times.memory_line;
        beyond.memory_busy += times.memory_line;
        (start, start + times.memory + times.memory_line)
    }
}

/// Whether a message comes from a home, and not from caches; lines come from both, from the home out of memory.
fn is_from_home(say: Say, from_memory: bool) -> bool {
    match say {
        Say::ForwardRead | Say::ForwardWrite | Say::Invalidate | Say::Leave | Say::Released => true,
        Say::Shared | Say::Exclusive | Say::Owned => from_memory,
        Say::Read | Say::Write | Say::Upgrade | Say::PutShared | Say::PutExclusive | Say::PutModified => false,
        Say::Acknowledge | Say::Clean | Say::CopyBack | Say::Transfer => false,
    }
}

/// Whether accesses wait for a message of this kind.
fn is_waited_for(say: Say) -> bool {
    matches!(
        say,
        Say::Read
            | Say::Write
            | Say::Upgrade
            | Say::ForwardRead
            | Say::ForwardWrite
            | Say::Shared
            | Say::Exclusive
            | Say::Owned
            | Say::Leave
    )
}

impl<J: Journal> Effects<J> for Around<'_> {
    fn send(&mut self, st: &mut MemoryColumns, j: &mut J, message: CoherenceMessage, cargo: Cargo) {
        let times = &self.plan.times;
        let mut birth = self.now + self.delay + self.fetch;
        let waited_for = is_waited_for(message.say);
        let from_memory = cargo == Cargo::FromMemory;
        if from_memory {
            let (start, end) = self.use_memory(st, j, message.line, birth);
            let beyond = st.beyond.edit(j, self.place);
            beyond.reads += 1;
            beyond.memory_queue += start - birth;
            beyond.memory += end - start;
            birth = end;
        }
        if waited_for && self.fetch > 0 {
            st.beyond.edit(j, self.place).inside += self.fetch;
        }
        if waited_for && self.delay > 0 {
            let beyond = st.beyond.edit(j, self.place);
            match message.say {
                Say::Shared | Say::Owned if !from_memory => beyond.owner += self.delay,
                _ => beyond.directory += self.delay,
            }
        }
        let word = word::word(&self.plan.shape, &message);
        let mark = mark(self.plan, message.say.class());
        let shape = &self.plan.shape;
        if message.to == self.node && !shape.leaves_own_node() {
            if waited_for {
                st.beyond.edit(j, self.place).inside += times.bus;
            }
            return self.later(birth + times.bus, step::MESSAGE, word);
        }
        let bytes = match shape.has_line(message.say) || cargo == Cargo::TakenBack {
            true => times.data,
            false => times.control,
        };
        let (interface, other) = shape.interfaces_of(&message, is_from_home(message.say, from_memory));
        let beyond = st.beyond.edit(j, self.place);
        beyond.messages += 1;
        beyond.bytes += bytes;
        if shape.arrangement.interfaces == InterfaceUse::ByPart && interface == 1 {
            beyond.home_bytes += bytes;
        }
        let message = workload::Message {
            birth,
            destination: self.plan.nodes[message.to as usize] + other,
            bytes,
        };
        self.outbox.push(Outgoing {
            interface,
            message,
            about: (mark, word),
        });
    }

    fn performed(&mut self, st: &mut MemoryColumns, j: &mut J, access: u32, version: u32, by: By) {
        let times = &self.plan.times;
        let record = *st.accesses.get(access);
        let done = match by {
            By::L1 => self.now + times.l1,
            _ => {
                let beyond = st.beyond.edit(j, self.place);
                let start = beyond.data_free.max(self.now);
                beyond.data_free = start + times.bus_line;
                start + times.bus_line + times.bus
            }
        };
        let core = st.cores.edit(j, access / self.plan.shape.outstanding);
        let latency = done - record.issued;
        core.by[by as usize] += 1;
        core.latency += latency;
        core.longest = core.longest.max(latency);
        core.stores += u64::from(record.store);
        core.l1 += times.l1;
        if by != By::L1 {
            core.l2 += times.l2;
            core.bus += record.asked - record.issued - times.l1 - times.l2 + (done - self.now);
            core.beyond += self.now - record.asked;
        }
        let number = access - self.first_access();
        if self.plan.shape.values {
            self.record(st, j, &record, number, version);
        }
        self.later(done, step::DONE, number.into());
    }

    fn fetch_first(&mut self, begins: bool) {
        let times = &self.plan.times;
        self.fetch = match begins {
            true => 2 * (times.bus_control + times.bus) + times.l1,
            false => 0,
        };
    }

    fn load(&mut self, st: &MemoryColumns, entry: u32) -> u32 {
        st.entries.get(entry).version
    }

    fn store(&mut self, st: &mut MemoryColumns, j: &mut J, entry: u32, version: u32) {
        let line = st.entries.get(entry).line;
        if self.plan.shape.values {
            st.entries.edit(j, entry).version = version;
        }
        let from = self.now + self.delay;
        self.use_memory(st, j, line, from);
        st.beyond.edit(j, self.place).writes += 1;
    }
}

impl<'a, J: Journal> MemoryEndpoint<'a, J> {
    /// Hands over to the interfaces what is for the network; the last thing that is done at an event.
    pub fn hand_over(mut self) {
        let around = &mut self.around;
        for Outgoing {
            interface,
            message,
            about,
        } in around.outbox.drain(..)
        {
            let place = around.place + interface;
            self.st.ledgers.edit(self.j, place).taken += message.bytes;
            let (mark, word) = about;
            let words = EnvelopeWords { word, rest: 0 };
            nic::post(self.net, self.st, self.j, around.lp, place, message, (mark, words));
        }
        OUTBOX.set(std::mem::take(&mut around.outbox));
    }

    fn plan(&self) -> &'a Plan {
        self.around.plan
    }

    fn controller(&mut self) -> Controller<'_, J, Around<'a>> {
        let (plan, node, place) = (self.around.plan, self.around.node, self.around.place);
        Controller {
            shape: &plan.shape,
            st: &mut self.st.memory,
            j: self.j,
            fx: &mut self.around,
            node,
            place,
        }
    }

    /// All cores begin.
    pub fn start(&mut self) {
        for core in 0..self.plan().shape.cores {
            self.issue(core);
        }
    }

    /// An event of the own node.
    pub fn step(&mut self, event: &Packet) {
        let (value, shape) = (event.value(), &self.plan().shape);
        let number = value.min(u32::MAX.into()) as u32;
        let most = match event.vc() {
            step::ISSUE => shape.cores,
            step::LOOKED | step::DONE => shape.accesses(),
            _ => u32::MAX,
        };
        if number >= most && most != u32::MAX {
            // Only a file that is not ours has it.
            return;
        }
        let access = self.around.first_access() + number % most;
        match event.vc() {
            step::ISSUE => self.issue(number),
            step::LOOKED => {
                let now = self.around.now;
                self.st.memory.accesses.edit(self.j, access).asked = now;
                self.around.delay = 0;
                self.controller().ask(access, By::L2);
            }
            step::DONE => self.done(access),
            _ => {
                let node = self.around.node;
                if let Some(message) = word::message(&self.plan().shape, value, node, node) {
                    self.message(&message);
                }
            }
        }
    }

    /// A message has come from an interface of a node to one of this: its word, when it was handed over, and its bytes.
    pub fn arrive(&mut self, (source, from): (u32, u32), node: u32, (word, birth, bytes): (u64, u64, u64)) {
        let Some(message) = word::message(&self.plan().shape, word, from, self.around.node) else {
            return;
        };
        if is_waited_for(message.say) {
            let way = self.net.bound(source, node, bytes as u32);
            let class = message.say.class() as usize;
            let taken = self.around.now - birth;
            let beyond = self.st.memory.beyond.edit(self.j, self.around.place);
            beyond.came[class] += 1;
            beyond.way[class] += way.min(taken);
            beyond.queued[class] += taken - way.min(taken);
        }
        self.message(&message);
    }

    fn message(&mut self, message: &CoherenceMessage) {
        let times = self.plan().times;
        let for_home = message.say.is_for_home();
        self.around.delay = match message.say {
            _ if for_home => times.directory + self.entry_at_hand(message.line),
            Say::ForwardRead | Say::ForwardWrite | Say::Invalidate => times.l2,
            _ => 0,
        };
        let mut controller = self.controller();
        match for_home {
            true => controller.serve(message),
            false => controller.hear(message),
        }
    }

    /// Brings the entry of a line into the directory's cache; returns how long that takes (ps).
    fn entry_at_hand(&mut self, line: u64) -> u64 {
        let (plan, place) = (self.around.plan, self.around.place);
        let cache = plan.shape.directory;
        if cache.sets == 0 {
            return 0;
        }
        let number = plan.shape.index(line);
        let first = place * cache.lines() + cache.set(number);
        let node = self.st.memory.nodes.edit(self.j, place);
        node.clock = node.clock.wrapping_add(1);
        let used = node.clock;
        let set = first..first + cache.ways;
        if let Some(at) = set
            .clone()
            .find(|&at| self.st.memory.directory_lines.get(at).tag == number)
        {
            self.st.memory.directory_lines.edit(self.j, at).used = used;
            return 0;
        }
        let lines = &self.st.memory.directory_lines;
        let empty = set.clone().find(|&at| lines.get(at).tag == NO_LINE);
        let oldest = || set.max_by_key(|&at| used.wrapping_sub(lines.get(at).used));
        let at = empty.or_else(oldest).unwrap_or(first);
        let gone = lines.get(at).tag;
        let entry = Line {
            tag: number,
            used,
            ..Line::EMPTY
        };
        self.st.memory.directory_lines.set(self.j, at, entry);
        let from = self.around.now + plan.times.directory;
        let (_, end) = self.around.use_memory(&mut self.st.memory, self.j, line, from);
        if gone != NO_LINE {
            let gone = plan.shape.line(self.around.node, gone);
            self.around.use_memory(&mut self.st.memory, self.j, gone, end);
        }
        self.st.memory.beyond.edit(self.j, place).entries_read += 1;
        end - from
    }

    /// A core gives out its next access, if it has one and a place for it, and no fence stands before it.
    fn issue(&mut self, core: u32) {
        let (now, plan) = (self.around.now, self.around.plan);
        let shape = &plan.shape;
        let slot = self.around.place * shape.cores + core;
        let number = u64::from(self.around.node) * u64::from(shape.cores) + u64::from(core);
        let all = plan.accesses(number);
        let record = self.st.memory.cores.edit(self.j, slot);
        if record.issued >= all {
            return;
        }
        let fence = plan.fenced(record.issued) && record.open > 0;
        if record.open == shape.outstanding || fence {
            (record.blocked, record.ready) = (1, now);
            return;
        }
        let k = record.issued;
        let wanted = plan.access(number, k);
        if wanted.at > now {
            return self.around.later(wanted.at, step::ISSUE, core.into());
        }
        (record.issued, record.open) = (k + 1, record.open + 1);
        let more = record.issued < all;
        let first = slot * shape.outstanding;
        let mut access = first;
        while self.st.memory.accesses.get(access).busy != 0 {
            access += 1;
        }
        let record = Access {
            line: wanted.line,
            issued: now,
            store: u8::from(wanted.store),
            busy: 1,
            ..Access::NONE
        };
        self.st.memory.accesses.set(self.j, access, record);
        self.around.delay = 0;
        if !self.controller().look(core, access) {
            let times = &plan.times;
            let beyond = self.st.memory.beyond.edit(self.j, self.around.place);
            let start = beyond.address_free.max(now + times.l1);
            beyond.address_free = start + times.bus_control;
            let at = start + times.bus_control + times.bus + times.l2;
            let number = access - self.around.first_access();
            self.around.later(at, step::LOOKED, number.into());
        }
        if more {
            let pause = plan.pause(number, k + 1);
            self.around.later(now + pause, step::ISSUE, core.into());
        }
    }

    /// A core has what it asked for.
    fn done(&mut self, access: u32) {
        let (now, plan) = (self.around.now, self.around.plan);
        let slot = access / plan.shape.outstanding;
        self.st.memory.accesses.edit(self.j, access).busy = 0;
        let core = self.st.memory.cores.edit(self.j, slot);
        core.open -= 1;
        core.done += 1;
        if core.done == core.issued {
            core.finished = now;
        }
        if core.blocked != 0 {
            core.blocked = 0;
            core.waited += now - core.ready;
            self.issue(slot - self.around.place * plan.shape.cores);
        }
    }
}
