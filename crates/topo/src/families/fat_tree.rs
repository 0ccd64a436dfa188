//! Extended generalised fat-trees XGFT(h; m1..mh; w1..wh) with parallel cables. Numbering, ports and ways: `geometry`.

mod geometry;

pub(crate) use geometry::FatTreeGeometry;

use super::keys::{COUNTS, TAPER, taper};
use super::order::middle;
use super::{
    CutOrder, Direct, FatTree, GraphFile, LatticeGeometry, MeanDistance, NamedTopology, NetworkFamily, TopologyKeys,
};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::problems::{FieldError, MOST, MOST_DIMENSIONS, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, Type, key};

/// An extended generalised fat-tree XGFT(h; m1..mh; w1..wh) with parallel cables (Oehring et al. 1995).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FatTreeSpec {
    /// Children per router of level 1..=h (m); `down[0]` is nodes per leaf router.
    pub down: Vec<u32>,
    /// Distinct parents per router of level 1..h (w2..wh): one entry fewer than `down`.
    pub up: Vec<u32>,
    /// Parallel cables of each of those up connections; empty means 1 everywhere.
    pub up_width: Vec<u32>,
}

/// The keys of a fat-tree.
const KEYS: &[Parameter] = &[
    key(
        "down",
        COUNTS,
        Default::Required,
        "Children of a router of each level, leaves first: the first number is nodes per leaf router.",
    ),
    key(
        "up",
        COUNTS,
        Default::From("the entries of `down` but the last, the first divided by `taper`"),
        "Distinct parents of a router of each level below the top: one entry fewer than `down`.",
    ),
    key(
        "up_width",
        Type::Integers {
            min: 1,
            max: 65_535,
            single: true,
        },
        Default::Text("[]"),
        "Parallel cables of each of those up connections; one number stands for all levels, an empty list for 1.",
    ),
    key(
        "taper",
        TAPER,
        Default::Text("1"),
        "Nodes per uplink of a leaf router, the levels above at full bandwidth; instead of `up`, must divide `down[0]`.",
    ),
];

impl NamedTopology for FatTree {
    type Parameters = FatTreeSpec;
    type Family = FatTreeGeometry;

    const LINE: &'static str = "An extended generalised fat-tree XGFT with parallel cables.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const SOURCE: &'static str = "Öhring et al. 1995";
    const NODES: &'static str = "down";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<FatTreeSpec> {
        let down = keys.numbers("down");
        let taper = taper(keys, "up").ok()?.unwrap_or(1);
        let up = match keys.values.integers("up") {
            Some(_) => keys.numbers("up"),
            None => {
                let mut up = down.clone();
                up.pop();
                if let Some(leaf) = up.first_mut() {
                    if *leaf % taper != 0 {
                        let reason = format!("{leaf} nodes per leaf router cannot share {leaf}/{taper} uplinks");
                        keys.error("taper", reason, "give a divisor of down[0]");
                        return None;
                    }
                    *leaf /= taper;
                } else if keys.values.given("taper") {
                    let hint = "add a level to `down`";
                    keys.error("taper", "a tree of one level has no uplinks", hint);
                    return None;
                }
                up
            }
        };
        let up_width = keys.spread("up_width", up.len());
        Some(FatTreeSpec { down, up, up_width })
    }

    fn build(spec: &FatTreeSpec, _file: &GraphFile<'_>) -> Result<(FatTreeGeometry, Wiring), Vec<FieldError>> {
        let FatTreeSpec {
            down,
            up,
            up_width: width,
        } = spec;
        let mut problems = Problems::default();
        if down.is_empty() || down.len() > MOST_DIMENSIONS {
            problems.add(
                "down",
                format!("{} levels, there must be 1 to {MOST_DIMENSIONS}", down.len()),
                None,
            );
        } else if up.len() + 1 != down.len() {
            let reason = format!("{} entries, {} levels need {}", up.len(), down.len(), down.len() - 1);
            problems.add("up", reason, Some("one number of parents for each level below the top"));
        }
        if !width.is_empty() && width.len() != up.len() {
            let reason = format!("{} entries for {} levels below the top", width.len(), up.len());
            problems.add(
                "up_width",
                reason,
                Some("give one number per entry of `up`, or none for single cables"),
            );
        }
        problems.all_at_least("down", down, 1);
        problems.all_at_least("up", up, 1);
        problems.all_at_least("up_width", width, 1);
        problems.done()?;
        let (mut routers, mut ports, mut siblings) = (0u64, 0u64, 1u64);
        for level in 0..down.len() {
            let subtrees = down[level + 1..]
                .iter()
                .fold(1u64, |n, &m| n.saturating_mul(u64::from(m)));
            let here = siblings.saturating_mul(subtrees);
            routers = routers.saturating_add(here);
            let cables = |l: usize| u64::from(*up.get(l).unwrap_or(&0)) * u64::from(*width.get(l).unwrap_or(&1));
            let below = if level > 0 {
                u64::from(down[level]) * u64::from(*width.get(level - 1).unwrap_or(&1))
            } else {
                0
            };
            problems.radix(below.saturating_add(cables(level)), 1, &format!("down[{level}]"));
            ports = ports.saturating_add(here.saturating_mul(2 * cables(level).min(MOST)));
            siblings = siblings.saturating_mul(u64::from(*up.get(level).unwrap_or(&1)));
        }
        let nodes = down.iter().fold(1u64, |n, &m| n.saturating_mul(u64::from(m)));
        problems.size(routers, ports, nodes, "down");
        problems.done()?;
        let geometry = FatTreeGeometry::new(down, up, width);
        let classes = std::iter::once("host".to_owned())
            .chain((1..down.len()).map(|l| format!("up{l}")))
            .collect();
        let wiring = geometry.wire(classes);
        Ok((geometry, wiring))
    }

    fn reduce(spec: &mut FatTreeSpec) {
        let FatTreeSpec { down, up, up_width } = spec;
        let most = if down.len() > 3 { 2 } else { 3 };
        for list in [down, up, up_width] {
            list.iter_mut().for_each(|n| *n = (*n).min(most));
        }
    }
}

