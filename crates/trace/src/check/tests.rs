//! Each check has a case that it is for, and one that just is not.

use super::Check;
use crate::collected::{Collected, CollectedOperation};
use crate::header::{Members, TraceForm, TraceHeader};
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, NONE, Operation, UNKNOWN_SIZE};
use crate::repair::Repair;
use crate::sink::TraceSink;
use Kind as K;

fn message(kind: Kind, peer: u32, bytes: u64, tag: u32) -> CollectedOperation {
    Operation::message(kind, peer, bytes, tag).into()
}

fn requested(kind: Kind, peer: u32, request: u32) -> CollectedOperation {
    Operation {
        request,
        ..Operation::message(kind, peer, 8, 0)
    }
    .into()
}

fn of_requests(kind: Kind, request: u32, values: &[u64]) -> CollectedOperation {
    let operation = Operation {
        request,
        ..Operation::new(kind)
    };
    CollectedOperation {
        operation,
        values: values.to_vec(),
        ..CollectedOperation::default()
    }
}

fn collective(kind: Kind, communicator: u32, root: u32, bytes: u64) -> CollectedOperation {
    let root = if kind.has_root() { root } else { NONE };
    Operation {
        peer: root,
        ..Operation::collective(kind, communicator, bytes)
    }
    .into()
}

fn after(after: &[u32]) -> CollectedOperation {
    CollectedOperation {
        operation: Operation::compute(1),
        after: after.to_vec(),
        ..CollectedOperation::default()
    }
}

impl From<Operation> for CollectedOperation {
    fn from(operation: Operation) -> CollectedOperation {
        CollectedOperation {
            operation,
            ..CollectedOperation::default()
        }
    }
}

/// A trace of these operations, whose records count from 100 in steps of 10.
fn trace(form: TraceForm, ranks: &[&[CollectedOperation]]) -> Collected {
    let mut header = TraceHeader::new("test", ranks.len() as u32, form);
    header.files = (0..ranks.len()).map(|rank| format!("t.{rank}")).collect();
    let numbered = |operations: &&[CollectedOperation]| {
        let mut operations = operations.to_vec();
        for (i, listed) in operations.iter_mut().enumerate() {
            listed.record = 100 + 10 * i as u64;
        }
        operations
    };
    Collected {
        header,
        ranks: ranks.iter().map(numbered).collect(),
        names: vec!["main".into()],
    }
}

/// A check of a trace, ranks one after the other, which is the same as that of ranks in turn, or last rank first.
fn checked(trace: &Collected) -> Check {
    let mut check = Check::default();
    trace.tell(&mut check).expect("it is read to the end");
    let longest = trace.ranks.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..longest).flat_map(|i| (0..trace.ranks.len()).map(move |rank| (rank, i)));
    let from_last = (0..trace.ranks.len())
        .rev()
        .flat_map(|rank| (0..longest).map(move |i| (rank, i)));
    let orders: [Vec<(usize, usize)>; 2] = [in_turn.collect(), from_last.collect()];
    for order in orders {
        let mut other = Check::default();
        other.begin(&trace.header).expect("it begins");
        for (rank, i) in order {
            if let Some(one) = trace.ranks[rank].get(i) {
                let told = other.operation(rank as u32, one.record, &one.operation, &one.lists());
                told.expect("it goes on");
            }
        }
        other.end(&trace.names).expect("it ends");
        assert_eq!(other.figures(), check.figures());
        assert_eq!(other.problems().len(), check.problems().len(), "{:?}", other.problems());
    }
    check
}

fn words(trace: &Collected) -> Vec<String> {
    checked(trace).problems().iter().map(ToString::to_string).collect()
}

/// The trace has exactly these problems, and none when it is repaired.
#[track_caller]
fn finds(trace: &Collected, expected: &[&str]) {
    assert_eq!(words(trace), expected);
    let repaired = repaired(trace);
    assert_eq!(words(&repaired), [""; 0], "after repair: {:?}", repaired.ranks);
}

