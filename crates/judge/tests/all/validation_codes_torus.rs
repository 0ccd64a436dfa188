//! Validation of the `codes-torus` presets against runs of CODES (`validation/codes-torus.json`).
//!
//! With random dimensions a run of CODES is one sample of its random routes. Our means over seeds are compared with it in means and
//! medians, and in every quantile with the means of a replay that gives the digits of those runs and takes other samples as well.

use crate::codes_replay::{Case, Outcome, replay};
use des::rng::SplitMix;
use fabric::spec::RunSpec;
use judge::results::sender_rates;
use judge::run::{RunResult, run};
use serde_json::Value;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// The rows of the outside numbers.
fn rows() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/codes-torus.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    match document["rows"].take() {
        Value::Array(rows) => rows,
        other => panic!("rows: {other}"),
    }
}

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Messages count as delivered by the bytes of all messages of their source.
fn cumulative(row: &Value) -> bool {
    text(row, "delivery") == "cumulative"
}

/// The study of a row, as a user would write it.
fn study(row: &Value, seed: u64) -> RunSpec {
    let mode = match text(row, "mode") {
        "stream" => "\"stream\"".to_owned(),
        "ping-pong" => format!("\"ping-pong\", ack = \"{} B\"", number(row, "ack_B")),
        _ => format!(
            "\"batch\", batch = {}, ack = \"{} B\"",
            number(row, "batch"),
            number(row, "ack_B")
        ),
    };
    let text = format!(
        r#"
topology = {{ kind = "torus", shape = {shape} }}
link = {{ bandwidth = "2 GiB/s" }}
router = {{ preset = "{preset}", traversal = "{traversal} ns", allow_deadlock = {random}, completion = "{completion}" }}
routing = {{ kind = "{routing}" }}
nic = {{ chunk = "{chunk} B" }}
run = {{ seed = {seed}, end = "done" }}
[[job]]
[job.work]
kind = "pairs"
matching = "{matching}"
mode = MODE
messages = {messages}
message = "{message} B"
active = {active}
start_spread = "1 ns"
seed = 1
"#,
        shape = row["shape"],
        preset = text(row, "preset"),
        traversal = row["traversal_ns"],
        random = text(row, "routing") == "rdr",
        completion = if cumulative(row) { "cumulative" } else { "whole" },
        routing = text(row, "routing"),
        chunk = number(row, "chunk_B"),
        matching = text(row, "matching"),
        messages = number(row, "messages"),
        message = number(row, "message_B"),
        active = number(row, "active"),
    );
    let text = text.replace("MODE", &mode.replace(", ", "\n"));
    load(&text)
}

/// The only run of a study.
fn load(text: &str) -> RunSpec {
    let study = load_study(text.as_bytes(), "codes.toml", Path::new(""), &LoadOptions::default());
    let mut study = study.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(study.runs.len(), 1);
    study.runs.remove(0)
}

const STATISTICS: [&str; 6] = ["mean", "p5", "p25", "p50", "p75", "p95"];

/// Mean and quantiles as the outside numbers have them.
fn statistics(mut values: Vec<f64>) -> impl Fn(&str) -> f64 {
    values.sort_by(f64::total_cmp);
    move |name| match name.strip_prefix('p') {
        Some(percent) => {
            let q = percent.parse::<f64>().unwrap() / 100.0;
            values[((q * values.len() as f64) as usize).min(values.len() - 1)]
        }
        None => values.iter().sum::<f64>() / values.len() as f64,
    }
}

/// A number of a row: its name, its statistic ("" if it is one number), its value.
type Figure = (&'static str, &'static str, f64);

