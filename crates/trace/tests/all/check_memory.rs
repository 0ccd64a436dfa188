//! What a check keeps does not grow with the number of messages of programs that are balanced in the usual way.

use crate::held;
use std::time::Instant;
use trace::{Check, Kind, Lists, Operation, TraceForm, TraceHeader, TraceSink};

/// Checks steps of an exchange with six neighbours and two collectives, rank after rank; operations, and the most bytes held.
fn most_held(ranks: u32, steps: u64) -> (u64, usize) {
    held::while_doing(|| checked(ranks, steps))
}

/// The operations that are checked.
fn checked(ranks: u32, steps: u64) -> u64 {
    let mut check = Check::default();
    check
        .begin(&TraceHeader::new("test", ranks, TraceForm::Program))
        .expect("it begins");
    let neighbours = |rank: u32| {
        [1, 16, 256]
            .into_iter()
            .flat_map(move |d| [rank + d, rank + ranks - d])
            .map(|r| r % ranks)
    };
    let none = Lists::default();
    for rank in 0..ranks {
        let mut record = 0;
        let mut tell = |operation: Operation, lists: &Lists<'_>| {
            check.operation(rank, record, &operation, lists).expect("it goes on");
            record += 1;
        };
        for _ in 0..steps {
            for (i, other) in (0..).zip(neighbours(rank)) {
                let receive = Operation::message(Kind::Irecv, other, 4096, i / 2);
                tell(Operation { request: i, ..receive }, &none);
            }
            for (i, other) in (0..).zip(neighbours(rank)) {
                let send = Operation::message(Kind::Isend, other, 4096, i / 2);
                tell(Operation { request: 6 + i, ..send }, &none);
            }
            tell(Operation::compute(1000), &none);
            let requests: Vec<u64> = (0..12).collect();
            tell(
                Operation::new(Kind::Waitall),
                &Lists {
                    values: &requests,
                    ..none
                },
            );
            tell(Operation::collective(Kind::Allreduce, 0, 8), &none);
            tell(Operation::collective(Kind::Allreduce, 0, 64), &none);
        }
    }
    check.end(&[]).expect("it ends");
    assert_eq!(check.problems(), []);
    check.figures().operations
}

#[test]
fn what_is_kept_does_not_grow_with_the_number_of_messages() {
    let (_, few) = most_held(1024, 4);
    let (_, many) = most_held(1024, 200);
    // Of collectives a step of sixteen bytes is kept once, in a list that grows by doubling.
    assert!(many <= few + 3 * 400 * 8, "{few} bytes for 4 steps, {many} for 200");
}

#[test]
#[ignore = "takes a minute"]
fn fifty_million_operations_on_four_thousand_ranks() {
    let begun = Instant::now();
    let (operations, most) = most_held(4096, 764);
    println!("{operations} operations in {:?}, {} MiB", begun.elapsed(), most >> 20);
    assert!(operations > 50_000_000 && most < 1 << 30);
}