fn repaired(trace: &Collected) -> Collected {
    let check = checked(trace);
    let mut repair = Repair::new(&check, Collected::default());
    trace.tell(&mut repair).expect("it is read to the end");
    let told: u64 = repair.left_out().values().sum();
    let repaired = repair.into_inner();
    if trace.header.form == TraceForm::Program {
        let lost = |from: &Collected| from.ranks.iter().flatten().map(|one| ends(&one.operation)).sum::<u64>();
        assert_eq!(lost(trace) - lost(&repaired), told, "what is left out is counted");
    }
    repaired
}

fn ends(operation: &Operation) -> u64 {
    1 + u64::from(operation.kind == K::Sendrecv)
}

#[test]
fn messages_that_meet_are_no_problem() {
    let sends = [
        message(K::Send, 1, 8, 5),
        message(K::Isend, 1, 16, 5),
        message(K::Send, 1, 4, 6),
    ];
    let receives = [
        message(K::Recv, 0, 4, 6),
        message(K::Recv, 0, 8, 5),
        message(K::Irecv, 0, 20, 5),
    ];
    finds(&trace(TraceForm::Program, &[&sends, &receives]), &[]);
    let open = [
        message(K::Recv, ANY_SOURCE, UNKNOWN_SIZE, 5),
        message(K::Recv, 0, UNKNOWN_SIZE, ANY_TAG),
        message(K::Recv, ANY_SOURCE, 99, ANY_TAG),
    ];
    finds(&trace(TraceForm::Program, &[&sends, &open]), &[]);
    // A rank may talk to itself, and a probe takes nothing.
    let alone = [
        message(K::Isend, 0, 8, 0),
        message(K::Probe, 0, 0, 0),
        message(K::Recv, 0, 8, 0),
    ];
    finds(&trace(TraceForm::Program, &[&alone]), &[]);
    let around = |to, from| {
        [CollectedOperation::from(Operation {
            source: from,
            source_tag: 3,
            ..Operation::message(K::Sendrecv, to, 8, 3)
        })]
    };
    let ring = trace(TraceForm::Program, &[&around(1, 2), &around(2, 0), &around(0, 1)]);
    finds(&ring, &[]);
}

#[test]
fn sends_without_receives_are_found() {
    let sends = vec![message(K::Send, 1, 8, 5); 4];
    let receives = vec![message(K::Recv, 0, 8, 5); 2];
    let some = trace(TraceForm::Program, &[&sends, &receives]);
    finds(
        &some,
        &[
            "t.0, rank 0, record 120: rank 1 never receives this message (8 B, tag 5), nor 1 more; \
           add the receive, with the same tag and communicator",
        ],
    );
    let figures = checked(&some).figures().clone();
    assert_eq!((figures.unmatched_sends, figures.unmatched_receives), (2, 0));
    assert_eq!(repaired(&some).ranks[0].len(), 2, "the first two stay");
}

#[test]
fn receives_without_sends_are_found() {
    let receives = [message(K::Recv, 0, 8, 5), message(K::Recv, 0, 8, 6)];
    let some = trace(TraceForm::Program, &[&[message(K::Send, 1, 8, 5)], &receives]);
    finds(
        &some,
        &[
            "t.1, rank 1, record 110: rank 1 receives from rank 0 (tag 6) what is never sent; \
           add the send, or take the receive out",
        ],
    );
    assert_eq!(checked(&some).figures().unmatched_receives, 1);
}

#[test]
fn receives_that_leave_it_open_are_counted() {
    let sends = [message(K::Send, 2, 8, 5), message(K::Send, 2, 8, 6)];
    let any = |tag| message(K::Recv, ANY_SOURCE, 8, tag);
    // One too many, of what is there.
    let receives = [any(5), any(5), any(5)];
    let some = trace(TraceForm::Program, &[&sends, &sends[..1], &receives]);
    let (nothing, never) = (
        "t.2, rank 2, record 120: nothing is left for rank 2 to receive here; add the send, or take the receive out",
        "t.0, rank 0, record 110: rank 2 never receives this message (8 B, tag 6); \
         add the receive, with the same tag and communicator",
    );
    finds(&some, &[never, nothing]);
    let receives = [any(5), any(5), any(ANY_TAG)];
    finds(&trace(TraceForm::Program, &[&sends, &sends[..1], &receives]), &[]);
    // Source and tag are open in turn: it could be that all meet.
    let receives = [any(5), message(K::Recv, 0, 8, ANY_TAG), any(6)];
    finds(&trace(TraceForm::Program, &[&sends, &sends[..1], &receives]), &[]);
    let receives = [any(5), message(K::Recv, 0, 8, ANY_TAG)];
    let words = words(&trace(TraceForm::Program, &[&sends, &sends[..1], &receives]));
    assert_eq!(words.len(), 1, "{words:?}");
}

