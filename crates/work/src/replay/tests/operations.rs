//! Operations become those that ranks know, by the rules that the motif tells.

use super::*;
use crate::motif::tests::play;
use crate::motif::{OpTable, op_table};

fn meets(kind: CollectiveKind, bytes: u64, root: u32) -> Op {
    Op::Collective(Collective {
        kind,
        communicator: 0,
        bytes,
        root,
    })
}

#[test]
fn what_ranks_know_is_played_as_it_is() {
    let exchange = Operation {
        source: 2,
        source_tag: 9,
        ..message(Kind::Sendrecv, 1, 70)
    };
    let trace = collected(vec![
        vec![
            Operation::compute(123_456_789_012_345_679),
            message(Kind::Send, 1, 10),
            message(Kind::Recv, 2, 20),
            named(Kind::Isend, 1, 30, 77),
            named(Kind::Irecv, 2, UNKNOWN_SIZE, 4_000_000_000),
            on(4_000_000_000, Kind::Test),
            on(77, Kind::Wait),
            named(Kind::Irecv, 2, 40, 77),
            Operation::new(Kind::Waitall),
            exchange,
            Operation::new(Kind::Enter),
            Operation::new(Kind::Probe),
            Operation::new(Kind::Leave),
            Operation::new(Kind::CommFree),
        ],
        vec![],
        vec![],
    ]);
    let expected = [
        Op::Compute {
            time: 123_456_789_012_345_679,
        },
        Op::Send(transfer(1, 10, UNNAMED)),
        Op::Recv(transfer(2, 20, UNNAMED)),
        Op::Isend(transfer(1, 30, 0)),
        Op::Irecv(transfer(2, ANY_SIZE, 1)),
        Op::Test { request: 1 },
        Op::Wait { request: 0 },
        Op::Irecv(transfer(2, 40, 0)),
        Op::WaitAll,
        Op::SendRecv {
            send: transfer(1, 70, UNNAMED),
            recv: Transfer {
                tag: 9,
                ..transfer(2, ANY_SIZE, UNNAMED)
            },
        },
    ];
    assert_eq!(ops(&program(&trace), 0), expected);
}

#[test]
fn some_of_the_open_requests_are_waited_for_one_by_one() {
    let begin = |k| (named(Kind::Irecv, 1, 8, k), vec![]);
    let wait = |requests: &[u64]| (Operation::new(Kind::Waitall), requests.to_vec());
    let any = |request, requests: &[u64]| (on(request, Kind::Waitany), requests.to_vec());
    let trace = with_lists(vec![
        vec![
            begin(10),
            begin(11),
            begin(12),
            wait(&[12, 10]),
            begin(10),
            wait(&[10, 11]),
            begin(20),
            begin(21),
            any(21, &[20, 21]),
            any(NONE, &[20]),
            // Never waited for: the iteration ends when it is over.
            begin(22),
        ],
        vec![],
    ]);
    let irecv = |request| Op::Irecv(transfer(1, 8, request));
    let wait = |request| Op::Wait { request };
    let expected = [
        irecv(0),
        irecv(1),
        irecv(2),
        wait(2),
        wait(0),
        irecv(0),
        Op::WaitAll,
        irecv(0),
        irecv(1),
        wait(1),
        Op::WaitAny,
        irecv(1),
        Op::WaitAll,
    ];
    let mut told = ops(&program(&trace), 0);
    // Which of two free names is given does not matter, only that it is free.
    for op in &mut told {
        if let Op::Irecv(transfer) = op {
            assert!(transfer.request < 3);
        }
    }
    assert_eq!(told, expected);
}

