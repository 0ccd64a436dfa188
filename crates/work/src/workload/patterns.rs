//! Patterns of synthetic traffic: where the messages of a node go (Dally & Towles 2004, section 3.2, generalised from routers to nodes
//! and to any count). A file and a line of the list each.
//!
//! A pattern is made into [`Destinations`] before a run: a fixed partner per node, or a way to draw one, which is all that the hot path
//! knows of it. Nodes are the logical ones of a job, from 0.

mod bit_complement;
mod bit_reverse;
mod diagonal_neighbour;
mod group_shift;
mod hot_spot;
mod incast;
mod matrix;
mod mixed;
mod neighbour;
mod partners;
mod random_permutation;
mod router_transpose;
mod shift;
mod shuffle;
mod tornado;
mod transpose;
mod uniform;

pub use matrix::{MatrixOf, Rates};
pub use mixed::PatternPart;

use super::{Destinations, NOBODY};
use serde::{Deserialize, Serialize};
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::Values;
use study::{Bytes, Default, Entry, Parameter, SECOND, TIB, Type, When, key, kinds, size, time};
use topo::Topology;

kinds! {
    /// Destination of a message from logical node `i` of `n`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    pub enum Pattern: PatternKind(PatternKeys<'_, '_>) {
        /// Any other node, uniformly.
        Uniform;
        /// Node `(i + by) mod n`.
        Shift {
            /// The distance; `None` is `n / 2`.
            by: Option<u32>
        };
        /// Node `n - 1 - i` (the bit complement when `n` is a power of two).
        BitComplement;
        /// The index bits in reverse order; `n` is a power of two.
        BitReverse;
        /// The index bits moved up by one, the first to the end; `n` is a power of two.
        Shuffle;
        /// Swap the two halves of the index bits (`n` = 4^k), or of a square index `i = r * sqrt(n) + c`.
        Transpose;
        /// The coordinates of the router in a lattice of 2 m dimensions, the first m exchanged with the last.
        RouterTranspose;
        /// Nearly half-way round in every dimension of a lattice (`k/2 - 1` routers on, at least 1), or round the node ring elsewhere.
        Tornado;
        /// The next router in every dimension of a lattice in turn, or node `i + 1` elsewhere.
        Neighbour;
        /// The router one on in every dimension of a lattice at once, or node `i + 1` elsewhere.
        DiagonalNeighbour;
        /// A random node of the group `by` groups on.
        GroupShift {
            /// How many groups on.
            by: u32
        };
        /// One seeded random permutation without fixed points.
        RandomPermutation;
        /// A fraction of the messages goes to a few hot nodes, the rest is uniform.
        HotSpot {
            /// Number of hot nodes: logical nodes 0..targets.
            targets: u32,
            /// Fraction of the messages that go to them.
            fraction: f64
        };
        /// `sources` nodes send to logical node 0, the others are silent; `None` is all others.
        Incast {
            /// Number of senders: logical nodes 1..=sources.
            sources: Option<u32>
        };
        /// The partners that are listed for each node, one after the other.
        Partners {
            /// Source and destination.
            list: Vec<(u32, u32)>
        };
        /// Drawn by weights.
        Matrix {
            /// What is weighed.
            of: MatrixOf,
            /// Nodes of each block, of blocks.
            blocks: Vec<u32>,
            /// How much each node sends.
            rates: Rates,
            /// Source, destination, weight above 0; each pair once.
            weights: Vec<(u32, u32, f64)>
        };
        /// Several patterns, each for a share of the messages.
        Mixed {
            /// The patterns.
            parts: Vec<PatternPart>
        };
    }
}

/// What is asked of a pattern.
pub trait PatternKind {
    /// Reads its own keys; what a network cannot have is told with its place. `None` after errors that leave no value.
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self>
    where
        Self: Sized;

    /// Where the messages of a job go. Refuses what [`PatternKind::read`] refuses, for callers that have no file.
    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String>;

    /// Mean size of the messages of a node, where `bytes` is that of messages without a size of their own.
    fn mean_size(&self, bytes: u64) -> f64 {
        bytes as f64
    }
}

