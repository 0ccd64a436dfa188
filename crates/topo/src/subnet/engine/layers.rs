//! Layers of paths without cycles of dependencies, as DFSSSP makes them (Domke, Hoefler & Nagel 2011).
//!
//! All paths start in layer 0. A depth-first search looks for a cycle in its dependencies; of the first one found the dependency with the
//! fewest pairs is removed and its paths go to the next layer. When a layer has no cycle left, the next one is searched.
//!
//! The order in which channels and dependencies are looked at decides which cycle is found first and how many layers come out. It is that of
//! the manager: paths enter destination by destination, each time from all hosts in routing order; dependencies of a channel are
//! tried in the order in which they came up; the search starts at the channels in preorder of an unbalanced binary tree by (switch, port), into
//! which they were put as they came up. A dependency whose pairs have all left with others stays to be found and removed.
//!
//! All paths of the hosts of a switch to one destination are one path here. Paths from switches' own addresses have no
//! dependencies; they stay in layer 0.

mod graph;
#[cfg(test)]
mod plain;
mod search;
mod users;

use super::fabric::PreparedSubnet;
use super::trees::Trees;
use graph::{Dependency, Graph};
use search::Search;
use users::Users;

/// No number yet: of channels that have not come up, and the like.
const ABSENT: u32 = u32::MAX;

/// The layer of every path.
pub(super) struct Layers {
    /// At `source switch * n_destinations + destination`.
    pub layer_of: Vec<u8>,
    /// Pairs of addresses in each layer; the last one is not empty.
    pub pairs: Vec<u64>,
}

/// The paths of this many layers still have a cycle: the channels' numbers.
pub(super) struct TooFew(pub Vec<u32>);

/// Sorts paths into at most `most` layers.
///
/// Memory: per (switch, destination) 1 byte, and 12 more once paths leave layer 0; per two consecutive channels 10 in each of two layers, and
/// then 8 more. Time: switches x destinations for layer 0, then for every dependency removed the branches of the trees behind it, the paths that it
/// moves, and the cycle that it was on.
pub(super) fn assign(fabric: &PreparedSubnet, trees: &Trees, most: u8) -> Result<Layers, TooFew> {
    let mut it = Assignment::new(fabric, trees);
    let mut graph = it.first_layer();
    let total: u64 = (0..fabric.n_switches() as u32).map(|s| fabric.lids_of(s)).sum();
    let mut pairs = vec![total * total.saturating_sub(1)];
    for layer in 0..most {
        let mut search = Search::new(fabric, &graph);
        let mut next = Graph::new(fabric);
        let mut moved = 0;
        while let Some(closing) = search.cycle(&graph) {
            if layer + 1 == most {
                return Err(TooFew(search.open_from(closing).to_vec()));
            }
            let weakest = search.remove_weakest(&mut graph, closing);
            moved += it.move_up(weakest, layer, &mut graph, &mut next);
        }
        pairs[usize::from(layer)] -= moved;
        if moved == 0 {
            break;
        }
        pairs.push(moved);
        graph = next;
    }
    Ok(Layers {
        layer_of: it.layer_of,
        pairs,
    })
}

/// Paths and the layers that they are in.
struct Assignment<'a> {
    fabric: &'a PreparedSubnet<'a>,
    trees: &'a Trees,
    /// Switches with hosts in routing order.
    sources: Vec<u32>,
    /// Addresses of hosts on each switch.
    weight: Vec<u64>,
    layer_of: Vec<u8>,
    /// The number of the move that brought each path into its layer; empty before the first.
    came: Vec<u32>,
    n_moves: u32,
    /// Made with the first move.
    users: Option<Users>,
    /// Place of each destination in routing order.
    rank: Vec<u32>,
    /// Place of each switch among the sources.
    source_rank: Vec<u32>,
}

impl<'a> Assignment<'a> {
    fn new(fabric: &'a PreparedSubnet, trees: &'a Trees) -> Self {
        let n = fabric.n_switches();
        let hosts = |s: u32| fabric.hosts_of(s).len() as u64;
        let mut rank = vec![0; trees.n_destinations() as usize];
        for (place, &destination) in trees.order.iter().enumerate() {
            rank[destination as usize] = place as u32;
        }
        let sources: Vec<u32> = fabric.by_load().into_iter().filter(|&s| hosts(s) > 0).collect();
        let mut source_rank = vec![ABSENT; n];
        for (place, &s) in (0..).zip(&sources) {
            source_rank[s as usize] = place;
        }
        Self {
            fabric,
            trees,
            sources,
            weight: (0..n as u32).map(|s| hosts(s) << fabric.subnet.lmc).collect(),
            layer_of: vec![0; n * trees.n_destinations() as usize],
            came: Vec::new(),
            n_moves: 0,
            users: None,
            rank,
            source_rank,
        }
    }