#[test]
fn what_needs_no_network_or_does_not_wait_is_left_out_or_does_not_wait() {
    let buffered = |kind, request| Operation {
        mode: Mode::Buffered,
        request,
        ..message(kind, 1, 8)
    };
    let mut trace = collected(vec![
        vec![
            named(Kind::Isend, NONE, 8, 3),
            on(3, Kind::Wait),
            message(Kind::Recv, NONE, 8),
            buffered(Kind::Send, NONE),
            buffered(Kind::Isend, 4),
            on(4, Kind::Wait),
            // A collective that another rank waits in is one that waits, and waiting for it is nothing.
            Operation {
                request: 5,
                ..Operation::collective(Kind::Allreduce, 0, 16)
            },
            on(5, Kind::Wait),
            // Alone in a communicator.
            Operation::collective(Kind::Allreduce, 1, 16),
            Operation {
                peer: 0,
                ..Operation::collective(Kind::Bcast, 1, 16)
            },
        ],
        vec![Operation::collective(Kind::Allreduce, 0, 16)],
    ]);
    trace.header.communicators.push(Members::List(vec![0]));
    let program = program(&trace);
    let isend = Op::Isend(transfer(1, 8, UNNAMED));
    let wait = Op::Wait { request: 0 };
    let expected = [isend, isend, meets(CollectiveKind::Allreduce, 16, 0), wait, Op::WaitAll];
    assert_eq!(ops(&program, 0), expected);
    assert_eq!(program.communicators().len(), 1);
}

#[test]
fn collectives_that_do_not_wait_are_begun_and_waited_for_by_name() {
    let begun = |kind, communicator, request| Operation {
        request,
        ..Operation::collective(kind, communicator, 16)
    };
    // Copies of a communicator, whose collectives ranks may begin in different orders.
    let mut trace = collected(vec![
        vec![
            begun(Kind::Allreduce, 0, 70),
            begun(Kind::CommCreate, 1, 71),
            on(70, Kind::Wait),
            begun(Kind::Scan, 1, 72),
            Operation::collective(Kind::Barrier, 0, 0),
            Operation::new(Kind::Waitall),
        ],
        vec![
            begun(Kind::CommCreate, 1, 5),
            begun(Kind::Allreduce, 0, 6),
            begun(Kind::Scan, 1, 7),
            Operation::collective(Kind::Barrier, 0, 0),
        ],
    ]);
    trace.header.communicators.push(Members::List(vec![1, 0]));
    trace.header.communicators.push(Members::List(vec![1, 0]));
    // Not one family after the other: rank 0 is alone in one.
    trace.header.communicators.push(Members::List(vec![0]));
    let program = program(&trace);
    let icollective = |op: &Op| match op {
        Op::Icollective { collective, request } => Some((collective.kind, collective.communicator, *request)),
        _ => None,
    };
    let all: Vec<Vec<_>> = [0, 1]
        .map(|rank| ops(&program, rank).iter().filter_map(icollective).collect())
        .into();
    use CollectiveKind::{Allreduce, Barrier};
    let (own, other) = (all[0][0].1, all[0][1].1);
    assert_ne!(own, other);
    // The lowest name that is free.
    assert_eq!(
        all[0],
        [(Allreduce, own, 0), (Barrier, other, 1), (Allreduce, other, 0)]
    );
    assert_eq!(
        all[1],
        [(Barrier, other, 0), (Allreduce, own, 1), (Allreduce, other, 2)]
    );
    let waits = |rank| {
        ops(&program, rank)
            .into_iter()
            .filter(|op| matches!(op, Op::Wait { .. } | Op::WaitAll))
    };
    assert_eq!(waits(0).collect::<Vec<_>>(), [Op::Wait { request: 0 }, Op::WaitAll]);
    // What nobody waits for is waited for at the end.
    assert_eq!(waits(1).collect::<Vec<_>>(), [Op::WaitAll]);
}

