//! Hosts of several interfaces: what a message takes by which rail, in closed form; order; what cannot be.

use fabric::spec::*;
use judge::run::{self, RunResult};
use std::path::Path;
use topo::{SingleRouterSpec, TopologySpec};
use vocabulary::{LoadOptions, load_study, run_hash};

const POLICIES: [RailPolicy; 3] = [RailPolicy::LocalRank, RailPolicy::RoundRobin, RailPolicy::LeastLoaded];

/// Hosts of `rails` nodes at one router, `per_host` ranks on each, that do what a table says: rank, op, peer, bytes, request, time.
fn spec(rails: Rails, per_host: u32, hosts: u32, rows: &[String]) -> RunSpec {
    let table = format!("rank,op,peer,bytes,request,time_ps\n{}\n", rows.join("\n"));
    let motif = Motif {
        kind: "ops".into(),
        values: [("table".to_owned(), MotifValue::Text(table))].into(),
    };
    let nodes = rails.count * hosts;
    let mut spec = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes }));
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work: Work::Ranks(Ranks {
            parts: vec![Part { motif, iterations: 1 }],
            per_node: per_host,
            mapping: Mapping::Block,
            start: Start::InPhase,
            prelude: 0,
            mpi: MpiSpec {
                rails,
                ..MpiSpec::default()
            },
        }),
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.control.end = None;
    spec.control.engine = Engine::Sequential;
    spec
}

fn rails(count: u32, policy: RailPolicy, stripe_above: Option<u64>) -> Rails {
    Rails {
        count,
        policy,
        stripe_above: stripe_above.map(Bytes),
    }
}

fn mpi(spec: &mut RunSpec) -> &mut MpiSpec {
    match &mut spec.jobs[0].work {
        Work::Ranks(ranks) => &mut ranks.mpi,
        _ => unreachable!(),
    }
}

