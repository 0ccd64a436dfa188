//! A built network: its wiring and the questions that routings, patterns and drawings ask of it.

use crate::division::{FastDiv, HALF, pick};
use crate::fallout::Fallout;
use crate::families::{Coordinates, Curtailed, Direct, Geometry, LatticeGeometry, Tie, TopologySpec};
use crate::hop::{Came, DimensionPorts, GlobalLink, Hop, HopList};
use crate::wiring::Wiring;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Networks of so many routers have the distances of all pairs in a table (16 kB): they are asked for with every packet.
const MOST_IN_TABLE: u32 = 128;

/// A network of routers and nodes, immutable; made by [`TopologySpec::build`].
///
/// Router, port and node numbers given to its methods must exist: a number out of range is a broken invariant of the caller and
/// panics.
#[derive(Clone, Debug)]
pub struct Topology {
    spec: TopologySpec,
    n_routers: u32,
    n_nodes: u32,
    /// Of a lattice of which nothing has failed the names of its link classes alone: the rest follows from its rule.
    wiring: Wiring,
    /// What that rule has made, once it was asked for. In a box: what lies beside a cell that may change at any time stays in no register.
    made: Box<OnceLock<Wiring>>,
    pub(crate) geometry: Geometry,
    /// The ways of a HyperX.
    direct: Option<Direct>,
    /// Distances by row of a router, of small networks whose ways are no simple arithmetic.
    distances: Arc<[u8]>,
    /// What failures have left, after failures.
    fallout: Option<Box<Fallout>>,
}

impl Topology {
    pub(crate) fn assemble(spec: &TopologySpec, wiring: Wiring, geometry: Geometry) -> Self {
        let by_rule = wiring.is_bare().then(|| geometry.lattice()).flatten();
        let (n_routers, n_nodes) = match by_rule {
            Some(lattice) => (lattice.n_routers(), lattice.n_nodes()),
            None => (wiring.n_routers(), wiring.n_nodes()),
        };
        debug_assert!(by_rule.is_some() || wiring.is_sound(), "{:?}", wiring.verify());
        let direct = geometry.family().direct();
        let distances = match (&direct, &geometry) {
            // Pairs may have no way to each other.
            (Some(_), _) | (_, Geometry::Curtailed(_)) => Arc::default(),
            _ => all_distances(&geometry, &wiring, n_routers).unwrap_or_default(),
        };
        Self {
            spec: spec.clone(),
            n_routers,
            n_nodes,
            wiring,
            made: Box::default(),
            direct,
            distances,
            geometry,
            fallout: None,
        }
    }

    /// The same shape with other ways: those of what failures have left.
    pub(crate) fn rebuilt<E>(
        self,
        fallout: Fallout,
        ways: impl FnOnce(Geometry, Wiring) -> Result<(Curtailed, Wiring), E>,
    ) -> Result<Self, E> {
        let whole = self.with_own_wiring();
        let (left, wiring) = ways(whole.geometry, whole.wiring)?;
        let geometry = Geometry::Curtailed(Box::new(left));
        Ok(Self {
            fallout: Some(Box::new(fallout)),
            ..Self::assemble(&whole.spec, wiring, geometry)
        })
    }

    /// The same network, of which nodes or nothing is dead.
    pub(crate) fn with_fallout(self, fallout: Fallout) -> Self {
        Self {
            fallout: Some(Box::new(fallout)),
            ..self
        }
    }

    /// Gives cables, each by one end of before, the slower class beside their own. Classes that no cable has are there, too.
    pub(crate) fn slow_down(self, impaired: &[(u32, u16)]) -> Self {
        let Some((share, whole)) = self.fallout().and_then(|fallout| fallout.kept) else {
            return self;
        };
        let mut slower = self.with_own_wiring();
        let names = slower.wiring.class_names[1..]
            .iter()
            .map(|name| format!("{name} at {} %", 100.0 * share));
        let names: Vec<String> = names.collect();
        slower.wiring.class_names.extend(names);
        for &(router, before) in impaired {
            let port = match slower.geometry.curtailed() {
                Some(left) => left.port_now(router, before),
                None => Some(before),
            };
            let Some(port) = port else { continue };
            let (peer, back) = slower.wiring.peer(router, port);
            for i in [
                slower.wiring.port_index(router, port),
                slower.wiring.port_index(peer, back),
            ] {
                slower.wiring.class[i] += whole as u8 - 1;
            }
        }
        slower
    }

