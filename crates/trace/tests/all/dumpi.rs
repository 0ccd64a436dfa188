//! Traces of DUMPI: what each call becomes, what older versions wrote otherwise, and what is refused with which words.

use crate::reading::{calls_of, message, same_operations, with_request};
use crate::samples::dumpi::Arg::{B, C, H, Hs, I, Is, L, R, S};
use crate::samples::dumpi::{CALL, Call, GAP, Writer, everything, program, status};
use std::path::Path;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{Collected, Kind, Members, Mode, Operation, Problem, ReadStop};

/// Writes files, and reads them by the first.
fn try_read(files: &[(String, Vec<u8>)]) -> Result<(Collected, Vec<Problem>), ReadStop> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("the file can be written");
    }
    let path = folder.path().join(&files[0].0);
    Collected::of(|reader| trace::read(&path, None, reader))
}

fn read_with(writer: &Writer, ranks: &[Vec<Call>]) -> (Collected, Vec<String>) {
    let (trace, problems) = try_read(&writer.files(ranks)).expect("the trace can be read");
    let words = problems.iter().map(|problem| {
        let file = problem.file.rsplit('/').next().unwrap_or_default().to_owned();
        Problem {
            file,
            ..problem.clone()
        }
        .to_string()
    });
    (trace, words.collect())
}

fn read(ranks: &[Vec<Call>]) -> Collected {
    let (trace, words) = read_with(&Writer::default(), ranks);
    assert!(words.is_empty(), "{words:?}");
    trace
}

/// What a rank's calls become, beside three others that do nothing.
fn become_what(calls: Vec<Call>) -> Vec<(Operation, Vec<u64>)> {
    let mut ranks = vec![program(Vec::new()); 4];
    ranks[1] = program(calls);
    calls_of(&read(&ranks), 1)
}

#[track_caller]
fn check(calls: Vec<Call>, expected: &[(Operation, &[u64])]) {
    same_operations(&become_what(calls), expected);
}

fn rooted(kind: Kind, root: u32, bytes: u64) -> Operation {
    Operation {
        peer: root,
        ..Operation::collective(kind, 0, bytes)
    }
}

#[test]
fn sends_and_receives_have_sizes_of_their_datatypes_and_their_modes() {
    for (function, mode) in [
        (0, Mode::Standard),
        (3, Mode::Buffered),
        (4, Mode::Synchronous),
        (5, Mode::Ready),
    ] {
        let expected = Operation {
            mode,
            ..message(Kind::Send, 3, 80, 7)
        };
        check(
            vec![(function, vec![I(10), H(14), I(3), I(7), H(2)])],
            &[(expected, &[])],
        );
    }
    for (function, mode) in [
        (8, Mode::Standard),
        (9, Mode::Buffered),
        (10, Mode::Synchronous),
        (11, Mode::Ready),
    ] {
        let expected = Operation {
            mode,
            request: 5,
            ..message(Kind::Isend, 0, 24, 7)
        };
        let calls = vec![(function, vec![I(1), H(28), I(0), I(7), H(2), I(5)])];
        check(calls, &[(expected, &[])]);
    }
    let calls = vec![
        (1, vec![I(10), H(9), I(3), I(7), H(2), status(12, 3, 7)]),
        (12, vec![I(1), H(5), I(2), I(0), H(2), I(6)]),
    ];
    check(
        calls,
        &[
            (message(Kind::Recv, 3, 40, 7), &[]),
            (with_request(message(Kind::Irecv, 2, 1, 0), 6), &[]),
        ],
    );
}

#[test]
fn nothing_is_sent_to_nobody_and_received_from_nobody() {
    let calls = vec![
        (0, vec![I(10), H(14), I(-2), I(7), H(2)]),
        (1, vec![I(10), H(14), I(-2), I(7), H(2), status(0, -2, -1)]),
        // Where the number of nobody is that of anybody, the status tells.
        (1, vec![I(10), H(14), I(-1), I(7), H(2), status(0, -1, -1)]),
        (8, vec![I(10), H(14), I(-1), I(7), H(2), I(5)]),
        (12, vec![I(10), H(14), I(-1), I(7), H(2), I(6)]),
        (18, vec![I(2), Is(vec![5, 6]), S(vec![(0, -1, -1), (0, -1, -1)])]),
        (13, vec![I(1), status(0, -1, -1)]),
        (
            33,
            vec![I(1), H(9), I(-1), I(1), I(2), H(9), I(0), I(4), H(2), status(8, 0, 4)],
        ),
        (
            33,
            vec![I(1), H(9), I(2), I(1), I(2), H(9), I(-1), I(1), H(2), status(0, -1, -1)],
        ),
    ];
    check(
        calls,
        &[(message(Kind::Recv, 0, 8, 4), &[]), (message(Kind::Send, 2, 4, 1), &[])],
    );
}

