//! Parts of traces: what is within matches as before, and what is cut in two is left out on both sides.

use crate::samples;
use std::path::PathBuf;
use trace::collected::CollectedOperation;
use trace::convert::{Converted, cut};
use trace::cut::TracePart;
use trace::operation::{ANY_SOURCE, NONE};
use trace::{Check, Collected, Kind, Members, Operation, ReadStop, TraceForm, TraceHeader};

fn listed(operation: Operation) -> CollectedOperation {
    CollectedOperation {
        operation,
        ..CollectedOperation::default()
    }
}

/// A ring: each rank sends around `rounds` times, waits, and all meet after each round; rank r is `skew` (ps) later than the one before.
/// The round is written into the bytes of its messages.
fn ring(ranks: u32, rounds: u64, skew: u64) -> Collected {
    let mut header = TraceHeader::new("otf2", ranks, TraceForm::Program);
    header.communicators.push(Members::of((0..ranks / 2).collect()));
    let rank = |rank: u32| -> Vec<CollectedOperation> {
        let round = |round: u64| -> Vec<CollectedOperation> {
            let at = |step: u64| 1 + round * 1000 + u64::from(rank) * skew + 100 * step;
            let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let message = |kind, peer, step| Operation {
                start: at(step),
                request: if kind == Kind::Send { NONE } else { 3 },
                region: (round % 2) as u32,
                ..Operation::message(kind, peer, round + 1, 7)
            };
            let then = |kind, communicator, step| Operation {
                start: at(step),
                region: (round % 2) as u32,
                bytes: round + 1,
                ..Operation::collective(kind, communicator, 0)
            };
            let wait = Operation {
                request: 3,
                start: at(2),
                region: (round % 2) as u32,
                ..Operation::new(Kind::Wait)
            };
            let mut all = vec![
                listed(message(Kind::Irecv, previous, 0)),
                listed(message(Kind::Send, next, 1)),
                listed(wait),
                listed(then(Kind::Allreduce, 0, 3)),
            ];
            if rank < ranks / 2 {
                all.push(listed(then(Kind::Barrier, 1, 4)));
            }
            all
        };
        (0..rounds).flat_map(round).collect()
    };
    Collected {
        ranks: (0..ranks).map(rank).collect(),
        header,
        names: vec!["even".into(), "odd".into()],
    }
}

struct Cut {
    _folder: tempfile::TempDir,
    out: PathBuf,
    done: Result<Converted, ReadStop>,
}

fn do_cut(trace: &Collected, part: &TracePart) -> Cut {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (path, out) = (folder.path().join("it.work"), folder.path().join("part.work"));
    samples::work::write(trace, &path);
    let done = cut(&path, None, &out, "work", part, &mut |_| true);
    Cut {
        _folder: folder,
        out,
        done,
    }
}

/// The part as it is read, with nothing wrong in it.
fn sound(cut: &Cut) -> Collected {
    cut.done.as_ref().expect("it can be cut");
    let (part, problems) = Collected::of(|reader| trace::read(&cut.out, None, reader)).expect("it can be read");
    let mut check = Check::default();
    part.tell(&mut check).expect("it can be checked");
    assert!(
        problems.is_empty() && check.problems().is_empty(),
        "{:?}",
        check.problems()
    );
    part
}

fn count(part: &Collected, kind: Kind) -> usize {
    let all = part.ranks.iter().flatten();
    all.filter(|listed| listed.operation.kind == kind).count()
}

#[test]
fn some_ranks_keep_what_is_between_them() {
    let part = TracePart {
        ranks: Some(2..6),
        ..TracePart::default()
    };
    let done = do_cut(&ring(8, 5, 0), &part);
    let part = sound(&done);
    assert_eq!(part.header.ranks, 4);
    // Four ranks of a ring have three of its pairs; ranks 2 and 3 are in the half that has a communicator.
    assert_eq!(
        [Kind::Send, Kind::Irecv, Kind::Wait].map(|kind| count(&part, kind)),
        [15; 3]
    );
    assert_eq!((count(&part, Kind::Allreduce), count(&part, Kind::Barrier)), (20, 10));
    assert_eq!(part.header.communicators, [Members::all(4), Members::all(2)]);
    let sent = part.ranks[1].iter().find(|listed| listed.operation.kind == Kind::Send);
    assert_eq!(sent.expect("rank 3 sends to rank 4").operation.peer, 2);
    let left_out = done.done.expect("it can be cut").left_out;
    assert_eq!(left_out, [("irecv", 5), ("send", 5), ("wait", 5)].into());
}

