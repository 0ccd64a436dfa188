//! Random programs that match have no problem, and each planted defect is found, with nothing else.

use proptest::prelude::*;
use trace::check::{Check, CheckFigures};
use trace::collected::CollectedOperation;
use trace::operation::ANY_SOURCE;
use trace::{Collected, Kind, Members, Operation, Repair, TraceForm, TraceHeader, TraceSink};

/// What ranks do together.
#[derive(Clone, Debug)]
enum Event {
    /// A message from one to the other, with a tag that says its size; with requests or without.
    Message { from: u32, to: u32, tag: u32, asked: bool },
    /// All send to the next and receive from the one before.
    Ring { tag: u32 },
    /// A message whose receiver does not say from whom, in a communicator for such ones.
    Open { from: u32, to: u32, tag: u32 },
    /// A collective of all, or of every second rank.
    Collective { kind: usize, root: u32, halves: bool },
}

const COLLECTIVES: [Kind; 5] = [Kind::Bcast, Kind::Reduce, Kind::Allreduce, Kind::Barrier, Kind::Gatherv];
/// Communicators besides that of all.
const OPEN: u32 = 1;
const SECOND: u32 = 2;

fn event(ranks: u32) -> impl Strategy<Value = Event> {
    let (from, to, tag) = (0..ranks, 0..ranks, 0..3_u32);
    prop_oneof![
        4 => (from.clone(), to.clone(), tag.clone(), any::<bool>())
            .prop_map(|(from, to, tag, asked)| Event::Message { from, to, tag, asked }),
        1 => tag.clone().prop_map(|tag| Event::Ring { tag }),
        2 => (from, to, tag).prop_map(|(from, to, tag)| Event::Open { from, to, tag }),
        2 => (0..COLLECTIVES.len(), 0..ranks, any::<bool>())
            .prop_map(|(kind, root, halves)| Event::Collective { kind, root, halves }),
    ]
}

fn size(tag: u32) -> u64 {
    8 + 8 * u64::from(tag)
}

/// The program of what ranks do together; records are numbers of operations.
fn program(ranks: u32, events: &[Event]) -> Collected {
    let mut header = TraceHeader::new("test", ranks, TraceForm::Program);
    let second: Vec<u32> = (0..ranks).step_by(2).collect();
    header.communicators.push(Members::all(ranks));
    header
        .communicators
        .push(Members::of(second.iter().rev().copied().collect()));
    let mut all: Vec<Vec<Operation>> = vec![Vec::new(); ranks as usize];
    let mut requests = vec![0; ranks as usize];
    let mut do_it = |rank: u32, mut operation: Operation| {
        let rank = rank as usize;
        if matches!(operation.kind, Kind::Isend | Kind::Irecv) {
            operation.request = requests[rank];
            requests[rank] += 1;
        }
        all[rank].push(operation);
    };
    for event in events {
        match *event {
            Event::Message { from, to, tag, asked } => {
                let (send, receive) = match asked {
                    true => (Kind::Isend, Kind::Irecv),
                    false => (Kind::Send, Kind::Recv),
                };
                do_it(from, Operation::message(send, to, size(tag), tag));
                do_it(to, Operation::message(receive, from, size(tag), tag));
            }
            Event::Ring { tag } => {
                for rank in 0..ranks {
                    let operation = Operation {
                        source: (rank + ranks - 1) % ranks,
                        source_tag: tag,
                        received: size(tag),
                        ..Operation::message(Kind::Sendrecv, (rank + 1) % ranks, size(tag), tag)
                    };
                    do_it(rank, operation);
                }
            }
            Event::Open { from, to, tag } => {
                let of = |kind, peer| Operation {
                    communicator: OPEN,
                    ..Operation::message(kind, peer, size(tag), tag)
                };
                do_it(from, of(Kind::Send, to));
                do_it(to, of(Kind::Recv, ANY_SOURCE));
            }
            Event::Collective { kind, root, halves } => {
                let communicator = if halves { SECOND } else { 0 };
                let members = header.communicators[communicator as usize].clone();
                let kind = COLLECTIVES[kind];
                for (number, rank) in members.iter().enumerate() {
                    let mut operation = Operation::collective(kind, communicator, 64);
                    if kind.has_root() {
                        operation.peer = root % members.len();
                    }
                    if kind == Kind::Gatherv {
                        operation.bytes = number as u64;
                    }
                    do_it(rank, operation);
                }
            }
        }
    }
    let list = |(rank, mut operations): (usize, Vec<Operation>)| {
        operations.push(Operation::new(Kind::Waitall));
        let last = operations.len() - 1;
        let listed = |(i, operation)| CollectedOperation {
            record: i as u64,
            operation,
            values: match i == last {
                true => (0..u64::from(requests[rank])).collect(),
                false => Vec::new(),
            },
            ..CollectedOperation::default()
        };
        operations.into_iter().enumerate().map(listed).collect()
    };
    Collected {
        header,
        ranks: all.into_iter().enumerate().map(list).collect(),
        names: Vec::new(),
    }
}

