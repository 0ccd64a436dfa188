//! The presets `merlin` and `memhierarchy` give the times of SST's memHierarchy on Merlin networks: random reads of 16 nodes with tiny caches, six
//! networks, links of 1 to 8 GB/s, one access at a time or many, lines that leave with and without their data.
//!
//! The outside times with their source are in `validation/sst-memory-16.json`; a row must be met to 5 %. Rows that are not would stand in [`OPEN`].
//! `FABRICSIM_SST_MEMORY=whole` runs all of them, with three seeds; without it those of the slowest and of the fastest links, with one.

use judge::run::run;
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Variant, what leaves with a clean line, topology, cores, GB/s, and the part by which the row is missed: none.
const OPEN: [(&str, &str, &str, u64, u64, f64); 0] = [];

fn topology(name: &str) -> (&'static str, &'static str) {
    match name {
        "single" => ("kind = \"single-router\"\nnodes = 32", "minimal"),
        "ring" => ("kind = \"ring\"\nrouters = 16\nnodes_per_router = 2", "dor"),
        "mesh" => ("kind = \"mesh\"\nshape = [4, 4]\nnodes_per_router = 2", "dor"),
        "torus" => ("kind = \"torus\"\nshape = [2, 2, 2, 2]\nnodes_per_router = 2", "dor"),
        "hyperx" => ("kind = \"hyperx\"\nshape = [4, 2]\nnodes_per_router = 4", "dor"),
        "dragonfly" => (
            "kind = \"dragonfly\"\ngroups = 4\nrouters_per_group = 4\nnodes_per_router = 2",
            "minimal",
        ),
        _ => panic!("unknown topology {name}"),
    }
}

/// When the last core has its last read (us).
fn time_of(row: &Value, rate: u64, seed: u64) -> f64 {
    let text = |key: &str| row[key].as_str().unwrap();
    let (shape, routing) = topology(text("topology"));
    let variant = match text("variant") {
        "V1" => "",
        "V2" => "fence_every = 1",
        "V8" => &format!("fence_every = 1\nmemory_bandwidth = \"{rate} GB/s\""),
        other => panic!("unknown variant {other}"),
    };
    let text = format!(
        "[topology]\n{shape}\n[link]\nbandwidth = \"{rate} GB/s\"\nlatency = \"10 ns\"\n[router]\npreset = \"merlin\"\nflit = \"8 B\"\n\
         crossbar_bandwidth = \"{rate} GB/s\"\ntraversal = \"20 ns\"\noutput_latency = \"10 ns\"\nbuffer = \"1 KiB\"\n\
         output_buffer = \"1 KiB\"\n[nic]\npacket = \"1 KiB\"\n[routing]\nkind = \"{routing}\"\n[[job]]\n[job.work]\nkind = \"memory\"\n\
         preset = \"memhierarchy\"\nclean_writebacks = \"{}\"\naccesses = 300\ncores = {}\n{variant}\n[observe]\nlinks = false\n\
         [run]\nseeds = [{seed}]\n",
        text("clean"),
        row["cores"]
    );
    let study = load_study(text.as_bytes(), "sst.toml", Path::new("."), &LoadOptions::default());
    let spec = study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0);
    let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{text}: {error}"));
    let ends = result.memory.iter().map(|node| node.cores.finished);
    ends.max().unwrap() as f64 / 1e6
}

#[test]
fn random_reads_take_the_times_of_memhierarchy_on_merlin() {
    let whole = std::env::var("FABRICSIM_SST_MEMORY").is_ok_and(|value| value == "whole");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/sst-memory-16.json");
    let outside: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let percent = outside["tolerance"]["percent"].as_f64().unwrap();
    let seeds = if whole { 3 } else { 1 };
    let (mut off, mut rows) = (Vec::new(), 0);
    for row in outside["rows"].as_array().unwrap() {
        let times: Vec<(u64, f64)> = serde_json::from_value(row["times"].clone()).unwrap();
        for (rate, theirs) in times.into_iter().filter(|(rate, _)| whole || [1, 8].contains(rate)) {
            let ours = (1..=seeds).map(|seed| time_of(row, rate, seed)).sum::<f64>() / seeds as f64;
            let part = ours / theirs - 1.0;
            let name = format!(
                "{} {} {} {} cores {rate} GB/s",
                row["variant"], row["clean"], row["topology"], row["cores"]
            );
            println!("{name}: {theirs} us, here {ours:.1} us, {:+.1} %", 100.0 * part);
            rows += 1;
            let is = |open: &&(&str, &str, &str, u64, u64, f64)| {
                (row["variant"] == open.0 && row["clean"] == open.1 && row["topology"] == open.2)
                    && (row["cores"] == open.3 && rate == open.4)
            };
            let met = match OPEN.iter().find(is) {
                Some(open) => (part - open.5).abs() <= 0.01,
                None => 100.0 * part.abs() <= percent,
            };
            if !met {
                off.push(format!("{name}: {:+.1} %", 100.0 * part));
            }
        }
    }
    assert!(rows >= 60, "{rows}");
    assert!(off.is_empty(), "{off:#?}");
}
