//! MPI ranks: what a message takes, in closed form; matching; every engine alike.

use fabric::mpi::RankRow;
use fabric::spec::*;
use judge::run::{self, RunError, RunResult};
use topo::{RingSpec, SingleRouterSpec, TopologySpec};
use vocabulary::{LoadOptions, load_study, render};
use work::mpi::collective::Algorithm;
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, UNNAMED};
use work::mpi::spec::{Beside, BesideGroups, BesideOrder, BesideTrees, CostPiece};
use work::mpi::{Collective, CollectiveKind, Op, Transfer};

fn single(nodes: u32) -> TopologySpec {
    TopologySpec::SingleRouter(SingleRouterSpec { nodes })
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
            start: Start::InPhase,
            prelude: 0,
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
        let bytes = match transfer.bytes {
            ANY_SIZE => String::new(),
            bytes => bytes.to_string(),
        };
        format!("{name},{peer},{bytes},{tag},{request},")
    };
    match op {
        Op::Compute { time } => format!("compute,,,,,{time}"),
        Op::Isend(t) | Op::Send(t) => transfer(op.word(), t),
        Op::Irecv(t) => transfer("irecv", t),
        Op::Recv(t) => transfer("recv", t),
        Op::Wait { request } => format!("wait,,,,{request},"),
        Op::WaitAll => "waitall,,,,,".into(),
        Op::WaitAny => "waitany,,,,,".into(),
        Op::WaitNews => "waitnews,,,,,".into(),
        Op::Test { request } => format!("test,,,,{request},"),
        Op::Collective(it) => format!("{},{},{},,,", op.word(), it.root, it.bytes),
        Op::Icollective { collective, request } => {
            format!("{},{},{},,{request},", op.word(), collective.root, collective.bytes)
        }
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
    Op::Recv(Transfer::new(peer, ANY_SIZE))
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
fn what_messages_cost_by_pieces_of_their_size_is_paid_at_both_ends() {
    let piece = |upto, overhead, per_byte_fs| CostPiece {
        upto: Bytes(upto),
        overhead: des::Time(overhead),
        per_byte_fs,
    };
    let pieces = [
        piece(64, 100_000, 0),
        piece(4_096, 250_000, 12_750),
        piece(65_536, 3_000_000, 333),
    ];
    // By hand: picoseconds of one end.
    let taken = [
        (0, 100_000),
        (64, 100_000),
        (65, 250_829),
        (4_096, 302_224),
        (4_097, 3_001_365),
        (8_193, 3_002_729),
        (65_536, 3_021_824),
        (65_537, 3_021_824),
        (1 << 20, 3_349_176),
    ];
    for (bytes, one_end) in taken {
        for (rendezvous, header) in [(Rendezvous::Put, 0), (Rendezvous::Get, 48)] {
            let mut spec = spec(
                single(2),
                1,
                vec![vec![send(1, bytes), recv(1)], vec![recv(0), send(0, bytes)]],
                2,
            );
            let costs = mpi(&mut spec);
            (costs.rendezvous, costs.header, costs.costs) = (rendezvous, Bytes(header), pieces.to_vec());
            let (eager, control) = (costs.eager.0, costs.control.0);
            let asked = if bytes > eager { 2 * alone(&spec, control) } else { 0 };
            let leg = 2 * one_end + asked + alone(&spec, bytes + header);
            let ends: Vec<u64> = go(&spec).ranks.iter().map(|rank| rank.finished).collect();
            assert_eq!(ends[0], 4 * leg, "{bytes} B, {rendezvous:?}, header of {header} B");
        }
    }
}

#[test]
fn messages_beside_the_network_and_fetched_ones_take_what_is_said() {
    let ping_pong = |bytes| vec![vec![send(1, bytes), recv(1)], vec![recv(0), send(0, bytes)]];
    let end = |spec: &RunSpec| go(spec).ranks[0].finished;
    // 40 B at 25 GB/s and 20 GB/s of copies, also where that is less than what packets take from one router to another.
    let mut beside = spec(single(2), 1, ping_pong(40), 3);
    let costs = mpi(&mut beside).clone();
    let ends = costs.send_overhead.0 + costs.receive_overhead.0;
    let far = TopologySpec::Ring(RingSpec {
        routers: 3,
        width: 1,
        nodes_per_router: 1,
    });
    for (topology, latency, hop, links) in [
        (&far, 700, 50, 100),
        (&far, 20, 10, 1_000),
        (&single(2), 30, 50, 1_000),
        (&single(2), 700, 50, 100),
    ] {
        beside.topology = topology.clone();
        beside.links.default.latency = des::Time::from_ns(links);
        mpi(&mut beside).beside = Some(Beside {
            most: Bytes(64),
            latency: des::Time::from_ns(latency),
            hop: des::Time::from_ns(hop),
            trees: BesideTrees::AsWired,
            groups: BesideGroups::AsWired,
            order: BesideOrder::ByNode,
        });
        let hops = if topology == &far { 1 } else { 0 };
        let taken = (latency + hops * hop) * 1_000;
        assert_eq!(
            end(&beside),
            6 * (ends + 2 * 2_000 + taken + 1_600),
            "{latency} ns, {hop} ns"
        );
    }
    // Larger ones go through the network as ever.
    let mut larger = beside.clone();
    larger.jobs = spec(single(2), 1, ping_pong(65), 3).jobs;
    let plain = end(&larger);
    mpi(&mut larger).beside = mpi(&mut beside).beside;
    assert_eq!(end(&larger), plain);
    // Two control messages more, which no rank waits for and no rank pays; who is asked does not copy.
    for bytes in [500, 501, 8_192] {
        let mut fetched = spec(single(2), 1, ping_pong(bytes), 3);
        mpi(&mut fetched).fetch_above = Some(Bytes(500));
        let (asked, copies) = match bytes > 500 {
            true => (2 * alone(&fetched, costs.control.0), 1),
            false => (0, 2),
        };
        let leg = ends + copies * bytes * 50 + asked + alone(&fetched, bytes);
        assert_eq!(end(&fetched), 6 * leg, "{bytes} B");
    }
}

#[test]
fn a_synchronous_send_asks_its_receiver_whatever_its_size() {
    let ssend = |peer, bytes| {
        Op::Send(Transfer {
            synchronous: true,
            ..Transfer::new(peer, bytes)
        })
    };
    for bytes in [0, 1, 64, 8192, 8193, 65536] {
        for rendezvous in [Rendezvous::Put, Rendezvous::Get] {
            for header in [0, 32] {
                let with = |ops: Vec<Vec<Op>>| {
                    let mut spec = spec(single(2), 1, ops, 1);
                    (mpi(&mut spec).rendezvous, mpi(&mut spec).header) = (rendezvous, Bytes(header));
                    spec
                };
                let there = with(vec![vec![ssend(1, bytes), recv(1)], vec![recv(0), ssend(0, bytes)]]);
                let costs = MpiSpec::default();
                let (control, data) = (alone(&there, costs.control.0), alone(&there, bytes + header));
                let leg = costs.send_overhead.0 + 2 * control + data + costs.receive_overhead.0;
                let ends: Vec<u64> = go(&there).ranks.iter().map(|rank| rank.finished).collect();
                assert_eq!(ends[0], 2 * leg, "{bytes} B, {rendezvous:?}, header of {header} B");
                // The receiver comes late, and the sender waits for it.
                let late = 20_000_000;
                let wait = with(vec![vec![ssend(1, bytes)], vec![Op::Compute { time: late }, recv(0)]]);
                let done = late + control + data;
                let ranks = go(&wait).ranks;
                assert_eq!(ranks[1].finished, done + costs.receive_overhead.0);
                match rendezvous {
                    Rendezvous::Get => assert_eq!(ranks[0].finished, done + control),
                    // Its bytes have left some time before they have come.
                    Rendezvous::Put => assert!((late + control..done).contains(&ranks[0].finished)),
                }
            }
        }
    }
    // A receive that is too small is told of as for any other.
    let small = Op::Recv(Transfer::new(ANY_SOURCE, 6));
    let words = fault(&spec(single(2), 1, vec![vec![ssend(1, 7)], vec![small]], 1));
    assert!(
        words.contains("a message of 7 B from rank 0 has come to a receive of 6 B"),
        "{words}"
    );
}

#[test]
fn a_wait_for_news_ends_when_a_request_does_or_a_message_comes_that_nobody_waits_for() {
    let (bytes, time) = (8, 3_000_000);
    let (late, news) = (Op::Compute { time }, Op::WaitNews);
    let small = spec(single(2), 1, vec![vec![]; 2], 1);
    let costs = MpiSpec::default();
    let copy = bytes * 50;
    let come = costs.send_overhead.0 + copy + alone(&small, bytes);
    let taken = costs.receive_overhead.0 + copy;
    let end = |sender: Vec<Op>, receiver: Vec<Op>| {
        let ranks = go(&spec(single(2), 1, vec![sender, receiver], 1)).ranks;
        (ranks[1].finished, ranks[1].waited)
    };
    // The message comes, is looked at, and taken after other work.
    let sender = || vec![send(1, bytes)];
    assert_eq!(end(sender(), vec![news, late, recv(0)]), (come + time + taken, come));
    // A receive is complete, which costs its handling at once.
    let irecv = Op::Irecv(Transfer::new(0, ANY_SIZE));
    assert_eq!(end(sender(), vec![irecv, news, late]), (come + taken + time, come));
    // It has come while the rank was busy: handling it is behind that.
    let busy = vec![irecv, late, news];
    assert_eq!(end(sender(), busy), (time + taken, 0));
    // News that a wait has seen are none for the next one.
    let twice = vec![send(1, bytes), late, send(1, bytes)];
    let second = costs.send_overhead.0 + copy + time + come;
    let all = vec![news, news, recv(0), recv(0)];
    assert_eq!(end(twice.clone(), all), (second + 2 * taken, second));
    // The announcement of a large message is news, and that it may be sent is none for its receiver.
    let large = spec(single(2), 1, vec![vec![send(1, 1 << 20)], vec![news, late, recv(0)]], 1);
    let asked = costs.send_overhead.0 + alone(&large, costs.control.0);
    let moved = alone(&large, costs.control.0) + alone(&large, 1 << 20) + costs.receive_overhead.0;
    assert_eq!(go(&large).ranks[1].finished, asked + time + moved);
    // A send that goes without asking is complete at once.
    assert_eq!(end(vec![recv(1)], vec![Op::Isend(Transfer::new(0, bytes)), news]).1, 0);
    // Messages of collectives and blocking receives are no news.
    let nothing = vec![vec![send(1, bytes)], vec![recv(0), news]];
    let Err(RunError::Check(summary)) = run::run(&spec(single(2), 1, nothing, 1), &mut |_| true) else {
        panic!("there is nothing left to wait for");
    };
    let words = summary.verdict.failures();
    assert!(
        words.contains("1 of 2 ranks") && words.contains("rank 1 waits for news"),
        "{words}"
    );
}

/// A collective of all ranks.
fn meeting(kind: CollectiveKind, bytes: u64) -> Collective {
    Collective {
        kind,
        communicator: 0,
        bytes,
        root: 0,
    }
}

/// The same, begun with a name.
fn begin(kind: CollectiveKind, bytes: u64, request: u16) -> Op {
    let collective = meeting(kind, bytes);
    Op::Icollective { collective, request }
}

#[test]
fn a_collective_that_is_waited_for_at_once_takes_what_one_takes_that_waits() {
    let wait = Op::Wait { request: 3 };
    for kind in CollectiveKind::ALL {
        for (nodes, bytes) in [(1, 8), (2, 8), (5, 700), (8, 3_000), (7, 40_000)] {
            if kind == CollectiveKind::Alltoallv {
                continue;
            }
            // Ranks come at times of their own.
            let late = |rank: u64| Op::Compute { time: 170_000 * rank };
            let all = |ops: &dyn Fn() -> Vec<Op>| {
                let ranks = (0..nodes).map(|rank| [vec![late(rank)], ops(), ops()].concat());
                let mut spec = spec(single(nodes as u32), 1, ranks.collect(), 1);
                mpi(&mut spec).eager = Bytes(2_000);
                let ranks = go(&spec).ranks;
                ranks
                    .iter()
                    .map(|rank| (rank.finished, rank.waited, rank.worked))
                    .collect::<Vec<_>>()
            };
            let waits = all(&|| vec![Op::Collective(meeting(kind, bytes))]);
            let begun = all(&|| vec![begin(kind, bytes, 3), wait]);
            assert_eq!(begun, waits, "{kind:?} of {bytes} B on {nodes}");
        }
    }
}

#[test]
fn a_collective_goes_on_while_ranks_compute_to_the_picosecond() {
    let wait = Op::Wait { request: 3 };
    let (costs, long) = (MpiSpec::default(), 50_000_000);
    let (sends, takes) = (costs.send_overhead.0, costs.receive_overhead.0);
    let compute = |time| Op::Compute { time };
    let ends = |ranks: Vec<Vec<Op>>| {
        let mut spec = spec(single(ranks.len() as u32), 1, ranks, 1);
        mpi(&mut spec).algorithms = vec![
            (CollectiveKind::Barrier, Algorithm::Dissemination),
            (CollectiveKind::Allreduce, Algorithm::RecursiveDoubling),
        ];
        go(&spec).ranks.iter().map(|rank| rank.finished).collect::<Vec<u64>>()
    };
    let network = alone(&spec(single(4), 1, vec![vec![]; 4], 1), 1);
    // A barrier among four: two rounds of a message each way. All of it is over long before the ranks are, and they pay its overheads only.
    let barrier = || begin(CollectiveKind::Barrier, 0, 3);
    let busy = || vec![barrier(), compute(long), wait];
    assert_eq!(ends(vec![busy(); 4]), [2 * (sends + takes) + long; 4]);
    // Who waits for it has it when it is over, whatever the others do.
    let round = sends + network + takes;
    let idle = vec![barrier(), wait, compute(1)];
    assert_eq!(ends(vec![busy(), busy(), busy(), idle])[3], 2 * round + 1);
    // The first round is over while the ranks compute, the second when they have paid for that, or when its messages have come.
    for short in [network + 1, network + sends + takes] {
        let (paid, come) = (2 * sends + short + takes, 2 * sends + 2 * network + takes);
        let both = vec![barrier(), compute(short), wait];
        assert_eq!(ends(vec![both; 4]), [paid.max(come) + takes; 4]);
    }
    // An allreduce of two: what is combined at the end is owed, too.
    let bytes = 1_000;
    let copy = bytes * 50;
    let allreduce = || begin(CollectiveKind::Allreduce, bytes, 3);
    let all = 2 * copy + sends + takes + bytes * 50;
    assert_eq!(ends(vec![vec![allreduce(), compute(long), wait]; 2]), [all + long; 2]);
    // Three at once, waited for in another order, behind one that waits: each message is handled once.
    let named = |request| begin(CollectiveKind::Allreduce, bytes, request);
    let three = vec![
        named(1),
        named(2),
        named(3),
        compute(long),
        Op::Wait { request: 2 },
        Op::WaitAll,
    ];
    assert_eq!(ends(vec![three; 2]), [3 * all + long; 2]);
    // Begun by one rank and never by the other, it is told of.
    let alone = vec![vec![send(1, 1), barrier(), wait], vec![recv(0), Op::WaitNews]];
    let text = |ops: Vec<Vec<Op>>| {
        run::run(&spec(single(2), 1, ops, 1), &mut |_| true)
            .err()
            .unwrap()
            .to_string()
    };
    assert!(text(alone).contains("rank 1 comes to 0 collectives of communicator 0, rank 0 to 1"));
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
                Op::Irecv(Transfer::new(before, ANY_SIZE)),
                Op::Isend(Transfer::new(next, 5_000)),
                Op::Irecv(Transfer::new(ANY_SOURCE, ANY_SIZE)),
                Op::Isend(Transfer::new(next, 20_000)),
                Op::WaitAll,
                Op::Compute { time: 700_000 },
            ]
        })
        .collect();
    let mut spec = spec(single(12), 2, ring, 3);
    for model in [RouterKind::SCULPIN, RouterKind::CREDIT] {
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

/// One motif of one iteration, one rank per node.
fn motif(topology: TopologySpec, kind: &str, values: &[(&str, MotifValue)]) -> RunSpec {
    let mut spec = spec(topology, 1, vec![vec![]], 1);
    if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
        ranks.parts[0].motif = Motif {
            kind: kind.into(),
            values: values
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        };
    }
    spec
}

