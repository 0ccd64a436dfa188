//! Reading a graph of routers from GraphML (Brandes et al. 2002): `<node>` is a router, `<edge>` a cable.
//!
//! Data keys by their `attr.name` (or, without a `<key>`, by the key itself): `nodes` of a router, `count` and `class` of a cable,
//! `name` of a router if it shall not be called by its id. Other keys are left alone, as GraphML asks; direction is ignored.

use crate::graph_file::{Collector, GraphMistake, GraphText};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// An element being read with the data found in it so far.
enum GraphmlItem {
    Node {
        line: usize,
        id: String,
        nodes: Option<String>,
    },
    Edge {
        line: usize,
        source: String,
        target: String,
        count: Option<String>,
        class: Option<String>,
    },
}

#[derive(Default)]
struct GraphmlState {
    keys: HashMap<String, String>,
    defaults: HashMap<String, String>,
    key_in_work: Option<String>,
    item: Option<GraphmlItem>,
    data: Option<String>,
    in_default: bool,
    items: Vec<GraphmlItem>,
    seen_graph: bool,
}

/// Reads GraphML text.
pub(crate) fn read_graphml(text: &str) -> Result<GraphText, Vec<GraphMistake>> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().trim_text(true);
    reader.config_mut().expand_empty_elements = true;
    let (mut collector, mut state) = (Collector::new(), GraphmlState::default());
    let (mut counted, mut line) = (0usize, 1usize);
    loop {
        let event = reader.read_event();
        let upto = (reader.buffer_position() as usize).min(text.len());
        let start_line = line;
        line += text.as_bytes()[counted..upto].iter().filter(|&&b| b == b'\n').count();
        counted = upto;
        match event {
            Ok(Event::Start(e)) => state.open(&e, line, &mut collector),
            Ok(Event::End(e)) => state.close(e.local_name().as_ref()),
            Ok(Event::Text(t)) => match t.unescape() {
                Ok(t) => state.text(&t),
                Err(e) => collector.mistake(start_line, format!("not XML: {e}")),
            },
            Ok(Event::CData(t)) => state.text(&String::from_utf8_lossy(&t)),
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(e) => {
                collector.mistake(line, format!("not XML: {e}"));
                return collector.finish();
            }
        }
    }
    if !state.seen_graph {
        collector.mistake(line, "no <graph> element: this is not GraphML".into());
    }
    state.collect(collector)
}