    /// The dependencies of all paths.
    fn first_layer(&self) -> Graph {
        let (fabric, channels) = (self.fabric, &self.fabric.channels);
        let mut graph = Graph::new(fabric);
        let n = fabric.n_switches();
        let mut seen = vec![ABSENT; n];
        let mut load = vec![0u64; n];
        // Channels walked on from each source up to a switch that another one has come through before, and where each walk starts.
        let (mut walked, mut walks) = (Vec::new(), Vec::new());
        for &destination in &self.trees.order {
            let tree = self.trees.tree(destination);
            walked.clear();
            walks.clear();
            for &source in &self.sources {
                let mut at = source;
                walks.push(walked.len());
                while std::mem::replace(&mut seen[at as usize], destination) != destination {
                    load[at as usize] = self.weight[at as usize];
                    let Some(c) = tree.next(fabric, at) else {
                        break;
                    };
                    graph.meet(c);
                    walked.push(c);
                    at = channels.to[c as usize];
                }
            }
            // What joins a walk comes from later ones: with the last walk first, all pairs of a channel are known when it is passed.
            let mut end = walked.len();
            for &start in walks.iter().rev() {
                for &c in &walked[start..end] {
                    let (pairs, to) = (load[channels.from[c as usize] as usize], channels.to[c as usize]);
                    load[to as usize] += pairs;
                    if let Some(wanted) = tree.next(fabric, to) {
                        graph.add(fabric, (c, wanted), pairs);
                    }
                }
                end = start;
            }
        }
        graph
    }

    /// Moves all paths of a dependency to the next layer, in the order in which they came into theirs; gives the number of pairs.
    fn move_up(&mut self, weakest: Dependency, layer: u8, graph: &mut Graph, next: &mut Graph) -> u64 {
        let (fabric, channels) = (self.fabric, &self.fabric.channels);
        let entry = graph.entry(fabric, weakest);
        let moved = graph.pairs[entry];
        if moved == 0 {
            return 0;
        }
        if self.came.is_empty() {
            self.came = vec![0; self.layer_of.len()];
        }
        let users = (self.users).get_or_insert_with(|| Users::new(fabric, self.trees, graph));
        let width = self.rank.len();
        let (mut paths, mut queue, mut left) = (Vec::new(), Vec::new(), moved);
        for &destination in users.of(entry) {
            // All switches whose paths come through here.
            queue.clear();
            queue.push(channels.from[weakest.0 as usize]);
            let mut k = 0;
            while let Some(&at) = queue.get(k) {
                k += 1;
                let path = at as usize * width + destination as usize;
                if self.weight[at as usize] > 0 && self.layer_of[path] == layer {
                    let place = if layer == 0 {
                        self.rank[destination as usize]
                    } else {
                        self.came[path]
                    };
                    paths.push((place, self.source_rank[at as usize], at, destination));
                    left -= self.weight[at as usize];
                }
                queue.extend(users.behind(fabric, destination, at));
            }
            if left == 0 {
                break;
            }
        }
        debug_assert_eq!(left, 0, "pairs of a dependency whose paths were not found");
        paths.sort_unstable();
        for (_, _, source, destination) in paths {
            let pairs = self.weight[source as usize];
            let path = source as usize * width + destination as usize;
            self.layer_of[path] = layer + 1;
            self.came[path] = self.n_moves;
            self.n_moves += 1;
            let tree = self.trees.tree(destination);
            let (mut at, mut held) = (source, None);
            while let Some(c) = tree.next(fabric, at) {
                next.meet(c);
                if let Some(held) = held.replace(c) {
                    let entry = graph.entry(fabric, (held, c));
                    graph.pairs[entry] -= pairs;
                    next.add(fabric, (held, c), pairs);
                }
                at = channels.to[c as usize];
            }
        }
        moved
    }
}
