//! The preset `merlin` gives the latencies that SST Merlin gives: seven networks of 64 nodes, uniform traffic in phase, loads 0.1 to 0.9.
//!
//! The outside numbers with their source and tolerance are in `validation/merlin-uniform-64.json`. Destinations are drawn from our own
//! random numbers, so that single runs spread around the outside run, which is one sample itself; means over seeds are compared.

use des::Time;
use fabric::run::{RunResult, run};
use fabric::spec::*;
use serde_json::Value;
use std::path::Path;

const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];
const NODES: usize = 64;

/// A study text of each case.
fn study(case: &str) -> String {
    let (topology, routing) = match case {
        "single" => ("kind = \"single-router\"\nnodes = 64", "minimal"),
        "torus" => ("kind = \"torus\"\nshape = [4, 4, 4]", "dor"),
        "mesh" => ("kind = \"mesh\"\nshape = [4, 4, 4]", "dor"),
        "fat-tree" => ("kind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 4]", "minimal"),
        "dragonfly" => (
            "kind = \"dragonfly\"\ngroups = 8\nrouters_per_group = [4]\nnodes_per_router = 2\nlinks_per_pair = 1",
            "minimal",
        ),
        "hyperx dor" => ("kind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4", "dor"),
        "hyperx min-a" => ("kind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4", "min-a"),
        _ => panic!("unknown case {case}"),
    };
    format!(
        "[topology]\n{topology}\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"20 ns\"\n[router]\npreset = \"merlin\"\n\
         [routing]\nkind = \"{routing}\"\n[[job]]\nwork = {{ kind = \"uniform\", message = \"2048 B\", load = 0.1, process = \"periodic-in-phase\" }}\n\
         [observe]\nmessages = \"full\"\n[run]\nend = \"30 us\"\nwarmup = \"10 us\"\ndrain = \"100 us\"\n"
    )
}

fn spec(case: &str, load: f64, seed: u64) -> RunSpec {
    let study = load_study(study(case).as_bytes(), "merlin.toml", Path::new("."), &LoadOptions::default());
    let mut run = study.unwrap_or_else(|found| panic!("{case}: {found:?}")).runs.remove(0);
    let Work::Synthetic(work) = &mut run.jobs[0].work else {
        panic!("synthetic work")
    };
    work.load = Some(load);
    run.control.seed = seed;
    run
}

/// Mean latency (ns) of what arrived from 10 to 30 us, and of what was born then.
fn means(result: &RunResult) -> (f64, f64) {
    let span = Time::from_us(10).0..Time::from_us(30).0;
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mean = |when: &dyn Fn(&fabric::observe::MessageRow) -> u64| {
        let (mut sum, mut n) = (0.0, 0.0);
        for row in rows.iter().filter(|row| span.contains(&when(row))) {
            sum += (row.time - row.birth) as f64 / 1e3;
            n += 1.0;
        }
        sum / n
    };
    (mean(&|row| row.time), mean(&|row| row.birth))
}

/// What the seeds gave at one load.
struct Point {
    load: f64,
    outside: f64,
    behind: bool,
    arrived: Vec<f64>,
    born: Vec<f64>,
    /// Seeds for which a node was behind.
    late: usize,
    sat: Vec<String>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn points(row: &Value, loads_to: f64) -> Vec<Point> {
    let case = row["case"].as_str().unwrap();
    let simulate = |point: &Value| {
        let load = point["load"].as_f64().unwrap();
        let mut made = Point {
            load,
            outside: point["latency_ns"].as_f64().unwrap(),
            behind: point["behind"].as_bool().unwrap(),
            arrived: Vec::new(),
            born: Vec::new(),
            late: 0,
            sat: Vec::new(),
        };
        for seed in SEEDS {
            let result = run(&spec(case, load, seed), &mut |_| true);
            let result = result.unwrap_or_else(|error| panic!("{case} at {load}: {error}"));
            let (arrived, born) = means(&result);
            if let Some(text) = &result.summary.saturated { made.sat.push(text[..42].to_owned()); }
            made.arrived.push(arrived);
            made.born.push(born);
            made.late += usize::from(behind(&result, load));
        }
        made
    };
    let all = row["points"].as_array().unwrap().iter();
    all.filter(|point| point["load"].as_f64().unwrap() <= loads_to + 1e-9)
        .map(simulate)
        .collect()
}

/// `true` if at the end of the collection some node had more messages behind it than its interface's buffer of seven takes.
fn behind(result: &RunResult, load: f64) -> bool {
    // A message that was due by then and had not begun to be injected has not arrived 80 ns later, the least way to any node.
    let end = Time::from_us(30).0;
    let mut waiting = [0; NODES];
    for row in result.stats.rows.as_deref().unwrap_or_default() {
        if row.birth < end && row.time >= end + 80_000 {
            waiting[row.source as usize] += 1;
        }
    }
    let _ = load;
    waiting.iter().any(|&n| n > 7)
}

fn validation() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/merlin-uniform-64.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn all() {
    let file = validation();
    for row in file["rows"].as_array().unwrap() {
        println!("{}", row["case"]);
        for p in points(row, 0.9) {
            let m = mean(&p.arrived);
            let e = |x: f64| (x / p.outside - 1.0) * 100.0;
            let lo = p.arrived.iter().copied().fold(f64::MAX, f64::min);
            let hi = p.arrived.iter().copied().fold(0.0, f64::max);
            println!("  {} {:.2}{} {:.2} {:+.2} [{:+.1} {:+.1}] born {:+.2} late {} {:?}", p.load, p.outside, if p.behind {"*"} else {""}, m, e(m), e(lo), e(hi), (mean(&p.born)/m-1.0)*100.0, p.late, p.sat);
        }
    }
}
