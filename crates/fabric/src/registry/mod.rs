//! What a study may say: one entry per topology, routing, router model, preset, pattern and so on.
//!
//! Everything that has to agree comes from these tables: the reader of study files (types, ranges, defaults), the
//! "did you mean" of its errors, `fabricsim list`, the JSON schema for editors and the generated reference.

mod entry;
mod memory;
mod mpi;
mod network;
mod reference;
mod schema;
mod sections;
mod topologies;
mod work;

pub use entry::{Choice, Default, Entry, Kind, Parameter, Section, Type, When};
pub use reference::reference;
pub use schema::schema;

/// All entries of a kind, in the order of the documentation.
pub fn list(kind: Kind) -> Vec<&'static Entry> {
    let table: &'static [Entry] = match kind {
        Kind::Topology => topologies::TOPOLOGIES,
        Kind::Routing => network::ROUTINGS,
        Kind::RouterModel => network::MODELS,
        Kind::RouterPreset => network::PRESETS,
        Kind::Work => return work::WORKS.iter().chain(mpi::MOTIFS).collect(),
        Kind::Pattern => work::WORKS,
        Kind::Motif => mpi::MOTIFS,
        Kind::Placement => work::PLACEMENTS,
        Kind::Process => work::PROCESSES,
        Kind::Engine => sections::ENGINES,
    };
    table
        .iter()
        .filter(|entry| kind != Kind::Pattern || entry.kind == Kind::Pattern)
        .collect()
}

/// The entry of a kind with this name.
pub fn find(kind: Kind, name: &str) -> Option<&'static Entry> {
    list(kind).into_iter().find(|entry| entry.name == name)
}

/// The sections of a study file with a fixed set of keys, in the order of the documentation.
pub fn sections() -> &'static [Section] {
    sections::SECTIONS
}

/// The section with this name (`"router"`, `"job"`); `None` for sections without a fixed set of keys.
pub fn section(name: &str) -> Option<&'static Section> {
    sections::SECTIONS.iter().find(|section| section.name == name)
}

/// Keys at the top of a study file.
pub fn top_level() -> &'static [(&'static str, &'static str)] {
    sections::TOP_LEVEL
}

/// Keys of `[topology]` that do not depend on the kind.
pub(crate) use topologies::TOPOLOGY_COMMON;