fn go(spec: &RunSpec) -> RunResult {
    run::run(spec, &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn ser(spec: &RunSpec, bytes: u64) -> u64 {
    (bytes * 8_000_000_000_000).div_ceil(spec.links.default.bandwidth.0)
}

/// What a message takes from rail to rail on an idle single router (ps).
fn alone(spec: &RunSpec, bytes: u64) -> u64 {
    let packet = spec.nic.packet.0;
    // Cut-through: the packets follow each other over the first link; the last one crosses the second after it.
    let last = match bytes % packet {
        0 => packet,
        rest => rest,
    };
    let heads = 2 * spec.links.default.latency.0 + spec.router.traversal.0;
    spec.nic.message_overhead.0 + ser(spec, bytes - last) + heads + ser(spec, last)
}

#[test]
fn stripes_take_the_bytes_of_a_part_and_the_latency_of_a_message() {
    for (bytes, eager) in [
        (8u64, 8_192),
        (16_384, 1 << 20),
        (16_385, 1 << 20),
        (100_001, 8_192),
        (1 << 20, 8_192),
    ] {
        for count in [2, 3] {
            for rendezvous in [Rendezvous::Put, Rendezvous::Get] {
                let rows = [
                    format!("0,send,1,{bytes},,"),
                    format!("1,recv,0,{bytes},,"),
                    format!("1,send,0,{bytes},,"),
                    format!("0,recv,1,{bytes},,"),
                ];
                let mut spec = spec(rails(count, RailPolicy::LocalRank, Some(16_384)), 1, 2, &rows);
                (mpi(&mut spec).eager, mpi(&mut spec).rendezvous) = (Bytes(eager), rendezvous);
                let costs = mpi(&mut spec).clone();
                let wire = match bytes > 16_384 {
                    true => bytes.div_ceil(count.into()),
                    false => bytes,
                };
                let mut leg = costs.send_overhead.0 + alone(&spec, wire) + costs.receive_overhead.0;
                leg += match bytes <= eager {
                    true => 2 * 50 * bytes,
                    false => 2 * alone(&spec, costs.control.0),
                };
                let result = go(&spec);
                assert_eq!(
                    result.ranks[0].finished,
                    2 * leg,
                    "{bytes} B by {count}, {rendezvous:?}"
                );
                // Messages of ranks are told once, their bytes by rail.
                let ranks = result.summary.jobs[0].ranks().unwrap();
                assert_eq!((ranks.messages, ranks.bytes), (2, 2 * bytes));
                let by_rail: u64 = result.summary.rail_bytes.iter().sum();
                assert_eq!(by_rail, result.summary.bytes_delivered);
                assert_eq!(
                    result.summary.rail_bytes[1] > 0,
                    bytes > 16_384,
                    "{:?}",
                    result.summary.rail_bytes
                );
            }
        }
    }
}

#[test]
fn two_messages_of_a_rank_take_two_rails_at_once_unless_it_has_one_of_its_own() {
    let bytes = 1 << 20;
    let rows = ["0,isend,1", "0,isend,1", "1,irecv,0", "1,irecv,0"].map(|row| format!("{row},{bytes},,"));
    let rows = [&rows[..], &["0,waitall,,,,".into(), "1,waitall,,,,".into()]].concat();
    for policy in POLICIES {
        let mut spec = spec(rails(2, policy, None), 1, 2, &rows);
        (mpi(&mut spec).eager, mpi(&mut spec).copy) = (Bytes(bytes), None);
        let costs = mpi(&mut spec).clone();
        let (send, receive) = (costs.send_overhead.0, costs.receive_overhead.0);
        assert_eq!(send, receive);
        let result = go(&spec);
        // The second is born an overhead after the first, and is handled when that has been.
        let at_once = 2 * send + alone(&spec, bytes) + receive;
        let one_by_one = send + alone(&spec, bytes) + ser(&spec, bytes) + receive;
        let (took, by_rail) = match policy {
            RailPolicy::LocalRank => (one_by_one, vec![2 * bytes, 0]),
            _ => (at_once, vec![bytes, bytes]),
        };
        assert_eq!(result.ranks[1].finished, took, "{policy:?}");
        assert_eq!(result.summary.rail_bytes, by_rail, "{policy:?}");
    }
}

#[test]
fn each_rank_has_a_rail_of_its_own_and_messages_arrive_at_that_of_the_receiver() {
    // Ranks 0 and 1 of a host send to ranks 3 and 2 of the other: by rails 0 and 1 to rails 1 and 0.
    let bytes = 4_000;
    let mut rows: Vec<String> = [(0, 3), (1, 2)]
        .iter()
        .flat_map(|(from, to)| {
            [
                format!("{from},send,{to},{bytes},,"),
                format!("{to},recv,{from},{bytes},,"),
            ]
        })
        .collect();
    let spec = |rows: &[String]| spec(rails(2, RailPolicy::LocalRank, None), 2, 2, rows);
    let result = go(&spec(&rows));
    assert_eq!(result.summary.rail_bytes, [bytes, bytes]);
    let ends = [result.ranks[2].finished, result.ranks[3].finished];
    assert_eq!(ends[0], ends[1], "they do not wait for each other");
    rows.truncate(2);
    assert_eq!(go(&spec(&rows)).summary.rail_bytes, [0, bytes]);
}

#[test]
fn the_least_loaded_rail_is_the_one_with_the_fewest_bytes_to_send() {
    // One large message, then small ones: these take the other rail until it has as many bytes.
    let sizes = [100_000, 40_000, 40_000, 30_000, 8];
    let rails_of = [0, 1, 1, 1, 0];
    let mut rows: Vec<String> = sizes.iter().map(|bytes| format!("0,isend,1,{bytes},,")).collect();
    rows.extend(sizes.iter().map(|bytes| format!("1,irecv,0,{bytes},,")));
    rows.extend(["0,waitall,,,,".into(), "1,waitall,,,,".into()]);
    let mut spec = spec(rails(2, RailPolicy::LeastLoaded, None), 1, 2, &rows);
    // No time passes between the sends.
    let costs = mpi(&mut spec);
    (costs.eager, costs.copy, costs.send_overhead) = (Bytes(1 << 20), None, des::Time::ZERO);
    let mut by_rail = vec![0, 0];
    sizes
        .iter()
        .zip(rails_of)
        .for_each(|(bytes, rail)| by_rail[rail] += bytes);
    assert_eq!(go(&spec).summary.rail_bytes, by_rail);
}

/// A generator of small numbers.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = des::mix(self.0 + 1);
        self.0 % n
    }
}

#[test]
fn messages_of_a_pair_are_received_in_the_order_of_their_sends() {
    for seed in 0..9 {
        let mut draw = Draw(seed * 1_000);
        let n = 3 + draw.below(6);
        let sizes: Vec<u64> = (0..n)
            .map(|_| [8, 3_000, 20_000, 300_000][draw.below(4) as usize] + draw.below(100))
            .collect();
        // Rank 0 sends all to rank 1, which tells rank 2 + k when it has the k-th.
        let mut rows = Vec::new();
        for (k, bytes) in sizes.iter().enumerate() {
            rows.push(format!("0,isend,1,{bytes},,"));
            rows.push(format!("1,recv,0,{bytes},,"));
            rows.push(format!("1,send,{},0,,", 2 + k));
            rows.push(format!("{},recv,1,0,,", 2 + k));
        }
        rows.push("0,waitall,,,,".into());
        let (count, stripe_above) = [(2, None), (3, Some(10_000)), (4, Some(2_500))][seed as usize % 3];
        for policy in POLICIES {
            let mut spec = spec(rails(count, policy, stripe_above), 1, 2 + n as u32, &rows);
            mpi(&mut spec).eager = Bytes([0, 4_000, 1 << 20][draw.below(3) as usize]);
            mpi(&mut spec).copy = None;
            let costs = mpi(&mut spec).clone();
            let result = go(&spec);
            let told = costs.send_overhead.0 + alone(&spec, 1) + costs.receive_overhead.0;
            for (k, &bytes) in sizes.iter().enumerate() {
                let part = match costs.rails.stripes(bytes) {
                    true => bytes.div_ceil(count.into()),
                    false => bytes,
                };
                // Born after so many sends; no message is faster than alone.
                let earliest = (k as u64 + 1) * costs.send_overhead.0 + alone(&spec, part) + costs.receive_overhead.0;
                let received = result.ranks[2 + k].finished - told;
                assert!(
                    received >= earliest,
                    "seed {seed}, {:?}: message {k} of {sizes:?} at {received}, not before {earliest}",
                    costs.rails
                );
            }
        }
    }
}

