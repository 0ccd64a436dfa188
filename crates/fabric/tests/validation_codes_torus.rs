//! Validation of the `codes-torus` presets against runs of CODES (`validation/codes-torus.json`).

use des::Time;
use fabric::run::{RunResult, run, sender_rates};
use fabric::spec::*;
use serde_json::Value;

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
        "batch" => format!("batch\", batch = {}", number(row, "batch")),
        mode => format!("{mode}\""),
    };
    let text = format!(
        r#"
name = "codes"
[topology]
kind = "torus"
shape = {shape}
[link]
bandwidth = "2 GiB/s"
[router]
preset = "{preset}"
traversal = "{traversal} ns"
allow_deadlock = {random}
[routing]
kind = "{routing}"
[nic]
chunk = "{chunk} B"
[[job]]
work = {{ kind = "pairs", matching = "{matching}", mode = "{mode}, messages = {messages}, message = "{message} B", ack = "{ack} B", active = {active}, start_spread = "1 ns", seed = 1 }}
[run]
seed = {seed}
end = "done"
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
        ack = number(row, "ack_B"),
        active = number(row, "active"),
    );
    let study = fabric::spec::load_text(&text);
    todo!("{study:?}")
}
