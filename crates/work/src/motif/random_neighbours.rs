//! Messages to random ranks, as on unstructured meshes (after chatterbug, unstr-mesh).
//!
//! A rank has to know who sends to it without asking anybody. So there are `degree.1` random rings through all ranks, each a keyed
//! permutation of them, and a rank sends to the next one on the first rings and receives from those before it. Unions of random Hamiltonian cycles are good random regular graphs (Friedman
//! 2008). With a range of degrees every rank draws how many rings it sends on. All receives come first, then all sends, then one wait.

use super::keys::{COMPUTE, ONE_MESSAGE, ORDER, RANKS, seed};
use super::shuffle::RankPermutation;
use super::{Compute, Keys, Misfit, MotifKind, Ops, Order, at_least, nth_bit, sized};
use crate::mpi::op::{ANY_SOURCE, Transfer};
use crate::mpi::{Communicator, Op, Program};
use des::mix;
use des::rng::below;
use study::{Default, Entry, Named, Parameter, Type, choice, key};

choice! {
    /// How a rank receives.
    pub enum Receives {
        Named = "named", "Every receive names its sender.";
        AnySource = "any-source", "Receives take messages of the iteration from anybody.";
    }
}

/// Parameters of [`RandomNeighbours`].
#[derive(Clone, Debug, PartialEq)]
pub struct RandomNeighboursParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks that a rank sends to: least and most, both included.
    pub degree: (u32, u32),
    /// Size of a message.
    pub bytes: u64,
    /// A message goes back for every message: neighbours are mutual.
    pub mutual: bool,
    /// New neighbours in every iteration.
    pub redraw: bool,
    /// How a rank receives.
    pub receives: Receives,
    /// What the neighbours are drawn from.
    pub seed: u64,
    /// In which order a rank turns to its neighbours.
    pub order: Order,
    /// Computing before the exchange.
    pub compute: Compute,
}

/// Rings that a job may have.
const MOST: u32 = 64;
/// Iterations that tags keep apart; ranks are never so far from one another.
const TAGS: u32 = 1 << 15;

/// The motif.
#[derive(Clone, Debug)]
pub struct RandomNeighbours {
    parameters: RandomNeighboursParameters,
    time: u64,
    shuffle: RankPermutation,
    communicators: [Communicator; 1],
}

const NEIGHBOURS: &[Parameter] = &[
    key(
        "degree",
        Type::Integers {
            min: 1,
            max: 1 << 16,
            single: true,
        },
        Default::Text("[6]"),
        "Ranks that a rank sends to: one number, or the least and the most.",
    ),
    key(
        "mutual",
        Type::Flag,
        Default::Text("true"),
        "A message goes back for every message.",
    ),
    key(
        "redraw",
        Type::Flag,
        Default::Text("false"),
        "New neighbours in every iteration.",
    ),
    key(
        "receives",
        Type::Choice(Receives::WORDS),
        Default::Text("named"),
        "How a rank receives.",
    ),
    seed("What the neighbours are drawn from."),
];

impl MotifKind for RandomNeighbours {
    const ENTRY: Entry = Entry::new(
        "random-neighbours",
        "Messages to random ranks: the next ones on random rings through all ranks.",
    )
    .keys(&[NEIGHBOURS, ONE_MESSAGE, ORDER, COMPUTE, RANKS])
    .source("chatterbug, unstr-mesh; Friedman 2008 (unions of random Hamiltonian cycles)");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        let compute = keys.compute()?;
        let degree = match keys.values.integers_or_default("degree")[..] {
            [one] => [one; 2],
            _ => keys.sides("degree")?,
        };
        RandomNeighbours::new(&RandomNeighboursParameters {
            ranks: keys.ranks,
            degree: degree.map(|rings| rings as u32).into(),
            bytes: keys.message(),
            mutual: keys.values.flag_or_default("mutual"),
            redraw: keys.values.flag_or_default("redraw"),
            receives: keys.values.choice_or_default("receives"),
            seed: keys.values.integer_or_default("seed"),
            order: keys.order,
            compute,
        })
    }
}

