//! What a study may say: one entry per topology, routing, router model, preset, pattern and so on.
//!
//! Everything that has to agree comes from these tables: the reader of study files (types, ranges, defaults), the
//! "did you mean" of its errors, `fabricsim list`, the JSON schema for editors and the generated reference. What they are made of, and
//! what reads them, is the language's (crate `study`), to which all of it is one [`Vocabulary`].

mod chapters;
mod cost;
mod fail;
pub(crate) mod loggops;
pub(crate) mod memory;
mod messages;
mod mpi;
mod network;
mod others;
mod sections;
mod topologies;

pub use fabric::routing::ROUTING;
pub use topo::TOPOLOGY;
pub use work::motif::MOTIF;
pub use work::placement::PLACEMENT;
pub use work::workload::{PATTERN, PROCESS};

use study::{Entry, Examples, Family, Section, TopLevel, Vocabulary};
use work::motif;
use work::workload::Pattern;

/// The vocabulary of fabricsim's studies.
pub static VOCABULARY: Vocabulary = Vocabulary {
    top_level: sections::TOP_LEVEL,
    sections: sections::SECTIONS,
    examples: Examples {
        key: "router.vcs",
        value: "2",
        sweep: "\"routing.kind\" = [\"dor\", \"valiant\"]",
        range: "\"link.bandwidth\" = { from = \"1 GB/s\", to = \"64 GB/s\", scale = \"log\" }",
    },
    introduction: chapters::INTRODUCTION,
    conclusion: chapters::SWEEPS,
};

/// The router models: `router.model`.
pub static ROUTER_MODEL: Family = Family {
    name: "router-model",
    key: "router.model",
    by_name: false,
    groups: &[fabric::spec::RouterKind::ENTRIES],
};

/// Timing rules of known simulators: `router.preset`.
pub static ROUTER_PRESET: Family = Family {
    name: "router-preset",
    key: "router.preset",
    by_name: false,
    groups: &[network::PRESETS],
};

/// What messages of ranks cost in known simulators: `mpi.preset`.
pub static MPI_PRESET: Family = Family {
    name: "mpi-preset",
    key: "mpi.preset",
    by_name: false,
    groups: &[mpi::PRESETS],
};

/// How memory nodes of known simulators are put together: `work.preset` of memory nodes.
pub static MEMORY_PRESET: Family = Family {
    name: "memory-preset",
    key: "work.preset",
    by_name: false,
    groups: &[memory::PRESETS],
};

/// Everything that nodes and ranks do: `work.kind`.
pub static WORK: Family = Family {
    name: "work",
    key: "work.kind",
    by_name: false,
    groups: &[Pattern::ENTRIES, others::OTHERS, &motif::ENTRIES],
};

/// The engines: `run.engine`.
pub static ENGINE: Family = Family {
    name: "engine",
    key: "run.engine",
    by_name: false,
    groups: &[sections::ENGINES],
};

/// Every family, in the order of the documentation.
pub static FAMILIES: [&Family; 12] = [
    &TOPOLOGY,
    &ROUTER_MODEL,
    &ROUTER_PRESET,
    &MPI_PRESET,
    &MEMORY_PRESET,
    &ROUTING,
    &WORK,
    &PATTERN,
    &MOTIF,
    &PROCESS,
    &PLACEMENT,
    &ENGINE,
];

/// The family of this name, as `fabricsim list` takes it.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.into_iter().find(|family| family.name == name)
}

/// All entries of a family, in the order of the documentation.
pub fn list(family: &'static Family) -> Vec<&'static Entry> {
    family.entries().collect()
}

/// The entry of a family with this name.
pub fn find(family: &'static Family, name: &str) -> Option<&'static Entry> {
    family.find(name)
}

/// The sections of a study file with a fixed set of keys, in the order of the documentation.
pub fn sections() -> &'static [Section] {
    VOCABULARY.sections
}

/// The section with this name (`"router"`, `"job"`); `None` for sections without a fixed set of keys.
pub fn section(name: &str) -> Option<&'static Section> {
    VOCABULARY.section(name)
}

/// Keys at the top of a study file.
pub fn top_level() -> &'static [TopLevel] {
    VOCABULARY.top_level
}

/// The JSON schema of study files.
pub fn schema() -> serde_json::Value {
    study::schema(&VOCABULARY)
}

/// The reference page `docs/reference/study.md`.
pub fn reference() -> String {
    study::reference(&VOCABULARY)
}

/// Keys of `[topology]` that do not depend on the kind.
pub(crate) use topologies::TOPOLOGY_COMMON;

/// Words of keys whose values are more than words.
pub(crate) use sections::{PartitionWord, StartWord};

#[cfg(test)]
mod tests {
    use super::{TOPOLOGY, list};
    use std::path::Path;
    use topo::TopologyKind;

    #[test]
    fn families_have_the_names_of_the_registry() {
        for entry in list(&TOPOLOGY) {
            assert!(
                TopologyKind::ALL.iter().any(|kind| kind.name() == entry.name),
                "{}",
                entry.name
            );
        }
        assert_eq!(list(&TOPOLOGY).len(), TopologyKind::ALL.len());
    }

    #[test]
    fn the_generated_reference_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/study.md");
        let page = super::reference();
        if std::env::var_os("FABRICSIM_BLESS").is_some() {
            std::fs::write(&path, &page).expect("the reference page can be written");
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == page,
            "docs/reference/study.md is out of date; run this test with FABRICSIM_BLESS=1"
        );
    }
}
