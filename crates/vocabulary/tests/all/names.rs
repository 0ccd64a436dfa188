//! Every name that the registry offers is read as itself: no name falls back to another choice in silence.

use serde_json::{Value, json};
use std::path::Path;
use vocabulary::registry::{self, list};
use vocabulary::{LoadOptions, load_study};

/// The topology of the studies.
const TORUS: &str = "kind = \"torus\"\nshape = [4, 4]";

/// Topologies of which every routing is for one.
const TOPOLOGIES: [&str; 5] = [
    TORUS,
    "kind = \"fat-tree\"\ndown = [4, 4]\nup = [2]",
    "kind = \"hyperx\"\nshape = [4, 4]",
    "kind = \"dragonfly\"\ngroups = 3\nrouters_per_group = 2",
    "kind = \"dragonfly+\"\ngroups = 3\nleaves = 2\nspines = 2",
];

fn topology(keys: &str) -> topo::TopologySpec {
    let text = study("kind = \"uniform\", load = 0.5", "").replace(TORUS, keys);
    let study = load_study(text.as_bytes(), "names.toml", Path::new("."), &LoadOptions::default());
    study.unwrap().runs[0].topology.clone()
}

/// The first run of a study as JSON.
fn first_run(text: &str) -> Value {
    let study = load_study(text.as_bytes(), "names.toml", Path::new("."), &LoadOptions::default());
    match study {
        Ok(study) => json!(study.runs[0]),
        Err(findings) => panic!("{text}\n{}", vocabulary::render(&findings)),
    }
}

fn study(work: &str, rest: &str) -> String {
    let end = if rest.contains("end =") {
        ""
    } else {
        "[run]\nend = \"1 us\"\n"
    };
    format!("name = \"n\"\n[topology]\n{TORUS}\n{rest}\n{end}[[job]]\nwork = {{ {work} }}\n")
}

fn check(kind: &'static study::Family, make: impl Fn(&str) -> String, place: &str) {
    for entry in list(kind) {
        let run = first_run(&make(entry.name));
        assert_eq!(
            run.pointer(place),
            Some(&json!(entry.name)),
            "{} \"{}\"",
            kind.name,
            entry.name
        );
    }
}

/// Name, further keys and what a run says.
const PLACEMENTS: &[(&str, &str, &str); 8] = &[
    ("linear", "", "\"linear\""),
    ("random", "", "\"random\""),
    ("clustered", ", chunk = 4", "{\"clustered\":{\"chunk\":4}}"),
    ("strided", ", stride = 3", "{\"strided\":{\"stride\":3}}"),
    ("per-group", "", "\"per-group\""),
    ("spread", "", "\"spread\""),
    ("rail-optimised", ", rails = 4", "{\"rail-optimised\":{\"rails\":4}}"),
    (
        "file",
        ", file = \"tests/broken_studies/placement_fine.csv\"",
        "{\"file\":[3,2,1,0,4,5,6,7,8,9,10,11,12,13,14,15]}",
    ),
];

#[test]
fn names_are_read_as_themselves() {
    let plain = "kind = \"uniform\", load = 0.5";
    let needed = |name: &str| match name {
        "partners" => ", table = \"source,destination\\n0,1\\n\"",
        "matrix" => ", table = \"source,destination,weight\\n0,1,1\\n\"",
        "mixed" => ", parts = [{ kind = \"uniform\" }]",
        _ => "",
    };
    check(
        &registry::PATTERN,
        |name| study(&format!("kind = \"{name}\", load = 0.5{}", needed(name)), ""),
        "/jobs/0/work/synthetic/pattern/kind",
    );
    check(
        &registry::PROCESS,
        |name| study(&format!("{plain}, process = \"{name}\""), ""),
        "/jobs/0/work/synthetic/process",
    );
    check(
        &registry::ENGINE,
        |name| study(plain, &format!("[run]\nend = \"1 us\"\nengine = \"{name}\"")),
        "/control/engine",
    );
    for (name, keys, json) in PLACEMENTS {
        let placement = format!("placement = {{ kind = \"{name}\"{keys} }}\nwork =");
        let run = first_run(&study(plain, "").replace("work =", &placement));
        assert_eq!(
            run.pointer("/jobs/0/placement").map(Value::to_string).as_deref(),
            Some(*json)
        );
        if keys.is_empty() {
            let short = format!("placement = \"{name}\"\nwork =");
            assert_eq!(first_run(&study(plain, "").replace("work =", &short)), run);
        }
    }
    let names: Vec<&str> = list(&registry::PLACEMENT).iter().map(|entry| entry.name).collect();
    assert_eq!(names, PLACEMENTS.map(|(name, ..)| name));
    check(
        &registry::ROUTING,
        |name| {
            let text = study(plain, &format!("[routing]\nkind = \"{name}\""));
            // Some are for one family.
            let fits = |text: &&str| fabric::routing::fits(name, &topology(text));
            let text = text.replace(TORUS, TOPOLOGIES.into_iter().find(fits).unwrap());
            // What the file says is looked at when the network is built.
            text.replace("kind = \"table\"", "kind = \"table\"\nfile = \"Cargo.toml\"")
        },
        "/routing/kind",
    );
    check(
        &registry::ROUTER_MODEL,
        |name| study(plain, &format!("[router]\nmodel = \"{name}\"")),
        "/router/model",
    );
    check(
        &registry::ROUTER_PRESET,
        |name| study(plain, &format!("[router]\npreset = \"{name}\"")),
        "/router/preset",
    );
    check(
        &registry::MEMORY_PRESET,
        |name| {
            study(&format!("kind = \"memory\", preset = \"{name}\""), "")
                .replace(TORUS, &format!("{TORUS}\nnodes_per_router = 2"))
        },
        "/jobs/0/work/memory/preset",
    );
    for name in [
        "voq",
        "input-queued",
        "late-admission",
        "late-admission-vcs",
        "output-buffered",
        "vc-router",
    ] {
        let run = first_run(&study(plain, &format!("[router]\narchitecture = \"{name}\"")));
        assert_eq!(run.pointer("/router/architecture"), Some(&json!(name)));
    }
}
