//! The preset `merlin` gives the latencies that SST Merlin gives: seven networks of 64 nodes, uniform traffic in phase, loads 0.1 to 0.9.
//!
//! The outside numbers with their source and tolerances are in `validation/merlin-uniform-64.json`. They are compared twice. With
//! destinations from our own random numbers single runs spread around the outside run, which is one sample itself, and means over
//! seeds are compared. With the very messages of the outside runs the latencies must be the same, and so must the load at which some
//! node falls behind.

use des::{Stop, Time};
use fabric::engines::EngineKind;
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::observe::{MessageRow, Span, Stats};
use fabric::spec::*;
use judge::run::run;
use rand_mt::Mt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

const SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];
pub(crate) const NODES: u32 = 64;
/// Packets that an interface's buffer takes: a node with more than that before it could not inject at its rate.
const QUEUE: u64 = 7;
const WARMUP: Time = Time::from_us(10);
const END: Time = Time::from_us(30);
/// From the first messages of a load to those of the next in the outside runs.
pub(crate) const ROUND: Time = Time::from_us(80);

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

/// Mean latency (ns) of the messages whose time `when` is in the span.
fn mean_latency(rows: &[MessageRow], span: Range<u64>, when: impl Fn(&MessageRow) -> u64) -> f64 {
    let within = rows.iter().filter(|row| span.contains(&when(row)));
    mean(
        &within
            .map(|row| (row.time - row.birth) as f64 / 1e3)
            .collect::<Vec<_>>(),
    )
}

/// When each node of the outside runs sends: the loads one after another.
pub(crate) fn outside_births(gaps: &[u64]) -> Vec<u64> {
    let starts = (0..).map(|round| round * ROUND.0);
    let births_of = |(start, &gap): (u64, &u64)| (start..start + END.0).step_by(gap as usize);
    starts.zip(gaps).flat_map(births_of).collect()
}

/// The messages of the outside runs.
pub(crate) fn outside_messages(gaps: &[u64]) -> Vec<ListedMessage> {
    let births = outside_births(gaps);
    let mut messages: Vec<ListedMessage> = (0..NODES)
        .flat_map(|node| {
            let mut twister = Mt::new(node);
            let draws = std::iter::repeat_with(move || {
                let part = f64::from(twister.next_u32()) / f64::from(u32::MAX);
                ((part * f64::from(NODES)).ceil() as u32).saturating_sub(1)
            });
            let destinations = draws.filter(move |&to| to != node);
            let message = move |(&birth, to)| ListedMessage::from((birth, node, to, 2_048));
            births.iter().zip(destinations).map(message).collect::<Vec<_>>()
        })
        .collect();
    messages.sort_by_key(|message| (message.time, message.source));
    messages
}

/// Runs a case with these messages: per round the mean latency (ns) of what arrived from 10 to 30 us of it, and whether some node had
/// more messages before it then than its interface's buffer takes.
fn replay(case: &str, rounds: u64, messages: &[ListedMessage]) -> Vec<(f64, bool)> {
    replay_on(spec(case, 0.1, 1), rounds, messages)
}

/// The same on the network of a specification.
pub(crate) fn replay_on(mut spec: RunSpec, rounds: u64, messages: &[ListedMessage]) -> Vec<(f64, bool)> {
    let last = Time(rounds * ROUND.0);
    spec.control.end = Some(last);
    spec.jobs[0].work = Work::Messages(messages.to_vec());
    let world = AnyFabric::new(&spec, Network::build(&spec).unwrap());
    let span = Span {
        from: 0,
        to: last.0,
        cut: last.0,
    };
    let stats = Stats::new(span, 0, true, Default::default(), (1, world.net().n_nodes()));
    let mut engine = EngineKind::SEQUENTIAL.begin(&world, stats);
    let mut round = |start: u64| {
        let end = start + END.0;
        let stop = engine.run(Time(end), &mut |_, _| true);
        assert!(matches!(stop, Stop::Until | Stop::Idle), "{stop:?}");
        // Every node sends at the same times.
        let mine = messages.iter().filter(|message| message.source == 0);
        let born = mine.filter(|message| message.time.0 < end).count() as u64;
        let view = engine.view();
        let mut nics = view.states.iter().flat_map(|state| state.nics.as_slice());
        let behind = nics.any(|nic| born - nic.packets > QUEUE);
        let rows = view.observers[0].rows.as_deref().unwrap_or_default();
        let latency = mean_latency(rows, start + WARMUP.0..end, |row| row.time);
        (latency, behind)
    };
    (0..rounds).map(|n| round(n * ROUND.0)).collect()
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
            let stats = result.unwrap_or_else(|error| panic!("{case} at {load}: {error}")).stats;
            let rows = stats.rows.as_deref().unwrap_or_default();
            arrived.push(mean_latency(rows, WARMUP.0..END.0, |row| row.time));
            born.push(mean_latency(rows, WARMUP.0..END.0, |row| row.birth));
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
fn the_twister_gives_the_published_numbers() {
    let mut draws = Mt::new(5489);
    assert_eq!(
        std::iter::repeat_with(|| draws.next_u32()).nth(9_999),
        Some(4_123_659_995)
    );
}

#[test]
fn with_the_same_messages_latencies_and_nodes_that_fall_behind_are_the_same() {
    let file = validation();
    let gaps: Vec<u64> = serde_json::from_value(file["parameters"]["gaps_ps"].clone()).unwrap();
    let messages = outside_messages(&gaps);
    let tolerance = &file["tolerance"]["same_messages"];
    let number = |key: &str| tolerance[key].as_f64().unwrap();
    let exact: Vec<String> = serde_json::from_value(tolerance["exact_cases"].clone()).unwrap();
    let mut replays = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut points = 0;
    each_point(|case, load, outside, outside_behind| {
        let rounds = replays
            .entry(case.to_owned())
            .or_insert_with(|| replay(case, gaps.len() as u64, &messages));
        let (latency, late) = rounds[(load * 10.0).round() as usize - 1];
        let percent = (latency / outside - 1.0) * 100.0;
        println!(
            "{case} {load}: outside {outside:.2} ns {outside_behind}, here {latency:.2} ns {late}, {percent:+.2} %"
        );
        points += 1;
        if late != outside_behind {
            wrong.push(format!(
                "{case} at {load}: a node behind there {outside_behind}, here {late}"
            ));
        }
        let near = match load {
            _ if exact.iter().any(|name| name == case) => (latency - outside).abs() <= number("exact_ns"),
            0.0..0.75 => percent.abs() <= number("percent_to_0.7"),
            0.0..0.85 => percent.abs() <= number("percent_at_0.8"),
            _ => true,
        };
        if !near {
            wrong.push(format!("{case} at {load}: {percent:+.2} %"));
        }
    });
    assert_eq!(points, 7 * 9);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
