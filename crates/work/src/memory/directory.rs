//! A home's side of the protocol: who has which of its lines.

use super::message::{CoherenceMessage, Say};
use super::protocol::{Act, HOMES, Home, HomeEvent, home};
use super::state::{DirectoryEntry, Readers, Request};
use super::{Cargo, Controller, Effects};
use des::Journal;
use des::lists::NONE;

impl<J: Journal, E: Effects<J>> Controller<'_, J, E> {
    /// A message for the home of a line has come.
    pub fn serve(&mut self, message: &CoherenceMessage) {
        let entry = self.entry(message.line);
        let request = Request {
            from: message.from,
            say: message.say as u32,
            version: message.version,
            next: NONE,
        };
        self.act(entry, message.say, request);
        // What has waited for the owner's answer goes on until it has to be asked again.
        loop {
            let record = *self.st.entries.get(entry);
            if record.state >= Home::AskedRead as u32 || record.first == NONE {
                break;
            }
            let request = *self.st.requests.get(record.first);
            let next = self.st.entries.edit(self.j, entry);
            next.first = request.next;
            if request.next == NONE {
                next.last = NONE;
            }
            let free = self.st.nodes.get(self.place).free_request;
            self.st.requests.edit(self.j, record.first).next = free;
            self.st.nodes.edit(self.j, self.place).free_request = record.first;
            let say = super::message::ALL[request.say as usize];
            self.act(entry, say, request);
        }
        let record = self.st.entries.get(entry);
        if record.state == Home::Uncached as u32 && record.version == 0 {
            self.forget(entry);
        }
    }

    /// What a message means to a line's home.
    fn event(&self, record: &DirectoryEntry, say: Say, from: u32) -> HomeEvent {
        let reads = |node: u32| {
            let mut word = record.readers;
            while word != NONE {
                let readers = self.st.readers.get(word);
                if readers.word == node / 64 {
                    return readers.bits >> (node % 64) & 1 != 0;
                }
                word = readers.next;
            }
            false
        };
        let owned = record.state >= Home::Owned as u32;
        match say {
            Say::Read => HomeEvent::Read,
            Say::Write => HomeEvent::Write,
            // It has lost its copy since.
            Say::Upgrade if owned || !reads(from) => HomeEvent::Write,
            Say::Upgrade => HomeEvent::Upgrade,
            Say::Clean => HomeEvent::Clean,
            Say::CopyBack => HomeEvent::CopyBack,
            Say::Transfer => HomeEvent::Transfer,
            Say::PutExclusive if owned && record.owner == from => HomeEvent::PutClean,
            Say::PutModified if owned && record.owner == from => HomeEvent::PutDirty,
            _ if owned || !reads(from) => HomeEvent::PutStranger,
            _ => {
                let first = self.st.readers.get(record.readers);
                match first.next == NONE && first.bits.is_power_of_two() {
                    true => HomeEvent::PutLastReader,
                    false => HomeEvent::PutReader,
                }
            }
        }
    }

    fn act(&mut self, entry: u32, say: Say, request: Request) {
        let record = *self.st.entries.get(entry);
        let (line, from) = (record.line, request.from);
        let state = HOMES[record.state as usize];
        let event = self.event(&record, say, from);
        self.fx.used_home(state, event);
        let Some((actions, next)) = home(state, event) else {
            panic!("memory protocol: {event:?} cannot happen to a line that is {state:?} at its home");
        };
        self.st.entries.edit(self.j, entry).state = next as u32;
        let mut acknowledgements = 0;
        for action in actions {
            match action {
                Act::SendShared => self.send_line(Say::Shared, entry, from, 0),
                Act::SendExclusive => self.send_line(Say::Exclusive, entry, from, 0),
                Act::SendOwned => self.send_line(Say::Owned, entry, from, acknowledgements),
                Act::SendLeave => self.tell(Say::Leave, line, from, 0, acknowledgements),
                Act::Invalidate => acknowledgements = self.invalidate(line, record.readers, from),
                Act::ForwardRead | Act::ForwardWrite => {
                    let say = match action {
                        Act::ForwardRead => Say::ForwardRead,
                        _ => Say::ForwardWrite,
                    };
                    self.st.entries.edit(self.j, entry).asker = from;
                    self.tell(say, line, record.owner, from, 0);
                }
                Act::AddReader => self.add_reader(entry, from),
                Act::RemoveReader => self.remove_reader(entry, from),
                Act::SetOwner => {
                    self.drop_readers(entry);
                    self.st.entries.edit(self.j, entry).owner = from;
                }
                Act::ShareWithOwner => {
                    self.add_reader(entry, record.owner);
                    self.add_reader(entry, record.asker);
                }
                Act::PassOn => self.st.entries.edit(self.j, entry).owner = record.asker,
                Act::WriteMemory => self.fx.store(self.st, self.j, entry, request.version),
                Act::Release => self.release(line, from, say),
                Act::Queue => self.queue(entry, request),
            }
        }
    }

    /// Sends a line from memory.
    fn send_line(&mut self, say: Say, entry: u32, to: u32, acknowledgements: u32) {
        let (line, version) = (self.st.entries.get(entry).line, self.fx.load(self.st, entry));
        let message = CoherenceMessage {
            say,
            line,
            from: self.node,
            to,
            third: 0,
            acknowledgements,
            version,
        };
        self.fx.send(self.st, self.j, message, Cargo::FromMemory);
    }

    /// Answers a message by which a line has left.
    fn release(&mut self, line: u64, to: u32, put: Say) {
        let message = CoherenceMessage {
            say: Say::Released,
            line,
            from: self.node,
            to,
            third: 0,
            acknowledgements: 0,
            version: 0,
        };
        let cargo = self.shape.answer_to(put);
        self.fx.send(self.st, self.j, message, cargo);
    }

    fn tell(&mut self, say: Say, line: u64, to: u32, third: u32, acknowledgements: u32) {
        let message = CoherenceMessage {
            say,
            line,
            from: self.node,
            to,
            third,
            acknowledgements,
            version: 0,
        };
        self.fx.send(self.st, self.j, message, Cargo::AsSaid);
    }

    /// Tells all readers but the writer to drop the line; returns how many.
    fn invalidate(&mut self, line: u64, mut word: u32, writer: u32) -> u32 {
        let mut told = 0;
        while word != NONE {
            let readers = *self.st.readers.get(word);
            let mut bits = readers.bits;
            while bits != 0 {
                let node = readers.word * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                if node != writer {
                    self.tell(Say::Invalidate, line, node, writer, 0);
                    told += 1;
                }
            }
            word = readers.next;
        }
        told
    }

    fn add_reader(&mut self, entry: u32, node: u32) {
        let (word, bit) = (node / 64, 1 << (node % 64));
        let (mut before, mut at) = (NONE, self.st.entries.get(entry).readers);
        while at != NONE && self.st.readers.get(at).word < word {
            (before, at) = (at, self.st.readers.get(at).next);
        }
        if at != NONE && self.st.readers.get(at).word == word {
            self.st.readers.edit(self.j, at).bits |= bit;
            return;
        }
        let record = Readers {
            bits: bit,
            word,
            next: at,
        };
        let new = match self.st.nodes.get(self.place).free_readers {
            NONE => self.st.readers.push(self.j, record),
            free => {
                let next = self.st.readers.get(free).next;
                self.st.nodes.edit(self.j, self.place).free_readers = next;
                self.st.readers.set(self.j, free, record);
                free
            }
        };
        match before {
            NONE => self.st.entries.edit(self.j, entry).readers = new,
            _ => self.st.readers.edit(self.j, before).next = new,
        }
    }

    fn remove_reader(&mut self, entry: u32, node: u32) {
        let (mut before, mut at) = (NONE, self.st.entries.get(entry).readers);
        while self.st.readers.get(at).word != node / 64 {
            (before, at) = (at, self.st.readers.get(at).next);
        }
        let record = self.st.readers.edit(self.j, at);
        record.bits &= !(1 << (node % 64));
        if record.bits != 0 {
            return;
        }
        let next = record.next;
        match before {
            NONE => self.st.entries.edit(self.j, entry).readers = next,
            _ => self.st.readers.edit(self.j, before).next = next,
        }
        self.free_readers(at);
    }

    fn drop_readers(&mut self, entry: u32) {
        let mut word = self.st.entries.get(entry).readers;
        while word != NONE {
            let next = self.st.readers.get(word).next;
            self.free_readers(word);
            word = next;
        }
        self.st.entries.edit(self.j, entry).readers = NONE;
    }

    fn free_readers(&mut self, word: u32) {
        let free = self.st.nodes.get(self.place).free_readers;
        self.st.readers.edit(self.j, word).next = free;
        self.st.nodes.edit(self.j, self.place).free_readers = word;
    }

    fn queue(&mut self, entry: u32, request: Request) {
        let record = Request { next: NONE, ..request };
        let new = match self.st.nodes.get(self.place).free_request {
            NONE => self.st.requests.push(self.j, record),
            free => {
                let next = self.st.requests.get(free).next;
                self.st.nodes.edit(self.j, self.place).free_request = next;
                self.st.requests.set(self.j, free, record);
                free
            }
        };
        let last = self.st.entries.get(entry).last;
        if last != NONE {
            self.st.requests.edit(self.j, last).next = new;
        }
        let record = self.st.entries.edit(self.j, entry);
        if last == NONE {
            record.first = new;
        }
        record.last = new;
    }

    /// The list that the entry of a line is in.
    fn bucket(&self, line: u64) -> u32 {
        let hash = self.shape.index(line).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bits = self.shape.bucket_bits;
        (self.place << bits) + (hash >> 32 & ((1 << bits) - 1)) as u32
    }

    /// The entry of a line; made if there is none.
    fn entry(&mut self, line: u64) -> u32 {
        let bucket = self.bucket(line);
        let head = *self.st.entry_heads.get(bucket);
        let mut at = head;
        while at != NONE {
            let record = self.st.entries.get(at);
            if record.line == line {
                return at;
            }
            at = record.next;
        }
        let record = DirectoryEntry {
            line,
            next: head,
            state: Home::Uncached as u32,
            owner: NONE,
            asker: NONE,
            readers: NONE,
            first: NONE,
            last: NONE,
            version: 0,
        };
        let entry = match self.st.nodes.get(self.place).free_entry {
            NONE => self.st.entries.push(self.j, record),
            free => {
                let next = self.st.entries.get(free).next;
                self.st.nodes.edit(self.j, self.place).free_entry = next;
                self.st.entries.set(self.j, free, record);
                free
            }
        };
        self.st.entry_heads.set(self.j, bucket, entry);
        entry
    }

    /// Drops the entry of a line that no node has, that no request waits for and that has nothing to remember.
    fn forget(&mut self, entry: u32) {
        let DirectoryEntry { line, next: after, .. } = *self.st.entries.get(entry);
        let bucket = self.bucket(line);
        let head = *self.st.entry_heads.get(bucket);
        if head == entry {
            self.st.entry_heads.set(self.j, bucket, after);
        } else {
            let mut before = head;
            while self.st.entries.get(before).next != entry {
                before = self.st.entries.get(before).next;
            }
            self.st.entries.edit(self.j, before).next = after;
        }
        let node = self.st.nodes.edit(self.j, self.place);
        let free = node.free_entry;
        node.free_entry = entry;
        self.st.entries.edit(self.j, entry).next = free;
    }
}
