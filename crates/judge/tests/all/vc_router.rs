//! `vc-router`s do by hand what they do by themselves: pipelines, the period of packets in a channel, credit loops, allocators.
//!
//! The cycle is that of BookSim2's `iq` router: routing, channel, switch, crossbar, a cycle each, a link that takes a cycle more than it is
//! long, a credit that counts a cycle after it is there. A flit is 8 B, a cycle 1 ns.

use des::Time;
use fabric::spec::*;
use judge::run::{RunResult, run};
use std::path::Path;
use topo::{Lattice, TopologySpec};
use vocabulary::{LoadOptions, load_study};

/// A run of a study with this network and these keys of `[router]`, among them perhaps a preset.
fn spec(topology: &str, router: &str, work: &str, end: &str) -> RunSpec {
    let preset = if router.contains("preset") {
        ""
    } else {
        "preset = \"booksim-iq\""
    };
    let text = format!(
        "[topology]\n{topology}\n[router]\n{preset}\n{router}\n[[job]]\nwork = {work}\n[observe]\nmessages = \"full\"\n[run]\n\
         end = \"{end}\"\nwarmup = \"0 ns\"\n"
    );
    let study = load_study(text.as_bytes(), "vc.toml", Path::new("."), &LoadOptions::default());
    study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0)
}

/// A mesh of routers whose credits wait for others, some of them beyond the end: a flit takes a cycle, buffers are large for links so short.
pub fn whose_credits_wait(nodes_per_router: u32, vcs: u8) -> RunSpec {
    let mut spec = plain(TopologySpec::Mesh(Lattice {
        shape: vec![4, 3],
        width: vec![],
        nodes_per_router,
    }));
    spec.links.default = LinkSpec {
        bandwidth: BitsPerSec(512_000_000_000),
        latency: Time::from_ns(1),
    };
    spec.router.architecture = Architecture::VC_ROUTER;
    spec.router.pipeline = Some(PipelineSpec::default());
    spec.router.flit = Bytes(64);
    spec.router.buffer = Some(Bytes(12 * 64));
    spec.router.credit_delay = Time::from_ns(1);
    spec.router.vcs = Some(vcs);
    spec.nic.packet = Bytes(256);
    spec
}

fn result(spec: &RunSpec) -> RunResult {
    let result = run(spec, &mut |_| true).unwrap();
    let verdict = &result.summary.verdict;
    assert!(verdict.ok, "{verdict:?}");
    result
}

/// What one packet of so many flits takes over so many routers in a row (cycles).
fn lone(routers: u32, flits: u64, keys: &str) -> f64 {
    let topology = match routers {
        1 => "kind = \"single-router\"\nnodes = 2".to_owned(),
        n => format!("kind = \"mesh\"\nshape = [{n}]"),
    };
    let mut spec = spec(&topology, keys, "{ kind = \"uniform\", load = 0.1 }", "5 us");
    spec.jobs[0].work = Work::Messages(vec![ListedMessage {
        time: Time::from_ns(100),
        source: 0,
        destination: routers.max(2) - 1,
        bytes: Bytes(8 * flits),
    }]);
    let result = result(&spec);
    let rows = result.stats.rows.unwrap_or_default();
    assert_eq!(rows.len(), 1);
    (rows[0].time - rows[0].birth) as f64 / 1_000.0
}

