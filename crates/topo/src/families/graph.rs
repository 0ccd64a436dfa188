//! Any graph, from a file, from a text, built in or made by a rule: its routers are numbered and named as the file or the rule says, its ways
//! are a table (`tables`).

mod built_in;
mod express_mesh;
mod field;
mod oft;
mod random_regular;
mod slim_fly;
mod tables;

pub(crate) use built_in::TSUBAME_TREE;
pub use express_mesh::ExpressMeshSpec;
pub use oft::OftSpec;
pub use random_regular::RandomRegularSpec;
pub use slim_fly::SlimFlySpec;
pub(crate) use tables::GraphTables;

use super::{
    CutOrder, Direct, Graph, GraphFile, LatticeGeometry, MeanDistance, NamedTopology, NetworkFamily, TopologyKeys,
    TopologySpec, on_circle,
};
use crate::division::FastDiv;
use crate::graph_file::{GraphFormat, GraphText};
use crate::hop::{Came, Hop, HopList, PortStage};
use crate::problems::{FieldError, Problems};
use crate::wiring::Wiring;
use built_in::built_in;
use serde::{Deserialize, Serialize};
use study::{Default, Named, Parameter, Type, key};
use tables::MOST_ROUTERS;

/// Any graph from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphSpec {
    /// Path of the file, as resolved against the study's folder; empty where there is a text.
    pub file: String,
    /// What a file would say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its format.
    pub format: GraphFormat,
    /// Nodes on each router that the file gives none.
    pub nodes_per_router: u32,
}

/// The keys of a graph.
const KEYS: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::From("`text` has the graph"),
        "Path of the file, relative to the study's folder.",
    ),
    key(
        "text",
        Type::Lines,
        Default::From("`file` has the graph"),
        "What a file would say, in place of one.",
    ),
    key(
        "format",
        Type::Choice(GraphFormat::WORDS),
        Default::From(
            "the file's ending: graphml for `.graphml` and `.xml`, ibnetdiscover for `.ibnetdiscover`, else edge-list",
        ),
        "Format of the file or text; of a text without it edge-list.",
    ),
    key(
        "nodes_per_router",
        Type::Integer { min: 0, max: 65_535 },
        Default::Text("0"),
        "Nodes on each router that the file gives none.",
    ),
];

impl TopologySpec {
    /// Whether its ways follow no rule of a family but a table of all routers.
    pub fn is_graph(&self) -> bool {
        matches!(
            self,
            TopologySpec::Graph(_)
                | TopologySpec::SlimFly(_)
                | TopologySpec::RandomRegular(_)
                | TopologySpec::Oft(_)
                | TopologySpec::ExpressMesh(_)
        )
    }
}

impl NamedTopology for Graph {
    type Parameters = GraphSpec;
    type Family = GraphTables;

    const LINE: &'static str = "Any graph from a file or a text.";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const LIMITS: &'static str = "Routing is the generic minimal one.";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<GraphSpec> {
        let nodes_per_router = keys.number("nodes_per_router")?;
        let format = keys.values.choice("format");
        let (file, text) = (keys.values.text("file"), keys.values.text("text"));
        let file = match (file, text) {
            (Some(file), None) => file.to_owned(),
            (None, Some(_)) if matches!(format, Some(GraphFormat::BuiltIn | GraphFormat::Ibnetdiscover)) => {
                keys.error(
                    "format",
                    "this format needs a file",
                    "remove the key, or give file in place of text",
                );
                return None;
            }
            (None, Some(text)) => {
                return Some(GraphSpec {
                    file: String::new(),
                    text: Some(text.to_owned()),
                    format: format.unwrap_or(GraphFormat::EdgeList),
                    nodes_per_router,
                });
            }
            (None, None) if keys.values.failed("file") || keys.values.failed("text") => return None,
            (Some(_), Some(_)) => {
                keys.error("text", "there is a file as well", "give one of them");
                return None;
            }
            (None, _) => {
                keys.error(
                    "file",
                    "is missing",
                    "add file = \"...\", or text with a cable per line",
                );
                return None;
            }
        };
        if format == Some(GraphFormat::BuiltIn) {
            return Some(GraphSpec {
                file,
                text: None,
                format: GraphFormat::BuiltIn,
                nodes_per_router,
            });
        }
        let path = keys.base.join(&file);
        // A named pipe would be opened for ever.
        let regular = std::fs::metadata(&path).and_then(|about| {
            if about.is_file() {
                Ok(())
            } else {
                Err(std::io::Error::other("it is not a file"))
            }
        });
        if let Err(error) = regular.and_then(|()| std::fs::File::open(&path)) {
            let reason = format!("cannot read {file:?}: {error}");
            keys.error("file", reason, "give a path relative to the study's folder");
            return None;
        }
        let lower = file.to_lowercase();
        let format = format.unwrap_or(match lower {
            lower if lower.ends_with(".graphml") || lower.ends_with(".xml") => GraphFormat::Graphml,
            lower if lower.ends_with(".ibnetdiscover") => GraphFormat::Ibnetdiscover,
            _ => GraphFormat::EdgeList,
        });
        let file = path.to_str().map(str::to_owned);
        if file.is_none() {
            let hint = "use folder names of printable text";
            keys.error("file", "the folder's name is not UTF-8 text", hint);
        }
        Some(GraphSpec {
            file: file?,
            text: None,
            format,
            nodes_per_router,
        })
    }

