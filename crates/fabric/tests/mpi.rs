//! MPI ranks: what a message takes, in closed form; matching; every engine alike.

use fabric::bench::plain;
use fabric::mpi::op::{ANY_SOURCE, ANY_TAG, UNNAMED};
use fabric::mpi::{Op, RankRow, Transfer};
use fabric::run::{self, RunError, RunResult};
use fabric::spec::*;
use topo::TopologySpec;

fn single(nodes: u32) -> TopologySpec {
    TopologySpec::SingleRouter { nodes }
}

/// A job of ranks that do what is listed, rank by rank.
fn spec(topology: TopologySpec, per_node: u32, ops: Vec<Vec<Op>>, iterations: u32) -> RunSpec {
    let mut table = String::from("rank,op,peer,bytes,tag,request,time_ps\n");
    for (rank, ops) in ops.iter().enumerate() {
        for op in ops {
            table += &format!("{rank},{}\n", cells(op));
        }
    }
    let values = [
        ("table", MotifValue::Text(table)),
        ("ranks", MotifValue::Integer(ops.len() as u64)),
    ];
    let motif = Motif {
        kind: "ops".into(),
        values: values.map(|(key, value)| (key.to_owned(), value)).into(),
    };
    let mut spec = plain(topology);
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work: Work::Ranks(Ranks {
            parts: vec![Part { motif, iterations }],
            per_node,
            mapping: Mapping::Block,
            mpi: MpiSpec::default(),
        }),
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.control.end = None;
    spec
}