/// A collective among all nodes of a single router, which no two messages of a round share a link of.
fn collective(nodes: u32, kind: CollectiveKind, algorithm: Algorithm, bytes: u64) -> RunSpec {
    let values = [
        ("collective", MotifValue::Text(kind.name().into())),
        ("message", MotifValue::Integer(bytes)),
    ];
    let mut spec = motif(single(nodes), "collective", &values);
    mpi(&mut spec).algorithms = vec![(kind, algorithm)];
    spec
}

/// A round in which every rank sends `bytes` to another and receives as much, and combines it or not (ps).
fn round(spec: &mut RunSpec, bytes: u64, combines: bool) -> u64 {
    let costs = mpi(spec).clone();
    let rate = |bytes: u64| bytes * 50;
    let (copies, asks) = match bytes <= costs.eager.0 {
        true => (2 * rate(bytes), 0),
        false => (0, 2 * alone(spec, costs.control.0)),
    };
    let combine = if combines { rate(bytes) } else { 0 };
    costs.send_overhead.0 + copies + asks + alone(spec, bytes) + costs.receive_overhead.0 + combine
}

#[test]
fn collectives_take_the_time_of_their_alpha_beta_formulas() {
    use CollectiveKind::{Allgather, Allreduce, Alltoall, Barrier, ReduceScatter};
    let time = |spec: &RunSpec| {
        let result = go(spec);
        let ends: Vec<u64> = result.ranks.iter().map(|rank| rank.finished).collect();
        assert!(
            ends.iter().all(|end| *end == ends[0]),
            "a symmetric collective ends everywhere at once: {ends:?}"
        );
        ends[0]
    };
    for bytes in [8, 2_048, 8_192, 10_240, 1 << 20] {
        // log2 n exchanges of everything, each combined.
        let mut spec = collective(16, Allreduce, Algorithm::RecursiveDoubling, bytes);
        assert_eq!(
            time(&spec),
            4 * round(&mut spec, bytes, true),
            "recursive doubling, {bytes} B"
        );
        // n - 1 pieces combined, n - 1 handed on.
        let piece = bytes / 8;
        let mut spec = collective(8, Allreduce, Algorithm::Ring, bytes);
        let (combine, gather) = (round(&mut spec, piece, true), round(&mut spec, piece, false));
        assert_eq!(time(&spec), 7 * (combine + gather), "ring, {bytes} B");
        // Halves combined, then gathered: the same bytes in log2 n rounds each way.
        let mut spec = collective(8, Allreduce, Algorithm::Rabenseifner, bytes);
        let rounds: u64 = [2, 4, 8]
            .map(|part| round(&mut spec, bytes / part, true) + round(&mut spec, bytes / part, false))
            .iter()
            .sum();
        assert_eq!(time(&spec), rounds, "Rabenseifner, {bytes} B");
        // n - 1 exchanges.
        for n in [8, 9] {
            let mut spec = collective(n, Alltoall, Algorithm::Pairwise, bytes);
            assert_eq!(
                time(&spec),
                u64::from(n - 1) * round(&mut spec, bytes, false),
                "pairwise, {bytes} B"
            );
            let mut spec = collective(n, Allgather, Algorithm::Ring, bytes);
            assert_eq!(
                time(&spec),
                u64::from(n - 1) * round(&mut spec, bytes, false),
                "ring, {bytes} B"
            );
            let mut spec = collective(n, ReduceScatter, Algorithm::Pairwise, bytes);
            assert_eq!(
                time(&spec),
                u64::from(n - 1) * round(&mut spec, bytes, true),
                "pairwise, {bytes} B"
            );
        }
    }
    // Signals 1, 2, 4, 8 ranks ahead.
    let mut spec = collective(13, Barrier, Algorithm::Dissemination, 0);
    assert_eq!(time(&spec), 4 * round(&mut spec, 0, false));
}

