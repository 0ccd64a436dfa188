//! Whether the fields of an operation say something that there is: ranks, roots, communicators, sizes.

use super::communicators::KnownCommunicators;
use crate::header::TraceHeader;
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Lists, NONE, Operation, UNKNOWN_SIZE};

/// Largest message or block of a collective that can be played (bytes): 40 bits less the largest header.
pub const LARGEST: u64 = (1 << 40) - 1 - (1 << 16);

/// What is wrong with an operation by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrongFields {
    /// What it is.
    pub reason: String,
    /// What to do.
    pub hint: String,
    /// Whether it is still clear whom it meets: other ranks take part in it.
    pub has_partners: bool,
}

/// The first thing that is wrong with the fields of an operation.
pub(crate) fn wrong(
    header: &TraceHeader,
    communicators: &KnownCommunicators,
    rank: u32,
    operation: &Operation,
    lists: &Lists<'_>,
) -> Option<WrongFields> {
    let kind = operation.kind;
    let meets = kind.is_collective() || talks(kind);
    if !meets {
        return None;
    }
    let number = operation.communicator;
    let Some(members) = header.communicators.get(number as usize) else {
        let hint = format!("there are {} communicators", header.communicators.len());
        return stray(format!("there is no communicator {number}"), hint);
    };
    // What is wrong with the communicator itself was told once.
    let sound = communicators.is_sound(number);
    if sound && !communicators.has(header, number, rank) {
        let reason = format!(
            "rank {rank} does {} in communicator {number}, which it is not in",
            kind.name()
        );
        return stray(reason, "a communicator is used by its own ranks");
    }
    if kind.is_collective() {
        return of_collective(operation, lists, members.len());
    }
    let halves = match kind {
        Kind::Sendrecv => [Some((operation.peer, false)), Some((operation.source, true))],
        Kind::Recv | Kind::Irecv | Kind::Probe => [Some((operation.peer, true)), None],
        _ => [Some((operation.peer, false)), None],
    };
    for (peer, may_be_open) in halves.into_iter().flatten() {
        if may_be_open && peer == ANY_SOURCE {
            continue;
        }
        if peer >= header.ranks {
            return stray(
                no_peer(kind, peer, may_be_open),
                format!("ranks are 0..={}", header.ranks - 1),
            );
        }
        if sound && !communicators.has(header, number, peer) {
            let reason = format!(
                "rank {peer} is not in communicator {number}, in which {} names it",
                kind.name()
            );
            return stray(reason, "both ends of a message are in its communicator");
        }
    }
    if kind.sends() && operation.tag == ANY_TAG {
        return stray(
            format!("{} with any tag", kind.name()),
            "only receives may leave it open",
        );
    }
    let sizes = [operation.bytes, operation.received];
    sizes.into_iter().find_map(|bytes| too_large(bytes, kind))
}

/// Whether an operation names a rank that it talks to.
fn talks(kind: Kind) -> bool {
    kind.sends() || kind.receives() || matches!(kind, Kind::Probe | Kind::Put | Kind::Get)
}

fn no_peer(kind: Kind, peer: u32, receives: bool) -> String {
    match (receives, peer) {
        (true, NONE) => format!("{} does not say whom to receive from", kind.name()),
        (false, NONE) => format!("{} does not say whom it is for", kind.name()),
        (_, ANY_SOURCE) => format!("{} to any rank", kind.name()),
        _ => format!("there is no rank {peer} to talk to"),
    }
}

fn of_collective(operation: &Operation, lists: &Lists<'_>, size: u32) -> Option<WrongFields> {
    let kind = operation.kind;
    if kind.has_root() && operation.peer >= size {
        let reason = match operation.peer {
            NONE => format!("{} has no root", kind.name()),
            root => format!("the root {root} of {} is not in a communicator of {size}", kind.name()),
        };
        return partly(reason, format!("its ranks are 0..={}", i64::from(size) - 1));
    }
    let listed = lists.values.len();
    if listed != 0 && listed != size as usize {
        let reason = format!("{} lists {listed} sizes in a communicator of {size}", kind.name());
        return partly(reason, "one size for each of its ranks");
    }
    let sizes = [operation.bytes, operation.received].into_iter();
    // Of what differs by rank, the fields have the sums.
    let sums = matches!(kind, Kind::Alltoallv | Kind::Allgatherv | Kind::ReduceScatter);
    let limited = sizes.filter(|_| !sums || lists.values.is_empty());
    let mut all = limited.chain(lists.values.iter().copied());
    all.find_map(|bytes| too_large(bytes, kind))
}

fn too_large(bytes: u64, kind: Kind) -> Option<WrongFields> {
    if bytes <= LARGEST || bytes == UNKNOWN_SIZE {
        return None;
    }
    let reason = format!("{bytes} bytes are too many for {}", kind.name());
    partly(reason, format!("at most {LARGEST}"))
}

/// An operation that cannot meet anybody.
fn stray(reason: String, hint: impl Into<String>) -> Option<WrongFields> {
    Some(WrongFields {
        reason,
        hint: hint.into(),
        has_partners: false,
    })
}

/// An operation that others come to, though it is wrong.
fn partly(reason: String, hint: impl Into<String>) -> Option<WrongFields> {
    Some(WrongFields {
        has_partners: true,
        ..stray(reason, hint)?
    })
}
