//! A node's side of the protocol: accesses that its caches cannot perform, and messages about its copies.

use super::message::{CoherenceMessage, Say};
use super::protocol::{COPIES, CopyEvent, Do, Held, copy};
use super::state::{Line, Miss};
use super::{By, Cargo, Controller, Effects};
use des::Journal;
use des::lists::NONE;

/// What a message tells a node about its copy, besides the line's number.
#[derive(Clone, Copy)]
struct CopyNews {
    /// The node that reads or writes.
    third: u32,
    /// How often what has come has been written.
    version: u32,
    /// Acknowledgements to wait for.
    acknowledgements: u32,
}

impl<J: Journal, E: Effects<J>> Controller<'_, J, E> {
    /// The core that an access is of, by its number on the node.
    fn core_of(&self, access: u32) -> u32 {
        access / self.shape.outstanding - self.place * self.shape.cores
    }

    /// Takes an access to the shared cache, which performs it or has it wait.
    pub fn ask(&mut self, access: u32, by: By) {
        let wanted = *self.st.accesses.get(access);
        let event = match wanted.store {
            0 => CopyEvent::Load,
            _ => CopyEvent::Store,
        };
        let (miss, at, state) = self.state_of(wanted.line);
        let (actions, next) = self.cell(state, event);
        let asks = matches!(actions[0], Do::AskRead | Do::AskWrite | Do::AskLeave);
        if asks && self.st.nodes.get(self.place).asked >= self.shape.misses {
            return self.stall(access);
        }
        if asks && at == NONE && self.shape.places_when_asked() && !self.take_place(wanted.line) {
            return self.stall(access);
        }
        let mut miss = miss;
        for action in actions {
            let say = match action {
                Do::AskRead => Say::Read,
                Do::AskWrite => Say::Write,
                Do::AskLeave => Say::Upgrade,
                Do::Wait => {
                    self.wait(miss, access);
                    continue;
                }
                _ => {
                    self.hit(self.core_of(access), access, at, by);
                    continue;
                }
            };
            if say == Say::Upgrade {
                self.st.l2_lines.edit(self.j, at).pinned = 1;
            }
            miss = self.new_miss(wanted.line, next, 0);
            self.st.nodes.edit(self.j, self.place).asked += 1;
            self.st.accesses.edit(self.j, access).missed = 1;
            self.say_home(say, wanted.line, 0);
            self.fx.fetch_first(false);
        }
    }

    /// Gives a line that is to be asked for its place, which another line leaves, own caches that have it first; `false` if that has to
    /// stay.
    fn take_place(&mut self, line: u64) -> bool {
        let Some(at) = self.victim(line) else {
            return false;
        };
        let old = *self.st.l2_lines.get(at);
        if old.holders != 0 {
            self.fx.fetch_first(true);
        }
        if old.state != Held::Invalid as u16 {
            self.evict(at);
        }
        self.keep_place(at, line);
        true
    }

    /// A place of the shared cache waits for its line.
    fn keep_place(&mut self, at: u32, line: u64) {
        let used = self.tick();
        let waits = Line {
            tag: line,
            used,
            pinned: 1,
            ..Line::EMPTY
        };
        self.st.l2_lines.set(self.j, at, waits);
    }

    /// A line that was given a place comes to nothing, or has none.
    fn leave_place(&mut self, line: u64) {
        if let Some(at) = self.in_l2(line) {
            self.st.l2_lines.set(self.j, at, Line::EMPTY);
        }
    }

    /// A message about a copy has come.
    pub fn hear(&mut self, message: &CoherenceMessage) {
        let line = message.line;
        let (miss, _, state) = self.state_of(line);
        let missing = |more: i32| self.st.misses.get(miss).acknowledged + more;
        let event = match message.say {
            Say::ForwardRead => CopyEvent::ForwardRead,
            Say::ForwardWrite => CopyEvent::ForwardWrite,
            Say::Invalidate => CopyEvent::Invalidate,
            Say::Shared => CopyEvent::Shared,
            Say::Exclusive => CopyEvent::Exclusive,
            Say::Owned | Say::Leave => {
                let more = -(message.acknowledgements as i32);
                let here = miss == NONE || missing(more) == 0;
                match (message.say, here) {
                    (Say::Owned, true) => CopyEvent::Owned,
                    (Say::Owned, false) => CopyEvent::OwnedLater,
                    (_, true) => CopyEvent::Leave,
                    (_, false) => CopyEvent::LeaveLater,
                }
            }
            Say::Acknowledge => {
                let here = matches!(state, Held::WritingHere | Held::UpgradingHere);
                match here && missing(1) == 0 {
                    true => CopyEvent::AllAcknowledged,
                    false => CopyEvent::Acknowledged,
                }
            }
            _ => CopyEvent::Released,
        };
        let told = CopyNews {
            third: message.third,
            version: message.version,
            acknowledgements: message.acknowledgements,
        };
        self.happen(line, event, told);
        self.unstall();
    }

    /// The record of a line for which the node waits, its place in the shared cache, and what the node has of it.
    fn state_of(&self, line: u64) -> (u32, u32, Held) {
        let mut miss = self.st.nodes.get(self.place).misses;
        while miss != NONE && self.st.misses.get(miss).line != line {
            miss = self.st.misses.get(miss).next;
        }
        let at = self.in_l2(line).unwrap_or(NONE);
        let state = match (miss, at) {
            (NONE, NONE) => Held::Invalid,
            (NONE, at) => COPIES[usize::from(self.st.l2_lines.get(at).state)],
            (miss, _) => COPIES[self.st.misses.get(miss).state as usize],
        };
        (miss, at, state)
    }

    fn cell(&mut self, state: Held, event: CopyEvent) -> (&'static [Do], Held) {
        self.fx.used_copy(state, event);
        let Some(cell) = copy(state, event) else {
            panic!("memory protocol: {event:?} cannot happen to a copy that is {state:?}");
        };
        cell
    }

    /// Something has happened to the node's copy of a line.
    fn happen(&mut self, line: u64, event: CopyEvent, told: CopyNews) {
        let (miss, at, _) = self.state_of(line);
        // What cores have written of a line that is asked for shows now.
        if miss == NONE && at != NONE && matches!(event, CopyEvent::ForwardRead | CopyEvent::ForwardWrite) {
            self.gather(at, None, event == CopyEvent::ForwardWrite);
        }
        let (_, _, state) = self.state_of(line);
        let (actions, next) = self.cell(state, event);
        let mut version = match (miss, at) {
            (NONE, NONE) => 0,
            (NONE, at) => self.st.l2_lines.get(at).version,
            (miss, _) => self.st.misses.get(miss).version,
        };
        if miss != NONE {
            let record = self.st.misses.edit(self.j, miss);
            record.state = next as u32;
            match event {
                CopyEvent::Acknowledged | CopyEvent::AllAcknowledged => record.acknowledged += 1,
                CopyEvent::Owned | CopyEvent::OwnedLater | CopyEvent::Leave | CopyEvent::LeaveLater => {
                    record.acknowledged -= told.acknowledgements as i32;
                }
                _ => {}
            }
            if matches!(event, CopyEvent::Shared | CopyEvent::Exclusive | CopyEvent::Owned) {
                version = told.version;
            }
        }
        for action in actions {
            match action {
                Do::Hold => {
                    let record = self.st.misses.edit(self.j, miss);
                    record.held_for = told.third;
                    record.held_write = u32::from(event == CopyEvent::ForwardWrite);
                }
                Do::Demote => self.st.l2_lines.edit(self.j, at).state = Held::Shared as u16,
                Do::Drop => {
                    self.gather(at, None, true);
                    match miss != NONE && self.shape.places_when_asked() {
                        true => self.keep_place(at, line),
                        false => self.st.l2_lines.set(self.j, at, Line::EMPTY),
                    }
                }
                Do::SendShared => self.say(Say::Shared, line, told.third, version),
                Do::SendOwned => self.say(Say::Owned, line, told.third, version),
                Do::TellClean => self.say_home(Say::Clean, line, 0),
                Do::TellTransfer => self.say_home(Say::Transfer, line, 0),
                Do::CopyBack => self.say_home(Say::CopyBack, line, version),
                Do::Acknowledge => self.say(Say::Acknowledge, line, told.third, 0),
                Do::Mark => {
                    let mut access = self.st.misses.get(miss).first;
                    while access != NONE {
                        let record = self.st.accesses.edit(self.j, access);
                        record.marked = 1;
                        access = record.next;
                    }
                }
                Do::Keep => self.st.misses.edit(self.j, miss).version = told.version,
                Do::Fill => self.fill(miss, next, version),
                Do::Serve => {
                    let shared = self.st.l2_lines.edit(self.j, at);
                    (shared.state, shared.pinned) = (Held::Modified as u16, 0);
                    self.served(miss);
                }
                Do::ServeOnce => {
                    let waiting = self.end(miss);
                    self.leave_place(line);
                    self.each(waiting, |node, access| {
                        let wanted = node.st.accesses.edit(node.j, access);
                        if wanted.store == 0 && wanted.marked != 0 {
                            node.fx.performed(node.st, node.j, access, version, By::Message);
                        } else {
                            wanted.marked = 0;
                            node.ask(access, By::Message);
                        }
                    });
                }
                Do::Release => {
                    let waiting = self.st.misses.get(miss).first;
                    self.free_miss(miss);
                    self.each(waiting, |node, access| node.ask(access, By::L2));
                }
                Do::Hit
                | Do::Wait
                | Do::AskRead
                | Do::AskWrite
                | Do::AskLeave
                | Do::PutShared
                | Do::PutExclusive
                | Do::PutModified => {}
            }
        }
    }

    /// Puts a line that has come into the shared cache, and performs what waits for it.
    fn fill(&mut self, miss: u32, state: Held, version: u32) {
        let line = self.st.misses.get(miss).line;
        let kept = self.in_l2(line);
        let Some(at) = kept.or_else(|| self.victim(line)) else {
            return self.pass(miss, state, version);
        };
        if self.st.l2_lines.get(at).state != Held::Invalid as u16 {
            self.evict(at);
        }
        let used = match kept {
            Some(at) => self.st.l2_lines.get(at).used,
            None => self.st.nodes.get(self.place).clock,
        };
        let shared = Line {
            tag: line,
            used,
            version,
            state: state as u16,
            ..Line::EMPTY
        };
        self.st.l2_lines.set(self.j, at, shared);
        self.served(miss);
    }

    /// The line of a miss is in the shared cache: performs what waits for it, and answers who has asked for it meanwhile.
    fn served(&mut self, miss: u32) {
        let Miss {
            line,
            held_for,
            held_write,
            ..
        } = *self.st.misses.get(miss);
        let waiting = self.end(miss);
        self.each(waiting, |node, access| node.ask(access, By::Message));
        self.answer(line, held_for, held_write);
    }

    fn answer(&mut self, line: u64, held_for: u32, held_write: u32) {
        if held_for == NONE {
            return;
        }
        let event = match held_write {
            0 => CopyEvent::ForwardRead,
            _ => CopyEvent::ForwardWrite,
        };
        let told = CopyNews {
            third: held_for,
            version: 0,
            acknowledgements: 0,
        };
        self.happen(line, event, told);
    }

    /// A line that has come finds no room, as all of its set has to stay: it serves what waits for it and is given up at once.
    fn pass(&mut self, miss: u32, state: Held, mut version: u32) {
        let Miss {
            line,
            held_for,
            held_write,
            ..
        } = *self.st.misses.get(miss);
        let mut state = state;
        let waiting = self.end(miss);
        let (mut again, mut last) = (NONE, NONE);
        self.each(waiting, |node, access| {
            let store = node.st.accesses.get(access).store != 0;
            if store && state == Held::Shared {
                node.append(&mut again, &mut last, access);
                return;
            }
            node.fx.performed(node.st, node.j, access, version, By::Message);
            if store {
                version = version.wrapping_add(1);
                state = Held::Modified;
            }
        });
        self.leave(line, state, version);
        self.answer(line, held_for, held_write);
        self.each(again, |node, access| node.ask(access, By::Message));
    }

    /// Makes a place of the shared cache free.
    fn evict(&mut self, at: u32) {
        self.gather(at, None, true);
        let Line {
            tag, state, version, ..
        } = *self.st.l2_lines.get(at);
        self.st.l2_lines.set(self.j, at, Line::EMPTY);
        self.leave(tag, COPIES[usize::from(state)], version);
    }

    /// Gives up a copy that is in no cache any more.
    fn leave(&mut self, line: u64, state: Held, version: u32) {
        let event = match state {
            Held::Shared if !self.shape.told => CopyEvent::Forget,
            _ => CopyEvent::Evict,
        };
        let (actions, next) = self.cell(state, event);
        for action in actions {
            let say = match action {
                Do::PutShared => Say::PutShared,
                Do::PutExclusive => Say::PutExclusive,
                Do::PutModified => Say::PutModified,
                _ => continue,
            };
            self.new_miss(line, next, version);
            self.say_home(say, line, version);
        }
    }

    /// Ends a miss; returns the first access that has waited for it.
    fn end(&mut self, miss: u32) -> u32 {
        let waiting = self.st.misses.get(miss).first;
        self.free_miss(miss);
        self.st.nodes.edit(self.j, self.place).asked -= 1;
        waiting
    }

    /// Every access of a list, which may go to other lists on the way.
    fn each(&mut self, mut access: u32, mut act: impl FnMut(&mut Self, u32)) {
        while access != NONE {
            let next = self.st.accesses.get(access).next;
            act(self, access);
            access = next;
        }
    }

    /// Appends an access to a list.
    fn append(&mut self, first: &mut u32, last: &mut u32, access: u32) {
        self.st.accesses.edit(self.j, access).next = NONE;
        match *last {
            NONE => *first = access,
            last => self.st.accesses.edit(self.j, last).next = access,
        }
        *last = access;
    }

    fn wait(&mut self, miss: u32, access: u32) {
        let record = *self.st.misses.get(miss);
        let (mut first, mut last) = (record.first, record.last);
        self.append(&mut first, &mut last, access);
        let record = self.st.misses.edit(self.j, miss);
        (record.first, record.last) = (first, last);
        self.st.accesses.edit(self.j, access).marked = 0;
    }

    /// An access waits until the node may ask for another line.
    fn stall(&mut self, access: u32) {
        let node = *self.st.nodes.get(self.place);
        let (mut first, mut last) = (node.first, node.last);
        self.append(&mut first, &mut last, access);
        let node = self.st.nodes.edit(self.j, self.place);
        (node.first, node.last) = (first, last);
    }

    fn unstall(&mut self) {
        if self.shape.places_when_asked() {
            return self.unstall_all();
        }
        loop {
            let node = *self.st.nodes.get(self.place);
            if node.first == NONE || node.asked >= self.shape.misses {
                return;
            }
            let next = self.st.accesses.get(node.first).next;
            let record = self.st.nodes.edit(self.j, self.place);
            record.first = next;
            if next == NONE {
                record.last = NONE;
            }
            self.ask(node.first, By::L2);
        }
    }

    /// Accesses that wait for leave to ask, or for a place, try again in their order.
    fn unstall_all(&mut self) {
        let node = *self.st.nodes.get(self.place);
        if node.first == NONE || node.asked >= self.shape.misses {
            return;
        }
        let record = self.st.nodes.edit(self.j, self.place);
        (record.first, record.last) = (NONE, NONE);
        self.each(node.first, |controller, access| controller.ask(access, By::L2));
    }

    fn new_miss(&mut self, line: u64, state: Held, version: u32) -> u32 {
        let node = *self.st.nodes.get(self.place);
        let record = Miss {
            line,
            next: node.misses,
            first: NONE,
            last: NONE,
            state: state as u32,
            version,
            acknowledged: 0,
            held_for: NONE,
            held_write: 0,
        };
        let miss = match node.free_miss {
            NONE => self.st.misses.push(self.j, record),
            free => {
                let next = self.st.misses.get(free).next;
                self.st.nodes.edit(self.j, self.place).free_miss = next;
                self.st.misses.set(self.j, free, record);
                free
            }
        };
        self.st.nodes.edit(self.j, self.place).misses = miss;
        miss
    }

    fn free_miss(&mut self, miss: u32) {
        let after = self.st.misses.get(miss).next;
        let node = *self.st.nodes.get(self.place);
        if node.misses == miss {
            self.st.nodes.edit(self.j, self.place).misses = after;
        } else {
            let mut before = node.misses;
            while self.st.misses.get(before).next != miss {
                before = self.st.misses.get(before).next;
            }
            self.st.misses.edit(self.j, before).next = after;
        }
        self.st.misses.edit(self.j, miss).next = node.free_miss;
        self.st.nodes.edit(self.j, self.place).free_miss = miss;
    }

    fn say(&mut self, say: Say, line: u64, to: u32, version: u32) {
        let message = CoherenceMessage {
            say,
            line,
            from: self.node,
            to,
            third: 0,
            acknowledgements: 0,
            version,
        };
        self.fx.send(self.st, self.j, message, Cargo::AsSaid);
    }

    fn say_home(&mut self, say: Say, line: u64, version: u32) {
        self.say(say, line, self.shape.home(line), version);
    }
}