#[test]
fn a_receive_from_anybody_knows_who_sent_what_it_got() {
    let any = |kind, source, tag| Operation {
        source,
        source_tag: tag,
        tag: ANY_TAG,
        ..message(kind, ANY_SOURCE, 8, 0)
    };
    let calls = vec![
        (1, vec![I(1), H(14), I(-1), I(-1), H(2), status(8, 3, 9)]),
        (12, vec![I(1), H(14), I(-1), I(-1), H(2), I(5)]),
        (12, vec![I(1), H(14), I(-1), I(-1), H(2), I(6)]),
        (12, vec![I(1), H(14), I(2), I(4), H(2), I(7)]),
        (16, vec![I(3), Is(vec![5, 6, 7]), I(1), status(8, 0, 1)]),
        (12, vec![I(1), H(14), I(-1), I(5), H(2), I(6)]),
        (
            18,
            vec![I(3), Is(vec![5, 6, 7]), S(vec![(8, 2, 2), (8, 3, 5), (8, 2, 4)])],
        ),
    ];
    check(
        calls,
        &[
            (any(Kind::Recv, 3, 9), &[]),
            (with_request(any(Kind::Irecv, 2, 2), 5), &[]),
            (with_request(any(Kind::Irecv, 0, 1), 6), &[]),
            (with_request(message(Kind::Irecv, 2, 8, 4), 7), &[]),
            (with_request(Operation::new(Kind::Waitany), 6), &[5, 6, 7]),
            (
                Operation {
                    tag: 5,
                    request: 6,
                    ..any(Kind::Irecv, 3, 5)
                },
                &[],
            ),
            (Operation::new(Kind::Waitall), &[5, 6, 7]),
        ],
    );
}

#[test]
fn a_receive_from_anybody_whose_sender_is_not_told_stays_from_anybody() {
    let writer = Writer {
        mask: 8 | 64,
        ..Writer::default()
    };
    let calls = vec![
        (12, vec![I(1), H(14), I(-1), I(3), H(2), I(5)]),
        (13, vec![I(5), status(8, 0, 3)]),
        (1, vec![I(1), H(14), I(-1), I(-1), H(2), status(8, 0, 9)]),
    ];
    let (trace, words) = read_with(&writer, &[program(calls)]);
    assert!(words.is_empty(), "{words:?}");
    let found: Vec<(u32, u32)> = calls_of(&trace, 0)
        .iter()
        .map(|(operation, _)| (operation.peer, operation.source))
        .collect();
    assert_eq!(found, [(ANY_SOURCE, NONE), (NONE, NONE), (ANY_SOURCE, NONE)]);
}

#[test]
fn what_is_started_again_and_again_is_a_message_each_time() {
    let calls = vec![
        (28, vec![I(2), H(14), I(3), I(7), H(2), I(5)]),
        (30, vec![I(2), H(14), I(-1), I(7), H(2), I(6)]),
        (32, vec![I(2), Is(vec![5, 6])]),
        (18, vec![I(2), Is(vec![5, 6]), S(vec![(0, 0, 0), (16, 2, 7)])]),
        // Of what is not under way there is nothing to wait for.
        (13, vec![I(5), status(0, 0, 0)]),
        (31, vec![I(6)]),
        (13, vec![I(6), status(16, 3, 7)]),
        (15, vec![I(6)]),
    ];
    let sent = Operation {
        mode: Mode::Synchronous,
        request: 5,
        ..message(Kind::Isend, 3, 16, 7)
    };
    let got = |source| Operation {
        source,
        source_tag: 7,
        request: 6,
        ..message(Kind::Irecv, ANY_SOURCE, 16, 7)
    };
    check(
        calls,
        &[
            (sent, &[]),
            (got(2), &[]),
            (Operation::new(Kind::Waitall), &[5, 6]),
            (got(3), &[]),
            (with_request(Operation::new(Kind::Wait), 6), &[]),
        ],
    );
}

#[test]
fn a_test_that_found_requests_complete_waits_for_them_and_another_looks() {
    let send = |request| (8, vec![I(1), H(5), I(0), I(0), H(2), I(request)]);
    let mut calls: Vec<Call> = (5..12).map(send).collect();
    calls.extend([
        (14, vec![I(5), I(0), S(vec![])]),
        (14, vec![I(5), I(1), status(0, 0, 0)]),
        (17, vec![I(3), Is(vec![5, 6, 7]), I(-32766), I(0), S(vec![])]),
        (17, vec![I(3), Is(vec![1, 6, 7]), I(2), I(1), status(0, 0, 0)]),
        (19, vec![I(2), Is(vec![6, 8]), I(0), S(vec![])]),
        (19, vec![I(2), Is(vec![6, 8]), I(1), S(vec![(0, 0, 0); 2])]),
        (21, vec![I(3), Is(vec![9, 10, 11]), I(0), Is(vec![]), S(vec![])]),
        (
            20,
            vec![I(3), Is(vec![9, 10, 11]), I(2), Is(vec![2, 0]), S(vec![(0, 0, 0); 2])],
        ),
        (
            21,
            vec![I(3), Is(vec![1, 10, 1]), I(1), Is(vec![1]), S(vec![(0, 0, 0); 1])],
        ),
        (18, vec![I(2), Is(vec![1, 1]), S(vec![])]),
    ]);
    let found = become_what(calls).split_off(7);
    let one = |kind, request| (with_request(Operation::new(kind), request), vec![]);
    let many = |kind, list: &[u64]| (Operation::new(kind), list.to_vec());
    let expected = vec![
        one(Kind::Test, 5),
        one(Kind::Wait, 5),
        many(Kind::Test, &[5, 6, 7]),
        one(Kind::Wait, 7),
        many(Kind::Test, &[6, 8]),
        many(Kind::Waitall, &[6, 8]),
        many(Kind::Test, &[9, 10, 11]),
        many(Kind::Waitall, &[11, 9]),
        one(Kind::Wait, 10),
    ];
    // A request that is over and still named is for others to find: it may be the program that is wrong.
    assert_eq!(found, expected);
}

