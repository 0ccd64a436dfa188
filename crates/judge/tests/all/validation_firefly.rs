//! The presets `merlin` and `firefly` give the times that Ember's motifs take with SST's Firefly on Merlin networks of 64 nodes.
//!
//! The outside times with their source are in `validation/firefly-64.json`. A message between two ranks must take what it takes there to
//! 2 %, a motif to 5 %, or 10 % where the routing draws.

use fabric::spec::{MpiSpec, Work};
use judge::run::run;
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn topology(name: &str) -> (&'static str, &'static str) {
    match name {
        "single" => ("kind = \"single-router\"\nnodes = 64", "minimal"),
        "torus" => ("kind = \"torus\"\nshape = [4, 4, 4]", "dor"),
        "mesh" => ("kind = \"mesh\"\nshape = [4, 4, 4]", "dor"),
        "fattree" => ("kind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 4]", "minimal"),
        "dragonfly" => (
            "kind = \"dragonfly\"\ngroups = 8\nrouters_per_group = [4]\nnodes_per_router = 2\nlinks_per_pair = 1",
            "merlin-ugal",
        ),
        "hyperx" => ("kind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4", "merlin-doal"),
        _ => panic!("unknown topology {name}"),
    }
}

fn work(row: &Value) -> String {
    let halo = |cells: u32, compute: u32| {
        format!(
            "{{ kind = \"halo3d-26\", grid = [{cells}, {cells}, {cells}], process_grid = [4, 4, 4], vars = 10, compute = \"{compute} ns\" }}"
        )
    };
    let barrier = |times: u32| format!("{{ kind = \"collective\", collective = \"barrier\", iterations = {times} }}");
    match row["motif"].as_str().unwrap() {
        "ping-pong" => format!(
            "{{ kind = \"ping-pong\", messages = \"{} B\", repeat = 4 }}",
            row["bytes"]
        ),
        "none" => barrier(1),
        "pingpong" => "{ kind = \"all-ping-pong\", message = \"4096 B\", iterations = 10 }".to_owned(),
        "allreduce8" => {
            "{ kind = \"collective\", collective = \"allreduce\", message = \"8 B\", iterations = 10 }".to_owned()
        }
        "halo3d26s" => halo(32, 213),
        "halo3d26" => halo(128, 13_632),
        // Communicators are made with a barrier each; a real transform of 128 values along x has 65.
        "fft3d" => format!(
            "[{}, {{ kind = \"fft3d\", grid = [65, 128, 128], process_grid = [8, 8], value = \"16 B\" }}, {}]",
            barrier(2),
            barrier(1)
        ),
        other => panic!("unknown motif {other}"),
    }
}

/// How long a row takes here (us).
fn time_of(row: &Value) -> f64 {
    let (shape, routing) = topology(row["topology"].as_str().unwrap());
    let text = format!(
        "[topology]\n{shape}\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"20 ns\"\n[router]\npreset = \"merlin\"\n[mpi]\npreset = \"firefly\"\n\
         [routing]\nkind = \"{routing}\"\n[[job]]\nwork = {}\n[run]\nend = \"done\"\n",
        work(row)
    );
    let study = load_study(text.as_bytes(), "firefly.toml", Path::new("."), &LoadOptions::default());
    let spec = study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0);
    let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{text}: {error}"));
    let ends = result.ranks.iter().map(|rank| rank.finished);
    let last = ends.max().unwrap() as f64 / 1e6;
    match row["motif"].as_str() {
        // Half of each of four round trips.
        Some("ping-pong") => last / 8.0,
        _ => last,
    }
}

#[test]
fn motifs_take_the_times_of_ember_with_firefly() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/firefly-64.json");
    let outside: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut off = Vec::new();
    for row in outside["rows"].as_array().unwrap() {
        let (theirs, ours) = (row["us"].as_f64().unwrap(), time_of(row));
        let part = ours / theirs - 1.0;
        let line = format!("{row}: {ours:.3} us, {:+.2} %", 100.0 * part);
        println!("{line}");
        // Its routing draws.
        let chooses = row["topology"] == "dragonfly";
        let most = match row["motif"].as_str() {
            Some("ping-pong") => 0.02,
            _ if chooses => 0.1,
            _ => 0.05,
        };
        if part.abs() > most {
            off.push(line);
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}

#[test]
fn the_preset_is_its_keys() {
    let mpi = |text: &str| -> MpiSpec {
        let text = format!(
            "[topology]\nkind = \"single-router\"\nnodes = 4\n[mpi]\n{text}\n[[job]]\nwork = {{ kind = \"ping-pong\" }}\n[run]\nend = \"done\"\n"
        );
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
        let spec = study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0);
        let Work::Ranks(ranks) = &spec.jobs[0].work else {
            panic!("work of ranks")
        };
        ranks.mpi.clone()
    };
    let preset = mpi("preset = \"firefly\"\neager = \"1 KiB\"");
    let keys = mpi(
        "send_overhead = \"130 ns\"\nreceive_overhead = \"100 ns\"\neager = \"1 KiB\"\nrendezvous = \"get\"\nheader = \"45 B\"\n\
         control = \"45 B\"\ncopy = \"free\"\ncombine = \"free\"\nprogress = \"in-calls\"\nenter = \"30 ns\"\nleave = \"30 ns\"\n\
         match_cost = \"150 ns\"\npin_base = \"3 us\"\npin_page = \"100 ns\"\nhost_delay = \"100 ns\"\nmatch_delay = \"100 ns\"\n\
         read_delay = \"200 ns\"\nwakes = \"once\"\nbarrier = \"heap\"\nbcast = \"heap\"\nreduce = \"heap\"\nallreduce = \"heap\"\nalltoall = \"shift\"\n\
         alltoallv = \"shift\"",
    );
    assert_eq!(
        preset,
        MpiSpec {
            preset: Some("firefly".to_owned()),
            ..keys
        }
    );
}
