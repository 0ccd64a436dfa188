//! Single-source shortest paths: each destination's tree of least hops, over the links that carry the fewest paths so far.
//!
//! Destinations come one after another, so the work is sequential. An edge weighs the square of the number of all addresses plus the
//! pairs of addresses laid over it before; that square keeps every path minimal. Of equal paths the one stays that Dijkstra's
//! algorithm meets first, which the order of its queue decides: a 4-ary heap that is filled in the manager's order.
//!
//! Hoefler, Schneider & Lumsdaine, Optimized routing for large-scale InfiniBand networks (2009).

use super::super::Tables;
use super::Report;
use super::fabric::PreparedSubnet;
use super::trees::{NO_EDGE, Trees};

/// Time: addresses x (cables + switches x log). Memory: 2 bytes per (switch, address), while they are laid twice that.
pub(super) fn route(fabric: &PreparedSubnet) -> (Tables, Report) {
    let report = Report {
        lanes_needed: 1,
        ..Report::default()
    };
    (lay(fabric).tables(fabric), report)
}

/// Lays the paths to all addresses, those of switches among them.
pub(super) fn lay(fabric: &PreparedSubnet) -> Trees {
    let subnet = fabric.subnet;
    let lids: Vec<u64> = (0..fabric.n_switches() as u32).map(|s| fabric.lids_of(s)).collect();
    let total: u64 = lids.iter().sum();
    let mut trees = Trees::new(fabric);
    let mut paths = PathTree::new(fabric, total * total);
    for destination in trees.order.clone() {
        let to_host = destination < subnet.n_addresses();
        paths.grow(fabric, trees.target(fabric, destination), to_host, |_| true);
        trees.set(fabric, destination, paths.via());
        paths.load(fabric, |s| lids[s as usize]);
    }
    trees
}

/// Distance of a switch that was not reached yet: beyond every sum of weights.
const INFINITY: u64 = u64::MAX / 2;

/// The weights of all edges, and the tree to one destination. Switches are numbered by their place in the manager's order inside.
pub(super) struct PathTree {
    /// Of the path over channel `c` backwards, that is against the direction in which the tree grows.
    weight: Vec<u64>,
    /// Rank of the switch at the end of each channel.
    to: Vec<u32>,
    distance: Vec<u64>,
    /// Channel by which each switch was reached, by switch; [`NO_EDGE`] at the root.
    via: Vec<u32>,
    /// Switches in the order in which their distance became final.
    settled: Vec<u32>,
    heap: Heap,
    load: Vec<u64>,
}

impl PathTree {
    /// All edges with one weight.
    pub fn new(fabric: &PreparedSubnet, weight: u64) -> Self {
        let (channels, n) = (&fabric.channels, fabric.n_switches());
        Self {
            weight: vec![weight; channels.len()],
            to: channels.to.iter().map(|&s| fabric.rank[s as usize]).collect(),
            distance: vec![0; n + 1],
            via: vec![NO_EDGE; n],
            settled: Vec::with_capacity(n),
            heap: Heap::new(n + 1),
            load: vec![0; n],
        }
    }

    /// Channel by which each switch was reached: traffic flows against it. [`NO_EDGE`] at the destination's switch and where there
    /// is no way.
    pub fn via(&self) -> &[u32] {
        &self.via
    }

    /// Grows the tree from a switch, or from a host there, over the channels that are allowed.
    pub fn grow(&mut self, fabric: &PreparedSubnet, target: u32, to_host: bool, allowed: impl Fn(usize) -> bool) {
        let n = fabric.n_switches();
        self.distance.fill(INFINITY);
        self.via.fill(NO_EDGE);
        self.settled.clear();
        self.heap.fill(if to_host { n + 1 } else { n });
        let target = fabric.rank[target as usize];
        let start = if to_host { n as u32 } else { target };
        self.distance[start as usize] = 0;
        self.heap.rise(start, &self.distance);
        while let Some(at) = self.heap.pop(&self.distance) {
            if at as usize == n {
                self.distance[target as usize] = 1;
                self.heap.rise(target, &self.distance);
                continue;
            }
            let here = self.distance[at as usize];
            if here == INFINITY {
                break;
            }
            let switch = fabric.order[at as usize];
            self.settled.push(switch);
            for c in fabric.channels.of_switch(switch) {
                let (to, there) = (self.to[c], here + self.weight[c]);
                if there < self.distance[to as usize] && allowed(c) {
                    self.distance[to as usize] = there;
                    self.via[fabric.order[to as usize] as usize] = c as u32;
                    self.heap.rise(to, &self.distance);
                }
            }
        }
    }

    /// Adds to each edge what the switches behind it send to the destination.
    pub fn load(&mut self, fabric: &PreparedSubnet, sends: impl Fn(u32) -> u64) {
        for &s in &self.settled {
            self.load[s as usize] = sends(s);
        }
        for &s in self.settled.iter().rev() {
            let c = self.via[s as usize];
            if c != NO_EDGE {
                self.weight[c as usize] += self.load[s as usize];
                self.load[fabric.channels.from[c as usize] as usize] += self.load[s as usize];
            }
        }
    }
}

/// A 4-ary heap of vertices by distance. Equal distances: a rising vertex stays below, a sinking one stays above, and the last of
/// equal children rises.
struct Heap {
    vertices: Vec<u32>,
    place: Vec<u32>,
}

/// Place of a vertex that has been taken.
const GONE: u32 = u32::MAX;

impl Heap {
    fn new(n: usize) -> Self {
        Self {
            vertices: Vec::with_capacity(n),
            place: vec![GONE; n],
        }
    }

    /// All vertices below `n` in order: their distances must be equal.
    fn fill(&mut self, n: usize) {
        self.vertices.clear();
        self.vertices.extend(0..n as u32);
        for (place, vertex) in self.place.iter_mut().zip(0..n as u32) {
            *place = vertex;
        }
    }

    fn put(&mut self, place: usize, vertex: u32) {
        self.vertices[place] = vertex;
        self.place[vertex as usize] = place as u32;
    }

    /// Restores order after the distance of a vertex has become smaller.
    fn rise(&mut self, vertex: u32, distance: &[u64]) {
        let key = distance[vertex as usize];
        let mut place = self.place[vertex as usize] as usize;
        while place > 0 {
            let above = (place - 1) / 4;
            let parent = self.vertices[above];
            if distance[parent as usize] <= key {
                break;
            }
            self.put(place, parent);
            place = above;
        }
        self.put(place, vertex);
    }

    /// Takes the nearest vertex.
    fn pop(&mut self, distance: &[u64]) -> Option<u32> {
        let top = *self.vertices.first()?;
        self.place[top as usize] = GONE;
        let moved = self.vertices.pop()?;
        if self.vertices.is_empty() {
            return Some(top);
        }
        let key = distance[moved as usize];
        let mut place = 0;
        loop {
            let first = 4 * place + 1;
            let Some(children) = self.vertices.get(first..self.vertices.len().min(first + 4)) else {
                break;
            };
            let Some((i, &child)) = children
                .iter()
                .enumerate()
                .rev()
                .min_by_key(|(_, v)| distance[**v as usize])
            else {
                break;
            };
            if distance[child as usize] >= key {
                break;
            }
            self.put(place, child);
            place = first + i;
        }
        self.put(place, moved);
        Some(top)
    }
}
