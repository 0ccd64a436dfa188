//! Layers by the plainest means, every path a list of channels and every dependency a list of paths: what [`super::assign`] must give.

use super::super::super::{End, Host, Subnet, Switch};
use super::super::fabric::PreparedSubnet;
use super::super::trees::Trees;
use super::super::{Options, sssp};
use super::{Layers, TooFew, assign};
use crate::random::split_mix;
use std::collections::BTreeMap;

struct Path {
    /// Place in [`Layers::layer_of`].
    place: usize,
    pairs: u64,
    channels: Vec<u32>,
}

fn plain(fabric: &PreparedSubnet, trees: &Trees, most: u8) -> Result<Layers, TooFew> {
    let width = trees.n_destinations() as usize;
    let mut paths = Vec::new();
    for &destination in &trees.order {
        for source in fabric.by_load() {
            let n_hosts = fabric.hosts_of(source).len() as u64;
            let step = |&c: &u32| trees.tree(destination).next(fabric, fabric.channels.to[c as usize]);
            if n_hosts > 0 {
                paths.push(Path {
                    place: source as usize * width + destination as usize,
                    pairs: n_hosts << fabric.subnet.lmc,
                    channels: std::iter::successors(trees.tree(destination).next(fabric, source), step).collect(),
                });
            }
        }
    }
    let n = fabric.n_switches();
    let total: u64 = (0..n as u32).map(|s| fabric.lids_of(s)).sum();
    let mut layers = Layers {
        layer_of: vec![0; n * width],
        pairs: vec![total * (total - 1)],
    };
    for layer in 1..=most {
        let moved = split(fabric, paths, layer == most)?;
        let pairs: u64 = moved.iter().map(|path| path.pairs).sum();
        if pairs == 0 {
            break;
        }
        moved.iter().for_each(|path| layers.layer_of[path.place] = layer);
        layers.pairs[usize::from(layer) - 1] -= pairs;
        layers.pairs.push(pairs);
        paths = moved;
    }
    Ok(layers)
}

/// The paths that leave a layer, in that order.
fn split(fabric: &PreparedSubnet, paths: Vec<Path>, last: bool) -> Result<Vec<Path>, TooFew> {
    let n = fabric.channels.len();
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut users: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    let mut tree = None;
    for (k, path) in paths.iter().enumerate() {
        for &c in &path.channels {
            let rank = fabric.rank[fabric.channels.from[c as usize] as usize];
            insert(&mut tree, (rank, fabric.channels.port[c as usize]), c);
        }
        for pair in path.channels.windows(2) {
            let users = users.entry((pair[0], pair[1])).or_default();
            if users.is_empty() {
                next[pair[0] as usize].push(pair[1]);
            }
            users.push(k);
        }
    }
    let mut starts = Vec::new();
    preorder(&tree, &mut starts);
    let mut paths: Vec<Option<Path>> = paths.into_iter().map(Some).collect();
    let mut moved = Vec::new();
    let (mut open, mut finished): (Vec<u32>, _) = (Vec::new(), vec![false; n]);
    let (mut tried, mut before) = (vec![0; n], vec![None; n]);
    loop {
        let Some(&at) = open.last() else {
            match starts.iter().find(|&&c| !finished[c as usize]) {
                Some(&start) => open.push(start),
                None => return Ok(moved),
            }
            continue;
        };
        let Some(&to) = next[at as usize].get(tried[at as usize]) else {
            finished[at as usize] = true;
            open.pop();
            if let (Some(before), []) = (before[at as usize].take(), &open[..]) {
                (finished[before as usize], tried[before as usize]) = (false, 0);
                open.push(before);
            }
            continue;
        };
        if let Some(closing) = open.iter().position(|&c| c == to) {
            let cycle = open.split_off(closing);
            if last {
                return Err(TooFew(cycle));
            }
            let pairs = |dependency: &(u32, u32)| -> u64 {
                (users[dependency].iter().flat_map(|&k| &paths[k]))
                    .map(|path| path.pairs)
                    .sum()
            };
            let round = cycle.iter().copied().zip(cycle[1..].iter().chain(&cycle).copied());
            let weakest = round.min_by_key(pairs).unwrap();
            next[weakest.0 as usize].retain(|&c| c != weakest.1);
            moved.extend(users[&weakest].iter().filter_map(|&k| paths[k].take()));
            cycle.iter().for_each(|&c| tried[c as usize] = 0);
            open.push(to);
            continue;
        }
        tried[at as usize] += 1;
        if !finished[to as usize] {
            before[to as usize] = Some(at);
            open.push(to);
        }
    }
}

