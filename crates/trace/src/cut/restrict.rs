//! Communicators of some of the ranks.

use crate::header::{Members, TraceHeader};
use crate::operation::{Kind, NONE, Operation, UNKNOWN_SIZE};
use std::ops::Range;

/// The communicators of a trace with the ranks of a part.
#[derive(Default)]
pub(super) struct Communicators {
    /// By number: those that lose no rank have none.
    kept: Vec<Option<KeptNumbers>>,
    headers: Vec<Members>,
}

/// Which numbers in a communicator stay.
struct KeptNumbers {
    /// New number of each old one.
    numbers: Vec<Option<u32>>,
}

impl Communicators {
    pub(super) fn of(header: &TraceHeader, ranks: &Range<u32>) -> Communicators {
        let mut all = Communicators::default();
        for members in &header.communicators {
            let mut next = 0;
            let numbers: Vec<Option<u32>> = members
                .iter()
                .map(|rank| {
                    let number = ranks.contains(&rank).then_some(next);
                    next += u32::from(number.is_some());
                    number
                })
                .collect();
            let left = members.iter().filter(|rank| ranks.contains(rank));
            all.headers
                .push(Members::of(left.map(|rank| rank - ranks.start).collect()));
            all.kept.push((next < members.len()).then_some(KeptNumbers { numbers }));
        }
        all
    }

    /// The communicators of the part.
    pub(super) fn headers(&self) -> Vec<Members> {
        self.headers.clone()
    }

    /// A collective among the ranks of the part, with what its list has for them; none if its root is outside.
    pub(super) fn restricted(&self, operation: &Operation, values: &mut Vec<u64>) -> Option<Operation> {
        let Some(Some(KeptNumbers { numbers })) = self.kept.get(operation.communicator as usize) else {
            return Some(*operation);
        };
        let mut left = *operation;
        if operation.kind.has_root() && operation.peer != NONE {
            left.peer = (*numbers.get(operation.peer as usize)?)?;
        }
        if values.len() == numbers.len() {
            let mut each = numbers.iter();
            values.retain(|_| each.next().is_some_and(Option::is_some));
            if operation.kind == Kind::Alltoallv && operation.bytes != UNKNOWN_SIZE {
                left.bytes = values.iter().fold(0, |all: u64, value| all.saturating_add(*value));
                // Who sends how much to this rank stands with the others.
                left.received = 0;
            }
        }
        Some(left)
    }
}