#[test]
fn small_receives_are_found() {
    let sends = [message(K::Send, 1, 8, 5), message(K::Send, 1, 9, 5)];
    let receives = vec![message(K::Recv, 0, 8, 5); 2];
    let some = trace(TraceForm::Program, &[&sends, &receives]);
    finds(
        &some,
        &[
            "t.1, rank 1, record 110: rank 1 receives 8 B of a message of 9 B, sent by rank 0 in record 110; \
           give the receive at least as many bytes",
        ],
    );
    assert_eq!(checked(&some).figures().small_receives, 1);
    // Where the receive is of any source, it may have another message.
    let open = [
        message(K::Recv, 0, 8, 5),
        message(K::Recv, 0, 8, 5),
        message(K::Recv, ANY_SOURCE, 9, 5),
    ];
    let from_all = [
        message(K::Send, 1, 8, 5),
        message(K::Send, 1, 8, 5),
        message(K::Send, 1, 9, 5),
    ];
    finds(&trace(TraceForm::Program, &[&from_all, &open]), &[]);
}

#[test]
fn sizes_in_a_graph_are_a_collection() {
    let sends = [message(K::Send, 1, 8, 5), message(K::Send, 1, 9, 5)];
    let other_way = [message(K::Recv, 0, 9, 5), message(K::Recv, 0, 8, 5)];
    finds(&trace(TraceForm::Graph, &[&sends, &other_way]), &[]);
    let too_small = [message(K::Recv, 0, 10, 5), message(K::Recv, 0, 7, 5)];
    assert_eq!(words(&trace(TraceForm::Graph, &[&sends, &too_small])).len(), 1);
    assert_eq!(words(&trace(TraceForm::Program, &[&sends, &other_way])).len(), 1);
}

#[test]
fn collectives_in_another_order_are_found() {
    let all = |n| collective(K::Allreduce, 0, 0, n);
    let barrier = collective(K::Barrier, 0, 0, 0);
    let (usual, other) = ([all(8), barrier.clone(), all(8)], [all(8), all(8), barrier]);
    finds(&trace(TraceForm::Program, &[&usual, &usual]), &[]);
    let words = words(&trace(TraceForm::Program, &[&usual, &other]));
    let hint = "all ranks of a communicator come to its collectives in the same order, with the same size and root";
    let expected = format!(
        "t.1, rank 1, record 110: allreduce of 8 B of rank 1 meets barrier of rank 0, as number 1 of communicator 0; {hint}"
    );
    assert_eq!(words, [expected]);
}

#[test]
fn collectives_of_another_root_or_size_are_found() {
    let bcast = |root, bytes| [collective(K::Bcast, 0, root, bytes)];
    let unknown = trace(TraceForm::Program, &[&bcast(1, UNKNOWN_SIZE), &bcast(1, 8)]);
    finds(&unknown, &[]);
    for (one, expected) in [
        (bcast(0, 8), "bcast of 8 B, root 0,"),
        (bcast(1, 9), "bcast of 9 B, root 1,"),
    ] {
        let some = trace(TraceForm::Program, &[&bcast(1, 8), &one]);
        let words = words(&some);
        assert_eq!(words.len(), 1);
        let reason = format!("{expected} of rank 1 meets bcast of 8 B, root 1, of rank 0, as number 0");
        assert!(words[0].contains(&reason), "{words:?}");
        assert_eq!(checked(&some).figures().unmatched_collectives, 2);
        assert_eq!(repaired(&some).ranks.concat(), []);
    }
    // What differs by rank may differ, and the sizes that all know may not.
    let own = |n| [collective(K::Gatherv, 0, 1, n)];
    finds(&trace(TraceForm::Program, &[&own(4), &own(5)]), &[]);
    let listed = |values: &[u64]| {
        let mut one = collective(K::Allgatherv, 0, 0, 4);
        one.values = values.to_vec();
        [one]
    };
    finds(&trace(TraceForm::Program, &[&listed(&[4, 4]), &listed(&[])]), &[]);
    assert_eq!(
        words(&trace(TraceForm::Program, &[&listed(&[4, 4]), &listed(&[4, 5])])).len(),
        1
    );
}