    /// The same with cables that no rule makes again, to be changed.
    fn with_own_wiring(mut self) -> Self {
        if self.wiring.is_bare() {
            self.wiring = match self.made.take() {
                Some(made) => made,
                None => self.make_wiring(),
            };
        }
        self
    }

    /// What failures have left of it; `None` where nothing has failed.
    pub fn fallout(&self) -> Option<&Fallout> {
        self.fallout.as_deref()
    }

    /// Gives back what [`Topology::wiring`] has made of a ring, mesh, torus or HyperX: 7 bytes per network port, 8 per router, 4 per node.
    pub fn forget_cables(&mut self) {
        *self.made = OnceLock::new();
    }

    /// Whether all cables are in memory. Those of a ring, mesh, torus or HyperX of which nothing has failed are not before [`Topology::wiring`] is
    /// asked for them.
    pub fn has_cables(&self) -> bool {
        !self.wiring.is_bare() || self.made.get().is_some()
    }

    #[cold]
    fn wiring_by_rule(&self) -> &Wiring {
        self.made.get_or_init(|| self.make_wiring())
    }

    fn make_wiring(&self) -> Wiring {
        let names = self.wiring.class_names.clone();
        let made = match self.lattice() {
            Some(lattice) => lattice.wire(names),
            None => unreachable!("other families have stored their cables"),
        };
        debug_assert!(made.is_sound(), "{:?}", made.verify());
        made
    }

    /// Network ports of a router.
    pub fn radix(&self, router: u32) -> u32 {
        match self.rule() {
            Some(lattice) => lattice.radix(router),
            None => self.wiring.radix(router),
        }
    }

    /// Nodes of a router.
    pub fn nodes_of(&self, router: u32) -> Range<u32> {
        match self.rule() {
            Some(lattice) => lattice.nodes_of(router),
            None => self.wiring.nodes_of(router),
        }
    }

    /// Shows what each network port of a router is wired to, in their order: the router and port at the other end, and the link class.
    ///
    /// Of a ring, mesh, torus or HyperX by arithmetic: no other router's cables are made.
    pub fn see_cables(&self, router: u32, mut see: impl FnMut(u32, u16, u8)) {
        if let Some(lattice) = self.rule() {
            return lattice.see_cables(router, see);
        }
        let wiring = &self.wiring;
        for i in wiring.port_index(router, 0)..wiring.port_index(router + 1, 0) {
            see(wiring.peer_router[i], wiring.peer_port[i], wiring.class[i]);
        }
    }

    /// The lattice that makes its cables by its rule.
    fn rule(&self) -> Option<&LatticeGeometry> {
        self.lattice().filter(|_| self.wiring.is_bare())
    }

    /// The same network with another rule for packets that go half-way round a ring of a torus, where both ways are equally long.
    #[must_use]
    pub fn with_ties(mut self, tie: Tie) -> Self {
        if let Some(g) = self.geometry.lattice_mut() {
            g.tie = tie;
        }
        self
    }

    /// The rule of [`Topology::with_ties`].
    pub fn tie(&self) -> Tie {
        self.lattice().map_or(Tie::Positive, |g| g.tie)
    }

    /// What it was built from.
    pub fn spec(&self) -> &TopologySpec {
        &self.spec
    }

