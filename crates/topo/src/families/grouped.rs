//! Dragonfly and dragonfly+: groups of routers, every pair of groups joined by global cables. Numbering, ports and ways: `geometry`;
//! what a group is like: `inside`; which router has which global cable: `global_cables`.

mod geometry;
mod global_cables;
mod inside;
mod kinds;

pub(crate) use geometry::Grouped;
pub use global_cables::Arrangement;
pub use kinds::{DragonflyPlusSpec, DragonflySpec};

use super::order::middle;
use super::{CutOrder, Direct, LatticeGeometry, MeanDistance, NetworkFamily, on_circle};
use crate::division::FastDiv;
use crate::hop::{Came, GlobalLink, Hop, HopList, PortStage};
use crate::wiring::Wiring;
use inside::Inside;
use std::f64::consts::TAU;

impl NetworkFamily for Grouped {
    fn has_groups() -> bool {
        true
    }

    #[inline(always)]
    fn router_of(&self, _wiring: &Wiring, node: u32) -> u32 {
        self.router_of(node)
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, a: u32, b: u32) -> u32 {
        self.distance(a, b)
    }

    #[inline]
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, came: Came, key: impl Fn() -> u32) -> Hop {
        self.minimal(at, self.place_of(node), came, key)
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop {
        self.minimal(at, self.per_group.split(to), came, || key)
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
        Some(self.per_group)
    }

    fn global_link(&self, from: u32, to: u32, number: u32) -> Option<GlobalLink> {
        self.global_link(from, to, number)
    }

    fn direct(&self) -> Option<Direct> {
        None
    }

    fn diameter(&self) -> u32 {
        self.diameter()
    }

    fn minimal_vcs(&self) -> u8 {
        self.minimal_vcs()
    }

    fn minimal_bound(&self, _wiring: &Wiring, from: u32, to: u32) -> u32 {
        let same_group = self.per_group.div(from) == self.per_group.div(to);
        match self.inside {
            _ if same_group => self.distance(from, to),
            Inside::LeafSpine { .. } => 3,
            inside @ Inside::Grid { .. } => 2 * inside.diameter() + 1,
        }
    }

    /// The way over a link that the key names may be longer than the shortest one.
    fn keeps_to_distance(&self) -> bool {
        false
    }

    fn treats_nodes_of_a_router_alike(&self) -> bool {
        true
    }

    fn choices(&self) -> [Vec<u32>; 2] {
        self.choices()
    }

    /// Rows, columns, global links; up to a spine, global links, down to a leaf.
    fn stage(&self, wiring: &Wiring, router: u32, port: u16) -> PortStage {
        let ((group, i), (other, j)) = (
            self.per_group.split(router),
            self.per_group.split(wiring.peer(router, port).0),
        );
        match self.inside {
            Inside::Grid { .. } if group != other => PortStage::single(2),
            Inside::Grid { cols, .. } => PortStage::single(u8::from(cols.div(i) != cols.div(j))),
            Inside::LeafSpine { .. } if group != other => PortStage {
                dim: 2,
                ..PortStage::single(1)
            },
            Inside::LeafSpine { leaves, .. } if i < leaves => PortStage::single(0),
            Inside::LeafSpine { .. } => PortStage {
                dim: 1,
                ..PortStage::single(2)
            },
        }
    }

    fn is_irregular(&self) -> bool {
        false
    }

    /// Group and place: `g2.r5`, `g2.(1,3)`, `g2.leaf3`, `g2.spine0`.
    fn router_name(&self, router: u32) -> String {
        let (group, i) = self.per_group.split(router);
        match self.inside {
            Inside::Grid { rows: 1, .. } => format!("g{group}.r{i}"),
            Inside::Grid { cols, .. } => format!("g{group}.({},{})", cols.split(i).0, cols.split(i).1),
            Inside::LeafSpine { leaves, .. } if i < leaves => format!("g{group}.leaf{i}"),
            Inside::LeafSpine { leaves, .. } => format!("g{group}.spine{}", i - leaves),
        }
    }

    fn port_name(&self, _wiring: &Wiring, _router: u32, _port: u16) -> Option<(String, u16)> {
        None
    }

    /// Groups on a circle with their routers around each.
    fn place(&self, router: u32) -> (f64, f64) {
        let ((group, i), groups) = (self.per_group.split(router), self.global.groups());
        let room = if groups == 1 {
            0.5
        } else {
            (TAU / f64::from(groups) / 2.0).sin().min(0.6) * 0.4 / 1.4
        };
        let centre = if groups == 1 {
            (0.5, 0.5)
        } else {
            on_circle((0.5, 0.5), 0.5 - room, group, groups)
        };
        match self.inside {
            Inside::LeafSpine { leaves, spines } if i >= leaves => on_circle(centre, room * 0.5, i - leaves, spines),
            Inside::LeafSpine { leaves, .. } => on_circle(centre, room, i, leaves),
            inside @ Inside::Grid { .. } => on_circle(centre, room, i, inside.routers()),
        }
    }

    fn n_groups(&self) -> Option<u32> {
        Some(self.global.groups())
    }

    fn group_of(&self, router: u32) -> u32 {
        self.per_group.div(router)
    }

    fn group_name(&self, group: u32) -> String {
        format!("g{group}")
    }

    /// Groups.
    fn shelf(&self, router: u32) -> u32 {
        self.per_group.div(router)
    }

    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        let (groups, links) = (u64::from(self.global.groups()), u64::from(self.global.links_per_pair()));
        match self.inside {
            _ if groups % 2 == 0 => Some((groups * groups / 4 * links, "groups kept whole: links (g/2)^2")),
            Inside::Grid { rows: 1, cols } if groups == 1 => {
                let a = u64::from(cols.divisor());
                (a % 2 == 0).then_some((a * a / 4 * u64::from(self.local_width), "complete graph: (a/2)^2"))
            }
            Inside::Grid { .. } | Inside::LeafSpine { .. } => None,
        }
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::Unknown
    }

    /// Groups follow each other whole.
    fn orders(&self) -> Vec<CutOrder<'_>> {
        let n = self.per_group.divisor() * self.global.groups();
        vec![CutOrder::Groups((0..n).map(|router| in_group(self, router)).collect())]
    }
}

/// Group by group; leaves and spines of a group each dealt out over it.
fn in_group(g: &Grouped, router: u32) -> u64 {
    let (group, i) = g.per_group.split(router);
    let inside = match g.inside {
        Inside::Grid { .. } => middle(i, g.inside.routers()),
        Inside::LeafSpine { leaves, .. } if i < leaves => middle(i, leaves),
        Inside::LeafSpine { leaves, spines } => middle(i - leaves, spines),
    };
    u64::from(group) << 28 | inside
}
