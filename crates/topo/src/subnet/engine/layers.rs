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

use super::fabric::Fabric;
use super::trees::Trees;

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
/// Memory: per (switch, destination) 1 byte and a port of 2, and 4 more once paths leave layer 0; per two consecutive channels 10 in each of two layers.
/// Time: switches x destinations for layer 0, then destinations and their trees for every dependency removed.
pub(super) fn assign(fabric: &Fabric, trees: &Trees, most: u8) -> Result<Layers, TooFew> {
    let mut it = Assignment::new(fabric, trees);
    let mut graph = it.first_layer();
    let total: u64 = (0..fabric.n_switches() as u32).map(|s| fabric.lids_of(s)).sum();
    let mut pairs = vec![total * total.saturating_sub(1)];
    for layer in 0..most {
        let mut search = Search::new(fabric, &graph);
        let mut next = Graph::new(fabric);
        let mut moved = 0;
        while let Some(cycle) = search.cycle(&graph) {
            if layer + 1 == most {
                return Err(TooFew(cycle));
            }
            let weakest = search.remove_weakest(&mut graph, &cycle);
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

/// A dependency: a channel and the next one.
type Dependency = (u32, u32);

/// The dependencies of a layer.
struct Graph {
    /// First entry of each channel's row; a row has an entry for each channel of the switch that the channel leads to.
    row: Vec<u64>,
    /// Pairs of addresses of each dependency.
    pairs: Vec<u64>,
    /// Next channels in the order in which they came up, as places in the row.
    next: Vec<u16>,
    n_next: Vec<u16>,
    /// Number at which each channel came up, [`ABSENT`] before.
    came: Vec<u32>,
    /// Channels in the order in which they came up.
    order: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Graph {
    fn new(fabric: &Fabric) -> Self {
        let channels = &fabric.channels;
        let (mut row, mut n) = (Vec::with_capacity(channels.len()), 0);
        for &to in &channels.to {
            row.push(n);
            n += channels.of_switch(to).len() as u64;
        }
        Self {
            row,
            pairs: vec![0; n as usize],
            next: vec![0; n as usize],
            n_next: vec![0; channels.len()],
            came: vec![ABSENT; channels.len()],
            order: Vec::new(),
        }
    }

    fn meet(&mut self, channel: u32) {
        if self.came[channel as usize] == ABSENT {
            self.came[channel as usize] = self.order.len() as u32;
            self.order.push(channel);
        }
    }

    fn place(&self, fabric: &Fabric, (held, wanted): Dependency) -> usize {
        (wanted - fabric.channels.first[fabric.channels.to[held as usize] as usize]) as usize
    }

    fn entry(&self, fabric: &Fabric, dependency: Dependency) -> usize {
        self.row[dependency.0 as usize] as usize + self.place(fabric, dependency)
    }

    /// Adds pairs to a dependency, whose channels have been met.
    fn add(&mut self, fabric: &Fabric, dependency: Dependency, pairs: u64) {
        let (row, place) = (self.row[dependency.0 as usize] as usize, self.place(fabric, dependency));
        if self.pairs[row + place] == 0 {
            let n = &mut self.n_next[dependency.0 as usize];
            self.next[row + usize::from(*n)] = place as u16;
            *n += 1;
        }
        self.pairs[row + place] += pairs;
    }

    /// The next channels of a channel as places, in the order in which they came up.
    fn next_of(&self, channel: u32) -> &[u16] {
        let row = self.row[channel as usize] as usize;
        &self.next[row..row + usize::from(self.n_next[channel as usize])]
    }

    /// Takes a dependency away.
    fn remove(&mut self, fabric: &Fabric, dependency: Dependency) {
        let place = self.place(fabric, dependency);
        let row = self.row[dependency.0 as usize] as usize;
        let n = usize::from(self.n_next[dependency.0 as usize]);
        if let Some(k) = self.next[row..row + n]
            .iter()
            .position(|&next| usize::from(next) == place)
        {
            self.next.copy_within(row + k + 1..row + n, row + k);
            self.n_next[dependency.0 as usize] -= 1;
        }
    }
}

/// Paths and the layers that they are in.
struct Assignment<'a> {
    fabric: &'a Fabric<'a>,
    trees: &'a Trees,
    /// Switches with hosts in routing order.
    sources: Vec<u32>,
    /// Addresses of hosts on each switch.
    weight: Vec<u64>,
    layer_of: Vec<u8>,
    /// The number of the move that brought each path into its layer; empty before the first.
    came: Vec<u32>,
    n_moves: u32,
    /// Next channels by switch at `switch * n_destinations + destination`, as places among the channels of the switch; made with the first move.
    by_switch: Vec<u16>,
    /// Place of each destination in routing order.
    rank: Vec<u32>,
    /// Place of each switch among the sources.
    source_rank: Vec<u32>,
}

impl<'a> Assignment<'a> {
    fn new(fabric: &'a Fabric, trees: &'a Trees) -> Self {
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
            by_switch: Vec::new(),
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
        if self.by_switch.is_empty() {
            self.by_switch = self.trees.by_switch();
            self.came = vec![0; self.layer_of.len()];
        }
        let width = self.rank.len();
        let row = |s: u32| &self.by_switch[s as usize * width..(s as usize + 1) * width];
        let place = |c: u32| (c - channels.first[channels.from[c as usize] as usize]) as u16;
        let (here, there) = (channels.from[weakest.0 as usize], channels.to[weakest.0 as usize]);
        let (first, second) = (place(weakest.0), place(weakest.1));
        let mut paths: Vec<(u32, u32, u32, u32)> = Vec::new();
        let mut queue = Vec::new();
        for (destination, (&a, &b)) in (0u32..).zip(row(here).iter().zip(row(there))) {
            if a != first || b != second {
                continue;
            }
            // All switches whose paths come through here.
            let tree = self.trees.tree(destination);
            queue.clear();
            queue.push(here);
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
                }
                for c in channels.of_switch(at) {
                    if tree.next(fabric, channels.to[c]) == Some(channels.back[c]) {
                        queue.push(channels.to[c]);
                    }
                }
            }
        }
        paths.sort_unstable();
        let mut moved = 0;
        for (_, _, source, destination) in paths {
            let pairs = self.weight[source as usize];
            let path = source as usize * width + destination as usize;
            self.layer_of[path] = layer + 1;
            self.came[path] = self.n_moves;
            self.n_moves += 1;
            moved += pairs;
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

/// A depth-first search for cycles that goes on where it was after one is broken.
struct Search<'a> {
    fabric: &'a Fabric<'a>,
    /// Channels in the order in which the search starts at them, and the place of each.
    starts: Vec<u32>,
    place: Vec<u32>,
    /// All before it are finished.
    next_start: usize,
    state: Vec<State>,
    /// How many of its next channels were looked at.
    tried: Vec<u16>,
    /// Open channels, each a next one of that before.
    open: Vec<u32>,
    /// The channel from which each one was opened. It outlives the breaking of a cycle: where the search starts at a channel that was on
    /// one, it goes back to that channel at its end, even if that is finished already.
    before: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Finished,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric<'a>, graph: &Graph) -> Self {
        let n = fabric.channels.len();
        let starts = preorder(fabric, graph);
        let mut place = vec![0; n];
        for (k, &c) in starts.iter().enumerate() {
            place[c as usize] = k as u32;
        }
        Self {
            fabric,
            starts,
            place,
            next_start: 0,
            state: vec![State::New; n],
            tried: vec![0; n],
            open: Vec::new(),
            before: vec![ABSENT; n],
        }
    }

    /// The next cycle: its channels from the one that closes it.
    fn cycle(&mut self, graph: &Graph) -> Option<Vec<u32>> {
        loop {
            let Some(&at) = self.open.last() else {
                let new = |&&c: &&u32| self.state[c as usize] == State::New;
                let later = &self.starts[self.next_start..];
                let skipped = later.iter().position(|c| new(&c))?;
                self.next_start += skipped;
                let start = self.starts[self.next_start];
                self.open.push(start);
                self.state[start as usize] = State::Open;
                continue;
            };
            let Some(&next) = graph.next_of(at).get(usize::from(self.tried[at as usize])) else {
                self.state[at as usize] = State::Finished;
                self.open.pop();
                let before = std::mem::replace(&mut self.before[at as usize], ABSENT);
                if self.open.is_empty() && before != ABSENT {
                    self.tried[before as usize] = 0;
                    self.state[before as usize] = State::Open;
                    self.open.push(before);
                }
                continue;
            };
            let to = self.fabric.channels.first[self.fabric.channels.to[at as usize] as usize] + u32::from(next);
            match self.state[to as usize] {
                State::Open => {
                    let closing = self.open.iter().rposition(|&c| c == to)?;
                    return Some(self.open[closing..].to_vec());
                }
                State::New => {
                    self.state[to as usize] = State::Open;
                    self.before[to as usize] = at;
                    self.open.push(to);
                }
                State::Finished => {}
            }
            self.tried[at as usize] += 1;
        }
    }

    /// Takes the dependency with the fewest pairs out of a cycle, the first of equal ones; the search goes on at the closing channel.
    fn remove_weakest(&mut self, graph: &mut Graph, cycle: &[u32]) -> Dependency {
        let mut weakest = (cycle[0], cycle[0]);
        let mut fewest = u64::MAX;
        for (k, &held) in cycle.iter().enumerate() {
            let wanted = cycle[(k + 1) % cycle.len()];
            let pairs = graph.pairs[graph.entry(self.fabric, (held, wanted))];
            if pairs < fewest {
                (weakest, fewest) = ((held, wanted), pairs);
            }
            self.state[held as usize] = State::New;
            self.tried[held as usize] = 0;
            self.next_start = self.next_start.min(self.place[held as usize] as usize);
        }
        graph.remove(self.fabric, weakest);
        self.open.truncate(self.open.len() - cycle.len() + 1);
        self.state[cycle[0] as usize] = State::Open;
        weakest
    }
}

/// The channels of a graph in preorder of a binary search tree by (switch, port) into which they are put as they came up.
///
/// That tree is the one whose parents came before their children, so it is built in one pass from left to right.
fn preorder(fabric: &Fabric, graph: &Graph) -> Vec<u32> {
    let channels = (fabric.order.iter())
        .flat_map(|&s| fabric.channels.of_switch(s))
        .map(|c| c as u32);
    let n = fabric.channels.len();
    let (mut left, mut right) = (vec![ABSENT; n], vec![ABSENT; n]);
    // The way down the right side.
    let mut spine: Vec<u32> = Vec::new();
    for c in channels.filter(|&c| graph.came[c as usize] != ABSENT) {
        let mut below = ABSENT;
        while let Some(&last) = spine.last() {
            if graph.came[last as usize] < graph.came[c as usize] {
                right[last as usize] = c;
                break;
            }
            below = last;
            spine.pop();
        }
        left[c as usize] = below;
        spine.push(c);
    }
    let mut stack: Vec<u32> = spine.first().copied().into_iter().collect();
    let mut order = Vec::with_capacity(graph.order.len());
    while let Some(c) = stack.pop() {
        order.push(c);
        let children = [right[c as usize], left[c as usize]];
        stack.extend(children.into_iter().filter(|&child| child != ABSENT));
    }
    order
}
