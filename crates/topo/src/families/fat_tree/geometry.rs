//! Extended generalised fat-trees XGFT(h; m1..mh; w1..wh) with parallel cables (Öhring et al. 1995; Zahavi 2010).
//!
//! Level 1 is the leaf routers, level h the top. A router of level i is (A, B): A numbers the subtree of height i that it roots (the
//! mixed-radix number of the children digits above i), B numbers it among the routers that root the same subtree (the parent
//! digits up to i). Router ids run level by level, then by A, then by B, so leaves come first and nodes are numbered leaf by leaf.
//!
//! Ports: down cables by rising child, then up cables by rising parent, parallel cables together.
//!
//! Minimal routing is D-mod-k (Zahavi et al. 2010): at level l the up cable for destination node d is
//! `floor(d / (w2..wl)) mod (w * p)`; its parent is that number mod w, its cable the quotient. Going down, the child is unique and the
//! cable is the one that the same formula names, so all packets to a node use the same cable.

use crate::division::{FastDiv, pick};
use crate::hop::{Hop, HopList};
use crate::wiring::Wiring;

#[derive(Clone, Debug)]
struct Level {
    /// Id of its first router.
    first: u32,
    /// Children per router; of level 1, nodes.
    down: FastDiv,
    /// Parents per router; 0 at the top.
    up: u32,
    up_div: FastDiv,
    /// Parallel cables to each parent; 0 at the top.
    up_width: u32,
    up_cables: FastDiv,
    /// Parallel cables to each child router; 0 at the leaves.
    down_width: u32,
    /// Routers that root the same subtree: product of w2..wi.
    siblings: FastDiv,
    /// Leaves per subtree: product of m2..mi.
    leaves: FastDiv,
}

/// A fat-tree's digits.
#[derive(Clone, Debug)]
pub(crate) struct FatTreeGeometry {
    levels: Vec<Level>,
    n_routers: u32,
}

/// A router as (level from 0, subtree, place among its siblings).
type TreePlace = (usize, u32, u32);

impl FatTreeGeometry {
    /// Lays out a validated tree; `up` and `up_width` have one entry fewer than `down`.
    pub(crate) fn new(down: &[u32], up: &[u32], up_width: &[u32]) -> Self {
        let h = down.len();
        let (mut levels, mut first, mut siblings, mut leaves) = (Vec::with_capacity(h), 0u32, 1u32, 1u32);
        for i in 0..h {
            if i > 0 {
                siblings *= up[i - 1];
                leaves *= down[i];
            }
            let width = |i: usize| up_width.get(i).copied().unwrap_or(1);
            let (parents, cables) = if i + 1 < h { (up[i], width(i)) } else { (0, 0) };
            levels.push(Level {
                first,
                down: FastDiv::new(down[i]),
                up: parents,
                up_div: FastDiv::new(parents),
                up_width: cables,
                up_cables: FastDiv::new(parents * cables),
                down_width: if i > 0 { width(i - 1) } else { 0 },
                siblings: FastDiv::new(siblings),
                leaves: FastDiv::new(leaves),
            });
            first += siblings * down[i + 1..].iter().product::<u32>();
        }
        Self {
            levels,
            n_routers: first,
        }
    }

    pub(crate) fn wire(&self, class_names: Vec<String>) -> Wiring {
        let mut wiring = Wiring::start(class_names, self.n_routers as usize, 0, 0);
        for r in 0..self.n_routers {
            let (i, a, b) = self.place(r);
            let level = &self.levels[i];
            if i > 0 {
                let below = &self.levels[i - 1];
                let (digit, rest) = below.siblings.split(b);
                for child in 0..level.down.divisor() {
                    let peer = self.router(i - 1, a * level.down.divisor() + child, rest);
                    let back = self.up_base(i - 1) + digit * below.up_width;
                    (0..level.down_width).for_each(|k| wiring.push_port(peer, (back + k) as u16, i as u8));
                }
            }
            for parent in 0..level.up {
                let above = &self.levels[i + 1];
                let (sub, child) = above.down.split(a);
                let peer = self.router(i + 1, sub, b + parent * level.siblings.divisor());
                (0..level.up_width)
                    .for_each(|k| wiring.push_port(peer, (child * above.down_width + k) as u16, i as u8 + 1));
            }
            wiring.finish_router(if i == 0 { level.down.divisor() } else { 0 });
        }
        wiring
    }

    /// Number of routers.
    pub(super) fn n_routers(&self) -> u32 {
        self.n_routers
    }

