//! Nodes that play the protocol, and a referee who knows what every line is worth.

use crate::memory::message::CoherenceMessage;
use crate::memory::protocol::{COPIES, CopyEvent, Held, Home, HomeEvent};
use crate::memory::shape::Shape;
use crate::memory::state::MemoryColumns;
use crate::memory::state::{Access, Line, MemoryNode, NO_LINE};
use crate::memory::{By, Cargo, Controller, Effects};
use des::NoJournal;
use des::lists::NONE;
use std::collections::BTreeSet;

/// What the referee sees.
#[derive(Debug, Default)]
pub struct Referee {
    /// Messages under way, oldest first.
    pub wire: Vec<CoherenceMessage>,
    memory: Vec<u32>,
    /// Writes to each line so far.
    latest: Vec<u32>,
    /// By access: its line, whether it is a store, and writes to the line when it was issued; `None` if the place is free.
    open: Vec<Option<(u64, bool, u32)>>,
    /// By access: the version that it has seen last.
    pub seen: Vec<u32>,
    /// Accesses performed, by whom.
    pub by: [u64; 4],
    /// Cells of the tables used.
    pub copies: BTreeSet<(u8, u8)>,
    pub homes: BTreeSet<(u8, u8)>,
}

impl Effects<NoJournal> for Referee {
    fn send(&mut self, _: &mut MemoryColumns, _: &mut NoJournal, message: CoherenceMessage, _: Cargo) {
        self.wire.push(message);
    }

    fn performed(&mut self, _: &mut MemoryColumns, _: &mut NoJournal, access: u32, version: u32, by: By) {
        let (line, store, least) = self.open[access as usize].take().expect("an access under way");
        let latest = &mut self.latest[line as usize];
        if store {
            assert_eq!(
                version, *latest,
                "a store to line {line} does not see the store before it"
            );
            *latest += 1;
        } else {
            assert!(
                (least..=*latest).contains(&version),
                "a load of line {line} sees {version}, not one of {least} to {latest}"
            );
        }
        self.seen[access as usize] = version;
        self.by[by as usize] += 1;
    }

    fn load(&mut self, st: &MemoryColumns, entry: u32) -> u32 {
        self.memory[st.entries.get(entry).line as usize]
    }

    fn store(&mut self, st: &mut MemoryColumns, _: &mut NoJournal, entry: u32, version: u32) {
        self.memory[st.entries.get(entry).line as usize] = version;
    }

    fn used_copy(&mut self, state: Held, event: CopyEvent) {
        self.copies.insert((state as u8, event as u8));
    }

    fn used_home(&mut self, state: Home, event: HomeEvent) {
        self.homes.insert((state as u8, event as u8));
    }
}

/// All nodes of a machine.
pub struct Game {
    pub shape: Shape,
    pub st: MemoryColumns,
    pub referee: Referee,
    journal: NoJournal,
}

impl Game {
    pub fn new(shape: Shape) -> Game {
        let mut st = MemoryColumns::default();
        let cores = shape.nodes * shape.cores;
        st.nodes.fill(0, vec![MemoryNode::default(); shape.nodes as usize]);
        st.l1_lines
            .fill(0, vec![Line::EMPTY; (cores * shape.l1.lines()) as usize]);
        st.l2_lines
            .fill(0, vec![Line::EMPTY; (shape.nodes * shape.l2.lines()) as usize]);
        let places = (cores * shape.outstanding) as usize;
        st.accesses.fill(0, vec![Access::NONE; places]);
        st.entry_heads
            .fill(0, vec![NONE; (shape.nodes << shape.bucket_bits) as usize]);
        let lines = shape.all_lines() as usize;
        let referee = Referee {
            memory: vec![0; lines],
            latest: vec![0; lines],
            open: vec![None; places],
            seen: vec![0; places],
            ..Referee::default()
        };
        Game {
            shape,
            st,
            referee,
            journal: NoJournal,
        }
    }