/// What a run says of the programs of its ranks, which are wrong.
fn fault(spec: &RunSpec) -> String {
    let Err(RunError::Check(summary)) = run::run(spec, &mut |_| true) else {
        panic!("a program that is wrong must not pass");
    };
    let checks = summary.verdict.checks;
    let check = checks.into_iter().find(|check| check.name == "ranks").unwrap();
    assert!(!check.ok, "{}", check.detail);
    check.detail
}

#[test]
fn a_message_larger_than_its_receive_is_an_error() {
    // From anybody, so that the table cannot know.
    let receive = |bytes| Op::Recv(Transfer::new(ANY_SOURCE, bytes));
    let study = |bytes, room| spec(single(4), 1, vec![vec![send(1, bytes)], vec![receive(room)]], 1);
    for (bytes, eager) in [(1_000, true), (100_000, false)] {
        for rendezvous in [Rendezvous::Put, Rendezvous::Get] {
            for (rails, header) in [(1, 0), (2, 16)] {
                let with = |room| {
                    let mut spec = study(bytes, room);
                    let mpi = mpi(&mut spec);
                    (mpi.rendezvous, mpi.header) = (rendezvous, Bytes(header));
                    (mpi.rails.count, mpi.rails.stripe_above) = (rails, Some(Bytes(500)));
                    assert_eq!(bytes <= mpi.eager.0, eager);
                    spec
                };
                for room in [bytes, bytes + 1, ANY_SIZE] {
                    assert!(go(&with(room)).summary.verdict.ok);
                }
                let words = fault(&with(bytes - 1));
                let wanted = format!(
                    "rank 1 at operation 0 of iteration 0: a message of {bytes} B from rank 0 has come to a receive of {} B",
                    bytes - 1
                );
                // Of a message in parts the last ones that come do not fit: what they are is told.
                match (rails, eager) {
                    (2, false) => assert!(words.contains("from rank 0 has come to a receive of"), "{words}"),
                    _ => assert!(words.contains(&wanted), "{words}"),
                }
            }
        }
    }
    assert!(go(&study(0, 0)).summary.verdict.ok);
}

