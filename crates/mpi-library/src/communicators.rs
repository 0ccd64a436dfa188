//! Communicators: a group of processes, and a context in which only its own messages match.

use crate::{attributes::AttributeTable, groups::ProcessGroup, topologies::CommTopology};
use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

/// Hints, by key.
pub type Hints = BTreeMap<String, String>;

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    /// Its index among this process' communicators.
    pub index: Cell<u32>,
    /// The number by which the network tells its messages from those of others: no member is in another communicator with it.
    pub context: Cell<u32>,
    /// Whether the network knows its members.
    pub told: Cell<bool>,
    /// Its members.
    pub group: Rc<ProcessGroup>,
    /// This process' rank in it.
    pub rank: u32,
    /// Its name.
    pub name: RefCell<String>,
    /// The number of its error handler.
    pub handler: Cell<u32>,
    /// The same members for what collective operations send each other, once there is something: no receive of the program gets that.
    inner: OnceCell<Rc<Self>>,
    /// The buffer of buffered sends on it: address and bytes.
    pub buffer: Cell<Option<(usize, i64)>>,
    /// Its attributes.
    pub attributes: RefCell<AttributeTable>,
    /// Its topology.
    pub topology: Option<CommTopology>,
    /// Its hints.
    pub hints: RefCell<Hints>,
    /// How many collective operations have been started on it: all members count the same.
    pub collectives: Cell<u32>,
}

impl Comm {
    /// A communicator with nothing on it but an error handler.
    pub fn new(context: u32, group: Rc<ProcessGroup>, rank: u32, handler: u32) -> Self {
        Self {
            index: Cell::new(u32::MAX),
            context: Cell::new(context),
            inner: OnceCell::new(),
            told: Cell::new(context == 0),
            group,
            rank,
            name: RefCell::default(),
            handler: Cell::new(handler),
            buffer: Cell::new(None),
            attributes: RefCell::default(),
            topology: None,
            hints: RefCell::default(),
            collectives: Cell::new(0),
        }
    }

    /// What no other communicator of the job has: its number and its first member.
    pub fn identity(&self) -> u64 {
        u64::from(self.group.members[0]) << 32 | u64::from(self.context.get())
    }

    /// How many members.
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// The rank in the job of a rank.
    pub fn member(&self, rank: u32) -> u32 {
        self.group.member(rank)
    }

    /// The number of the next collective operation.
    pub fn next_collective(&self) -> u32 {
        self.collectives.replace(self.collectives.get().wrapping_add(1))
    }

    /// The same members with the number that goes with this one's, for messages of the library.
    pub fn inner(&self) -> &Rc<Self> {
        self.inner.get_or_init(|| {
            let inner = Self::new(
                self.context.get() + 1,
                self.group.clone(),
                self.rank,
                self.handler.get(),
            );
            inner.index.set(self.index.get());
            Rc::new(inner)
        })
    }

    /// That, if there is one.
    pub fn inner_if_there(&self) -> Option<&Rc<Self>> {
        self.inner.get()
    }
}
