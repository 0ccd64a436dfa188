//! Process groups, and the communicators that they are.
//!
//! Who is in a group is told by a node `process_group:init` of the rank, or by a file of JSON beside the trace, `{"name": [ranks]}`. A group
//! that neither tells has the ranks that use its name.

use super::files::{FileSet, files_of, name_and_rank};
use crate::header::Members;
use crate::operation::WORLD;
use crate::problem::Problem;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// Most bytes of a file of groups.
const MOST_BYTES: u64 = 64 << 20;

/// ProcessGroups as they are found.
#[derive(Debug, Default)]
pub(crate) struct ProcessGroups {
    /// Of the ranks that tell it: groups by name.
    told: HashMap<u32, HashMap<String, u32>>,
    /// The groups of a file beside the trace.
    beside: BTreeMap<String, Vec<u32>>,
    /// The ranks that use a name, in order.
    used: BTreeMap<String, Vec<u32>>,
    /// The rank and the name that were used last.
    last_use: (u32, String),
    /// All communicators that were told, by name and ranks.
    numbers: HashMap<(String, Vec<u32>), u32>,
    /// That of all ranks, and those that are found.
    communicators: Vec<Members>,
}

impl ProcessGroups {
    /// For so many ranks.
    pub fn of(ranks: u32) -> ProcessGroups {
        ProcessGroups {
            communicators: vec![Members::all(ranks)],
            ..ProcessGroups::default()
        }
    }

    /// A rank uses a group.
    pub fn used_by(&mut self, name: &str, rank: u32) {
        if name.is_empty() {
            return;
        }
        // A rank mostly uses the group that it used before.
        if self.last_use.0 == rank && self.last_use.1 == name {
            return;
        }
        self.last_use.0 = rank;
        name.clone_into(&mut self.last_use.1);
        // Ranks come in order.
        match self.used.get_mut(name) {
            Some(ranks) if ranks.last() == Some(&rank) => {}
            Some(ranks) => ranks.push(rank),
            None => {
                self.used.insert(name.to_owned(), vec![rank]);
            }
        }
    }

    /// A rank tells groups: a text with a list of objects that have `pg_name` and `ranks`. The words of what is wrong with it.
    pub fn tell(&mut self, rank: u32, text: &str, ranks: u32) -> Result<(), String> {
        for group in list_in(text).ok_or("it has no list of process groups")? {
            let name = match group.get("pg_name") {
                Some(Value::String(name)) => name.clone(),
                Some(Value::Number(name)) => name.to_string(),
                _ => return Err("a process group has no pg_name".into()),
            };
            let own = match group.get("ranks") {
                None | Some(Value::Null) => Some(Vec::new()),
                Some(Value::Object(by_rank)) => by_rank.keys().map(|rank| rank.parse().ok()).collect(),
                Some(list) => ranks_of(list),
            };
            let own = own.ok_or_else(|| format!("process group \"{name}\" has no list of ranks"))?;
            check(&name, &own, ranks)?;
            // A group without ranks has all.
            let number = match own.is_empty() {
                true => self.number(&name, (0..ranks).collect()),
                false => self.number(&name, own),
            };
            self.told.entry(rank).or_default().insert(name, number);
        }
        Ok(())
    }

    /// Reads the files of groups beside a trace, if groups are used that no rank tells.
    pub fn look_beside(&mut self, set: &FileSet, problems: &mut Vec<Problem>) {
        let ranks = set.paths.len() as u32;
        let is_told = |(name, users): (&String, &Vec<u32>)| {
            let told = |rank| self.told.get(rank).is_some_and(|own| own.contains_key(name));
            users.iter().all(told)
        };
        if self.used.iter().all(is_told) {
            return;
        }
        let Ok(files) = files_of(&set.folder) else { return };
        for file in files.iter().filter(|file| file.ends_with(".json")) {
            let path = set.folder.join(file);
            let of_trace = name_and_rank(file).is_some_and(|(_, rank)| rank.is_some()) && set.paths.contains(&path);
            let small = std::fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= MOST_BYTES);
            if of_trace || !small {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let groups = serde_json::from_str::<Map<String, Value>>(&text).unwrap_or_default();
            let lists = groups.iter().map(|(name, list)| Some((name.clone(), ranks_of(list)?)));
            // What is no object of lists of ranks is something else.
            let Some(lists) = lists.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let words = path.display().to_string();
            for (name, list) in lists {
                let problem = match self.beside.get(&name) {
                    Some(other) if *other != list => {
                        Err(format!("another file tells process group \"{name}\" otherwise"))
                    }
                    _ => check(&name, &list, ranks),
                };
                match problem {
                    Ok(()) => {
                        self.beside.insert(name, list);
                    }
                    Err(reason) => problems.push(Problem::new(
                        &words,
                        reason,
                        "leave one file of groups, with ranks that are there",
                    )),
                }
            }
        }
    }

