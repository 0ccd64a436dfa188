//! Dragonfly and dragonfly+: groups of routers, every pair of groups joined by global cables.
//!
//! Router id = group * routers_per_group + index. A dragonfly's group is a grid in which all routers of a row, and all of a column,
//! are neighbours (one row: the all-to-all group of Kim et al. 2008; rows and columns: Faanes et al. 2012). A dragonfly+ group
//! is leaf routers, then spine routers, each leaf joined to each spine (Shpiner et al. 2017; Flajslik et al. 2018); spines own the
//! global cables, leaves have the nodes.
//!
//! Ports: row neighbours by rising column, column neighbours by rising row (dragonfly); spines or leaves by rising index
//! (dragonfly+); then global cables by rising peer group. `local_width` consecutive ports per local neighbour.
//!
//! **Distance and minimal routes are hierarchical**: at most one global link, none within a group, as the literature uses the word
//! minimal. A walk over two global links through a third group can be shorter in hops and is not counted.

use super::global_cables::{Arrangement, GlobalCables, GlobalEnd, GlobalPorts};
use super::inside::Inside;
use crate::division::{FastDiv, pick, pick_again};
use crate::hop::{Came, GlobalLink, Hop, HopList};
use crate::wiring::Wiring;

/// `dim` of a hop over a global link.
const GLOBAL: u8 = 2;

/// A dragonfly or dragonfly+.
#[derive(Clone, Debug)]
pub(crate) struct Grouped {
    pub(super) per_group: FastDiv,
    pub(super) inside: Inside,
    pub(super) local_width: u16,
    pub(super) global: GlobalCables,
    nodes: FastDiv,
    nodes_per_group: FastDiv,
    diameter: u32,
    /// A router's own links to each group, at `owner * groups + to`; empty where it would be large.
    own: Vec<OwnLinks>,
}

/// The links to one group that one router owns.
#[derive(Clone, Copy, Debug, Default)]
struct OwnLinks {
    /// The first of them among the links of the pair of groups.
    first: u16,
    /// How many.
    count: u16,
    /// Those to the same router as the first, beside them because most routers own one.
    ports: GlobalPorts,
}

/// The ports of a hop, and its [`Hop::dim`].
#[derive(Clone, Copy, Debug)]
struct PortsOfHop {
    port: u32,
    links: u32,
    dim: u8,
}

impl PortsOfHop {
    #[inline(always)]
    fn new(port: u32, links: u32, dim: u8) -> PortsOfHop {
        PortsOfHop { port, links, dim }
    }
}

impl GlobalPorts {
    /// The hop over these links of a router with so many local ports.
    #[inline(always)]
    fn of_hop(self, local: u32) -> PortsOfHop {
        PortsOfHop::new(local + u32::from(self.first), self.links.into(), GLOBAL)
    }
}

/// Links looked at in search of the diameter.
const MOST_SEARCH: u64 = 40_000_000;

/// Entries up to which the table of own links is kept (16 MB).
const MOST_OWN: u64 = 1 << 21;

impl Grouped {
    /// Lays out a validated dragonfly(+); `nodes` per router, or per leaf router.
    pub(super) fn new(
        groups: u32,
        inside: Inside,
        nodes: u32,
        width: u32,
        links: u32,
        how: Arrangement,
        seed: u64,
    ) -> Self {
        let links = if groups > 1 { links } else { 0 };
        let global = GlobalCables::new(groups, inside.owners().1, links, how, seed);
        let per_group = FastDiv::new(inside.routers());
        let with_nodes = if let Inside::LeafSpine { leaves, .. } = inside {
            leaves
        } else {
            inside.routers()
        };
        let mut it = Self {
            per_group,
            inside,
            local_width: width as u16,
            global,
            nodes: FastDiv::new(nodes),
            nodes_per_group: FastDiv::new(nodes * with_nodes),
            diameter: 0,
            own: Vec::new(),
        };
        it.diameter = it.find_diameter();
        it.own = it.index_own_links();
        it
    }

