//! What the study reader asks of a network before anything is simulated: what is wrong with its parameters, how many nodes it
//! has, which link classes, and which networks have names.

use fabric::network::too_many_ports;
use topo::{FieldError, TopologySpec};

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

/// What the study needs to know of a network, or everything that is wrong with it.
pub(crate) fn examine(spec: &TopologySpec) -> Result<Facts, Vec<FieldError>> {
    let network = spec.build()?;
    let too_many = (0..network.n_routers()).find_map(|router| too_many_ports(&network, router));
    if let Some((reason, hint)) = too_many {
        return Err(vec![FieldError {
            field: spec.key_of_nodes().into(),
            reason,
            hint: Some(hint.into()),
        }]);
    }
    Ok(Facts {
        n_nodes: Some(network.n_nodes().into()),
        classes: Some(network.class_names().to_vec()),
    })
}