/// A study of programs on a HyperX of 6 routers with 4 nodes each.
fn study(mpi: &str, job: &str) -> String {
    format!(
        "[topology]\nkind = \"hyperx\"\nshape = [3, 2]\nnodes_per_router = 4\n[routing]\nkind = \"min-a\"\nequal = \"first\"\n[router]\nmodel = \"credit\"\n\
         buffer = \"16 KiB\"\n[nic]\npacket = \"2 KiB\"\ncontrol = \"in-order\"\n[mpi]\n{mpi}\n[[job]]\n{job}\n[run]\nseeds = [1]\n"
    )
}

const PROGRAMS: &str = r#"ranks_per_node = 2
placement = "random"
work = [
  { kind = "halo3d-26", grid = [20, 10, 6], vars = 2, compute = "300 ns" },
  { kind = "random-neighbours", degree = [2, 4], message = "2500 B", receives = "any-source" },
  { kind = "collective", collective = "allreduce", message = "5000 B" },
]"#;

fn load(text: &str) -> Result<RunSpec, String> {
    let text = format!("name = \"pin\"\n{text}");
    match load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default()) {
        Ok(study) => Ok(study.runs[0].clone()),
        Err(findings) => Err(findings
            .iter()
            .map(|finding| format!("{}: {} ({})\n", finding.key, finding.reason, finding.hint))
            .collect()),
    }
}

#[test]
fn one_rail_is_what_there_was_before_rails() {
    let text = |mpi: &str| study(&format!("eager = \"3 KiB\"\n{mpi}"), PROGRAMS);
    let before = load(&text("")).unwrap();
    // As it was before there were the keys of rails and of control messages; the digest is that of equal ports, ties and notices as they are now.
    assert_eq!(run_hash(&before)[..12], *"517906017088");
    assert_eq!(go(&before).summary.digest, "8b606a64339f028d");
    let one = load(&text(
        "rails = 1\nrail_policy = \"round-robin\"\nstripe_above = \"1 KiB\"",
    ))
    .unwrap();
    assert_eq!(run_hash(&one), run_hash(&before));
    assert!(go(&one).summary.rail_bytes.is_empty());
}

#[test]
fn every_policy_brings_all_bytes_on_a_network() {
    let mut digests = Vec::new();
    for policy in ["local-rank", "round-robin", "least-loaded"] {
        for stripe in ["never", "1 KiB"] {
            let mpi = format!("eager = \"3 KiB\"\nrails = 2\nrail_policy = \"{policy}\"\nstripe_above = \"{stripe}\"");
            let summary = go(&load(&study(&mpi, PROGRAMS)).unwrap()).summary;
            assert_eq!(
                summary.jobs[0].ranks().unwrap().ranks,
                24,
                "two ranks on each of 12 hosts"
            );
            assert_eq!(summary.jobs[0].ranks().unwrap().finished, 24);
            let [one, other] = summary.rail_bytes[..] else {
                panic!("{:?}", summary.rail_bytes);
            };
            assert_eq!(one + other, summary.bytes_delivered);
            let share = one as f64 / summary.bytes_delivered as f64;
            assert!((0.4..0.6).contains(&share), "{policy}, {stripe}: {share}");
            digests.push(summary.digest);
        }
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 6, "policies differ");
}

#[test]
fn hosts_that_do_not_fit_are_refused() {
    let check = |mpi: &str, job: &str, parts: &[&str]| {
        let words = match load(&study(mpi, job)) {
            Err(words) => words,
            Ok(spec) => fabric::network::Network::build(&spec).expect_err(mpi).to_string(),
        };
        parts.iter().for_each(|part| assert!(words.contains(part), "{words}"));
    };
    let halo = "work = { kind = \"halo3d\" }";
    check("rails = 5", halo, &["mpi.rails", "24 nodes", "several planes"]);
    // 24 nodes are 8 hosts of 3, but 4 at a router are none.
    check(
        "rails = 3",
        halo,
        &[
            "mpi.rails",
            "the 4 nodes of router (0,0)",
            "a divisor of the nodes per router",
        ],
    );
    check(
        "rails = 2",
        "work = { kind = \"uniform\" }",
        &["job[0].work", "no MPI ranks", "2 rails"],
    );
    check(
        "rails = 2",
        &format!("{halo}\nnodes = 13"),
        &["needs 13 nodes, the network has 12"],
    );
    check("rails = 65", halo, &["mpi.rails", "64"]);
    check(
        "rails = 2\nrail_policy = \"hash\"",
        halo,
        &["mpi.rail_policy", "local-rank"],
    );
    check("rails = 2\nstripe_above = \"8 B\"", halo, &["mpi.stripe_above", "64"]);
    let linear = "placement = { kind = \"clustered\", chunk = 13 }";
    check("rails = 2", &format!("{halo}\n{linear}"), &["chunks of 13"]);
}