#[test]
fn a_lone_packet_takes_the_cycles_of_its_stages() {
    for routers in [1, 2, 3, 8] {
        for flits in [1, 2, 5, 8, 20] {
            let (h, s) = (f64::from(routers), flits as f64);
            assert_eq!(lone(routers, flits, ""), 5.0 * h + 1.0 + s, "{h} routers, {s} flits");
            let fast = lone(routers, flits, "internal_speedup = 2");
            assert_eq!(fast, 3.0 * h + 1.0 + s, "{h} routers twice as fast, {s} flits");
        }
        let h = f64::from(routers);
        // Look-ahead leaves a stage out; a longer one takes as long as it says.
        assert_eq!(lone(routers, 1, "route_stage = 0"), 4.0 * h + 2.0);
        assert_eq!(lone(routers, 1, "route_stage = 0\ninternal_speedup = 2"), 3.0 * h + 2.0);
        assert_eq!(lone(routers, 1, "route_stage = 3"), 7.0 * h + 2.0);
        assert_eq!(lone(routers, 1, "vc_stage = 2"), 6.0 * h + 2.0);
        assert_eq!(lone(routers, 1, "crossbar_stage = 4"), 8.0 * h + 2.0);
        assert_eq!(lone(routers, 1, "crossbar_stage = 0"), 4.0 * h + 2.0);
        assert_eq!(lone(routers, 6, "switch_stage = 2"), 6.0 * h + 2.0 + 5.0 * 2.0);
    }
}

/// With a buffer per output channel a flit may come, cross and leave in one cycle.
#[test]
fn a_lone_packet_takes_a_cycle_per_link_and_flit_where_it_asks_for_channels() {
    for preset in ["caminos-basic", "caminos-inputoutput"] {
        for routers in [1, 2, 3, 8] {
            for flits in [1, 2, 16] {
                let (links, s) = (f64::from(routers) - 1.0, flits as f64);
                let took = lone(routers, flits, &format!("preset = \"{preset}\""));
                assert_eq!(took, s + links + 1.0, "{preset}, {routers} routers, {flits} flits");
            }
        }
    }
}

