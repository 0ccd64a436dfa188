//! Dragonfly and dragonfly+: groups of routers, every pair of groups joined by global cables. Numbering, ports and ways: `geometry`;
//! what a group is like: `inside`; which router has which global cable: `global_cables`.

mod geometry;
mod global_cables;
mod inside;

pub(crate) use geometry::Grouped;

use super::order::middle;
use super::{CutOrder, Direct, GraphFile, LatticeGeometry, MeanDistance, NetworkFamily, not_mine, on_circle};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList};
use crate::problems::Problems;
use crate::spec::{Arrangement, DragonflyPlusSpec, DragonflySpec, FieldError, TopologySpec};
use crate::wiring::Wiring;
use global_cables::GlobalCables;
use inside::Inside;
use std::f64::consts::TAU;

impl NetworkFamily for Grouped {
    fn build(spec: &TopologySpec, _file: &GraphFile<'_>) -> Result<(Self, Wiring), Vec<FieldError>> {
        let mut problems = Problems::default();
        let plan = match spec {
            TopologySpec::Dragonfly(DragonflySpec {
                groups,
                routers_per_group,
                nodes_per_router,
                links_per_pair,
                local_width,
                arrangement,
                arrangement_seed,
            }) => {
                problems.all_at_least("routers_per_group", routers_per_group, 1);
                let (rows, cols) = match routers_per_group.as_slice() {
                    [a] => (1, *a),
                    [rows, cols] => (*rows, *cols),
                    other => {
                        let reason = format!("{} numbers, there must be 1 or 2", other.len());
                        problems.add(
                            "routers_per_group",
                            reason,
                            Some("[32] is an all-to-all group, [6, 16] has rows and columns"),
                        );
                        (1, 1)
                    }
                };
                problems.size(u64::from(rows) * u64::from(cols), 0, 0, "routers_per_group");
                problems.radix(
                    u64::from(rows) + u64::from(cols),
                    u64::from(*local_width),
                    "local_width",
                );
                let inside = Inside::Grid {
                    rows,
                    cols: FastDiv::new(cols),
                };
                GroupedPlan {
                    groups: *groups,
                    inside,
                    nodes: *nodes_per_router,
                    links: *links_per_pair,
                    width: *local_width,
                    how: *arrangement,
                    seed: *arrangement_seed,
                    node_key: "nodes_per_router",
                }
            }
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups,
                leaves,
                spines,
                nodes_per_leaf,
                links_per_pair,
                local_width,
                arrangement,
                arrangement_seed,
            }) => {
                problems.at_least("leaves", *leaves, 1);
                problems.at_least("spines", *spines, 1);
                problems.size(u64::from(*leaves) + u64::from(*spines), 0, 0, "leaves");
                problems.radix(
                    u64::from(*leaves).max(u64::from(*spines)),
                    u64::from(*local_width),
                    "local_width",
                );
                let inside = Inside::LeafSpine {
                    leaves: *leaves,
                    spines: *spines,
                };
                GroupedPlan {
                    groups: *groups,
                    inside,
                    nodes: *nodes_per_leaf,
                    links: *links_per_pair,
                    width: *local_width,
                    how: *arrangement,
                    seed: *arrangement_seed,
                    node_key: "nodes_per_leaf",
                }
            }
            other => not_mine(other),
        };
        plan.build(problems)
    }

    fn reduce(spec: &mut TopologySpec) {
        match spec {
            TopologySpec::Dragonfly(DragonflySpec {
                groups,
                routers_per_group,
                nodes_per_router,
                links_per_pair,
                local_width,
                ..
            }) => {
                let most = if routers_per_group.len() > 1 { 3 } else { 4 };
                let owners: u64 = routers_per_group.iter().map(|&r| u64::from(r)).product();
                let ratio = u64::from(*links_per_pair).div_ceil(owners.max(1));
                routers_per_group.iter_mut().for_each(|r| *r = (*r).min(most));
                let left: u32 = routers_per_group.iter().product();
                *links_per_pair = few_links(*links_per_pair, owners, left, ratio);
                *groups = (*groups).min(5);
                *nodes_per_router = 1;
                *local_width = (*local_width).min(2);
            }
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups,
                leaves,
                spines,
                nodes_per_leaf,
                links_per_pair,
                local_width,
                ..
            }) => {
                let ratio = u64::from(*links_per_pair).div_ceil(u64::from(*spines).max(1));
                let before = u64::from(*spines);
                *leaves = (*leaves).min(3);
                *spines = (*spines).min(3);
                *links_per_pair = few_links(*links_per_pair, before, *spines, ratio);
                *groups = (*groups).min(5);
                *nodes_per_leaf = 1;
                *local_width = (*local_width).min(2);
            }
            other => not_mine(other),
        }
    }

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
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, came: Came, key: u32) -> Hop {
        self.minimal(at, self.router_of(node), came, key)
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop {
        self.minimal(at, to, came, key)
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

/// What both kinds come to.
struct GroupedPlan {
    groups: u32,
    inside: Inside,
    /// Nodes per router, or per leaf router.
    nodes: u32,
    links: u32,
    width: u32,
    how: Arrangement,
    seed: u64,
    /// The key that `nodes` comes from.
    node_key: &'static str,
}

impl GroupedPlan {
    fn build(self, mut problems: Problems) -> Result<(Grouped, Wiring), Vec<FieldError>> {
        let GroupedPlan {
            groups,
            inside,
            nodes,
            links,
            width,
            how,
            seed,
            node_key,
        } = self;
        problems.at_least("groups", groups, 1);
        problems.at_least(node_key, nodes, 1);
        problems.at_least("local_width", width, 1);
        if groups > 1 {
            problems.at_least("links_per_pair", links, 1);
        }
        problems.done()?;
        let (a, g, owners) = (
            u64::from(inside.routers()),
            u64::from(groups),
            u64::from(inside.owners().1),
        );
        let with_nodes = if let Inside::LeafSpine { leaves, .. } = inside {
            u64::from(leaves)
        } else {
            a
        };
        let degrees: u64 = match inside {
            Inside::Grid { .. } => a * u64::from(inside.degree(0)),
            Inside::LeafSpine { leaves, spines } => 2 * u64::from(leaves) * u64::from(spines),
        };
        let global = g.saturating_mul(g).saturating_mul(u64::from(links));
        let ports = g
            .saturating_mul(degrees.saturating_mul(u64::from(width)))
            .saturating_add(global);
        problems.size(
            g.saturating_mul(a),
            ports,
            g.saturating_mul(with_nodes).saturating_mul(u64::from(nodes)),
            "groups",
        );
        let local = if let Inside::LeafSpine { leaves, .. } = inside {
            leaves
        } else {
            inside.degree(0)
        };
        let local = u64::from(local) * u64::from(width);
        problems.radix(
            local.saturating_add(GlobalCables::most_ports(g, owners, u64::from(links))),
            1,
            "links_per_pair",
        );
        problems.done()?;
        let geometry = Grouped::new(groups, inside, nodes, width, links, how, seed);
        let wiring = geometry.wire(["host", "local", "global"].map(String::from).to_vec());
        Ok((geometry, wiring))
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

/// Keeps whether a router owns no, some or several links to each other group.
fn few_links(links: u32, owners_before: u64, owners: u32, ratio: u64) -> u32 {
    if u64::from(links) < owners_before {
        links.min(owners.saturating_sub(1).max(1))
    } else {
        owners * ratio.min(2) as u32
    }
}
