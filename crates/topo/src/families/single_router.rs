//! One router with nodes: no cables, no ways.

use super::keys::NODES;
use super::{
    CutOrder, Direct, GraphFile, LatticeGeometry, MeanDistance, NamedTopology, NetworkFamily, SingleRouter,
    TopologyKeys,
};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, key};

/// One router with `nodes` nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SingleRouterSpec {
    /// Nodes on the router.
    pub nodes: u32,
}

/// The one router.
#[derive(Clone, Debug)]
pub(crate) struct OneRouter;

impl NamedTopology for SingleRouter {
    type Parameters = SingleRouterSpec;
    type Family = OneRouter;

    const LINE: &'static str = "One router with all nodes.";
    const KEYS: &'static [&'static [Parameter]] = &[&[key("nodes", NODES, Default::Required, "Nodes on the router.")]];
    const NODES: &'static str = "nodes";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<SingleRouterSpec> {
        Some(SingleRouterSpec {
            nodes: keys.number("nodes")?,
        })
    }

    fn build(
        SingleRouterSpec { nodes }: &SingleRouterSpec,
        _file: &GraphFile<'_>,
    ) -> Result<(OneRouter, Wiring), Vec<FieldError>> {
        let mut problems = Problems::default();
        problems.at_least("nodes", *nodes, 1);
        problems.size(1, 0, u64::from(*nodes), "nodes");
        problems.done()?;
        let mut wiring = Wiring::start(vec!["host".into()], 1, 0, *nodes as usize);
        wiring.finish_router(*nodes);
        Ok((OneRouter, wiring))
    }

    fn reduce(spec: &mut SingleRouterSpec) {
        spec.nodes = spec.nodes.min(2);
    }
}

impl NetworkFamily for OneRouter {
    fn has_groups() -> bool {
        false
    }

    #[inline(always)]
    fn router_of(&self, _wiring: &Wiring, _node: u32) -> u32 {
        0
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, _a: u32, _b: u32) -> u32 {
        0
    }

    #[inline]
    fn minimal(&self, _wiring: &Wiring, _at: u32, _node: u32, _came: Came, _key: impl Fn() -> u32) -> Hop {
        Hop::EJECT
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, _at: u32, _to: u32, _came: Came, _key: u32) -> Hop {
        Hop::EJECT
    }

    fn minimal_hops(&self, _wiring: &Wiring, _at: u32, _to: u32, _out: &mut HopList) {}

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
        0
    }

    fn minimal_vcs(&self) -> u8 {
        1
    }

    fn minimal_bound(&self, _wiring: &Wiring, _from: u32, _to: u32) -> u32 {
        0
    }

    fn keeps_to_distance(&self) -> bool {
        true
    }

    fn treats_nodes_of_a_router_alike(&self) -> bool {
        true
    }

    fn choices(&self) -> [Vec<u32>; 2] {
        [vec![], vec![]]
    }

    fn stage(&self, _wiring: &Wiring, _router: u32, _port: u16) -> PortStage {
        PortStage::single(0)
    }

    fn is_irregular(&self) -> bool {
        false
    }

    fn router_name(&self, _router: u32) -> String {
        "router".into()
    }

    fn port_name(&self, _wiring: &Wiring, _router: u32, _port: u16) -> Option<(String, u16)> {
        None
    }

    fn place(&self, _router: u32) -> (f64, f64) {
        (0.5, 0.5)
    }

    fn n_groups(&self) -> Option<u32> {
        None
    }

    fn group_of(&self, _router: u32) -> u32 {
        0
    }

    fn group_name(&self, _group: u32) -> String {
        String::new()
    }

    fn shelf(&self, _router: u32) -> u32 {
        0
    }

    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        Some((0, "a single router has no cables"))
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::Unknown
    }

    fn orders(&self) -> Vec<CutOrder<'_>> {
        vec![CutOrder::Fixed(vec![0])]
    }
}
