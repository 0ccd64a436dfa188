//! The families of networks: each is one file (with a folder of its own where it is long) and one line of the list at the end of this one.
//! A family has one or several kinds, which are what a study chooses by name.
//!
//! What a user may ask for is [`TopologySpec`]. A kind says how it is read from a study ([`NamedTopology`]), checks it and lays out its
//! wiring; its family answers from then on everything that is asked of a topology ([`NetworkFamily`]), by arithmetic where
//! it can, so that a network of a million routers needs no tables. What a family does not answer does not compile: no question has a
//! default. Questions of the hot path are dispatched by the enum that the list makes ([`Geometry`]), all others by [`Geometry::family`].
//!
//! A family knows no time, no load and no other family.

mod curtailed;
mod fat_tree;
mod graph;
mod grouped;
mod keys;
mod lattice;
mod named;
mod order;
mod single_router;

pub(crate) use curtailed::Curtailed;
pub use fat_tree::FatTreeSpec;
pub(crate) use graph::TSUBAME_TREE;
pub use graph::{ExpressMeshSpec, GraphSpec, OftSpec, RandomRegularSpec, SlimFlySpec};
pub use grouped::{Arrangement, DragonflyPlusSpec, DragonflySpec};
pub use lattice::{Coordinates, Lattice, RingSpec, Tie};
pub(crate) use lattice::{Direct, LatticeGeometry};
pub use named::TopologyKeys;
use named::{NamedTopology, entry};
pub(crate) use order::CutOrder;
pub use single_router::SingleRouterSpec;

use crate::division::FastDiv;
use crate::graph_file::{GraphFormat, GraphText, Unreadable};
use crate::hop::{Came, GlobalLink, Hop, HopList, PortStage};
use crate::problems::FieldError;
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use study::{Entry, Family};

/// How a graph's file is read, and what is in it where that is known without reading it.
pub(crate) struct GraphFile<'a> {
    /// Takes the place of the file's content.
    pub(crate) text: Option<&'a str>,
    /// Understands a text.
    pub(crate) read: fn(&str, GraphFormat) -> Result<GraphText, Unreadable>,
}

/// What a family knows of the distances between its nodes.
pub(crate) enum MeanDistance {
    /// The mean over all ordered pairs of routers, equal ones included; all routers have equally many nodes.
    OfRouters(f64),
    /// All routers with nodes see the same distances.
    SameFromAll,
    /// Nothing: distances have to be summed.
    Unknown,
}

/// What is asked of a topology. The wiring is that of [`NamedTopology::build`]: of a lattice the names of its link classes, or all.
pub(crate) trait NetworkFamily {
    /// Whether its nodes fall into groups (see [`NetworkFamily::n_groups`]).
    fn has_groups() -> bool
    where
        Self: Sized;

    // Ways: asked per packet and hop.

    /// Router of a node.
    fn router_of(&self, wiring: &Wiring, node: u32) -> u32;
    /// See [`crate::Topology::distance`].
    fn distance(&self, wiring: &Wiring, a: u32, b: u32) -> u32;
    /// See [`crate::Topology::minimal`].
    fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, key: impl Fn() -> u32) -> Hop
    where
        Self: Sized;
    /// See [`crate::Topology::minimal_to`].
    fn minimal_to(&self, wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop;
    /// Adds one entry per neighbour of `at` that is nearer to `to`, another router, in port order.
    fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList);
    /// Coordinates and steps along dimensions, on families that have dimensions.
    fn lattice(&self) -> Option<&LatticeGeometry>;
    /// The same, to be told what else it shall do.
    fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry>;
    /// Routers of each group, on families made of groups that global links join.
    fn routers_per_group(&self) -> Option<FastDiv>;
    /// See [`crate::Topology::global_link`]; asked on whole networks that have groups.
    fn global_link(&self, _from: u32, _to: u32, _number: u32) -> Option<GlobalLink> {
        None
    }

    // Promises about ways.

    /// The ways of a network whose minimal hop depends on the place alone and needs one virtual channel.
    fn direct(&self) -> Option<Direct>;
    /// Largest distance between two routers.
    fn diameter(&self) -> u32;
    /// Virtual channels that [`NetworkFamily::minimal`] needs.
    fn minimal_vcs(&self) -> u8;
    /// Most hops that [`NetworkFamily::minimal`] takes between two routers that have nodes.
    fn minimal_bound(&self, wiring: &Wiring, from: u32, to: u32) -> u32;
    /// Whether [`NetworkFamily::minimal`] takes exactly as many hops as the distance.
    fn keeps_to_distance(&self) -> bool;
    /// Whether [`NetworkFamily::minimal`] treats all nodes of a router alike.
    fn treats_nodes_of_a_router_alike(&self) -> bool;
    /// Every number of alternatives among which [`NetworkFamily::minimal`] picks by the upper half of the key, and by the lower half.
    fn choices(&self) -> [Vec<u32>; 2];
    /// Where a port stands in the order in which [`NetworkFamily::minimal`] uses ports; where there is no such order, all are of one stage.
    fn stage(&self, wiring: &Wiring, router: u32, port: u16) -> PortStage;

    // Names and places.

    /// Whether names, order and cables of the routers are those of a file: they follow no rule.
    fn is_irregular(&self) -> bool;
    /// A router's name.
    fn router_name(&self, router: u32) -> String;
    /// Name of the cables to a neighbour and the number of the cable among them, where the family names ports by more than who is there.
    fn port_name(&self, wiring: &Wiring, router: u32, port: u16) -> Option<(String, u16)>;
    /// A place in the unit square, x to the right and y upwards; no two routers share one.
    fn place(&self, router: u32) -> (f64, f64);

    // Groups of nodes.

    /// Number of groups of nodes: what people call group, pod or plane.
    fn n_groups(&self) -> Option<u32>;
    /// Group of a node of this router; 0 without groups.
    fn group_of(&self, router: u32) -> u32;
    /// A group's name; empty without groups.
    fn group_name(&self, group: u32) -> String;
    /// The shelf of a router: routers with the same number are built together, and shelves stand in the order of their numbers.
    fn shelf(&self, router: u32) -> u32;

    // Figures and parts.

    /// Cables of the bisection and where the formula is from, if there is one.
    fn bisection(&self, wiring: &Wiring) -> Option<(u64, &'static str)>;
    /// What is known of the mean distance between nodes.
    fn mean_distance(&self) -> MeanDistance;
    /// Orders in which neighbours in number are neighbours in the network, to try when routers are shared out; at least one.
    fn orders(&self) -> Vec<CutOrder<'_>>;
}