#[test]
fn ranks_agree_on_collectives_whatever_each_of_them_tells() {
    use CollectiveKind as C;
    let of = |kind, bytes, received| Operation {
        received,
        ..Operation::collective(kind, 0, bytes)
    };
    let rooted = |kind, bytes| Operation {
        peer: 1,
        ..of(kind, bytes, 0)
    };
    let size = |rank: u64| 10 * rank + 1;
    // Sizes of ranks are 1, 11, 21: 33 in all.
    let rank = |me: u64| {
        let root = me == 1;
        let list = |when: bool| if when { vec![1, 11, 21] } else { vec![] };
        vec![
            (of(Kind::Barrier, 0, 0), vec![]),
            (of(Kind::CommCreate, 0, 0), vec![]),
            (rooted(Kind::Bcast, if root { 100 } else { 0 }), vec![]),
            (rooted(Kind::Reduce, 200), vec![]),
            (of(Kind::Allreduce, 300, 0), vec![]),
            (of(Kind::Scan, 301, 0), vec![]),
            (of(Kind::Exscan, 302, 0), vec![]),
            (rooted(Kind::Gather, 400), vec![]),
            (rooted(Kind::Gatherv, size(me)), list(root)),
            (rooted(Kind::Scatter, if root { 500 } else { 0 }), vec![]),
            (
                Operation {
                    received: size(me),
                    ..rooted(Kind::Scatterv, 0)
                },
                list(root),
            ),
            (of(Kind::Allgather, 600, 0), vec![]),
            (of(Kind::Allgatherv, size(me), 33), list(true)),
            (of(Kind::Alltoall, 700, 0), vec![]),
            (of(Kind::ReduceScatter, 33, size(me)), list(true)),
            (of(Kind::ReduceScatterBlock, 800, 0), vec![]),
        ]
    };
    let program = program(&with_lists((0..3).map(rank).collect()));
    let expected = [
        meets(C::Barrier, 0, 0),
        meets(C::Barrier, 0, 0),
        meets(C::Bcast, 100, 1),
        meets(C::Reduce, 200, 1),
        meets(C::Allreduce, 300, 0),
        meets(C::Allreduce, 301, 0),
        meets(C::Allreduce, 302, 0),
        meets(C::Gather, 400, 1),
        meets(C::Gather, 11, 1),
        meets(C::Scatter, 500, 1),
        meets(C::Scatter, 11, 1),
        meets(C::Allgather, 600, 0),
        meets(C::Allgather, 11, 0),
        meets(C::Alltoall, 700, 0),
        meets(C::ReduceScatter, 11, 0),
        meets(C::ReduceScatter, 800, 0),
    ];
    for rank in 0..3 {
        assert_eq!(ops(&program, rank), expected);
    }
}

#[test]
fn an_alltoallv_has_the_sizes_of_its_own_lists() {
    let to = |me: u64, other: u64| 100 * me + other + 1;
    let all = |scale: u64| move |me: u64| (0..4).map(|other| scale * to(me, other)).collect::<Vec<u64>>();
    let call = |list: Vec<u64>| {
        let sum = list.iter().sum();
        (Operation::collective(Kind::Alltoallv, 1, sum), list)
    };
    let rank = |me: u64| {
        // The second has sums only, the third is the first again.
        let sums = (Operation::collective(Kind::Alltoallv, 1, 10 + me), vec![]);
        vec![call(all(1)(me)), sums, call(all(1)(me)), call(all(7)(me))]
    };
    let mut trace = with_lists((0..4).map(rank).collect());
    // Ranks have other numbers in the communicator.
    trace.header.communicators.push(Members::List(vec![2, 3, 0, 1]));
    let program = program(&trace);
    for me in 0..4u32 {
        let told = ops(&program, me);
        let sent = |index: usize, number: u32| match told[index] {
            Op::Collective(collective) => {
                assert_eq!(collective.kind, CollectiveKind::Alltoallv);
                let family = &program.communicators()[usize::from(collective.communicator)];
                program.pair_bytes(&collective, me, family.rank(me, number))
            }
            other => panic!("{other:?}"),
        };
        for number in 0..4 {
            let bytes = to(me.into(), number.into());
            assert_eq!(sent(0, number), bytes);
            assert_eq!(sent(2, number), bytes);
            assert_eq!(sent(3, number), 7 * bytes);
        }
        assert_eq!((0..4).map(|number| sent(1, number)).sum::<u64>(), 10 + u64::from(me));
        // The same list is kept once.
        assert_eq!(told[0], told[2]);
    }
}