/// What a study says of a pattern, for a job of so many nodes, if known.
pub struct PatternKeys<'a, 'b> {
    /// Its keys.
    pub values: &'a Values,
    /// Nodes of the job, if known.
    pub n_nodes: Option<u64>,
    /// The folder that files are named from.
    pub base: &'a Path,
    /// Where mistakes go.
    pub findings: &'b mut Findings,
}

impl PatternKeys<'_, '_> {
    /// A number, which is a mistake if it is larger than `most` of the number of nodes.
    fn at_most(&mut self, name: &str, most: impl Fn(u64) -> u64, words: &str) -> Option<u32> {
        let values = self.values;
        if let (Some(value), Some(n)) = (values.integer(name), self.n_nodes)
            && value > most(n)
        {
            let reason = format!("{value} is too large for {n} nodes");
            let path = format!("{}.{name}", values.path);
            let hint = format!("{words} {}", most(n));
            self.findings.error(values.place(name), &path, reason, hint);
        }
        values.integer_u32(name)
    }

    /// Says that a number of nodes is no power of two.
    fn is_power_of_two(&mut self) {
        let Some(n) = self.n_nodes.filter(|n| !n.is_power_of_two() && *n > 0) else {
            return;
        };
        let path = format!("{}.kind", self.values.path);
        let reason = format!("needs a power of two nodes, there are {n}");
        let hint = format!("give nodes = {} to the job", 1u64 << n.ilog2());
        self.findings.error(self.values.place, &path, reason, hint);
    }
}

/// The nodes of a job that a pattern is for.
pub struct JobNodes<'a> {
    /// Physical nodes by logical node, at least 2.
    pub nodes: &'a [u32],
    /// The network that they are in.
    pub topology: &'a Topology,
    /// What the job draws from.
    pub seed: u64,
    /// Size of messages without a size of their own.
    pub message: Bytes,
    /// A node may be its own partner.
    pub to_itself: bool,
}

impl JobNodes<'_> {
    /// Number of nodes.
    fn n(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// One partner for every node: logical node `i` sends to `partner(i)`, to itself only where nodes do that.
    fn fixed(&self, partner: impl Fn(u32) -> u32) -> Destinations {
        let entry = |i| match partner(i) {
            to if to == NOBODY || (to == i && !self.to_itself) => NOBODY,
            to => self.nodes[to as usize],
        };
        Destinations::Table {
            fan: 1,
            table: (0..self.n()).map(entry).collect(),
        }
    }

    /// Bits of an index of a power of two nodes.
    fn index_bits(&self) -> Result<u32, String> {
        match self.n().is_power_of_two() {
            true => Ok(self.n().ilog2()),
            false => Err(format!("needs a power of two nodes, {} is none", self.n())),
        }
    }

    /// The group of each logical node.
    fn groups(&self) -> Result<Vec<u32>, String> {
        match self.topology.n_groups() {
            Some(_) => Ok(self.nodes.iter().map(|&node| self.topology.group_of(node)).collect()),
            None => Err("the network has no groups".to_owned()),
        }
    }

    /// For a job that covers a lattice in index order: nodes of a router send to those of `fan` others, which `targets` makes of the
    /// router in `fan` copies, each to the one of its own place. A node whose router stays is silent, unless nodes send to themselves.
    fn on_whole_lattice(&self, fan: usize, targets: impl Fn(u32, &mut [u32]) -> Option<()>) -> Option<Destinations> {
        let (nodes, topology) = (self.nodes, self.topology);
        let in_order = nodes.iter().enumerate().all(|(i, &node)| i as u32 == node);
        if nodes.len() as u32 != topology.n_nodes() || !in_order {
            return None;
        }
        let mut table = Vec::with_capacity(nodes.len() * fan);
        for node in 0..topology.n_nodes() {
            let router = topology.router_of(node);
            let local = node - topology.nodes_of(router).start;
            let mut to = vec![router; fan];
            targets(router, &mut to)?;
            table.extend(to.into_iter().map(|to| match to == router && !self.to_itself {
                true => NOBODY,
                false => topology.nodes_of(to).start + local,
            }));
        }
        Some(Destinations::Table { fan: fan as u32, table })
    }

    /// The dimensions of the lattice that are longer than one router, each with its length; `None` without any.
    fn dimensions(&self) -> Option<Vec<(usize, u32)>> {
        let shape = self.topology.lattice_shape()?;
        let long: Vec<_> = shape
            .into_iter()
            .enumerate()
            .filter(|&(_, length)| length > 1)
            .collect();
        (!long.is_empty()).then_some(long)
    }

    /// The router that is `by` of its length on in every dimension of a lattice at once.
    fn along_all(&self, by: impl Fn(u32) -> u32) -> Option<Destinations> {
        let dimensions = self.dimensions()?;
        self.on_whole_lattice(1, |_, targets| {
            for &(d, length) in &dimensions {
                targets[0] = self.topology.shifted(targets[0], d, i64::from(by(length)))?;
            }
            Some(())
        })
    }

    /// The next router in every dimension of a lattice in turn.
    fn along_each(&self) -> Option<Destinations> {
        let dimensions = self.dimensions()?;
        self.on_whole_lattice(dimensions.len(), |_, targets| {
            for (target, &(d, _)) in targets.iter_mut().zip(&dimensions) {
                *target = self.topology.shifted(*target, d, 1)?;
            }
            Some(())
        })
    }
}

