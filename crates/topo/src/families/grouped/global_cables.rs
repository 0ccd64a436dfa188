//! Which router of a group owns which global cable: the arrangements of dragonflies.
//!
//! A group of `a` owners has `(groups - 1) * links_per_pair` global slots. Slot `p * (groups - 1) + k` carries the `p`-th cable to
//! the `k`-th peer group in the arrangement's order, and slots are dealt to owners in consecutive blocks whose lengths differ by at
//! most one. So with many cables per pair every owner reaches many groups, and the cables of a pair are spread over owners.
//! Arrangements: Camarero, Vallejo & Beivide 2014; Hastings et al. 2015.

use crate::division::FastDiv;
use crate::random::split_mix;
use study::choice;

choice! {
    /// Global cable arrangement of a dragonfly (Camarero et al. 2014; Hastings et al. 2015).
    pub enum Arrangement {
        Absolute = "absolute", "Port k of a group goes to group k, itself skipped.";
        Relative = "relative", "Port k of group g goes to group g + k + 1.";
        Circulant = "circulant", "Ports alternate between g + i and g - i.";
        Random = "random", "A seeded random assignment.";
    }
}

/// One end of a global cable as seen from its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GlobalEnd {
    /// Owner's index among the owners of its group.
    pub(crate) owner: u32,
    /// Index of the other end's owner in its group.
    pub(crate) peer: u32,
    /// Its ports to that router.
    pub(crate) ports: GlobalPorts,
}

/// The ports of all cables from one router to another of another group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GlobalPorts {
    /// The first, counted from its first global port.
    pub(crate) first: u16,
    /// How many.
    pub(crate) links: u16,
}

/// All global cables, from each group to each other.
#[derive(Clone, Debug)]
pub(super) struct GlobalCables {
    groups: u32,
    links_per_pair: u32,
    /// Where each pair of groups has one cable and its owner can be worked out: how.
    single: Option<SingleCables>,
    /// `links_per_pair` ends for (from, to), sorted by owner, at `(from * groups + to) * links_per_pair`.
    ends: Vec<GlobalEnd>,
    /// The owners of these ends alone, which all other routers of a group go by; empty where they can be worked out.
    owners: Vec<u32>,
}

impl GlobalCables {
    /// Lays the cables. `groups >= 1`, `n_owners >= 1`; `groups^2 * links_per_pair` was checked to fit.
    pub(crate) fn new(groups: u32, n_owners: u32, links_per_pair: u32, arrangement: Arrangement, seed: u64) -> Self {
        let slots = Slots::new(groups, links_per_pair, arrangement, seed);
        let total = u64::from(groups - 1) * u64::from(links_per_pair);
        let owner = |g, t, p| (u64::from(slots.slot(g, t, p)) * u64::from(n_owners) / total) as u32;
        let mut ends = Vec::with_capacity((u64::from(groups) * u64::from(groups) * u64::from(links_per_pair)) as usize);
        for g in 0..groups {
            for t in 0..groups {
                let from = ends.len();
                for p in 0..links_per_pair {
                    let (owner, peer) = if g == t {
                        (u32::MAX, u32::MAX)
                    } else {
                        (owner(g, t, p), owner(t, g, p))
                    };
                    ends.push(GlobalEnd {
                        owner,
                        peer,
                        ports: GlobalPorts::default(),
                    });
                }
                ends[from..].sort_unstable();
            }
        }
        let single = (links_per_pair == 1 && groups > 1 && arrangement != Arrangement::Random)
            .then(|| SingleCables::new(slots, n_owners))
            .flatten();
        let owners = match single {
            Some(_) => Vec::new(),
            None => ends.iter().map(|end| end.owner).collect(),
        };
        let mut cables = Self {
            groups,
            links_per_pair,
            single,
            ends,
            owners,
        };
        cables.number_ports(n_owners);
        cables
    }