#[test]
fn a_sendrecv_has_both_of_its_ends_and_a_probe_waits_only_for_what_was_found() {
    let both = Operation {
        source: 0,
        source_tag: 4,
        received: 8,
        ..message(Kind::Sendrecv, 2, 4, 1)
    };
    let replace = Operation {
        source_tag: 6,
        received: 4,
        ..both
    };
    let probe = Operation {
        source: 3,
        source_tag: 9,
        ..message(Kind::Probe, ANY_SOURCE, 0, ANY_TAG)
    };
    let calls = vec![
        (
            33,
            vec![I(1), H(9), I(2), I(1), I(2), H(9), I(0), I(4), H(2), status(8, 0, 4)],
        ),
        (34, vec![I(1), H(9), I(2), I(1), I(0), I(6), H(2), status(4, 0, 6)]),
        (22, vec![I(-1), I(-1), H(2), I(0), S(vec![])]),
        (22, vec![I(-1), I(-1), H(2), I(1), status(8, 3, 9)]),
        (23, vec![I(2), I(5), H(2), status(8, 2, 5)]),
    ];
    check(
        calls,
        &[
            (both, &[]),
            (replace, &[]),
            (probe, &[]),
            (message(Kind::Probe, 2, 0, 5), &[]),
        ],
    );
}

#[test]
fn collectives_have_the_sizes_that_their_kinds_mean() {
    let of = |kind, bytes| Operation::collective(kind, 0, bytes);
    let received = |operation, received| Operation { received, ..operation };
    let cases: Vec<(Call, Operation, Vec<u64>)> = vec![
        ((52, vec![H(2)]), of(Kind::Barrier, 0), vec![]),
        ((53, vec![I(3), H(9), I(2), H(2)]), rooted(Kind::Bcast, 2, 12), vec![]),
        (
            (62, vec![I(3), H(9), B(3), I(2), H(2)]),
            rooted(Kind::Reduce, 2, 12),
            vec![],
        ),
        ((65, vec![I(3), H(9), B(3), H(2)]), of(Kind::Allreduce, 12), vec![]),
        ((67, vec![I(3), H(9), B(3), H(2)]), of(Kind::Scan, 12), vec![]),
        ((156, vec![I(3), H(9), B(3), H(2)]), of(Kind::Exscan, 12), vec![]),
        (
            (54, vec![I(1), I(3), H(9), I(2), H(2)]),
            rooted(Kind::Gather, 2, 12),
            vec![],
        ),
        // The root may send nothing, as its part is in its place.
        (
            (54, vec![I(1), I(0), H(1), I(1), H(2), I(6), H(7)]),
            rooted(Kind::Gather, 1, 12),
            vec![],
        ),
        (
            (56, vec![I(1), I(3), H(9), I(2), H(2)]),
            rooted(Kind::Scatter, 2, 12),
            vec![],
        ),
        (
            (56, vec![I(1), I(0), H(1), I(1), H(2), I(3), H(9)]),
            rooted(Kind::Scatter, 1, 12),
            vec![],
        ),
        (
            (55, vec![I(1), I(4), I(3), H(9), I(2), H(2), H(9)]),
            rooted(Kind::Gatherv, 2, 12),
            vec![],
        ),
        (
            (
                55,
                vec![
                    I(1),
                    I(4),
                    I(0),
                    H(1),
                    I(1),
                    H(2),
                    Is(vec![1, 2, 3, 4]),
                    Is(vec![0; 4]),
                    H(9),
                ],
            ),
            rooted(Kind::Gatherv, 1, 8),
            vec![4, 8, 12, 16],
        ),
        (
            (57, vec![I(1), I(4), H(9), I(3), H(9), I(2), H(2)]),
            received(rooted(Kind::Scatterv, 2, 0), 12),
            vec![],
        ),
        (
            (
                57,
                vec![
                    I(1),
                    I(4),
                    H(9),
                    I(0),
                    H(1),
                    I(1),
                    H(2),
                    Is(vec![1, 2, 3, 4]),
                    Is(vec![0; 4]),
                ],
            ),
            received(rooted(Kind::Scatterv, 1, 0), 8),
            vec![4, 8, 12, 16],
        ),
        (
            (58, vec![I(3), H(9), I(3), H(9), H(2)]),
            of(Kind::Allgather, 12),
            vec![],
        ),
        ((60, vec![I(0), H(1), I(3), H(9), H(2)]), of(Kind::Alltoall, 12), vec![]),
        (
            (
                59,
                vec![I(4), I(0), H(1), Is(vec![1, 2, 3, 4]), Is(vec![0; 4]), H(9), H(2)],
            ),
            of(Kind::Allgatherv, 8),
            vec![4, 8, 12, 16],
        ),
        (
            (
                61,
                vec![
                    I(4),
                    Is(vec![1, 2, 3, 4]),
                    Is(vec![0; 4]),
                    H(9),
                    Is(vec![1; 4]),
                    Is(vec![0; 4]),
                    H(14),
                    H(2),
                ],
            ),
            received(of(Kind::Alltoallv, 40), 32),
            vec![4, 8, 12, 16],
        ),
        (
            (
                155,
                vec![
                    I(4),
                    Is(vec![1, 2, 3, 4]),
                    Is(vec![0; 4]),
                    Hs(vec![9, 14, 9, 5]),
                    Is(vec![1; 4]),
                    Is(vec![0; 4]),
                    Hs(vec![14; 4]),
                    H(2),
                ],
            ),
            received(of(Kind::Alltoallv, 36), 32),
            vec![4, 16, 12, 4],
        ),
        (
            (66, vec![I(4), Is(vec![1, 2, 3, 4]), H(9), B(3), H(2)]),
            received(of(Kind::ReduceScatter, 0), 8),
            vec![4, 8, 12, 16],
        ),
    ];
    for (call, operation, list) in cases {
        check(vec![call], &[(operation, &list)]);
    }
}

