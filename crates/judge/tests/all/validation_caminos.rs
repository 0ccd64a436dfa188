//! `vc-router`s with buffers per output channel give the curves of CAMINOS: 23 curves of single routers, meshes, tori and HyperX
//! (`validation/caminos.json`).
//!
//! Goals, set before anything was compared: accepted load where CAMINOS accepts most within 5 %, mean delay at the highest load up to half of that
//! within 5 %. Rows that miss one stand in [`OPEN`] with what was found. `FABRICSIM_CAMINOS=whole` prints every point of every curve.

use fabric::spec::*;
use judge::run::run;
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// What is looked at of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    /// Delay at half of the saturation: 5 %.
    Delay,
    /// Accepted load where most is accepted: 5 %.
    Accepted,
}

/// Rows that miss a goal: curve, goal, offered load, what fabricsim gives, and why as far as it is known.
const OPEN: &[(&str, Goal, f64, f64, &str)] = &[];

/// An outside point: offered load, accepted load, mean delay (cycles), hops.
type Point = (f64, f64, f64, f64);

fn rows() -> Vec<Value> {
    let path = format!("{}/../../validation/caminos.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file["rows"].as_array().unwrap().clone()
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

/// What stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

/// Topology and routing of a row.
fn network(row: &Value) -> String {
    let topology = text(row, "topology");
    let sides = between(topology, "sides:[", "]");
    let nodes = between(topology, "servers_per_router:", "}");
    let kind = match topology.split_once('{').unwrap().0 {
        "Hamming" if sides == "1" => return format!("[topology]\nkind = \"single-router\"\nnodes = {nodes}\n"),
        "Hamming" => "hyperx",
        "Mesh" => "mesh",
        "Torus" => "torus",
        other => panic!("{other}"),
    };
    let routing = text(row, "routing");
    let routing = match routing.split_once('{').map_or(routing, |(name, _)| name) {
        // Half-way round a ring CAMINOS takes either way.
        "DOR" if kind == "torus" => "kind = \"dor\"\ntie = \"split\"",
        "DOR" => "kind = \"dor\"",
        "Shortest" => "kind = \"caminos-shortest\"",
        "Valiant" => "kind = \"caminos-valiant\"",
        "OmniDimensionalDeroute" => "kind = \"caminos-omni\"\nderoutes = 2",
        "Sum" => "kind = \"caminos-ugal\"",
        other => panic!("{other}"),
    };
    format!("[topology]\nkind = \"{kind}\"\nshape = [{sides}]\nnodes_per_router = {nodes}\n[routing]\n{routing}\n")
}

/// A run of a row at a load: measured between two times (cycles).
fn spec(row: &Value, load: f64, (from, to): (u64, u64)) -> RunSpec {
    let pattern = match text(row, "pattern") {
        "Uniform" => "uniform",
        // All nodes of a router send to those of one other.
        pattern if pattern.contains("complement") => "bit-complement",
        pattern if pattern.contains("permute:[1,0]") => "transpose",
        other => panic!("{other}"),
    };
    let request = match text(row, "policies") {
        policies if policies.contains("OccupancyFunction") => "least-occupied",
        policies if policies.contains("LowestSinghWeight") => "least-weight",
        _ => "random",
    };
    let preset = match text(row, "allocator").starts_with("iSLIP") {
        true => "caminos-inputoutput",
        false => "caminos-basic",
    };
    let bubble = if row["bubble"].as_bool().unwrap() {
        "bubble = 2\n"
    } else {
        ""
    };
    let bytes = |key: &str| 8 * number(row, key);
    let text = format!(
        "{}[router]\npreset = \"{preset}\"\nvcs = {}\nbuffer = \"{} B\"\noutput_channel_buffer = \"{} B\"\nhead_room = \"{} B\"\nrequest = \"{request}\"\n{bubble}\
         [nic]\npacket = \"{packet} B\"\n[[job]]\nwork = {{ kind = \"{pattern}\", load = {load}, message = \"{packet} B\", process = \"bernoulli\", slot = \"1 ns\" }}\n\
         [run]\nwarmup = \"{from} ns\"\nend = \"{to} ns\"\ndrain_sources = \"off\"\n",
        network(row),
        number(row, "virtual_channels"),
        bytes("buffer_size"),
        bytes("output_buffer_size"),
        bytes("flit_size"),
        packet = bytes("packet"),
    );
    let study = load_study(text.as_bytes(), "caminos.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0)
}

/// Accepted load and mean delay (cycles) over a span (cycles).
fn found(row: &Value, load: f64, span: (u64, u64)) -> (f64, f64) {
    let result = run(&spec(row, load, span), &mut |_| true).unwrap();
    let verdict = &result.summary.verdict;
    assert!(
        verdict.checks.iter().all(|check| check.ok),
        "{} at {load}: {verdict:?}",
        row["name"]
    );
    (
        result.summary.accepted_load,
        result.summary.latency_ns.mean.unwrap_or(f64::NAN),
    )
}

#[test]
fn curves_are_those_of_caminos() {
    let whole = std::env::var("FABRICSIM_CAMINOS").is_ok_and(|value| value == "whole");
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for row in rows() {
        let points: Vec<Point> = serde_json::from_value(row["points"].clone()).unwrap();
        let name = text(&row, "name");
        let most = points
            .iter()
            .copied()
            .reduce(|a, b| if b.1 > a.1 { b } else { a })
            .unwrap();
        let half = points.iter().rfind(|point| point.0 <= most.1 / 2.0).copied().unwrap();
        let (from, measured) = (number(&row, "warmup"), number(&row, "measured"));
        if whole {
            for &(load, accepted, delay, _) in &points {
                let ours = found(&row, load, (from, from + measured));
                eprintln!(
                    "{name:46} {load}: accepted {:.4} / {accepted:.4}, delay {:.2} / {delay:.2}",
                    ours.0, ours.1
                );
            }
        }
        // Below saturation a longer span only says it more exactly.
        let at_half = found(&row, half.0, (from, from + measured.max(12_000))).1;
        let at_most = found(&row, most.0, (from, from + measured)).0;
        for (goal, load, ours, outside) in [
            (Goal::Delay, half.0, at_half, half.2),
            (Goal::Accepted, most.0, at_most, most.1),
        ] {
            let met = (ours / outside - 1.0).abs() <= 0.05;
            eprintln!(
                "{name:46} {goal:?} at {load}: {ours:.4}, outside {outside:.4}, {:+.2} %",
                (ours / outside - 1.0) * 100.0
            );
            match OPEN.iter().find(|open| (open.0, open.1, open.2) == (name, goal, load)) {
                Some(open) => seen.push(open.0),
                None if !met => wrong.push(format!("{name} {goal:?} at {load}: {ours:.4}, not {outside:.4}")),
                None => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), OPEN.len(), "an open row is no row");
}
