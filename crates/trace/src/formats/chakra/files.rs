//! The files of a trace, one for each rank, and the nodes that are in one.

use super::node::ChakraNode;
use super::wire::{Wire, WireFields, WireMessages};
use crate::packed;
use crate::problem::{Problem, ReadStop};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files of a trace in the order of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSet {
    /// Where they are.
    pub paths: Vec<PathBuf>,
    /// Their names, as messages have them.
    pub names: Vec<String>,
    /// Bytes of each.
    pub sizes: Vec<u64>,
    /// The folder that they are in.
    pub folder: PathBuf,
}

/// Name and rank that the name of a file tells: `NAME.R.et`, also packed, or `NAME.R.json`.
pub(crate) fn name_and_rank(file: &str) -> Option<(&str, Option<u32>)> {
    let packings = [".gz", ".xz", ".zst"];
    let whole = packings
        .iter()
        .find_map(|packing| file.strip_suffix(packing))
        .unwrap_or(file);
    let stem = whole.strip_suffix(".et").or_else(|| whole.strip_suffix(".json"))?;
    let rank = stem.rsplit_once('.').and_then(|(name, rank)| {
        let digits = !rank.is_empty() && rank.bytes().all(|byte| byte.is_ascii_digit());
        Some((name, digits.then(|| rank.parse().ok())??))
    });
    Some(match rank {
        Some((name, rank)) => (name, Some(rank)),
        None => (stem, None),
    })
}

/// Whether a name is that of a file of messages.
pub(crate) fn is_et(file: &str) -> bool {
    name_and_rank(file).is_some() && !file.contains(".json")
}

/// The names of files of a folder, in order.
pub(crate) fn files_of(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

impl FileSet {
    /// The set that a file is of, or that is in a folder.
    pub fn of(path: &Path) -> Result<FileSet, ReadStop> {
        let words = path.display().to_string();
        let broken = |reason: String, hint: &str| ReadStop::Broken(Problem::new(&words, reason, hint));
        let cannot = |error: std::io::Error| ReadStop::Broken(Problem::unreadable(&words, &error));
        let about = std::fs::metadata(path).map_err(cannot)?;
        let (folder, given) = match about.is_dir() {
            true => (path.to_owned(), None),
            false => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let file = path.file_name().and_then(|name| name.to_str());
                (
                    folder.unwrap_or(Path::new(".")).to_owned(),
                    Some(file.unwrap_or_default()),
                )
            }
        };
        let told = given.map(|file| (file, name_and_rank(file)));
        let Some((name, suffix)) = (match told {
            // A file without a rank in its name is a trace of one.
            Some((_, None | Some((_, None)))) => return FileSet::with(folder, vec![path.to_owned()], cannot),
            Some((file, Some((name, _)))) => Some((name.to_owned(), is_et(file))),
            None => None,
        }) else {
            return FileSet::of_folder(folder, broken, cannot);
        };
        FileSet::named(folder, &name, suffix, broken, cannot)
    }

    fn of_folder(
        folder: PathBuf,
        broken: impl Fn(String, &str) -> ReadStop,
        cannot: impl Fn(std::io::Error) -> ReadStop,
    ) -> Result<FileSet, ReadStop> {
        let files = files_of(&folder).map_err(&cannot)?;
        let mut names: Vec<&str> = files
            .iter()
            .filter(|file| is_et(file))
            .filter_map(|file| name_and_rank(file).map(|(name, _)| name))
            .collect();
        names.dedup();
        names.sort_unstable();
        names.dedup();
        match names[..] {
            [] => Err(broken("it has no file NAME.R.et".into(), "give a file of a trace")),
            [name] => match files.iter().filter(|file| is_et(file)).collect::<Vec<_>>()[..] {
                [file] if name_and_rank(file).is_some_and(|(_, rank)| rank.is_none()) => {
                    let path = folder.join(file);
                    FileSet::with(folder, vec![path], cannot)
                }
                _ => FileSet::named(folder.clone(), name, true, broken, cannot),
            },
            _ => {
                let some: Vec<&str> = names.iter().copied().take(5).collect();
                let reason = format!("it has {} traces: {}", names.len(), some.join(", "));
                Err(broken(reason, "give a file of one of them"))
            }
        }
    }

    /// The set `NAME.0.et`, `NAME.1.et`, ...
    fn named(
        folder: PathBuf,
        name: &str,
        of_messages: bool,
        broken: impl Fn(String, &str) -> ReadStop,
        cannot: impl Fn(std::io::Error) -> ReadStop,
    ) -> Result<FileSet, ReadStop> {
        let mut by_rank: BTreeMap<u32, String> = BTreeMap::new();
        for file in files_of(&folder).map_err(&cannot)? {
            let Some((own, Some(rank))) = name_and_rank(&file) else {
                continue;
            };
            if own != name || is_et(&file) != of_messages {
                continue;
            }
            if let Some(other) = by_rank.insert(rank, file.clone()) {
                let reason = format!("{other} and {file} are both of rank {rank}");
                return Err(broken(reason, "take one of them out of the folder"));
            }
        }
        let missing = (0..).zip(by_rank.keys()).find(|(expected, rank)| expected != *rank);
        if let Some((rank, _)) = missing {
            let reason = format!("there is no file of rank {rank}, and one of rank {}", by_rank.len());
            let last = by_rank.last_key_value().map_or(0, |(last, _)| *last);
            let reason = match u64::from(last) == by_rank.len() as u64 {
                true => reason,
                false => format!("there is no file of rank {rank}, and one of rank {last}"),
            };
            return Err(broken(reason, "a trace has a file NAME.R.et for each rank R from 0 on"));
        }
        let paths = by_rank.values().map(|file| folder.join(file)).collect();
        FileSet::with(folder, paths, cannot)
    }

    fn with(
        folder: PathBuf,
        paths: Vec<PathBuf>,
        cannot: impl Fn(std::io::Error) -> ReadStop,
    ) -> Result<FileSet, ReadStop> {
        let size = |path: &PathBuf| std::fs::metadata(path).map(|about| about.len());
        let sizes: Result<Vec<u64>, _> = paths.iter().map(size).collect();
        Ok(FileSet {
            names: paths.iter().map(|path| path.display().to_string()).collect(),
            sizes: sizes.map_err(cannot)?,
            paths,
            folder,
        })
    }

    /// Hands on the nodes of a rank in the order of the file, with their records.
    pub fn nodes(
        &self,
        rank: u32,
        take: &mut dyn FnMut(u64, &ChakraNode) -> Result<(), ReadStop>,
    ) -> Result<(), ReadStop> {
        let name = &self.names[rank as usize];
        let broken = |record: u64, reason: String| {
            let problem = Problem::new(name, reason, "give a whole execution trace").of_rank(rank);
            ReadStop::Broken(problem.at(record))
        };
        let cannot = |error: std::io::Error| broken(0, format!("it cannot be read: {error}"));
        let (text, _) = packed::open(&self.paths[rank as usize]).map_err(cannot)?;
        let mut messages = WireMessages::new(text);
        let start = messages.start().map_err(cannot)?;
        match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
            None => Err(broken(0, "it is empty".into())),
            Some(b'{') if looks_like_json(start) => of_json(messages.into_source(), take, &broken),
            _ => of_messages(messages, take, &broken),
        }
    }
}

