//! Many ranks send to one (ember, mpi/incast).
//!
//! The target posts all of its receives and waits for them; a source sends its messages one after another.

use super::keys::{ONE_MESSAGE, RANKS};
use super::{Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`Incast`].
#[derive(Clone, Debug, PartialEq)]
pub struct IncastParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// The rank that all send to.
    pub target: u32,
    /// Number of senders, or all other ranks: the ranks that follow on the target, in a circle.
    pub sources: Option<u32>,
    /// Messages of each sender in an iteration.
    pub count: u32,
    /// Size of a message.
    pub bytes: u64,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Incast {
    target: u32,
    sources: u32,
    count: u32,
    bytes: u64,
    communicators: [Communicator; 1],
}

const INCAST: &[Parameter] = &[
    key(
        "target",
        Type::Integer { min: 0, max: 1 << 28 },
        Default::Text("0"),
        "The rank that all send to.",
    ),
    key(
        "sources",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("all other ranks"),
        "Number of senders: the ranks that follow on the target.",
    ),
    key(
        "count",
        Type::Integer { min: 1, max: 1 << 31 },
        Default::Text("1"),
        "Messages of each sender.",
    ),
];

impl MotifKind for Incast {
    const ENTRY: Entry = Entry::new("many-to-one", "Many ranks send to one.")
        .keys(&[INCAST, ONE_MESSAGE, RANKS])
        .source("ember, mpi/incast");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Incast::new(&IncastParameters {
            ranks: keys.ranks,
            target: keys.integer_u32("target"),
            sources: keys.values.integer_u32("sources"),
            count: keys.integer_u32("count"),
            bytes: keys.message(),
        })
    }
}

impl Incast {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &IncastParameters) -> Result<Incast, Misfit> {
        let IncastParameters {
            ranks, target, count, ..
        } = *parameters;
        at_least(ranks, 2)?;
        if target >= ranks {
            let reason = format!("there is no rank {target} in a job of {ranks}");
            return Err(Misfit::new("target", reason, format!("take one of 0..={}", ranks - 1)));
        }
        let sources = parameters.sources.unwrap_or(ranks - 1);
        if sources >= ranks {
            let reason = format!("{sources} senders and a target are more than {ranks} ranks");
            return Err(Misfit::new("sources", reason, format!("take at most {}", ranks - 1)));
        }
        if u64::from(sources) * u64::from(count) > 1 << 30 {
            let reason = format!("{count} messages of {sources} senders are too many");
            return Err(Misfit::new("count", reason, "take more iterations instead"));
        }
        Ok(Incast {
            target,
            sources,
            count,
            bytes: sized("message", parameters.bytes)?,
            communicators: [Communicator::World(ranks)],
        })
    }
}

impl Program for Incast {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let n = self.ranks();
        let mut ops = Ops::new(index);
        if rank == self.target {
            ops.rounds(self.sources * self.count, 1, |ops, i| {
                ops.irecv((rank + 1 + i % self.sources) % n, self.bytes);
            });
            ops.put(Op::WaitAll);
        } else if (rank + n - self.target) % n <= self.sources {
            ops.rounds(self.count, 1, |ops, _| ops.send(self.target, self.bytes));
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.sources
    }
}