    /// Gives each owner's cables port numbers, ordered by peer group and peer, so that parallel cables are consecutive.
    fn number_ports(&mut self, owners: u32) {
        let per_group = (self.groups * self.links_per_pair) as usize;
        for group in self.ends.chunks_mut(per_group.max(1)) {
            let mut next = vec![0u16; owners as usize];
            for pair in group.chunks_mut(self.links_per_pair.max(1) as usize) {
                for run in pair.chunk_by_mut(|a, b| (a.owner, a.peer) == (b.owner, b.peer)) {
                    let Some(port) = next.get_mut(run[0].owner as usize) else {
                        continue;
                    };
                    let links = run.len() as u16;
                    run.iter_mut()
                        .for_each(|e| e.ports = GlobalPorts { first: *port, links });
                    *port += links;
                }
            }
        }
    }

    /// The cables from one group to another, sorted by owner and peer; every cable has an entry, parallel ones have equal entries.
    #[inline]
    pub(crate) fn between(&self, from: u32, to: u32) -> &[GlobalEnd] {
        let first = ((from * self.groups + to) * self.links_per_pair) as usize;
        &self.ends[first..first + self.links_per_pair as usize]
    }

    /// The owner of one of the cables from one group to another, where there is no formula for it.
    #[inline]
    pub(crate) fn owner(&self, from: u32, to: u32, number: u32) -> u32 {
        self.owners[((from * self.groups + to) * self.links_per_pair + number) as usize]
    }

    /// The owner of the only cable from one group to another, without looking it up in a table that is large where groups are many; `None`
    /// where there are several cables, or the arrangement has no formula.
    #[inline]
    pub(crate) fn only_owner(&self, from: u32, to: u32) -> Option<u32> {
        self.single.as_ref().map(|single| single.owner(from, to))
    }

    /// The cables among those of [`GlobalCables::between`] that one router owns.
    #[inline]
    pub(crate) fn owned(ends: &[GlobalEnd], owner: u32) -> &[GlobalEnd] {
        let first = ends.partition_point(|e| e.owner < owner);
        let rest = &ends[first..];
        &rest[..rest.partition_point(|e| e.owner == owner)]
    }

    /// First port at the far end of the cables that an end stands for, counted from that router's first global port.
    pub(crate) fn far_port(&self, from: u32, to: u32, end: GlobalEnd) -> u16 {
        let back = Self::owned(self.between(to, from), end.peer);
        back.iter().find(|e| e.peer == end.owner).map_or(0, |e| e.ports.first)
    }

    /// Most global ports on one router: the block length of the dealing.
    pub(crate) fn most_ports(groups: u64, owners: u64, links_per_pair: u64) -> u64 {
        (groups.saturating_sub(1).saturating_mul(links_per_pair)).div_ceil(owners.max(1))
    }

    pub(crate) fn groups(&self) -> u32 {
        self.groups
    }

    pub(crate) fn links_per_pair(&self) -> u32 {
        self.links_per_pair
    }
}

/// How the owner of the one cable between two groups is worked out.
#[derive(Clone, Debug)]
struct SingleCables {
    slots: Slots,
    owners: u32,
    /// Division by the slots of a group.
    slots_per_group: FastDiv,
}

impl SingleCables {
    /// `None` where the numbers are too large for [`FastDiv`].
    fn new(slots: Slots, owners: u32) -> Option<Self> {
        let total = slots.groups - 1;
        let fits = u64::from(total) * u64::from(owners) < FastDiv::BOUND;
        fits.then(|| Self {
            slots,
            owners,
            slots_per_group: FastDiv::new(total),
        })
    }

    #[inline]
    fn owner(&self, from: u32, to: u32) -> u32 {
        self.slots_per_group.div(self.slots.slot(from, to, 0) * self.owners)
    }
}

/// The order in which a group deals its slots to its peers.
#[derive(Clone, Debug)]
struct Slots {
    groups: u32,
    arrangement: Arrangement,
    /// For `random`: rank of group `t` in the order of group `g` in round `p`, at `(p * groups + g) * groups + t`.
    rank: Vec<u32>,
}

