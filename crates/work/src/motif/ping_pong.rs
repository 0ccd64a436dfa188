//! Ping-pong between rank 0 and another one, size by size (as osu_latency of the OSU micro-benchmarks does it).

use super::keys::{RANKS, SIZES};
use super::{Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`PingPong`].
#[derive(Clone, Debug, PartialEq)]
pub struct PingPongParameters {
    /// Number of ranks; those that are no partners have nothing to do.
    pub ranks: u32,
    /// The rank that answers.
    pub partner: u32,
    /// Sizes of messages, in order.
    pub sizes: Vec<u64>,
    /// Round trips of each size.
    pub repeat: u32,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct PingPong {
    partner: u32,
    sizes: Vec<u64>,
    repeat: u32,
    communicators: [Communicator; 1],
}

const PING_PONG: &[Parameter] = &[
    SIZES,
    key(
        "partner",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("the last rank"),
        "The rank that answers rank 0.",
    ),
    key(
        "repeat",
        Type::Integer { min: 1, max: 1 << 24 },
        Default::Text("1"),
        "Round trips of each size.",
    ),
];

impl MotifKind for PingPong {
    const ENTRY: Entry = Entry::new(
        "ping-pong",
        "Rank 0 and another one send to each other in turn, size by size.",
    )
    .keys(&[PING_PONG, RANKS])
    .source("OSU micro-benchmarks, osu_latency");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        PingPong::new(&PingPongParameters {
            ranks: keys.ranks,
            partner: keys
                .values
                .integer_u32("partner")
                .unwrap_or(keys.ranks.saturating_sub(1)),
            sizes: keys.values.integers_or_default("messages"),
            repeat: keys.integer_u32("repeat"),
        })
    }
}

impl PingPong {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &PingPongParameters) -> Result<PingPong, Misfit> {
        let PingPongParameters {
            ranks, partner, repeat, ..
        } = *parameters;
        at_least(ranks, 2)?;
        if partner == 0 || partner >= ranks {
            let reason = format!("rank {partner} cannot answer rank 0 in a job of {ranks}");
            return Err(Misfit::new("partner", reason, format!("take one of 1..={}", ranks - 1)));
        }
        if parameters.sizes.len() as u64 * u64::from(repeat) > 1 << 30 {
            let reason = format!("{} sizes {repeat} times are too many", parameters.sizes.len());
            return Err(Misfit::new("repeat", reason, "take more iterations instead"));
        }
        Ok(PingPong {
            partner,
            sizes: parameters
                .sizes
                .iter()
                .map(|&bytes| sized("messages", bytes))
                .collect::<Result<_, _>>()?,
            repeat,
            communicators: [Communicator::World(ranks)],
        })
    }
}

impl Program for PingPong {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        if rank == 0 || rank == self.partner {
            ops.rounds(self.sizes.len() as u32 * self.repeat, 2, |ops, round| {
                let bytes = self.sizes[(round / self.repeat) as usize];
                if rank == 0 {
                    ops.send(self.partner, bytes);
                    ops.recv(self.partner, bytes);
                } else {
                    ops.recv(0, bytes);
                    ops.send(0, bytes);
                }
            });
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        1
    }
}
