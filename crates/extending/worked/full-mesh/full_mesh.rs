//! Full mesh: every router joined to every other by `width` parallel cables.
//!
//! Router `r` has ports to 0, 1, ... in rising order, itself left out, parallel cables together. One link class, `mesh`.

use super::keys::{COUNT, NODES_PER_ROUTER, WIDTH};
use super::{
    CutOrder, Direct, FullMesh, GraphFile, LatticeGeometry, MeanDistance, NamedTopology, NetworkFamily, TopologyKeys,
    on_circle,
};
use crate::division::FastDiv;
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use study::{Default, Parameter, key};

/// Every router joined to every other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FullMeshSpec {
    /// Number of routers.
    pub routers: u32,
    /// Parallel cables between each two.
    pub width: u32,
    /// Nodes per router.
    pub nodes_per_router: u32,
}

/// The keys of a full mesh.
const KEYS: &[Parameter] = &[
    key("routers", COUNT, Default::Required, "Number of routers."),
    key(
        "width",
        WIDTH,
        Default::Text("1"),
        "Parallel cables between each two routers.",
    ),
    NODES_PER_ROUTER,
];

/// What answers for it.
#[derive(Clone, Debug)]
pub(crate) struct FullMeshGeometry {
    routers: u32,
    width: u16,
    nodes_per_router: FastDiv,
}

impl FullMeshGeometry {
    fn wire(&self) -> Wiring {
        let (n, nodes) = (self.routers as usize, self.nodes_per_router.divisor());
        let ports = n * (n - 1) * usize::from(self.width);
        let mut wiring = Wiring::start(vec!["host".into(), "mesh".into()], n, ports, n * nodes as usize);
        for at in 0..self.routers {
            for peer in (0..self.routers).filter(|&peer| peer != at) {
                for cable in 0..self.width {
                    wiring.push_port(peer, self.port(peer, at) + cable, 1);
                }
            }
            wiring.finish_router(nodes);
        }
        wiring
    }

    /// First port of router `at` that leads to router `to`.
    fn port(&self, at: u32, to: u32) -> u16 {
        (to - u32::from(to > at)) as u16 * self.width
    }

    /// The cables that lead to another router.
    fn hop(&self, at: u32, to: u32) -> Hop {
        if at == to {
            return Hop::EJECT;
        }
        Hop {
            port: self.port(at, to),
            links: self.width,
            dim: 0,
            vc: 0,
        }
    }
}

impl NamedTopology for FullMesh {
    type Parameters = FullMeshSpec;
    type Family = FullMeshGeometry;

    const LINE: &'static str = "Every router joined to every other.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<FullMeshSpec> {
        Some(FullMeshSpec {
            routers: keys.number("routers")?,
            width: keys.number("width")?,
            nodes_per_router: keys.number("nodes_per_router")?,
        })
    }

    fn build(spec: &FullMeshSpec, _file: &GraphFile<'_>) -> Result<(FullMeshGeometry, Wiring), Vec<FieldError>> {
        let FullMeshSpec {
            routers,
            width,
            nodes_per_router,
        } = spec;
        let mut problems = Problems::default();
        problems.at_least("routers", *routers, 2);
        problems.at_least("width", *width, 1);
        problems.at_least("nodes_per_router", *nodes_per_router, 1);
        let (n, w) = (u64::from(*routers), u64::from(*width));
        let ports = n.saturating_mul(n.saturating_sub(1)).saturating_mul(w);
        problems.size(n, ports, n.saturating_mul(u64::from(*nodes_per_router)), "routers");
        problems.radix(n.saturating_sub(1), w, "width");
        problems.done()?;
        let mesh = FullMeshGeometry {
            routers: *routers,
            width: *width as u16,
            nodes_per_router: FastDiv::new(*nodes_per_router),
        };
        let wiring = mesh.wire();
        Ok((mesh, wiring))
    }

    fn reduce(spec: &mut FullMeshSpec) {
        spec.routers = spec.routers.min(4);
        spec.width = spec.width.min(2);
        spec.nodes_per_router = 1;
    }
}

impl NetworkFamily for FullMeshGeometry {
    fn has_groups() -> bool {
        false
    }

    #[inline(always)]
    fn router_of(&self, _wiring: &Wiring, node: u32) -> u32 {
        self.nodes_per_router.div(node)
    }

    #[inline]
    fn distance(&self, _wiring: &Wiring, a: u32, b: u32) -> u32 {
        u32::from(a != b)
    }

    #[inline]
    fn minimal(&self, _wiring: &Wiring, at: u32, node: u32, _came: Came, _key: impl Fn() -> u32) -> Hop {
        self.hop(at, self.nodes_per_router.div(node))
    }

    #[inline]
    fn minimal_to(&self, _wiring: &Wiring, at: u32, to: u32, _came: Came, _key: u32) -> Hop {
        self.hop(at, to)
    }

    fn minimal_hops(&self, _wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        out.push(self.hop(at, to));
    }

    fn lattice(&self) -> Option<&LatticeGeometry> {
        None
    }

    fn lattice_mut(&mut self) -> Option<&mut LatticeGeometry> {
        None
    }

    fn routers_per_group(&self) -> Option<FastDiv> {
        None
    }

    fn direct(&self) -> Option<Direct> {
        None
    }

    fn diameter(&self) -> u32 {
        1
    }

    fn minimal_vcs(&self) -> u8 {
        1
    }

    fn minimal_bound(&self, _wiring: &Wiring, from: u32, to: u32) -> u32 {
        u32::from(from != to)
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

    fn router_name(&self, router: u32) -> String {
        format!("r{router}")
    }

    fn port_name(&self, _wiring: &Wiring, _router: u32, _port: u16) -> Option<(String, u16)> {
        None
    }

    fn place(&self, router: u32) -> (f64, f64) {
        on_circle((0.5, 0.5), 0.5, router, self.routers)
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

    fn shelf(&self, router: u32) -> u32 {
        router
    }

    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        let (n, width) = (u64::from(self.routers), u64::from(self.width));
        (n % 2 == 0).then_some((n * n / 4 * width, "complete graph: w (n/2)^2"))
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::SameFromAll
    }

    fn orders(&self) -> Vec<CutOrder<'_>> {
        vec![CutOrder::Fixed((0..u64::from(self.routers)).collect())]
    }
}
