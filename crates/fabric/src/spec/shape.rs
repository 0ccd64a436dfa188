//! What the study reader asks of a network before anything is simulated: what is wrong with its parameters, how many nodes it
//! has, which link classes, and which networks have names.

use topo::{FieldError, Lattice, TopologySpec};

/// What other sections need to know of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Number of nodes; `None` if only the network itself knows (graphs from files).
    pub n_nodes: Option<u64>,
    /// Names of the link classes; `None` if only the network itself knows.
    pub classes: Option<Vec<String>>,
}

/// The ready-made network of this name.
pub(crate) fn topology_preset(_name: &str) -> Option<TopologySpec> {
    None
}

/// Names of the ready-made networks.
pub(crate) fn topology_presets() -> Vec<&'static str> {
    Vec::new()
}

/// Everything that is wrong with the parameters of a topology.
fn check_topology(spec: &TopologySpec) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut error = |field: &str, reason: String, hint: &str| {
        errors.push(FieldError {
            field: field.to_owned(),
            reason,
            hint: Some(hint.to_owned()),
        });
    };
    match spec {
        TopologySpec::Mesh(lattice) | TopologySpec::Torus(lattice) | TopologySpec::HyperX(lattice) => {
            let Lattice { shape, width, .. } = lattice;
            if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
                let reason = format!("{} dimensions, there must be 1 to {MOST_DIMENSIONS}", shape.len());
                error("shape", reason, "for example shape = [8, 8, 8]");
            } else if !width.is_empty() && width.len() != shape.len() {
                let reason = format!("{} widths for {} dimensions", width.len(), shape.len());
                error(
                    "width",
                    reason,
                    "give one width per dimension, or none for single cables",
                );
            }
        }
        TopologySpec::Dragonfly { routers_per_group, .. } if !(1..=2).contains(&routers_per_group.len()) => {
            let reason = format!("{} numbers, there must be 1 or 2", routers_per_group.len());
            let hint = "[32] is an all-to-all group, [6, 16] has rows and columns";
            error("routers_per_group", reason, hint);
        }
        TopologySpec::FatTree { down, up, up_width } => {
            if down.is_empty() || down.len() > MOST_DIMENSIONS {
                let reason = format!("{} levels, there must be 1 to {MOST_DIMENSIONS}", down.len());
                error("down", reason, "for example down = [16, 16]");
            } else if up.len() + 1 != down.len() {
                let reason = format!("{} entries, {} levels need {}", up.len(), down.len(), down.len() - 1);
                error("up", reason, "one number of parents for each level below the top");
            } else if !up_width.is_empty() && up_width.len() != up.len() {
                let reason = format!("{} entries for {} levels below the top", up_width.len(), up.len());
                error(
                    "up_width",
                    reason,
                    "give one number per entry of `up`, or none for single cables",
                );
            }
        }
        _ => {}
    }
    if errors.is_empty() && facts(spec).n_nodes.is_some_and(|n_nodes| n_nodes > MOST_NODES) {
        errors.push(FieldError {
            field: size_field(spec).to_owned(),
            reason: format!("more than {MOST_NODES} nodes"),
            hint: Some("make the network smaller".to_owned()),
        });
    }
    errors
}

/// Dimensions of a lattice and levels of a fat-tree.
const MOST_DIMENSIONS: usize = 64;

/// Nodes of a network.
const MOST_NODES: u64 = 1 << 28;

/// The key that sets the size of a network.
fn size_field(spec: &TopologySpec) -> &'static str {
    match spec {
        TopologySpec::SingleRouter { .. } => "nodes",
        TopologySpec::Ring { .. } => "routers",
        TopologySpec::Mesh(_) | TopologySpec::Torus(_) | TopologySpec::HyperX(_) => "shape",
        TopologySpec::Dragonfly { .. } | TopologySpec::DragonflyPlus { .. } => "groups",
        TopologySpec::FatTree { .. } => "down",
        TopologySpec::Graph { .. } => "file",
    }
}

/// What the study needs to know of a network, or everything that is wrong with it.
pub(crate) fn examine(spec: &TopologySpec) -> Result<Facts, Vec<FieldError>> {
    let errors = check_topology(spec);
    if errors.is_empty() {
        Ok(facts(spec))
    } else {
        Err(errors)
    }
}

/// What the keys of a checked topology say without building it.
fn facts(spec: &TopologySpec) -> Facts {
    let product = |numbers: &[u32]| {
        numbers
            .iter()
            .try_fold(1u64, |product, number| product.checked_mul(u64::from(*number)))
            .unwrap_or(u64::MAX)
    };
    let times = |n_routers: u64, per_router: u32| n_routers.saturating_mul(u64::from(per_router));
    let lattice = |lattice: &Lattice| times(product(&lattice.shape), lattice.nodes_per_router);
    let n_nodes = match spec {
        TopologySpec::SingleRouter { nodes } => Some(u64::from(*nodes)),
        TopologySpec::Ring {
            routers,
            nodes_per_router,
            ..
        } => Some(times(u64::from(*routers), *nodes_per_router)),
        TopologySpec::Mesh(shape) | TopologySpec::Torus(shape) | TopologySpec::HyperX(shape) => Some(lattice(shape)),
        TopologySpec::Dragonfly {
            groups,
            routers_per_group,
            nodes_per_router,
            ..
        } => Some(times(
            product(routers_per_group).saturating_mul(u64::from(*groups)),
            *nodes_per_router,
        )),
        TopologySpec::DragonflyPlus {
            groups,
            leaves,
            nodes_per_leaf,
            ..
        } => Some(times(product(&[*groups, *leaves]), *nodes_per_leaf)),
        TopologySpec::FatTree { down, .. } => Some(product(down)),
        TopologySpec::Graph { .. } => None,
    };
    let named = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let classes = match spec {
        TopologySpec::SingleRouter { .. } => named(&["host"]),
        TopologySpec::Ring { .. } => named(&["host", "ring"]),
        TopologySpec::Mesh(shape) | TopologySpec::Torus(shape) | TopologySpec::HyperX(shape) => {
            let letters = ["x", "y", "z", "w"];
            let name = |index: usize| {
                letters
                    .get(index)
                    .map_or(format!("d{index}"), |letter| (*letter).to_owned())
            };
            Some(
                std::iter::once("host".to_owned())
                    .chain((0..shape.shape.len()).map(name))
                    .collect(),
            )
        }
        TopologySpec::Dragonfly { .. } | TopologySpec::DragonflyPlus { .. } => named(&["host", "local", "global"]),
        TopologySpec::FatTree { down, .. } => Some(
            std::iter::once("host".to_owned())
                .chain((1..down.len()).map(|level| format!("up{level}")))
                .collect(),
        ),
        TopologySpec::Graph { .. } => None,
    };
    Facts { n_nodes, classes }
}
