//! Nue: paths without deadlock on a number of lanes that is given, on any shape (after Domke, Hoefler & Matsuoka, Routing on the dependency
//! graph, 2016).
//!
//! The destination switches fall into as many sets as there are lanes. In each set a spanning tree gives escape paths, whose dependencies
//! come first. Then destination after destination Dijkstra's algorithm grows a tree over the links that carry the fewest paths so far, as by
//! SSSP, and joins a switch only where the new dependency closes no cycle on the lane. A destination that cannot reach all switches so is reached over the
//! escape paths. So every lane stays free of cycles, and paths are minimal where nothing forbids it.
//!
//! The idea is the published one; sets, order and ties are our own (sets are neighbours in the manager's order, the spanning tree starts at the
//! switch with the least sum of distances), so tables differ from those of other programs.

use super::super::Tables;
use super::fabric::{FAR, PreparedSubnet};
use super::{Report, RouteError, RoutingEngine};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// Time: addresses x cables x log at least, many times that where most dependencies are refused: few lanes on large dense networks. Memory: lists of dependencies of one lane.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let (channels, subnet) = (&fabric.channels, fabric.subnet);
    let targets: Vec<u32> = fabric
        .order
        .iter()
        .copied()
        .filter(|&s| !fabric.hosts_of(s).is_empty())
        .collect();
    let n_lanes = usize::from(fabric.options.lanes).min(targets.len().max(1));
    let spanning = Spanning::new(fabric);
    let lids: Vec<u64> = (0..fabric.n_switches() as u32).map(|s| fabric.lids_of(s)).collect();
    let total: u64 = lids.iter().sum();
    let mut tables = fabric.tables();
    let width = tables.n_addresses as usize;
    if n_lanes > 1 {
        tables.lanes = vec![0; tables.ports.len()];
    }
    tables.n_lanes = n_lanes as u8;
    let mut growth = Growth::new(fabric, total * total);
    let mut report = Report {
        lanes_needed: 1,
        ..Report::default()
    };
    for lane in 0..n_lanes {
        let set = &targets[lane * targets.len() / n_lanes..(lane + 1) * targets.len() / n_lanes];
        let mut graph = Acyclic::new(channels.len());
        for &target in set {
            spanning.paths(fabric, target, &mut growth);
            for c in growth.chosen.iter().copied().filter(|&c| c != NONE) {
                let next = growth.chosen[channels.to[c as usize] as usize];
                // Paths in a tree never turn back, so this closes no cycle.
                if next != NONE {
                    graph.add(c, next);
                }
            }
        }
        let mut pairs = 0;
        for &target in set {
            for address in fabric
                .hosts_of(target)
                .iter()
                .flat_map(|&host| (host << subnet.lmc)..((host + 1) << subnet.lmc))
            {
                if !growth.grow(fabric, target, &mut graph) {
                    spanning.paths(fabric, target, &mut growth);
                }
                growth.load(fabric, &lids);
                for (s, &c) in growth.chosen.iter().enumerate().filter(|&(_, &c)| c != NONE) {
                    tables.ports[s * width + address as usize] = channels.port[c as usize];
                    pairs += lids[s];
                }
                if lane > 0 {
                    (0..fabric.n_switches()).for_each(|s| tables.lanes[s * width + address as usize] = lane as u8);
                }
            }
        }
        report.before.push(pairs);
    }
    report.after.clone_from(&report.before);
    debug_assert!(
        super::super::find_cycle(subnet, &tables).is_none(),
        "{} closed a cycle",
        RoutingEngine::Nue.name()
    );
    Ok((tables, report))
}

/// A spanning tree of each part of the fabric.
struct Spanning {
    /// Channels between neighbours in it, of each switch.
    next: Vec<Vec<u32>>,
}