#[test]
fn ranks_that_do_not_come_to_a_collective_are_found() {
    let all = vec![collective(K::Allreduce, 0, 0, 8); 3];
    let some = trace(TraceForm::Program, &[&all, &all[..2], &all]);
    finds(
        &some,
        &[
            "t.1, rank 1, record 110: rank 1 comes to 2 collectives of communicator 0, rank 0 to 3; \
           every rank of a communicator takes part in all of them",
        ],
    );
    assert_eq!(checked(&some).figures().unmatched_collectives, 2);
    let mut pairs = trace(
        TraceForm::Program,
        &[
            &[collective(K::Barrier, 1, 0, 0)],
            &[],
            &[collective(K::Barrier, 1, 0, 0)],
        ],
    );
    pairs.header.communicators.push(Members::of(vec![2, 0]));
    finds(&pairs, &[]);
    pairs.ranks[2].clear();
    finds(
        &pairs,
        &[
            "t.2, rank 2: rank 2 comes to 0 collectives of communicator 1, rank 0 to 1; \
           every rank of a communicator takes part in all of them",
        ],
    );
}

#[test]
fn fields_that_name_what_is_not_there_are_found() {
    let mut sized = collective(K::Alltoallv, 0, 0, 0);
    sized.values = vec![1];
    let cases = [
        (
            message(K::Send, 2, 8, 0),
            "there is no rank 2 to talk to; ranks are 0..=1",
        ),
        (
            message(K::Put, NONE, 8, 0),
            "put does not say whom it is for; ranks are 0..=1",
        ),
        (
            message(K::Recv, NONE, 8, 0),
            "recv does not say whom to receive from; ranks are 0..=1",
        ),
        (message(K::Send, ANY_SOURCE, 8, 0), "send to any rank; ranks are 0..=1"),
        (
            message(K::Isend, 1, 8, ANY_TAG),
            "isend with any tag; only receives may leave it open",
        ),
        (
            Operation {
                communicator: 3,
                ..Operation::message(K::Send, 1, 8, 0)
            }
            .into(),
            "there is no communicator 3; there are 2 communicators",
        ),
        (
            Operation {
                communicator: 1,
                ..Operation::message(K::Send, 1, 8, 0)
            }
            .into(),
            "rank 1 is not in communicator 1, in which send names it; both ends of a message are in its communicator",
        ),
    ];
    for (one, expected) in cases {
        let mut some = trace(TraceForm::Program, &[&[one], &[]]);
        some.header.communicators.push(Members::of(vec![0]));
        finds(&some, &[&format!("t.0, rank 0, record 100: {expected}")]);
    }
    let stranger = Operation {
        communicator: 1,
        ..Operation::new(K::Barrier)
    }
    .into();
    let mut some = trace(TraceForm::Program, &[&[], &[stranger]]);
    some.header.communicators.push(Members::of(vec![0]));
    let expected = "rank 1 does barrier in communicator 1, which it is not in; a communicator is used by its own ranks";
    finds(&some, &[&format!("t.1, rank 1, record 100: {expected}")]);
    for (one, other, expected) in [
        (
            collective(K::Bcast, 0, 2, 8),
            collective(K::Bcast, 0, 1, 8),
            "the root 2 of bcast is not in a communicator of 2",
        ),
        (
            sized,
            collective(K::Alltoallv, 0, 0, 0),
            "alltoallv lists 1 sizes in a communicator of 2",
        ),
        (
            collective(K::Allreduce, 0, 0, super::LARGEST + 1),
            collective(K::Allreduce, 0, 0, 8),
            "1099511562240 bytes are too many for allreduce",
        ),
        (
            message(K::Send, 1, super::LARGEST + 1, 0),
            message(K::Recv, 0, 8, 0),
            "1099511562240 bytes are too many for send",
        ),
    ] {
        let some = trace(TraceForm::Program, &[&[one], &[other]]);
        let words = words(&some);
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(
            words[0].starts_with(&format!("t.0, rank 0, record 100: {expected}; ")),
            "{words:?}"
        );
        assert_eq!(repaired(&some).ranks.concat(), [], "{expected}: both are left out");
    }
    let largest = [message(K::Send, 1, super::LARGEST, 0)];
    finds(
        &trace(
            TraceForm::Program,
            &[&largest, &[message(K::Recv, 0, super::LARGEST, 0)]],
        ),
        &[],
    );
}

