//! Reading a graph of routers from text: what a file says, before it becomes a topology.
//!
//! Edge list, one item per line, words separated by blanks or tabs:
//! ```text
//! # a comment, also behind an item
//! r0 r1            one cable
//! r0 r2 4          four parallel cables
//! r1 r2 2 global   of link class `global`
//! node r0 16       sixteen nodes on r0 (without the number: one)
//! ```
//! Routers are what the cables name. If the names are exactly the numbers 0..n they are the router ids, else ids follow the order of
//! first appearance. The same pair again adds cables. All mistakes are reported, each with its line.

use std::collections::HashMap;
use study::choice;

choice! {
    /// Format of a graph file.
    pub enum GraphFormat {
        EdgeList = "edge-list", "A cable per line: `router router [count] [class]`; `node ROUTER [count]` places nodes.";
        Graphml = "graphml", "GraphML; node attribute `nodes`, edge attributes `count` and `class`.";
        BuiltIn = "built-in", "No file: `file` is the name of a preset that is none of the regular families.";
        Ibnetdiscover = "ibnetdiscover", "An InfiniBand fabric as `ibnetdiscover` prints it; rates such as `4xEDR` are the link classes.";
    }
}

/// Parallel cables of one class between two routers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CableLine {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) count: u32,
    /// Link class, an index into `classes`.
    pub(crate) class: u8,
}