    /// Cables and nodes of the whole network. A ring, mesh, torus or HyperX makes them when they are first asked for: what is wanted of single
    /// routers [`Topology::see_cables`], [`Topology::radix`] and [`Topology::nodes_of`] say without.
    #[inline]
    pub fn wiring(&self) -> &Wiring {
        match self.wiring.is_bare() {
            true => self.wiring_by_rule(),
            false => &self.wiring,
        }
    }

    /// Of its cables what it has stored, for what needs no more.
    pub(crate) fn stored_wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// Number of routers.
    #[inline]
    pub fn n_routers(&self) -> u32 {
        self.n_routers
    }

    /// Number of nodes.
    #[inline]
    pub fn n_nodes(&self) -> u32 {
        self.n_nodes
    }

    /// Names of the link classes by class number; entry 0 is `host`.
    pub fn class_names(&self) -> &[String] {
        &self.wiring.class_names
    }

    /// Router of a node; by arithmetic where the family allows it, so that no memory is touched.
    #[inline(always)]
    pub fn router_of(&self, node: u32) -> u32 {
        self.geometry.router_of(&self.wiring, node)
    }

    /// Router hops between two routers over network links; the distance that minimal routing keeps to.
    ///
    /// Equal to the shortest path of the graph, except on a dragonfly and dragonfly+, where it is the shortest way with at most one
    /// global link (none within a group), as the literature uses the word minimal.
    #[inline(always)]
    pub fn distance(&self, a: u32, b: u32) -> u32 {
        match &self.direct {
            Some(direct) => direct.distance(direct.at(a), direct.at(b)),
            None => self.distance_of_pair(a, b),
        }
    }

    /// [`Topology::distance`] from the router of a node.
    #[inline(always)]
    pub fn node_distance(&self, node: u32, to: u32) -> u32 {
        match &self.direct {
            Some(direct) => direct.distance(direct.of_node(node), direct.at(to)),
            None => self.distance_of_pair(self.router_of(node), to),
        }
    }

    #[inline(always)]
    fn distance_of_pair(&self, a: u32, b: u32) -> u32 {
        debug_assert!(a < self.n_routers && b < self.n_routers);
        match self.distances.get(a as usize * self.n_routers as usize + b as usize) {
            Some(&distance) => distance.into(),
            None => self.distance_by_way(a, b),
        }
    }

    #[inline(never)]
    fn distance_by_way(&self, a: u32, b: u32) -> u32 {
        self.geometry.distance(&self.wiring, a, b)
    }

    /// Largest [`Topology::distance`] between two routers, with or without nodes. Of a very large dragonfly whose most distant
    /// pair was not met in a bounded search, the bound (local, global, local).
    pub fn diameter(&self) -> u32 {
        self.geometry.family().diameter()
    }

    /// Fills `out` with one entry per neighbouring router that is nearer to `to`, in port order; empty if `at == to`.
    ///
    /// Nearer is by [`Topology::distance`]; on a dragonfly(+) third groups are left out. The VC of an entry is that of a packet
    /// injected here; routings that use these hops bring their own VC rule.
    pub fn minimal_hops(&self, at: u32, to: u32, out: &mut HopList) {
        out.clear();
        if at != to {
            self.geometry.minimal_hops(&self.wiring, at, to, out);
        }
    }

    /// The topology's own deterministic minimal routing towards a node: the next hop, or [`Hop::EJECT`] at the node's router.
    ///
    /// `came` is how the packet got to `at`, `key` a hash that stays with the packet and chooses where the rule leaves a choice (its
    /// high bits count). Rules: torus, ring, mesh, HyperX: dimension order; dragonfly(+): the group's own link (by key among
    /// several), at most 3 hops in groups of one row and on dragonfly+, 5 in groups of rows and columns; fat-tree: D-mod-k up, the
    /// unique way down, one cable; graph: shortest-path table. Deadlock-free on [`Topology::minimal_vcs`] VCs.
    #[inline]
    pub fn minimal(&self, at: u32, dst_node: u32, came: Came, key: u32) -> Hop {
        self.minimal_by(at, dst_node, came, || key)
    }