#[test]
fn windows_are_met_over_and_written_through() {
    let calls = vec![
        (145, vec![I(4096), I(8), H(0), H(2), H(1)]),
        (143, vec![I(3), H(14), I(2), I(0), I(3), H(14), H(1)]),
        (142, vec![I(2), H(14), I(0), I(0), I(3), H(14), H(1)]),
        (141, vec![I(1), H(14), I(3), I(0), I(1), H(14), B(3), H(1)]),
        (146, vec![B(0), H(1)]),
        (147, vec![H(1)]),
    ];
    let barrier = Operation::collective(Kind::Barrier, 0, 0);
    check(
        calls,
        &[
            (barrier, &[]),
            (message(Kind::Put, 2, 24, 0), &[]),
            (message(Kind::Get, 0, 16, 0), &[]),
            (message(Kind::Put, 3, 8, 0), &[]),
            (barrier, &[]),
            (barrier, &[]),
        ],
    );
}

#[test]
fn communicators_are_those_that_all_ranks_made_together() {
    // Halves in reverse order; of the even ones a copy; of the world a group of ranks 3 and 1.
    let ranks: Vec<Vec<Call>> = (0..4)
        .map(|me: i32| {
            let mut calls = vec![
                (86, vec![H(2), I(me % 2), I(-me), H(4)]),
                (0, vec![I(1), H(5), I(0), I(0), H(4)]),
            ];
            if me % 2 == 0 {
                calls.push((84, vec![H(4), H(5)]));
                calls.push((53, vec![I(1), H(5), I(1), H(5)]));
            }
            calls.push((72, vec![H(2), H(3)]));
            calls.push((76, vec![H(3), I(2), Is(vec![3, 1]), H(4)]));
            let mine = if me % 2 == 1 { 6 } else { 1 };
            calls.push((85, vec![H(2), H(4), H(mine)]));
            if me % 2 == 1 {
                calls.push((0, vec![I(1), H(5), I(0), I(0), H(6)]));
                calls.push((87, vec![H(6)]));
            }
            // A number may be used again.
            calls.push((87, vec![H(4)]));
            calls.push((
                86,
                vec![
                    H(2),
                    I(if me == 2 { -32766 } else { 9 }),
                    I(0),
                    H(if me == 2 { 1 } else { 4 }),
                ],
            ));
            if me != 2 {
                calls.push((52, vec![H(4)]));
            }
            program(calls)
        })
        .collect();
    let trace = read(&ranks);
    let list = |ranks: &[u32]| Members::of(ranks.to_vec());
    let mut members = trace.header.communicators.clone();
    assert_eq!(members.remove(0), Members::all(4));
    let mut expected = vec![
        list(&[2, 0]),
        list(&[3, 1]),
        list(&[2, 0]),
        list(&[3, 1]),
        list(&[0, 1, 3]),
    ];
    for found in &members {
        let place = expected.iter().position(|expected| expected == found);
        expected.remove(place.unwrap_or_else(|| panic!("{found:?} was not made")));
    }
    assert!(expected.is_empty(), "{expected:?} is missing");
    // The first of each half is its greater rank.
    let sends = |rank| -> Vec<u32> {
        let all = calls_of(&trace, rank);
        all.iter()
            .filter(|(operation, _)| operation.kind == Kind::Send)
            .map(|(operation, _)| operation.peer)
            .collect()
    };
    assert_eq!(
        (sends(0), sends(1), sends(2), sends(3)),
        (vec![2], vec![3, 3], vec![2], vec![3, 3])
    );
    for (rank, listed) in trace.ranks.iter().enumerate() {
        for listed in listed.iter().filter(|listed| listed.operation.kind.is_collective()) {
            let members = &trace.header.communicators[listed.operation.communicator as usize];
            assert!(members.number(rank as u32).is_some(), "rank {rank}: {listed:?}");
        }
    }
    let kinds: Vec<Kind> = calls_of(&trace, 1)
        .iter()
        .map(|(operation, _)| operation.kind)
        .collect();
    use Kind as K;
    assert_eq!(
        kinds,
        [
            K::CommCreate,
            K::Send,
            K::CommCreate,
            K::Send,
            K::CommFree,
            K::CommFree,
            K::CommCreate,
            K::Barrier
        ]
    );
    let last = |rank: usize| calls_of(&trace, rank).last().expect("there is one").0;
    assert_eq!(
        trace.header.communicators[last(0).communicator as usize],
        list(&[0, 1, 3])
    );
}