    /// Children of each router of a level (from 0); nodes of a leaf.
    pub(super) fn children(&self, level: usize) -> u32 {
        self.levels[level].down.divisor()
    }

    /// Levels of routers.
    pub(crate) fn height(&self) -> usize {
        self.levels.len()
    }

    /// Subtrees below the top routers, and the leaves of each; one of a single leaf where there is one level.
    pub(crate) fn pods(&self) -> (u32, u32) {
        match self.levels.as_slice() {
            [.., below, top] => (top.down.divisor(), below.leaves.divisor()),
            _ => (1, 1),
        }
    }

    /// Routers of a level (from 0).
    pub(crate) fn level_len(&self, level: usize) -> u32 {
        let end = self.levels.get(level + 1).map_or(self.n_routers, |l| l.first);
        end - self.levels[level].first
    }

    /// Level (from 0) and index within it.
    pub(crate) fn level_index(&self, router: u32) -> (usize, u32) {
        let level = self.levels.iter().rposition(|l| l.first <= router).unwrap_or(0);
        (level, router - self.levels[level].first)
    }

    /// First leaf and number of leaves of the subtree that a router roots, its place among the routers that root it, and their number.
    pub(crate) fn over_leaves(&self, router: u32) -> (u32, u32, u32, u32) {
        let (level, a, b) = self.place(router);
        let (leaves, siblings) = (
            self.levels[level].leaves.divisor(),
            self.levels[level].siblings.divisor(),
        );
        (a * leaves, leaves, b, siblings)
    }

    /// Column of a router among those of a level at or below its own, and their number: routers of one column are joined from that
    /// level upwards, and no cable there leads to another column.
    pub(crate) fn column(&self, router: u32, level: usize) -> (u32, u32) {
        let siblings = self.levels[level].siblings;
        (siblings.split(self.place(router).2).1, siblings.divisor())
    }

    #[inline]
    fn place(&self, router: u32) -> TreePlace {
        let (level, index) = self.level_index(router);
        let (a, b) = self.levels[level].siblings.split(index);
        (level, a, b)
    }

    fn router(&self, level: usize, a: u32, b: u32) -> u32 {
        let l = &self.levels[level];
        l.first + a * l.siblings.divisor() + b
    }

    /// First up port of a router of this level.
    #[inline]
    fn up_base(&self, level: usize) -> u32 {
        if level == 0 {
            0
        } else {
            self.levels[level].down.divisor() * self.levels[level].down_width
        }
    }

    /// Subtree number at `level` of the subtree `a` at the lower level `from`.
    #[inline]
    fn lift(&self, a: u32, from: usize, level: usize) -> u32 {
        self.levels[from + 1..=level].iter().fold(a, |a, l| l.down.div(a))
    }

    /// Lowest and highest level (from 0) that every way between two routers visits.
    fn span(&self, x: TreePlace, y: TreePlace) -> (usize, usize) {
        let (mut high, mut low) = (x.0.max(y.0), x.0.min(y.0));
        let (mut ax, mut ay) = (self.lift(x.1, x.0, high), self.lift(y.1, y.0, high));
        while ax != ay {
            high += 1;
            (ax, ay) = (self.levels[high].down.div(ax), self.levels[high].down.div(ay));
        }
        let same_below = |level: usize| {
            let s = self.levels[level].siblings;
            s.split(x.2).1 == s.split(y.2).1
        };
        while low > 0 && !same_below(low) {
            low -= 1;
        }
        (low, high)
    }

    pub(crate) fn distance(&self, from: u32, to: u32) -> u32 {
        if from == to {
            return 0;
        }
        let (x, y) = (self.place(from), self.place(to));
        let (low, high) = self.span(x, y);
        (2 * (high - low) - x.0.abs_diff(y.0)) as u32
    }

    pub(crate) fn diameter(&self) -> u32 {
        let h = self.levels.len();
        let mut most = 0;
        for i in 0..h {
            for j in i..h {
                let high = (j + 1..h)
                    .rev()
                    .find(|&l| self.levels[l].down.divisor() > 1)
                    .unwrap_or(j);
                let low = (0..i).find(|&l| self.levels[l].up > 1).unwrap_or(i);
                most = most.max(2 * (high - low) - (j - i));
            }
        }
        most as u32
    }

