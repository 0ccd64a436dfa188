//! Breadth-first search of a Kronecker graph, level by level (Graph500; Buluc and Madduri 2011, one-dimensional distribution).
//!
//! A round per level: every rank looks at its edges of the frontier, sends 16 bytes for each of them to the owner of its far end in an
//! all-to-all, and all agree in an allreduce of 8 bytes whether there is another level. The graph has 2^scale vertices and
//! `edge_factor` times as many edges, dealt evenly; how many of them a level looks at is [`LEVELS`].

use super::keys::RANKS;
use super::{Keys, Misfit, MotifKind, Ops, at_least, product};
use crate::mpi::{Collective, CollectiveKind, Communicator, Op, Program};
use study::{Default, Entry, Parameter, Type, key};

/// Share of the edges that each level of a top-down search from a random vertex looks at: the shape of a Kronecker graph of edge factor
/// 16, whose two middle levels have nearly all of them (after figure 2 of Beamer, Asanovic, Patterson 2012; round numbers of ours).
pub const LEVELS: [f64; 7] = [0.00001, 0.001, 0.25, 0.70, 0.048, 0.0009, 0.00009];

/// Parameters of [`Bfs`].
#[derive(Clone, Debug, PartialEq)]
pub struct BfsParameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Binary logarithm of the number of vertices.
    pub scale: u32,
    /// Edges per vertex; each is looked at from both ends.
    pub edge_factor: u64,
    /// Edges that a rank looks at per second.
    pub rate: f64,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct Bfs {
    /// Edges of a rank, from both ends.
    edges: u64,
    rate: f64,
    communicators: [Communicator; 1],
}

const BFS: &[Parameter] = &[
    key(
        "scale",
        Type::Integer { min: 1, max: 60 },
        Default::Text("20"),
        "Binary logarithm of the number of vertices.",
    ),
    key(
        "edge_factor",
        Type::Integer { min: 1, max: 1 << 16 },
        Default::Text("16"),
        "Edges per vertex.",
    ),
    // Ours, for a node of 2010.
    key(
        "edge_rate",
        Type::Number { above: 0.0, max: 1e18 },
        Default::Text("1e8"),
        "Edges that a rank looks at per second.",
    ),
];

impl MotifKind for Bfs {
    const ENTRY: Entry = Entry::new(
        "graph500-bfs",
        "Breadth-first search of a Kronecker graph, an all-to-all and an allreduce per level.",
    )
    .keys(&[BFS, RANKS])
    .source("Graph500; Beamer, Asanovic, Patterson 2012");

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        Bfs::new(&BfsParameters {
            ranks: keys.ranks,
            scale: keys.integer_u32("scale"),
            edge_factor: keys.values.integer_or_default("edge_factor"),
            rate: keys.values.number_or_default("edge_rate"),
        })
    }
}

impl Bfs {
    /// Fits the motif to its ranks.
    pub fn new(parameters: &BfsParameters) -> Result<Bfs, Misfit> {
        let BfsParameters { ranks, scale, rate, .. } = *parameters;
        at_least(ranks, 1)?;
        if scale > 60 {
            let reason = format!("2^{scale} vertices are too many");
            return Err(Misfit::new("scale", reason, "take at most 60"));
        }
        let edges = ((2 * u128::from(parameters.edge_factor)) << scale).div_ceil(ranks.into());
        let edges = u64::try_from(edges).unwrap_or(u64::MAX);
        product("scale", &[edges, 16])?;
        if !(rate > 0.0 && edges as f64 / rate < 1e6) {
            let reason = format!("{edges} edges of a rank at {rate} per second take no sensible time");
            return Err(Misfit::new(
                "edge_rate",
                reason,
                "a rate is positive, a search shorter than a million seconds",
            ));
        }
        Ok(Bfs {
            edges,
            rate,
            communicators: [Communicator::World(ranks)],
        })
    }
}

impl Program for Bfs {
    fn op(&self, _rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let edges = self.edges as f64 * LEVELS[iteration as usize % LEVELS.len()];
        let per_pair = (edges * 16.0 / f64::from(self.ranks())).round() as u64;
        let collective = |kind, bytes| {
            Op::Collective(Collective {
                kind,
                communicator: 0,
                bytes,
                root: 0,
            })
        };
        let mut ops = Ops::new(index);
        ops.compute((edges / self.rate * 1e12) as u64);
        ops.put(collective(CollectiveKind::Alltoall, per_pair));
        ops.put(collective(CollectiveKind::Allreduce, 8));
        ops.found()
    }

    fn rounds(&self) -> u32 {
        LEVELS.len() as u32
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        self.ranks() - 1
    }
}
