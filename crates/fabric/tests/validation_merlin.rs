//! The preset `merlin` gives the latencies that SST Merlin gives: seven networks of 64 nodes, uniform traffic in phase, loads 0.1 to 0.9.
//!
//! The outside numbers with their source and tolerance are in `validation/merlin-uniform-64.json`. Destinations are drawn from our own
//! random numbers, so that single runs spread around the outside run, which is one sample itself; means over seeds are compared.

use des::engine::Engine as _;
use des::{Time, WindowEngine};
use fabric::network::Network;
use fabric::observe::{MessageRow, Stats};
use fabric::router::InputQueued;
use fabric::run::{RunResult, run};
use fabric::spec::*;
use fabric::world::Fabric;
use serde_json::Value;
use std::path::Path;

const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];
/// Packets that an interface's buffer takes: a node with more than that before it could not inject at its rate.
const QUEUE: u64 = 7;
const END: Time = Time::from_us(30);

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
    let study = load_study(
        study(case).as_bytes(),
        "merlin.toml",
        Path::new("."),
        &LoadOptions::default(),
    );
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
    let span = Time::from_us(10).0..END.0;
    let rows = result.stats.rows.as_deref().unwrap_or_default();
    let mean = |when: &dyn Fn(&MessageRow) -> u64| {
        let (mut sum, mut n) = (0.0, 0.0);
        for row in rows.iter().filter(|row| span.contains(&when(row))) {
            sum += (row.time - row.birth) as f64 / 1e3;
            n += 1.0;
        }
        sum / n
    };
    (mean(&|row| row.time), mean(&|row| row.birth))
}

/// `true` if at the end some node had more messages before it than its interface's buffer takes.
fn behind(case: &str, load: f64, seed: u64) -> bool {
    let world = Fabric::<InputQueued>::new(Network::build(&spec(case, load, seed)).unwrap());
    let mut engine = WindowEngine::new(&world, Stats::new(0, false, 0, END.0, END.0), 8);
    engine.run(END, &mut |_, _| true);
    let gap = 2_048.0 * 8e12 / (load * 200e9);
    let born = (END.0 as f64 / gap).ceil() as u64;
    let view = engine.view();
    let mut nics = view.states.iter().flat_map(|state| state.nics.as_slice());
    nics.any(|nic| born - nic.packets > QUEUE)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn validation() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/merlin-uniform-64.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs `check(case, load, outside latency, outside node behind)` for every outside number.
fn each_point(mut check: impl FnMut(&str, f64, f64, bool)) {
    for row in validation()["rows"].as_array().unwrap() {
        for point in row["points"].as_array().unwrap() {
            check(
                row["case"].as_str().unwrap(),
                point["load"].as_f64().unwrap(),
                point["latency_ns"].as_f64().unwrap(),
                point["behind"].as_bool().unwrap(),
            );
        }
    }
}

#[test]
fn mean_latencies_are_those_of_the_outside_runs() {
    let tolerance = &validation()["tolerance"];
    let percent = tolerance["mean_over_seeds_percent"].as_f64().unwrap();
    let loads_to = tolerance["loads_to"].as_f64().unwrap();
    let mut wrong = Vec::new();
    let mut points = 0;
    each_point(|case, load, outside, _| {
        let (mut arrived, mut born) = (Vec::new(), Vec::new());
        for seed in SEEDS {
            let result = run(&spec(case, load, seed), &mut |_| true);
            let (a, b) = means(&result.unwrap_or_else(|error| panic!("{case} at {load}: {error}")));
            arrived.push(a);
            born.push(b);
        }
        let error = |ours: f64| (ours / outside - 1.0) * 100.0;
        let ours = error(mean(&arrived));
        let low = arrived.iter().copied().map(error).fold(f64::MAX, f64::min);
        let high = arrived.iter().copied().map(error).fold(f64::MIN, f64::max);
        let window = (mean(&born) / mean(&arrived) - 1.0) * 100.0;
        println!(
            "{case} {load}: outside {outside:.2} ns, here {:.2} ns, {ours:+.2} % [{low:+.1} .. {high:+.1}], born in the span {window:+.2} %",
            mean(&arrived)
        );
        if load < loads_to + 1e-9 {
            points += 1;
            if ours.abs() > percent {
                wrong.push(format!("{case} at {load}: {ours:+.2} %"));
            }
            // Our summaries count what is born in the span, not what arrives: that must not matter.
            if window.abs() > 1.0 {
                wrong.push(format!("{case} at {load}: born in the span {window:+.2} %"));
            }
        }
    });
    assert_eq!(points, 7 * 6);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nodes_fall_behind_at_the_same_load_step_or_within_the_spread_of_seeds() {
    let mut wrong = Vec::new();
    each_point(|case, load, _, outside| {
        if load < 0.65 {
            return;
        }
        let late = SEEDS.iter().filter(|&&seed| behind(case, load, seed)).count();
        println!("{case} {load}: outside {outside}, here {late} of {} seeds", SEEDS.len());
        // One outside run is one sample. With other destinations the same simulator falls behind at 0.8 in 6 to 7 of 20 runs of
        // the single router and the HyperX, and at 0.9 in 5 of 20 of torus and fat-tree, where one of the two outside runs did. Our
        // mesh has one channel where Merlin has two that it switches between: it is 9 % faster at 0.9 and falls behind later.
        let possible = match (case, load) {
            (_, l) if l < 0.75 => late == 0,
            (_, l) if l < 0.85 => late < SEEDS.len(),
            ("torus" | "fat-tree", _) => late < SEEDS.len(),
            ("mesh", _) => late > 0,
            _ => late > SEEDS.len() / 2,
        };
        if !possible {
            wrong.push(format!("{case} at {load}: {late} seeds"));
        }
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}