/// A defect, and the place that it is planted at: the nth that suits.
#[derive(Clone, Copy, Debug)]
enum Defect {
    SendIsGone,
    ReceiveIsGone,
    OtherTag,
    SmallReceive,
    NoCollective,
    OtherKind,
    OtherRoot,
    NoPeer,
    RequestTwice,
    WaitForNothing,
    BackInTime,
}

const DEFECTS: [Defect; 11] = [
    Defect::SendIsGone,
    Defect::ReceiveIsGone,
    Defect::OtherTag,
    Defect::SmallReceive,
    Defect::NoCollective,
    Defect::OtherKind,
    Defect::OtherRoot,
    Defect::NoPeer,
    Defect::RequestTwice,
    Defect::WaitForNothing,
    Defect::BackInTime,
];

/// What is to be found: figures, and words that every problem has.
struct Expected {
    figures: CheckFigures,
    problems: std::ops::RangeInclusive<u64>,
    words: &'static [&'static str],
    /// Whether leaving out what does not match mends it.
    mends: bool,
}

fn plant(trace: &mut Collected, defect: Defect, nth: usize) -> Option<Expected> {
    use Defect as D;
    let suits = |operation: &Operation| match defect {
        D::SendIsGone => operation.kind == Kind::Send,
        D::ReceiveIsGone => operation.kind == Kind::Recv,
        D::OtherTag | D::SmallReceive => operation.kind == Kind::Recv && operation.communicator == 0,
        D::NoCollective => operation.kind.is_collective(),
        D::OtherKind => operation.kind == Kind::Allreduce,
        D::OtherRoot => operation.kind == Kind::Bcast,
        D::RequestTwice => operation.kind == Kind::Isend,
        D::NoPeer | D::WaitForNothing | D::BackInTime => true,
    };
    let places: Vec<(usize, usize)> = (0..trace.ranks.len())
        .flat_map(|rank| (0..trace.ranks[rank].len()).map(move |i| (rank, i)))
        .filter(|(rank, i)| suits(&trace.ranks[*rank][*i].operation))
        .collect();
    let (rank, i) = *places.get(nth % places.len().max(1))?;
    let operation = trace.ranks[rank][i].operation;
    let members = trace.header.communicators[operation.communicator as usize].len();
    // With one rank, nobody else says otherwise.
    if matches!(defect, D::NoCollective | D::OtherKind | D::OtherRoot) && members < 2 {
        return None;
    }
    let operations = &mut trace.ranks[rank];
    let mut insert = |at: usize, operation| {
        operations.insert(
            at,
            CollectedOperation {
                record: 1000,
                operation,
                ..CollectedOperation::default()
            },
        );
    };
    let mut figures = CheckFigures::default();
    let (problems, words, mends): (_, &[&str], bool) = match defect {
        D::SendIsGone => {
            operations.remove(i);
            figures.unmatched_receives = 1;
            (1..=1, &["what is never sent", "nothing is left"], true)
        }
        D::ReceiveIsGone => {
            operations.remove(i);
            figures.unmatched_sends = 1;
            (1..=1, &["never receives this message"], true)
        }
        D::OtherTag => {
            operations[i].operation.tag = 77;
            (figures.unmatched_sends, figures.unmatched_receives) = (1, 1);
            (2..=2, &["what is never sent", "never receives this message"], true)
        }
        D::SmallReceive => {
            operations[i].operation.bytes -= 1;
            figures.small_receives = 1;
            (1..=1, &[" B of a message of "], true)
        }
        D::NoCollective => {
            operations.remove(i);
            // What follows it is compared with what others do later.
            (1..=u64::MAX, &["collectives of communicator", " meets "], true)
        }
        D::OtherKind | D::OtherRoot => {
            match defect {
                D::OtherKind => operations[i].operation.kind = Kind::Alltoall,
                _ => operations[i].operation.peer = (operation.peer + 1) % members,
            }
            figures.unmatched_collectives = members.into();
            (1..=u64::from(members) - 1, &[" meets "], true)
        }
        D::NoPeer => {
            insert(i, Operation::message(Kind::Put, 1000, 8, 0));
            (1..=1, &["there is no rank 1000 to talk to"], true)
        }
        D::RequestTwice => {
            // What the other name was for is not waited for any more.
            let other = operations
                .iter_mut()
                .find(|one| one.operation.kind == Kind::Isend && one.operation != operation)?;
            other.operation.request = operation.request;
            figures.requests_left = 0;
            (1..=2, &["which is pending since record", "has made no request"], false)
        }
        D::WaitForNothing => {
            insert(
                i,
                Operation {
                    request: 5000,
                    ..Operation::new(Kind::Wait)
                },
            );
            (1..=1, &["has made no request 5000 before"], true)
        }
        D::BackInTime => {
            insert(
                i,
                Operation {
                    start: 7,
                    ..Operation::compute(1)
                },
            );
            insert(
                i,
                Operation {
                    start: 8,
                    ..Operation::compute(1)
                },
            );
            (1..=1, &["time goes back"], false)
        }
    };
    Some(Expected {
        figures,
        problems,
        words,
        mends,
    })
}