#[test]
fn communicators_have_ranks_that_are_there_once() {
    for (members, expected) in [
        (Members::List(vec![0, 2, 1]), None),
        (
            Members::List(vec![1, 0, 1]),
            Some("communicator 1 has rank 1 twice; every rank once"),
        ),
        (
            Members::List(vec![0, 3]),
            Some("communicator 1 has rank 3, which is not there; ranks are 0..=2"),
        ),
        (
            Members::Range {
                first: 1,
                count: 2,
                stride: u32::MAX,
            },
            Some("communicator 1 has rank 4294967296, which is not there; ranks are 0..=2"),
        ),
        (
            Members::Range {
                first: 1,
                count: 2,
                stride: 0,
            },
            Some("communicator 1 has rank 1 twice; every rank once"),
        ),
    ] {
        let one = [collective(K::Barrier, 1, 0, 0)];
        let mut some = trace(TraceForm::Program, &[&one, &one, &one]);
        some.header.communicators.push(members);
        let expected: Vec<String> = expected.iter().map(|words| format!("t.0: {words}")).collect();
        assert_eq!(words(&some), expected);
    }
    let mut some = trace(TraceForm::Program, &[&[], &[]]);
    some.header.communicators[0] = Members::of(vec![0]);
    assert_eq!(
        words(&some),
        ["t.0: communicator 0 does not have all ranks; it has the ranks 0..=1"]
    );
}

#[test]
fn requests_are_started_before_they_are_waited_for() {
    let to_itself = |ops: &[CollectedOperation]| {
        let mut all = ops.to_vec();
        all.push(of_requests(K::Waitall, NONE, &[]));
        trace(TraceForm::Program, &[&all])
    };
    let (isend, irecv) = (|r| requested(K::Isend, 0, r), |r| requested(K::Irecv, 0, r));
    let wait = |r| of_requests(K::Wait, r, &[]);
    for (ops, expected) in [
        (vec![isend(1), irecv(2), wait(1), wait(2)], None),
        (
            vec![isend(1), irecv(2), wait(3), wait(2)],
            Some("120: rank 0 has made no request 3 before"),
        ),
        (
            vec![isend(1), wait(2), irecv(2)],
            Some("110: rank 0 has made no request 2 before"),
        ),
        (
            vec![isend(1), irecv(2), of_requests(K::Waitall, NONE, &[2, 1, 7])],
            Some("120: rank 0 has made no request 7 before"),
        ),
        (
            vec![isend(1), irecv(2), of_requests(K::Waitany, 9, &[1, 2])],
            Some("120: rank 0 has made no request 9 before"),
        ),
        (
            vec![isend(1), irecv(2), of_requests(K::Test, NONE, &[1, u64::MAX])],
            Some("120: rank 0 has made no request 18446744073709551615 before"),
        ),
    ] {
        let expected = expected.map(|words| {
            format!("t.0, rank 0, record {words}; start it before, or leave it out of what is waited for")
        });
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        finds(&to_itself(&ops), &expected);
    }
    // Over and waited for once more, as MPI allows of a request that is null by then.
    finds(&to_itself(&[isend(1), irecv(2), wait(1), wait(1)]), &[]);
    let left = to_itself(&[isend(1), irecv(2), wait(1)]);
    let mut left = left;
    left.ranks[0].pop();
    assert_eq!(checked(&left).figures().requests_left, 1);
    assert_eq!(checked(&left).problems(), []);
}

