//! Networks whose records are more than the caches hold: window engines ask for what a router will need before its turn, by what its queues, interfaces and
//! messages say, with every place checked in builds of tests; the reference engine, which looks at one event at a time, asks for nothing.

use fabric::network::Network;
use fabric::spec::{Engine, RunSpec};
use judge::run::run;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn load(router: &str, routing: &str, work: &str, rest: &str) -> RunSpec {
    let text = format!(
        r#"
        topology = {{ kind = "hyperx", shape = [8, 8, 8], nodes_per_router = 8 }}
        router = {{ {router} }}
        routing = {{ kind = "{routing}" }}
        job = [{{ work = {work} }}]
        {rest}
        "#
    );
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|report| panic!("{report:?}")).runs[0].clone()
}

/// Ranks in step and out of step, whose routers have many events a window and then few; messages without records; queues of several channels.
#[test]
fn large_networks_do_what_they_do_without_hints() {
    let halo = r#"{ kind = "halo3d-26", grid = [16, 16, 16], vars = 4 }"#;
    let uniform = r#"{ kind = "uniform", load = 0.6, message = "2 KiB" }"#;
    let credit = r#"model = "credit", buffer = "8 KiB""#;
    let short = r#"nic = { buffer = "4 KiB" }"#;
    let cases = [
        (credit, "dor", halo, short),
        (
            r#"model = "credit", buffer = "16 KiB", vcs = 4"#,
            "valiant",
            halo,
            short,
        ),
        (r#"model = "sculpin""#, "dor", halo, ""),
        (credit, "dor", uniform, "run = { end = \"2 us\" }"),
    ];
    for (router, routing, work, rest) in cases {
        let mut spec = load(router, routing, work, rest);
        assert!(Network::build(&spec).unwrap().is_large(), "{router}: hints are given");
        let mut answer = |engine| {
            spec.control.engine = engine;
            let summary = run(&spec, &mut |_| true).unwrap().summary;
            (summary.digest, summary.events)
        };
        assert_eq!(
            answer(Engine::Sequential),
            answer(Engine::Reference),
            "{router}, {routing}, {work}"
        );
    }
}
