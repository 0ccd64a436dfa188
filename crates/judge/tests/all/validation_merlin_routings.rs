//! Every routing of SST Merlin gives the latencies that SST Merlin gives: 31 curves of networks of 64 nodes, uniform traffic and a shift by half
//! of the nodes in phase, loads 0.1 to 0.9, with the very messages of the outside runs.
//!
//! `FABRICSIM_MERLIN=whole` runs all loads of a curve one after another, as the outside runs did; without it each curve is looked at where it is
//! flat, at its last load before some node falls behind, and at the first load with one.

use crate::validation_merlin::{NODES, ROUND, outside_births, outside_messages, replay_on};
use fabric::spec::*;
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Load, latency (ns) and whether some node could not inject, of an outside run.
type Point = (f64, f64, bool);

struct Curve {
    topology: String,
    routing: String,
    pattern: String,
    points: Vec<Point>,
}

fn validation(name: &str) -> Value {
    let path = format!("{}/../../validation/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn curves() -> Vec<Curve> {
    let curve = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        Curve {
            topology: text("topology"),
            routing: text("routing"),
            pattern: text("pattern"),
            points: serde_json::from_value(row["points"].clone()).unwrap(),
        }
    };
    let file = validation("merlin-routings-64");
    file["rows"].as_array().unwrap().iter().map(curve).collect()
}

fn spec(curve: &Curve) -> RunSpec {
    let topology = match curve.topology.as_str() {
        "single" => "kind = \"single-router\"\nnodes = 64",
        "fat-tree" => "kind = \"fat-tree\"\ndown = [4, 4, 4]\nup = [4, 4]",
        "dragonfly" => {
            "kind = \"dragonfly\"\ngroups = 8\nrouters_per_group = [4]\nnodes_per_router = 2\nlinks_per_pair = 1"
        }
        "hyperx" => "kind = \"hyperx\"\nshape = [4, 4]\nnodes_per_router = 4",
        lattice => &format!("kind = \"{lattice}\"\nshape = [4, 4, 4]"),
    };
    let text = format!(
        "[topology]\n{topology}\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"20 ns\"\n[router]\npreset = \"merlin\"\n[routing]\nkind = \"{}\"\n\
         [[job]]\nwork = {{ kind = \"uniform\" }}\n[observe]\nmessages = \"full\"\n[run]\nend = \"30 us\"\n",
        curve.routing
    );
    let study = load_study(text.as_bytes(), "merlin.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0)
}

/// The messages of the outside runs of a pattern, in some of their rounds.
fn messages(pattern: &str, gaps: &[u64], wanted: impl Fn(usize) -> bool) -> Vec<ListedMessage> {
    let all = match pattern {
        "uniform" => outside_messages(gaps),
        _ => {
            let births = outside_births(gaps).into_iter();
            let shift = |node: u32| (node + NODES / 2) % NODES;
            let of = |birth| (0..NODES).map(move |node| ListedMessage::from((birth, node, shift(node), 2_048)));
            births.flat_map(of).collect()
        }
    };
    let round = |message: &ListedMessage| (message.time.0 / ROUND.0) as usize;
    all.into_iter().filter(|message| wanted(round(message))).collect()
}

#[test]
fn every_routing_is_as_fast_as_outside_and_fills_up_at_the_same_load() {
    let whole = std::env::var("FABRICSIM_MERLIN").is_ok_and(|value| value == "whole");
    let gaps = validation("merlin-uniform-64")["parameters"]["gaps_ps"].clone();
    let gaps: Vec<u64> = serde_json::from_value(gaps).unwrap();
    let percent = validation("merlin-routings-64")["tolerance"]["percent"]
        .as_f64()
        .unwrap();
    let (mut wrong, mut points) = (Vec::new(), 0);
    for curve in curves() {
        let full = curve.points.iter().position(|point| point.2);
        let last = full.unwrap_or(curve.points.len() - 1);
        let wanted = |round: usize| whole || [2, last.saturating_sub(1), last].contains(&round);
        let rounds = if whole { gaps.len() } else { last + 1 };
        let found = replay_on(spec(&curve), rounds as u64, &messages(&curve.pattern, &gaps, wanted));
        let looked_at = (0..rounds).filter(|&round| wanted(round));
        for (round, (ours, late)) in looked_at.map(|round| (round, found[round])) {
            let (load, outside, behind) = curve.points[round];
            let off = (ours / outside - 1.0) * 100.0;
            let name = format!("{} {} {} {load}", curve.topology, curve.routing, curve.pattern);
            println!("{name}: outside {outside:.2} ns {behind}, here {ours:.2} ns {late}, {off:+.2} %");
            points += 1;
            if late != behind {
                wrong.push(format!("{name}: a node behind there {behind}, here {late}"));
            }
            if !behind && off.abs() > percent {
                wrong.push(format!("{name}: {off:+.2} %"));
            }
        }
    }
    assert!(points > 80, "{points}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