#[test]
fn a_request_made_again_while_it_is_pending_is_an_error() {
    // What an iteration leaves pending the next one makes again; the table knows of one iteration alone.
    let irecv = |peer| {
        Op::Irecv(Transfer {
            request: 5,
            ..Transfer::new(peer, 8)
        })
    };
    let late = Op::Compute { time: 1_000_000 };
    let sender = || vec![late, send(1, 8)];
    let pending = spec(single(4), 1, vec![sender(), vec![irecv(0)]], 2);
    let words = fault(&pending);
    assert!(
        words.contains("rank 1 at operation 0 of iteration 1: request 5 is made again while it is pending"),
        "{words}"
    );
    let waited = spec(single(4), 1, vec![sender(), vec![irecv(0), Op::Wait { request: 5 }]], 2);
    assert!(go(&waited).summary.verdict.ok);
}

/// The only run of a study.
fn told(study: &str) -> RunSpec {
    let here = std::path::Path::new(".");
    let study = load_study(study.as_bytes(), "s.toml", here, &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{}", render(&findings)));
    study.runs[0].clone()
}

#[test]
fn operations_per_cell_and_their_rate_take_the_time_of_all_cells() {
    // One rank has nobody to wait for: cells that are computed in an iteration, 12.5 operations each at 2 Gflop/s, three times.
    for (kind, keys, cells) in [
        ("halo3d", "grid = [4, 5, 6]", 4 * 5 * 6),
        ("halo3d-26", "grid = [4, 5, 6]", 4 * 5 * 6),
        ("stencil3d", "grid = [4, 5, 6]", 4 * 5 * 6),
        ("stencil4d", "grid = [4, 5, 6, 2]", 4 * 5 * 6 * 2),
        ("sweep3d", "grid = [4, 5, 6], kba = 2", 8 * 4 * 5 * 6),
        ("fft3d", "grid = [4, 5, 6]", 6 * 4 * 5 * 6),
    ] {
        let study = format!(
            "[topology]\nkind = \"single-router\"\nnodes = 2\n[[job]]\n\
             work = {{ kind = \"{kind}\", ranks = 1, {keys}, iterations = 3, flop_per_cell = 12.5, flop_rate = 2e9 }}\n"
        );
        let result = go(&told(&study));
        let time = (cells as f64 * 12.5 / 2e9 * 1e12) as u64;
        assert_eq!(result.ranks[0].finished, 3 * time, "{kind}");
    }
}

#[test]
fn what_routers_tell_each_other_is_nothing_that_ranks_hear() {
    // Words of routers are events as ranks' own are, and what ranks hear of is looked at before it is handled.
    for model in ["sculpin", "credit"] {
        let study = format!(
            "topology = {{ kind = \"dragonfly\", groups = 5, routers_per_group = 4, nodes_per_router = 2 }}\n\
             router = {{ model = \"{model}\" }}\n\
             routing = {{ kind = \"ugal\", scope = \"group\", step = \"0 B\" }}\n\
             [[job]]\nwork = {{ kind = \"halo3d\", grid = [32, 32, 32] }}\n"
        );
        let mut spec = told(&study);
        let all = go(&spec);
        spec.control.engine = Engine::Reference;
        assert_eq!(all.summary.digest, go(&spec).summary.digest, "{model}");
    }
}

#[test]
fn a_halo_moves_the_bytes_of_its_formula() {
    // 4 x 3 x 2 ranks, blocks of 8 x 6 x 4 cells with 3 values of 8 B.
    let (grid, cells) = ([4u64, 3, 2], [8u64, 6, 4]);
    let value = 3 * 8;
    let list = |numbers: [u64; 3]| MotifValue::List(numbers.to_vec());
    for (neighbours, dims) in [("18", 2), ("26", 3)] {
        let values = [
            ("process_grid", list(grid)),
            ("grid", list(cells)),
            ("vars", MotifValue::Integer(3)),
            ("neighbours", MotifValue::Text(neighbours.into())),
        ];
        let spec = motif(single(24), "halo3d-26", &values);
        let result = go(&spec);
        // A step that moves along some of the dimensions: pairs of ranks that far apart, times what lies across the others.
        let (mut messages, mut bytes) = (0, 0);
        for step in (0..27u32).map(|code| [code % 3, code / 3 % 3, code / 9].map(i64::from)) {
            let step = step.map(|s| s - 1);
            let along = step.iter().filter(|s| **s != 0).count();
            if along == 0 || along > dims {
                continue;
            }
            let pairs: u64 = (0..3).map(|d| grid[d] - u64::from(step[d] != 0)).product();
            let across: u64 = (0..3).map(|d| if step[d] == 0 { cells[d] } else { 1 }).product();
            messages += pairs;
            bytes += pairs * across * value;
        }
        let job = result.summary.jobs[0].ranks().unwrap();
        assert_eq!((job.messages, job.bytes), (messages, bytes), "{neighbours} neighbours");
    }
}

#[test]
fn jobs_and_parts_run_beside_and_after_each_other() {
    // Two jobs on halves of the nodes, one of two parts, take as long as each alone on a network that nothing else disturbs.
    let ring = |nodes: u32| {
        let mut spec = motif(single(12), "ring", &[("message", MotifValue::Integer(4_000))]);
        spec.jobs[0].nodes = Some(nodes);
        spec.jobs.remove(0)
    };
    let mut alone = plain(single(12));
    alone.control.end = None;
    alone.jobs = vec![ring(6)];
    let one = go(&alone).summary.jobs[0].time_ns.unwrap();
    let mut both = alone.clone();
    let mut second = ring(6);
    second.name = "second".into();
    if let Work::Ranks(ranks) = &mut second.work {
        let part = ranks.parts[0].clone();
        ranks.parts.push(Part { iterations: 2, ..part });
    }
    both.jobs.push(second);
    let jobs = go(&both).summary.jobs;
    assert_eq!(jobs[0].time_ns, Some(one));
    let messages = |job: usize| jobs[job].ranks().unwrap().messages;
    assert_eq!(messages(1), 3 * messages(0));
    assert!(jobs[1].time_ns.unwrap() > 2.0 * one && jobs[1].time_ns.unwrap() <= 3.0 * one);
}

#[test]
fn an_idle_rank_takes_less_than_two_kilobytes() {
    use work::ranks::state::{PEERS, PeerGroup, Rank};
    let mut spec = motif(single(64), "halo3d-26", &[]);
    spec.jobs[0].nodes = Some(64);
    let network = fabric::network::Network::build(&spec).unwrap();
    let plans = network.workload.ranks().unwrap();
    // All 26 neighbours met, nothing open.
    let groups = 26_usize.div_ceil(PEERS) + (1 << plans.list_bits);
    let idle = size_of::<Rank>() + (4 << plans.list_bits) + groups * size_of::<PeerGroup>();
    assert!(idle <= 2_000, "{idle} bytes");
}

#[test]
fn the_packets_of_programs_are_known_about_before_they_run() {
    let list = |numbers: &[u64]| MotifValue::List(numbers.to_vec());
    let works: [(&str, Vec<(&str, MotifValue)>); 3] = [
        (
            "halo3d-26",
            vec![("grid", list(&[64, 64, 64])), ("vars", MotifValue::Integer(4))],
        ),
        ("suba2a", vec![("messages", list(&[8_192, 8_192, 0]))]),
        ("sweep3d", vec![("grid", list(&[40, 40, 100]))]),
    ];
    for (kind, values) in works {
        let spec = motif(single(64), kind, &values);
        let network = fabric::network::Network::build(&spec).unwrap();
        let known = network.workload.ranks().unwrap().packets(network.packet);
        let took = go(&spec).summary.packets as f64;
        assert!(
            (known / took - 1.0).abs() < 0.25,
            "{kind}: {known} packets foreseen, {took} sent"
        );
    }
}