    /// The same with a key that is worked out where the rule leaves a choice.
    #[inline(always)]
    pub fn minimal_by(&self, at: u32, dst_node: u32, came: Came, key: impl Fn() -> u32) -> Hop {
        self.geometry.minimal(&self.wiring, at, dst_node, came, key)
    }

    /// `true` where the hop of [`Topology::minimal`] depends on the place and the target alone, takes the only cable there is, and needs one VC.
    pub fn goes_by_place(&self) -> bool {
        !self.is_curtailed() && self.geometry.lattice().is_some_and(LatticeGeometry::goes_by_place)
    }

    /// `true` where that holds but for the VC, which depends on the way.
    pub fn has_one_port_by_place(&self) -> bool {
        let lattice = self.geometry.lattice();
        !self.is_curtailed() && lattice.is_some_and(LatticeGeometry::has_one_port_by_place)
    }

    /// Where a router is, for [`Topology::direct`].
    pub fn coordinates(&self, router: u32) -> Coordinates {
        self.direct
            .as_ref()
            .map_or(Coordinates::default(), |direct| direct.at(router))
    }

    /// The hop of [`Topology::minimal`] where it depends on the place alone and needs one VC, in the fewest instructions: first port and
    /// number of cables on a HyperX from the router with these coordinates, `None` on other families or at the node's router.
    #[inline(always)]
    pub fn direct(&self, at: Coordinates, dst_node: u32) -> Option<(u32, u32)> {
        let direct = self.direct.as_ref()?;
        direct.hop(at, direct.of_node(dst_node))
    }

    /// The hop of [`Topology::minimal_by`] on a dragonfly+ from a router that is not the node's, in the fewest instructions: first port and
    /// number of cables; `None` on other families. Its VC is 0.
    #[inline(always)]
    pub fn over_spines(&self, at: u32, dst_node: u32, key: impl Fn() -> u32) -> Option<(u32, u32)> {
        match &self.geometry {
            Geometry::Grouped(grouped) => grouped.over_spines_to(at, dst_node, key),
            _ => None,
        }
    }

    /// [`Topology::minimal`] towards a router, for ways that lead over an intermediate router (Valiant).
    ///
    /// On a dragonfly+ and a fat-tree the VC promise holds for intermediate routers that have nodes; others are reached too, but a
    /// way to them may turn up after it went down.
    #[inline]
    pub fn minimal_to(&self, at: u32, to: u32, came: Came, key: u32) -> Hop {
        self.geometry.minimal_to(&self.wiring, at, to, came, key)
    }

    /// A step of dimension order in a dimension of the caller's choice: `pick(n)` chooses among the `n` dimensions in which `at` and
    /// `to` differ, in rising order. [`Hop::EJECT`] at the target, on other families than lattices, and if `pick` answers `n` or more.
    #[inline]
    pub fn minimal_along(&self, at: u32, to: u32, came: Came, pick: impl FnOnce(u32) -> u32) -> Hop {
        match self.geometry.lattice() {
            Some(g) => g.minimal_along(at, to, came, pick),
            None => Hop::EJECT,
        }
    }

    /// One cable of a hop's parallel cables, by key.
    #[inline]
    pub fn choose_link(hop: Hop, key: u32) -> u16 {
        hop.port + pick(key, u32::from(hop.links)) as u16
    }

    /// Virtual channels that [`Topology::minimal`] needs to be free of deadlock, at least 1.
    ///
    /// A graph whose table has a dependency cycle needs one per hop of its diameter; beyond 255 they are cut there, and the
    /// deadlock check shows what that leaves.
    pub fn minimal_vcs(&self) -> u8 {
        self.geometry.family().minimal_vcs()
    }

    /// Virtual channels of parts of ways that begin at any router and lead to one with nodes: more than [`Topology::minimal_vcs`] where failures
    /// make ways from routers without nodes turn up again.
    pub fn vcs_from_anywhere(&self) -> u8 {
        let left = self.geometry.curtailed();
        left.map_or_else(|| self.minimal_vcs(), Curtailed::vcs_from_anywhere)
    }

