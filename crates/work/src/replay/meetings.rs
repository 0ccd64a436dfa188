//! Collectives on which the ranks of a communicator agree: the n-th of each rank is the same one, of one size.
//!
//! Ranks choose how a collective is done by its size, and must not choose differently: its size is put together from what all ranks
//! say of it.

use crate::mpi::CollectiveKind;
use std::collections::HashMap;
use trace::operation::NONE;
use trace::{Kind, Lists, Operation, Problem, TraceHeader};

/// A collective of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Meeting {
    kind: Kind,
    root: u32,
    /// Ranks that have come.
    came: u32,
    /// Some of them wait in it.
    waits: bool,
    /// Most bytes that a rank speaks of.
    most: u64,
    /// Bytes that all ranks speak of, where theirs differ.
    sum: u64,
}

/// The collectives of a trace.
#[derive(Debug, Default)]
pub struct Meetings {
    /// By communicator, in order.
    all: Vec<Vec<Meeting>>,
    /// Members of each communicator.
    sizes: Vec<u32>,
    /// How many of a communicator a rank has come to: by (communicator, rank).
    came: HashMap<(u32, u32), u32>,
}

/// What the ranks have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreedCollective {
    /// Which collective does the same, or about the same.
    pub kind: CollectiveKind,
    /// The root, 0 where there is none.
    pub root: u32,
    /// Its size; what it means depends on the kind.
    pub bytes: u64,
    /// Some rank waits in it, and so do all.
    pub waits: bool,
}

/// The collective that stands for one of a trace, as the limits of `trace` say.
pub fn stands_for(kind: Kind) -> Option<CollectiveKind> {
    use CollectiveKind as C;
    Some(match kind {
        Kind::Barrier | Kind::CommCreate => C::Barrier,
        Kind::Bcast => C::Bcast,
        Kind::Reduce => C::Reduce,
        Kind::Allreduce | Kind::Scan | Kind::Exscan => C::Allreduce,
        Kind::Gather | Kind::Gatherv => C::Gather,
        Kind::Scatter | Kind::Scatterv => C::Scatter,
        Kind::Allgather | Kind::Allgatherv => C::Allgather,
        Kind::Alltoall => C::Alltoall,
        Kind::Alltoallv => C::Alltoallv,
        Kind::ReduceScatter | Kind::ReduceScatterBlock => C::ReduceScatter,
        _ => return None,
    })
}

/// What a rank says of the size of a collective: of a block or vector, and its part of a sum where blocks differ.
fn told(operation: &Operation, lists: &Lists<'_>) -> (u64, u64) {
    let listed = lists
        .values
        .iter()
        .fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
    match operation.kind {
        Kind::Barrier | Kind::CommCreate => (0, 0),
        // A list has all blocks, whoever tells it.
        Kind::Gatherv | Kind::Allgatherv => (listed, operation.bytes),
        Kind::Scatterv | Kind::ReduceScatter => (listed, operation.received),
        Kind::Alltoallv => (0, listed.max(operation.bytes)),
        _ => (operation.bytes, 0),
    }
}

impl Meetings {
    /// None yet of a trace.
    pub fn new(header: &TraceHeader) -> Meetings {
        Meetings {
            all: vec![Vec::new(); header.communicators.len()],
            sizes: header.communicators.iter().map(trace::Members::len).collect(),
            came: HashMap::new(),
        }
    }

    /// Members of a communicator; `None` if there is no such one.
    pub fn size(&self, communicator: u32) -> Option<u32> {
        self.sizes.get(communicator as usize).copied()
    }