    fn build(spec: &GraphSpec, how: &GraphFile<'_>) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
        let GraphSpec {
            file,
            text,
            format,
            nodes_per_router,
        } = spec;
        let mut problems = Problems::default();
        let key = if text.is_some() { "text" } else { "file" };
        let text = match (how.text.or(text.as_deref()), format) {
            (Some(text), _) => Ok(text.to_owned()),
            (None, GraphFormat::BuiltIn) => built_in(file).ok_or_else(|| "there is no such network".to_owned()),
            (None, GraphFormat::EdgeList | GraphFormat::Graphml | GraphFormat::Ibnetdiscover) => {
                std::fs::read_to_string(file).map_err(|e| e.to_string())
            }
        };
        let text = text.map_err(|reason| {
            problems.add("file", format!("cannot read `{file}`: {reason}"), None);
            std::mem::take(&mut problems.0)
        })?;
        let graph = (how.read)(&text, *format).map_err(|mistakes| {
            mistakes
                .into_iter()
                .for_each(|(reason, hint)| problems.add(key, reason, hint.as_deref()));
            std::mem::take(&mut problems.0)
        })?;
        laid_out(&graph, *nodes_per_router, key, Standing::default())
    }

    /// No smaller graph can stand for it.
    fn reduce(_spec: &mut GraphSpec) {}
}

impl NetworkFamily for GraphTables {
    fn has_groups() -> bool {
        false
    }

    #[inline(always)]
    fn router_of(&self, wiring: &Wiring, node: u32) -> u32 {
        wiring.node_router[node as usize]
    }

    #[inline]
    fn distance(&self, wiring: &Wiring, a: u32, b: u32) -> u32 {
        self.distance(wiring, a, b)
    }

    #[inline]
    fn minimal(&self, wiring: &Wiring, at: u32, node: u32, came: Came, _key: impl Fn() -> u32) -> Hop {
        self.minimal(wiring, at, wiring.node_router[node as usize], came)
    }

    #[inline]
    fn minimal_to(&self, wiring: &Wiring, at: u32, to: u32, came: Came, _key: u32) -> Hop {
        self.minimal(wiring, at, to, came)
    }

    #[inline]
    fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        self.minimal_hops(wiring, at, to, out);
    }

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
        self.diameter()
    }

    fn minimal_vcs(&self) -> u8 {
        self.minimal_vcs()
    }

    fn minimal_bound(&self, wiring: &Wiring, from: u32, to: u32) -> u32 {
        self.distance(wiring, from, to)
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

    /// Ways of a graph follow no order.
    fn stage(&self, _wiring: &Wiring, _router: u32, _port: u16) -> PortStage {
        PortStage::single(0)
    }

    fn is_irregular(&self) -> bool {
        true
    }

    /// The file's.
    fn router_name(&self, router: u32) -> String {
        self.names[router as usize].clone()
    }

    fn port_name(&self, _wiring: &Wiring, _router: u32, _port: u16) -> Option<(String, u16)> {
        None
    }

    fn place(&self, router: u32) -> (f64, f64) {
        let on_circle = || on_circle((0.5, 0.5), 0.5, router, self.names.len() as u32);
        self.standing
            .places
            .get(router as usize)
            .copied()
            .unwrap_or_else(on_circle)
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

    /// Where no rule says it, routers stand in the order of the file, each by itself.
    fn shelf(&self, router: u32) -> u32 {
        self.standing.shelves.get(router as usize).copied().unwrap_or(router)
    }

    fn bisection(&self, _wiring: &Wiring) -> Option<(u64, &'static str)> {
        None
    }

    fn mean_distance(&self) -> MeanDistance {
        MeanDistance::Unknown
    }

    fn orders(&self) -> Vec<CutOrder<'_>> {
        vec![CutOrder::BreadthFirst]
    }
}

