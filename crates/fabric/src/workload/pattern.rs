//! Destinations of synthetic traffic (Dally & Towles 2004, section 3.2, generalised from routers to nodes and to any count).

use super::NOBODY;
use crate::network::lattice_shape;
use crate::spec::Pattern;
use des::mix;
use des::rng::{SplitMix, below, unit};
use topo::Topology;

/// Where the messages of a job go.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// Any other node.
    Uniform,
    /// A fraction of the messages goes to the first nodes.
    HotSpot {
        /// How many nodes are hot.
        targets: u32,
        /// Fraction of the messages for them.
        fraction: f64,
    },
    /// Message `k` of logical node `i` goes to entry `i * fan + k % fan` (physical); `NOBODY` for silent nodes.
    Table {
        /// Entries per node.
        fan: u32,
        /// The entries.
        table: Vec<u32>,
    },
}

impl Destinations {
    /// Prepares a pattern for the given nodes.
    pub fn new(pattern: &Pattern, nodes: &[u32], topology: &Topology, seed: u64) -> Result<Destinations, String> {
        let n = nodes.len() as u32;
        if n < 2 {
            return Err("a pattern needs at least 2 nodes".into());
        }
        let map = |f: &dyn Fn(u32) -> u32| {
            let entry = |i| match f(i) {
                to if to == i || to == NOBODY => NOBODY,
                to => nodes[to as usize],
            };
            Destinations::Table {
                fan: 1,
                table: (0..n).map(entry).collect(),
            }
        };
        Ok(match *pattern {
            Pattern::Uniform => Destinations::Uniform,
            Pattern::HotSpot { targets, fraction } => {
                if targets == 0 || targets >= n {
                    return Err(format!(
                        "{targets} hot nodes of {n}: at least 1, and at least one node must be cold"
                    ));
                }
                Destinations::HotSpot { targets, fraction }
            }
            Pattern::Shift { by } => {
                let by = by.unwrap_or(n / 2) % n;
                map(&|i| (i + by) % n)
            }
            Pattern::BitComplement => map(&|i| n - 1 - i),
            Pattern::Transpose => {
                let side = n.isqrt();
                if side * side != n {
                    return Err(format!("transpose needs a square number of nodes, {n} is none"));
                }
                map(&|i| i % side * side + i / side)
            }
            Pattern::RandomPermutation => {
                let mut order: Vec<u32> = (0..n).collect();
                SplitMix(seed).shuffle(&mut order);
                // Along the random cycle every node has a successor other than itself.
                let mut next = vec![0; n as usize];
                for (k, &i) in order.iter().enumerate() {
                    next[i as usize] = order[(k + 1) % order.len()];
                }
                map(&|i| next[i as usize])
            }
            Pattern::Incast { sources } => {
                let sources = sources.unwrap_or(n - 1);
                if sources == 0 || sources >= n {
                    return Err(format!("{sources} senders: with {n} nodes it takes 1 to {}", n - 1));
                }
                map(&|i| if i >= 1 && i <= sources { 0 } else { NOBODY })
            }
            Pattern::Tornado => Self::lattice(nodes, topology, true).unwrap_or_else(|| {
                let by = (n.div_ceil(2) - 1).max(1);
                map(&|i| (i + by) % n)
            }),
            Pattern::Neighbour => Self::lattice(nodes, topology, false).unwrap_or_else(|| map(&|i| (i + 1) % n)),
        })
    }

    /// Lattice patterns for a job that covers the whole machine in index order: tornado moves in all dimensions at once, neighbour
    /// in one dimension per message.
    fn lattice(nodes: &[u32], topology: &Topology, tornado: bool) -> Option<Destinations> {
        let shape = lattice_shape(topology)?;
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

    /// One of the other nodes than logical node `i`, all equally likely, by a random word.
    #[inline(always)]
    pub fn uniform(nodes: &[u32], i: u32, word: u64) -> u32 {
        let to = below(word, nodes.len() as u64 - 1) as u32;
        nodes[(to + u32::from(to >= i)) as usize]
    }

    /// The destination of message `k` of logical node `i`, from a block of random words of which the first is the gap's.
    /// Whether a message is for a hot spot is decided by a hash of the word that also says which.
    #[inline(always)]
    pub fn pick(&self, nodes: &[u32], i: u32, k: u64, words: [u64; 2]) -> u32 {
        let other = |word: u64| Self::uniform(nodes, i, word);
        match self {
            Destinations::Uniform => other(words[1]),
            Destinations::HotSpot { targets, fraction } => {
                if unit(mix(words[1])) < *fraction {
                    let to = below(words[1], u64::from(*targets)) as u32;
                    if to != i {
                        return nodes[to as usize];
                    }
                }
                other(words[1])
            }
            Destinations::Table { fan, table } => {
                let k = if *fan == 1 { 0 } else { (k % u64::from(*fan)) as usize };
                table[i as usize * *fan as usize + k]
            }
        }
    }

    /// How many of the nodes send at all.
    pub fn senders(&self, nodes: &[u32]) -> u32 {
        self.sending(nodes).len() as u32
    }

    /// Those of the nodes that send at all.
    pub fn sending(&self, nodes: &[u32]) -> Vec<u32> {
        match self {
            Destinations::Table { fan, table } => nodes
                .iter()
                .zip(table.chunks(*fan as usize))
                .filter(|(_, entries)| entries.iter().all(|&to| to != NOBODY))
                .map(|(&node, _)| node)
                .collect(),
            _ => nodes.to_vec(),
        }
    }
}
