//! The kinds of networks made of groups: what a study says of a dragonfly and a dragonfly+, and what is wrong with it.

use super::geometry::Grouped;
use super::global_cables::{Arrangement, GlobalCables};
use super::inside::Inside;
use crate::division::FastDiv;
use crate::families::keys::{COUNT, NODES, NODES_PER_ROUTER, TAPER, WIDTH, taper};
use crate::families::{Dragonfly, DragonflyPlus, GraphFile, NamedTopology, TopologyKeys};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Named, Parameter, SEED, Type, When, key};

/// A dragonfly of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflySpec {
    /// Number of groups.
    pub groups: u32,
    /// Routers of a group: one number (all-to-all) or rows and columns (all-to-all in each row and column).
    pub routers_per_group: Vec<u32>,
    /// Nodes per router.
    pub nodes_per_router: u32,
    /// Parallel global cables between each pair of groups.
    pub links_per_pair: u32,
    /// Parallel cables between two routers of a group that are neighbours.
    pub local_width: u32,
    /// Which router of a group owns which global cable.
    pub arrangement: Arrangement,
    /// Seed of the `random` arrangement.
    pub arrangement_seed: u64,
}

/// A dragonfly+ (megafly): groups of leaf and spine routers, all leaves to all spines, spines of different groups by global cables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DragonflyPlusSpec {
    /// Number of groups.
    pub groups: u32,
    /// Leaf routers per group.
    pub leaves: u32,
    /// Spine routers per group.
    pub spines: u32,
    /// Nodes per leaf router.
    pub nodes_per_leaf: u32,
    /// Parallel global cables between each pair of groups.
    pub links_per_pair: u32,
    /// Parallel cables between a leaf and a spine.
    pub local_width: u32,
    /// Which spine of a group owns which global cable.
    pub arrangement: Arrangement,
    /// Seed of the `random` arrangement.
    pub arrangement_seed: u64,
}

const DRAGONFLY: &[Parameter] = &[
    key("groups", COUNT, Default::Required, "Number of groups."),
    key(
        "routers_per_group",
        Type::Integers {
            min: 1,
            max: u32::MAX as u64,
            single: true,
        },
        Default::Required,
        "Routers of a group: one number (all-to-all), or rows and columns (all-to-all in each row and each column).",
    ),
    NODES_PER_ROUTER,
];

const DRAGONFLY_PLUS: &[Parameter] = &[
    key("groups", COUNT, Default::Required, "Number of groups."),
    key("leaves", COUNT, Default::Required, "Leaf routers per group."),
    key("spines", COUNT, Default::Required, "Spine routers per group."),
    key("nodes_per_leaf", NODES, Default::Text("1"), "Nodes per leaf router."),
];

const GLOBAL_CABLES: &[Parameter] = &[
    key(
        "links_per_pair",
        WIDTH,
        Default::Text("1"),
        "Parallel global cables between each pair of groups.",
    ),
    key(
        "taper",
        TAPER,
        Default::From("what `links_per_pair` makes it"),
        "Nodes of a group per global cable of it; instead of `links_per_pair`: every other group gets as many of the cables. Beside a preset it divides what that has.",
    ),
    key(
        "local_width",
        WIDTH,
        Default::Text("1"),
        "Parallel cables between two routers of a group that are neighbours.",
    ),
    key(
        "arrangement",
        Type::Choice(Arrangement::WORDS),
        Default::Text("absolute"),
        "Which router of a group owns which global cable (Hastings et al. 2015).",
    ),
    key("seed", SEED, Default::Text("1"), "Seed of the random arrangement.").when(&[When {
        key: "arrangement",
        values: &["random"],
    }]),
];

/// A seed that nothing draws from is not part of the description.
fn seed(keys: &TopologyKeys<'_>) -> u64 {
    keys.values.integer("seed").unwrap_or(0)
}

/// Global cables between two groups of so many nodes each, as many as `taper` leaves where that is given.
fn links_per_pair(keys: &mut TopologyKeys<'_>, groups: u32, nodes: u64) -> Option<u32> {
    let Some(taper) = taper(keys, "links_per_pair").ok()? else {
        return keys.number("links_per_pair");
    };
    let others = u64::from(groups.saturating_sub(1));
    if others == 0 {
        keys.error(
            "taper",
            "a single group has no global cables",
            "give more groups, or remove the key",
        );
        return None;
    }
    // One node for this many of the cables to one other group.
    let share = u64::from(taper) * others;
    if nodes == 0 || !nodes.is_multiple_of(share) {
        let nearest = ((nodes as f64 / share as f64).round() as u64).max(1);
        let reason = format!(
            "a global cable for every {taper} of the {nodes} nodes of a group: {others} other groups cannot have as many of them each"
        );
        let is_taper = nodes as f64 / (nearest * others) as f64;
        let hint = format!("links_per_pair = {nearest} in its place has a global cable for every {is_taper:.3} nodes");
        keys.error("taper", reason, &hint);
        return None;
    }
    // What is too many is told with the ports that they would take.
    Some((nodes / share).try_into().unwrap_or(u32::MAX))
}