#[test]
fn a_time_keeps_messages_whose_ends_are_both_in_it_with_each_other() {
    // With no skew all of a round is within; with some, rounds at both ends are cut in two.
    for (skew, rounds) in [(0, 4), (170, 4)] {
        let part = TracePart {
            times: Some(3000..7000),
            ..TracePart::default()
        };
        let done = do_cut(&ring(6, 10, skew), &part);
        let part = sound(&done);
        let sends = count(&part, Kind::Send);
        assert!(sends <= 6 * rounds && sends >= 6 * (rounds - 2), "{sends}");
        // Bytes tell the round: the n-th send of a rank is received by the n-th receive of the next one.
        for rank in 0..6 {
            let bytes = |rank: usize, kind| -> Vec<u64> {
                let of = part.ranks[rank].iter().filter(|listed| listed.operation.kind == kind);
                of.map(|listed| listed.operation.bytes).collect()
            };
            assert_eq!(
                bytes(rank, Kind::Send),
                bytes((rank + 1) % 6, Kind::Irecv),
                "rank {rank}"
            );
            assert_eq!(bytes(rank, Kind::Allreduce), bytes(0, Kind::Allreduce), "rank {rank}");
            assert!(!bytes(rank, Kind::Send).is_empty());
        }
        assert!(part.ranks.iter().flatten().all(|listed| listed.operation.start < 4000));
        let left_out = done.done.expect("it can be cut").left_out;
        assert_eq!(left_out.is_empty(), skew == 0, "{left_out:?}");
    }
}

#[test]
fn a_region_keeps_what_is_in_it() {
    let part = TracePart {
        region: Some("odd".into()),
        ..TracePart::default()
    };
    let part = sound(&do_cut(&ring(4, 7, 30), &part));
    assert_eq!(
        [Kind::Send, Kind::Irecv, Kind::Wait, Kind::Allreduce].map(|kind| count(&part, kind)),
        [12; 4]
    );
    assert!(part.ranks.iter().flatten().all(|listed| listed.operation.region == 1));
}

#[test]
fn what_is_within_a_region_that_is_entered_is_in_it() {
    let region = |kind, region| {
        listed(Operation {
            region,
            ..Operation::new(kind)
        })
    };
    let mut trace = ring(2, 0, 0);
    trace.ranks[0] = vec![
        listed(Operation::compute(1)),
        region(Kind::Enter, 1),
        region(Kind::Enter, 0),
        listed(Operation::compute(2)),
        region(Kind::Leave, 0),
        region(Kind::Leave, 1),
        listed(Operation::compute(3)),
    ];
    let part = TracePart {
        region: Some("odd".into()),
        ..TracePart::default()
    };
    let part = sound(&do_cut(&trace, &part));
    assert_eq!((part.ranks[0].len(), part.ranks[0][2].operation.time), (5, 2));
}

#[test]
fn dependencies_go_through_what_is_left_out_of_a_graph() {
    let after = |operation, after: &[u32]| CollectedOperation {
        operation,
        after: after.to_vec(),
        ..CollectedOperation::default()
    };
    let trace = Collected {
        header: TraceHeader::new("goal", 3, TraceForm::Graph),
        ranks: vec![
            vec![
                after(Operation::compute(5), &[]),
                after(Operation::message(Kind::Send, 2, 8, 0), &[0]),
                after(Operation::compute(6), &[1]),
                after(Operation::message(Kind::Send, 1, 8, 0), &[2]),
            ],
            vec![after(Operation::message(Kind::Recv, 0, 8, 0), &[])],
            vec![after(Operation::message(Kind::Recv, 0, 8, 0), &[])],
        ],
        names: Vec::new(),
    };
    let part = TracePart {
        ranks: Some(0..2),
        ..TracePart::default()
    };
    let part = sound(&do_cut(&trace, &part));
    let first: Vec<_> = part.ranks[0]
        .iter()
        .map(|listed| (listed.operation.kind, listed.operation.time, listed.after.clone()))
        .collect();
    let expected = [
        (Kind::Compute, 5, vec![]),
        (Kind::Compute, 0, vec![0]),
        (Kind::Compute, 6, vec![1]),
        (Kind::Send, 0, vec![2]),
    ];
    assert_eq!(first, expected);
}