    fn controller(&mut self, node: u32) -> Controller<'_, NoJournal, Referee> {
        Controller {
            shape: &self.shape,
            st: &mut self.st,
            j: &mut self.journal,
            fx: &mut self.referee,
            node,
            place: node,
        }
    }

    /// A free place for an access of a core.
    pub fn place(&self, node: u32, core: u32) -> Option<u32> {
        let first = (node * self.shape.cores + core) * self.shape.outstanding;
        (first..first + self.shape.outstanding).find(|&at| self.referee.open[at as usize].is_none())
    }

    pub fn is_open(&self, access: u32) -> bool {
        self.referee.open[access as usize].is_some()
    }

    /// A core gives out an access.
    pub fn issue(&mut self, access: u32, line: u64, store: bool) {
        let core = access / self.shape.outstanding;
        let node = core / self.shape.cores;
        self.referee.open[access as usize] = Some((line, store, self.referee.latest[line as usize]));
        let record = Access {
            line,
            store: u8::from(store),
            ..Access::NONE
        };
        self.st.accesses.set(&mut NoJournal, access, record);
        let own = core % self.shape.cores;
        let mut controller = self.controller(node);
        if !controller.look(own, access) {
            controller.ask(access, By::L2);
        }
        self.check(line);
    }

    /// Message `k` of those under way comes.
    pub fn deliver(&mut self, k: usize) {
        let message = self.referee.wire.remove(k);
        let mut controller = self.controller(message.to);
        match message.say.is_for_home() {
            true => controller.serve(&message),
            false => controller.hear(&message),
        }
        self.check(message.line);
    }

    /// What a node may do with a line, and the version that its cores would see.
    fn right(&self, node: u32, line: u64) -> Option<(Held, u32)> {
        let l2 = self.shape.l2.lines();
        let places = |cache: u32, lines: u32| cache * lines..(cache + 1) * lines;
        let shared = places(node, l2)
            .map(|at| self.st.l2_lines.get(at))
            .find(|at| at.tag == line);
        let cores = (0..self.shape.cores).filter_map(|core| {
            let cache = node * self.shape.cores + core;
            let mut at = places(cache, self.shape.l1.lines()).map(|at| self.st.l1_lines.get(at));
            at.find(|at| at.tag == line).map(|at| (core, at))
        });
        let cores: Vec<_> = cores.collect();
        let Some(shared) = shared else {
            assert!(
                cores.is_empty(),
                "node {node}: a core has line {line}, the shared cache has not"
            );
            return None;
        };
        if shared.state == Held::Invalid as u16 {
            // A place that waits for its line.
            assert!(shared.pinned != 0 && cores.is_empty(), "node {node}: line {line}");
            return None;
        }
        let holders = cores.iter().fold(0, |bits, (core, _)| bits | 1 << core);
        assert_eq!(shared.holders, holders, "node {node}: who has line {line}");
        let mut right = (COPIES[usize::from(shared.state)], shared.version);
        let alone = cores.iter().find(|(_, at)| at.state != Held::Shared as u16);
        if let Some((_, own)) = alone {
            assert_eq!(cores.len(), 1, "node {node}: one core alone may have line {line}");
            assert_ne!(right.0, Held::Shared, "node {node}: a core may not write line {line}");
            if own.state == Held::Modified as u16 {
                right = (Held::Modified, own.version);
            }
        }
        assert!(
            cores.iter().all(|(_, at)| at.version == right.1),
            "node {node}: line {line}"
        );
        Some(right)
    }

    /// One writer or many readers, and all of them have what was written last.
    pub fn check(&self, line: u64) {
        let rights = (0..self.shape.nodes).filter_map(|node| self.right(node, line));
        let rights: Vec<_> = rights.collect();
        if rights.iter().any(|(state, _)| *state != Held::Shared) {
            assert_eq!(rights.len(), 1, "line {line}: {rights:?}");
        }
        let latest = self.referee.latest[line as usize];
        assert!(
            rights.iter().all(|(_, version)| *version == latest),
            "line {line} is at {latest}: {rights:?}"
        );
    }

    /// Nothing is under way, and homes know what is where.
    pub fn check_end(&self) {
        assert!(self.referee.wire.is_empty());
        assert!(
            self.referee.open.iter().all(Option::is_none),
            "an access stays for ever"
        );
        let mut entries = vec![None; self.shape.all_lines() as usize];
        for head in self.st.entry_heads.as_slice() {
            let mut at = *head;
            while at != NONE {
                let entry = *self.st.entries.get(at);
                assert_eq!(entry.first, NONE, "a request stays for ever");
                let mut readers = Vec::new();
                let mut word = entry.readers;
                while word != NONE {
                    let some = *self.st.readers.get(word);
                    readers.extend(
                        (0..64)
                            .filter(|bit| some.bits >> bit & 1 != 0)
                            .map(|bit| some.word * 64 + bit),
                    );
                    word = some.next;
                }
                entries[entry.line as usize] = Some((entry.state, entry.owner, readers));
                at = entry.next;
            }
        }
        for node in self.st.nodes.as_slice() {
            assert_eq!((node.misses, node.first, node.asked), (NONE, NONE, 0));
        }
        for line in 0..self.shape.all_lines() {
            let rights: Vec<_> = (0..self.shape.nodes)
                .filter_map(|node| self.right(node, line).map(|right| (node, right.0)))
                .collect();
            match &entries[line as usize] {
                None => assert_eq!(rights, []),
                Some((state, owner, _)) if *state == Home::Owned as u32 => {
                    assert!(matches!(rights[..], [(node, right)] if node == *owner && right != Held::Shared));
                    continue;
                }
                Some((state, _, readers)) => {
                    assert_eq!(*state, Home::Shared as u32);
                    assert!(
                        rights
                            .iter()
                            .all(|(node, right)| readers.contains(node) && *right == Held::Shared)
                    );
                    if self.shape.told {
                        // One that had to drop what it waited for may be listed still.
                        assert!(rights.len() <= readers.len());
                    }
                }
            }
            assert_eq!(self.referee.memory[line as usize], self.referee.latest[line as usize]);
        }
        let pinned = |line: &Line| line.tag != NO_LINE && line.pinned != 0;
        assert!(!self.st.l2_lines.as_slice().iter().any(pinned));
    }
}