#[test]
fn requests_are_not_started_while_they_are_pending() {
    let (isend, irecv) = (|r| requested(K::Isend, 0, r), |r| requested(K::Irecv, 0, r));
    let again = "t.0, rank 0, record 120: rank 0 makes request 1 again, which is pending since record 100; \
                 wait for it before, or take another number";
    let between = |one: CollectedOperation| {
        let two = [isend(1), one, irecv(1), of_requests(K::Waitall, NONE, &[])];
        words(&trace(TraceForm::Program, &[&two]))
    };
    assert_eq!(between(Operation::compute(1).into()), [again]);
    for harmless in [
        of_requests(K::Wait, 1, &[]),
        of_requests(K::Test, 1, &[]),
        of_requests(K::Waitall, NONE, &[1]),
        of_requests(K::Waitall, NONE, &[]),
        of_requests(K::Waitany, 1, &[1]),
        of_requests(K::Waitany, NONE, &[]),
    ] {
        assert_eq!(between(harmless), [""; 0]);
    }
}

#[test]
fn time_does_not_go_back() {
    let at = |start, lane| {
        CollectedOperation::from(Operation {
            start,
            lane,
            ..Operation::compute(1)
        })
    };
    finds(
        &trace(
            TraceForm::Program,
            &[&[at(5, 0), at(5, 0), at(0, 0), at(6, 0), at(3, 1)]],
        ),
        &[],
    );
    for lane in [0, 1] {
        let back = trace(TraceForm::Program, &[&[at(5, lane), at(4, lane)]]);
        assert_eq!(
            words(&back),
            [
                "t.0, rank 0, record 110: time goes back: rank 0 begins this at 4 ps, the one before at 5 ps; \
              record it again with synchronised clocks, or put its operations in order"
            ]
        );
    }
    assert_eq!(words(&trace(TraceForm::Graph, &[&[at(5, 0), at(4, 0)]])), [""; 0]);
}

#[test]
fn regions_have_names() {
    let of = |region| {
        CollectedOperation::from(Operation {
            region,
            ..Operation::compute(1)
        })
    };
    finds(&trace(TraceForm::Program, &[&[of(0)]]), &[]);
    let words = words(&trace(TraceForm::Program, &[&[of(0), of(1)]]));
    assert_eq!(
        words,
        ["t.0, rank 0, record 110: region 1 has no name; there are 1 names of regions"]
    );
}

#[test]
fn dependencies_are_on_what_is_there() {
    let forward = [after(&[1, 3]), after(&[]), after(&[0, 1]), after(&[1])];
    finds(&trace(TraceForm::Graph, &[&forward]), &[]);
    assert_eq!(
        words(&trace(TraceForm::Graph, &[&[after(&[]), after(&[0, 1])]])),
        ["t.0, rank 0, record 110: operation 1 of rank 0 depends on itself; take the dependency out"]
    );
    assert_eq!(
        words(&trace(TraceForm::Graph, &[&[after(&[]), after(&[2])]])),
        ["t.0, rank 0, record 110: operation 1 of rank 0 depends on operation 2; the rank has the operations 0..=1"]
    );
}

