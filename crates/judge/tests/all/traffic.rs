//! Traffic of one's own as studies say it: closed loops, matrices, mixes; whole runs against what can be worked out by hand.

use fabric::observe::MessageTimes;
use fabric::spec::RunSpec;
use judge::results::LoadState;
use judge::run::{RunResult, run};
use std::path::Path;
use vocabulary::{LoadOptions, canonical, load_study, render, run_of_canonical};

/// A router of some nodes: 10 ns on every link and in the router, 1 byte per ps, packets of 1,000 bytes.
fn on_router(nodes: u32, work: &str, rest: &str) -> RunSpec {
    loaded(&format!(
        "[topology]\nkind = \"single-router\"\nnodes = {nodes}\n[link]\nbandwidth = \"1 TB/s\"\nlatency = \"10 ns\"\n\
         [router]\nmodel = \"sculpin\"\ntraversal = \"10 ns\"\n[nic]\npacket = \"1000 B\"\n[[job]]\nwork = {work}\n{rest}\n"
    ))
}

fn loaded(text: &str) -> RunSpec {
    match load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default()) {
        Ok(mut study) => study.runs.remove(0),
        Err(findings) => panic!("{}", render(&findings)),
    }
}

fn result(spec: &RunSpec) -> RunResult {
    run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn messages(spec: &RunSpec) -> Vec<MessageTimes> {
    result(spec).messages.expect("they were asked for")
}

const TOLD: &str = "[observe]\nmessages = true";

#[test]
fn a_window_of_one_takes_turns_with_its_answers() {
    // 1,000 bytes arrive after 31,000 ps, 64 bytes after 30,064.
    let work = |window| format!("{{ kind = \"shift\", by = 1, count = 5, window = {window}, message = \"1000 B\" }}");
    let born = |window| -> Vec<u64> {
        let all = messages(&on_router(2, &work(window), TOLD));
        assert_eq!(all.len(), 10, "answers are not told");
        all.iter().filter(|m| m.source == 1).map(|m| m.born).collect()
    };
    assert_eq!(born(1), [0, 61_064, 122_128, 183_192, 244_256]);
    // Two leave one after the other, and so do their answers.
    assert_eq!(born(2), [0, 0, 61_064, 62_064, 122_128]);
    assert_eq!(born(5), [0; 5]);
    assert_eq!(born(60), [0; 5]);
    let bulky = "{ kind = \"shift\", by = 1, count = 2, window = 1, message = \"1000 B\", reply = \"2000 B\" }";
    let all = messages(&on_router(2, bulky, TOLD));
    assert_eq!(all[1].born, 31_000 + 32_000);
}

#[test]
fn no_node_has_more_under_way_than_its_window() {
    let study = |window, model: &str| {
        loaded(&format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[router]\nmodel = \"{model}\"\n[[job]]\n\
             work = {{ kind = \"hot-spot\", fraction = 0.5, window = {window}, message = \"5000 B\" }}\n[run]\nend = \"30 us\"\n\
             warmup = \"1 us\"\n{TOLD}\n"
        ))
    };
    for model in ["sculpin", "credit"] {
        let mut before = 0;
        for window in [1, 3, 8] {
            let spec = study(window, model);
            let result = result(&spec);
            // A closed loop keeps up with itself, however full the links are.
            assert_eq!(result.summary.verdict.state, LoadState::Ok, "window {window}");
            let all = result.messages.unwrap();
            for node in 0..16 {
                let own = || all.iter().filter(|m| m.source == node);
                for message in own() {
                    let under_way =
                        |m: &&MessageTimes| m.born <= message.born && m.arrived.is_none_or(|at| at > message.born);
                    let n = own().filter(under_way).count();
                    assert!(n <= window, "{n} of node {node} at {}", message.born);
                }
            }
            assert!(all.len() > before, "more windows, more messages");
            before = all.len();
            // The hot node's link takes 8 / 15 of what the others send; it sends at most all that it can. Answers are an eightieth.
            let most = (15.0 / 8.0 + 1.0) / 16.0 * (1.0 + 64.0 / 5_000.0);
            let accepted = result.summary.accepted_load;
            assert!(accepted < 1.01 * most, "{accepted} of {most}");
        }
    }
}