#[test]
fn a_grid_is_cut_into_the_lines_of_its_dimensions() {
    // 2 x 3: lines along the second dimension, and along the first.
    let ranks: Vec<Vec<Call>> = (0..7)
        .map(|me: u16| {
            let made = if me < 6 { 4 } else { 1 };
            let mut calls = vec![(99, vec![H(2), I(2), Is(vec![2, 3]), Is(vec![0, 0]), I(0), H(made)])];
            if me < 6 {
                calls.push((111, vec![I(2), H(4), Is(vec![0, 1]), H(5)]));
                calls.push((111, vec![I(2), H(4), Is(vec![1, 0]), H(6)]));
                calls.push((82, vec![H(5), I(i32::from(me % 3))]));
                calls.push((82, vec![H(6), I(i32::from(me / 3))]));
                calls.push((81, vec![H(5), I(3)]));
                calls.push((52, vec![H(5)]));
                calls.push((52, vec![H(6)]));
            }
            program(calls)
        })
        .collect();
    let trace = read(&ranks);
    let of = |rank: usize, back: usize| {
        let all = calls_of(&trace, rank);
        let (operation, _) = &all[all.len() - back];
        trace.header.communicators[operation.communicator as usize]
            .iter()
            .collect::<Vec<u32>>()
    };
    assert_eq!((of(4, 2), of(4, 1)), (vec![3, 4, 5], vec![1, 4]));
    assert_eq!((of(0, 2), of(0, 1)), (vec![0, 1, 2], vec![0, 3]));
}

#[test]
fn groups_are_what_their_calls_make_of_them() {
    let make = |calls: Vec<Call>| {
        let ranks: Vec<Vec<Call>> = (0..6u16)
            .map(|me| {
                let mut all = vec![(72, vec![H(2), H(3)])];
                all.extend(calls.clone());
                // Who is in the group is found by reading; those who are not say what they like.
                all.push((85, vec![H(2), H(9), H(4 + me)]));
                program(all)
            })
            .collect();
        read(&ranks).header.communicators[1].iter().collect::<Vec<u32>>()
    };
    let include = |ranks: &[i32], group| (76, vec![H(3), I(ranks.len() as i32), Is(ranks.to_vec()), H(group)]);
    assert_eq!(make(vec![(77, vec![H(3), I(2), Is(vec![0, 4]), H(9)])]), [1, 2, 3, 5]);
    assert_eq!(
        make(vec![(78, vec![H(3), I(2), R(vec![[5, 1, -2], [0, 0, 1]]), H(9)])]),
        [5, 3, 1, 0]
    );
    assert_eq!(make(vec![(79, vec![H(3), I(1), R(vec![[1, 5, 2]]), H(9)])]), [0, 2, 4]);
    let two = [include(&[4, 2, 0], 5), include(&[1, 2, 4], 6)];
    let combine = |function| {
        let mut calls = two.to_vec();
        calls.push((function, vec![H(5), H(6), H(9)]));
        make(calls)
    };
    assert_eq!(
        (combine(73), combine(74), combine(75)),
        (vec![4, 2, 0, 1], vec![4, 2], vec![0])
    );
}

#[test]
fn computing_is_the_time_between_calls_that_are_calls_of() {
    let trace = read(&[program(vec![(52, vec![H(2)]), (122, vec![]), (52, vec![H(2)])])]);
    let found: Vec<(Kind, u64, u64)> = trace.ranks[0]
        .iter()
        .map(|listed| (listed.operation.kind, listed.operation.start, listed.operation.time))
        .collect();
    let ps = |ns: u64| 1000 * ns;
    let (call, gap) = (CALL, GAP);
    assert_eq!(
        found,
        [
            (Kind::Compute, ps(call), ps(2 * gap)),
            (Kind::Barrier, ps(2 * (call + gap)), ps(call)),
            (Kind::Compute, ps(3 * call + 2 * gap), ps(2 * gap)),
            (Kind::Barrier, ps(4 * (call + gap)), ps(call)),
            (Kind::Compute, ps(5 * call + 4 * gap), ps(gap)),
        ]
    );
}

#[test]
fn seconds_that_turn_over_go_on() {
    let writer = Writer {
        pauses: vec![(2, 65_000), (3, 60_000), (4, 40_000)],
        ..Writer::default()
    };
    let barrier = (52, vec![H(2)]);
    let (trace, words) = read_with(&writer, &[program(vec![barrier.clone(), barrier.clone(), barrier])]);
    assert!(words.is_empty(), "{words:?}");
    let computed: Vec<u64> = trace.ranks[0]
        .iter()
        .filter(|listed| listed.operation.kind == Kind::Compute)
        .map(|listed| listed.operation.time / 1_000_000_000_000)
        .collect();
    assert_eq!(computed, [65_000, 60_000, 40_000, 0]);
}