impl Spanning {
    fn new(fabric: &PreparedSubnet) -> Self {
        let (channels, n) = (&fabric.channels, fabric.n_switches());
        let hops = fabric.hops();
        let far = |s: &u32| -> (u64, u32) {
            let row = &hops[*s as usize * n..(*s as usize + 1) * n];
            let sum = row
                .iter()
                .filter(|&&hops| hops != FAR)
                .map(|&hops| u64::from(hops))
                .sum();
            (sum, fabric.rank[*s as usize])
        };
        let mut centres = fabric.order.clone();
        centres.sort_by_cached_key(far);
        let (mut next, mut seen) = (vec![Vec::new(); n], vec![false; n]);
        for centre in centres {
            if std::mem::replace(&mut seen[centre as usize], true) {
                continue;
            }
            let mut queue = vec![centre];
            let mut k = 0;
            while let Some(&at) = queue.get(k) {
                k += 1;
                for c in channels.of_switch(at) {
                    let to = channels.to[c];
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        next[at as usize].push(c as u32);
                        next[to as usize].push(channels.back[c]);
                        queue.push(to);
                    }
                }
            }
        }
        Self { next }
    }

    /// Chooses the paths to a target in the tree.
    fn paths(&self, fabric: &PreparedSubnet, target: u32, growth: &mut Growth) {
        growth.chosen.fill(NONE);
        growth.settled.clear();
        growth.settled.push(target);
        let mut k = 0;
        while let Some(&at) = growth.settled.get(k) {
            k += 1;
            for &c in &self.next[at as usize] {
                let to = fabric.channels.to[c as usize];
                if to != target && growth.chosen[to as usize] == NONE {
                    growth.chosen[to as usize] = fabric.channels.back[c as usize];
                    growth.settled.push(to);
                }
            }
        }
    }
}

/// The paths to one destination as they grow, and the weights of all channels.
struct Growth {
    weight: Vec<u64>,
    /// Channel that each switch sends on; [`NONE`] at the target and before it is joined.
    chosen: Vec<u32>,
    /// Switches as they were joined.
    settled: Vec<u32>,
    load: Vec<u64>,
}

impl Growth {
    fn new(fabric: &PreparedSubnet, weight: u64) -> Self {
        let n = fabric.n_switches();
        Self {
            weight: vec![weight; fabric.channels.len()],
            chosen: vec![NONE; n],
            settled: Vec::new(),
            load: vec![0; n],
        }
    }

    /// Grows a tree whose dependencies close no cycle, and adds them. False if some switch could not join: nothing is added then.
    fn grow(&mut self, fabric: &PreparedSubnet, target: u32, graph: &mut Acyclic) -> bool {
        let channels = &fabric.channels;
        self.chosen.fill(NONE);
        self.settled.clear();
        let mut joined = vec![false; fabric.n_switches()];
        let mut met = joined.clone();
        let mut n_met = 1;
        met[target as usize] = true;
        let (mut added, mut refused) = (Vec::new(), Vec::new());
        // (distance, channel towards the target); the target itself stands first.
        let mut queue = BinaryHeap::from([Reverse((0u64, NONE))]);
        while let Some(Reverse((distance, c))) = queue.pop() {
            let at = if c == NONE { target } else { channels.from[c as usize] };
            if joined[at as usize] {
                continue;
            }
            if c != NONE {
                let next = self.chosen[channels.to[c as usize] as usize];
                if next != NONE {
                    match graph.add(c, next) {
                        Added::New => added.push((c, next)),
                        Added::Known => {}
                        Added::RefusedBefore => continue,
                        Added::Refused => {
                            refused.push((c, next));
                            continue;
                        }
                    }
                }
            }
            joined[at as usize] = true;
            self.chosen[at as usize] = c;
            self.settled.push(at);
            for out in channels.of_switch(at) {
                let (from, towards) = (channels.to[out], channels.back[out]);
                if !joined[from as usize] {
                    n_met += usize::from(!std::mem::replace(&mut met[from as usize], true));
                    queue.push(Reverse((distance + self.weight[towards as usize], towards)));
                }
            }
        }
        // Whoever has a joined neighbour was met: if all of those joined, all that can be reached have.
        let whole = self.settled.len() == n_met;
        if !whole {
            added.into_iter().for_each(|(from, to)| graph.remove(from, to));
            refused.into_iter().for_each(|(from, to)| graph.allow(from, to));
        }
        whole
    }