#[test]
fn nodes_that_are_to_send_less_are_not_taken_for_starving_ones() {
    let matrix =
        "{ kind = \"matrix\", load = 0.8, table = \"source,destination,weight\\n0,1,16\\n1,2,8\\n2,3,1\\n3,0,0\\n\" }";
    let run_of = |matrix: &str| result(&on_router(4, matrix, "[run]\nend = \"400 us\"\nwarmup = \"20 us\"")).summary;
    let summary = run_of(matrix);
    assert_eq!(summary.verdict.state, LoadState::Ok);
    let offered = 0.8 * (1.0 + 0.5 + 1.0 / 16.0) / 4.0;
    assert!((summary.offered_load.unwrap() - offered).abs() < 1e-12);
    assert!(
        (summary.accepted_load - offered).abs() < 0.02,
        "{}",
        summary.accepted_load
    );
    // All get what they offer: as far as a few hundred messages tell.
    assert!(
        (summary.accepted_load_min.unwrap() - 0.8).abs() < 0.15,
        "{:?}",
        summary.accepted_load_min
    );
    assert!(summary.fairness.unwrap() > 0.99);
    // Two that want all of a third.
    let crowd = "{ kind = \"matrix\", load = 0.8, table = \"source,destination,weight\\n0,3,2\\n1,3,2\\n2,1,1\\n\" }";
    let summary = run_of(crowd);
    assert_eq!(summary.verdict.state, LoadState::Saturated);
    assert!(
        (summary.accepted_load - (1.0 + 0.4) / 4.0).abs() < 0.02,
        "{}",
        summary.accepted_load
    );
}

#[test]
fn the_load_of_a_mix_is_that_of_its_bytes() {
    let parts =
        "[{ kind = \"uniform\", share = 9, message = \"64 B\" }, { kind = \"shift\", by = 1, message = \"20 KiB\" }]";
    let work = format!("{{ kind = \"mixed\", load = 0.4, parts = {parts} }}");
    let spec = on_router(8, &work, &format!("[run]\nend = \"3 ms\"\nwarmup = \"20 us\"\n{TOLD}"));
    let result = result(&spec);
    assert_eq!(result.summary.verdict.state, LoadState::Ok);
    assert!(
        (result.summary.accepted_load - 0.4).abs() < 0.02,
        "{}",
        result.summary.accepted_load
    );
    let all = result.messages.unwrap();
    let (small, large): (Vec<&MessageTimes>, Vec<&MessageTimes>) = all.iter().partition(|m| m.bytes == 64);
    assert!(
        large
            .iter()
            .all(|m| m.bytes == 20_480 && m.destination == (m.source + 1) % 8)
    );
    let share = small.len() as f64 / all.len() as f64;
    assert!((share - 0.9).abs() < 6.0 * (0.09 / all.len() as f64).sqrt(), "{share}");
}

#[test]
fn bursts_wait_longer_than_single_messages_and_slots_less() {
    // To one node by half of what its link takes: M/D/1 waits half a message's time, a slotted source less, bursts much more.
    let wait = |keys: &str| {
        let work = format!("{{ kind = \"incast\", load = 0.25, message = \"1000 B\", {keys} }}");
        let summary = result(&on_router(3, &work, "[run]\nend = \"2 ms\"\nwarmup = \"20 us\"")).summary;
        assert_eq!(summary.verdict.state, LoadState::Ok);
        summary.latency_ns.mean.unwrap() - 31.0
    };
    let (poisson, slotted, bursts) = (
        wait("process = \"poisson\""),
        wait("process = \"bernoulli\""),
        wait("process = \"on-off\", burst = 20"),
    );
    assert!(slotted < 0.9 * poisson, "{slotted} {poisson}");
    assert!(bursts > 4.0 * poisson, "{bursts} {poisson}");
}

#[test]
fn a_run_with_tables_is_read_back_as_it_was() {
    for work in [
        "{ kind = \"partners\", table = \"destination,source\\n1,0\\n2,0\\n0,3\\n\", load = 0.1 }",
        "{ kind = \"matrix\", of = \"blocks\", blocks = [1, 3], table = \"weight,source,destination\\n1,1,0\\n0.1,1,1\\n\" }",
        "{ kind = \"mixed\", parts = [{ kind = \"incast\", sources = 2 }, { kind = \"hot-spot\", fraction = 0.3, share = 0.1 }] }",
    ] {
        let spec = on_router(4, work, "[run]\nend = \"1 us\"");
        assert_eq!(run_of_canonical(&canonical(&spec)), Ok(spec));
    }
}

#[test]
fn messages_that_have_not_left_are_those_that_would_have() {
    let parts = "[{ kind = \"uniform\", share = 3 }, { kind = \"shift\", by = 1, message = \"7 KiB\" }]";
    for work in [
        format!("{{ kind = \"mixed\", count = 30, parts = {parts} }}"),
        "{ kind = \"uniform\", count = 30 }".to_owned(),
        "{ kind = \"neighbour\", count = 30 }".to_owned(),
    ] {
        let told = |rest: &str| {
            let spec = on_router(5, &work, &format!("{rest}\n{TOLD}"));
            let mut all: Vec<_> = messages(&spec)
                .iter()
                .map(|m| (m.source, m.destination, m.bytes))
                .collect();
            all.sort_unstable();
            all
        };
        let (cut, whole) = (told("[run]\nend = \"20 ns\""), told(""));
        assert_eq!(cut.len(), 150);
        assert_eq!(cut, whole, "{work}");
    }
}
