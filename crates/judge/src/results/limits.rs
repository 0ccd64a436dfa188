//! What the models that a run uses leave out: the limits of their entries in the registry, each behind the name that the study has for it.

use fabric::spec::{RunSpec, Work};
use serde::Serialize;
use vocabulary::registry;
use work::mpi::spec::Handling;

/// The limits of all that a run uses, in the order of a study's sections, each once.
pub(super) fn limits(spec: &RunSpec) -> Vec<String> {
    let mut limits = Vec::new();
    let mut add = |name: &str, text: &str| {
        let limit = format!("{name}: {text}");
        if !text.is_empty() && !limits.contains(&limit) {
            limits.push(limit);
        }
    };
    let mut of_entry = |kind: &'static study::Family, name: &str| {
        if let Some(entry) = registry::find(kind, name) {
            add(name, entry.limits);
        }
    };
    of_entry(&registry::TOPOLOGY, &kind_of(&spec.topology));
    of_entry(&registry::ROUTING, &kind_of(&spec.routing));
    of_entry(&registry::ROUTER_MODEL, &kind_of(&spec.router.model));
    if let Some(preset) = &spec.router.preset {
        of_entry(&registry::ROUTER_PRESET, preset);
    }
    for job in &spec.jobs {
        of_entry(&registry::PLACEMENT, &kind_of(&job.placement));
        match &job.work {
            Work::Synthetic(work) => {
                of_entry(&registry::WORK, &kind_of(&work.pattern));
                for part in work.pattern.parts() {
                    of_entry(&registry::WORK, &kind_of(&part.pattern));
                }
                of_entry(&registry::PROCESS, &kind_of(&work.process));
            }
            Work::Pairs(_) => of_entry(&registry::WORK, "pairs"),
            Work::Ranks(work) => {
                if let Some(preset) = &work.mpi.preset {
                    of_entry(&registry::MPI_PRESET, preset);
                }
                work.parts
                    .iter()
                    .for_each(|part| of_entry(&registry::WORK, &part.motif.kind));
            }
            Work::Memory(work) => {
                if let Some(preset) = &work.preset {
                    of_entry(&registry::MEMORY_PRESET, preset);
                }
                of_entry(&registry::WORK, "memory");
            }
            Work::Messages(_) => of_entry(&registry::WORK, "messages"),
            Work::Idle => {}
        }
    }
    if let Some(text) = spec.router.named().limits() {
        add(spec.router.architecture.word(), text);
    }
    add("nic", "Nodes take every packet at the host link's rate.");
    if !spec.outages.is_empty() {
        add(
            "outage",
            "All routers learn of a change at the same time. Credits and announcements of messages are never lost.",
        );
    }
    if spec.nic.retransmit.is_some() {
        add(
            "nic",
            "Sources know which packets are lost: acknowledgements are not sent, and nothing arrives twice.",
        );
    }
    for job in &spec.jobs {
        match &job.work {
            Work::Ranks(work) => {
                if work.mpi.progress == Handling::Always {
                    add(
                        "mpi",
                        "A rank's processor does nothing for others: asynchronous progress is perfect.",
                    );
                }
                add(
                    "mpi",
                    "The memory of a node is no bottleneck for several ranks at once.",
                );
            }
            Work::Synthetic(_) | Work::Pairs(_) | Work::Messages(_) => {
                add("nic", "Software costs nothing but the overheads of [nic].")
            }
            Work::Memory(_) | Work::Idle => {}
        }
    }
    limits
}

/// The word that a study has for a value: the text of a word, or the `kind` or the one key of a table.
fn kind_of(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    let kind = match &value {
        serde_json::Value::Object(table) => match table.get("kind") {
            Some(kind) => kind.as_str(),
            None => table.keys().next().map(String::as_str),
        },
        word => word.as_str(),
    };
    kind.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use vocabulary::{LoadOptions, load_study};

    fn limits_of(tables: &str) -> Vec<String> {
        let text = format!("name = \"limits\"\n{tables}\n[run]\nseeds = [1]\n");
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
        limits(&study.unwrap_or_else(|findings| panic!("{findings:?}\n{text}")).runs[0])
    }

    const TORUS: &str = "[topology]\nkind = \"torus\"\nshape = [4, 4]\n";

    #[test]
    fn limits_are_those_of_the_entries_that_a_run_uses() {
        let ring = limits_of(&format!(
            "{TORUS}[[job]]\nwork = {{ kind = \"ring\", message = \"4 KiB\" }}"
        ));
        assert!(ring.iter().any(|limit| limit.starts_with("mpi: ")), "{ring:?}");
        assert!(!ring.iter().any(|limit| limit.contains("Software")), "{ring:?}");
        let merlin = limits_of(
            "[topology]\nkind = \"dragonfly\"\ngroups = 5\nrouters_per_group = [2]\nnodes_per_router = 2\n[routing]\nkind = \"ugal\"\n\
             [router]\npreset = \"merlin\"\n[[job]]\nwork = { kind = \"uniform\" }",
        );
        for name in ["ugal: ", "merlin: ", "input-queued: ", "nic: Software"] {
            assert!(merlin.iter().any(|limit| limit.starts_with(name)), "{name} {merlin:?}");
        }
        let parts = "[{ kind = \"uniform\" }, { kind = \"transpose\" }]";
        let mixed = limits_of(&format!(
            "{TORUS}[[job]]\nwork = {{ kind = \"mixed\", parts = {parts} }}"
        ));
        assert!(mixed.iter().any(|limit| limit.starts_with("transpose: ")), "{mixed:?}");
        let memory = limits_of(&format!("{TORUS}[[job]]\nwork = {{ kind = \"memory\" }}"));
        assert!(
            memory.iter().any(|limit| limit.starts_with("memory: Interfaces")),
            "{memory:?}"
        );
        assert!(!memory.iter().any(|limit| limit.contains("Software")), "{memory:?}");
    }

    #[test]
    fn every_pattern_placement_and_process_is_found_by_its_word() {
        let kinds = [&registry::PATTERN, &registry::PLACEMENT, &registry::PROCESS];
        for (kind, key) in kinds.into_iter().zip(["work", "placement", "process"]) {
            for entry in registry::list(kind)
                .into_iter()
                .filter(|entry| !entry.limits.is_empty())
            {
                let name = entry.name;
                let job = match key {
                    "placement" if ["file", "listed"].contains(&name) => continue,
                    "placement" if ["clustered", "rail-optimised"].contains(&name) => {
                        let needs = if name == "clustered" { "chunk" } else { "rails" };
                        format!("placement = {{ kind = \"{name}\", {needs} = 4 }}\nwork = {{ kind = \"uniform\" }}")
                    }
                    "placement" => format!("placement = \"{name}\"\nwork = {{ kind = \"uniform\" }}"),
                    "process" => format!("work = {{ kind = \"uniform\", process = \"{name}\" }}"),
                    _ => {
                        let needs = match name {
                            "partners" => ", table = \"source,destination\\n0,1\\n\"",
                            "matrix" => ", table = \"source,destination,weight\\n0,1,1\\n\"",
                            "mixed" => ", parts = [{ kind = \"uniform\" }]",
                            _ => "",
                        };
                        format!("work = {{ kind = \"{name}\"{needs} }}")
                    }
                };
                let limits = limits_of(&format!("{TORUS}[[job]]\n{job}"));
                let told = format!("{name}: {}", entry.limits);
                assert!(limits.contains(&told), "{told} is missing in {limits:?}");
            }
        }
    }
}