    fn index_own_links(&self) -> Vec<OwnLinks> {
        let (groups, (_, owners), links) = (self.global.groups(), self.inside.owners(), self.global.links_per_pair());
        if u64::from(groups) * u64::from(groups) * u64::from(owners) > MOST_OWN
            || links > u32::from(u16::MAX)
            || groups == 1
        {
            return Vec::new();
        }
        let mut own = vec![OwnLinks::default(); groups as usize * groups as usize * owners as usize];
        for g in 0..groups {
            for t in (0..groups).filter(|&t| t != g) {
                let mut first = 0;
                for links in self.global.between(g, t).chunk_by(|a, b| a.owner == b.owner) {
                    let count = links.len() as u16;
                    let ports = links[0].ports;
                    own[((g * owners + links[0].owner) * groups + t) as usize] = OwnLinks { first, count, ports };
                    first += count;
                }
            }
        }
        own
    }

    /// The link of this number between two groups. Slots are dealt in the order of numbers, at both ends: so the ends of a pair, which are
    /// sorted by owner and peer, are in this order, too.
    pub(super) fn global_link(&self, from: u32, to: u32, number: u32) -> Option<GlobalLink> {
        let groups = self.global.groups();
        if from == to || from >= groups || to >= groups {
            return None;
        }
        let ends = self.global.between(from, to);
        let end = ends.get(number as usize)?;
        let same = |other: &&GlobalEnd| (other.owner, other.peer) == (end.owner, end.peer);
        let parallel = ends[..number as usize].iter().rev().take_while(same).count();
        let ((first, _), a) = (self.inside.owners(), self.per_group.divisor());
        let i = first + end.owner;
        Some(GlobalLink {
            router: from * a + i,
            port: self.local_ports(i) + end.ports.first + parallel as u16,
            peer: to * a + first + end.peer,
        })
    }

    /// Router of a node.
    #[inline]
    pub(crate) fn router_of(&self, node: u32) -> u32 {
        match self.inside {
            Inside::Grid { .. } => self.nodes.div(node),
            Inside::LeafSpine { .. } => {
                let (group, i) = self.place_of(node);
                group * self.per_group.divisor() + i
            }
        }
    }

    /// Group of a node, and the place of its router there.
    #[inline]
    pub(super) fn place_of(&self, node: u32) -> (u32, u32) {
        let (group, rest) = self.nodes_per_group.split(node);
        (group, self.nodes.div(rest))
    }

    /// Nodes of the router with this index in its group.
    pub(crate) fn nodes_at(&self, i: u32) -> u32 {
        match self.inside {
            Inside::Grid { .. } => self.nodes.divisor(),
            Inside::LeafSpine { leaves, .. } => {
                if i < leaves {
                    self.nodes.divisor()
                } else {
                    0
                }
            }
        }
    }

    #[inline]
    fn local_ports(&self, i: u32) -> u16 {
        self.inside.degree(i) as u16 * self.local_width
    }

    pub(crate) fn wire(&self, class_names: Vec<String>) -> Wiring {
        let (a, groups) = (self.per_group.divisor(), self.global.groups());
        let (first_owner, owners) = self.inside.owners();
        let mut wiring = Wiring::start(class_names, (a * groups) as usize, 0, 0);
        for g in 0..groups {
            let mut own = vec![Vec::new(); owners as usize];
            for t in (0..groups).filter(|&t| t != g) {
                for end in self.global.between(g, t) {
                    own[end.owner as usize].push((t, end));
                }
            }
            for i in 0..a {
                for j in self.inside.neighbours(i) {
                    let back = self.inside.line(j, i) as u16 * self.local_width;
                    (0..self.local_width).for_each(|k| wiring.push_port(g * a + j, back + k, 1));
                }
                let own = i.checked_sub(first_owner).map_or(&[][..], |owner| &own[owner as usize]);
                for run in own.chunk_by(|(t, x), (u, y)| (t, x.peer) == (u, y.peer)) {
                    let (t, first) = run[0];
                    let peer = first_owner + first.peer;
                    let back = self.local_ports(peer) + self.global.far_port(g, t, *first);
                    (0..first.ports.links).for_each(|k| wiring.push_port(t * a + peer, back + k, 2));
                }
                wiring.finish_router(self.nodes_at(i));
            }
        }
        wiring
    }

