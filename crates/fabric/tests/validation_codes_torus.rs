//! Validation of the `codes-torus` presets against runs of CODES (`validation/codes-torus.json`).

use fabric::run::{RunResult, run, sender_rates};
use fabric::spec::{LoadOptions, RunSpec, load_study};
use serde_json::Value;
use std::path::Path;

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
router = {{ preset = "{preset}", traversal = "{traversal} ns", allow_deadlock = {random} }}
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
        routing = text(row, "routing"),
        chunk = number(row, "chunk_B"),
        matching = text(row, "matching"),
        messages = number(row, "messages"),
        message = number(row, "message_B"),
        active = number(row, "active"),
    );
    let text = text.replace("MODE", &mode.replace(", ", "\n"));
    let study = load_study(text.as_bytes(), "codes.toml", Path::new("."), &LoadOptions::default());
    let study =
        study.unwrap_or_else(|errors| panic!("{}", errors.iter().map(|e| format!("{e:?}")).collect::<String>()));
    study.runs[0].clone()
}

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

/// The numbers of a run under the names of the outside numbers: (name, statistic, value).
fn measured(result: &RunResult) -> Vec<(&'static str, &'static str, f64)> {
    const STATISTICS: [&str; 6] = ["mean", "p5", "p25", "p50", "p75", "p95"];
    let senders: Vec<_> = result.stats.senders.iter().filter(|sender| sender.trips > 0).collect();
    let sum: u64 = senders.iter().map(|sender| sender.sum).sum();
    let trips: u64 = senders.iter().map(|sender| sender.trips).sum();
    let rates = statistics(sender_rates(&result.stats).map(|(_, rate)| rate).collect());
    let one_way = statistics(senders.iter().map(|s| s.sum as f64 / s.trips as f64 / 1e6).collect());
    let mut found = vec![
        ("mean_hops", "", result.summary.hops.mean),
        ("one_way_mean_ns", "", sum as f64 / trips as f64 / 1e3),
    ];
    found.extend(STATISTICS.map(|name| ("throughput_MiBps", name, rates(name))));
    found.extend(STATISTICS.map(|name| ("one_way_per_receiver_us", name, one_way(name))));
    if senders.iter().any(|sender| sender.acks > 0) {
        let round_trips = statistics(senders.iter().map(|s| s.mean_round_trip() / 1e6).collect());
        found.extend(STATISTICS.map(|name| ("round_trip_us", name, round_trips(name))));
    }
    found
}

/// Runs a row and gives each number's relative error.
fn errors(row: &Value, seed: u64) -> Vec<(&'static str, &'static str, f64)> {
    let result = run(&study(row, seed), &mut |_| true).unwrap_or_else(|error| panic!("{}: {error}", row["name"]));
    let reference = &row["reference"];
    let compare = |(key, name, value): (&'static str, &'static str, f64)| {
        let outside = if name.is_empty() {
            &reference[key]
        } else {
            &reference[key][name]
        };
        let outside = outside
            .as_f64()
            .unwrap_or_else(|| panic!("{key} {name} of {}", row["name"]));
        (key, name, value / outside - 1.0)
    };
    let events = result.summary.events as f64 / result.summary.packet_hops as f64;
    println!(
        "{} hops {:.1} M, {:.2} events/hop, {:.2} s, {:.2} M hops/s lookahead",
        row["name"],
        result.summary.packet_hops as f64 / 1e6,
        events,
        result.summary.cpu_s,
        result.summary.packet_hops as f64 / 1e6 / result.summary.cpu_s
    );
    measured(&result).into_iter().map(compare).collect()
}

#[test]
fn table() {
    for row in rows() {
        let list = errors(&row, 1);
        let words: Vec<String> = list
            .iter()
            .map(|(k, n, e)| format!("{}{}:{:+.1}", &k[..3], n, e * 100.0))
            .collect();
        println!("   {}", words.join(" "));
    }
}