/// Figures under the names of the outside numbers, from those of each sender or receiver.
fn figures(hops: f64, one_way_mean: f64, values: [(&'static str, Vec<f64>); 3]) -> Vec<Figure> {
    let mut found = vec![("mean_hops", "", hops), ("one_way_mean_ns", "", one_way_mean)];
    for (name, values) in values {
        if !values.is_empty() {
            let value = statistics(values);
            found.extend(STATISTICS.map(|statistic| (name, statistic, value(statistic))));
        }
    }
    found
}

/// The figures of a run.
fn measured(result: &RunResult) -> Vec<Figure> {
    let senders: Vec<_> = result.stats.senders.iter().filter(|sender| sender.trips > 0).collect();
    let sum: u64 = senders.iter().map(|sender| sender.sum).sum();
    let trips: u64 = senders.iter().map(|sender| sender.trips).sum();
    let acknowledged = senders.iter().filter(|sender| sender.acks > 0);
    let values = [
        (
            "throughput_MiBps",
            sender_rates(&result.stats).map(|(_, rate)| rate).collect(),
        ),
        (
            "one_way_per_receiver_us",
            senders.iter().map(|s| s.sum as f64 / s.trips as f64 / 1e6).collect(),
        ),
        (
            "round_trip_us",
            acknowledged.map(|s| s.mean_round_trip() / 1e6).collect(),
        ),
    ];
    // The reference counts links; a hop here is a router's sending, the ejection included.
    figures(result.summary.hops.mean - 1.0, sum as f64 / trips as f64 / 1e3, values)
}

/// The figures of a replay.
fn replayed(outcome: Outcome) -> Vec<Figure> {
    let values = [
        ("throughput_MiBps", outcome.rates),
        ("one_way_per_receiver_us", outcome.one_way),
        ("round_trip_us", outcome.round_trips),
    ];
    figures(outcome.hops, outcome.one_way_mean, values)
}

/// Means over samples of the same figures.
fn means(samples: &[Vec<Figure>]) -> Vec<Figure> {
    let mut means = samples[0].clone();
    for (i, mean) in means.iter_mut().enumerate() {
        mean.2 = samples.iter().map(|sample| sample[i].2).sum::<f64>() / samples.len() as f64;
    }
    means
}

/// The outside number of a figure; `numbers` is a part of a row.
fn outside(numbers: &Value, (name, statistic, _): Figure) -> f64 {
    let number = match statistic {
        "" => &numbers[name],
        statistic => &numbers[name][statistic],
    };
    number
        .as_f64()
        .unwrap_or_else(|| panic!("{name} {statistic} of {numbers}"))
}

/// What a row compares: against what, the figure, the outside number. Up to four seeds of what takes
/// long, or with `FABRICSIM_CODES=whole` as many as the row says.
fn compared(row: &Value) -> Vec<(&'static str, Figure, f64)> {
    let whole = std::env::var("FABRICSIM_CODES").is_ok_and(|value| value == "whole");
    let seeds = match whole || number(row, "active") < 10 {
        true => number(row, "seeds"),
        false => number(row, "seeds").min(4),
    };
    let runs = (1..=seeds).map(|seed| {
        let result = run(&study(row, seed), &mut |_| true);
        measured(&result.unwrap_or_else(|error| panic!("{}: {error}", row["name"])))
    });
    let found = means(&runs.collect::<Vec<_>>());
    let listed = |key: &str, name: &str| row[key].as_array().unwrap().iter().any(|listed| listed == name);
    let mut list = Vec::new();
    for figure @ (key, statistic, _) in found {
        if listed("compare", key) && (statistic.is_empty() || listed("statistics", statistic)) {
            list.push(("reference", figure, outside(&row["reference"], figure)));
        }
        if key != "mean_hops" && !row["replay"].is_null() {
            list.push(("replay", figure, outside(&row["replay"], figure)));
        }
    }
    for key in row["compare"].as_array().unwrap() {
        assert!(
            list.iter().any(|entry| key == entry.1.0),
            "{key} of {} is not measured",
            row["name"]
        );
    }
    list
}

/// Compares all rows of a routing and returns the largest error of a mean.
fn check(routing: &str, n_rows: usize) -> f64 {
    let mut worst: f64 = 0.0;
    let rows: Vec<Value> = rows().into_iter().filter(|row| row["routing"] == routing).collect();
    assert_eq!(rows.len(), n_rows);
    let mut wrong = Vec::new();
    for row in &rows {
        let tolerance = row["tolerance"].as_f64().unwrap();
        let mut words = Vec::new();
        for (against, (key, statistic, ours), outside) in compared(row) {
            let error = ours / outside - 1.0;
            if error.abs() > tolerance || key == "mean_hops" && error.abs() > 1e-3 {
                wrong.push(format!(
                    "{}: {key} {statistic}: {ours:.5}, {against} {outside:.5}",
                    row["name"]
                ));
            }
            if matches!(statistic, "mean" | "") {
                worst = worst.max(error.abs());
            }
            words.push(format!(
                "{against} {key}.{statistic} {outside:.6}/{ours:.6} {:+.2} %",
                100.0 * error
            ));
        }
        println!("{}: {}", text(row, "name"), words.join("; "));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    worst
}

#[test]
fn dimension_order_agrees_in_every_mean_and_quantile() {
    let worst = check("dor", 16);
    assert!(worst < 0.01, "a mean is off by {:.2} %", 100.0 * worst);
}

#[test]
fn random_dimensions_agree_with_the_outside_sample_in_means_and_medians_and_with_many_in_every_quantile() {
    check("rdr", 8);
}

/// The case of a row for the replay.
fn case(row: &Value) -> Case {
    let side = row["shape"][0].as_u64().unwrap() as u32;
    let mut order: Vec<u32> = (0..side.pow(3)).collect();
    SplitMix(1).shuffle(&mut order);
    let mutual = text(row, "matching") == "mutual";
    let active = &order[..number(row, "active") as usize];
    let (first, second) = active.split_at(active.len() / 2);
    let pipelined = text(row, "preset") == "codes-torus-pipelined";
    Case {
        side,
        chunk: number(row, "chunk_B"),
        traversal: row["traversal_ns"].as_f64().unwrap(),
        pipelined,
        idle_delay: if pipelined { 0.0 } else { 10.0 },
        random: text(row, "routing") == "rdr",
        cumulative: cumulative(row),
        sizes: [number(row, "message_B"), number(row, "ack_B")],
        messages: number(row, "messages"),
        batch: number(row, "batch"),
        pairs: match mutual {
            true => active.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            false => first.iter().copied().zip(second.iter().copied()).collect(),
        },
        mutual,
    }
}

#[test]
fn the_replay_gives_the_digits_of_the_outside_runs() {
    let mut n_rows = 0;
    for row in rows() {
        let random = text(&row, "routing") == "rdr";
        let small = number(&row, "active") * number(&row, "messages") <= 1_000;
        if text(&row, "mode") == "stream" || !(random || small) {
            continue;
        }
        n_rows += 1;
        // The outside numbers have seven digits, or four places.
        let near = |ours: f64, given: f64| (ours - given).abs() <= (5.1e-5_f64).max(6e-7 * given);
        let outcome = replay(&case(&row), 0);
        if random {
            assert_eq!(outcome.events, number(&row["reference"], "events"), "{}", row["name"]);
            let slowest = row["reference"]["slowest_packet_us"].as_f64().unwrap();
            assert!(near(outcome.slowest_packet, slowest), "{}", row["name"]);
        }
        for figure in replayed(outcome) {
            let (name, statistic, ours) = figure;
            let given = outside(&row["reference"], figure);
            assert!(
                near(ours, given),
                "{}: {name} {statistic}: {ours} against {given}",
                row["name"]
            );
        }
    }
    assert_eq!(n_rows, 16);
}

/// Takes minutes: `cargo test --release -p fabricsim-judge --test all validation_codes_torus:: -- --ignored`.
#[test]
#[ignore = "minutes: recomputes numbers of validation/codes-torus.json"]
fn the_stored_means_are_those_of_the_replay() {
    let mut wrong = Vec::new();
    for row in rows().into_iter().filter(|row| !row["replay"].is_null()) {
        let case = case(&row);
        // State 0 is the outside run.
        let states = (1..=number(&row["replay"], "states")).map(|state| replayed(replay(&case, state)));
        let found = means(&states.collect::<Vec<_>>());
        for figure in &found {
            let stored = match figure.1 {
                "" => &row["replay"][figure.0],
                statistic => &row["replay"][figure.0][statistic],
            };
            if !stored
                .as_f64()
                .is_some_and(|stored| (figure.2 / stored - 1.0).abs() < 1e-4)
            {
                wrong.push(format!("{}: {figure:?} is {stored}", row["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cumulative_completion_shows_only_where_chunks_overtake_each_other() {
    let figures = |routing: &str, completion: &str, work: &str| {
        let text = format!(
            r#"
topology = {{ kind = "torus", shape = [8, 8] }}
link = {{ bandwidth = "2 GiB/s" }}
router = {{ preset = "codes-torus-pipelined", allow_deadlock = true, completion = "{completion}" }}
routing = {{ kind = "{routing}" }}
job = [{{ work = {{ kind = "pairs", {work}, mode = "batch", batch = 5, message = "4000 B", ack = "8 B" }} }}]
"#
        );
        measured(&run(&load(&text), &mut |_| true).unwrap())
    };
    // Requests and acknowledgements of a node share one flow here.
    let mutual = "matching = \"mutual\", active = 20, seed = 3, messages = 20";
    assert_eq!(figures("dor", "whole", mutual), figures("dor", "cumulative", mutual));
    // One batch of one pair: the last byte is the same, and the messages before the last come sooner.
    let pair = "pairs = [[0, 27]], messages = 5";
    let [whole, cumulative] = ["whole", "cumulative"].map(|completion| figures("rdr", completion, pair));
    let differ: Vec<&str> = whole
        .iter()
        .zip(&cumulative)
        .filter(|(a, b)| a != b)
        .map(|(a, _)| a.0)
        .collect();
    assert!(differ.iter().all(|name| name.starts_with("one_way")), "{differ:?}");
    assert!(cumulative[1].2 < whole[1].2, "{cumulative:?} against {whole:?}");
}

#[test]
fn an_idle_network_has_the_closed_form_of_the_source() {
    // Chunks of 32 B at 2 GiB/s, in ps.
    const C: u64 = 14_902;
    const L: u64 = 750;
    const S: u64 = 10_000;
    const R: u64 = 50_000;
    let cases = [(1, 1), (33, 2), (512, 3), (513, 1), (2_048, 5), (8_192, 7)];
    for (bytes, hops) in cases {
        for (preset, pipelined) in [("codes-torus", false), ("codes-torus-pipelined", true)] {
            let text = format!(
                r#"
topology = {{ kind = "torus", shape = [16, 2] }}
link = {{ bandwidth = "2 GiB/s" }}
router = {{ preset = "{preset}" }}
routing = {{ kind = "dor" }}
job = [{{ work = {{ kind = "pairs", pairs = [[3, {}]], message = "{bytes} B", start_spread = "0 ns" }} }}]
"#,
                (3 + hops) % 16
            );
            let spec = load(&text);
            let result = run(&spec, &mut |_| true).unwrap();
            let chunks = u64::div_ceil(bytes, 32);
            // The first packet of an idle queue is charged 10 ns per byte, where the router is not pipelined.
            let (node, busy, after) = match pipelined {
                true => (0, C, R),
                false => (10_000 * bytes.min(512), C + R, 0),
            };
            let stream = chunks * (busy + L) + (chunks - 1) * L;
            let expected = S + node + stream + 5 * L + (hops - 1) * (busy + 2 * L) + hops * after;
            assert_eq!(
                result.stats.tracks[0].measured.max, expected,
                "{bytes} B over {hops} hops, {preset}"
            );
        }
    }
}