impl RandomNeighbours {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &RandomNeighboursParameters) -> Result<RandomNeighbours, Misfit> {
        let (least, most) = parameters.degree;
        at_least(parameters.ranks, 2)?;
        sized("message", parameters.bytes)?;
        if least > most || most > MOST {
            let reason = format!("a degree from {least} to {most} cannot be");
            return Err(Misfit::new("degree", reason, format!("least and most, at most {MOST}")));
        }
        Ok(RandomNeighbours {
            time: parameters.compute.time(1)?,
            shuffle: RankPermutation::new(parameters.ranks),
            communicators: [Communicator::World(parameters.ranks)],
            parameters: parameters.clone(),
        })
    }

    /// The key of a ring in an iteration.
    fn key(&self, iteration: u32, ring: u32) -> u64 {
        let drawn = if self.parameters.redraw {
            1 + u64::from(iteration)
        } else {
            0
        };
        mix(mix(mix(self.parameters.seed).wrapping_add(drawn)).wrapping_add(u64::from(ring)))
    }

    /// The rank after one on a ring, or before it.
    fn next(&self, key: u64, rank: u32, before: bool) -> u32 {
        let n = u64::from(self.parameters.ranks);
        let place = u64::from(self.shuffle.place(key, rank));
        let other = (place + if before { n - 1 } else { 1 }) % n;
        self.shuffle.rank(key, other as u32)
    }

    /// How many rings a rank sends on.
    fn degree(&self, iteration: u32, rank: u32) -> u32 {
        let (least, most) = self.parameters.degree;
        let word = mix(self.key(iteration, MOST).wrapping_add(u64::from(rank)));
        least + below(word, u64::from(most - least) + 1) as u32
    }

    /// (rings on which a rank sends to the next one, rings on which it hears from the one before), as bits.
    fn rings(&self, iteration: u32, rank: u32) -> (u64, u64) {
        let (least, most) = self.parameters.degree;
        let first = |count: u32| ((1_u128 << count) - 1) as u64;
        let mut hears = first(least);
        for ring in least..most {
            let before = self.next(self.key(iteration, ring), rank, true);
            hears |= u64::from(ring < self.degree(iteration, before)) << ring;
        }
        (first(self.degree(iteration, rank)), hears)
    }
}

impl Program for RandomNeighbours {
    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let RandomNeighboursParameters {
            bytes,
            mutual,
            receives,
            order,
            ..
        } = self.parameters;
        let (sends, hears) = self.rings(iteration, rank);
        let transfer = |peer| Transfer {
            tag: (iteration % TAGS) as u16,
            ..Transfer::new(peer, bytes)
        };
        let (n_sends, n_hears) = (sends.count_ones(), hears.count_ones());
        // Number `i` of `own` ranks on rings of one set and, if all are mutual, of `others` on rings of the other.
        let neighbour = |i: u32, own: (u64, u32), others: (u64, u32), before: bool| {
            let count = own.1 + if mutual { others.1 } else { 0 };
            let i = order.nth(rank.into(), count, i);
            let (rings, i, before) = match i < own.1 {
                true => (own.0, i, before),
                false => (others.0, i - own.1, !before),
            };
            let ring = nth_bit(rings, i);
            self.next(self.key(iteration, ring), rank, before)
        };
        let (sends, hears) = ((sends, n_sends), (hears, n_hears));
        let back = |count| if mutual { count } else { 0 };
        let mut ops = Ops::new(index);
        ops.compute(self.time);
        ops.rounds(n_hears + back(n_sends), 1, |ops, i| {
            ops.put(Op::Irecv(transfer(match receives {
                Receives::Named => neighbour(i, hears, sends, true),
                Receives::AnySource => ANY_SOURCE,
            })))
        });
        ops.rounds(n_sends + back(n_hears), 1, |ops, i| {
            ops.put(Op::Isend(transfer(neighbour(i, sends, hears, false))))
        });
        if n_sends + n_hears > 0 {
            ops.put(Op::WaitAll);
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        2 * self.parameters.degree.1
    }
}