    /// Cost of the way over one global cable.
    #[inline]
    fn over(&self, end: &GlobalEnd, i: u32, j: u32) -> u32 {
        self.over_owners(end.owner, end.peer, i, j)
    }

    /// Cost of the way from place `i` over the cable of one group's owner and another's to place `j` there.
    #[inline]
    fn over_owners(&self, owner: u32, peer: u32, i: u32, j: u32) -> u32 {
        let (first, _) = self.inside.owners();
        self.inside.distance(i, first + owner) + 1 + self.inside.distance(first + peer, j)
    }

    pub(crate) fn distance(&self, at: u32, to: u32) -> u32 {
        let ((g, i), (t, j)) = (self.per_group.split(at), self.per_group.split(to));
        if g == t {
            return self.inside.distance(i, j);
        }
        if let (Some(owner), Some(peer)) = (self.global.only_owner(g, t), self.global.only_owner(t, g)) {
            return self.over_owners(owner, peer, i, j);
        }
        self.global
            .between(g, t)
            .iter()
            .map(|e| self.over(e, i, j))
            .min()
            .unwrap_or(0)
    }

    pub(crate) fn diameter(&self) -> u32 {
        self.diameter
    }

    /// The largest distance. In groups of one row and in leaves and spines it is told by which owners each pair of groups has; for
    /// rows and columns a search stops at the first pair that is as far as can be, or after enough work, with that bound.
    fn find_diameter(&self) -> u32 {
        let groups = self.global.groups();
        let within = self.inside.diameter();
        let pairs = (0..groups)
            .flat_map(|g| (0..groups).map(move |t| (g, t)))
            .filter(|(g, t)| g < t);
        match self.inside {
            _ if groups == 1 => within,
            Inside::Grid { rows, cols } if rows > 1 && cols.divisor() > 1 => self.search_diameter(2 * within + 1),
            _ => pairs.map(|(g, t)| self.farthest(g, t)).fold(within, u32::max),
        }
    }

    /// Largest distance between routers of two groups that are alike but for the global links they own.
    fn farthest(&self, g: u32, t: u32) -> u32 {
        let ends = self.global.between(g, t);
        let owning = ends.chunk_by(|a, b| a.owner == b.owner).count();
        let landing = self.global.between(t, g).chunk_by(|a, b| a.owner == b.owner).count();
        let joined = ends.chunk_by(|a, b| (a.owner, a.peer) == (b.owner, b.peer)).count();
        let owners = self.inside.owners().1 as usize;
        let apart = if matches!(self.inside, Inside::Grid { .. }) {
            1
        } else {
            2
        };
        let sideways = u32::from(owning < owners) + u32::from(landing < owners);
        let between_owners = match sideways {
            0 if joined == owning * landing => 1,
            0 => 1 + apart,
            _ => 1 + apart * sideways,
        };
        match self.inside {
            Inside::Grid { .. } => between_owners,
            Inside::LeafSpine { .. } => between_owners.max(if sideways > 0 { 4 } else { 3 }),
        }
    }

    fn search_diameter(&self, bound: u32) -> u32 {
        let n = self.per_group.divisor() * self.global.groups();
        let (mut most, mut work) = (0, 0u64);
        for at in 0..n {
            for to in 0..n {
                most = most.max(self.distance(at, to));
                work += u64::from(self.global.links_per_pair());
                if most == bound || work > MOST_SEARCH {
                    return bound;
                }
            }
        }
        most
    }

