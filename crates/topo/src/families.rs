//! The families of networks: each is one file (with a folder of its own where it is long) that answers everything that is asked of a
//! topology, and one line of the list at the end of this one.
//!
//! What a user may ask for is [`TopologySpec`]; a family checks it, lays out its wiring and answers from then on by arithmetic where
//! it can, so that a network of a million routers needs no tables. What a family does not answer does not compile: no question has a
//! default. Questions of the hot path are dispatched by the enum that the list makes ([`Geometry`]), all others by [`Geometry::family`].
//!
//! A family knows no time, no load and no other family.

mod fat_tree;
mod graph;
mod grouped;
mod lattice;
mod order;
mod single_router;

pub use lattice::Coordinates;
pub(crate) use lattice::{Direct, LatticeGeometry};
pub(crate) use order::CutOrder;

use crate::division::FastDiv;
use crate::graph_file::{GraphText, Unreadable};
use crate::hop::{Came, Hop, HopList};
use crate::spec::{FieldError, GraphFormat, TopologySpec};
use crate::wiring::Wiring;
use std::f64::consts::TAU;

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

/// What is asked of a topology. The wiring is that of [`NetworkFamily::build`]; a lattice's may have been forgotten.
pub(crate) trait NetworkFamily {
    /// Checks all of a specification of this family, then lays out its routers and cables. Limits are checked before memory is taken.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the words of its keys.
    fn build(spec: &TopologySpec, file: &GraphFile<'_>) -> Result<(Self, Wiring), Vec<FieldError>>
    where
        Self: Sized;

    /// Makes a specification of this family a small one with every kind of channel dependency of the large one (see
    /// [`TopologySpec::reduced`]).
    fn reduce(spec: &mut TopologySpec)
    where
        Self: Sized;

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
    fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, key: u32) -> Hop;
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

    // Figures and parts.

    /// Cables of the bisection and where the formula is from, if there is one.
    fn bisection(&self, wiring: &Wiring) -> Option<(u64, &'static str)>;
    /// What is known of the mean distance between nodes.
    fn mean_distance(&self) -> MeanDistance;
    /// Orders in which neighbours in number are neighbours in the network, to try when routers are shared out; at least one.
    fn orders(&self) -> Vec<CutOrder<'_>>;
}

/// Stops where the list below has given a specification to another family than its own.
fn not_mine(spec: &TopologySpec) -> ! {
    unreachable!("the list of families gives {spec:?} to a family that it is not of")
}

/// Place number `index` of `count` on a circle, clockwise from the top.
fn on_circle(centre: (f64, f64), radius: f64, index: u32, count: u32) -> (f64, f64) {
    let angle = TAU * f64::from(index) / f64::from(count);
    let place = (centre.0 + radius * angle.sin(), centre.1 + radius * angle.cos());
    (place.0.clamp(0.0, 1.0), place.1.clamp(0.0, 1.0))
}

/// Makes [`Geometry`] of the list: the specifications that are of a family, its name, and the type that answers.
macro_rules! families {
    ($($($spec:pat_param)|+ => $name:ident($family:ty);)*) => {
        /// What answers for each family.
        #[derive(Clone, Debug)]
        pub(crate) enum Geometry {
            $($name($family),)*
        }

        impl Geometry {
            /// Checks a specification and lays it out: see [`NetworkFamily::build`].
            pub(crate) fn build(spec: &TopologySpec, file: &GraphFile<'_>) -> Result<(Self, Wiring), Vec<FieldError>> {
                match spec {
                    $($($spec)|+ => <$family>::build(spec, file).map(|(family, wiring)| (Self::$name(family), wiring)),)*
                }
            }

            /// See [`NetworkFamily::reduce`].
            pub(crate) fn reduce(spec: &mut TopologySpec) {
                match spec {
                    $($($spec)|+ => <$family>::reduce(spec),)*
                }
            }

            /// See [`NetworkFamily::has_groups`].
            pub(crate) fn has_groups(spec: &TopologySpec) -> bool {
                match spec {
                    $($($spec)|+ => <$family>::has_groups(),)*
                }
            }

            /// The family, for questions that are asked now and then.
            pub(crate) fn family(&self) -> &dyn NetworkFamily {
                match self {
                    $(Self::$name(family) => family,)*
                }
            }

            #[inline(always)]
            pub(crate) fn router_of(&self, wiring: &Wiring, node: u32) -> u32 {
                match self {
                    $(Self::$name(family) => NetworkFamily::router_of(family, wiring, node),)*
                }
            }

            #[inline(always)]
            pub(crate) fn distance(&self, wiring: &Wiring, a: u32, b: u32) -> u32 {
                match self {
                    $(Self::$name(family) => NetworkFamily::distance(family, wiring, a, b),)*
                }
            }

            #[inline(always)]
            pub(crate) fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, key: u32) -> Hop {
                match self {
                    $(Self::$name(family) => NetworkFamily::minimal(family, wiring, at, node, came, key),)*
                }
            }

            #[inline(always)]
            pub(crate) fn minimal_to(&self, wiring: &Wiring, at: u32, to: u32, came: Came, key: u32) -> Hop {
                match self {
                    $(Self::$name(family) => NetworkFamily::minimal_to(family, wiring, at, to, came, key),)*
                }
            }

            #[inline(always)]
            pub(crate) fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
                match self {
                    $(Self::$name(family) => NetworkFamily::minimal_hops(family, wiring, at, to, out),)*
                }
            }

            #[inline(always)]
            pub(crate) fn lattice(&self) -> Option<&LatticeGeometry> {
                match self {
                    $(Self::$name(family) => NetworkFamily::lattice(family),)*
                }
            }

            pub(crate) fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
                match self {
                    $(Self::$name(family) => NetworkFamily::lattice_mut(family),)*
                }
            }

            #[inline(always)]
            pub(crate) fn routers_per_group(&self) -> Option<FastDiv> {
                match self {
                    $(Self::$name(family) => NetworkFamily::routers_per_group(family),)*
                }
            }
        }
    };
}

families! {
    TopologySpec::SingleRouter(_) => Single(single_router::SingleRouter);
    TopologySpec::Ring(_) | TopologySpec::Mesh(_) | TopologySpec::Torus(_) | TopologySpec::HyperX(_) => Lattice(LatticeGeometry);
    TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_) => Grouped(grouped::Grouped);
    TopologySpec::FatTree(_) => FatTree(fat_tree::FatTree);
    TopologySpec::Graph(_) => Graph(graph::GraphTables);
}
