//! From a specification to a topology: every limit and rule is checked before anything is allocated, and all mistakes come at once.

use crate::division::FastDiv;
use crate::fat_tree::FatTree;
use crate::global_cables::GlobalCables;
use crate::grouped::Grouped;
use crate::inside::Inside;
use crate::lattice::{Kind, LatticeGeometry, lines};
use crate::presets::built_in;
use crate::spec::{FieldError, GraphFormat, Lattice, TopologySpec};
use crate::topology::{Geometry, Topology};
use crate::wiring::Wiring;

/// Network ports of a network stay below this.
pub(crate) const MOST: u64 = 1 << 28;

/// Most routers of a network, and most nodes.
pub const MOST_PLACES: u64 = 1 << 26;

/// Network ports of one router stay below this: the number that means "injected here".
const MOST_PORTS: u64 = u16::MAX as u64;

/// Dimensions of a lattice and levels of a fat-tree.
const MOST_DIMENSIONS: usize = 64;

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for FieldError {}

impl TopologySpec {
    /// Checks the specification and builds the network.
    ///
    /// Linear in routers, ports and nodes; a graph takes n * (n + cables) time and 3 n^2 bytes for n routers and reads its file.
    ///
    /// # Errors
    /// Everything that is wrong with the specification, each with its key, a reason and, where there is one, a hint. Sizes are
    /// estimated before memory is taken: more than 2^26 routers or nodes, 2^28 network ports, 65,535 network ports on one router, or 20,001 routers
    /// of a graph are refused.
    pub fn build(&self) -> Result<Topology, Vec<FieldError>> {
        let mut problems = Problems::default();
        match self {
            TopologySpec::SingleRouter { nodes } => {
                problems.at_least("nodes", *nodes, 1);
                problems.size(1, 0, u64::from(*nodes), "nodes");
                problems.done()?;
                let mut wiring = Wiring::start(vec!["host".into()], 1, 0, *nodes as usize);
                wiring.finish_router(*nodes);
                Ok(Topology::assemble(self, wiring, Geometry::Single))
            }
            TopologySpec::Ring {
                routers,
                width,
                nodes_per_router,
            } => {
                if *routers < 3 {
                    let reason = format!(
                        "{} too few, a ring needs at least 3",
                        counted(*routers, "router is", "routers are")
                    );
                    problems.add(
                        "routers",
                        reason,
                        Some("use a mesh or torus of shape [2] for two routers"),
                    );
                }
                problems.at_least("width", *width, 1);
                problems.at_least("nodes_per_router", *nodes_per_router, 1);
                problems.lattice_size(
                    Kind::Torus,
                    &[*routers],
                    &[*width],
                    *nodes_per_router,
                    ["routers", "width"],
                );
                problems.done()?;
                let geometry = LatticeGeometry::new(Kind::Torus, &[*routers], &[*width], *nodes_per_router);
                let wiring = geometry.wire(vec!["host".into(), "ring".into()]);
                Ok(Topology::assemble(self, wiring, Geometry::Lattice(geometry)))
            }
            TopologySpec::Mesh(lattice) => self.build_lattice(lattice, Kind::Mesh, problems),
            TopologySpec::Torus(lattice) => self.build_lattice(lattice, Kind::Torus, problems),
            TopologySpec::HyperX(lattice) => self.build_lattice(lattice, Kind::HyperX, problems),
            TopologySpec::Dragonfly { .. } | TopologySpec::DragonflyPlus { .. } => self.build_grouped(problems),
            TopologySpec::FatTree { down, up, up_width } => self.build_fat_tree(down, up, up_width, problems),
            TopologySpec::Graph {
                file,
                format,
                nodes_per_router,
            } => {
                let text = match format {
                    GraphFormat::BuiltIn => built_in(file).ok_or_else(|| "there is no such network".to_owned()),
                    _ => std::fs::read_to_string(file).map_err(|e| e.to_string()),
                };
                let text = text.map_err(|reason| {
                    problems.add("file", format!("cannot read `{file}`: {reason}"), None);
                    std::mem::take(&mut problems.0)
                })?;
                self.build_graph_from(&text, *format, *nodes_per_router)
            }
        }
    }

