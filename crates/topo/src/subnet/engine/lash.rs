//! LASH: one way of least hops per pair of switches, all hosts of a switch share it; pairs go to the first lane where they close no
//! cycle (Skeie, Lysne & Theiss 2002).
//!
//! The way of a switch to all others is a breadth-first tree in port order, of which the first step counts. The pairs (i, j) and (j, i) go
//! together, in the manager's order of switches. Then pairs drawn at random move from the fullest to the emptiest lane.

use super::super::Tables;
use super::fabric::PreparedSubnet;
use super::{Report, RouteError, RoutingEngine};
use crate::random::split_mix;

/// Lanes that differ by fewer pairs are balanced.
const BALANCED: u64 = 6;

/// Time: pairs of switches x dependencies of a lane at most. Memory: 5 bytes per pair of switches, 8 per dependency and lane.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let n = fabric.n_switches();
    let ways = LashWays::of(fabric);
    let mut lanes: Vec<Lane> = Vec::new();
    let mut lane_of = vec![0u8; n * n];
    let mut pairs = Vec::new();
    for (place, &i) in fabric.order.iter().enumerate() {
        pairs.extend(
            fabric.order[place + 1..]
                .iter()
                .map(|&j| (i, j))
                .filter(|&(i, j)| ways.reaches(i, j)),
        );
    }
    for &(i, j) in &pairs {
        let mut k = 0;
        loop {
            if k == lanes.len() {
                if k == usize::from(fabric.options.lanes) {
                    return Err(too_few(fabric, i, j));
                }
                lanes.push(Lane::new(fabric));
            }
            if lanes[k].add_if_free(fabric, &ways, (i, j)) {
                break;
            }
            k += 1;
        }
        lane_of[ways.at(i, j)] = k as u8;
    }
    if lanes.is_empty() {
        lanes.push(Lane::new(fabric));
    }
    let before: Vec<u64> = lanes.iter().map(|lane| lane.n_pairs).collect();
    balance(fabric, &ways, &mut lanes, &mut lane_of, &pairs);
    for &(i, j) in &pairs {
        lane_of[ways.at(j, i)] = lane_of[ways.at(i, j)];
    }
    let report = Report {
        lanes_needed: lanes.len() as u8,
        before,
        after: lanes.iter().map(|lane| lane.n_pairs).collect(),
        ..Report::default()
    };
    Ok((ways.tables(fabric, &lane_of, lanes.len() as u8), report))
}

fn too_few(fabric: &PreparedSubnet, i: u32, j: u32) -> RouteError {
    fabric.refuse(
        RoutingEngine::Lash,
        format!(
            "{} lanes are too few: the paths between `{}` and `{}` close a cycle on each",
            fabric.options.lanes,
            fabric.name(i),
            fabric.name(j)
        ),
        "allow more lanes, or take `updn`, which needs one",
    )
}

/// First channels of all switches to all others.
struct LashWays {
    n: usize,
    /// At `switch * n + target`, [`u32::MAX`] where there is no way.
    first: Vec<u32>,
}

impl LashWays {
    fn of(fabric: &PreparedSubnet) -> Self {
        let (channels, n) = (&fabric.channels, fabric.n_switches());
        let mut first = vec![u32::MAX; n * n];
        fabric.by_rows(&mut first, n, |root, row| {
            let mut queue = vec![root as u32];
            let mut next = 0;
            while let Some(&at) = queue.get(next) {
                next += 1;
                for c in channels.of_switch(at) {
                    let to = channels.to[c] as usize;
                    if to != root && row[to] == u32::MAX {
                        row[to] = if at as usize == root {
                            c as u32
                        } else {
                            row[at as usize]
                        };
                        queue.push(to as u32);
                    }
                }
            }
        });
        Self { n, first }
    }

    fn at(&self, from: u32, to: u32) -> usize {
        from as usize * self.n + to as usize
    }

    fn reaches(&self, from: u32, to: u32) -> bool {
        self.first[self.at(from, to)] != u32::MAX
    }

    /// The channels from one switch to another.
    fn path<'a>(&'a self, fabric: &'a PreparedSubnet, from: u32, to: u32) -> impl Iterator<Item = u32> + 'a {
        let mut at = from;
        std::iter::from_fn(move || {
            let c = (at != to).then(|| self.first[self.at(at, to)])?;
            at = fabric.channels.to[c as usize];
            Some(c)
        })
    }

    fn tables(&self, fabric: &PreparedSubnet, lane_of: &[u8], n_lanes: u8) -> Tables {
        let mut tables = fabric.tables();
        let width = tables.n_addresses as usize;
        let many = n_lanes > 1;
        if many {
            tables.lanes = vec![0; tables.ports.len()];
        }
        for s in 0..self.n as u32 {
            for (host, there) in fabric.subnet.hosts.iter().enumerate() {
                let c = self.first[self.at(s, there.switch)];
                if there.switch == s || c == u32::MAX {
                    continue;
                }
                let first = s as usize * width + (host << fabric.subnet.lmc);
                let entries = first..first + fabric.subnet.paths() as usize;
                tables.ports[entries.clone()].fill(fabric.channels.port[c as usize]);
                if many {
                    tables.lanes[entries].fill(lane_of[self.at(s, there.switch)]);
                }
            }
        }
        tables.n_lanes = n_lanes;
        tables
    }
}

