//! Interfaces that run short of room in their routers: what comes back to them takes no event, and the reference engine, which looks at one event at a
//! time, sees it come when it comes.

use crate::engines::one_answer;
use des::mix;
use fabric::spec::{Engine, RunSpec};
use judge::run::run;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

fn load(text: &str) -> Option<RunSpec> {
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    Some(study.ok()?.runs[0].clone())
}

/// The study of a number: small buffers of routers and interfaces, packets and messages of many sizes.
fn study(number: u64) -> String {
    let mut drawn = mix(number);
    let mut draw = |words: &[&'static str]| {
        drawn = mix(drawn);
        words[(drawn % words.len() as u64) as usize]
    };
    let (topology, routings): (_, &[&str]) = match draw(&["hyperx", "torus", "dragonfly", "fat-tree"]) {
        "hyperx" => (
            "kind = \"hyperx\", shape = [3, 4], nodes_per_router = 3",
            &["dor", "valiant", "ugal"],
        ),
        "torus" => (
            "kind = \"torus\", shape = [4, 3, 2], nodes_per_router = 2",
            &["dor", "valiant"],
        ),
        "dragonfly" => (
            "kind = \"dragonfly\", groups = 5, routers_per_group = 4, nodes_per_router = 2",
            &["minimal", "valiant", "par"],
        ),
        _ => ("kind = \"fat-tree\", down = [4, 4], up = [2]", &["d-mod-k"]),
    };
    let inside = draw(&[
        "voq",
        "voq",
        "voq",
        "input-queued",
        "output-buffered",
        "late-admission-vcs",
    ]);
    let work = draw(&[
        r#"{ kind = "uniform", load = 0.9, message = "64 B" }"#,
        r#"{ kind = "shift", by = 3, load = 1.0, message = "3000 B" }"#,
        r#"{ kind = "halo3d-26", grid = [8, 8, 8], vars = 4, iterations = 2 }"#,
        r#"{ kind = "collective", collective = "alltoall", message = "3000 B" }"#,
        r#"{ kind = "random-neighbours", degree = [2, 4], message = "20 KiB" }"#,
    ]);
    let rest = match work.contains("load") {
        true => "run = { end = \"4 us\" }".into(),
        false => format!("mpi = {{ eager = \"{}\" }}", draw(&["0 B", "1 KiB", "64 KiB"])),
    };
    format!(
        r#"
        topology = {{ {topology} }}
        router = {{ model = "credit", architecture = "{inside}", buffer = "{}" }}
        routing = {{ kind = "{}" }}
        nic = {{ buffer = "{}", packet = "{}", {} }}
        link = {{ host = {{ bandwidth = "{}", latency = "{}" }} }}
        job = [{{ work = {work} }}]
        {rest}
        "#,
        draw(&["4 KiB", "16 KiB", "64 KiB"]),
        draw(routings),
        draw(&["2 KiB", "4 KiB", "6 KiB", "16 KiB", "64 KiB"]),
        draw(&["256 B", "1 KiB", "2 KiB"]),
        draw(&[
            "overhead = \"30 ns\"",
            "packet_overhead = \"10 ns\"",
            "control = \"in-order\""
        ]),
        draw(&["50 Gbit/s", "200 Gbit/s", "400 Gbit/s"]),
        draw(&["20 ns", "300 ns"]),
    )
}

/// Window engines and the one that looks at one event at a time agree on many small runs, most of which are short of room.
#[test]
fn interfaces_short_of_room_do_the_same_in_windows_and_one_event_at_a_time() {
    let mut ran = 0;
    for number in 0..160 {
        let text = study(number);
        let Some(mut spec) = load(&text) else { continue };
        let mut answer = |engine| {
            spec.control.engine = engine;
            run(&spec, &mut |_| true).map(|result| (result.summary.digest, result.summary.events))
        };
        let Ok(sequential) = answer(Engine::Sequential) else {
            continue;
        };
        let reference = answer(Engine::Reference).unwrap();
        assert_eq!(sequential, reference, "{number}: {text}");
        ran += 1;
    }
    assert!(ran > 120, "{ran} of the studies can be run");
}

/// Two that would disagree if an interface forgot what it waits for, or thought that small packets take little room.
#[test]
fn control_messages_and_small_packets_short_of_room_give_one_answer_on_every_engine() {
    let control = r#"
        topology = { kind = "hyperx", shape = [3, 4], nodes_per_router = 3 }
        router = { model = "credit", buffer = "16 KiB" }
        nic = { buffer = "2 KiB", packet = "2 KiB", overhead = "30 ns" }
        routing = { kind = "valiant" }
        link = { host = { bandwidth = "200 Gbit/s", latency = "20 ns" } }
        job = [{ work = { kind = "collective", collective = "alltoall", message = "3000 B" } }]
        mpi = { eager = "0 B" }
        "#;
    let small = r#"
        topology = { kind = "fat-tree", down = [4, 4], up = [2] }
        router = { model = "credit", buffer = "16 KiB", architecture = "late-admission-vcs" }
        nic = { buffer = "256 KiB", packet = "256 B" }
        job = [{ work = { kind = "shift", by = 3, load = 1.0, message = "64 B" } }]
        run = { end = "6 us" }
        "#;
    for (what, text) in [("control messages", control), ("small packets", small)] {
        one_answer(what, &load(text).unwrap());
    }
}
