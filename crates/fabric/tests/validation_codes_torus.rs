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
    load(&text)
}

/// The only run of a study.
fn load(text: &str) -> RunSpec {
    let study = load_study(text.as_bytes(), "codes.toml", Path::new(""), &LoadOptions::default());
    let mut study = study.unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(study.runs.len(), 1);
    study.runs.remove(0)
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
        // The reference counts links; a hop here is a router's sending, the ejection included.
        ("mean_hops", "", result.summary.hops.mean - 1.0),
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

/// What a row compares: (name, statistic, outside number, ours as the mean over the row's seeds).
fn compared(row: &Value) -> Vec<(&'static str, &'static str, f64, f64)> {
    let seeds = number(row, "seeds");
    let mut sums: Vec<(&'static str, &'static str, f64)> = Vec::new();
    for seed in 1..=seeds {
        let result = run(&study(row, seed), &mut |_| true).unwrap_or_else(|error| panic!("{}: {error}", row["name"]));
        let found = measured(&result);
        if sums.is_empty() {
            sums = found;
        } else {
            sums.iter_mut()
                .zip(found)
                .for_each(|(sum, (_, _, value))| sum.2 += value);
        }
    }
    let listed = |key: &str, name: &str| row[key].as_array().unwrap().iter().any(|listed| listed == name);
    let mut list = Vec::new();
    for (key, statistic, sum) in sums {
        if !listed("compare", key) || !(statistic.is_empty() || listed("statistics", statistic)) {
            continue;
        }
        let outside = match statistic {
            "" => &row["reference"][key],
            statistic => &row["reference"][key][statistic],
        };
        let outside = outside
            .as_f64()
            .unwrap_or_else(|| panic!("{key} {statistic} of {}", row["name"]));
        list.push((key, statistic, outside, sum / seeds as f64));
    }
    for key in row["compare"].as_array().unwrap() {
        assert!(
            list.iter().any(|entry| key == entry.0),
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
        for (key, statistic, outside, ours) in compared(row) {
            let error = ours / outside - 1.0;
            if error.abs() > tolerance || key == "mean_hops" && error.abs() > 1e-3 {
                wrong.push(format!(
                    "{}: {key} {statistic}: {ours:.5} against {outside:.5}",
                    row["name"]
                ));
            }
            if matches!(statistic, "mean" | "") {
                worst = worst.max(error.abs());
            }
            words.push(format!(
                "{key}.{statistic} {outside:.6}/{ours:.6} {:+.2} %",
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
fn random_dimensions_agree_in_means_and_medians() {
    check("rdr", 8);
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
                result.stats.measured.max, expected,
                "{bytes} B over {hops} hops, {preset}"
            );
        }
    }
}
