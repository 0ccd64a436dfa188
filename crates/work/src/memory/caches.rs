//! The caches of a node. They hear each other over its bus, so that what one access or message does to them is done at once.
//!
//! The shared cache has whatever a core's cache has, and knows which cores. A core that alone has a line writes without telling.

use super::protocol::Held;
use super::state::{Line, NO_LINE};
use super::{By, Controller, Effects};
use des::Journal;

impl<J: Journal, E: Effects<J>> Controller<'_, J, E> {
    /// The first place of a set of a core's cache.
    fn l1_set(&self, core: u32, line: u64) -> u32 {
        let cache = self.place * self.shape.cores + core;
        cache * self.shape.l1.lines() + self.shape.l1.set(line)
    }

    /// Where a core's cache has a line.
    fn in_l1(&self, core: u32, line: u64) -> Option<u32> {
        let first = self.l1_set(core, line);
        (first..first + self.shape.l1.ways).find(|&at| self.st.l1_lines.get(at).tag == line)
    }

    /// Where the shared cache has a line.
    pub(super) fn in_l2(&self, line: u64) -> Option<u32> {
        let first = self.place * self.shape.l2.lines() + self.shape.l2.set(line);
        (first..first + self.shape.l2.ways).find(|&at| self.st.l2_lines.get(at).tag == line)
    }

    pub(super) fn tick(&mut self) -> u32 {
        let node = self.st.nodes.edit(self.j, self.place);
        node.clock = node.clock.wrapping_add(1);
        node.clock
    }

    /// Performs an access on the core's own cache, if that is enough.
    pub fn look(&mut self, core: u32, access: u32) -> bool {
        let wanted = *self.st.accesses.get(access);
        let Some(at) = self.in_l1(core, wanted.line) else {
            return false;
        };
        let state = self.st.l1_lines.get(at).state;
        if wanted.store != 0 && state == Held::Shared as u16 {
            return false;
        }
        let version = self.use_l1(at, wanted.store != 0);
        self.fx.performed(self.st, self.j, access, version, By::L1);
        true
    }

    /// Reads or writes a place of a core's cache; returns the version before.
    fn use_l1(&mut self, at: u32, store: bool) -> u32 {
        let used = self.tick();
        let line = self.st.l1_lines.edit(self.j, at);
        line.used = used;
        let version = line.version;
        if store {
            line.version = version.wrapping_add(1);
            line.state = Held::Modified as u16;
        }
        version
    }

    /// Performs an access on a line that the shared cache has at `at`, as one that the node may read or, for a store, write.
    pub(super) fn hit(&mut self, core: u32, access: u32, at: u32, by: By) {
        let store = self.st.accesses.get(access).store != 0;
        let neighbour = self.gather(at, Some(core), store);
        let used = self.tick();
        let shared = self.st.l2_lines.edit(self.j, at);
        // A line that was given its place when it was asked for has been used then.
        if by != By::Message || !self.shape.places_when_asked() {
            shared.used = used;
        }
        let line = shared.tag;
        let place = match self.in_l1(core, line) {
            Some(place) => place,
            None => self.make_room(core, line),
        };
        let shared = self.st.l2_lines.edit(self.j, at);
        let alone = shared.holders & !(1 << core) == 0;
        shared.holders |= 1 << core;
        let own = shared.state != Held::Shared as u16;
        if store {
            shared.state = Held::Modified as u16;
        }
        let version = shared.version;
        let entry = self.st.l1_lines.edit(self.j, place);
        if entry.tag != line {
            *entry = Line {
                tag: line,
                used,
                version,
                ..Line::EMPTY
            };
            entry.state = if own && alone { Held::Exclusive } else { Held::Shared } as u16;
        }
        let version = self.use_l1(place, store);
        let by = if neighbour && by == By::L2 { By::Neighbour } else { by };
        self.fx.performed(self.st, self.j, access, version, by);
    }

    /// Takes what cores other than `but` have written of a line into the shared cache, which has it at `at`; for a writer they drop
    /// it, for a reader they keep it to read. `true` if one of them had it for itself.
    pub(super) fn gather(&mut self, at: u32, but: Option<u32>, drop: bool) -> bool {
        let shared = *self.st.l2_lines.get(at);
        let mut bits = shared.holders & !but.map_or(0, |core| 1 << core);
        let (mut holders, mut alone) = (shared.holders, false);
        while bits != 0 {
            let core = bits.trailing_zeros();
            bits &= bits - 1;
            let Some(place) = self.in_l1(core, shared.tag) else {
                continue;
            };
            let own = self.st.l1_lines.edit(self.j, place);
            let (state, version) = (own.state, own.version);
            alone |= state != Held::Shared as u16;
            if drop {
                *own = Line::EMPTY;
                holders &= !(1 << core);
            } else {
                own.state = Held::Shared as u16;
            }
            if state == Held::Modified as u16 {
                let line = self.st.l2_lines.edit(self.j, at);
                (line.version, line.state) = (version, Held::Modified as u16);
            }
        }
        if holders != shared.holders {
            self.st.l2_lines.edit(self.j, at).holders = holders;
        }
        alone
    }

    /// A place for a line in a core's cache: what was there goes, what was written of it into the shared cache.
    fn make_room(&mut self, core: u32, line: u64) -> u32 {
        let first = self.l1_set(core, line);
        let clock = self.st.nodes.get(self.place).clock;
        let age = |at: &u32| {
            let line = self.st.l1_lines.get(*at);
            (line.tag == NO_LINE, clock.wrapping_sub(line.used), u32::MAX - at)
        };
        let Some(at) = (first..first + self.shape.l1.ways).max_by_key(age) else {
            return first;
        };
        let old = *self.st.l1_lines.get(at);
        if old.tag != NO_LINE
            && let Some(shared) = self.in_l2(old.tag)
        {
            let shared = self.st.l2_lines.edit(self.j, shared);
            shared.holders &= !(1 << core);
            if old.state == Held::Modified as u16 {
                (shared.version, shared.state) = (old.version, old.state);
            }
        }
        at
    }

    /// The place that a line may have in the shared cache, the one used longest ago; `None` if all of its set have to stay, or this one
    /// where places are given when lines are asked for.
    pub(super) fn victim(&self, line: u64) -> Option<u32> {
        let when_asked = self.shape.places_when_asked();
        let first = self.place * self.shape.l2.lines() + self.shape.l2.set(line);
        let clock = self.st.nodes.get(self.place).clock;
        let age = |at: &u32| {
            let line = self.st.l2_lines.get(*at);
            (line.tag == NO_LINE, clock.wrapping_sub(line.used), u32::MAX - at)
        };
        (first..first + self.shape.l2.ways)
            .filter(|&at| when_asked || self.st.l2_lines.get(at).pinned == 0)
            .max_by_key(age)
            .filter(|&at| self.st.l2_lines.get(at).pinned == 0)
    }
}