#[test]
fn receives_from_anybody_are_from_whom_they_were_or_from_the_first() {
    let open = Operation {
        tag: ANY_TAG,
        source: 2,
        source_tag: 6,
        ..message(Kind::Recv, ANY_SOURCE, 8)
    };
    let untold = Operation { source: NONE, ..open };
    let send = Operation {
        tag: 6,
        ..message(Kind::Send, 0, 8)
    };
    let trace = collected(vec![vec![open, untold], vec![send], vec![send]]);
    let told = |any_source| {
        let mut recorder = CallRecorder::new(any_source, Repairing::None, 10);
        trace.tell(&mut recorder).unwrap();
        let program = TraceProgram::new(Arc::new(recorder.finish().unwrap()), PLAIN, 1.0);
        let told = ops(&program, 0);
        let Op::Send(sent) = ops(&program, 1)[0] else {
            panic!("no send")
        };
        let of = |op: &Op| match op {
            Op::Recv(transfer) => {
                assert_eq!(transfer.communicator, sent.communicator);
                (transfer.peer, transfer.tag)
            }
            other => panic!("{other:?}"),
        };
        ([of(&told[0]), of(&told[1])], sent.tag)
    };
    let any = (crate::mpi::op::ANY_SOURCE, crate::mpi::op::ANY_TAG);
    assert_eq!(told(AnySource::First).0, [any, any]);
    let (recorded, tag) = told(AnySource::Recorded);
    assert_eq!(recorded, [(2, tag), any]);
}

#[test]
fn it_does_not_matter_how_ranks_take_turns() {
    let mut random = des::rng::SplitMix(1);
    let ranks = 5;
    // Collectives of two communicators and messages around a ring, with tags of their own.
    let rank = |me: u32| {
        let mut all = Vec::new();
        for k in 0..300 {
            all.push(Operation::compute(u64::from(me + k)));
            all.push(Operation::message(Kind::Isend, (me + 1) % ranks, 8, 100_000 + k));
            all.push(Operation::message(Kind::Recv, (me + ranks - 1) % ranks, 8, 100_000 + k));
            all.push(Operation::collective(Kind::Allreduce, k % 2, 8));
        }
        all
    };
    let mut trace = collected((0..ranks).map(rank).collect());
    trace.header.communicators.push(Members::List(vec![4, 3, 2, 1, 0]));
    let straight = program(&trace);
    let mut recorder = CallRecorder::new(AnySource::Recorded, Repairing::None, 100);
    recorder.begin(&trace.header).unwrap();
    let mut next = vec![0; ranks as usize];
    while let Some(rank) = (0..ranks as usize).find(|&rank| next[rank] < trace.ranks[rank].len()) {
        let other = (random.next_word() % u64::from(ranks)) as usize;
        let rank = if next[other] < trace.ranks[other].len() {
            other
        } else {
            rank
        };
        let listed = &trace.ranks[rank][next[rank]];
        recorder
            .operation(rank as u32, listed.record, &listed.operation, &listed.lists())
            .unwrap();
        next[rank] += 1;
    }
    recorder.end(&trace.names).unwrap();
    let turns = TraceProgram::new(Arc::new(recorder.finish().unwrap()), PLAIN, 1.0);
    // Names of tags may differ, what meets does not.
    let played = |program| {
        let mut played = play::play(program, 1).unwrap();
        played.messages.sort_unstable();
        assert_eq!(played.messages.len(), 5 * 300);
        (played.messages, played.collectives, played.computed)
    };
    assert_eq!(played(&straight), played(&turns));
    assert_eq!(straight.communicators(), turns.communicators());
}

