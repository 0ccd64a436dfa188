//! Maps of users: a part number for every router, as comma-separated values.
//!
//! The header is `router,part`. A router is given by its name (in quotes or not) or its number, where no router has that name. What
//! follows the last comma of a line is the part, so names may hold commas.

use crate::topology::Topology;
use std::collections::HashMap;

/// Mistakes up to which a map is read on.
const MOST_MISTAKES: usize = 10;

/// What is wrong with a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapMistake {
    /// Line from 1; the one after the last for what is missing.
    pub line: usize,
    /// Why it cannot be read.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

/// The part of every router from the text of a map, or the first ten mistakes.
pub fn read_map(text: &str, topology: &Topology) -> Result<Vec<u32>, Vec<MapMistake>> {
    let mut reader = Reader {
        topology,
        names: None,
        parts: vec![None; topology.n_routers() as usize],
        mistakes: Vec::new(),
    };
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let header = lines.by_ref().find(|(_, line)| !line.trim().is_empty());
    let (at, header) = header.map_or((0, ""), |(at, line)| (at, line.trim()));
    if header.split(',').map(str::trim).ne(["router", "part"]) {
        reader.mistake(
            at + 1,
            format!("the header is {header:?}"),
            "write router,part into the first line",
        );
        return Err(reader.mistakes);
    }
    let mut last = at + 1;
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        last = at + 1;
        reader.line(last, line.trim());
        if reader.mistakes.len() == MOST_MISTAKES {
            return Err(reader.mistakes);
        }
    }
    reader.finish(last + 1)
}

struct Reader<'a> {
    topology: &'a Topology,
    /// Made when the first name is met.
    names: Option<HashMap<String, u32>>,
    /// Part and line of each router.
    parts: Vec<Option<(u32, usize)>>,
    mistakes: Vec<MapMistake>,
}

impl Reader<'_> {
    fn mistake(&mut self, line: usize, reason: String, hint: impl Into<String>) {
        self.mistakes.push(MapMistake {
            line,
            reason,
            hint: hint.into(),
        });
    }

    fn line(&mut self, at: usize, line: &str) {
        let Some((router, part)) = line.rsplit_once(',') else {
            return self.mistake(
                at,
                format!("{line:?} has no comma"),
                "write a router, a comma and its part",
            );
        };
        let (router, part) = (unquoted(router.trim()), part.trim());
        let Ok(part) = part.parse::<u32>() else {
            let hint = format!("write a whole number from 0 to {}", u32::MAX);
            return self.mistake(at, format!("{part:?} is no part number"), hint);
        };
        let Some(number) = self.router(&router) else {
            let last = self.topology.n_routers() - 1;
            let hint = format!(
                "routers are 0 to {last}, or names such as {:?}",
                self.topology.router_name(last)
            );
            return self.mistake(at, format!("there is no router {router:?}"), hint);
        };
        match self.parts[number as usize] {
            Some((_, before)) => {
                let reason = format!("router {router:?} has a part already, in line {before}");
                self.mistake(at, reason, "keep one of the lines");
            }
            None => self.parts[number as usize] = Some((part, at)),
        }
    }

    fn router(&mut self, text: &str) -> Option<u32> {
        let number = text.parse::<u32>().ok().filter(|&r| r < self.topology.n_routers());
        // Only routers of a file may be named like numbers.
        if number.is_some() && !self.topology.geometry.family().is_irregular() {
            return number;
        }
        let topology = self.topology;
        let all = || {
            (0..topology.n_routers())
                .map(|r| (topology.router_name(r), r))
                .collect()
        };
        self.names.get_or_insert_with(all).get(text).copied().or(number)
    }

    fn finish(mut self, line: usize) -> Result<Vec<u32>, Vec<MapMistake>> {
        let missing: Vec<u32> = (0..)
            .zip(&self.parts)
            .filter(|(_, p)| p.is_none())
            .map(|(r, _)| r)
            .collect();
        if let (Some(&first), true) = (missing.first(), self.mistakes.is_empty()) {
            let name = self.topology.router_name(first);
            let lack = match missing.len() - 1 {
                0 => "has no part".to_owned(),
                n => format!("and {n} more have no part"),
            };
            let reason = format!("router {name:?} (number {first}) {lack}");
            self.mistake(line, reason, "give every router a line");
        }
        if self.mistakes.is_empty() {
            Ok(self.parts.into_iter().flatten().map(|(part, _)| part).collect())
        } else {
            Err(self.mistakes)
        }
    }
}

/// A field without its quotes; doubled quotes within are single ones.
fn unquoted(field: &str) -> String {
    match field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::{Lattice, TopologySpec};

    fn mesh() -> Topology {
        let lattice = Lattice {
            shape: vec![2, 2],
            width: vec![],
            nodes_per_router: 1,
        };
        TopologySpec::Mesh(lattice).build().unwrap()
    }

    #[test]
    fn routers_are_named_or_numbered_and_names_may_hold_commas() {
        let text = "router,part\n\"(1,1)\",7\r\n0, 3\n\n (0,1),0\n1,4294967295";
        assert_eq!(read_map(text, &mesh()), Ok(vec![3, u32::MAX, 0, 7]));
    }

    #[test]
    fn every_mistake_has_its_line() {
        let lines = |text: &str| {
            let mistakes = read_map(text, &mesh()).unwrap_err();
            assert!(mistakes.iter().all(|m| !m.hint.is_empty()));
            mistakes.into_iter().map(|m| (m.line, m.reason)).collect::<Vec<_>>()
        };
        assert_eq!(lines(""), [(1, "the header is \"\"".to_owned())]);
        assert_eq!(lines("\npart,router\n0,0")[0].0, 2);
        assert_eq!(
            lines("router,part\n0,0\n4,1\n(0;1),1\n0,1\n1,-1\n2"),
            [
                (3, "there is no router \"4\"".to_owned()),
                (4, "there is no router \"(0;1)\"".to_owned()),
                (5, "router \"0\" has a part already, in line 2".to_owned()),
                (6, "\"-1\" is no part number".to_owned()),
                (7, "\"2\" has no comma".to_owned()),
            ]
        );
        assert_eq!(
            lines("router,part\n0,0\n1,1\n"),
            [(4, "router \"(0,1)\" (number 2) and 1 more have no part".to_owned())]
        );
        assert_eq!(
            lines("router,part\n0,0\n1,1\n2,1"),
            [(5, "router \"(1,1)\" (number 3) has no part".to_owned())]
        );
        assert_eq!(lines(&format!("router,part\n{}", "9,9\n".repeat(20))).len(), 10);
    }
}