#[test]
fn circles_of_dependencies_are_named() {
    let circle = |ops: &[CollectedOperation]| words(&trace(TraceForm::Graph, &[ops]));
    // A long way round and a short one, between what is sound.
    let ops = [
        after(&[]),
        after(&[0, 4]),
        after(&[1]),
        after(&[2]),
        after(&[3, 1]),
        after(&[4]),
    ];
    let expected = "t.0, rank 0, record 110: operations of rank 0 wait for each other: 1 -> 4 -> 1; \
                    take one of these dependencies out";
    assert_eq!(circle(&ops), [expected]);
    let started = CollectedOperation {
        after: vec![],
        after_start: vec![1],
        ..after(&[])
    };
    assert_eq!(
        circle(&[started.clone(), after(&[0])]).len(),
        1,
        "a start that waits for a start"
    );
    assert_eq!(circle(&[started, after(&[])]), [""; 0]);
    let two = [
        after(&[1]),
        after(&[0]),
        after(&[]),
        after(&[4]),
        after(&[5]),
        after(&[3]),
    ];
    assert_eq!(circle(&two).len(), 2);
    let long: Vec<CollectedOperation> = (0..100_000_u32).map(|i| after(&[(i + 1) % 100_000])).collect();
    let words = circle(&long);
    assert_eq!(words.len(), 1);
    assert!(
        words[0].contains(" 0 -> 1 -> 2 -> 3 -> 4 -> ... 99990 more ... -> 99995"),
        "{words:?}"
    );
}

#[test]
fn a_flood_is_counted_and_told_in_part() {
    let sends: Vec<CollectedOperation> = (0..50).map(|tag| message(K::Send, 1, 8, tag)).collect();
    let check = checked(&trace(TraceForm::Program, &[&sends, &[]]));
    assert_eq!((check.problems().len(), check.more()), (10, 40));
    assert_eq!((check.figures().unmatched_sends, check.figures().problems), (50, 50));
}

#[test]
fn nothing_is_no_problem() {
    finds(&trace(TraceForm::Program, &[]), &[]);
    finds(&trace(TraceForm::Graph, &[&[], &[]]), &[]);
}

#[test]
fn repair_takes_waits_out_with_what_they_wait_for() {
    let isend = requested(K::Isend, 1, 1);
    let waits = [
        isend.clone(),
        isend_other(),
        of_requests(K::Waitall, NONE, &[1, 2]),
        of_requests(K::Wait, 1, &[]),
    ];
    let receives = [Operation {
        ..Operation::message(K::Recv, 0, 8, 7)
    }
    .into()];
    let after = repaired(&trace(TraceForm::Program, &[&waits, &receives]));
    let kinds: Vec<Kind> = after.ranks[0].iter().map(|one| one.operation.kind).collect();
    assert_eq!(kinds, [K::Isend, K::Waitall]);
    assert_eq!(after.ranks[0][1].values, [2]);
}

fn isend_other() -> CollectedOperation {
    Operation {
        request: 2,
        ..Operation::message(K::Isend, 1, 8, 7)
    }
    .into()
}

#[test]
fn repair_keeps_the_end_of_a_sendrecv_that_meets_something() {
    let both = Operation {
        source: 1,
        source_tag: 4,
        received: 6,
        ..Operation::message(K::Sendrecv, 1, 8, 3)
    };
    let send_only = trace(TraceForm::Program, &[&[both.into()], &[message(K::Recv, 0, 8, 3)]]);
    let kept = &repaired(&send_only).ranks[0][0].operation;
    assert_eq!(*kept, Operation::message(K::Send, 1, 8, 3));
    let receive_only = trace(TraceForm::Program, &[&[both.into()], &[message(K::Send, 0, 5, 4)]]);
    let kept = &repaired(&receive_only).ranks[0][0].operation;
    assert_eq!(*kept, Operation::message(K::Recv, 1, 6, 4));
}

#[test]
fn repair_keeps_the_numbers_of_a_graph() {
    let mut graph = trace(TraceForm::Graph, &[&[message(K::Send, 1, 8, 0), after(&[0])], &[]]);
    graph.ranks[0][1].after_start = vec![0];
    let after = repaired(&graph);
    assert_eq!(after.ranks[0].len(), 2);
    assert_eq!(after.ranks[0][0].operation, Operation::compute(0));
    assert_eq!(after.ranks[0][1], graph.ranks[0][1]);
    finds(&after, &[]);
}

#[test]
fn repair_is_of_the_trace_that_was_checked() {
    let one = trace(TraceForm::Program, &[&[], &[]]);
    let check = checked(&one);
    let mut repair = Repair::new(&check, Collected::default());
    assert!(trace(TraceForm::Program, &[&[]]).tell(&mut repair).is_err());
}