/// Where the routers of a graph stand, if a rule says so.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Routers with the same number are built together; empty: each by itself.
    shelves: Vec<u32>,
    /// Places in the unit square; empty: on a circle.
    places: Vec<(f64, f64)>,
    /// Nodes are at the lower of two levels: ways between them go up and down.
    rises: bool,
}

/// Checks a graph and makes a network of it; `key` is where a study has it.
fn laid_out(
    graph: &GraphText,
    nodes_per_router: u32,
    key: &str,
    standing: Standing,
) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
    check(graph, nodes_per_router, key)?;
    let wiring = wire(graph, nodes_per_router);
    match GraphTables::new(&wiring, graph.names.clone(), standing) {
        Ok(tables) => Ok((tables, wiring)),
        Err((a, b)) => {
            let name = |r: u32| graph.names.get(r as usize).cloned().unwrap_or_else(|| r.to_string());
            let reason = format!(
                "the graph is in pieces: there is no way from router `{}` to `{}`",
                name(a),
                name(b)
            );
            let mut problems = Problems::default();
            problems.add(key, reason, None);
            Err(problems.0)
        }
    }
}

/// Checks what a graph says and how large it is.
fn check(graph: &GraphText, nodes_per_router: u32, key: &str) -> Result<(), Vec<FieldError>> {
    let mut problems = Problems::default();
    if graph.cables.is_empty() {
        problems.add(
            key,
            "it states no cable".into(),
            Some("for a single router use kind = \"single-router\""),
        );
    }
    let n = graph.names.len() as u64;
    if n > u64::from(MOST_ROUTERS) {
        let gigabytes = n as f64 * n as f64 * 3e-9;
        let reason =
            format!("{n} routers, route tables are kept for up to {MOST_ROUTERS} (these would take {gigabytes:.1} GB)");
        problems.add(key, reason, Some("the regular families have no such limit"));
    }
    let nodes = graph
        .nodes
        .iter()
        .map(|n| u64::from(n.unwrap_or(nodes_per_router)))
        .sum::<u64>();
    if nodes == 0 {
        problems.add(
            "nodes_per_router",
            "no router has a node".into(),
            Some("set it, or place nodes in the file"),
        );
    }
    let ports = graph.cables.iter().map(|c| 2 * u64::from(c.count)).sum::<u64>();
    problems.size(n, ports, nodes, key);
    let mut radix = vec![0u64; graph.names.len()];
    for cable in &graph.cables {
        radix[cable.a as usize] += u64::from(cable.count);
        radix[cable.b as usize] += u64::from(cable.count);
    }
    problems.radix(radix.iter().copied().max().unwrap_or(0), 1, key);
    problems.done()
}

/// Numbers the ports of each router by rising neighbour, then in the order of the file.
fn wire(graph: &GraphText, nodes_per_router: u32) -> Wiring {
    let n = graph.names.len();
    let mut ends: Vec<Vec<(u32, u32, u8)>> = vec![Vec::new(); n];
    let mut id = 0u32;
    for cable in &graph.cables {
        for _ in 0..cable.count {
            ends[cable.a as usize].push((cable.b, id, cable.class));
            ends[cable.b as usize].push((cable.a, id, cable.class));
            id += 1;
        }
    }
    let mut port_of = vec![[0u16; 2]; id as usize];
    for (r, list) in ends.iter_mut().enumerate() {
        list.sort_unstable();
        for (port, &(peer, id, _)) in list.iter().enumerate() {
            port_of[id as usize][usize::from(r as u32 > peer)] = port as u16;
        }
    }
    let mut wiring = Wiring::start(graph.classes.clone(), n, 2 * id as usize, 0);
    for (r, list) in ends.iter().enumerate() {
        for &(peer, id, class) in list {
            wiring.push_port(peer, port_of[id as usize][usize::from(peer > r as u32)], class);
        }
        wiring.finish_router(graph.nodes[r].unwrap_or(nodes_per_router));
    }
    wiring
}
