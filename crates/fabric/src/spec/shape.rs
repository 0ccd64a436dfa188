//! What the study reader asks of a network before anything is simulated: what is wrong with its parameters, how many nodes it
//! has, which link classes, and which networks have names.

use topo::{FieldError, Topology, TopologySpec};

/// What other sections need to know of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Number of nodes; `None` if only the network itself knows (graphs from files).
    pub n_nodes: Option<u64>,
    /// Names of the link classes; `None` if only the network itself knows.
    pub classes: Option<Vec<String>>,
}

/// The ready-made network of this name.
pub(crate) fn topology_preset(name: &str) -> Option<TopologySpec> {
    topo::preset(name)
}

/// Names of the ready-made networks.
pub(crate) fn topology_presets() -> Vec<&'static str> {
    topo::presets().iter().map(|preset| preset.name).collect()
}

/// The key that says how many nodes a router has.
fn field_of_nodes(spec: &TopologySpec) -> &'static str {
    match spec {
        TopologySpec::SingleRouter { .. } => "nodes",
        TopologySpec::FatTree { .. } => "down",
        TopologySpec::DragonflyPlus { .. } => "nodes_per_leaf",
        TopologySpec::Ring { .. }
        | TopologySpec::Mesh(_)
        | TopologySpec::Torus(_)
        | TopologySpec::HyperX(_)
        | TopologySpec::Dragonfly { .. }
        | TopologySpec::Graph { .. } => "nodes_per_router",
    }
}

/// What the study needs to know of a network, or everything that is wrong with it.
pub(crate) fn examine(spec: &TopologySpec) -> Result<Facts, Vec<FieldError>> {
    let network = spec.build()?;
    let too_many = (0..network.n_routers()).find_map(|router| too_many_ports(&network, router));
    if let Some((reason, hint)) = too_many {
        return Err(vec![FieldError {
            field: field_of_nodes(spec).into(),
            reason,
            hint: Some(hint.into()),
        }]);
    }
    Ok(Facts {
        n_nodes: Some(network.n_nodes().into()),
        classes: Some(network.class_names().to_vec()),
    })
}

/// Why a router cannot have the ports and nodes that it has, with a hint.
pub(crate) fn too_many_ports(topology: &Topology, router: u32) -> Option<(String, &'static str)> {
    let wiring = topology.wiring();
    let r = router as usize;
    let ports = wiring.port_offset[r + 1] - wiring.port_offset[r];
    let nodes = wiring.node_offset[r + 1] - wiring.node_offset[r];
    (u64::from(ports) + u64::from(nodes) > u16::MAX.into()).then(|| {
        let name = topology.router_name(router);
        let reason = format!("router {name} has {ports} ports to routers and {nodes} nodes");
        (reason, "a router takes at most 65,535 of both together")
    })
}
