//! Dragonflies with the router and the routings of CODES dragonfly-dally give the latencies and the ways of its runs
//! (`validation/codes-dally-1056.json`): 1,056 nodes, uniform traffic and traffic to the next group, minimal and progressive.

use fabric::spec::RunSpec;
use judge::run::run;
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn validation() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/codes-dally-1056.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The study of a row, as a user would write it.
fn study(row: &Value, seed: u64) -> RunSpec {
    let (load, messages) = (row["load"].as_f64().unwrap(), row["messages"].as_u64().unwrap());
    let pattern = match row["pattern"].as_str().unwrap() {
        "uniform" => "kind = \"uniform\"",
        _ => "kind = \"shift\", by = 32",
    };
    let text = format!(
        r#"
topology = {{ kind = "dragonfly", groups = 33, routers_per_group = 8, nodes_per_router = 4, arrangement = "relative" }}
link = {{ bandwidth = "25 GiB/s", latency = "10 ns", global = {{ latency = "100 ns" }} }}
router = {{ preset = "codes-dragonfly" }}
routing = {{ kind = "{routing}" }}
run = {{ seed = {seed}, warmup = "0 ns", end = "done" }}
[[job]]
work = {{ {pattern}, message = "4096 B", load = {load}, count = {messages}, process = "periodic-in-phase" }}
"#,
        routing = row["routing"].as_str().unwrap(),
    );
    let study = load_study(text.as_bytes(), "codes.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0)
}

#[test]
fn latencies_and_ways_are_those_of_codes() {
    let file = validation();
    let percent = file["tolerance"]["percent"].as_f64().unwrap();
    let mut faults = Vec::new();
    for row in file["rows"].as_array().unwrap() {
        let name = format!(
            "{} {} {} {}",
            row["routing"], row["pattern"], row["load"], row["messages"]
        );
        let result = run(&study(row, 1), &mut |_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
        let summary = &result.summary;
        assert_eq!(summary.measured, 1_056 * row["messages"].as_u64().unwrap(), "{name}");
        let message = summary.latency_ns.mean.unwrap() / 1e3;
        let packet = message - summary.wait_ns.mean.unwrap() / 1e3;
        let found = [
            ("hops", summary.hops.mean),
            ("packet_us", packet),
            ("message_us", message),
        ];
        for (what, here) in found {
            let outside = row[what].as_f64().unwrap();
            let off = (here / outside - 1.0) * 100.0;
            println!("{name} {what}: outside {outside:.4}, here {here:.4}, {off:+.2} %");
            if off.abs() > percent {
                faults.push(format!("{name} {what}: {off:+.2} %"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