    /// Makes the communicators: that of all ranks, and the groups. Afterwards, [`communicator`](ProcessGroups::communicator) finds each that is used.
    pub fn finish(&mut self) -> Vec<Members> {
        for (name, users) in std::mem::take(&mut self.used) {
            let is_told = |rank: &u32| self.told.get(rank).is_some_and(|own| own.contains_key(&name));
            let untold: Vec<u32> = users.iter().copied().filter(|rank| !is_told(rank)).collect();
            if untold.is_empty() {
                continue;
            }
            let number = match (self.beside.get(&name), self.told_by_all(&name)) {
                (Some(ranks), _) => self.number(&name, ranks.clone()),
                (None, Some(number)) => number,
                (None, None) => self.number(&name, users),
            };
            for rank in untold {
                self.told.entry(rank).or_default().insert(name.clone(), number);
            }
        }
        std::mem::take(&mut self.communicators)
    }

    /// The communicator of a group that a rank uses.
    pub fn communicator(&self, name: &str, rank: u32) -> u32 {
        let own = self.told.get(&rank).and_then(|own| own.get(name));
        own.copied().unwrap_or(WORLD)
    }

    /// The group that all ranks mean which tell one of this name.
    fn told_by_all(&self, name: &str) -> Option<u32> {
        let mut numbers = self.told.values().filter_map(|own| own.get(name));
        let first = numbers.next()?;
        numbers.all(|number| number == first).then_some(*first)
    }

    fn number(&mut self, name: &str, ranks: Vec<u32>) -> u32 {
        let communicators = &mut self.communicators;
        let number = self
            .numbers
            .entry((name.to_owned(), ranks))
            .or_insert_with_key(|(_, ranks)| {
                communicators.push(Members::of(ranks.clone()));
                (communicators.len() - 1) as u32
            });
        *number
    }
}

/// Whether the ranks of a group are there, each once.
fn check(name: &str, group: &[u32], ranks: u32) -> Result<(), String> {
    if let Some(rank) = group.iter().find(|rank| **rank >= ranks) {
        return Err(format!(
            "process group \"{name}\" has rank {rank} of a trace of {ranks} ranks"
        ));
    }
    let mut sorted = group.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("process group \"{name}\" has rank {} twice", pair[0])),
        None => Ok(()),
    }
}

fn ranks_of(list: &Value) -> Option<Vec<u32>> {
    let rank = |rank: &Value| u32::try_from(rank.as_u64()?).ok();
    list.as_array()?.iter().map(rank).collect()
}

/// The list of objects that is somewhere in a text, as it is or as a text within a text.
fn list_in(text: &str) -> Option<Vec<Value>> {
    if text.trim().trim_matches(['[', ']', '\'', '"']).is_empty() {
        return Some(Vec::new());
    }
    let begin = text.find("[{")?;
    let end = text.rfind("}]")? + 2;
    let list = text.get(begin..end)?;
    let plain = serde_json::from_str(list).ok();
    plain.or_else(|| serde_json::from_str(&list.replace("\\\"", "\"")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_tell_a_group_is_in_that_of_the_others() {
        let mut groups = ProcessGroups::of(4);
        (0..3).for_each(|rank| groups.used_by("a", rank));
        groups.used_by("b", 1);
        groups.used_by("b", 3);
        groups
            .tell(0, r#"[{"pg_name": "a", "ranks": [2, 1, 0]}]"#, 4)
            .expect("it is a group");
        let expected = [Members::all(4), Members::List(vec![2, 1, 0]), Members::of(vec![1, 3])];
        assert_eq!(groups.finish(), expected);
        assert_eq!(
            [("a", 0), ("a", 2), ("b", 1), ("c", 1)].map(|(name, rank)| groups.communicator(name, rank)),
            [1, 1, 2, 0]
        );
    }

    #[test]
    fn groups_of_pytorch_are_read_as_they_are_quoted() {
        let plain = r#"['[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [3, 1]}]']"#;
        let quoted = plain.replace('"', "\\\"").replace('\'', "\"");
        let bare = &plain[2..plain.len() - 2];
        for text in [plain, &quoted, bare] {
            let mut groups = ProcessGroups::of(4);
            groups.tell(1, text, 4).expect("they are groups");
            assert_eq!(groups.communicator("7", 1), 2, "{text}");
            assert_eq!(groups.communicator("", 1), WORLD);
            let expected = [Members::all(4), Members::all(4), Members::List(vec![3, 1])];
            assert_eq!(groups.finish(), expected);
        }
        assert_eq!(ProcessGroups::of(4).tell(0, "['[]']", 4), Ok(()));
        for (text, reason) in [
            ("none", "it has no list of process groups"),
            (r#"[{"ranks": []}]"#, "a process group has no pg_name"),
            (
                r#"[{"pg_name": "a", "ranks": 3}]"#,
                "process group \"a\" has no list of ranks",
            ),
            (
                r#"[{"pg_name": "a", "ranks": [4]}]"#,
                "process group \"a\" has rank 4 of a trace of 4 ranks",
            ),
            (
                r#"[{"pg_name": "a", "ranks": [1, 1]}]"#,
                "process group \"a\" has rank 1 twice",
            ),
        ] {
            assert_eq!(ProcessGroups::of(4).tell(0, text, 4), Err(reason.into()));
        }
    }
}