impl NetworkFamily for FatTreeGeometry {
    fn has_groups() -> bool {
        true
    }

    #[inline(always)]
    fn router_of(&self, _wiring: &Wiring, node: u32) -> u32 {
        self.leaf_of(node)
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, a: u32, b: u32) -> u32 {
        self.distance(a, b)
    }

    #[inline]
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, _came: Came, _key: impl Fn() -> u32) -> Hop {
        self.minimal(at, node)
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, at: u32, to: u32, _came: Came, key: u32) -> Hop {
        self.minimal_to(at, to, key)
    }

    #[inline]
    fn minimal_hops(&self, _wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        self.minimal_hops(at, to, out);
    }

    #[inline]
    fn lattice(&self) -> Option<&LatticeGeometry> {
        None
    }

    fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
        None
    }

    #[inline]
    fn routers_per_group(&self) -> Option<FastDiv> {
        None
    }

    fn direct(&self) -> Option<Direct> {
        None
    }

    fn diameter(&self) -> u32 {
        self.diameter()
    }

    fn minimal_vcs(&self) -> u8 {
        1
    }

    fn minimal_bound(&self, _wiring: &Wiring, from: u32, to: u32) -> u32 {
        self.distance(from, to)
    }

    fn keeps_to_distance(&self) -> bool {
        true
    }

    /// The node chooses the way up.
    fn treats_nodes_of_a_router_alike(&self) -> bool {
        false
    }

    fn choices(&self) -> [Vec<u32>; 2] {
        [vec![], vec![]]
    }

    /// All the way up, all the way down.
    fn stage(&self, wiring: &Wiring, router: u32, port: u16) -> PortStage {
        let goes_down = wiring.peer(router, port).0 < router;
        PortStage::line(u8::from(goes_down), 0)
    }

    fn is_irregular(&self) -> bool {
        false
    }

    /// Level and place: `L1.5`.
    fn router_name(&self, router: u32) -> String {
        let (level, index) = self.level_index(router);
        format!("L{}.{index}", level + 1)
    }

    fn port_name(&self, _wiring: &Wiring, _router: u32, _port: u16) -> Option<(String, u16)> {
        None
    }

    /// By level, leaves at the bottom.
    fn place(&self, router: u32) -> (f64, f64) {
        let (level, index) = self.level_index(router);
        let y = if self.height() == 1 {
            0.5
        } else {
            level as f64 / (self.height() - 1) as f64
        };
        ((f64::from(index) + 0.5) / f64::from(self.level_len(level)), y)
    }

    /// Pods: subtrees below the top routers.
    fn n_groups(&self) -> Option<u32> {
        Some(self.pods().0)
    }

    fn group_of(&self, router: u32) -> u32 {
        router / self.pods().1
    }

    fn group_name(&self, group: u32) -> String {
        format!("pod {group}")
    }

    /// Pods with all that is in them, then the top routers.
    fn shelf(&self, router: u32) -> u32 {
        let (pods, leaves) = self.pods();
        match self.level_index(router).0 + 1 < self.height() {
            true => self.over_leaves(router).0 / leaves,
            false => pods,
        }
    }

    fn bisection(&self, wiring: &Wiring) -> Option<(u64, &'static str)> {
        let top = (0..self.height()).rposition(|level| self.children(level) > 1)?;
        if top == 0 {
            return Some((0, "all nodes are on one leaf router"));
        }
        let per_level = (1..=top).map(|l| wiring.class.iter().filter(|&&c| usize::from(c) == l).count() as u64 / 2);
        let least = per_level.min()?;
        self.children(top)
            .is_multiple_of(2)
            .then_some((least / 2, "half of the cables of the thinnest level"))
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::SameFromAll
    }

    /// Routers follow their leaves: those that root one subtree are dealt out evenly over its leaves, so whoever gets a part of the
    /// leaves gets its share of what is above them, and a subtree's whole. Seen from the top a fat-tree is made of trees as well: cut
    /// below a level, it falls apart into columns upwards. So each level may be the one from which routers are dealt out by column over
    /// all leaves.
    fn orders(&self) -> Vec<CutOrder<'_>> {
        let columns_from =
            |level| CutOrder::Fixed((0..self.n_routers()).map(|r| above_leaves(self, r, level)).collect());
        (1..self.height().max(2)).rev().map(columns_from).collect()
    }
}

/// The place of a router over the leaves, in 2^-28 of a leaf: of its subtree below level `columns` (from 0), of its column from there on.
fn above_leaves(g: &FatTreeGeometry, router: u32, columns: usize) -> u64 {
    let (first, leaves, sibling, siblings) = if g.level_index(router).0 < columns {
        g.over_leaves(router)
    } else {
        let (column, of) = g.column(router, columns);
        (0, g.level_len(0), column, of)
    };
    (u64::from(first) << 28) + (u128::from(leaves) * u128::from(middle(sibling, siblings))) as u64
}
