//! Fat-tree: each host's traffic comes down from one root over the links that fewest hosts use, so that shifts meet little contention
//! (Zahavi, Johnson, Kerbyson & Lang 2010).
//!
//! Ranks count from the roots, 0 there; every cable joins neighbouring ranks, and all hosts hang on the last one, the leaves. Leaves are taken from left to right,
//! their hosts in port order. From the leaf the main path climbs: to the upper switch whose cables carry the fewest hosts down, over its least used
//! cable. From every switch of the main path all that is below learns to come up to it, over the cables with the fewest paths up. The
//! other upper switches learn a way down, too, which counts nothing. A leaf with fewer hosts than others is filled up with hosts that do not exist,
//! so that leaves stay aligned.

use super::super::Tables;
use super::fabric::{FAR, Fabric};
use super::up_down::ranks;
use super::{Engine, Report, RouteError};
use std::collections::BTreeMap;

/// Time: hosts x switches x their neighbours. Memory: small beside the tables.
pub(super) fn route(fabric: &Fabric) -> Result<(Tables, Report), RouteError> {
    if fabric.subnet.lmc != 0 {
        let hint = "set LMC 0, or take `updn` or `dfsssp`";
        return Err(fabric.refuse(
            Engine::Ftree,
            format!("LMC is {}, one address per host is asked for", fabric.subnet.lmc),
            hint,
        ));
    }
    let tree = FatTree::of(fabric).map_err(|(reason, hint)| fabric.refuse(Engine::Ftree, reason, hint))?;
    let mut tables = fabric.tables();
    let width = tables.n_addresses as usize;
    let most = tree
        .leaves
        .iter()
        .map(|&leaf| fabric.hosts_of(leaf).len())
        .max()
        .unwrap_or(0);
    let mut climb = Climb {
        fabric,
        tree: &tree,
        down: vec![0; fabric.channels.len()],
        up: vec![0; fabric.channels.len()],
        entry: vec![NO_ENTRY; fabric.n_switches()],
    };
    for &leaf in &tree.leaves {
        let hosts = fabric.hosts_of(leaf);
        for k in 0..most {
            climb.entry.fill(NO_ENTRY);
            climb.entry[leaf as usize] = OWN;
            climb.go_up(leaf, u32::MAX, true);
            let Some(&host) = hosts.get(k) else {
                continue;
            };
            for (s, &c) in climb.entry.iter().enumerate().filter(|&(_, &c)| c < OWN) {
                tables.ports[s * width + host as usize] = fabric.channels.port[c as usize];
            }
        }
    }
    let roots = (0..fabric.n_switches() as u32).filter(|&s| tree.rank[s as usize] == 0);
    let report = Report {
        lanes_needed: 1,
        roots: roots.collect(),
        ..Report::default()
    };
    Ok((tables, report))
}

/// All cables of a switch to one other.
struct Group {
    to: u32,
    /// Channels to it, in port order.
    channels: Vec<u32>,
}

struct FatTree {
    rank: Vec<u16>,
    /// Leaves from left to right.
    leaves: Vec<u32>,
    /// Place of each switch among those of its rank, from left to right.
    index: Vec<u32>,
    /// Groups of each switch, in the order of their switches' places.
    ups: Vec<Vec<Group>>,
    downs: Vec<Vec<Group>>,
}

