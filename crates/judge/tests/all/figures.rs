//! Every number that a run gives is known by name: with unit, word and meaning, on the page of results.

use judge::results::{Figure, Figures, Measure, Summary, tables::TABLES};
use judge::run::{RunResult, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn go(study: &str) -> RunResult {
    let read = load_study(
        study.as_bytes(),
        "figures.toml",
        Path::new("."),
        &LoadOptions::default(),
    );
    let study = read.unwrap_or_else(|findings| panic!("{}", vocabulary::render(&findings)));
    run(&study.runs[0], &mut |_| true).expect("the run ends")
}

/// Runs that together have all kinds of work, and every part of a summary but rails.
fn runs() -> Vec<RunResult> {
    let torus = "name = \"figures\"\n[topology]\nkind = \"torus\"\nshape = [4, 4]\n";
    let observed = "[observe]\nlinks = true\nlinks_every = \"500 ns\"\ntimeline = true\nmessages = \"full\"\nranks = true\noperations = true\n";
    [
        "[cost]\n[[job]]\nwork = { kind = \"uniform\", load = 0.3 }\n[run]\nend = \"20 us\"\n",
        "[router]\nmodel = \"sculpin\"\n[[job]]\nwork = { kind = \"random-permutation\", load = 1.0 }\n[run]\nend = \"20 us\"\ndrain = \"0 s\"\n",
        "[[job]]\nwork = { kind = \"pairs\" }\n",
        "[[job]]\nwork = { kind = \"halo3d-26\", grid = [8, 8, 8] }\nstart = { spread = \"1 us\" }\n",
        "[[job]]\nwork = { kind = \"halo3d-26\", grid = [64, 64, 64] }\n[run]\nend = \"3 us\"\n",
        "[router]\nmodel = \"sculpin\"\n[[job]]\nwork = { kind = \"allreduce-loop\", messages = [\"1 KiB\"], iterations = 40 }\n",
        "[[job]]\nwork = { kind = \"ring\", iterations = 2 }\n[run]\nend = \"done\"\nfast_forward = \"statistical\"\n",
        "[[job]]\nwork = { kind = \"memory\", pattern = \"random\", accesses = 20 }\n",
        "[[job]]\nwork = { kind = \"uniform\", load = 0.3 }\n[run]\nend = \"20 us\"\nengine = \"optimistic\"\nworkers = 2\n",
        "[fail]\ncables = [\"(0,0) x+\"]\nerror_rate = 1e-5\n[[job]]\nwork = { kind = \"uniform\", load = 0.3 }\n[run]\nend = \"20 us\"\n",
        "[[outage]]\ncables = [\"(0,0) x+\"]\nat = \"5 us\"\n[nic]\nretransmit = 1\n[[job]]\nwork = { kind = \"uniform\", load = 0.3 }\n[run]\nend = \"20 us\"\n",
    ]
    .map(|rest| go(&format!("{torus}{rest}{observed}")))
    .into()
}

/// The keys below a value, those of lists by their first element.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    if !path.is_empty() && !path.ends_with(".0") {
        found.insert(path.to_owned());
    }
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| keys(inner, &below(key), found)),
        Value::Array(list) => list
            .iter()
            .filter(|inner| inner.is_object())
            .for_each(|inner| keys(inner, &below("0"), found)),
        _ => {}
    }
}

/// The keys of figures.
fn known(figures: &[Figure], path: &str, found: &mut BTreeSet<String>) {
    for figure in figures {
        let key = if path.is_empty() {
            figure.name.to_owned()
        } else {
            format!("{path}.{}", figure.name)
        };
        let inner = if figure.measure == Measure::List {
            format!("{key}.0")
        } else {
            key.clone()
        };
        found.insert(key);
        known(&figure.figures, &inner, found);
    }
}

#[test]
fn every_number_of_a_run_is_a_figure_and_every_figure_is_had() {
    let mut figures = BTreeSet::new();
    known(&Summary::figures(), "", &mut figures);
    let mut had = BTreeSet::new();
    for run in runs() {
        keys(&json!(run.summary), "", &mut had);
    }
    let unknown: Vec<&String> = had.difference(&figures).collect();
    assert!(unknown.is_empty(), "numbers that no figure tells of: {unknown:?}");
    // Hosts here have one rail; of messages that have all arrived no bounds are needed.
    let elsewhere =
        |key: &&String| *key == "rail_bytes" || key.starts_with("latency_of_arrived_ns.") && key.ends_with("_at_least");
    let never: Vec<&String> = figures.difference(&had).filter(|key| !elsewhere(key)).collect();
    assert!(never.is_empty(), "figures that no run of these has: {never:?}");
}

#[test]
fn every_figure_has_a_word_and_a_meaning_and_the_unit_that_its_key_says() {
    fn check(figures: &[Figure], path: &str) {
        for figure in figures {
            let key = format!("{path}{}", figure.name);
            assert!(!figure.word.is_empty() && figure.line.ends_with('.'), "{key}");
            for (ending, unit) in [
                ("_ns", "ns"),
                ("_MiBps", "MiB/s"),
                ("_s", "s"),
                ("_bytes", "B"),
                ("_usd", "USD"),
                ("_w", "W"),
                ("_j", "J"),
            ] {
                let in_groups = figure.figures.iter().all(|inner| inner.unit == unit);
                let told = if figure.figures.is_empty() {
                    figure.unit == unit
                } else {
                    in_groups
                };
                assert!(
                    !figure.name.ends_with(ending) || told || figure.measure == Measure::List,
                    "{key}: {}",
                    figure.unit
                );
            }
            check(&figure.figures, &format!("{key}."));
        }
    }
    check(&Summary::figures(), "");
}

#[test]
fn columns_of_a_table_are_equally_long_and_every_table_is_had() {
    let runs = runs();
    for table in TABLES {
        let mut seen = false;
        for run in runs.iter().filter(|run| table.is_there(run)) {
            seen = true;
            let lengths: BTreeSet<usize> = table.columns.iter().map(|column| column.values(run).len()).collect();
            assert_eq!(lengths.len(), 1, "{}", table.name);
        }
        assert!(seen, "no run has the table {}", table.name);
    }
}