    /// Own group's router that owns a link to the target group (its own links first, among several by key), the link, then locally.
    /// VC = global hops so far (a dragonfly); 0 always (dragonfly+: up, global, down is an order already).
    #[inline]
    pub(crate) fn minimal(&self, at: u32, to: (u32, u32), came: Came, key: impl Fn() -> u32) -> Hop {
        let from = self.per_group.split(at);
        if from == to {
            return Hop::EJECT;
        }
        let (vc, hop) = match self.inside {
            Inside::LeafSpine { leaves, spines } => (0, self.over_spines(leaves, spines, from, to, key)),
            Inside::Grid { cols, .. } => (self.global_hops(from.1, came), self.along_rows(cols, from, to, key)),
        };
        Hop {
            port: hop.port as u16,
            links: hop.links as u16,
            dim: hop.dim,
            vc,
        }
    }

    /// Global links that a packet of a dragonfly has come over, told by its VC.
    #[inline]
    fn global_hops(&self, i: u32, came: Came) -> u8 {
        match came.port {
            Came::NONE => 0,
            port => came.vc.saturating_add(u8::from(port >= self.local_ports(i))),
        }
    }

    /// [`Grouped::minimal`] from a router towards a node of another one, if this is a dragonfly+.
    #[inline(always)]
    pub(crate) fn over_spines_to(&self, at: u32, node: u32, key: impl Fn() -> u32) -> Option<(u32, u32)> {
        let Inside::LeafSpine { leaves, spines } = self.inside else {
            return None;
        };
        let hop = self.over_spines(leaves, spines, self.per_group.split(at), self.place_of(node), key);
        Some((hop.port, hop.links))
    }

    /// Of a dragonfly+: up to a spine, by key or to one that owns a link, over the link, down to the leaf.
    #[inline(always)]
    fn over_spines(
        &self,
        leaves: u32,
        spines: u32,
        (g, i): (u32, u32),
        (t, j): (u32, u32),
        key: impl Fn() -> u32,
    ) -> PortsOfHop {
        let width = u32::from(self.local_width);
        if i < leaves {
            let spine = match g == t {
                true if j < leaves => pick(key(), spines),
                true => j - leaves,
                false => self.owner_towards(g, t, key),
            };
            return PortsOfHop::new(spine * width, width, 0);
        }
        if g != t
            && let Some(ports) = self.own_link(g, i - leaves, t, &key)
        {
            return ports.of_hop(leaves * width);
        }
        let leaf = if g == t && j < leaves { j } else { pick(key(), leaves) };
        PortsOfHop::new(leaf * width, width, 1)
    }

    /// Of a dragonfly: along rows, then columns, to the router that owns a link, over the link, and so on to the router.
    #[inline]
    fn along_rows(&self, cols: FastDiv, (g, i): (u32, u32), (t, j): (u32, u32), key: impl Fn() -> u32) -> PortsOfHop {
        let target = if g == t {
            j
        } else {
            let only = self.global.only_owner(g, t);
            if only.is_none_or(|owner| owner == i)
                && let Some(ports) = self.own_link(g, i, t, &key)
            {
                return ports.of_hop(u32::from(self.local_ports(i)));
            }
            self.owner_towards(g, t, key)
        };
        let ((row, col), (_, to_col)) = (cols.split(i), cols.split(target));
        let (next, dim) = match col == to_col {
            true => (target, 1),
            false => (row * cols.divisor() + to_col, 0),
        };
        let width = u32::from(self.local_width);
        PortsOfHop::new(self.inside.line(i, next) * width, width, dim)
    }

    /// The owner of a link from one group to another, by the upper half of the key: at that owner the lower half chooses.
    #[inline]
    fn owner_towards(&self, g: u32, t: u32, key: impl Fn() -> u32) -> u32 {
        let by_key = || self.global.owner(g, t, pick(key(), self.global.links_per_pair()));
        self.global.only_owner(g, t).unwrap_or_else(by_key)
    }

