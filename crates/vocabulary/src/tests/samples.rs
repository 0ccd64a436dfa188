//! Samples become the runs that they describe.

use crate::{LoadOptions, Study, load_study, render};
use std::path::Path;

const SAMPLED: &str = r#"
[topology]
kind = "torus"
shape = [4, 4]
[sample]
method = "sobol"
points = 8
"link.bandwidth" = { from = "1 GB/s", to = "64 GB/s", scale = "log" }
router.buffer = { from = "8 KiB", to = "256 KiB", step = "2 KiB" }
"job.0.work.load" = { from = 0.1, to = 1 }
"topology.shape.0" = { from = 3, to = 6 }
"routing.kind" = { values = ["dor", "valiant"] }
[run]
seeds = [1, 2]
[variant.quick]
sample = { points = 4 }
[variant.fixed]
set = { "router.buffer" = "64 KiB" }
"#;

fn load_with(text: &str, sets: &[&str], variant: Option<&str>) -> Study {
    let options = LoadOptions {
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        variant: variant.map(str::to_owned),
        ..LoadOptions::default()
    };
    load_study(text.as_bytes(), "s.toml", Path::new("/nowhere"), &options)
        .unwrap_or_else(|diagnostics| panic!("{}", render(&diagnostics)))
}

/// The sampled and swept values of every run, without seeds.
fn points(study: &Study) -> Vec<Vec<String>> {
    let mut points: Vec<Vec<String>> = Vec::new();
    for run in &study.runs {
        let point = run.sweep.iter().map(|(_, value)| value.clone()).collect();
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    points
}

#[test]
fn a_sample_is_its_points_times_the_seeds_with_values_of_the_keys_own_types() {
    let study = load_with(SAMPLED, &[], None);
    assert_eq!(study.runs.len(), 16);
    assert_eq!(
        study
            .runs
            .iter()
            .map(|run| run.control.seed)
            .take(4)
            .collect::<Vec<_>>(),
        [1, 2, 1, 2]
    );
    let keys: Vec<&str> = study.runs[0].sweep.iter().map(|(key, _)| key.as_str()).collect();
    let expected = [
        "link.bandwidth",
        "router.buffer",
        "job.0.work.load",
        "topology.shape.0",
        "routing.kind",
    ];
    assert_eq!(keys, expected);
    for run in &study.runs {
        let written = format!("{}", run.links.default.bandwidth.0);
        assert!(
            (8_000_000_000..=512_000_000_000).contains(&run.links.default.bandwidth.0),
            "{written}"
        );
        let buffer = run.router.buffer.expect("a bound").0;
        assert!((8192..=262_144).contains(&buffer) && buffer % 2048 == 0, "{buffer}");
        assert!(run.sweep[1].1.ends_with("KiB"), "{:?}", run.sweep);
    }
    // Eight Sobol points: two in every quarter of a range, four in every half.
    let shapes: Vec<String> = points(&study).into_iter().map(|point| point[3].clone()).collect();
    for shape in ["3", "4", "5", "6"] {
        assert_eq!(shapes.iter().filter(|found| *found == shape).count(), 2, "{shapes:?}");
    }
    let valiant = points(&study).iter().filter(|point| point[4] == "valiant").count();
    assert_eq!(valiant, 4);
}

#[test]
fn every_point_is_run_with_every_combination_of_the_sweep() {
    let text = SAMPLED.replace("\"routing.kind\" = { values = [\"dor\", \"valiant\"] }", "");
    let alone = points(&load_with(&text, &[], None));
    let swept = points(&load_with(
        &format!("{text}[sweep]\n\"routing.kind\" = [\"dor\", \"valiant\"]\n"),
        &[],
        None,
    ));
    let expected: Vec<Vec<String>> = alone
        .iter()
        .flat_map(|point| ["dor", "valiant"].map(|kind| [&point[..], &[kind.to_owned()]].concat()))
        .collect();
    assert_eq!(swept, expected);
}

#[test]
fn more_sobol_points_keep_the_runs_of_the_earlier_ones() {
    let few = load_with(SAMPLED, &[], None);
    let many = load_with(SAMPLED, &["sample.points=16"], None);
    assert_eq!(many.runs.len(), 32);
    assert_eq!(many.runs[..16], few.runs[..]);
    assert_eq!(load_with(SAMPLED, &[], Some("quick")).runs[..], few.runs[..8]);
    let others = load_with(SAMPLED, &["sample.method=latin-hypercube"], None);
    assert_ne!(others.runs[0], few.runs[0]);
    assert_ne!(load_with(SAMPLED, &["sample.seed=2"], None).runs[0], few.runs[0]);
}

#[test]
fn a_fixed_key_leaves_the_others_as_they_are() {
    let all = points(&load_with(SAMPLED, &[], None));
    for study in [
        load_with(SAMPLED, &[], Some("fixed")),
        load_with(SAMPLED, &["router.buffer=64 KiB"], None),
    ] {
        let left: Vec<Vec<String>> = all.iter().map(|point| [&point[..1], &point[2..]].concat()).collect();
        assert_eq!(points(&study), left);
        let keys = study.sample["keys"].as_array().expect("a list");
        assert!(
            keys.len() == 4 && keys.iter().all(|key| key["key"] != "router.buffer"),
            "{keys:?}"
        );
    }
    let sets = [
        "link.bandwidth=1 GB/s",
        "router.buffer=64 KiB",
        "job.0.work.load=1",
        "topology.shape.0=4",
    ];
    let choices = load_with(SAMPLED, &sets, None);
    assert_eq!(
        points(&choices).len(),
        2,
        "points that have become the same are run once"
    );
    let none = load_with(SAMPLED, &[&sets[..], &["routing.kind=dor"]].concat(), None);
    assert!(none.sample.is_null() && none.runs.len() == 2);
}

#[test]
fn results_are_told_the_ranges() {
    let study = load_with(SAMPLED, &[], None);
    let expected = serde_json::json!({
        "method": "sobol", "points": 8, "seed": 1,
        "keys": [
            { "key": "link.bandwidth", "kind": "quantity", "scale": "log", "from": "1 GB/s", "to": "64 GB/s" },
            { "key": "router.buffer", "kind": "quantity", "scale": "linear", "from": "8 KiB", "to": "256 KiB", "step": "2 KiB" },
            { "key": "job.0.work.load", "kind": "number", "scale": "linear", "from": 0.1, "to": 1 },
            { "key": "topology.shape.0", "kind": "integer", "scale": "linear", "from": 3, "to": 6 },
            { "key": "routing.kind", "kind": "choice", "values": ["dor", "valiant"] },
        ],
    });
    assert_eq!(study.sample, expected);
    assert!(
        load_with("[topology]\nkind = \"ring\"\nrouters = 4\n", &[], None)
            .sample
            .is_null()
    );
}

#[test]
fn keys_of_several_tables_are_sampled_together() {
    let text = "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[sample]\npoints = 10\n\
                \"routing.kind, router.vcs\" = { values = [[\"dor\", 2], [\"valiant\", 4]] }\n";
    let study = load_with(text, &[], None);
    let with = |kind: &str, vcs: &str| {
        let is = |point: &&Vec<String>| point[0] == kind && point[1] == vcs;
        points_of(&study).iter().filter(is).count()
    };
    assert_eq!((with("dor", "2"), with("valiant", "4")), (5, 5));
}

/// The values of every run.
fn points_of(study: &Study) -> Vec<Vec<String>> {
    let values = |run: &fabric::spec::RunSpec| run.sweep.iter().map(|(_, value)| value.clone()).collect();
    study.runs.iter().map(values).collect()
}

#[test]
fn a_set_of_the_sample_needs_one() {
    let options = LoadOptions {
        sets: vec!["sample.points=4".to_owned()],
        ..LoadOptions::default()
    };
    let text = b"[topology]\nkind = \"ring\"\nrouters = 4\n";
    let errors = load_study(text, "s.toml", Path::new("/nowhere"), &options).expect_err("there is none");
    assert_eq!(
        (errors.len(), errors[0].key.as_str(), errors[0].file.as_str()),
        (1, "sample.points", "--set")
    );
    assert!(errors[0].reason.contains("no sample"));
}
