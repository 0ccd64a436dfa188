//! What the file of a routing needs.

pub(super) use super::RoutingTerms;
pub(super) use super::algorithm::{
    Detours, Here, InTime, NamedRouting, NoKeys, ReadyRouting, Way, WithFailures, refuse,
};
pub(super) use super::fits::Fits;
pub(super) use super::weigh::Sense;
pub(super) use super::{HOPS, NO_HOP, Routing, came};
pub(super) use des::mix;
pub(super) use des::rng::below;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use study::Parameter;
pub(super) use study::diagnostic::Findings;
pub(super) use study::owned::OwnValues;
pub(super) use topo::{RoutingRule, Topology, TopologyKind, TopologySpec};
pub(super) use work::build_error::BuildError;