    /// A link to group `t` that an owner of group `g` has, by the lower half of the key.
    #[inline]
    fn own_link(&self, g: u32, owner: u32, t: u32, key: impl Fn() -> u32) -> Option<GlobalPorts> {
        let row = u64::from(g * self.inside.owners().1 + owner);
        let at = row * u64::from(self.global.groups()) + u64::from(t);
        let ends = || self.global.between(g, t);
        let own = match self.own.get(at as usize) {
            Some(&OwnLinks { count: 0, .. }) => return None,
            Some(&OwnLinks { count: 1, ports, .. }) => return Some(ports),
            Some(&OwnLinks { first, count, .. }) => &ends()[usize::from(first)..][..usize::from(count)],
            None => GlobalCables::owned(ends(), owner),
        };
        (!own.is_empty()).then(|| own[pick_again(key(), own.len() as u32) as usize].ports)
    }

    /// VCs that `minimal` needs between routers that have nodes.
    pub(crate) fn minimal_vcs(&self) -> u8 {
        match self.inside {
            Inside::Grid { .. } if self.global.groups() > 1 && self.per_group.divisor() > 1 => 2,
            _ => 1,
        }
    }

    /// Every number of alternatives among which `minimal` picks by the upper half of the key, and by the lower half.
    pub(crate) fn choices(&self) -> [Vec<u32>; 2] {
        let (mut upper, mut lower) = (vec![], vec![]);
        if let Inside::LeafSpine { leaves, spines } = self.inside {
            upper.extend([leaves, spines]);
        }
        let groups = self.global.groups();
        if groups > 1 {
            upper.push(self.global.links_per_pair());
            for (g, t) in (0..groups)
                .flat_map(|g| (0..groups).map(move |t| (g, t)))
                .filter(|(g, t)| g != t)
            {
                let ends = self.global.between(g, t);
                lower.extend(ends.chunk_by(|a, b| a.owner == b.owner).map(|own| own.len() as u32));
                lower.sort_unstable();
                lower.dedup();
            }
        }
        [upper, lower]
    }

    pub(crate) fn minimal_hops(&self, at: u32, to: u32, out: &mut HopList) {
        let ((g, i), (t, j)) = (self.per_group.split(at), self.per_group.split(to));
        if g == t {
            return self.local_hops(i, j, out);
        }
        let (first, _) = self.inside.owners();
        let ends = self.global.between(g, t);
        let least = self.distance(at, to);
        for own in ends.chunk_by(|a, b| a.owner == b.owner) {
            let owner = first + own[0].owner;
            let mut best = own
                .chunk_by(|a, b| a.peer == b.peer)
                .map(|run| run[0])
                .filter(|e| self.over(e, i, j) == least)
                .peekable();
            if owner == i {
                best.for_each(|e| {
                    out.push(Hop {
                        port: self.local_ports(i) + e.ports.first,
                        links: e.ports.links,
                        dim: GLOBAL,
                        vc: 0,
                    })
                });
            } else if best.peek().is_some() {
                self.local_hops(i, owner, out);
            }
        }
        out.sort();
    }

    /// All first steps of shortest ways within a group.
    fn local_hops(&self, i: u32, j: u32, out: &mut HopList) {
        let hop = |next: u32, dim| {
            let port = self.inside.line(i, next) as u16 * self.local_width;
            Hop {
                port,
                links: self.local_width,
                dim,
                vc: 0,
            }
        };
        match self.inside {
            Inside::Grid { cols, .. } => {
                let ((ri, ci), (rj, cj)) = (cols.split(i), cols.split(j));
                if ci != cj {
                    out.push_new(hop(ri * cols.divisor() + cj, 0));
                }
                if ri != rj {
                    out.push_new(hop(rj * cols.divisor() + ci, 1));
                }
            }
            // A leaf comes here once per spine, so nothing can be there twice.
            Inside::LeafSpine { leaves, .. } if i < leaves && j >= leaves => out.push(hop(j, 0)),
            Inside::LeafSpine { leaves, spines } if i != j => {
                let dim = u8::from(i >= leaves);
                if (i < leaves) != (j < leaves) {
                    out.push_new(hop(j, dim));
                } else {
                    let (from, n) = if i < leaves { (leaves, spines) } else { (0, leaves) };
                    (from..from + n).for_each(|k| out.push_new(hop(k, dim)));
                }
            }
            Inside::LeafSpine { .. } => {}
        }
    }
}
