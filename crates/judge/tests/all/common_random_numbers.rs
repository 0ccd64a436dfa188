//! Points of a sweep with the same seed draw the same numbers: what differs between them is what was swept.

use fabric::network::Network;
use fabric::spec::RunSpec;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};
use work::workload::Message;
use work::workload::Source;

/// The runs of a study of a job with `work`, swept over `sweep`.
fn runs(work: &str, sweep: &str) -> Vec<RunSpec> {
    let text = format!(
        "[topology]\nkind = \"hyperx\"\nshape = [4, 3]\nnodes_per_router = 2\n[nic]\nbandwidth = \"25 GB/s\"\n\
         [[job]]\nplacement = \"random\"\nwork = {{ {work} }}\n[run]\nend = \"50 us\"\nseeds = [5]\n[sweep]\n{sweep}\n"
    );
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    study
        .unwrap_or_else(|errors| panic!("{}", vocabulary::render(&errors)))
        .runs
}

/// The first messages of every node.
fn messages(run: &RunSpec) -> Vec<Vec<Message>> {
    let network = Network::build(run).expect("a network");
    let of = |node| {
        let mut source = Source::default();
        let next = || network.workload.generate(node, &mut source);
        std::iter::from_fn(next).take(40).collect()
    };
    (0..24).map(of).collect()
}

const WORKS: [&str; 6] = [
    "kind = \"uniform\", load = 0.4",
    "kind = \"uniform\", load = 0.4, process = \"periodic\"",
    "kind = \"hot-spot\", load = 0.2, targets = 2",
    "kind = \"random-permutation\", load = 0.4",
    "kind = \"tornado\", count = 9",
    "kind = \"pairs\", messages = 9, start_spread = \"3 us\"",
];

/// Links, routers and routing see the same messages at the same times.
#[test]
fn points_that_differ_in_the_network_alone_have_the_same_messages() {
    let sweeps = [
        "\"link.bandwidth\" = [\"25 GB/s\", \"50 GB/s\", \"100 GB/s\"]",
        "\"link.latency\" = [\"10 ns\", \"200 ns\"]",
        "\"router.model\" = [\"credit\", \"sculpin\"]",
        "\"routing.kind\" = [\"minimal\", \"valiant\", \"ugal\"]",
        "\"topology.shape\" = [[4, 3], [12, 1]]",
    ];
    for work in WORKS {
        for sweep in sweeps {
            let runs = runs(work, sweep);
            assert!(runs.len() > 1);
            let first = messages(&runs[0]);
            assert!(first.iter().flatten().count() > 20, "{work}");
            for run in &runs[1..] {
                assert_eq!(messages(run), first, "{work}, {sweep}");
            }
        }
    }
}

/// With load as a part of another injection bandwidth, messages go to the same nodes, and times shrink as the bandwidth grows.
#[test]
fn another_injection_bandwidth_scales_the_times_and_keeps_the_destinations() {
    for work in &WORKS[..4] {
        let runs = runs(work, "\"nic.bandwidth\" = [\"12.5 GB/s\", \"25 GB/s\"]");
        let (slow, fast) = (messages(&runs[0]), messages(&runs[1]));
        for (slow, fast) in slow.iter().zip(&fast) {
            assert!(!fast.is_empty() && slow.len() <= fast.len());
            for (k, (a, b)) in (1..).zip(slow.iter().zip(fast)) {
                assert_eq!(a.destination, b.destination);
                // Each gap is rounded to a picosecond.
                assert!(a.birth.abs_diff(2 * b.birth) <= 2 * k, "{a:?} {b:?}");
            }
        }
    }
}

/// The test above would pass if nothing was drawn.
#[test]
fn another_seed_has_other_messages() {
    for work in &WORKS[..4] {
        let runs = runs(work, "\"run.seeds\" = [[5], [6]]");
        assert_ne!(messages(&runs[0]), messages(&runs[1]), "{work}");
    }
}