    /// A rank comes to its next collective of a communicator, which is there: the number of the meeting.
    ///
    /// # Errors
    /// Others are in another one, or it has no such root.
    pub fn come(&mut self, rank: u32, operation: &Operation, lists: &Lists<'_>) -> Result<u32, Problem> {
        let communicator = operation.communicator;
        let number = self.came.entry((communicator, rank)).or_default();
        let root = if operation.kind.has_root() { operation.peer } else { 0 };
        let size = self.sizes[communicator as usize];
        if root >= size {
            let reason = format!(
                "the root {root} of {} is not in a communicator of {size}",
                operation.kind.name()
            );
            return Err(Problem::new("", reason, "roots are numbers in the communicator"));
        }
        let (most, sum) = told(operation, lists);
        let waits = operation.request == NONE;
        let meetings = &mut self.all[communicator as usize];
        match meetings.get_mut(*number as usize) {
            None => meetings.push(Meeting {
                kind: operation.kind,
                root,
                came: 1,
                waits,
                most,
                sum,
            }),
            Some(meeting) if (meeting.kind, meeting.root) == (operation.kind, root) => {
                meeting.came += 1;
                meeting.waits |= waits;
                meeting.most = meeting.most.max(most);
                meeting.sum = meeting.sum.saturating_add(sum);
            }
            Some(other) => {
                let words = |kind: Kind, root: u32| match kind.has_root() {
                    true => format!("{} with root {root}", kind.name()),
                    false => kind.name().to_owned(),
                };
                let (own, others) = (words(operation.kind, root), words(other.kind, other.root));
                let reason =
                    format!("as collective {number} of communicator {communicator} it has {own}, others {others}");
                return Err(Problem::new(
                    "",
                    reason,
                    "all ranks of a communicator come to the same ones in one order",
                ));
            }
        }
        *number += 1;
        Ok(*number - 1)
    }

    /// All have come; what is kept of them. `has` tells whether a communicator has a rank.
    ///
    /// # Errors
    /// A collective that some rank does not come to, or that one comes to who is not of its communicator.
    pub fn finish(self, has: impl Fn(u32, u32) -> bool) -> Result<AgreedMeetings, Problem> {
        let strangers = self
            .came
            .keys()
            .filter(|(communicator, rank)| !has(*communicator, *rank));
        if let Some((communicator, rank)) = strangers.min() {
            let reason = format!("it comes to collectives of communicator {communicator}, which it is not in");
            return Err(Problem::new("", reason, "record the trace again").of_rank(*rank));
        }
        for (communicator, meetings) in self.all.iter().enumerate() {
            let size = self.sizes[communicator];
            let missed = meetings.iter().enumerate().find(|(_, meeting)| meeting.came < size);
            if let Some((number, meeting)) = missed {
                let (name, came) = (meeting.kind.name(), meeting.came);
                let reason = format!(
                    "{came} of {size} ranks come to collective {number} of communicator {communicator}, {name}"
                );
                return Err(Problem::new(
                    "",
                    reason,
                    "record the trace to its end, or cut it where all ranks meet",
                ));
            }
        }
        Ok(AgreedMeetings {
            all: self.all,
            sizes: self.sizes,
        })
    }
}

/// The collectives of a trace when all ranks have told theirs.
#[derive(Debug)]
pub struct AgreedMeetings {
    all: Vec<Vec<Meeting>>,
    sizes: Vec<u32>,
}

impl AgreedMeetings {
    /// What the ranks have agreed on in a meeting.
    ///
    /// # Panics
    /// There is no such meeting.
    #[inline]
    pub fn get(&self, communicator: u32, number: u32) -> AgreedCollective {
        let meeting = self.all[communicator as usize][number as usize];
        let size = u64::from(self.sizes[communicator as usize]);
        let bytes = match meeting.kind {
            Kind::Barrier | Kind::CommCreate => 0,
            // Blocks of one size, the mean.
            Kind::Gatherv | Kind::Scatterv | Kind::Allgatherv | Kind::ReduceScatter => {
                meeting.most.max(meeting.sum).div_ceil(size)
            }
            // Each has its own sizes; how it is done goes by their mean.
            Kind::Alltoallv => meeting.sum.div_ceil(size * size),
            _ => meeting.most,
        };
        AgreedCollective {
            kind: stands_for(meeting.kind).unwrap_or(CollectiveKind::Barrier),
            root: meeting.root,
            bytes,
            waits: meeting.waits,
        }
    }

    /// The largest size of a meeting, and the communicator with most members that meets.
    pub fn largest(&self) -> (u64, u32) {
        let (mut bytes, mut size) = (0, 0);
        for (communicator, meetings) in (0..).zip(&self.all) {
            for number in 0..meetings.len() as u32 {
                bytes = bytes.max(self.get(communicator, number).bytes);
                size = size.max(self.sizes[communicator as usize]);
            }
        }
        (bytes, size)
    }
}
