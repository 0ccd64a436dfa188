//! `run.partition`: how workers share out the routers, with the map that a user's file gives.

use crate::registry::PartitionWord;
use fabric::spec::PartitionSpec;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use study::Named;
use study::diagnostic::Findings;
use study::reader::{Checked, Values};
use study::user_file::read_text;
use topo::TopologySpec;
use topo::partition::read_map;

/// A part for every router, or what is wrong with the file: reasons with hints.
type MapOfParts = Result<Arc<[u32]>, Vec<(String, String)>>;

/// Maps already read, by network and file: a sweep asks for the same ones again and again.
#[derive(Default)]
pub(crate) struct Maps(BTreeMap<(String, String), MapOfParts>);

/// What a map needs to be read.
pub(crate) struct Map<'a> {
    /// The network; `None` after errors there.
    pub topology: Option<&'a TopologySpec>,
    /// The study's folder.
    pub base: &'a Path,
    /// Maps already read.
    pub known: &'a mut Maps,
}

/// The partition of `[run]`; `None` after errors. `workers` is 0 if it is left open.
pub(crate) fn read(values: &Values, map: Map<'_>, workers: u16, findings: &mut Findings) -> Option<PartitionSpec> {
    let place = values.place("partition");
    match values.get("partition")? {
        Checked::Text(name) => Some(match PartitionWord::named(name)? {
            PartitionWord::Auto => PartitionSpec::Auto,
            PartitionWord::Blocks => PartitionSpec::Blocks,
            PartitionWord::Metis => PartitionSpec::Metis,
        }),
        Checked::Keyed(file) => {
            let Checked::Text(file) = &**file else { return None };
            let topology = map.topology?;
            let name = (serde_json::to_string(topology).unwrap_or_default(), file.clone());
            let read = map.known.0.entry(name);
            match read.or_insert_with(|| from_file(topology, map.base, file)) {
                Ok(parts_of) => {
                    let parts = parts_of.iter().max().map_or(0, |&most| u64::from(most) + 1);
                    if parts < u64::from(workers) {
                        let reason = format!("{file:?} has parts for {parts} workers only, run.workers is {workers}");
                        let hint = format!("take {parts} workers or fewer, or a map with more parts");
                        findings.error(place, "run.partition", reason, hint);
                        return None;
                    }
                    Some(PartitionSpec::Map(parts_of.clone()))
                }
                Err(mistakes) => {
                    for (reason, hint) in mistakes {
                        findings.error(place, "run.partition", &*reason, &*hint);
                    }
                    None
                }
            }
        }
        _ => None,
    }
}

fn from_file(topology: &TopologySpec, base: &Path, file: &str) -> MapOfParts {
    let one = |reason: String, hint: &str| Err(vec![(reason, hint.to_owned())]);
    let text = read_text(base, file).map_err(|mistake| vec![mistake])?;
    let Ok(network) = topology.build() else {
        return one("there is no network to share out".to_owned(), "mend [topology] first");
    };
    let in_words = |mistake: &topo::partition::MapMistake| {
        let reason = format!("{file}, line {}: {}", mistake.line, mistake.reason);
        (reason, mistake.hint.clone())
    };
    match read_map(&text, &network) {
        Ok(parts) => Ok(parts.into()),
        Err(mistakes) => Err(mistakes.iter().map(in_words).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::PartitionSpec;
    use crate::{LoadOptions, Study, canonical, load_study, render, run_hash, run_of_canonical, runs_of_canonical};
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fabricsim-partition-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn load(name: &str, run: &str, map: &str) -> Result<Study, String> {
        let folder = folder(name);
        std::fs::write(folder.join("map.csv"), map).unwrap();
        let text = format!(
            "[topology]\nkind = \"ring\"\nrouters = 4\nnodes_per_router = 1\n[[job]]\nwork = {{ kind = \"uniform\", load = 0.5 }}\n[run]\nseeds = [1, 2]\n{run}\n"
        );
        let study = load_study(text.as_bytes(), "study.toml", &folder, &LoadOptions::default());
        std::fs::remove_dir_all(&folder).unwrap();
        study.map_err(|errors| render(&errors))
    }

    #[test]
    fn a_map_is_stored_in_runs_and_once_in_the_canonical_study_and_names_neither() {
        let map = "router,part\n\"(0)\",0\n1,0\n2,5\n(3),5\n";
        let with = load("stored", "partition = { file = \"map.csv\" }", map).unwrap();
        let without = load("plain", "", map).unwrap();
        let parts = PartitionSpec::Map([0, 0, 5, 5].into());
        assert!(with.runs.iter().all(|run| run.control.partition == parts));
        assert_eq!(runs_of_canonical(&with.canonical).unwrap(), with.runs);
        assert_eq!(with.canonical.matches("[0,0,5,5]").count(), 1);
        let again = run_of_canonical(&canonical(&with.runs[1])).unwrap();
        assert_eq!(again, with.runs[1]);
        let name = run_hash;
        assert_eq!(name(&with.runs[0]), name(&without.runs[0]));
        assert_ne!(name(&with.runs[0]), name(&with.runs[1]));
        // What says nothing of partitions reads and names as before there were any.
        assert!(!canonical(&without.runs[0]).contains("partition") && !without.canonical.contains("map"));
    }

    #[test]
    fn names_are_read_as_themselves() {
        for (name, spec) in [
            ("auto", PartitionSpec::Auto),
            ("blocks", PartitionSpec::Blocks),
            ("metis", PartitionSpec::Metis),
        ] {
            let study = load(name, &format!("partition = {name:?}"), "").unwrap();
            assert_eq!(study.runs[0].control.partition, spec);
        }
    }

    #[test]
    fn mistakes_name_line_reason_and_hint() {
        let file = "partition = { file = \"map.csv\" }";
        let refused = |name, run: &str, map| load(name, run, map).unwrap_err();
        let found = refused("router", file, "router,part\n0,0\n9,1\n(2),x\n");
        assert!(
            found.contains("run.partition: map.csv, line 3: there is no router \"9\""),
            "{found}"
        );
        assert!(found.contains("names such as \"(3)\"") && found.contains("line 4: \"x\" is no part number"));
        let found = refused(
            "few",
            &format!("workers = 3\n{file}"),
            "router,part\n0,0\n1,1\n2,0\n3,1\n",
        );
        assert!(found.contains("parts for 2 workers only") && found.contains("take 2 workers or fewer"));
        let found = refused("missing", "partition = { file = \"none.csv\" }", "");
        assert!(found.contains("cannot read \"none.csv\""), "{found}");
        let found = refused("folder", "partition = { file = \".\" }", "");
        assert!(found.contains("it is not a file"), "{found}");
        let found = refused("key", "partition = { fil = \"map.csv\" }", "");
        assert!(
            found.contains("did you mean `file`") && found.contains("has no key `file`"),
            "{found}"
        );
        let found = refused("word", "partition = \"block\"", "");
        assert!(
            found.contains("unknown partition") && found.contains("blocks"),
            "{found}"
        );
        let found = refused("number", "partition = 3", "");
        assert!(
            found.contains("must be one of \"auto\", \"blocks\", \"metis\" or a table"),
            "{found}"
        );
    }
}