impl GraphmlState {
    fn open(&mut self, e: &BytesStart, line: usize, collector: &mut Collector) {
        let mut attributes: HashMap<String, String> = HashMap::new();
        for attribute in e.attributes() {
            match attribute.map_err(|e| e.to_string()).and_then(|a| {
                let value = a.unescape_value().map_err(|e| e.to_string())?.into_owned();
                Ok((String::from_utf8_lossy(a.key.local_name().as_ref()).into_owned(), value))
            }) {
                Ok((key, value)) => drop(attributes.insert(key, value)),
                Err(reason) => collector.mistake(line, format!("not XML: {reason}")),
            }
        }
        let mut need = |name: &str| {
            attributes.remove(name).or_else(|| {
                let element = String::from_utf8_lossy(e.local_name().as_ref()).into_owned();
                collector.mistake(line, format!("<{element}> has no `{name}`"));
                None
            })
        };
        match e.local_name().as_ref() {
            b"graph" => self.seen_graph = true,
            b"key" => {
                if let Some(id) = need("id") {
                    let name = attributes.remove("attr.name").unwrap_or_else(|| id.clone());
                    self.keys.insert(id.clone(), name);
                    self.key_in_work = Some(id);
                }
            }
            b"default" => self.in_default = true,
            b"node" => {
                if let Some(id) = need("id") {
                    self.item = Some(GraphmlItem::Node { line, id, nodes: None });
                }
            }
            b"edge" => {
                if let (Some(source), Some(target)) = (need("source"), need("target")) {
                    self.item = Some(GraphmlItem::Edge {
                        line,
                        source,
                        target,
                        count: None,
                        class: None,
                    });
                }
            }
            b"data" => self.data = need("key"),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_default {
            if let Some(key) = &self.key_in_work {
                self.defaults
                    .insert(self.keys.get(key).unwrap_or(key).clone(), text.into());
            }
            return;
        }
        let Some(key) = &self.data else { return };
        match (self.keys.get(key).unwrap_or(key).as_str(), &mut self.item) {
            ("nodes", Some(GraphmlItem::Node { nodes, .. })) => *nodes = Some(text.into()),
            ("count", Some(GraphmlItem::Edge { count, .. })) => *count = Some(text.into()),
            ("class", Some(GraphmlItem::Edge { class, .. })) => *class = Some(text.into()),
            _ => {}
        }
    }

    fn close(&mut self, element: &[u8]) {
        match element {
            b"data" => self.data = None,
            b"default" => self.in_default = false,
            b"key" => self.key_in_work = None,
            b"node" | b"edge" => self.items.extend(self.item.take()),
            _ => {}
        }
    }

    fn collect(self, mut collector: Collector) -> Result<GraphText, Vec<GraphMistake>> {
        let default = |key: &str| self.defaults.get(key).cloned();
        for item in &self.items {
            let GraphmlItem::Node { line, id, nodes } = item else {
                continue;
            };
            if collector.find(id).is_some() {
                collector.mistake(*line, format!("duplicate node `{id}`"));
                continue;
            }
            let router = collector.router(id);
            if let Some(word) = nodes.clone().or_else(|| default("nodes"))
                && let Some(count) = collector.count(*line, "`nodes`", &word, 0)
            {
                collector.place_nodes(*line, router, count);
            }
        }
        for item in &self.items {
            let GraphmlItem::Edge {
                line,
                source,
                target,
                count,
                class,
            } = item
            else {
                continue;
            };
            let mut known = true;
            for end in [source, target] {
                if collector.find(end).is_none() {
                    collector.mistake(*line, format!("unknown router `{end}`: no <node> has this id"));
                    known = false;
                }
            }
            let word = count.clone().or_else(|| default("count")).unwrap_or_else(|| "1".into());
            let count = collector.count(*line, "`count`", &word, 1);
            let class = class
                .clone()
                .or_else(|| default("class"))
                .unwrap_or_else(|| "link".into());
            if let (true, Some(count)) = (known, count) {
                collector.cable(*line, source, target, count, &class);
            }
        }
        collector.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="nodes" attr.type="int"/>
  <key id="d1" for="edge" attr.name="count" attr.type="int"><default>2</default></key>
  <key id="d2" for="edge" attr.name="class" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="a&amp;b"><data key="d0">3</data></node>
    <node id="c"/>
    <node id="d"/>
    <edge source="a&amp;b" target="c"/>
    <edge source="c" target="d"><data key="d1">5</data><data key="d2">global</data></edge>
  </graph>
</graphml>"#;

    #[test]
    fn attributes_and_defaults_are_read() {
        let g = read_graphml(GOOD).unwrap();
        assert_eq!(g.names, ["a&b", "c", "d"]);
        assert_eq!(g.nodes, [Some(3), None, None]);
        assert_eq!((g.cables[0].count, g.cables[1].count), (2, 5));
        assert_eq!(g.classes, ["host", "link", "global"]);
    }

    #[test]
    fn mistakes_name_line_and_reason() {
        let text = GOOD
            .replace("target=\"d\"", "target=\"q\"")
            .replace("id=\"c\"/", "id=\"d\"/");
        let told = read_graphml(&text).unwrap_err();
        let told: Vec<(usize, &str)> = told.iter().map(|m| (m.line, m.reason.as_str())).collect();
        assert!(told.contains(&(9, "duplicate node `d`")), "{told:?}");
        assert!(
            told.contains(&(11, "unknown router `q`: no <node> has this id")),
            "{told:?}"
        );
        assert!(
            read_graphml("<graphml><graph><node id=\"a\"></graph>").unwrap_err()[0]
                .reason
                .contains("not XML")
        );
        assert!(read_graphml("router,router\n").is_err());
    }
}
