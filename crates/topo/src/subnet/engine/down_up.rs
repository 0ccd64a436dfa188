//! Down*/up* (OpenSM's `dnup`): as up*/down*, but ranks count from the switches with hosts, whichever these are, so that hosts may hang nearer to the top
//! than some switches without any.
//!
//! A switch's rank is its distance from the nearest switch with hosts. For the traffic no move towards hosts comes directly before one away from them; moves
//! between equal ranks are always allowed, and what stands before them is forgotten, so freedom from deadlock is not promised. Ports are balanced as by min-hop.

use super::super::Tables;
use super::fabric::{FAR, PreparedSubnet};
use super::up_down::ranks;
use super::{Report, balance::balance};
use std::collections::VecDeque;

/// Where a move of the search leads, seen from the target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Towards {
    /// To switches that are farther from hosts.
    Away,
    /// To switches that are nearer to hosts.
    Hosts,
    /// To a switch of the same rank.
    Beside,
}

/// Time and memory as up*/down*.
pub(super) fn route(fabric: &PreparedSubnet) -> (Tables, Report) {
    let (channels, n) = (&fabric.channels, fabric.n_switches());
    let leaves: Vec<u32> = (0..n as u32).filter(|&s| !fabric.hosts_of(s).is_empty()).collect();
    let rank = ranks(fabric, &leaves);
    let words = channels.len().div_ceil(64);
    let mut allowed = vec![0u64; n * words];
    fabric.by_rows(&mut allowed, words, |target, row| {
        spread(fabric, &rank, target as u32, row);
    });
    let tables = balance(fabric, |s, t, out| {
        let row = &allowed[t as usize * words..(t as usize + 1) * words];
        let set = channels.of_switch(s).filter(|&c| row[c / 64] >> (c % 64) & 1 == 1);
        out.extend(set.map(|c| c as u32));
    });
    let report = Report {
        lanes_needed: 1,
        ..Report::default()
    };
    (tables, report)
}

/// Marks the channels by which switches send on towards a target, searching from there: those of the least hops that the rule allows. A switch that is met again on a
/// channel of its own, when it has been looked at, is looked at once more, with the direction from which it was met then; its hops stay the least.
fn spread(fabric: &PreparedSubnet, rank: &[u16], target: u32, marked: &mut [u64]) {
    let (channels, n) = (&fabric.channels, fabric.n_switches());
    let (mut by_channel, mut least) = (vec![FAR; channels.len()], vec![FAR; n]);
    let (mut came, mut waits) = (vec![Towards::Away; n], vec![false; n]);
    least[target as usize] = 0;
    let mut queue = VecDeque::from([target]);
    while let Some(at) = queue.pop_front() {
        waits[at as usize] = false;
        let (own, onward) = (came[at as usize], least[at as usize] + 1);
        for c in channels.of_switch(at) {
            let to = channels.to[c];
            let next = match rank[at as usize].cmp(&rank[to as usize]) {
                std::cmp::Ordering::Less => Towards::Away,
                std::cmp::Ordering::Greater => Towards::Hosts,
                std::cmp::Ordering::Equal => Towards::Beside,
            };
            let back = channels.back[c] as usize;
            if own == Towards::Hosts && next == Towards::Away || onward >= by_channel[back] {
                continue;
            }
            by_channel[back] = onward;
            least[to as usize] = least[to as usize].min(onward);
            if !waits[to as usize] {
                (came[to as usize], waits[to as usize]) = (next, true);
                queue.push_back(to);
            }
        }
    }
    for s in (0..n as u32).filter(|&s| s != target && least[s as usize] < FAR) {
        for c in channels.of_switch(s).filter(|&c| by_channel[c] == least[s as usize]) {
            marked[c / 64] |= 1 << (c % 64);
        }
    }
}
