//! One collective operation per iteration, of all ranks or within groups of them.

use super::keys::{COMPUTE, ONE_MESSAGE, RANKS};
use super::{Compute, Keys, Misfit, MotifKind, Ops, at_least, peers_of, sized_for};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::{Default, Entry, Named, Parameter, Type, When, key};

/// Parameters of [`CollectiveLoop`].
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveLoopParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Which.
    pub kind: CollectiveKind,
    /// Size, as in [`Collective`]; for an alltoallv that of every pair.
    pub bytes: u64,
    /// The root, where there is one: a rank of the group.
    pub root: u32,
    /// Groups that do it each by themselves; none: all ranks together.
    pub groups: Option<Communicator>,
    /// Computing before it.
    pub compute: Compute,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct CollectiveLoop {
    collective: Collective,
    time: u64,
    communicators: Vec<Communicator>,
}

const COLLECTIVE: &[Parameter] = &[
    key(
        "collective",
        Type::Choice(CollectiveKind::WORDS),
        Default::Text("barrier"),
        "Which.",
    ),
    key(
        "root",
        Type::Integer { min: 0, max: 1 << 28 },
        Default::Text("0"),
        "The root, where there is one.",
    )
    .when(&[When {
        key: "collective",
        values: &["bcast", "reduce", "gather", "scatter"],
    }]),
];

impl MotifKind for CollectiveLoop {
    const ENTRY: Entry = Entry::new("collective", "One collective operation.")
        .keys(&[COLLECTIVE, ONE_MESSAGE, COMPUTE, RANKS])
        .source("OSU micro-benchmarks");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        CollectiveLoop::new(&CollectiveLoopParameters {
            ranks: keys.ranks,
            kind: keys.values.choice_or_default("collective"),
            bytes: keys.message(),
            root: keys.integer_u32("root"),
            groups: None,
            compute: keys.compute()?,
        })
    }
}

impl CollectiveLoop {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &CollectiveLoopParameters) -> Result<CollectiveLoop, Misfit> {
        let CollectiveLoopParameters { ranks, root, .. } = *parameters;
        at_least(ranks, 1)?;
        let mut communicators = vec![Communicator::World(ranks)];
        communicators.extend(parameters.groups.clone());
        let size = communicators.last().map_or(ranks, |groups| groups.size(0));
        if root >= size {
            let reason = format!("there is no rank {root} in a job of {size}");
            return Err(Misfit::new("root", reason, format!("take one of 0..={}", size - 1)));
        }
        Ok(CollectiveLoop {
            collective: Collective {
                kind: parameters.kind,
                communicator: communicators.len() as u16 - 1,
                bytes: sized_for("message", parameters.bytes, size)?,
                root,
            },
            time: parameters.compute.time(1)?,
            communicators,
        })
    }
}

impl Program for CollectiveLoop {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, _rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.put(Op::Collective(self.collective));
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn pair_bytes(&self, _collective: &Collective, _from: u32, _to: u32) -> u64 {
        self.collective.bytes
    }

    fn peers(&self) -> u32 {
        let group = &self.communicators[usize::from(self.collective.communicator)];
        peers_of(self.collective.kind, group.size(0))
    }
}