    /// [`TopologySpec::build`], with `text` in place of what the file of a graph holds; other families take no notice of it.
    ///
    /// # Errors
    /// As [`TopologySpec::build`].
    pub fn build_with_text(&self, text: &str) -> Result<Topology, Vec<FieldError>> {
        match self {
            TopologySpec::Graph {
                format,
                nodes_per_router,
                ..
            } => self.build_graph_from(text, *format, *nodes_per_router),
            _ => self.build(),
        }
    }

    fn build_lattice(
        &self,
        lattice: &Lattice,
        kind: Kind,
        mut problems: Problems,
    ) -> Result<Topology, Vec<FieldError>> {
        let Lattice {
            shape,
            width,
            nodes_per_router,
        } = lattice;
        if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
            let reason = format!("{} dimensions, there must be 1 to {MOST_DIMENSIONS}", shape.len());
            problems.add("shape", reason, Some("for example shape = [8, 8, 8]"));
        }
        problems.all_at_least("shape", shape, 1);
        if !width.is_empty() && width.len() != shape.len() {
            let reason = format!("{} widths for {} dimensions", width.len(), shape.len());
            problems.add(
                "width",
                reason,
                Some("give one width per dimension, or none for single cables"),
            );
        }
        problems.all_at_least("width", width, 1);
        problems.at_least("nodes_per_router", *nodes_per_router, 1);
        problems.lattice_size(kind, shape, width, *nodes_per_router, ["shape", "width"]);
        problems.done()?;
        let geometry = LatticeGeometry::new(kind, shape, width, *nodes_per_router);
        let classes = std::iter::once("host".to_owned())
            .chain((0..shape.len()).map(dimension_name))
            .collect();
        Ok(Topology::assemble(
            self,
            geometry.wire(classes),
            Geometry::Lattice(geometry),
        ))
    }

    fn build_grouped(&self, mut problems: Problems) -> Result<Topology, Vec<FieldError>> {
        let (groups, inside, nodes, links, width, how, seed, node_key) = match self {
            TopologySpec::Dragonfly {
                groups,
                routers_per_group,
                nodes_per_router,
                links_per_pair,
                local_width,
                arrangement,
                arrangement_seed,
            } => {
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
                (
                    *groups,
                    inside,
                    *nodes_per_router,
                    *links_per_pair,
                    *local_width,
                    *arrangement,
                    *arrangement_seed,
                    "nodes_per_router",
                )
            }
            TopologySpec::DragonflyPlus {
                groups,
                leaves,
                spines,
                nodes_per_leaf,
                links_per_pair,
                local_width,
                arrangement,
                arrangement_seed,
            } => {
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
                (
                    *groups,
                    inside,
                    *nodes_per_leaf,
                    *links_per_pair,
                    *local_width,
                    *arrangement,
                    *arrangement_seed,
                    "nodes_per_leaf",
                )
            }
            _ => return Err(problems.0),
        };
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
        Ok(Topology::assemble(self, wiring, Geometry::Grouped(geometry)))
    }

    fn build_fat_tree(
        &self,
        down: &[u32],
        up: &[u32],
        width: &[u32],
        mut problems: Problems,
    ) -> Result<Topology, Vec<FieldError>> {
        if down.is_empty() || down.len() > MOST_DIMENSIONS {
            problems.add(
                "down",
                format!("{} levels, there must be 1 to {MOST_DIMENSIONS}", down.len()),
                None,
            );
        } else if up.len() + 1 != down.len() {
            let reason = format!("{} entries, {} levels need {}", up.len(), down.len(), down.len() - 1);
            problems.add("up", reason, Some("one number of parents for each level below the top"));
        }
        if !width.is_empty() && width.len() != up.len() {
            let reason = format!("{} entries for {} levels below the top", width.len(), up.len());
            problems.add(
                "up_width",
                reason,
                Some("give one number per entry of `up`, or none for single cables"),
            );
        }
        problems.all_at_least("down", down, 1);
        problems.all_at_least("up", up, 1);
        problems.all_at_least("up_width", width, 1);
        problems.done()?;
        let (mut routers, mut ports, mut siblings) = (0u64, 0u64, 1u64);
        for level in 0..down.len() {
            let subtrees = down[level + 1..]
                .iter()
                .fold(1u64, |n, &m| n.saturating_mul(u64::from(m)));
            let here = siblings.saturating_mul(subtrees);
            routers = routers.saturating_add(here);
            let cables = |l: usize| u64::from(*up.get(l).unwrap_or(&0)) * u64::from(*width.get(l).unwrap_or(&1));
            let below = if level > 0 {
                u64::from(down[level]) * u64::from(*width.get(level - 1).unwrap_or(&1))
            } else {
                0
            };
            problems.radix(below.saturating_add(cables(level)), 1, &format!("down[{level}]"));
            ports = ports.saturating_add(here.saturating_mul(2 * cables(level).min(MOST)));
            siblings = siblings.saturating_mul(u64::from(*up.get(level).unwrap_or(&1)));
        }
        let nodes = down.iter().fold(1u64, |n, &m| n.saturating_mul(u64::from(m)));
        problems.size(routers, ports, nodes, "down");
        problems.done()?;
        let geometry = FatTree::new(down, up, width);
        let classes = std::iter::once("host".to_owned())
            .chain((1..down.len()).map(|l| format!("up{l}")))
            .collect();
        Ok(Topology::assemble(
            self,
            geometry.wire(classes),
            Geometry::FatTree(geometry),
        ))
    }
}