#[test]
fn each_rank_computes_as_long_as_in_the_trace_times_what_the_study_says() {
    let compute = |time, region| Operation {
        region,
        ..Operation::compute(time)
    };
    let rank = |me: u64| vec![compute(1_000 + me, 0), compute(1 << 60, 1), compute(3, NONE)];
    let trace = collected((0..4).map(rank).collect());
    let recording = Arc::new(record(&trace).unwrap());
    let computed = |times: ComputeTimes, scale| {
        let program = TraceProgram::new(recording.clone(), times, scale);
        play::play(&program, 2).unwrap().computed
    };
    let exact: Vec<u64> = (0..4).map(|me| 2 * (1_000 + me + (1 << 60) + 3)).collect();
    assert_eq!(computed(PLAIN, 3.0), exact);
    let half = ComputeTimes {
        each: 0.5,
        regions: vec![0.5, 0.0, 0.5],
    };
    // Halves are rounded away from zero.
    let halves: Vec<u64> = (0..4).map(|me| 2 * ((1_001 + me) / 2 + 2)).collect();
    assert_eq!(computed(half, 1.0), halves);
}

#[test]
fn operations_of_a_graph_are_those_of_its_ranks_with_lanes_dependencies_and_factors() {
    let mut trace = collected(vec![
        vec![
            Operation::compute(1_000),
            message(Kind::Send, 1, 100),
            Operation::new(Kind::Enter),
            Operation::collective(Kind::Allreduce, 0, 64),
        ],
        vec![
            message(Kind::Recv, 0, 100),
            Operation::collective(Kind::Allreduce, 0, 64),
        ],
    ]);
    trace.header.form = TraceForm::Graph;
    trace.ranks[0][1].after = vec![0];
    trace.ranks[0][3].after = vec![1, 2];
    trace.ranks[0][3].after_start = vec![0];
    trace.ranks[0][3].operation.lane = 7;
    let times = ComputeTimes {
        each: 0.5,
        regions: vec![],
    };
    let program = TraceProgram::new(Arc::new(record(&trace).unwrap()), times, 2.0);
    let graph = program.graph().expect("it is a graph");
    assert_eq!((graph.operations(), graph.dependencies()), (6, 4));
    let own = graph.rank(0);
    assert_eq!((own.roots, own.lanes), (&[0, 2][..], 8));
    assert_eq!((own.after_end(0), own.after_start(0)), (&[1][..], &[3][..]));
    assert_eq!((own.after_end(1), own.after_end(2)), (&[3][..], &[3][..]));
    let doing = |rank: u32, number: u32| {
        let operation = graph.rank(rank).operations[number as usize];
        program.doing(rank, number, &operation)
    };
    // What is left out keeps its number.
    assert_eq!((doing(0, 0), doing(0, 2)), (Doing::Compute(500), Doing::Compute(0)));
    let Doing::Send { peer, bytes, tag, .. } = doing(0, 1) else {
        panic!("{:?}", doing(0, 1));
    };
    assert_eq!((peer, bytes), (1, 200));
    assert!(matches!(doing(1, 0), Doing::Recv { peer: 0, bytes: 200, tag: received, .. } if received == tag));
    assert!(matches!(doing(1, 1), Doing::Collective(Collective { bytes: 128, .. })));
}

#[test]
fn a_sleep_is_as_long_as_it_is_told_whatever_computations_take() {
    let sleep = Operation {
        time: 250,
        ..Operation::new(Kind::Sleep)
    };
    let trace = collected(vec![vec![Operation::compute(1_000), sleep]]);
    let times = ComputeTimes {
        each: 0.5,
        regions: vec![],
    };
    let program = TraceProgram::new(Arc::new(record(&trace).unwrap()), times, 1.0);
    assert_eq!(ops(&program, 0), [Op::Compute { time: 500 }, Op::Compute { time: 250 }]);
}

#[test]
fn sizes_of_messages_and_collectives_have_a_factor() {
    let trace = collected(vec![
        vec![
            message(Kind::Send, 1, 101),
            Operation::collective(Kind::Allreduce, 0, 7),
        ],
        vec![
            message(Kind::Recv, 0, UNKNOWN_SIZE),
            Operation::collective(Kind::Allreduce, 0, 7),
        ],
    ]);
    let program = TraceProgram::new(Arc::new(record(&trace).unwrap()), PLAIN, 0.5);
    let half = [
        Op::Send(transfer(1, 51, UNNAMED)),
        meets(CollectiveKind::Allreduce, 4, 0),
    ];
    assert_eq!(ops(&program, 0), half);
    assert_eq!(ops(&program, 1)[0], Op::Recv(transfer(0, ANY_SIZE, UNNAMED)));
    assert_eq!(program.largest(), (51, 4, 2));
}