/// Whether a text that begins with a brace is JSON: a message may begin with the length 123.
fn looks_like_json(start: &[u8]) -> bool {
    let mut after = start.iter().filter(|byte| !byte.is_ascii_whitespace()).skip(1);
    matches!(after.next(), Some(b'"' | b'}') | None)
}

fn of_messages(
    mut messages: WireMessages<impl Read>,
    take: &mut dyn FnMut(u64, &ChakraNode) -> Result<(), ReadStop>,
    broken: &dyn Fn(u64, String) -> ReadStop,
) -> Result<(), ReadStop> {
    let mut node = ChakraNode::default();
    let mut record = 0;
    while let Some(message) = messages.message().map_err(|error| broken(record, error.to_string()))? {
        // The first message tells of the trace, and its version; a node has its id there.
        let is_node = |message| matches!(WireFields(message).next(), Some(Ok((1, Wire::Varint(_)))));
        if record > 0 || is_node(message) {
            node.read(message)
                .map_err(|_| broken(record, "this is no node".into()))?;
            take(record, &node)?;
        } else if WireFields(message).any(|field| field.is_err()) {
            return Err(broken(0, "it does not begin as an execution trace".into()));
        }
        record += 1;
    }
    Ok(())
}

fn of_json(
    source: impl Read,
    take: &mut dyn FnMut(u64, &ChakraNode) -> Result<(), ReadStop>,
    broken: &dyn Fn(u64, String) -> ReadStop,
) -> Result<(), ReadStop> {
    let mut graph = GraphOfJson {
        take,
        record: 0,
        stop: None,
        found: false,
    };
    let mut reader = serde_json::Deserializer::from_reader(source);
    let result = Document(&mut graph)
        .deserialize(&mut reader)
        .and_then(|()| reader.end());
    match (graph.stop, result) {
        (Some(stop), _) => Err(stop),
        (None, Err(error)) => Err(broken(
            graph.record,
            format!("this is no execution trace in JSON: {error}"),
        )),
        (None, Ok(())) if !graph.found => Err(broken(0, "it has no list \"workload_graph\"".into())),
        (None, Ok(())) => Ok(()),
    }
}

/// The nodes of a document, as they come.
struct GraphOfJson<'a> {
    take: &'a mut dyn FnMut(u64, &ChakraNode) -> Result<(), ReadStop>,
    record: u64,
    stop: Option<ReadStop>,
    found: bool,
}

struct Document<'g, 'a>(&'g mut GraphOfJson<'a>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with a list \"workload_graph\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "workload_graph" {
                self.0.found = true;
                map.next_value_seed(Nodes(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Nodes<'g, 'a>(&'g mut GraphOfJson<'a>);

impl<'de> DeserializeSeed<'de> for Nodes<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Nodes<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(object) = list.next_element::<Map<String, Value>>()? {
            let node = ChakraNode::of_object(&object).map_err(A::Error::custom)?;
            if let Err(stop) = (self.0.take)(self.0.record, &node) {
                self.0.stop = Some(stop);
                return Err(A::Error::custom("it is enough"));
            }
            self.0.record += 1;
        }
        Ok(())
    }
}