/// Name of a lattice's dimension: x, y, z, w, d4, d5, ...
pub(crate) fn dimension_name(dim: usize) -> String {
    ["x", "y", "z", "w"]
        .get(dim)
        .map_or_else(|| format!("d{dim}"), |s| (*s).to_owned())
}

fn counted(n: u32, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Problems(pub(crate) Vec<FieldError>);

impl Problems {
    pub(crate) fn add(&mut self, field: &str, reason: String, hint: Option<&str>) {
        self.0.push(FieldError {
            field: field.into(),
            reason,
            hint: hint.map(str::to_owned),
        });
    }

    fn at_least(&mut self, field: &str, value: u32, least: u32) {
        if value < least {
            self.add(field, format!("{value} is too few, it must be at least {least}"), None);
        }
    }

    fn all_at_least(&mut self, field: &str, values: &[u32], least: u32) {
        for (i, &value) in values.iter().enumerate() {
            self.at_least(&format!("{field}[{i}]"), value, least);
        }
    }

    pub(crate) fn size(&mut self, routers: u64, ports: u64, nodes: u64, field: &str) {
        let memory = |n: u64, bytes: u64| n.saturating_mul(bytes) as f64 / 1e9;
        for (what, n, most, bytes) in [
            ("routers", routers, MOST_PLACES, 16),
            ("network ports", ports, MOST - 1, 7),
            ("nodes", nodes, MOST_PLACES, 4),
        ] {
            if n > most {
                let about = memory(n, bytes);
                self.add(
                    field,
                    format!("{n} {what} are too many, the limit is {most} (they would take {about:.1} GB)"),
                    None,
                );
            }
        }
    }

    pub(crate) fn radix(&mut self, ports: u64, width: u64, field: &str) {
        let ports = ports.saturating_mul(width);
        if ports >= MOST_PORTS {
            self.add(
                field,
                format!(
                    "a router would have {ports} network ports, the limit is {}",
                    MOST_PORTS - 1
                ),
                None,
            );
        }
    }

    fn lattice_size(&mut self, kind: Kind, shape: &[u32], width: &[u32], nodes: u32, keys: [&str; 2]) {
        let routers = shape.iter().fold(1u64, |n, &s| n.saturating_mul(u64::from(s)));
        let one = |(i, &s): (usize, &u32)| u64::from(lines(kind, s.max(1))) * u64::from(*width.get(i).unwrap_or(&1));
        let ports = shape.iter().enumerate().map(one).fold(0u64, u64::saturating_add);
        self.size(
            routers,
            routers.saturating_mul(ports),
            routers.saturating_mul(u64::from(nodes)),
            keys[0],
        );
        self.radix(ports, 1, keys[1]);
    }

    pub(crate) fn done(&mut self) -> Result<(), Vec<FieldError>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.0))
        }
    }
}
