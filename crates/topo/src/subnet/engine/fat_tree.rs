//! Fat-tree: each host's traffic comes down from one root over the links that fewest hosts use, so that shifts meet little contention
//! (Zahavi, Johnson, Kerbyson & Lang 2010).
//!
//! Ranks count from the roots, 0 there; every cable joins neighbouring ranks, and all hosts hang on the last one, the leaves. Leaves are taken from left to right,
//! their hosts in port order. From the leaf the main path climbs: to the upper switch whose cables carry the fewest hosts down, over its least used
//! cable. From every switch of the main path all that is below learns to come up to it, over the cables with the fewest paths up. The
//! other upper switches learn a way down, too, which counts nothing. A leaf with fewer hosts than others is filled up with hosts that do not exist,
//! so that leaves stay aligned.

use super::super::Tables;
use super::fabric::{FAR, PreparedSubnet};
use super::up_down::ranks;
use super::{Report, RouteError, RoutingEngine};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Time: hosts x switches x their neighbours. Memory: small beside the tables.
pub(super) fn route(fabric: &PreparedSubnet) -> Result<(Tables, Report), RouteError> {
    if fabric.subnet.lmc != 0 {
        let hint = "set LMC 0, or take `updn` or `dfsssp`";
        return Err(fabric.refuse(
            RoutingEngine::Ftree,
            format!("LMC is {}, one address per host is asked for", fabric.subnet.lmc),
            hint,
        ));
    }
    let tree = RankedTree::of(fabric).map_err(|(reason, hint)| fabric.refuse(RoutingEngine::Ftree, reason, hint))?;
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
        hops: vec![FAR; fabric.n_switches()],
    };
    for &leaf in &tree.leaves {
        let hosts = fabric.hosts_of(leaf);
        for k in 0..most {
            climb.route(leaf);
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
struct CableGroup {
    to: u32,
    /// Channels to it, in port order.
    channels: Vec<u32>,
}

struct RankedTree {
    rank: Vec<u16>,
    /// Leaves from left to right.
    leaves: Vec<u32>,
    /// Place of each switch among all; those of a rank count from left to right.
    place: Vec<u32>,
    /// Groups of each switch, in the order of their switches' places.
    ups: Vec<Vec<CableGroup>>,
    downs: Vec<Vec<CableGroup>>,
}

type Refusal = (String, &'static str);

impl RankedTree {
    fn of(fabric: &PreparedSubnet) -> Result<Self, Refusal> {
        let n = fabric.n_switches();
        let with_hosts: Vec<u32> = fabric
            .order
            .iter()
            .copied()
            .filter(|&s| !fabric.hosts_of(s).is_empty())
            .collect();
        if with_hosts.is_empty() {
            return Err(("no switch has hosts".into(), "connect hosts to the leaves"));
        }
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
            place: vec![u32::MAX; n],
            ups: Vec::new(),
            downs: Vec::new(),
        };
        for s in 0..n as u32 {
            let groups = |up: bool| {
                let mut groups: Vec<CableGroup> = Vec::new();
                for c in fabric.channels.of_switch(s) {
                    let to = fabric.channels.to[c];
                    if (it.rank[to as usize] < it.rank[s as usize]) != up {
                        continue;
                    }
                    match groups.iter_mut().find(|group| group.to == to) {
                        Some(group) => group.channels.push(c as u32),
                        None => groups.push(CableGroup {
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
        it.number(&with_hosts, last);
        Ok(it)
    }

    /// Without roots given, all switches of a rank must look alike.
    fn regular(&self, fabric: &PreparedSubnet) -> Result<(), Refusal> {
        let shape = |s: u32| {
            let cables = |groups: &[CableGroup]| {
                let mut cables: Vec<usize> = groups.iter().map(|group| group.channels.len()).collect();
                cables.sort_unstable();
                cables
            };
            (cables(&self.ups[s as usize]), cables(&self.downs[s as usize]))
        };
        let mut of_rank = BTreeMap::new();
        for &s in &fabric.order {
            let first = *of_rank.entry(self.rank[s as usize]).or_insert(s);
            let words = |groups: &[CableGroup]| {
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

    /// Gives every switch its place as the manager does, then puts leaves and groups in that order.
    ///
    /// A switch has a tuple: its rank and a digit per rank below the roots. Tuples are dealt breadth first from the first leaf, the
    /// switches below one before those above it, in port order: a neighbour has the digits of the switch it is met from but for that
    /// of the lower rank of the two, which gets the least value that makes the tuple a new one. Parts of the fabric that no cable
    /// joins share no load, so that their order is our own.
    fn number(&mut self, with_hosts: &[u32], last: u16) {
        let mut tuples: Vec<Option<Tuple>> = vec![None; self.rank.len()];
        let mut taken = HashSet::new();
        let mut queue = VecDeque::new();
        for (part, &leaf) in (0..).zip(with_hosts) {
            if tuples[leaf as usize].is_some() {
                continue;
            }
            let tuple = Tuple {
                part,
                rank: last,
                digits: vec![0; usize::from(last)],
            };
            taken.insert(tuple.clone());
            tuples[leaf as usize] = Some(tuple);
            queue.push_back(leaf);
            while let Some(at) = queue.pop_front() {
                for group in self.downs[at as usize].iter().chain(&self.ups[at as usize]) {
                    if tuples[group.to as usize].is_some() {
                        continue;
                    }
                    let Some(mut tuple) = tuples[at as usize].clone() else {
                        continue;
                    };
                    let below = usize::from(tuple.rank.max(self.rank[group.to as usize]));
                    tuple.rank = self.rank[group.to as usize];
                    tuple.digits[below - 1] = 0;
                    while !taken.insert(tuple.clone()) {
                        tuple.digits[below - 1] += 1;
                    }
                    tuples[group.to as usize] = Some(tuple);
                    queue.push_back(group.to);
                }
            }
        }
        let mut order: Vec<u32> = (0..self.rank.len() as u32).collect();
        order.sort_by(|&a, &b| tuples[a as usize].cmp(&tuples[b as usize]));
        for (place, &s) in (0..).zip(&order) {
            self.place[s as usize] = place;
        }
        self.leaves = order.into_iter().filter(|&s| self.rank[s as usize] == last).collect();
        for groups in self.ups.iter_mut().chain(&mut self.downs) {
            groups.sort_by_key(|group| self.place[group.to as usize]);
        }
    }
}

/// A switch's coordinates in the tree; the order of fields is that of switches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Tuple {
    /// Which of the parts that no cable joins.
    part: u32,
    /// Cables to the roots.
    rank: u16,
    /// The digit of rank 1, 2, ... down to the leaves.
    digits: Vec<u32>,
}

/// A switch without an entry, and the leaf of the host itself.
const NO_ENTRY: u32 = u32::MAX;
const OWN: u32 = u32::MAX - 1;

/// The entries of one address as they grow, and how often every cable was taken.
struct Climb<'a> {
    fabric: &'a PreparedSubnet<'a>,
    tree: &'a RankedTree,
    /// By the channel that goes up a cable: hosts whose traffic comes down it, and entries that lead up it.
    down: Vec<u32>,
    up: Vec<u32>,
    /// Channel of each switch towards the address.
    entry: Vec<u32>,
    /// Cables between it and the host's leaf by that entry; [`FAR`] without one.
    hops: Vec<u16>,
}

impl Climb<'_> {
    /// Gives all switches their way to the next host of a leaf.
    fn route(&mut self, leaf: u32) {
        self.entry.fill(NO_ENTRY);
        self.hops.fill(FAR);
        (self.entry[leaf as usize], self.hops[leaf as usize]) = (OWN, 0);
        self.go_up(leaf, u32::MAX, true);
    }

    /// Gives the switches above `at` their way down to it, and all that is below `at` a way up. `main`: the path is counted.
    ///
    /// A switch that has a way already changes to this one where it is shorter: one that was to go up to a root of the main path
    /// comes down to the leaf once the leaf reaches it.
    fn go_up(&mut self, at: u32, from: u32, main: bool) {
        self.go_down(at, from, main);
        let tree = self.tree;
        let groups = &tree.ups[at as usize];
        let onward = self.hops[at as usize] + 1;
        let mut order: Vec<(u32, u32, u32, usize)> = Vec::with_capacity(groups.len());
        for (k, group) in groups.iter().enumerate() {
            let carried = self.carried(&group.channels);
            let downs = tree.downs[group.to as usize].iter();
            let least = downs.map(|down| self.carried_back(&down.channels)).min().unwrap_or(0);
            order.push((carried, least, tree.place[group.to as usize], k));
        }
        order.sort_unstable();
        let mut main = main;
        for (_, _, _, k) in order {
            let group = &groups[k];
            if onward < self.hops[group.to as usize] {
                let Some(&cable) = group.channels.iter().min_by_key(|&&c| self.down[c as usize]) else {
                    continue;
                };
                self.entry[group.to as usize] = self.fabric.channels.back[cable as usize];
                self.hops[group.to as usize] = onward;
                if main {
                    self.down[cable as usize] += 1;
                }
                self.go_up(group.to, at, main);
            }
            main = false;
        }
    }

    /// Gives all switches below `at` that have no way as short a way up to it, and says whether a leaf was among them. A cable that no leaf
    /// came to use does not count: another one's leaves have taken it for them all.
    fn go_down(&mut self, at: u32, from: u32, main: bool) -> bool {
        let (tree, channels) = (self.tree, &self.fabric.channels);
        let groups = &tree.downs[at as usize];
        let onward = self.hops[at as usize] + 1;
        let mut order: Vec<(u32, u32, usize)> = Vec::new();
        for (k, group) in groups.iter().enumerate() {
            if group.to != from && onward < self.hops[group.to as usize] {
                let climbed = group
                    .channels
                    .iter()
                    .map(|&c| self.up[channels.back[c as usize] as usize]);
                order.push((climbed.sum(), tree.place[group.to as usize], k));
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
            if onward >= self.hops[group.to as usize] {
                continue;
            }
            self.entry[group.to as usize] = cable;
            self.hops[group.to as usize] = onward;
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

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::subnet::{End, Host, Subnet, Switch};

    /// Three leaves of one host under two spines, cabled crosswise: `cables` are (leaf, port, spine, port).
    fn crossed(cables: &[(u32, u16, u32, u16)]) -> Subnet {
        let mut subnet = Subnet::default();
        for s in 0..5u32 {
            subnet.switches.push(Switch {
                name: format!("s{s}"),
                guid: u64::from(s),
                ports: vec![None; 4],
            });
        }
        for leaf in 0..3 {
            subnet.hosts.push(Host {
                name: format!("h{leaf}"),
                guid: 16 + u64::from(leaf),
                switch: leaf,
                port: 1,
            });
            subnet.switches[leaf as usize].ports[1] = Some(End::Host(leaf));
        }
        for &(leaf, p, spine, q) in cables {
            subnet.switches[leaf as usize].ports[usize::from(p)] = Some(End::Switch { switch: spine, port: q });
            subnet.switches[spine as usize].ports[usize::from(q)] = Some(End::Switch { switch: leaf, port: p });
        }
        assert_eq!(subnet.verify(), Ok(()));
        subnet
    }

    #[test]
    fn switches_stand_in_the_order_in_which_ports_meet_them_from_the_first_leaf() {
        // From leaf 1: spine 4 (0, 0) by port 2, spine 3 (0, 1) by port 3. Leaf 1 has digits (0, 0): spine 4's other leaves differ from
        // the spine's digits in the first, and get 1 and 2 in its port order: 2, then 0.
        let subnet = crossed(&[
            (1, 2, 4, 3),
            (1, 3, 3, 1),
            (2, 2, 4, 1),
            (2, 3, 3, 2),
            (0, 2, 4, 2),
            (0, 3, 3, 3),
        ]);
        let options = Options {
            order: vec![1, 0, 2, 3, 4],
            ..Options::default()
        };
        let fabric = PreparedSubnet::new(&subnet, &options).unwrap();
        let tree = RankedTree::of(&fabric).unwrap();
        assert_eq!(tree.leaves, [1, 2, 0]);
        assert_eq!(tree.place, [4, 2, 3, 1, 0]);
        let ups: Vec<u32> = tree.ups[0].iter().map(|group| group.to).collect();
        assert_eq!(ups, [4, 3]);
        let downs: Vec<u32> = tree.downs[3].iter().map(|group| group.to).collect();
        assert_eq!(downs, [1, 2, 0]);
    }
}