/// A graph as its file states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GraphText {
    /// Router names by id.
    pub(crate) names: Vec<String>,
    /// Nodes per router, where the file says.
    pub(crate) nodes: Vec<Option<u32>>,
    pub(crate) cables: Vec<CableLine>,
    /// Link classes; entry 0 is `host`, which no cable has.
    pub(crate) classes: Vec<String>,
}

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphMistake {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// Why a text is not understood: reasons with their lines, and hints.
pub(crate) type Unreadable = Vec<(String, Option<String>)>;

/// More mistakes than this are not listed.
const MOST_MISTAKES: usize = 20;

/// Collects routers, classes and mistakes while a file is read.
#[derive(Default)]
pub(crate) struct Collector {
    pub(crate) text: GraphText,
    ids: HashMap<String, u32>,
    pub(crate) mistakes: Vec<GraphMistake>,
}

impl Collector {
    pub(crate) fn new() -> Self {
        let text = GraphText {
            classes: vec!["host".into()],
            ..GraphText::default()
        };
        Self {
            text,
            ..Self::default()
        }
    }

    pub(crate) fn mistake(&mut self, line: usize, reason: String) {
        if self.mistakes.len() < MOST_MISTAKES {
            self.mistakes.push(GraphMistake { line, reason });
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.ids.get(name).copied()
    }

    pub(crate) fn router(&mut self, name: &str) -> u32 {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = self.text.names.len() as u32;
        self.ids.insert(name.into(), id);
        self.text.names.push(name.into());
        self.text.nodes.push(None);
        id
    }

    pub(crate) fn count(&mut self, line: usize, what: &str, word: &str, least: u32) -> Option<u32> {
        match word.parse::<u32>() {
            Ok(n) if n >= least => return Some(n),
            Ok(n) => self.mistake(line, format!("{what} is {n}, it must be at least {least}")),
            Err(_) => self.mistake(
                line,
                format!("{what} `{word}` is not a whole number from {least} to {}", u32::MAX),
            ),
        }
        None
    }

    pub(crate) fn cable(&mut self, line: usize, a: &str, b: &str, count: u32, class: &str) {
        if a == b {
            return self.mistake(line, format!("a cable from router `{a}` to itself"));
        }
        if class == "host" {
            return self.mistake(
                line,
                "class `host` is for the links of nodes, a cable between routers needs another".into(),
            );
        }
        let class = match self.text.classes.iter().position(|c| c == class) {
            Some(i) => i,
            None if self.text.classes.len() < 255 => {
                self.text.classes.push(class.into());
                self.text.classes.len() - 1
            }
            None => return self.mistake(line, "more than 254 link classes".into()),
        };
        let (a, b) = (self.router(a), self.router(b));
        self.text.cables.push(CableLine {
            a,
            b,
            count,
            class: class as u8,
        });
    }

    pub(crate) fn place_nodes(&mut self, line: usize, router: u32, count: u32) {
        let slot = &mut self.text.nodes[router as usize];
        if slot.is_some() {
            let name = &self.text.names[router as usize];
            let reason = format!("router `{name}` has its nodes stated twice");
            return self.mistake(line, reason);
        }
        *slot = Some(count);
    }

    /// Ends the reading; numeric names 0..n become the ids.
    pub(crate) fn finish(mut self) -> Result<GraphText, Vec<GraphMistake>> {
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let n = self.text.names.len();
        // A plain number without leading zeros, so that distinct names stay distinct.
        let number = |s: &String| {
            s.parse::<u32>()
                .ok()
                .filter(|&v| (v as usize) < n && v.to_string() == *s)
        };
        let numbers: Option<Vec<u32>> = self.text.names.iter().map(number).collect();
        if let Some(new) = numbers {
            let mut nodes = vec![None; n];
            for (old, &id) in new.iter().enumerate() {
                nodes[id as usize] = self.text.nodes[old];
            }
            self.text.nodes = nodes;
            self.text.names = (0..n).map(|i| i.to_string()).collect();
            for cable in &mut self.text.cables {
                (cable.a, cable.b) = (new[cable.a as usize], new[cable.b as usize]);
            }
        }
        Ok(self.text)
    }
}

/// Reads an edge list.
pub(crate) fn read_edge_list(text: &str) -> Result<GraphText, Vec<GraphMistake>> {
    let mut collector = Collector::new();
    let mut node_lines = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let line = i + 1;
        let words: Vec<&str> = raw.split('#').next().unwrap_or("").split_whitespace().collect();
        match words.as_slice() {
            [] => {}
            ["node", router] => node_lines.push((line, *router, "1")),
            ["node", router, count] => node_lines.push((line, *router, *count)),
            ["node", ..] => collector.mistake(line, "expected `node ROUTER [count]`".into()),
            [a, b] => collector.cable(line, a, b, 1, "link"),
            [a, b, count] => {
                if let Some(count) = collector.count(line, "the number of cables", count, 1) {
                    collector.cable(line, a, b, count, "link");
                }
            }
            [a, b, count, class] => {
                if let Some(count) = collector.count(line, "the number of cables", count, 1) {
                    collector.cable(line, a, b, count, class);
                }
            }
            _ => collector.mistake(
                line,
                "expected `ROUTER ROUTER [count] [class]` or `node ROUTER [count]`".into(),
            ),
        }
    }
    for (line, router, count) in node_lines {
        match collector.find(router) {
            None => collector.mistake(line, format!("unknown router `{router}`: no cable names it")),
            Some(id) => {
                if let Some(count) = collector.count(line, "the number of nodes", count, 0) {
                    collector.place_nodes(line, id, count);
                }
            }
        }
    }
    collector.mistakes.sort_by_key(|m| m.line);
    collector.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<(usize, String)> {
        read_edge_list(text)
            .unwrap_err()
            .into_iter()
            .map(|m| (m.line, m.reason))
            .collect()
    }

    #[test]
    fn names_that_are_numbers_are_the_ids() {
        let g = read_edge_list("2 1\n1 0 3 global\nnode 2 5").unwrap();
        assert_eq!(g.names, ["0", "1", "2"]);
        assert_eq!(g.nodes, [None, None, Some(5)]);
        assert_eq!(
            g.cables[1],
            CableLine {
                a: 1,
                b: 0,
                count: 3,
                class: 2
            }
        );
        assert_eq!(g.classes, ["host", "link", "global"]);
        let g = read_edge_list("sw7 sw1 # comment\n\n# all\nsw1 3").unwrap();
        assert_eq!(g.names, ["sw7", "sw1", "3"]);
    }

    #[test]
    fn every_mistake_is_told_with_its_line() {
        let told = wrong("a b x\na a\nnode z\nnode a 1\nnode a 2\na b 0\na b 1 host\na b 1 c d\na\nnode\na b");
        let lines: Vec<usize> = told.iter().map(|t| t.0).collect();
        assert_eq!(lines, [1, 2, 3, 5, 6, 7, 8, 9, 10]);
        assert!(told[2].1.contains("unknown router `z`"), "{told:?}");
        assert!(told[3].1.contains("twice"), "{told:?}");
        assert!(told[1].1.contains("to itself"), "{told:?}");
    }
}