impl Slots {
    fn new(groups: u32, rounds: u32, arrangement: Arrangement, seed: u64) -> Self {
        let mut rank = Vec::new();
        if arrangement == Arrangement::Random {
            let mut state = seed;
            for _ in 0..rounds {
                for g in 0..groups {
                    let mut order: Vec<u32> = (0..groups).filter(|&t| t != g).collect();
                    for i in (1..order.len()).rev() {
                        let bound = i as u128 + 1;
                        order.swap(i, ((u128::from(split_mix(&mut state)) * bound) >> 64) as usize);
                    }
                    let first = rank.len();
                    rank.resize(first + groups as usize, 0);
                    order
                        .iter()
                        .enumerate()
                        .for_each(|(k, &t)| rank[first + t as usize] = k as u32);
                }
            }
        }
        Self {
            groups,
            arrangement,
            rank,
        }
    }

    /// Slot of group `g` that carries the `p`-th cable to group `t`.
    #[inline]
    fn slot(&self, g: u32, t: u32, p: u32) -> u32 {
        let n = self.groups;
        let offset = if t > g { t - g } else { t + n - g };
        let k = match self.arrangement {
            Arrangement::Absolute => t - u32::from(t > g),
            Arrangement::Relative => offset - 1,
            Arrangement::Circulant if 2 * offset <= n => 2 * (offset - 1),
            Arrangement::Circulant => 2 * (n - offset) - 1,
            Arrangement::Random => self.rank[((p * n + g) * n + t) as usize],
        };
        p * (n - 1) + k
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrangement_deals_every_slot_once() {
        use Arrangement::*;
        for arrangement in [Absolute, Relative, Circulant, Random] {
            for (groups, links) in [(2, 1), (3, 2), (6, 1), (7, 3), (8, 5)] {
                let slots = Slots::new(groups, links, arrangement, 7);
                for g in 0..groups {
                    let peers = (0..groups).filter(|&t| t != g);
                    let mut dealt: Vec<u32> = peers
                        .flat_map(|t| (0..links).map(move |p| (t, p)))
                        .map(|(t, p)| slots.slot(g, t, p))
                        .collect();
                    dealt.sort_unstable();
                    let all: Vec<u32> = (0..(groups - 1) * links).collect();
                    assert_eq!(dealt, all, "{arrangement:?} group {g} of {groups}, {links} links");
                }
            }
        }
    }

    #[test]
    fn arrangements_follow_their_definitions() {
        let peer = |a, g, k| (0..9u32).find(|&t| t != g && Slots::new(9, 1, a, 0).slot(g, t, 0) == k);
        assert_eq!(
            (0..8).map(|k| peer(Arrangement::Absolute, 2, k)).collect::<Vec<_>>(),
            [0, 1, 3, 4, 5, 6, 7, 8].map(Some)
        );
        assert_eq!(
            (0..8).map(|k| peer(Arrangement::Relative, 2, k)).collect::<Vec<_>>(),
            [3, 4, 5, 6, 7, 8, 0, 1].map(Some)
        );
        assert_eq!(
            (0..8).map(|k| peer(Arrangement::Circulant, 2, k)).collect::<Vec<_>>(),
            [3, 1, 4, 0, 5, 8, 6, 7].map(Some)
        );
    }

    #[test]
    fn only_owners_are_those_of_the_table() {
        use Arrangement::*;
        for arrangement in [Absolute, Relative, Circulant, Random] {
            for (groups, owners) in [(2, 1), (2, 5), (3, 2), (9, 4), (33, 16), (34, 7), (65, 200)] {
                let cables = GlobalCables::new(groups, owners, 1, arrangement, 3);
                let pairs = (0..groups).flat_map(|g| (0..groups).map(move |t| (g, t)));
                for (g, t) in pairs.filter(|(g, t)| g != t) {
                    let known = (arrangement != Random).then(|| cables.between(g, t)[0].owner);
                    assert_eq!(
                        cables.only_owner(g, t),
                        known,
                        "{arrangement:?} {groups} {owners} {g} {t}"
                    );
                }
            }
        }
        let several = GlobalCables::new(9, 4, 2, Absolute, 3);
        assert_eq!(several.only_owner(0, 1), None);
    }

    #[test]
    fn random_arrangements_differ_by_seed_only() {
        let ends = |seed| GlobalCables::new(9, 4, 1, Arrangement::Random, seed).ends;
        assert_eq!(ends(1), ends(1));
        assert_ne!(ends(1), ends(2));
    }
}
