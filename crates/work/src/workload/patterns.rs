//! Patterns of synthetic traffic: where the messages of a node go (Dally & Towles 2004, section 3.2, generalised from routers to nodes
//! and to any count). A file and a line of the list each.
//!
//! A pattern is made into [`Destinations`] before a run: a fixed partner per node, or a way to draw one, which is all that the hot path
//! knows of it. Nodes are the logical ones of a job, from 0.

mod bit_complement;
mod hot_spot;
mod incast;
mod neighbour;
mod random_permutation;
mod shift;
mod tornado;
mod transpose;
mod uniform;

use super::{Destinations, NOBODY};
use serde::{Deserialize, Serialize};
use study::diagnostic::Findings;
use study::reader::Values;
use study::{Default, Entry, Parameter, TIB, Type, key, kinds, size};
use topo::Topology;

kinds! {
    /// Destination of a message from logical node `i` of `n`.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
        /// Swap the two halves of the index bits (`n` = 4^k), or of a square index `i = r * sqrt(n) + c`.
        Transpose;
        /// Nearly half-way round in every dimension of a lattice (`k/2 - 1` routers on, at least 1), or round the node ring elsewhere.
        Tornado;
        /// The next router in every dimension of a lattice in turn, or node `i + 1` elsewhere.
        Neighbour;
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
}

/// What a study says of a pattern, for a job of so many nodes, if known.
pub struct PatternKeys<'a, 'b> {
    /// Its keys.
    pub values: &'a Values,
    /// Nodes of the job, if known.
    pub n_nodes: Option<u64>,
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
}

/// The nodes of a job that a pattern is for.
pub struct JobNodes<'a> {
    /// Physical nodes by logical node, at least 2.
    pub nodes: &'a [u32],
    /// The network that they are in.
    pub topology: &'a Topology,
    /// What the job draws from.
    pub seed: u64,
}

impl JobNodes<'_> {
    /// Number of nodes.
    fn n(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// One partner for every node: logical node `i` sends to `partner(i)`, nobody to itself.
    fn fixed(&self, partner: impl Fn(u32) -> u32) -> Destinations {
        let entry = |i| match partner(i) {
            to if to == i || to == NOBODY => NOBODY,
            to => self.nodes[to as usize],
        };
        Destinations::Table {
            fan: 1,
            table: (0..self.n()).map(entry).collect(),
        }
    }

    /// Lattice patterns for a job that covers the whole machine in index order: tornado moves in all dimensions at once, neighbour
    /// in one dimension per message.
    fn lattice(&self, tornado: bool) -> Option<Destinations> {
        let (nodes, topology) = (self.nodes, self.topology);
        let shape = topology.lattice_shape()?;
        let in_order = nodes.iter().enumerate().all(|(i, &node)| i as u32 == node);
        if nodes.len() as u32 != topology.n_nodes() || !in_order {
            return None;
        }
        let dims: Vec<usize> = (0..shape.len()).filter(|&d| shape[d] > 1).collect();
        if dims.is_empty() {
            return None;
        }
        let wiring = topology.wiring();
        let fan = if tornado { 1 } else { dims.len() };
        let mut table = Vec::with_capacity(nodes.len() * fan);
        for node in 0..topology.n_nodes() {
            let router = wiring.node_router[node as usize];
            let local = node - wiring.node_offset[router as usize];
            let mut targets = vec![router; fan];
            for (k, &d) in dims.iter().enumerate() {
                let by = if tornado { (shape[d].div_ceil(2) - 1).max(1) } else { 1 };
                let target = &mut targets[if tornado { 0 } else { k }];
                *target = topology.shifted(*target, d, i64::from(by))?;
            }
            table.extend(targets.into_iter().map(|to| match to == router {
                true => NOBODY,
                false => wiring.node_offset[to as usize] + local,
            }));
        }
        Some(Destinations::Table { fan: fan as u32, table })
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
        "process",
        Type::Of(&super::PROCESS),
        Default::Text("poisson"),
        "Gaps between the messages of a node; only with `load`.",
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
