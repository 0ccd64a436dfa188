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

use crate::operation::Kind;

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

/// A share of what goes to all of `n` ranks, or to all others.
fn share(all: u64, n: u64) -> u64 {
    match n {
        0 | 1 => all,
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
