//! Up*/down*: every path goes up, towards the roots, before it goes down, so that one lane cannot deadlock (Schroeder et al. 1991).
//!
//! A switch's rank is its distance from the nearest root. A move to a smaller rank is up; at equal rank a move to the smaller identifier is,
//! and between roots every move. Paths have the least hops among those that the rule allows; ports are balanced as by min-hop.

use super::super::{Tables, find_cycle};
use super::fabric::{FAR, PreparedSubnet};
use super::{Report, RouteError, RoutingEngine, balance::balance};

/// Time: switches x (cables + addresses x ports). Memory: a bit per pair of a switch and a channel.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    let mut roots = fabric.options.roots.clone();
    if roots.is_empty() {
        roots = find_roots(fabric, &fabric.hops());
    }
    if roots.is_empty() {
        // The manager goes on with its first switch when nothing looks like a root.
        roots.push(fabric.order[0]);
    }
    let rank = ranks(fabric, &roots);
    let (channels, n) = (&fabric.channels, fabric.n_switches());
    let is_up = |from: u32, to: u32| {
        let (here, there) = (rank[from as usize], rank[to as usize]);
        let (own, other) = (key(fabric, from), key(fabric, to));
        there < here || there == here && (there == 0 || other < own)
    };
    let words = channels.len().div_ceil(64);
    let mut allowed = vec![0u64; n * words];
    fabric.by_rows(&mut allowed, words, |target, row| {
        spread(fabric, target as u32, row, is_up)
    });
    let tables = balance(fabric, |s, t, out| {
        let row = &allowed[t as usize * words..(t as usize + 1) * words];
        let set = channels.of_switch(s).filter(|&c| row[c / 64] >> (c % 64) & 1 == 1);
        out.extend(set.map(|c| c as u32));
    });
    let joined = (roots.iter()).any(|&s| channels.of_switch(s).any(|c| rank[channels.to[c] as usize] == 0));
    if let Some(cycle) = joined.then(|| find_cycle(fabric.subnet, &tables)).flatten() {
        return Err(fabric.refuse(
            RoutingEngine::UpDown,
            format!("paths between roots can deadlock, {}", cycle.describe(fabric.subnet)),
            "give roots that no cable joins",
        ));
    }
    let report = Report {
        lanes_needed: 1,
        roots,
        ..Report::default()
    };
    Ok((tables, report))
}

/// What equal ranks are ordered by: the identifier, then the number.
fn key(fabric: &PreparedSubnet, switch: u32) -> (u64, u32) {
    (fabric.subnet.switches[switch as usize].guid, switch)
}

/// Switches that look like the top of a tree: more than 90 % of all hosts are at one distance, and no other distance has more than 5 %.
fn find_roots(fabric: &PreparedSubnet, hops: &[u16]) -> Vec<u32> {
    let (n, n_hosts) = (fabric.n_switches(), fabric.subnet.hosts.len());
    let looks_like_one = |&s: &u32| {
        let mut at_distance = vec![0usize; n];
        for t in 0..n {
            let distance = hops[t * n + s as usize];
            if distance != FAR {
                at_distance[usize::from(distance)] += fabric.hosts_of(t as u32).len();
            }
        }
        let bars = |percent: usize| {
            at_distance
                .iter()
                .filter(|&&hosts| hosts * 100 > n_hosts * percent)
                .count()
        };
        bars(90) == 1 && bars(5) == 1
    };
    (0..n as u32).filter(looks_like_one).collect()
}

/// Distances from the nearest root.
pub(super) fn ranks(fabric: &PreparedSubnet, roots: &[u32]) -> Vec<u16> {
    let mut rank = vec![FAR; fabric.n_switches()];
    let mut queue = roots.to_vec();
    queue.iter().for_each(|&root| rank[root as usize] = 0);
    let mut next = 0;
    while let Some(&at) = queue.get(next) {
        next += 1;
        for c in fabric.channels.of_switch(at) {
            let to = fabric.channels.to[c];
            if rank[to as usize] == FAR {
                rank[to as usize] = rank[at as usize] + 1;
                queue.push(to);
            }
        }
    }
    rank
}

/// Marks the channels that switches may send on towards a target, searching from there: no move up after one down, which is no move
/// down before one up for the traffic. A switch that is first reached by a move up lets traffic go down only, so that the move down of another
/// path of the same length does not count there.
fn spread(fabric: &PreparedSubnet, target: u32, marked: &mut [u64], is_up: impl Fn(u32, u32) -> bool) {
    let (channels, n) = (&fabric.channels, fabric.n_switches());
    let (mut distance, mut climbs) = (vec![FAR; n], vec![true; n]);
    let mut queue = vec![target];
    distance[target as usize] = 0;
    let mut next = 0;
    while let Some(&at) = queue.get(next) {
        next += 1;
        let onward = distance[at as usize] + 1;
        for c in channels.of_switch(at) {
            let to = channels.to[c];
            let up = is_up(at, to);
            if up && !climbs[at as usize] {
                continue;
            }
            if distance[to as usize] == FAR {
                distance[to as usize] = onward;
                climbs[to as usize] = up;
                queue.push(to);
            } else if distance[to as usize] != onward || climbs[to as usize] && !up {
                continue;
            }
            let back = channels.back[c] as usize;
            marked[back / 64] |= 1 << (back % 64);
        }
    }
}