/// Place number `index` of `count` on a circle, clockwise from the top.
fn on_circle(centre: (f64, f64), radius: f64, index: u32, count: u32) -> (f64, f64) {
    let angle = TAU * f64::from(index) / f64::from(count);
    let place = (centre.0 + radius * angle.sin(), centre.1 + radius * angle.cos());
    (place.0.clamp(0.0, 1.0), place.1.clamp(0.0, 1.0))
}

/// Makes of the list what a study may say ([`TopologySpec`]) and what answers for it ([`Geometry`]). A line is the family's file and type, then its
/// kinds: the name of each in studies, and the type of what a study says of it. Every kind becomes a type without values that answers the
/// questions of [`NamedTopology`] in that file.
macro_rules! families {
    ($($file:ident::$family:ident: $($name:literal = $kind:ident($parameters:ident)),+;)+) => {
        /// A topology's parameters: plain numbers, checked by [`TopologySpec::build`].
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum TopologySpec {
            $($(
                #[doc = concat!("`", $name, "`.")]
                #[serde(rename = $name)]
                $kind($file::$parameters),
            )+)+
        }

        /// A topology without its parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TopologyKind {
            $($(
                #[doc = concat!("`", $name, "`.")]
                $kind,
            )+)+
        }

        impl TopologyKind {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [TopologyKind] = &[$($(TopologyKind::$kind),+),+];

            /// What a study may say of each.
            const ENTRIES: &'static [Entry] = &[$($(entry::<$kind>($name)),+),+];

            /// Its name, the `kind` of a specification.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(TopologyKind::$kind => $name,)+)+
                }
            }
        }

        impl TopologySpec {
            /// Reads a topology by its name and its keys; `None` after errors.
            pub fn read(name: &str, keys: &mut TopologyKeys<'_>) -> Option<TopologySpec> {
                match name {
                    $($($name => $kind::read(keys).map(TopologySpec::$kind),)+)+
                    _ => None,
                }
            }

            /// What it is, without its parameters.
            pub fn kind(&self) -> TopologyKind {
                match self {
                    $($(TopologySpec::$kind(_) => TopologyKind::$kind,)+)+
                }
            }

            /// The key that says how many nodes a router has.
            pub fn key_of_nodes(&self) -> &'static str {
                match self {
                    $($(TopologySpec::$kind(_) => $kind::NODES,)+)+
                }
            }
        }

        $($(
            /// What is asked of the kind of this name.
            pub(crate) struct $kind;
        )+)+

        /// What answers for each family.
        #[derive(Clone, Debug)]
        pub(crate) enum Geometry {
            $($family($file::$family),)+
            /// What is left of one of them after failures.
            Curtailed(Box<Curtailed>),
        }

        impl Geometry {
            /// Checks a specification and lays it out: see [`NamedTopology::build`].
            pub(crate) fn build(spec: &TopologySpec, file: &GraphFile<'_>) -> Result<(Self, Wiring), Vec<FieldError>> {
                match spec {
                    $($(TopologySpec::$kind(spec) => {
                        let (family, wiring) = $kind::build(spec, file)?;
                        Ok((Self::$family(family), wiring))
                    })+)+
                }
            }

            /// See [`NamedTopology::reduce`].
            pub(crate) fn reduce(spec: &mut TopologySpec) {
                match spec {
                    $($(TopologySpec::$kind(spec) => $kind::reduce(spec),)+)+
                }
            }

            /// See [`NetworkFamily::has_groups`].
            pub(crate) fn has_groups(spec: &TopologySpec) -> bool {
                match spec {
                    $($(TopologySpec::$kind(_) => $file::$family::has_groups(),)+)+
                }
            }

            /// What failures have left of a family.
            pub(crate) fn curtailed(&self) -> Option<&Curtailed> {
                match self {
                    $(Self::$family(_) => None,)+
                    Self::Curtailed(left) => Some(left),
                }
            }

            /// The same, to be changed.
            pub(crate) fn curtailed_mut(&mut self) -> Option<&mut Curtailed> {
                match self {
                    $(Self::$family(_) => None,)+
                    Self::Curtailed(left) => Some(left),
                }
            }

            /// The family, for questions that are asked now and then.
            pub(crate) fn family(&self) -> &dyn NetworkFamily {
                match self {
                    $(Self::$family(family) => family,)+
                    Self::Curtailed(left) => &**left,
                }
            }

            #[inline(always)]
            pub(crate) fn router_of(&self, wiring: &Wiring, node: u32) -> u32 {
                match self {
                    $(Self::$family(family) => NetworkFamily::router_of(family, wiring, node),)+
                    Self::Curtailed(left) => NetworkFamily::router_of(&**left, wiring, node),
                }
            }

            #[inline(always)]
            pub(crate) fn distance(&self, wiring: &Wiring, a: u32, b: u32) -> u32 {
                match self {
                    $(Self::$family(family) => NetworkFamily::distance(family, wiring, a, b),)+
                    Self::Curtailed(left) => NetworkFamily::distance(&**left, wiring, a, b),
                }
            }

            #[inline(always)]
            pub(crate) fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, key: impl Fn() -> u32) -> Hop {
                match self {
                    $(Self::$family(family) => NetworkFamily::minimal(family, wiring, at, node, came, key),)+
                    Self::Curtailed(left) => NetworkFamily::minimal(&**left, wiring, at, node, came, key),
                }
            }

            #[inline(always)]
            pub(crate) fn minimal_to(&self, wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop {
                match self {
                    $(Self::$family(family) => NetworkFamily::minimal_to(family, wiring, at, to, came, key),)+
                    Self::Curtailed(left) => NetworkFamily::minimal_to(&**left, wiring, at, to, came, key),
                }
            }

            #[inline(always)]
            pub(crate) fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
                match self {
                    $(Self::$family(family) => NetworkFamily::minimal_hops(family, wiring, at, to, out),)+
                    Self::Curtailed(left) => NetworkFamily::minimal_hops(&**left, wiring, at, to, out),
                }
            }

            #[inline(always)]
            pub(crate) fn lattice(&self) -> Option<&LatticeGeometry> {
                match self {
                    $(Self::$family(family) => NetworkFamily::lattice(family),)+
                    Self::Curtailed(left) => NetworkFamily::lattice(&**left),
                }
            }

            pub(crate) fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
                match self {
                    $(Self::$family(family) => NetworkFamily::lattice_mut(family),)+
                    Self::Curtailed(left) => NetworkFamily::lattice_mut(&mut **left),
                }
            }

            #[inline(always)]
            pub(crate) fn routers_per_group(&self) -> Option<FastDiv> {
                match self {
                    $(Self::$family(family) => NetworkFamily::routers_per_group(family),)+
                    Self::Curtailed(left) => NetworkFamily::routers_per_group(&**left),
                }
            }
        }
    };
}

// The families and their kinds, in the order of the documentation.
families! {
    single_router::OneRouter: "single-router" = SingleRouter(SingleRouterSpec);
    lattice::LatticeGeometry: "ring" = Ring(RingSpec), "mesh" = Mesh(Lattice), "torus" = Torus(Lattice), "hyperx" = HyperX(Lattice);
    grouped::Grouped: "dragonfly" = Dragonfly(DragonflySpec), "dragonfly+" = DragonflyPlus(DragonflyPlusSpec);
    fat_tree::FatTreeGeometry: "fat-tree" = FatTree(FatTreeSpec);
    graph::GraphTables: "slim-fly" = SlimFly(SlimFlySpec), "random-regular" = RandomRegular(RandomRegularSpec), "graph" = Graph(GraphSpec), "oft" = Oft(OftSpec), "express-mesh" = ExpressMesh(ExpressMeshSpec);
}

/// The networks: `topology.kind`.
pub static TOPOLOGY: Family = Family {
    name: "topology",
    key: "topology.kind",
    by_name: false,
    groups: &[TopologyKind::ENTRIES],
};