/// What follows on the rank in a row.
fn cells(op: &Op) -> String {
    let transfer = |name: &str, transfer: &Transfer| {
        let peer = match transfer.peer {
            ANY_SOURCE => "any".to_owned(),
            peer => peer.to_string(),
        };
        let tag = match transfer.tag {
            ANY_TAG => "any".to_owned(),
            tag => tag.to_string(),
        };
        let request = match transfer.request {
            UNNAMED => String::new(),
            request => request.to_string(),
        };
        format!("{name},{peer},{},{tag},{request},", transfer.bytes)
    };
    match op {
        Op::Compute { time } => format!("compute,,,,,{time}"),
        Op::Isend(t) => transfer("isend", t),
        Op::Send(t) => transfer("send", t),
        Op::Irecv(t) => transfer("irecv", t),
        Op::Recv(t) => transfer("recv", t),
        Op::Wait { request } => format!("wait,,,,{request},"),
        Op::WaitAll => "waitall,,,,,".into(),
        Op::WaitAny => "waitany,,,,,".into(),
        Op::Test { request } => format!("test,,,,{request},"),
        other => unreachable!("{other:?} is not used here"),
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

fn send(peer: u32, bytes: u64) -> Op {
    Op::Send(Transfer::new(peer, bytes))
}

fn recv(peer: u32) -> Op {
    Op::Recv(Transfer::new(peer, 0))
}

/// What a message takes from the sender's processor to the receiver's on an idle single router (ps).
fn alone(spec: &RunSpec, bytes: u64) -> u64 {
    let wire = bytes.max(1);
    let packet = spec.nic.packet.0;
    let link = spec.links.default;
    let ser = |bytes: u64| (bytes * 8_000_000_000_000).div_ceil(link.bandwidth.0);
    // Cut-through: the packets follow each other over the first link; the last one crosses the second after it.
    let last = match wire % packet {
        0 => packet,
        rest => rest,
    };
    let full = wire - last;
    let heads = 2 * link.latency.0 + spec.router.traversal.0;
    spec.nic.message_overhead.0 + ser(full) + heads + ser(last)
}

#[test]
fn a_ping_pong_takes_overheads_copies_latency_and_bytes_over_bandwidth_to_the_picosecond() {
    for bytes in [0, 1, 8, 64, 2048, 2049, 8192, 8193, 65536, 1 << 20] {
        for rendezvous in [Rendezvous::Put, Rendezvous::Get] {
            let rounds = 3;
            let ping = vec![send(1, bytes), recv(1)];
            let pong = vec![recv(0), send(0, bytes)];
            let mut spec = spec(single(2), 1, vec![ping, pong], rounds);
            mpi(&mut spec).rendezvous = rendezvous;
            let costs = mpi(&mut spec).clone();
            let copy = if bytes <= costs.eager.0 { bytes * 50 } else { 0 };
            let mut leg = costs.send_overhead.0 + 2 * copy + alone(&spec, bytes) + costs.receive_overhead.0;
            if bytes > costs.eager.0 {
                leg += 2 * alone(&spec, costs.control.0);
            }
            let result = go(&spec);
            let ends: Vec<u64> = result.ranks.iter().map(|rank| rank.finished).collect();
            assert_eq!(ends[0], 2 * u64::from(rounds) * leg, "{bytes} B, {rendezvous:?}");
        }
    }
}

#[test]
fn ranks_of_a_node_talk_through_its_memory() {
    let bytes = 4096;
    let ops = vec![vec![send(1, bytes), recv(1)], vec![recv(0), send(0, bytes)]];
    let mut spec = spec(single(2), 2, ops, 1);
    let costs = mpi(&mut spec).clone();
    let result = go(&spec);
    let leg = costs.send_overhead.0 + 3 * bytes * 50 + costs.local_latency.0 + costs.receive_overhead.0;
    assert_eq!(result.ranks[0].finished, 2 * leg);
    assert_eq!((result.ranks[0].messages, result.ranks[0].local_messages), (0, 1));
    assert_eq!(result.summary.packets, 0);
}

#[test]
fn ranks_that_wait_for_each_other_are_named() {
    // Both receive before they send.
    let ops = vec![vec![recv(1), send(1, 8)], vec![recv(0), send(0, 8)]];
    let Err(RunError::Check(summary)) = run::run(&spec(single(2), 1, ops, 1), &mut |_| true) else {
        panic!("ranks that wait for each other must not pass");
    };
    let words = summary.verdict.failures();
    for part in ["2 of 2 ranks", "rank 0 waits for a message from rank 1 with tag 0"] {
        assert!(words.contains(part), "{words}");
    }
    // Sends of large messages wait for their receives as well.
    let ops = vec![vec![send(1, 1 << 20), recv(1)], vec![send(0, 1 << 20), recv(0)]];
    let Err(RunError::Check(summary)) = run::run(&spec(single(2), 1, ops, 1), &mut |_| true) else {
        panic!("sends that wait for each other must not pass");
    };
    let words = summary.verdict.failures();
    assert!(words.contains("rank 1 waits for a receive at rank 0"), "{words}");
}

#[test]
fn wild_cards_take_what_comes_first_and_tags_keep_messages_apart() {
    let tagged = |peer, tag| Transfer {
        tag,
        ..Transfer::new(peer, 8)
    };
    // Rank 2 sends later; tag 7 is taken by its own receive only.
    let ops = vec![
        vec![
            Op::Recv(tagged(ANY_SOURCE, 7)),
            Op::Recv(tagged(ANY_SOURCE, ANY_TAG)),
            Op::Recv(tagged(2, ANY_TAG)),
        ],
        vec![Op::Send(tagged(0, 3)), Op::Send(tagged(0, 7))],
        vec![Op::Compute { time: 50_000_000 }, Op::Send(tagged(0, 3))],
    ];
    let result = go(&spec(single(3), 1, ops, 1));
    assert!(result.ranks.iter().all(RankRow::is_done));
    assert!(result.ranks[0].finished > 50_000_000);
}

#[test]
fn two_ranks_of_a_node_share_its_interface_in_the_order_of_their_sends() {
    // Rank 0 computes first, and its message is born behind that of rank 1 though it is asked for earlier.
    let far = |n| Transfer::new(n, 2048);
    let ops = vec![
        vec![Op::Isend(far(2)), Op::Isend(far(2)), Op::WaitAll],
        vec![Op::Compute { time: 1_000 }, Op::Isend(far(3)), Op::WaitAll],
        vec![recv(0), recv(0)],
        vec![recv(1)],
    ];
    let spec = spec(single(2), 2, ops, 1);
    let result = go(&spec);
    let (second, other) = (result.ranks[2].finished, result.ranks[3].finished);
    assert!(other < second, "{other} {second}");
}

#[test]
fn models_and_engines_agree() {
    let ring: Vec<Vec<Op>> = (0..24u32)
        .map(|rank| {
            let (next, before) = ((rank + 1) % 24, (rank + 23) % 24);
            vec![
                Op::Irecv(Transfer::new(before, 0)),
                Op::Isend(Transfer::new(next, 5_000)),
                Op::Irecv(Transfer::new(ANY_SOURCE, 0)),
                Op::Isend(Transfer::new(next, 20_000)),
                Op::WaitAll,
                Op::Compute { time: 700_000 },
            ]
        })
        .collect();
    let mut spec = spec(single(12), 2, ring, 3);
    for model in [RouterModel::Sculpin, RouterModel::Credit] {
        spec.router.model = model;
        spec.nic.packet = Bytes(2048);
        let mut digests = Vec::new();
        for engine in [
            Engine::Sequential,
            Engine::Reference,
            Engine::RollbackCheck,
            Engine::Optimistic,
        ] {
            spec.control.engine = engine;
            digests.push(go(&spec).summary.digest);
        }
        digests.dedup();
        assert_eq!(digests.len(), 1, "{model:?}");
    }
}