impl Pattern {
    /// Prepares the pattern for the given nodes.
    pub fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        if job.n() < 2 {
            return Err("a pattern needs at least 2 nodes".into());
        }
        self.kind().destinations(job)
    }

    /// The patterns that it is made of, if of several.
    pub fn parts(&self) -> &[PatternPart] {
        match self {
            Pattern::Mixed { parts } => parts,
            _ => &[],
        }
    }

    /// Mean size of the messages of a node, where `bytes` is that of messages without a size of their own.
    pub fn mean_size(&self, bytes: u64) -> f64 {
        self.kind().mean_size(bytes)
    }
}

/// What all patterns share.
const TRAFFIC: &[Parameter] = &[
    key(
        "load",
        Type::Number { above: 0.0, max: 2.0 },
        Default::From("0.5, or with `count` all messages handed over at the start"),
        "Offered load as a fraction of the injection bandwidth.",
    ),
    key("message", size(TIB), Default::Text("2 KiB"), "Size of every message."),
    key(
        "count",
        Type::Integer { min: 1, max: 1 << 40 },
        Default::From("without end, until `run.end`"),
        "Messages per node.",
    ),
    key(
        "self",
        Type::Flag,
        Default::Text("false"),
        "Nodes also send to themselves where the pattern says so: uniform ones draw any node, and fixed partners may be the node itself.",
    ),
    key(
        "process",
        Type::Of(&super::PROCESS),
        Default::Text("poisson"),
        "Gaps between the messages of a node; only with `load`.",
    ),
    key(
        "slot",
        time(SECOND),
        Default::From("the time of a message at the interface"),
        "Length of a slot, in which a node has one message or none.",
    )
    .when(&[When {
        key: "process",
        values: &["bernoulli"],
    }]),
    key(
        "burst",
        Type::Number { above: 0.0, max: 1e9 },
        Default::Text("16"),
        "Mean number of messages of a burst, at least 1.",
    )
    .when(ON_OFF),
    key(
        "peak",
        Type::Number { above: 0.0, max: 2.0 },
        Default::Text("1"),
        "Load within a burst, at least `load`.",
    )
    .when(ON_OFF),
    key(
        "window",
        Type::Integer { min: 1, max: 1 << 16 },
        Default::From("nobody waits for answers"),
        "Messages of a node under way at most: a closed loop in place of a load. Every message is answered, and the next one sets out when an \
         answer is back.",
    ),
    key(
        "reply",
        size(TIB),
        Default::From("64 B with `window`"),
        "Size of an answer.",
    ),
];

/// The keys of bursts.
const ON_OFF: &[When] = &[When {
    key: "process",
    values: &["on-off"],
}];

/// A table in a file or in the study.
const TABLE: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`table` has the rows"),
        "CSV or Parquet file (`.parquet`) with a row each and the columns named.",
    ),
    key(
        "table",
        Type::Lines,
        Default::From("`file` has the rows"),
        "The same text in place of a file.",
    ),
];

/// How many nodes there may be.
const NODES: Type = Type::Integer {
    min: 1,
    max: u32::MAX as u64,
};

/// A pattern of the literature.
const fn pattern(name: &'static str, line: &'static str) -> Entry {
    Entry::new(name, line).source("Dally and Towles 2004, section 3.2")
}