/// An unbalanced binary search tree of channels.
type Node = Option<Box<(Key, u32, [Link; 2])>>;
struct Link(Node);
type Key = (u32, u16);

fn insert(node: &mut Node, key: Key, channel: u32) {
    match node {
        None => *node = Some(Box::new((key, channel, [Link(None), Link(None)]))),
        Some(node) if node.0 == key => {}
        Some(node) => insert(&mut node.2[usize::from(key > node.0)].0, key, channel),
    }
}

fn preorder(node: &Node, channels: &mut Vec<u32>) {
    if let Some(node) = node {
        channels.push(node.1);
        node.2.iter().for_each(|child| preorder(&child.0, channels));
    }
}

/// A random connected subnet with parallel cables and switches without hosts.
fn random(seed: u64) -> Subnet {
    let mut state = seed;
    let mut below = |n: u64| split_mix(&mut state) % n;
    let n = 4 + below(20) as u32;
    let mut it = Subnet {
        lmc: below(2) as u8,
        ..Subnet::default()
    };
    for switch in 0..n {
        let mut ports = vec![None];
        for _ in 0..below(4) {
            let host = it.hosts.len() as u32;
            it.hosts.push(Host {
                name: format!("h{host}"),
                guid: 0x1_0000 + u64::from(host),
                switch,
                port: ports.len() as u16,
            });
            ports.push(Some(End::Host(host)));
        }
        it.switches.push(Switch {
            name: format!("s{switch}"),
            guid: below(u64::MAX),
            ports,
        });
    }
    let round = (0..n).map(|s| (s, (s + 1) % n));
    let chords = below(u64::from(n));
    let chords = (0..chords).map(|_| (below(u64::from(n)) as u32, below(u64::from(n)) as u32));
    for (a, b) in round.chain(chords).filter(|(a, b)| a != b).collect::<Vec<_>>() {
        let port = |s: u32| it.switches[s as usize].ports.len() as u16;
        let (p, q) = (port(a), port(b));
        it.switches[a as usize]
            .ports
            .push(Some(End::Switch { switch: b, port: q }));
        it.switches[b as usize]
            .ports
            .push(Some(End::Switch { switch: a, port: p }));
    }
    assert_eq!(it.verify(), Ok(()));
    it
}

#[test]
fn layers_are_those_of_the_plain_way() {
    let mut layers_needed = [0; 9];
    for seed in 0..300 {
        let (subnet, options) = (random(seed), Options::default());
        let fabric = PreparedSubnet::new(&subnet, &options).unwrap();
        let trees = sssp::lay(&fabric);
        for most in [1, 2, 8] {
            match (assign(&fabric, &trees, most), plain(&fabric, &trees, most)) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!(found.pairs, expected.pairs, "seed {seed}, {most} layers");
                    assert_eq!(found.layer_of, expected.layer_of, "seed {seed}, {most} layers");
                    layers_needed[found.pairs.len()] += 1;
                }
                (Err(found), Err(expected)) => {
                    assert_eq!(found.0, expected.0, "seed {seed}, {most} layers");
                    layers_needed[0] += 1;
                }
                _ => panic!("seed {seed}: only one finds that {most} layers are enough"),
            }
        }
    }
    // Refusals and fabrics of one to three layers are all among them.
    assert!(layers_needed[..4].iter().all(|&n| n > 10), "{layers_needed:?}");
}
