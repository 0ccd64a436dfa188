//! Sizes of collectives: Score-P records for each rank the bytes that it sends and receives over all; operations have those of one share.
//!
//! What is recorded at a rank of `n` ranks for a share of `b` bytes (Score-P's wrappers of MPI's collectives):
//!
//! | | sent | received |
//! |---|---|---|
//! | bcast | n b at the root, 0 elsewhere | b |
//! | gather, reduce | b | n b at the root, 0 elsewhere |
//! | scatter | n b at the root, 0 elsewhere | b |
//! | allgather, alltoall, allreduce, reduce_scatter_block | n b | n b |
//! | gatherv | its bytes | the sum at the root, 0 elsewhere |
//! | scatterv | the sum at the root, 0 elsewhere | its bytes |
//! | allgatherv | n times its bytes | the sum |
//! | alltoallv, alltoallw | the sum | the sum |
//! | reduce_scatter | the vector | n times its bytes |
//! | scan | (n - place) b | (place + 1) b |
//! | exscan | (n - place - 1) b | place b |
//!
//! Who gives its data in place sends and receives nothing to itself, so that n is one less and what a root gives itself is 0.

use crate::operation::{Kind, Operation};

/// What a collective of OTF2 is, by its number.
pub fn kind(op: u8) -> Option<Kind> {
    use Kind as K;
    Some(match op {
        0 => K::Barrier,
        1 => K::Bcast,
        2 => K::Gather,
        3 => K::Gatherv,
        4 => K::Scatter,
        5 => K::Scatterv,
        6 => K::Allgather,
        7 => K::Allgatherv,
        8 => K::Alltoall,
        9 | 10 => K::Alltoallv,
        11 => K::Allreduce,
        12 => K::Reduce,
        13 => K::ReduceScatter,
        14 => K::Scan,
        15 => K::Exscan,
        16 => K::ReduceScatterBlock,
        // Communicators, windows and their memory.
        17 | 19 | 21 => K::CommCreate,
        18 | 20 | 22 => K::CommFree,
        _ => return None,
    })
}

/// The number of a collective.
pub fn op(kind: Kind) -> u8 {
    (0..=18).find(|op| self::kind(*op) == Some(kind)).unwrap_or(0)
}

/// A share of what goes to all of `n` ranks, or to all others.
fn share(all: u64, n: u64) -> u64 {
    match n {
        0 | 1 => all,
        // It is not known.
        _ if all == u64::MAX => all,
        _ if all.is_multiple_of(n) => all / n,
        _ if all.is_multiple_of(n - 1) => all / (n - 1),
        _ => all.div_ceil(n),
    }
}

/// Bytes of an operation, and bytes that it receives where its kind tells them apart: of a collective in which a rank of `n` has sent and
/// received so much.
pub fn sizes(kind: Kind, n: u32, is_root: bool, sent: u64, received: u64) -> (u64, u64) {
    use Kind as K;
    let n = u64::from(n);
    match kind {
        K::Bcast if received == 0 => (share(sent, n), 0),
        K::Bcast => (received, 0),
        K::Gather | K::Reduce if is_root && sent == 0 => (received / n.saturating_sub(1).max(1), 0),
        K::Gather | K::Reduce => (sent, 0),
        K::Scatter if is_root && received == 0 => (sent / n.saturating_sub(1).max(1), 0),
        K::Scatter => (received, 0),
        K::Gatherv | K::Scatterv | K::Alltoallv => (sent, received),
        K::Allgather | K::Alltoall | K::Allreduce | K::ReduceScatterBlock => (share(sent.max(received), n), 0),
        K::Allgatherv => (share(sent, n), received),
        K::ReduceScatter => (sent, share(received, n)),
        K::Scan => {
            let all = sent.saturating_add(received);
            let plain = all / (n + 1);
            let is_plain = all.is_multiple_of(n + 1) && (plain == 0 || sent.is_multiple_of(plain));
            match is_plain {
                true => (plain, 0),
                false => (all / n.saturating_sub(1).max(1), 0),
            }
        }
        K::Exscan => (sent.saturating_add(received) / n.saturating_sub(1).max(1), 0),
        _ => (0, 0),
    }
}

