//! The communicators of a program, numbered as it makes them.

use crate::mpi::Communicator;

/// All communicators. The first has all ranks.
#[derive(Debug)]
pub(super) struct Families {
    all: Vec<Communicator>,
}

impl Families {
    /// That of all ranks.
    pub fn new(ranks: u32) -> Families {
        Families {
            all: vec![Communicator::World(ranks)],
        }
    }

    /// All of them.
    pub fn all(&self) -> &[Communicator] {
        &self.all
    }

    /// The number of what the library calls so.
    pub fn number(&self, context: u32) -> Option<u32> {
        (context == 0).then_some(0)
    }

    /// What the library calls a communicator.
    pub fn context(&self, number: u32) -> u32 {
        number
    }
}