    #[inline]
    fn up_hop(&self, i: usize, parent: u32, cable: Option<u32>) -> Hop {
        let level = &self.levels[i];
        let port = self.up_base(i) + parent * level.up_width + cable.unwrap_or(0);
        Hop {
            port: port as u16,
            links: if cable.is_some() { 1 } else { level.up_width as u16 },
            dim: 0,
            vc: 0,
        }
    }

    #[inline]
    fn down_hop(&self, i: usize, child: u32, cable: Option<u32>) -> Hop {
        let level = &self.levels[i];
        let port = child * level.down_width + cable.unwrap_or(0);
        Hop {
            port: port as u16,
            links: if cable.is_some() { 1 } else { level.down_width as u16 },
            dim: 1,
            vc: 0,
        }
    }

    /// Leaf router of a node.
    #[inline]
    pub(crate) fn leaf_of(&self, node: u32) -> u32 {
        self.levels[0].down.div(node)
    }

    /// D-mod-k towards a node.
    #[inline]
    pub(crate) fn minimal(&self, at: u32, node: u32) -> Hop {
        let leaf = self.leaf_of(node);
        let (i, a, _) = self.place(at);
        let level = &self.levels[i];
        if level.leaves.div(leaf) == a {
            if i == 0 {
                return Hop::EJECT;
            }
            let below = &self.levels[i - 1];
            let child = level.down.split(below.leaves.div(leaf)).1;
            let q = below.up_cables.split(below.siblings.div(node)).1;
            return self.down_hop(i, child, Some(below.up_div.div(q)));
        }
        let q = level.up_cables.split(level.siblings.div(node)).1;
        let (cable, parent) = level.up_div.split(q);
        self.up_hop(i, parent, Some(cable))
    }

    /// A shortest way to any router. Of the parents (children) that the target leaves open, the key chooses.
    pub(crate) fn minimal_to(&self, at: u32, to: u32, key: u32) -> Hop {
        if at == to {
            return Hop::EJECT;
        }
        if to < self.level_len(0) {
            let nodes = self.levels[0].down.divisor();
            return self.minimal(at, to * nodes + pick(key, nodes));
        }
        let (x, y) = (self.place(at), self.place(to));
        let (low, high) = self.span(x, y);
        let i = x.0;
        if i > low && (i <= y.0 || i == high) {
            let child = if i > y.0 {
                self.levels[i].down.split(self.lift(y.1, y.0, i - 1)).1
            } else {
                pick(turned(key, i), self.levels[i].down.divisor())
            };
            return self.down_hop(i, child, None);
        }
        let parent = if i < y.0 {
            self.levels[i].up_div.split(self.levels[i].siblings.div(y.2)).1
        } else {
            pick(turned(key, i), self.levels[i].up)
        };
        self.up_hop(i, parent, None)
    }

    /// All first steps of shortest ways; the neighbours are tried one by one unless the target is a leaf.
    pub(crate) fn minimal_hops(&self, at: u32, to: u32, out: &mut HopList) {
        if at == to {
            return;
        }
        let (i, a, _) = self.place(at);
        let level = &self.levels[i];
        if to < self.level_len(0) {
            if level.leaves.div(to) == a {
                let child = level.down.split(self.levels[i - 1].leaves.div(to)).1;
                out.push(self.down_hop(i, child, None));
            } else {
                (0..level.up).for_each(|parent| out.push(self.up_hop(i, parent, None)));
            }
            return;
        }
        let (y, here) = (self.place(to), self.distance(at, to));
        let nearer = |x: TreePlace| {
            let there = self.router(x.0, x.1, x.2);
            (there == to && here == 1) || {
                let (low, high) = self.span(x, y);
                (2 * (high - low) - x.0.abs_diff(y.0)) as u32 + 1 == here
            }
        };
        let (_, _, b) = self.place(at);
        if i > 0 {
            let rest = self.levels[i - 1].siblings.split(b).1;
            for child in (0..level.down.divisor()).filter(|c| nearer((i - 1, a * level.down.divisor() + c, rest))) {
                out.push(self.down_hop(i, child, None));
            }
        }
        for parent in 0..level.up {
            let above = self.levels[i + 1].down.div(a);
            if nearer((i + 1, above, b + parent * level.siblings.divisor())) {
                out.push(self.up_hop(i, parent, None));
            }
        }
    }
}

/// A key for the choice at a level: other bits of it first, so that a choice among a few does not repeat that of the level below.
#[inline]
fn turned(key: u32, level: usize) -> u32 {
    key.rotate_left(11 * level as u32)
}