type Refusal = (String, &'static str);

impl FatTree {
    fn of(fabric: &Fabric) -> Result<Self, Refusal> {
        let n = fabric.n_switches();
        let with_hosts: Vec<u32> = fabric
            .order
            .iter()
            .copied()
            .filter(|&s| !fabric.hosts_of(s).is_empty())
            .collect();
        let Some(&first_leaf) = with_hosts.first() else {
            return Err(("no switch has hosts".into(), "connect hosts to the leaves"));
        };
        let given = !fabric.options.roots.is_empty();
        let mut rank = ranks(fabric, if given { &fabric.options.roots } else { &with_hosts });
        let last = (0..n)
            .filter_map(|s| (rank[s] != FAR).then_some(rank[s]))
            .max()
            .unwrap_or(0);
        if !given {
            rank.iter_mut()
                .filter(|rank| **rank != FAR)
                .for_each(|rank| *rank = last - *rank);
        }
        let name = |s: u32| fabric.name(s);
        for s in 0..n as u32 {
            if rank[s as usize] == FAR {
                return Err((
                    format!("`{}` has no way to the tree", name(s)),
                    "remove switches without cables",
                ));
            }
        }
        if let Some(&s) = with_hosts.iter().find(|&&s| rank[s as usize] != last) {
            return Err((
                format!(
                    "`{}` has hosts but is {} steps below the roots, leaves are {last}: not a fat-tree",
                    name(s),
                    rank[s as usize]
                ),
                "give the right roots, or take `updn`, which routes any shape",
            ));
        }
        for (&from, &to) in fabric.channels.from.iter().zip(&fabric.channels.to) {
            if rank[from as usize].abs_diff(rank[to as usize]) != 1 {
                return Err((
                    format!(
                        "a cable joins `{}` and `{}`, which are on one level: not a fat-tree",
                        name(from),
                        name(to)
                    ),
                    "take `updn` or `dfsssp`, which route any shape",
                ));
            }
        }
        let mut it = Self {
            rank,
            leaves: Vec::new(),
            index: vec![u32::MAX; n],
            ups: Vec::new(),
            downs: Vec::new(),
        };
        for s in 0..n as u32 {
            let groups = |up: bool| {
                let mut groups: Vec<Group> = Vec::new();
                for c in fabric.channels.of_switch(s) {
                    let to = fabric.channels.to[c];
                    if (it.rank[to as usize] < it.rank[s as usize]) != up {
                        continue;
                    }
                    match groups.iter_mut().find(|group| group.to == to) {
                        Some(group) => group.channels.push(c as u32),
                        None => groups.push(Group {
                            to,
                            channels: vec![c as u32],
                        }),
                    }
                }
                groups
            };
            let (ups, downs) = (groups(true), groups(false));
            it.ups.push(ups);
            it.downs.push(downs);
        }
        if !given {
            it.regular(fabric)?;
        }
        it.number(&with_hosts, first_leaf, last);
        Ok(it)
    }

    /// Without roots given, all switches of a rank must look alike.
    fn regular(&self, fabric: &Fabric) -> Result<(), Refusal> {
        let shape = |s: u32| {
            let cables = |groups: &[Group]| {
                let mut cables: Vec<usize> = groups.iter().map(|group| group.channels.len()).collect();
                cables.sort_unstable();
                cables
            };
            (cables(&self.ups[s as usize]), cables(&self.downs[s as usize]))
        };
        let mut of_rank = BTreeMap::new();
        for &s in &fabric.order {
            let first = *of_rank.entry(self.rank[s as usize]).or_insert(s);
            let words = |groups: &[Group]| {
                let cables: usize = groups.iter().map(|group| group.channels.len()).sum();
                format!("{cables} cables to {}", groups.len())
            };
            if shape(first) != shape(s) {
                let tell = |s: u32| {
                    let (ups, downs) = (&self.ups[s as usize], &self.downs[s as usize]);
                    format!(
                        "`{}` has {} switches above and {} below",
                        fabric.name(s),
                        words(ups),
                        words(downs)
                    )
                };
                return Err((
                    format!("{}, {} on the same level: not a regular tree", tell(first), tell(s)),
                    "give the roots: then the tree may be irregular; or take `updn`",
                ));
            }
        }
        Ok(())
    }

    /// Numbers the switches of every rank from left to right: leaves as they are met going down from a root in port order, switches
    /// above as leaves meet them going up in port order. Then puts groups in that order.
    fn number(&mut self, with_hosts: &[u32], first_leaf: u32, last: u16) {
        let mut met = vec![false; self.rank.len()];
        for &leaf in std::iter::once(&first_leaf).chain(with_hosts) {
            if met[leaf as usize] {
                continue;
            }
            let mut root = leaf;
            while let Some(group) = self.ups[root as usize].first() {
                root = group.to;
            }
            let mut stack = vec![root];
            while let Some(s) = stack.pop() {
                if std::mem::replace(&mut met[s as usize], true) {
                    continue;
                }
                if self.rank[s as usize] == last {
                    self.leaves.push(s);
                }
                stack.extend(self.downs[s as usize].iter().rev().map(|group| group.to));
            }
            if !met[leaf as usize] {
                met[leaf as usize] = true;
                self.leaves.push(leaf);
            }
        }
        let mut row = self.leaves.clone();
        while !row.is_empty() {
            for (k, &s) in (0..).zip(&row) {
                self.index[s as usize] = k;
            }
            let above = row.iter().flat_map(|&s| &self.ups[s as usize]).map(|group| group.to);
            let mut known = vec![false; self.rank.len()];
            row = above
                .filter(|&s| !std::mem::replace(&mut known[s as usize], true))
                .collect();
        }
        for groups in self.ups.iter_mut().chain(&mut self.downs) {
            groups.sort_by_key(|group| self.index[group.to as usize]);
        }
    }
}

/// A switch without an entry, and the leaf of the host itself.
const NO_ENTRY: u32 = u32::MAX;
const OWN: u32 = u32::MAX - 1;

/// The entries of one address as they grow, and how often every cable was taken.
struct Climb<'a> {
    fabric: &'a Fabric<'a>,
    tree: &'a FatTree,
    /// By the channel that goes up a cable: hosts whose traffic comes down it, and entries that lead up it.
    down: Vec<u32>,
    up: Vec<u32>,
    /// Channel of each switch towards the address.
    entry: Vec<u32>,
}

