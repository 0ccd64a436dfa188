//! The studies of the worked examples, in the tree that has them: each gives one answer on every engine, and passes its self-checks.

use fabric::spec::{Engine, RunSpec};
use judge::run::{RunResult, run};
use std::fs;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn on(what: &str, spec: &RunSpec, engine: Engine, workers: u16) -> RunResult {
    let mut spec = spec.clone();
    (spec.control.engine, spec.control.workers) = (engine, workers);
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{what} on {engine:?}: {error}"))
}

#[test]
fn every_worked_example_gives_one_answer_on_every_engine() {
    let worked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../extending/worked");
    for folder in fs::read_dir(worked).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(text) = fs::read(folder.join("study.toml")) else {
            continue;
        };
        let study = load_study(&text, "study.toml", &folder, &LoadOptions::default());
        let study = study.unwrap_or_else(|findings| panic!("{}: {findings:?}", folder.display()));
        let what = study.name.as_str();
        for spec in &study.runs {
            let plain = on(what, spec, Engine::Reference, 1);
            assert!(plain.summary.messages > 20, "{what}: the study must do something");
            for (engine, workers) in [
                (Engine::Sequential, 1),
                (Engine::RollbackCheck, 1),
                (Engine::Conservative, 2),
                (Engine::Optimistic, 2),
            ] {
                let other = on(what, spec, engine, workers);
                assert_eq!(other.summary.digest, plain.summary.digest, "{what} on {engine:?}");
                assert_eq!(other.summary.events, plain.summary.events, "{what} on {engine:?}");
            }
        }
    }
}