/// The dependencies on one lane.
struct Lane {
    /// Next channels of each channel, with the number of paths.
    next: Vec<Vec<(u32, u32)>>,
    /// Ordered pairs of switches.
    n_pairs: u64,
    /// Search number in which each channel was seen first, and whether it is finished.
    seen: Vec<(u32, bool)>,
    search: u32,
}

impl Lane {
    fn new(fabric: &PreparedSubnet) -> Self {
        Self {
            next: vec![Vec::new(); fabric.channels.len()],
            n_pairs: 0,
            seen: vec![(0, false); fabric.channels.len()],
            search: 0,
        }
    }

    /// Adds the paths between two switches unless they close a cycle.
    fn add_if_free(&mut self, fabric: &PreparedSubnet, ways: &LashWays, (i, j): (u32, u32)) -> bool {
        self.change(fabric, ways, (i, j), true);
        self.search += 1;
        // A new cycle has a new dependency, which can be reached from the first channel of its path.
        let starts = [ways.first[ways.at(i, j)], ways.first[ways.at(j, i)]];
        if starts.into_iter().any(|start| self.cycle_from(start)) {
            self.change(fabric, ways, (i, j), false);
            return false;
        }
        true
    }

    fn change(&mut self, fabric: &PreparedSubnet, ways: &LashWays, (i, j): (u32, u32), add: bool) {
        for (from, to) in [(i, j), (j, i)] {
            let mut held = None;
            for c in ways.path(fabric, from, to) {
                if let Some(held) = held.replace(c) {
                    let next = &mut self.next[held as usize];
                    match (next.iter().position(|&(to, _)| to == c), add) {
                        (Some(place), true) => next[place].1 += 1,
                        (None, true) => next.push((c, 1)),
                        (Some(place), false) if next[place].1 == 1 => {
                            next.swap_remove(place);
                        }
                        (Some(place), false) => next[place].1 -= 1,
                        (None, false) => {}
                    }
                }
            }
            self.n_pairs = if add { self.n_pairs + 1 } else { self.n_pairs - 1 };
        }
    }

    fn cycle_from(&mut self, start: u32) -> bool {
        let search = self.search;
        if self.seen[start as usize].0 == search {
            return false;
        }
        let mut stack = vec![(start, 0)];
        self.seen[start as usize] = (search, false);
        while let Some((at, place)) = stack.last_mut() {
            let Some(&(to, _)) = self.next[*at as usize].get(*place) else {
                self.seen[*at as usize].1 = true;
                stack.pop();
                continue;
            };
            *place += 1;
            match self.seen[to as usize] {
                (number, _) if number != search => {
                    self.seen[to as usize] = (search, false);
                    stack.push((to, 0));
                }
                (_, finished) if !finished => return true,
                _ => {}
            }
        }
        false
    }
}

/// Moves pairs from the fullest to the emptiest lane, in random order, until they differ little or nothing can move without a cycle.
fn balance(fabric: &PreparedSubnet, ways: &LashWays, lanes: &mut [Lane], lane_of: &mut [u8], pairs: &[(u32, u32)]) {
    let mut random = fabric.options.seed;
    let mut order = pairs.to_vec();
    // At `full * lanes + empty`: nothing can move, until the one has other pairs or the other has fewer.
    let mut stuck = vec![false; lanes.len().pow(2)];
    let n = lanes.len();
    let at = |full: usize, empty: usize| full * n + empty;
    loop {
        let mut best = None;
        for (full, more) in lanes.iter().map(|lane| lane.n_pairs).enumerate() {
            for (empty, less) in lanes.iter().map(|lane| lane.n_pairs).enumerate() {
                let candidate = (std::cmp::Reverse(more), less, full, empty);
                if more >= less + BALANCED && !stuck[at(full, empty)] && best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
        let Some((_, _, full, empty)) = best else {
            return;
        };
        let moved = (0..order.len()).any(|k| {
            let other = k + (split_mix(&mut random) % (order.len() - k) as u64) as usize;
            order.swap(k, other);
            let (i, j) = order[k];
            if usize::from(lane_of[ways.at(i, j)]) != full || !lanes[empty].add_if_free(fabric, ways, (i, j)) {
                return false;
            }
            lanes[full].change(fabric, ways, (i, j), false);
            lane_of[ways.at(i, j)] = empty as u8;
            true
        });
        if moved {
            for other in 0..n {
                stuck[at(other, full)] = false;
                stuck[at(empty, other)] = false;
            }
        } else {
            stuck[at(full, empty)] = true;
        }
    }
}