#[test]
fn heads_ask_for_room_that_there_is() {
    let go = |keys: &str, routing: &str| {
        let topology = format!("kind = \"torus\"\nshape = [4, 4]\n[routing]\nkind = \"{routing}\"");
        let keys = format!("preset = \"caminos-basic\"\n{keys}");
        let found = spec(&topology, &keys, "{ kind = \"uniform\", load = 0.1 }", "1 us");
        run(&found, &mut |_| true)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(go("", "dor"), Ok(()));
    assert_eq!(go("bubble = 2\nvcs = 1", "dor"), Ok(()));
    assert_eq!(go("vcs = 4", "caminos-shortest"), Ok(()));
    for (keys, routing, reason) in [
        ("vcs = 1", "dor", "deadlock"),
        ("vcs = 3", "caminos-shortest", "deadlock"),
        ("output_channel_buffer = \"64 B\"", "dor", "find room for 128 B"),
        ("bubble = 3", "dor", "find room for 384 B"),
        ("vc_allocator = \"wavefront\"", "dor", "drawn, or take turns"),
        ("", "min-a", "not by what it sees"),
    ] {
        let refused = go(keys, routing).unwrap_err();
        assert!(refused.contains(reason), "{keys} {routing}: {refused}");
    }
}

#[test]
fn routers_larger_than_the_sets_of_a_step_are_refused() {
    let of = |nodes: u32, keys: &str| {
        let topology = format!("kind = \"single-router\"\nnodes = {nodes}");
        let found = spec(&topology, keys, "{ kind = \"shift\", by = 1, load = 0.1 }", "100 ns");
        run(&found, &mut |_| true)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(of(256, "vcs = 16"), Ok(()));
    for (nodes, keys) in [
        (256, "vcs = 17"),
        (257, "vcs = 1"),
        (129, "vcs = 1\ninput_speedup = 2"),
        (129, "vcs = 32"),
    ] {
        let refused = of(nodes, keys).unwrap_err();
        assert!(
            refused.contains("at most 4096 channels and 256 ports"),
            "{nodes} nodes, {keys}: {refused}"
        );
    }
}

#[test]
fn three_channels_of_booksims_ugal_on_a_dragonfly_are_refused_and_four_are_free() {
    let text = |keys: &str| {
        format!(
            "[topology]\nkind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\nnodes_per_router = 2\n[routing]\nkind = \"booksim-ugal\"\n\
             [router]\npreset = \"booksim-iq\"\n{keys}\n[[job]]\nwork = {{ kind = \"uniform\", load = 0.1 }}\n[run]\nend = \"2 us\"\n"
        )
    };
    let go = |keys: &str| {
        let study = load_study(
            text(keys).as_bytes(),
            "vc.toml",
            Path::new("."),
            &LoadOptions::default(),
        )
        .unwrap();
        run(&study.runs[0], &mut |_| true)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(go("vcs = 4"), Ok(()));
    let refused = go("vcs = 3").unwrap_err();
    assert!(refused.contains("deadlock"), "{refused}");
    assert_eq!(go("vcs = 3\nallow_deadlock = true"), Ok(()));
}

/// The load that is accepted of sources that have a packet in every cycle.
fn accepted(topology: &str, keys: &str, pattern: &str, flits: u64) -> f64 {
    let (message, load) = (8 * flits, if flits == 1 { "1.0" } else { "2.0" });
    let work = format!(
        "{{ kind = \"{pattern}\", self = true, load = {load}, message = \"{message} B\", process = \"bernoulli\", slot = \"1 ns\" }}"
    );
    let mut spec = spec(topology, keys, &work, "8 us");
    spec.observe.messages = MessageDetail::Summary;
    spec.control.warmup = Some(Time::from_us(2));
    spec.control.drain_sources = false;
    result(&spec).summary.accepted_load
}

const CROSSBAR: &str = "kind = \"single-router\"\nnodes = 16";

#[test]
fn a_flow_has_the_rate_of_its_channels_and_credits() {
    let close = |found: f64, expected: f64, about: &str| {
        assert!(
            (found / expected - 1.0).abs() < 0.004,
            "{about}: {found}, not {expected}"
        );
    };
    let flow = |keys: &str| accepted(CROSSBAR, keys, "bit-complement", 1);
    // A packet in one channel every three cycles.
    for (vcs, expected) in [(1, 1.0 / 3.0), (2, 2.0 / 3.0), (4, 1.0)] {
        close(flow(&format!("vcs = {vcs}")), expected, &format!("{vcs} channels"));
    }
    // The loop between source and router is six cycles.
    close(flow("vcs = 1\nbuffer = \"8 B\""), 1.0 / 6.0, "one flit of buffer");
    // That between routers eight for heads.
    let line = "kind = \"mesh\"\nshape = [2]";
    for flits in [1, 2, 3] {
        let keys = format!("vcs = 1\nbuffer = \"{} B\"", 8 * flits);
        let expected = (f64::from(flits) / 8.0).min(1.0 / 3.0);
        close(
            accepted(line, &keys, "shift", 1),
            expected,
            &format!("{flits} flits of buffer"),
        );
    }
    // A channel is free when its credit is back: a packet in nine cycles.
    let tail = "vcs = 1\nwait_for_tail_credit = true";
    close(accepted(line, tail, "shift", 1), 1.0 / 9.0, "tails' credits");
    // Two cycles are lost between packets of a channel.
    for flits in [2, 5, 20] {
        let s = flits as f64;
        close(
            accepted(CROSSBAR, "vcs = 1", "bit-complement", flits),
            s / (s + 2.0),
            "one channel",
        );
    }
}

#[test]
fn neighbours_on_a_torus_have_the_channels_of_their_half() {
    let found = accepted("kind = \"torus\"\nshape = [8, 8]", "vcs = 4", "diagonal-neighbour", 1);
    assert!((found * 1.5 - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn a_mesh_at_rest_has_the_mean_latency_of_its_ways() {
    let work = "{ kind = \"uniform\", self = true, load = 0.005, message = \"8 B\", process = \"bernoulli\", slot = \"1 ns\" }";
    let spec = spec("kind = \"mesh\"\nshape = [8, 8]", "vcs = 4", work, "60 us");
    let mean = result(&spec).summary.latency_ns.mean.unwrap();
    // 1 + 2 (k^2 - 1) / (3 k) routers of five cycles, and two for a flit.
    let expected = 5.0 * (1.0 + 2.0 * 63.0 / 24.0) + 2.0;
    assert!((mean - expected).abs() < 0.2, "{mean} cycles, not {expected}");
}