#[test]
fn receives_from_any_rank_stay_and_are_told() {
    let mut trace = ring(4, 6, 0);
    for listed in &mut trace.ranks[2] {
        if listed.operation.kind == Kind::Irecv {
            listed.operation.peer = ANY_SOURCE;
        }
    }
    let part = TracePart {
        times: Some(2000..4000),
        ..TracePart::default()
    };
    let done = do_cut(&trace, &part);
    let part = sound(&done);
    assert_eq!(count(&part, Kind::Irecv), 8);
    let notes = &done.done.as_ref().expect("it can be cut").notes;
    assert!(notes[0].starts_with("2 receives from any rank"), "{notes:?}");
}

#[test]
fn a_collective_whose_root_is_outside_is_left_out() {
    let mut trace = ring(4, 0, 0);
    for rank in &mut trace.ranks {
        for root in [1, 3] {
            rank.push(listed(Operation {
                peer: root,
                ..Operation::collective(Kind::Bcast, 0, 8)
            }));
        }
        rank.push(CollectedOperation {
            operation: Operation {
                bytes: 10,
                received: 10,
                ..Operation::collective(Kind::Alltoallv, 0, 0)
            },
            values: vec![1, 2, 3, 4],
            ..CollectedOperation::default()
        });
    }
    let part = TracePart {
        ranks: Some(1..3),
        ..TracePart::default()
    };
    let done = do_cut(&trace, &part);
    let part = sound(&done);
    let kinds: Vec<_> = part.ranks[1]
        .iter()
        .map(|listed| {
            (
                listed.operation.kind,
                listed.operation.peer,
                listed.operation.bytes,
                listed.values.clone(),
            )
        })
        .collect();
    let expected = [(Kind::Bcast, 0, 8, vec![]), (Kind::Alltoallv, NONE, 5, vec![2, 3])];
    assert_eq!(kinds, expected);
    assert_eq!(done.done.expect("it can be cut").left_out, [("bcast", 2)].into());
}

#[test]
fn a_part_without_a_whole_operation_is_refused_with_what_was_cut() {
    let message = |kind, peer, start| {
        listed(Operation {
            start,
            region: 0,
            ..Operation::message(kind, peer, 8, 5)
        })
    };
    let nothing = |kind| {
        listed(Operation {
            start: 60,
            region: 0,
            ..Operation::new(kind)
        })
    };
    let sends = vec![message(Kind::Send, 1, 10), nothing(Kind::Enter), nothing(Kind::Leave)];
    for form in [TraceForm::Program, TraceForm::Graph] {
        let trace = Collected {
            header: TraceHeader::new("otf2", 2, form),
            ranks: vec![sends.clone(), vec![message(Kind::Recv, 0, 100)]],
            names: vec!["main".into()],
        };
        let times = |times| TracePart {
            times: Some(times),
            ..TracePart::default()
        };
        let alone = TracePart {
            ranks: Some(0..1),
            ..TracePart::default()
        };
        for (part, words) in [
            (times(0..50), "what they need of others is outside (1 send)"),
            (times(50..70), "nothing of the trace is in the part"),
            (alone, "what they need of others is outside (1 send)"),
        ] {
            let done = do_cut(&trace, &part);
            match &done.done {
                Err(ReadStop::Refused(reason)) => assert!(reason.contains(words), "{form:?}: {reason}"),
                other => panic!("{form:?}: {other:?}"),
            }
            assert!(!done.out.exists());
        }
        let whole = do_cut(&trace, &times(0..200));
        assert_eq!(count(&sound(&whole), Kind::Send), 1);
    }
}

#[test]
fn parts_that_there_are_not_are_refused() {
    let trace = ring(4, 2, 0);
    let mut untimed = trace.clone();
    for listed in untimed.ranks.iter_mut().flatten() {
        listed.operation.start = 0;
    }
    let ranks = |ranks| TracePart {
        ranks: Some(ranks),
        ..TracePart::default()
    };
    let times = TracePart {
        times: Some(0..10),
        ..TracePart::default()
    };
    let region = TracePart {
        region: Some("main".into()),
        ..TracePart::default()
    };
    for (trace, part, words) in [
        (&trace, ranks(2..5), "ranks 2..5 of a trace of 4 ranks"),
        (&trace, ranks(2..2), "ranks 2..2"),
        (&trace, region, "no region \"main\"; there are even, odd"),
        (&untimed, times, "does not tell when operations began"),
    ] {
        let done = do_cut(trace, &part);
        match &done.done {
            Err(ReadStop::Refused(reason)) => assert!(reason.contains(words), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert!(!done.out.exists());
    }
}