#[test]
fn a_table_of_operations_is_the_same_as_a_trace() {
    // LULESH on 8 ranks, recorded behind the standard ABI of MPI.
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/reference/traces/ops/lulesh-8ranks-20it.csv.gz"
    );
    let Ok((mut packed, _)) = trace::packed::open(file.as_ref()) else {
        eprintln!("not compared: {file} is not there");
        return;
    };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut packed, &mut text).unwrap();
    let rows = op_table::read_csv(&text).unwrap();
    let table = OpTable::new(8, Vec::new(), &rows).unwrap();
    let mut ranks = vec![Vec::new(); 8];
    for row in &rows {
        ranks[row.rank as usize].push(Operation {
            peer: row.peer.unwrap_or(0),
            bytes: row.bytes.unwrap_or(0),
            tag: row.tag.into(),
            request: row.request.map_or(NONE, u32::from),
            time: row.time,
            ..Operation::new(Kind::from_name(&row.op).unwrap())
        });
    }
    let program = program(&collected(ranks));
    for rank in 0..8 {
        let mut names = std::collections::BTreeMap::new();
        for (index, told) in ops(&program, rank).into_iter().enumerate() {
            let expected = table.op(rank, 0, index as u32).unwrap();
            let name = |op: &Op| match op {
                Op::Isend(transfer) | Op::Irecv(transfer) => Some(transfer.request),
                Op::Wait { request } => Some(*request),
                _ => None,
            };
            let without = |op: Op| match op {
                Op::Isend(transfer) => Op::Isend(Transfer { request: 0, ..transfer }),
                Op::Irecv(transfer) => Op::Irecv(Transfer { request: 0, ..transfer }),
                Op::Wait { .. } => Op::Wait { request: 0 },
                op => op,
            };
            assert_eq!(without(told), without(expected), "rank {rank}, operation {index}");
            // A request has another name, and the same one as long as it is open.
            if let (Some(told), Some(expected)) = (name(&told), name(&expected)) {
                match matches!(table.op(rank, 0, index as u32), Some(Op::Wait { .. })) {
                    false => assert_eq!(names.insert(told, expected), None, "{told} is open"),
                    true => assert_eq!(names.remove(&told), Some(expected)),
                }
            }
        }
        assert!(names.is_empty());
        assert_eq!(program.op(rank, 0, ops(&program, rank).len() as u32), None);
        assert_eq!(table.op(rank, 0, ops(&program, rank).len() as u32), None);
    }
}

#[test]
fn thousands_of_requests_and_tags_are_played() {
    let n = u32::from(BLOCK);
    let mut sends: Vec<Operation> = (0..n)
        .map(|k| Operation::message(Kind::Isend, 1, 8, 1_000_000 + k))
        .collect();
    (0..).zip(&mut sends).for_each(|(k, send)| send.request = k);
    sends.push(Operation::new(Kind::Waitall));
    let receives = (0..n)
        .map(|k| Operation::message(Kind::Recv, 0, 8, 1_000_000 + k))
        .collect();
    let program = program(&collected(vec![sends, receives]));
    let tags: std::collections::BTreeSet<u16> = ops(&program, 1)
        .into_iter()
        .map(|op| match op {
            Op::Recv(transfer) => transfer.tag,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(tags.len(), n as usize);
    for (sent, received) in ops(&program, 0).into_iter().zip(ops(&program, 1)) {
        let (Op::Isend(sent), Op::Recv(received)) = (sent, received) else {
            panic!("{sent:?}")
        };
        assert_eq!(sent.tag, received.tag);
    }
}