/// Bytes that a rank of `n` sends and receives over all in an operation, with its list of sizes; the inverse of [`sizes`].
pub fn recorded(operation: &Operation, values: &[u64], n: u32, place: u32) -> (u64, u64) {
    use Kind as K;
    let Operation {
        kind, bytes, received, ..
    } = *operation;
    let is_root = operation.peer == place;
    let at_root = |bytes: u64| if is_root { bytes } else { 0 };
    let times = |bytes: u64, n: u32| bytes.saturating_mul(n.into());
    let listed = values.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    let or_listed = |bytes: u64| if bytes == 0 { listed } else { bytes };
    match kind {
        K::Bcast => (at_root(times(bytes, n)), bytes),
        K::Gather | K::Reduce => (bytes, at_root(times(bytes, n))),
        K::Scatter => (at_root(times(bytes, n)), bytes),
        K::Gatherv => (bytes, at_root(or_listed(received))),
        K::Scatterv => (at_root(or_listed(bytes)), received),
        K::Allgather | K::Alltoall | K::Allreduce | K::ReduceScatterBlock => (times(bytes, n), times(bytes, n)),
        K::Allgatherv => (times(bytes, n), or_listed(received)),
        K::Alltoallv => (or_listed(bytes), received),
        K::ReduceScatter => (or_listed(bytes), times(received, n)),
        K::Scan => (times(bytes, n.saturating_sub(place)), times(bytes, place + 1)),
        K::Exscan => (times(bytes, n.saturating_sub(place + 1)), times(bytes, place)),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_of_a_share_is_that_share() {
        for kind in Kind::ALL.iter().copied().filter(|kind| kind.is_collective()) {
            for (n, place) in [(1, 0), (2, 0), (2, 1), (3, 1), (7, 6), (64, 13)] {
                for bytes in [0, 1, 5, 4096] {
                    // An exclusive scan of one rank moves nothing, and a barrier has no size.
                    let has_size = !matches!(kind, Kind::Barrier | Kind::CommCreate | Kind::CommFree);
                    let bytes = if has_size && (kind != Kind::Exscan || n > 1) {
                        bytes
                    } else {
                        0
                    };
                    for root in [0, place] {
                        let is_root = kind.has_root() && root == place;
                        let (bytes, received) = match kind {
                            Kind::Gatherv if is_root => (bytes, 3 * bytes),
                            Kind::Scatterv if is_root => (3 * bytes, bytes),
                            Kind::Scatterv => (0, bytes),
                            Kind::Allgatherv | Kind::Alltoallv | Kind::ReduceScatter => (bytes, 2 * bytes),
                            _ => (bytes, 0),
                        };
                        let operation = Operation {
                            peer: if kind.has_root() { root } else { crate::operation::NONE },
                            received,
                            ..Operation::collective(kind, 0, bytes)
                        };
                        let (sent, all_received) = recorded(&operation, &[], n, place);
                        let told = sizes(kind, n, is_root, sent, all_received);
                        assert_eq!(told, (bytes, received), "{kind:?} of {n} at {place}, root {root}");
                    }
                }
            }
            assert_eq!(super::kind(op(kind)), Some(kind));
        }
    }

    #[test]
    fn what_is_in_place_goes_to_the_others_only() {
        // Of 4 ranks 3 are others, and 21 bytes are no multiple of 4.
        assert_eq!(sizes(Kind::Allreduce, 4, false, 21, 21), (7, 0));
        assert_eq!(sizes(Kind::Reduce, 5, true, 0, 40), (10, 0));
        assert_eq!(sizes(Kind::Gather, 5, true, 0, 40), (10, 0));
        assert_eq!(sizes(Kind::Scatter, 5, true, 40, 0), (10, 0));
        assert_eq!(sizes(Kind::Scan, 5, false, 20, 20), (10, 0));
        assert_eq!(sizes(Kind::Allreduce, 3, false, u64::MAX, u64::MAX), (u64::MAX, 0));
    }
}