fn check(trace: &Collected) -> Check {
    let mut check = Check::default();
    trace.tell(&mut check).expect("it is read to the end");
    check
}

/// The trace with operations of ranks told in another order.
fn check_in_turn(trace: &Collected, mut seed: u64) -> Check {
    let mut check = Check::default();
    check.begin(&trace.header).expect("it begins");
    let mut at = vec![0; trace.ranks.len()];
    while let Some(left) =
        Some(Vec::from_iter((0..at.len()).filter(|&r| at[r] < trace.ranks[r].len()))).filter(|left| !left.is_empty())
    {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let rank = left[(seed >> 33) as usize % left.len()];
        let one = &trace.ranks[rank][at[rank]];
        let told = check.operation(rank as u32, one.record, &one.operation, &one.lists());
        told.expect("it goes on");
        at[rank] += 1;
    }
    check.end(&trace.names).expect("it ends");
    check
}

fn cases() -> impl Strategy<Value = (u32, Vec<Event>)> {
    (1..7_u32).prop_flat_map(|ranks| (Just(ranks), prop::collection::vec(event(ranks), 0..40)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn programs_that_match_have_no_problem((ranks, events) in cases(), seed: u64) {
        let trace = program(ranks, &events);
        let found = check(&trace);
        prop_assert_eq!(found.problems(), &[]);
        let operations = trace.ranks.iter().map(|rank| rank.len() as u64).sum();
        prop_assert_eq!(found.figures(), &CheckFigures { operations, ..CheckFigures::default() });
        let other = check_in_turn(&trace, seed);
        prop_assert_eq!(other.figures(), found.figures());
        // And are handed on as they are.
        let mut repair = Repair::new(&found, Collected::default());
        trace.tell(&mut repair).expect("it is read to the end");
        prop_assert!(repair.left_out().is_empty());
        prop_assert_eq!(repair.into_inner(), trace);
    }

    #[test]
    fn a_planted_defect_is_found_and_nothing_else(
        (ranks, events) in cases(),
        which in 0..DEFECTS.len(),
        nth: prop::sample::Index,
        seed: u64,
    ) {
        let mut trace = program(ranks, &events);
        let Some(mut expected) = plant(&mut trace, DEFECTS[which], nth.index(1 << 20)) else { return Ok(()) };
        let found = check(&trace);
        let words: Vec<String> = found.problems().iter().map(ToString::to_string).collect();
        let mut figures = found.figures().clone();
        prop_assert!(expected.problems.contains(&figures.problems), "{:?}", words);
        for words in &words {
            prop_assert!(expected.words.iter().any(|expected| words.contains(expected)), "{}", words);
        }
        if matches!(DEFECTS[which], Defect::NoCollective) {
            prop_assert!(figures.unmatched_collectives > 0);
            figures.unmatched_collectives = 0;
        }
        (expected.figures.operations, expected.figures.problems) = (figures.operations, figures.problems);
        expected.figures.requests_left = figures.requests_left;
        prop_assert_eq!(&figures, &expected.figures);
        prop_assert_eq!(check_in_turn(&trace, seed).figures().unmatched_sends, figures.unmatched_sends);
        if expected.mends {
            let mut repair = Repair::new(&found, Collected::default());
            trace.tell(&mut repair).expect("it is read to the end");
            prop_assert!(!repair.left_out().is_empty());
            let mended = check(&repair.into_inner());
            prop_assert_eq!(mended.problems(), &[]);
        }
    }

    #[test]
    fn whatever_is_changed_what_is_left_after_a_repair_matches(
        (ranks, events) in cases(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..7_u32), 1..8),
    ) {
        let mut trace = program(ranks, &events);
        for (rank, at, how) in edits {
            let operations = &mut trace.ranks[rank.index(ranks as usize)];
            if operations.is_empty() {
                continue;
            }
            let at = at.index(operations.len());
            let operation = &mut operations[at].operation;
            match how {
                0 => {
                    operations.remove(at);
                }
                1 => operation.tag = operation.tag.wrapping_add(1),
                2 => operation.bytes = operation.bytes.wrapping_sub(1),
                3 => operation.peer = operation.peer.wrapping_add(1),
                4 => operation.kind = Kind::Barrier,
                5 => operation.communicator = 2 - operation.communicator.min(2),
                _ => operation.bytes = 1 << 50,
            }
        }
        let found = check(&trace);
        let mut repair = Repair::new(&found, Collected::default());
        trace.tell(&mut repair).expect("it is read to the end");
        let mended = check(&repair.into_inner());
        let left: Vec<String> = mended.problems().iter().map(ToString::to_string).collect();
        let others = left.iter().filter(|words| !words.contains("which is pending since record"));
        prop_assert_eq!(others.count(), 0, "{:?} of {:?}", left, found.problems());
    }
}