    /// Most hops that [`Topology::minimal`] takes between two routers that have nodes.
    pub fn minimal_bound(&self, from: u32, to: u32) -> u32 {
        self.geometry.family().minimal_bound(&self.wiring, from, to)
    }

    /// One key per class of keys that [`Topology::minimal`] treats alike, rising: what a proof has to try. Each half of a key has classes
    /// of its own, and every class of the one meets every class of the other.
    ///
    /// The classes of a half divide it evenly where that takes at most 1,024 of them. A half of whose picks one is among several is divided
    /// evenly by two as well, so that a key and the one half of all keys away belong to whole classes.
    pub fn key_classes(&self) -> Vec<u32> {
        let [upper, lower] = self.geometry.family().choices().map(|choices| starts(&choices));
        let keys = upper
            .iter()
            .flat_map(|high| lower.iter().map(move |low| high << HALF | low));
        keys.collect()
    }

    /// Whether minimal ways to all nodes of a router are the same.
    pub fn treats_nodes_of_a_router_alike(&self) -> bool {
        self.geometry.family().treats_nodes_of_a_router_alike()
    }

    /// Group of a router of a dragonfly(+); `None` on other families.
    #[inline]
    pub fn group(&self, router: u32) -> Option<u32> {
        self.geometry.routers_per_group().map(|routers| routers.div(router))
    }

    /// Routers of each group of a dragonfly(+): group `g` has `g * n..(g + 1) * n`. `None` on other families.
    pub fn group_size(&self) -> Option<u32> {
        self.geometry.routers_per_group().map(FastDiv::divisor)
    }

    /// The link of this number, from 0, between two groups of a dragonfly(+), by its end in group `from`; both ends give it the same number.
    /// `None` where there is none, on other families, and on what failures have left.
    pub fn global_link(&self, from: u32, to: u32, number: u32) -> Option<GlobalLink> {
        self.geometry.family().global_link(from, to, number)
    }

    /// The ports along a dimension of a HyperX; `None` on other families or where there is no such dimension.
    #[inline]
    pub fn line(&self, dim: usize) -> Option<DimensionPorts> {
        self.lattice()?.line(dim)
    }

    /// Routers along each dimension of a ring, mesh, torus or HyperX; `None` on other families.
    pub fn lattice_shape(&self) -> Option<Vec<u32>> {
        self.lattice().map(LatticeGeometry::shape)
    }

    /// Coordinates of a router of a ring, mesh, torus or HyperX.
    pub fn coords(&self, router: u32) -> Option<Vec<u32>> {
        self.lattice()
            .map(|g| (0..g.n_dims()).map(|d| g.coord(router, d)).collect())
    }

    /// The router `by` steps further along dimension `dim` of a ring, mesh, torus or HyperX, counted around the end (on a mesh too:
    /// this is a place, not a cable). `None` on other families or where there is no such dimension.
    ///
    /// The tornado destination of a router is `shifted(r, d, (k - 1) / 2)` for a dimension of `k` routers.
    pub fn shifted(&self, router: u32, dim: usize, by: i64) -> Option<u32> {
        self.lattice()?.shifted(router, dim, by)
    }

    /// The router next to this one in positive or negative direction of a dimension, if a cable leads there.
    pub fn lattice_neighbour(&self, router: u32, dim: usize, positive: bool) -> Option<u32> {
        let g = self.lattice()?;
        let there = g.shifted(router, dim, if positive { 1 } else { -1 })?;
        (there != router && g.distance(router, there) == 1).then_some(there)
    }

    pub(crate) fn lattice(&self) -> Option<&LatticeGeometry> {
        self.geometry.lattice()
    }
}