    /// Adds to each channel what the switches behind it send.
    fn load(&mut self, fabric: &PreparedSubnet, sends: &[u64]) {
        for &s in &self.settled {
            self.load[s as usize] = sends[s as usize];
        }
        for &s in self.settled.iter().rev() {
            let c = self.chosen[s as usize];
            if c != NONE {
                self.weight[c as usize] += self.load[s as usize];
                self.load[fabric.channels.to[c as usize] as usize] += self.load[s as usize];
            }
        }
    }
}

/// What came of adding a dependency.
#[derive(PartialEq, Eq)]
enum Added {
    New,
    Known,
    Refused,
    RefusedBefore,
}

/// Dependencies without a cycle, with an order of the channels that they agree with (Pearce & Kelly 2006).
struct Acyclic {
    place: Vec<u32>,
    next: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// Dependencies that closed a cycle: they still do, as long as none is taken away.
    refused: Vec<Vec<u32>>,
    seen: Vec<bool>,
}

impl Acyclic {
    fn new(n: usize) -> Self {
        Self {
            place: (0..n as u32).collect(),
            next: vec![Vec::new(); n],
            before: vec![Vec::new(); n],
            refused: vec![Vec::new(); n],
            seen: vec![false; n],
        }
    }

    fn add(&mut self, from: u32, to: u32) -> Added {
        if self.next[from as usize].contains(&to) {
            return Added::Known;
        }
        if self.refused[from as usize].contains(&to) {
            return Added::RefusedBefore;
        }
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        if low <= high {
            let behind = self.reach(to, |it, c| &it.next[c as usize], |place| place <= high);
            if behind.contains(&from) {
                behind.iter().for_each(|&c| self.seen[c as usize] = false);
                self.refused[from as usize].push(to);
                return Added::Refused;
            }
            let ahead = self.reach(from, |it, c| &it.before[c as usize], |place| place >= low);
            self.reorder(ahead, behind);
        }
        self.next[from as usize].push(to);
        self.before[to as usize].push(from);
        Added::New
    }

    fn remove(&mut self, from: u32, to: u32) {
        self.next[from as usize].retain(|&c| c != to);
        self.before[to as usize].retain(|&c| c != from);
    }

    /// Lets a refused dependency be tried again.
    fn allow(&mut self, from: u32, to: u32) {
        self.refused[from as usize].retain(|&c| c != to);
    }

    /// Channels that are reached from one, within bounds of their places.
    fn reach(&mut self, start: u32, step: impl Fn(&Self, u32) -> &Vec<u32>, within: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut found = vec![start];
        self.seen[start as usize] = true;
        let mut k = 0;
        while let Some(&at) = found.get(k) {
            k += 1;
            for i in 0..step(self, at).len() {
                let c = step(self, at)[i];
                if !self.seen[c as usize] && within(self.place[c as usize]) {
                    self.seen[c as usize] = true;
                    found.push(c);
                }
            }
        }
        found
    }

    /// Puts what is ahead of the new dependency before what is behind it, on the places that they have together.
    fn reorder(&mut self, mut ahead: Vec<u32>, mut behind: Vec<u32>) {
        ahead.sort_unstable_by_key(|&c| self.place[c as usize]);
        behind.sort_unstable_by_key(|&c| self.place[c as usize]);
        ahead.append(&mut behind);
        let mut places: Vec<u32> = ahead.iter().map(|&c| self.place[c as usize]).collect();
        places.sort_unstable();
        for (&c, place) in ahead.iter().zip(places) {
            self.place[c as usize] = place;
            self.seen[c as usize] = false;
        }
    }
}