impl Climb<'_> {
    /// Gives the switches above `at` their way down to it, and all that is below `at` a way up. `main`: the path is counted.
    fn go_up(&mut self, at: u32, from: u32, main: bool) {
        self.go_down(at, from, main);
        let tree = self.tree;
        let groups = &tree.ups[at as usize];
        let mut order: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(groups.len());
        for (k, group) in groups.iter().enumerate() {
            let carried = self.carried(&group.channels);
            let downs = tree.downs[group.to as usize].iter();
            let least = downs.map(|down| self.carried_back(&down.channels)).min().unwrap_or(0);
            order.push((carried, least, tree.index[group.to as usize], k));
        }
        order.sort_unstable();
        let mut main = main;
        for (_, _, _, k) in order {
            let group = &groups[k];
            if self.entry[group.to as usize] == NO_ENTRY {
                let Some(&cable) = group.channels.iter().min_by_key(|&&c| self.down[c as usize]) else {
                    continue;
                };
                self.entry[group.to as usize] = self.fabric.channels.back[cable as usize];
                if main {
                    self.down[cable as usize] += 1;
                }
                self.go_up(group.to, at, main);
            }
            main = false;
        }
    }

    /// Gives all switches below `at` that have no entry a way up to it, and says whether a leaf was among them. A cable that no leaf
    /// came to use does not count: another one's leaves have taken it for them all.
    fn go_down(&mut self, at: u32, from: u32, main: bool) -> bool {
        let (tree, channels) = (self.tree, &self.fabric.channels);
        let groups = &tree.downs[at as usize];
        let mut order: Vec<(u32, u32, usize)> = Vec::new();
        for (k, group) in groups.iter().enumerate() {
            if group.to != from && self.entry[group.to as usize] == NO_ENTRY {
                let climbed = group
                    .channels
                    .iter()
                    .map(|&c| self.up[channels.back[c as usize] as usize]);
                order.push((climbed.sum(), tree.index[group.to as usize], k));
            }
        }
        order.sort_unstable();
        let mut used = groups.is_empty();
        for (_, _, k) in order {
            let group = &groups[k];
            let ups = group.channels.iter().map(|&c| channels.back[c as usize]);
            let Some(cable) = ups.min_by_key(|&c| self.up[c as usize]) else {
                continue;
            };
            if self.entry[group.to as usize] != NO_ENTRY {
                continue;
            }
            self.entry[group.to as usize] = cable;
            if self.go_down(group.to, at, main) {
                used = true;
                if main {
                    self.up[cable as usize] += 1;
                }
            }
        }
        used
    }

    /// Hosts that come down a group, seen from below.
    fn carried(&self, channels: &[u32]) -> u32 {
        channels.iter().map(|&c| self.down[c as usize]).sum()
    }

    /// The same seen from above.
    fn carried_back(&self, channels: &[u32]) -> u32 {
        channels
            .iter()
            .map(|&c| self.down[self.fabric.channels.back[c as usize] as usize])
            .sum()
    }
}