/// The least half of a key of every class, where a half chooses among so many alternatives, rising.
fn starts(choices: &[u32]) -> Vec<u32> {
    let common = |l: u64, n: u64| if l > 1024 { l } else { l / gcd(l, n) * n };
    let several = choices.iter().filter(|&&n| n > 1).map(|&n| u64::from(n));
    let together = several.clone().fold(1, common);
    let grids = match together {
        1 => vec![1],
        2..=1024 => vec![common(together, 2)],
        _ => several.chain([2]).collect(),
    };
    let starts = grids
        .iter()
        .flat_map(|&n| (0..n).map(move |i| (i << HALF).div_ceil(n) as u32));
    let mut halves: Vec<u32> = starts.collect();
    halves.sort_unstable();
    halves.dedup();
    halves
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The distances of all pairs of a small network, by row.
fn all_distances(geometry: &Geometry, wiring: &Wiring, routers: u32) -> Option<Arc<[u8]>> {
    if routers > MOST_IN_TABLE {
        return None;
    }
    let pairs = (0..routers).flat_map(|a| (0..routers).map(move |b| (a, b)));
    pairs
        .map(|(a, b)| u8::try_from(geometry.distance(wiring, a, b)).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{DragonflySpec, Lattice, RingSpec};

    #[test]
    fn a_lattice_without_its_cables_answers_as_with_them() {
        let lattice = Lattice {
            shape: vec![3, 1, 4, 2],
            width: vec![2, 1, 1, 3],
            nodes_per_router: 2,
        };
        let ring = TopologySpec::Ring(RingSpec {
            routers: 24,
            width: 2,
            nodes_per_router: 2,
        });
        let specs = [
            TopologySpec::Torus(lattice.clone()),
            TopologySpec::Mesh(lattice.clone()),
        ];
        for spec in specs.into_iter().chain([TopologySpec::HyperX(lattice), ring]) {
            let mut whole = spec.build().unwrap();
            assert!(!whole.has_cables());
            let bare = whole.clone();
            assert_eq!(whole.wiring().verify(), Ok(()));
            assert!(whole.has_cables() && whole.clone().has_cables());
            for router in 0..24 {
                let wiring = whole.wiring();
                let mut port = 0;
                bare.see_cables(router, |peer, back, class| {
                    assert_eq!((peer, back), wiring.peer(router, port), "{spec:?} {router} {port}");
                    assert_eq!(class, wiring.class[wiring.port_index(router, port)]);
                    port += 1;
                });
                assert_eq!(u32::from(port), wiring.radix(router));
                assert_eq!((bare.radix(router), whole.radix(router)), (port.into(), port.into()));
                assert_eq!(bare.nodes_of(router), wiring.nodes_of(router));
            }
            assert_eq!((bare.n_routers(), bare.n_nodes()), (24, 48));
            assert_eq!(bare.class_names(), whole.class_names());
            assert_eq!(bare.diameter(), whole.diameter());
            let (mut hops, mut expected) = (HopList::default(), HopList::default());
            for (at, node) in (0..24).flat_map(|at| (0..48).map(move |node| (at, node))) {
                let to = whole.router_of(node);
                assert_eq!(bare.router_of(node), to);
                assert_eq!(bare.distance(at, to), whole.distance(at, to));
                assert_eq!(bare.coordinates(at), whole.coordinates(at));
                assert_eq!(
                    bare.direct(bare.coordinates(at), node),
                    whole.direct(whole.coordinates(at), node)
                );
                assert_eq!(bare.line(at as usize % 5), whole.line(at as usize % 5));
                let came = Came::INJECTED;
                assert_eq!(bare.minimal(at, node, came, 7), whole.minimal(at, node, came, 7));
                bare.minimal_hops(at, to, &mut hops);
                whole.minimal_hops(at, to, &mut expected);
                assert_eq!(hops[..], expected[..]);
            }
            for (router, port) in (0..24).flat_map(|r| (0..bare.radix(r) as u16).map(move |p| (r, p))) {
                assert_eq!(bare.port_name(router, port), whole.port_name(router, port));
            }
            assert!(!bare.has_cables(), "nothing of that asks for all cables");
            let wired = whole.wiring().clone();
            whole.forget_cables();
            assert!(!whole.has_cables());
            assert_eq!(whole.wiring(), &wired);
        }
        let dragonfly = TopologySpec::Dragonfly(DragonflySpec {
            groups: 3,
            routers_per_group: vec![2],
            nodes_per_router: 1,
            links_per_pair: 1,
            local_width: 1,
            arrangement: crate::Arrangement::Absolute,
            arrangement_seed: 1,
        });
        let whole = dragonfly.build().unwrap();
        let mut kept = whole.clone();
        kept.forget_cables();
        assert!(kept.has_cables());
        assert_eq!(kept.wiring(), whole.wiring());
    }

    #[test]
    fn a_global_link_has_the_same_number_at_both_ends_and_no_cable_has_two() {
        for (groups, routers, links, arrangement) in [
            (8, vec![4], 1, crate::Arrangement::Absolute),
            (5, vec![4], 9, crate::Arrangement::Relative),
            (4, vec![2, 3], 5, crate::Arrangement::Random),
            (2, vec![1], 3, crate::Arrangement::Circulant),
        ] {
            let spec = TopologySpec::Dragonfly(DragonflySpec {
                groups,
                routers_per_group: routers,
                nodes_per_router: 1,
                links_per_pair: links,
                local_width: 2,
                arrangement,
                arrangement_seed: 3,
            });
            let topology = spec.build().unwrap();
            let mut seen = std::collections::BTreeSet::new();
            for (from, to) in (0..groups).flat_map(|from| (0..groups).map(move |to| (from, to))) {
                assert_eq!(topology.global_link(from, to, links), None);
                for number in (0..links).filter(|_| from != to) {
                    let link = topology.global_link(from, to, number).unwrap();
                    assert_eq!(
                        (topology.group(link.router), topology.group(link.peer)),
                        (Some(from), Some(to))
                    );
                    assert!(seen.insert((link.router, link.port)));
                    let back = topology.global_link(to, from, number).unwrap();
                    let cable = topology.wiring().peer(link.router, link.port);
                    assert_eq!(cable, (back.router, back.port), "{spec:?}");
                }
                assert_eq!(topology.global_link(from, from, 0), None);
            }
        }
    }

    #[test]
    fn the_direct_hop_of_a_hyperx_is_the_minimal_one_and_others_have_none() {
        let lattice = |width: &[u32]| Lattice {
            shape: vec![3, 1, 4, 2],
            width: width.to_vec(),
            nodes_per_router: 2,
        };
        for width in [&[][..], &[2, 1, 1, 3]] {
            let hyperx = TopologySpec::HyperX(lattice(width)).build().unwrap();
            let torus = TopologySpec::Torus(lattice(width)).build().unwrap();
            for (at, node) in (0..24).flat_map(|at| (0..48).map(move |node| (at, node))) {
                let hop = hyperx.minimal(at, node, Came::INJECTED, 0);
                let expected = (!hop.is_eject()).then_some((u32::from(hop.port), u32::from(hop.links)));
                assert_eq!(hyperx.direct(hyperx.coordinates(at), node), expected, "{at} to {node}");
                assert_eq!(torus.direct(torus.coordinates(at), node), None);
            }
            // The lines are the ports, and a line's hops lead to the routers that differ in its dimension alone.
            assert_eq!((hyperx.line(4), torus.line(0)), (None, None));
            let mut next = 0;
            for line in (0..4).filter_map(|dim| hyperx.line(dim)) {
                for hop in line.hops() {
                    assert_eq!((hop.port, line.has(hop.port)), (next, true));
                    next += hop.links;
                    let there = hyperx.wiring().peer(5, hop.port).0;
                    let mut hops = HopList::new();
                    hyperx.minimal_hops(5, there, &mut hops);
                    assert_eq!(hops[..], [hop]);
                }
                assert!(!line.has(next));
            }
            assert_eq!(u32::from(next), hyperx.wiring().radix(5));
        }
    }
}
