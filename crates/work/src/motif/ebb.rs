//! Effective bisection bandwidth: random pairs of a random half and the other half (Netgauge, pattern ebb; Schneider, Hoefler,
//! Lumsdaine 2008, "Multistage switches are not crossbars").
//!
//! Another perfect matching in every iteration: a keyed permutation of the ranks ([`super::shuffle`]), its first half paired with its
//! second. A pair exchanges `bytes`: the first half sends and gets as many back, as a ping-pong (`both` false), or both send at once.
//! With an odd number of ranks one has nobody.

use super::keys::{RANKS, message, seed};
use super::shuffle::RankPermutation;
use super::{Keys, Misfit, MotifKind, Ops, at_least, sized};
use crate::mpi::op::Transfer;
use crate::mpi::{Communicator, Op, Program};
use des::mix;
use study::{Default, Entry, Parameter, Type, key};

/// Parameters of [`Ebb`].
#[derive(Clone, Debug, PartialEq)]
pub struct EbbParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Size of a message.
    pub bytes: u64,
    /// Both of a pair send at once.
    pub both: bool,
    /// What the matchings are drawn from.
    pub seed: u64,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Ebb {
    bytes: u64,
    both: bool,
    seed: u64,
    shuffle: RankPermutation,
    communicators: [Communicator; 1],
}

const EBB: &[Parameter] = &[
    message("1 MiB"),
    key(
        "both",
        Type::Flag,
        Default::Text("false"),
        "Both of a pair send at once, in place of there and back.",
    ),
    seed("What the pairs are drawn from."),
];

impl MotifKind for Ebb {
    const ENTRY: Entry = Entry::new(
        "ebb",
        "Random pairs across random bisections, others in every iteration.",
    )
    .keys(&[EBB, RANKS])
    .source("Netgauge, ebb; Schneider, Hoefler, Lumsdaine 2008");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Ebb::new(&EbbParameters {
            ranks: keys.ranks,
            bytes: keys.message(),
            both: keys.values.flag_or_default("both"),
            seed: keys.values.integer_or_default("seed"),
        })
    }
}

impl Ebb {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &EbbParameters) -> Result<Ebb, Misfit> {
        at_least(parameters.ranks, 2)?;
        Ok(Ebb {
            bytes: sized("message", parameters.bytes)?,
            both: parameters.both,
            seed: mix(parameters.seed),
            shuffle: RankPermutation::new(parameters.ranks),
            communicators: [Communicator::World(parameters.ranks)],
        })
    }

    /// The other rank of a pair, and whether this one is in the first half.
    fn partner(&self, rank: u32, iteration: u32) -> Option<(u32, bool)> {
        let key = mix(self.seed.wrapping_add(u64::from(iteration)));
        let (half, place) = (self.ranks() / 2, self.shuffle.place(key, rank));
        match place {
            _ if place < half => Some((self.shuffle.rank(key, place + half), true)),
            _ if place < 2 * half => Some((self.shuffle.rank(key, place - half), false)),
            _ => None,
        }
    }
}

impl Program for Ebb {
    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let (peer, first) = self.partner(rank, iteration)?;
        let mut ops = Ops::new(index);
        if self.both {
            let transfer = Transfer::new(peer, self.bytes);
            ops.put(Op::SendRecv {
                send: transfer,
                recv: transfer,
            });
        } else if first {
            ops.send(peer, self.bytes);
            ops.recv(peer, self.bytes);
        } else {
            ops.recv(peer, self.bytes);
            ops.send(peer, self.bytes);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        // A new one in every iteration.
        16.min(self.ranks() - 1)
    }
}
