//! From the text of a graph file, in any of its formats, to a graph.

use crate::graph_file::GraphFormat;
use crate::graph_file::{CableLine, GraphMistake, GraphText, Unreadable, read_edge_list};
use crate::graphml::read_graphml;
use crate::subnet;
use crate::subnet::ibnetdiscover::{self, Discovered};

/// Reads a text.
pub(crate) fn read(text: &str, format: GraphFormat) -> Result<GraphText, Unreadable> {
    let told = |mistakes: Vec<GraphMistake>| {
        let tell = |GraphMistake { line, reason }| (format!("line {line}: {reason}"), None);
        mistakes.into_iter().map(tell).collect()
    };
    match format {
        GraphFormat::EdgeList | GraphFormat::BuiltIn => read_edge_list(text).map_err(told),
        GraphFormat::Graphml => read_graphml(text).map_err(told),
        GraphFormat::Ibnetdiscover => match ibnetdiscover::read(text.as_bytes()) {
            Ok(found) => Ok(graph_of(&found)),
            Err(mistakes) => {
                let tell = |mistake: subnet::FileMistake| {
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