impl NamedTopology for Dragonfly {
    type Parameters = DragonflySpec;
    type Family = Grouped;

    const LINE: &'static str = "Groups of routers, every pair of groups joined by global cables.";
    const KEYS: &'static [&'static [Parameter]] = &[DRAGONFLY, GLOBAL_CABLES];
    const SOURCE: &'static str = "Kim et al. 2008";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<DragonflySpec> {
        let (groups, nodes_per_router) = (keys.number("groups")?, keys.number("nodes_per_router")?);
        let routers_per_group = keys.numbers("routers_per_group");
        let routers = routers_per_group.iter().copied().map(u64::from);
        let nodes = routers.fold(nodes_per_router.into(), u64::saturating_mul);
        Some(DragonflySpec {
            groups,
            routers_per_group,
            nodes_per_router,
            links_per_pair: links_per_pair(keys, groups, nodes)?,
            local_width: keys.number("local_width")?,
            arrangement: keys.values.choice("arrangement").unwrap_or(Arrangement::Absolute),
            arrangement_seed: seed(keys),
        })
    }

    fn build(spec: &DragonflySpec, _file: &GraphFile<'_>) -> Result<(Grouped, Wiring), Vec<FieldError>> {
        let mut problems = Problems::default();
        let DragonflySpec {
            groups,
            routers_per_group,
            nodes_per_router,
            links_per_pair,
            local_width,
            arrangement,
            arrangement_seed,
        } = spec;
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
        let plan = GroupedPlan {
            groups: *groups,
            inside,
            nodes: *nodes_per_router,
            links: *links_per_pair,
            width: *local_width,
            how: *arrangement,
            seed: *arrangement_seed,
            node_key: "nodes_per_router",
        };
        plan.build(problems)
    }

    fn reduce(spec: &mut DragonflySpec) {
        let DragonflySpec {
            groups,
            routers_per_group,
            nodes_per_router,
            links_per_pair,
            local_width,
            ..
        } = spec;
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
}

impl NamedTopology for DragonflyPlus {
    type Parameters = DragonflyPlusSpec;
    type Family = Grouped;

    const LINE: &'static str =
        "Groups of leaf and spine routers, spines of different groups joined by global cables (megafly).";
    const KEYS: &'static [&'static [Parameter]] = &[DRAGONFLY_PLUS, GLOBAL_CABLES];
    const SOURCE: &'static str = "Shpiner et al. 2017; Flajslik et al. 2018";
    const NODES: &'static str = "nodes_per_leaf";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<DragonflyPlusSpec> {
        let (groups, leaves) = (keys.number("groups")?, keys.number("leaves")?);
        let nodes_per_leaf = keys.number("nodes_per_leaf")?;
        let nodes = u64::from(leaves).saturating_mul(nodes_per_leaf.into());
        Some(DragonflyPlusSpec {
            groups,
            leaves,
            spines: keys.number("spines")?,
            nodes_per_leaf,
            links_per_pair: links_per_pair(keys, groups, nodes)?,
            local_width: keys.number("local_width")?,
            arrangement: keys.values.choice("arrangement").unwrap_or(Arrangement::Absolute),
            arrangement_seed: seed(keys),
        })
    }

    fn build(spec: &DragonflyPlusSpec, _file: &GraphFile<'_>) -> Result<(Grouped, Wiring), Vec<FieldError>> {
        let mut problems = Problems::default();
        let DragonflyPlusSpec {
            groups,
            leaves,
            spines,
            nodes_per_leaf,
            links_per_pair,
            local_width,
            arrangement,
            arrangement_seed,
        } = spec;
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
        let plan = GroupedPlan {
            groups: *groups,
            inside,
            nodes: *nodes_per_leaf,
            links: *links_per_pair,
            width: *local_width,
            how: *arrangement,
            seed: *arrangement_seed,
            node_key: "nodes_per_leaf",
        };
        plan.build(problems)
    }

    fn reduce(spec: &mut DragonflyPlusSpec) {
        let DragonflyPlusSpec {
            groups,
            leaves,
            spines,
            nodes_per_leaf,
            links_per_pair,
            local_width,
            ..
        } = spec;
        let ratio = u64::from(*links_per_pair).div_ceil(u64::from(*spines).max(1));
        let before = u64::from(*spines);
        *leaves = (*leaves).min(3);
        *spines = (*spines).min(3);
        *links_per_pair = few_links(*links_per_pair, before, *spines, ratio);
        *groups = (*groups).min(5);
        *nodes_per_leaf = 1;
        *local_width = (*local_width).min(2);
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

/// Keeps whether a router owns no, some or several links to each other group.
fn few_links(links: u32, owners_before: u64, owners: u32, ratio: u64) -> u32 {
    if u64::from(links) < owners_before {
        links.min(owners.saturating_sub(1).max(1))
    } else {
        owners * ratio.min(2) as u32
    }
}