#[test]
fn functions_of_the_program_are_regions() {
    let writer = Writer {
        names: vec![(0x4000, "main"), (0x4100, "solve")],
        ..Writer::default()
    };
    let calls = vec![
        (291, vec![L(0x4000)]),
        (291, vec![L(0x4100)]),
        (52, vec![H(2)]),
        (292, vec![L(0x4100)]),
        (291, vec![L(0xBEEF)]),
        (292, vec![L(0xBEEF)]),
        (292, vec![L(0x4000)]),
    ];
    let (trace, words) = read_with(&writer, &[program(calls)]);
    assert!(words.is_empty(), "{words:?}");
    let all = calls_of(&trace, 0);
    let found: Vec<(Kind, &str)> = all
        .iter()
        .map(|(operation, _)| (operation.kind, &*trace.names[operation.region as usize]))
        .collect();
    use Kind as K;
    let expected = [
        (K::Enter, "main"),
        (K::Enter, "solve"),
        (K::Barrier, "solve"),
        (K::Leave, "solve"),
        (K::Enter, "0xbeef"),
        (K::Leave, "0xbeef"),
        (K::Leave, "main"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_older_version_tells_the_same() {
    let (new, words) = read_with(&Writer::default(), &everything([1, 0, 0]));
    assert!(words.is_empty(), "{words:?}");
    for version in [[0, 6, 1], [0, 6, 2], [0, 6, 5], [0, 6, 8], [1, 1, 0]] {
        let writer = Writer {
            version,
            ..Writer::default()
        };
        let (old, words) = read_with(&writer, &everything(version));
        assert!(words.is_empty(), "{version:?}: {words:?}");
        for rank in 0..4 {
            let mut expected = calls_of(&new, rank);
            if version < [0, 6, 3] {
                // Tags of what is received are told since 0.6.3.
                let any = expected
                    .iter_mut()
                    .filter(|(operation, _)| operation.peer == ANY_SOURCE);
                any.for_each(|(operation, _)| operation.source_tag = ANY_TAG);
            }
            assert_eq!(calls_of(&old, rank), expected, "{version:?}");
        }
    }
}

#[test]
fn counts_of_functions_only_save_time() {
    let writer = Writer {
        counts: false,
        ..Writer::default()
    };
    let ranks = everything([1, 0, 0]);
    assert_eq!(read_with(&writer, &ranks).0.ranks, read(&ranks).ranks);
}

#[test]
fn a_call_whose_arguments_are_not_known_ends_its_rank_with_its_name() {
    let pcontrol = program(vec![(52, vec![H(2)]), (128, vec![I(1)]), (52, vec![H(2)])]);
    let two = program(vec![(52, vec![H(2)]), (52, vec![H(2)])]);
    let (trace, words) = read_with(&Writer::default(), &[pcontrol, two]);
    assert_eq!(
        words,
        [
            "app-0000.bin, rank 0, record 3: what MPI_Pcontrol is written with is not known, and the rank cannot be read on; \
          record without this call"
        ]
    );
    assert_eq!((calls_of(&trace, 0).len(), calls_of(&trace, 1).len()), (1, 2));
}

#[test]
fn what_is_wrong_with_a_call_is_told_with_its_place() {
    let cases: Vec<(Call, &str)> = vec![
        (
            (0, vec![I(1), H(5), I(9), I(0), H(2)]),
            "record 2: there is no rank 9 in the communicator; the call is left out",
        ),
        (
            (0, vec![I(1), H(40), I(0), I(0), H(2)]),
            "record 2: the size of the datatype 40 is not told; sizes of messages of it are not known",
        ),
        (
            (0, vec![I(1), H(5), I(0), I(0), H(8)]),
            "record 2: who is in the communicator 8 is not known; what goes over it is left out",
        ),
        (
            (53, vec![I(1), H(5), I(4), H(2)]),
            "record 2: the root 4 is no rank of the communicator; the call is left out",
        ),
        (
            (59, vec![I(1), I(1), H(9), Is(vec![1]), Is(vec![1]), H(9), H(2)]),
            "record 2: 1 sizes are told, and the communicator has 2 ranks; those that are not told are taken as 0",
        ),
        (
            (31, vec![I(7)]),
            "record 2: the request 7 is started, and was not made to be; the call is left out",
        ),
        (
            (0, vec![I(1), H(5), I(0), I(-3), H(2)]),
            "record 2: -3 is no tag; the message is left out",
        ),
        (
            (0, vec![I(-1), H(5), I(0), I(3), H(2)]),
            "record 2: -1 is no count; it is taken as 0",
        ),
        (
            (127, vec![H(2), I(3)]),
            "record 2: the program ends with MPI_Abort; what it was about to do is not told",
        ),
        (
            (82, vec![H(2), I(0)]),
            "record 2: rank 0 in the communicator 2 was told, and 1 was found out; calls over it may have other partners than they had",
        ),
        (
            (143, vec![I(3), H(14), I(2), I(0), I(3), H(14), H(1)]),
            "record 2: who shares the window 1 is not known; what goes through it is left out",
        ),
    ];
    for (call, expected) in cases {
        let (_, words) = read_with(&Writer::default(), &[program(vec![]), program(vec![call])]);
        assert_eq!(words, [format!("app-0001.bin, rank 1, {expected}")]);
    }
    let (trace, _) = read_with(
        &Writer::default(),
        &[program(vec![(0, vec![I(1), H(40), I(0), I(0), H(2)])])],
    );
    assert_eq!(calls_of(&trace, 0)[0].0.bytes, UNKNOWN_SIZE);
}

#[test]
fn a_communicator_that_not_all_make_is_told_and_what_goes_over_it_left_out() {
    let split = program(vec![(86, vec![H(2), I(0), I(0), H(4)]), (52, vec![H(4)])]);
    let (trace, words) = read_with(&Writer::default(), &[split.clone(), program(vec![]), split]);
    assert_eq!(
        words,
        [
            "app-0000.bin, rank 0, record 2: MPI_Comm_split is called by 2 of 3 ranks, and not by rank 1; \
             what is sent over the new communicator is left out",
            "app-0000.bin, rank 0, record 3: who is in the communicator 4 is not known; what goes over it is left out",
            "app-0002.bin, rank 2, record 3: who is in the communicator 4 is not known; what goes over it is left out",
        ]
    );
    assert_eq!(calls_of(&trace, 0).len(), 1);
    let dup = program(vec![(84, vec![H(2), H(4)])]);
    let split = program(vec![(86, vec![H(2), I(0), I(0), H(4)])]);
    let (_, words) = read_with(&Writer::default(), &[dup, split]);
    assert_eq!(
        words,
        [
            "app-0001.bin, rank 1, record 2: MPI_Comm_split here is MPI_Comm_dup on rank 0; \
          what is sent over the new communicator is left out"
        ]
    );
}

/// Words of what cannot be read at all.
fn refused(files: &[(String, Vec<u8>)]) -> String {
    match try_read(files) {
        Err(ReadStop::Broken(problem)) => {
            let file = problem.file.rsplit('/').next().unwrap_or_default().to_owned();
            Problem { file, ..problem }.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_without_the_files_of_all_ranks_is_refused() {
    let hint = "files of all ranks are to be in one folder, named PREFIX-0000.bin, PREFIX-0001.bin and so on";
    let mut files = Writer::default().files(&everything([1, 0, 0]));
    files.remove(2);
    assert_eq!(
        refused(&files),
        format!("app.meta, rank 1: the file app-0001.bin of 4 is missing; {hint}")
    );
    files.truncate(1);
    assert_eq!(
        refused(&files),
        format!("app.meta, rank 0: the file app-0000.bin of 4 is missing; {hint}")
    );
    files[0].1 = b"numprocs=many\n".to_vec();
    let hint_of_meta = "give the file as it was recorded";
    assert_eq!(
        refused(&files),
        format!("app.meta: numprocs=many is no number of ranks; {hint_of_meta}")
    );
    let mut files = Writer::default().files(&everything([1, 0, 0]));
    files[0].1 = b"numprocs=3\n".to_vec();
    assert_eq!(
        refused(&files),
        format!("app.meta: there are 4 files of ranks, and 3 ranks; {hint}")
    );
}

#[test]
fn a_trace_is_found_from_the_file_of_a_rank_and_by_the_prefix_that_it_was_recorded_with() {
    let files = Writer::default().files(&everything([1, 0, 0]));
    let whole = try_read(&files).expect("it can be read").0;
    let mut turned = files.clone();
    turned.rotate_left(2);
    assert_eq!(try_read(&turned).expect("it can be read").0.ranks, whole.ranks);
    turned.retain(|(name, _)| name != "app.meta");
    assert_eq!(try_read(&turned).expect("it can be read").0.ranks, whole.ranks);
    let mut renamed = files;
    renamed[0].0 = "other.meta".to_owned();
    assert_eq!(try_read(&renamed).expect("it can be read").0.ranks, whole.ranks);
}

#[test]
fn a_file_that_is_not_whole_is_told_and_the_others_are_read() {
    let whole = Writer::default().files(&everything([1, 0, 0]));
    let words_with = |bytes: Vec<u8>| {
        let mut files = whole.clone();
        files[4].1 = bytes;
        let (trace, problems) = try_read(&files).expect("the others can be read");
        assert!(trace.ranks[0].len() > 3 && problems.iter().any(|problem| problem.rank == Some(3)));
        let first = problems
            .iter()
            .find(|problem| problem.rank == Some(3))
            .expect("it is told");
        format!("{}; {}", first.reason, first.hint)
    };
    let file = whole[4].1.clone();
    let cut = file[..file.len() / 2].to_vec();
    assert_eq!(
        words_with(cut),
        "it does not end with an index; the program was ended before MPI_Finalize, or the file is cut: record it again"
    );
    assert_eq!(
        words_with(Vec::new()),
        "it does not begin as a file of DUMPI does; give files as they were recorded, unpacked"
    );
    let newer = Writer {
        version: [2, 3, 0],
        ..Writer::default()
    };
    assert_eq!(
        words_with(newer.file(&program(vec![]))),
        "it is of version 2.3 of DUMPI; versions up to 1 are known"
    );
}

#[test]
fn a_trace_without_times_says_so() {
    let writer = Writer {
        mask: 64 | 1,
        ..Writer::default()
    };
    let (trace, words) = read_with(&writer, &[program(vec![(52, vec![H(2)])])]);
    assert_eq!(
        words,
        [
            "app.meta: no call tells when it was; computations are left out: record with times (DUMPI's option timestamps)"
        ]
    );
    assert_eq!(trace.ranks[0].len(), 1);
}

#[test]
fn a_rank_alone_and_one_that_calls_nothing_are_traces() {
    let trace = read(&[program(vec![(52, vec![H(3)]), (0, vec![I(1), H(5), I(0), I(0), H(3)])])]);
    assert_eq!(calls_of(&trace, 0), [(message(Kind::Send, 0, 1, 0), vec![])]);
    let trace = read(&[Vec::new(), Vec::new()]);
    assert!(trace.ranks.iter().all(Vec::is_empty));
}

#[test]
fn every_function_is_read_to_its_end() {
    // A call of each kind of arguments that becomes nothing; what comes after it is found.
    let nothing: Vec<Call> = vec![
        (2, vec![status(8, 0, 0), H(14), I(1)]),
        (70, vec![H(3), I(2), Is(vec![0, 1]), H(4), Is(vec![1, 0])]),
        (105, vec![I(1), H(2), I(2), Is(vec![2]), Is(vec![0]), Is(vec![1])]),
        (114, vec![C("node17"), I(6)]),
        (171, vec![I(1), C("./app"), B(1), B(3)]),
        (
            217,
            vec![
                I(4),
                I(0),
                I(1),
                Is(vec![8]),
                C("x"),
                Is(vec![1]),
                Is(vec![4]),
                B(1),
                H(14),
                H(30),
            ],
        ),
        (230, vec![H(2), C("out.dat"), B(4), H(0), H(1)]),
        (242, vec![H(1), L(1 << 40), I(7), H(5), status(7, 0, 0)]),
        (240, vec![H(1), L(0), H(5), H(5), C("native"), H(0)]),
        (288, vec![I(1), Is(vec![2]), I(1), Is(vec![0]), status(8, 0, 0)]),
        (129, vec![C("port")]),
        (203, vec![]),
    ];
    for call in nothing {
        let function = call.0;
        let found = become_what(vec![call, (0, vec![I(3), H(9), I(0), I(5), H(2)])]);
        assert_eq!(found, [(message(Kind::Send, 0, 12, 5), vec![])], "function {function}");
    }
}

#[test]
fn the_folder_of_one_trace_is_that_trace_and_that_of_several_is_not() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("it can be written");
    for (name, bytes) in Writer::default().files(&everything([1, 0, 0])) {
        put(&name, &bytes);
    }
    put("notes.meta", b"of something else");
    put("README", b"numprocs=7");
    let read = |path: &Path| Collected::of(|reader| trace::read(path, None, reader));
    let of_folder = read(folder.path()).expect("it can be read");
    assert_eq!(
        of_folder,
        read(&folder.path().join("app.meta")).expect("it can be read")
    );
    assert!(of_folder.0.header.ranks > 1);
    put("other.meta", b"numprocs=1\nfileprefix=other\n");
    match read(folder.path()) {
        Err(trace::ReadStop::Broken(problem)) => assert_eq!(
            (problem.reason.as_str(), problem.hint.as_str()),
            ("it has 2 traces: app.meta, other.meta", "give the .meta of one of them")
        ),
        other => panic!("{other:?}"),
    }
    let empty = tempfile::tempdir().expect("a folder for temporary files");
    assert!(trace::known::format_of(empty.path()).is_err());
    match Collected::of(|reader| trace::read(empty.path(), trace::named("dumpi"), reader)) {
        Err(trace::ReadStop::Broken(problem)) => assert_eq!(problem.reason, "it has no PREFIX.meta"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_sample_of_another_project_has_what_is_expected_of_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/traces");
    if !folder.exists() {
        println!("{} is not there: nothing is compared", folder.display());
        return;
    }
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("it can be read");
    let expected: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let expected = &expected["dumpi/testtrace"];
    let calls = expected["calls"].as_object().expect("counts by name");
    let count = |name: &str| calls[name].as_u64().expect("a count");
    let mut summary = trace::TraceSummary::default();
    let mut watch = |_: trace::ReadProgress| true;
    let mut reader = trace::TraceReader::new(&mut summary, &mut watch);
    trace::read(&folder.join("dumpi/testtrace.meta"), None, &mut reader).expect("it can be read");
    let records = reader.progress.records;
    assert_eq!(reader.into_problems(), (Vec::new(), 0));
    assert_eq!(
        records,
        calls.values().filter_map(serde_json::Value::as_u64).sum::<u64>()
    );
    assert_eq!(Some(u64::from(summary.ranks)), expected["ranks"].as_u64());
    assert_eq!(Some(summary.bytes_sent), expected["bytes_sent"].as_u64());
    for (kind, name) in [
        ("barrier", "Barrier"),
        ("isend", "Isend"),
        ("recv", "Recv"),
        ("wait", "Wait"),
        ("allreduce", "Allreduce"),
    ] {
        assert_eq!(summary.operations[kind], count(name), "{name}");
    }
    let others: u64 = summary
        .operations
        .iter()
        .filter(|(kind, _)| **kind != "compute")
        .map(|(_, count)| count)
        .sum();
    assert_eq!(others, 20);
}

/// `cargo test --release -p fabricsim-trace --test all dumpi:: -- --ignored --nocapture` says how fast calls are read.
#[test]
#[ignore = "it is a measurement"]
fn a_million_calls_are_read_in_less_than_a_second() {
    let mut calls = Vec::new();
    for _ in 0..250_000 {
        calls.push((12, vec![I(10), H(14), I(-1), I(7), H(2), I(5)]));
        calls.push((8, vec![I(10), H(14), I(0), I(7), H(2), I(6)]));
        calls.push((18, vec![I(2), Is(vec![5, 6]), S(vec![(80, 0, 7), (0, -1, -1)])]));
        calls.push((65, vec![I(2), H(28), B(3), H(2)]));
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, bytes) in Writer::default().files(&[calls]) {
        std::fs::write(folder.path().join(name), bytes).expect("the file can be written");
    }
    let mut summary = trace::TraceSummary::default();
    let mut watch = |_: trace::ReadProgress| true;
    let mut reader = trace::TraceReader::new(&mut summary, &mut watch);
    let begun = std::time::Instant::now();
    trace::read(&folder.path().join("app.meta"), None, &mut reader).expect("it can be read");
    let took = begun.elapsed();
    println!("{} calls in {took:?}", reader.progress.records);
    assert!(took.as_secs_f64() < 1.0, "{took:?}");
}
