//! From the text of a graph file to a topology.

use crate::build::Problems;
use crate::graph::{GraphTables, MOST_ROUTERS};
use crate::graph_file::{CableLine, GraphText, Mistake, read_edge_list};
use crate::graphml::read_graphml;
use crate::spec::{FieldError, GraphFormat, TopologySpec};
use crate::subnet;
use crate::subnet::ibnetdiscover::{self, Discovered};
use crate::topology::{Geometry, Topology};
use crate::wiring::Wiring;

impl TopologySpec {
    /// Builds a graph from the text of its file, as [`TopologySpec::build`] does after reading it.
    pub(crate) fn build_graph_from(
        &self,
        text: &str,
        format: GraphFormat,
        nodes_per_router: u32,
    ) -> Result<Topology, Vec<FieldError>> {
        let mut problems = Problems::default();
        let graph = read(text, format).map_err(|mistakes| {
            mistakes
                .into_iter()
                .for_each(|(reason, hint)| problems.add("file", reason, hint.as_deref()));
            std::mem::take(&mut problems.0)
        })?;
        if graph.cables.is_empty() {
            problems.add(
                "file",
                "it states no cable".into(),
                Some("for a single router use kind = \"single-router\""),
            );
        }
        let n = graph.names.len() as u64;
        if n > u64::from(MOST_ROUTERS) {
            let gigabytes = n as f64 * n as f64 * 3e-9;
            let reason = format!(
                "{n} routers, route tables are kept for up to {MOST_ROUTERS} (these would take {gigabytes:.1} GB)"
            );
            problems.add("file", reason, Some("the regular families have no such limit"));
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
        problems.size(n, ports, nodes, "file");
        let mut radix = vec![0u64; graph.names.len()];
        for cable in &graph.cables {
            radix[cable.a as usize] += u64::from(cable.count);
            radix[cable.b as usize] += u64::from(cable.count);
        }
        problems.radix(radix.iter().copied().max().unwrap_or(0), 1, "file");
        problems.done()?;
        let wiring = wire_graph(&graph, nodes_per_router);
        let tables = GraphTables::new(&wiring, graph.names).map_err(|(a, b)| (a, b, read_names(text, format)));
        match tables {
            Ok(tables) => Ok(Topology::assemble(self, wiring, Geometry::Graph(tables))),
            Err((a, b, names)) => {
                let name = |r: u32| names.get(r as usize).cloned().unwrap_or_else(|| r.to_string());
                let reason = format!(
                    "the graph is in pieces: there is no way from router `{}` to `{}`",
                    name(a),
                    name(b)
                );
                problems.add("file", reason, None);
                Err(problems.0)
            }
        }
    }
}

/// Reads a file; `Err` has reasons with their lines, and hints.
fn read(text: &str, format: GraphFormat) -> Result<GraphText, Vec<(String, Option<String>)>> {
    let told = |mistakes: Vec<Mistake>| {
        let tell = |Mistake { line, reason }| (format!("line {line}: {reason}"), None);
        mistakes.into_iter().map(tell).collect()
    };
    match format {
        GraphFormat::EdgeList | GraphFormat::BuiltIn => read_edge_list(text).map_err(told),
        GraphFormat::Graphml => read_graphml(text).map_err(told),
        GraphFormat::Ibnetdiscover => match ibnetdiscover::read(text.as_bytes()) {
            Ok(found) => Ok(graph_of(&found)),
            Err(mistakes) => {
                let tell = |mistake: subnet::Mistake| {
                    let line = if mistake.line > 0 {
                        format!("line {}: ", mistake.line)
                    } else {
                        String::new()
                    };
                    (
                        format!("{line}{}", mistake.reason),
                        Some(mistake.hint).filter(|hint| !hint.is_empty()),
                    )
                };
                let more = (mistakes.more > 0).then(|| (format!("and {} more mistakes", mistakes.more), None));
                Err(mistakes.list.into_iter().map(tell).chain(more).collect())
            }
        },
    }
}

fn read_names(text: &str, format: GraphFormat) -> Vec<String> {
    read(text, format).map(|graph| graph.names).unwrap_or_default()
}

/// Switches are routers, hosts nodes in the same order, rates link classes (`link` where none is stated).
fn graph_of(found: &Discovered) -> GraphText {
    let subnet = &found.subnet;
    let mut nodes = vec![0; subnet.switches.len()];
    subnet.hosts.iter().for_each(|host| nodes[host.switch as usize] += 1);
    let mut graph = GraphText {
        names: subnet.switch_names(),
        nodes: nodes.into_iter().map(Some).collect(),
        cables: Vec::new(),
        classes: vec!["host".into()],
    };
    for a in 0..subnet.n_switches() {
        for (port, b, _) in subnet.cables(a).filter(|&(port, b, back)| (a, port) < (b, back)) {
            let class = found.rates.name(a, port).unwrap_or("link");
            let known = graph.classes.iter().position(|name| name == class);
            let class = known.unwrap_or_else(|| {
                graph.classes.push(class.into());
                graph.classes.len() - 1
            });
            graph.cables.push(CableLine {
                a,
                b,
                count: 1,
                class: class as u8,
            });
        }
    }
    graph
}

/// Numbers the ports of each router by rising neighbour, then in the order of the file.
fn wire_graph(graph: &GraphText, nodes_per_router: u32) -> Wiring {
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
