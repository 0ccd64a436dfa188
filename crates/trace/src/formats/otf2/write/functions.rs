//! The functions of MPI that operations are written as.

use crate::operation::{Kind, Mode, NONE, Operation};

/// Role of a function from rank to rank.
const POINT_TO_POINT: u8 = 28;
/// Role of a function of all ranks.
const COLLECTIVE: u8 = 26;
/// Role of access to the memory of others.
const REMOTE: u8 = 29;

/// Functions by number, with their roles. Time that is nobody's is in the first one.
pub const FUNCTIONS: [(&str, u8); 53] = [
    ("MPI_OTHER", 0),
    ("MPI_Send", POINT_TO_POINT),
    ("MPI_Ssend", POINT_TO_POINT),
    ("MPI_Bsend", POINT_TO_POINT),
    ("MPI_Rsend", POINT_TO_POINT),
    ("MPI_Isend", POINT_TO_POINT),
    ("MPI_Issend", POINT_TO_POINT),
    ("MPI_Ibsend", POINT_TO_POINT),
    ("MPI_Irsend", POINT_TO_POINT),
    ("MPI_Recv", POINT_TO_POINT),
    ("MPI_Irecv", POINT_TO_POINT),
    ("MPI_Sendrecv", POINT_TO_POINT),
    ("MPI_Wait", POINT_TO_POINT),
    ("MPI_Waitall", POINT_TO_POINT),
    ("MPI_Waitany", POINT_TO_POINT),
    ("MPI_Test", POINT_TO_POINT),
    ("MPI_Probe", POINT_TO_POINT),
    ("MPI_Barrier", COLLECTIVE),
    ("MPI_Bcast", COLLECTIVE),
    ("MPI_Reduce", COLLECTIVE),
    ("MPI_Allreduce", COLLECTIVE),
    ("MPI_Gather", COLLECTIVE),
    ("MPI_Gatherv", COLLECTIVE),
    ("MPI_Scatter", COLLECTIVE),
    ("MPI_Scatterv", COLLECTIVE),
    ("MPI_Allgather", COLLECTIVE),
    ("MPI_Allgatherv", COLLECTIVE),
    ("MPI_Alltoall", COLLECTIVE),
    ("MPI_Alltoallv", COLLECTIVE),
    ("MPI_Reduce_scatter", COLLECTIVE),
    ("MPI_Reduce_scatter_block", COLLECTIVE),
    ("MPI_Scan", COLLECTIVE),
    ("MPI_Exscan", COLLECTIVE),
    ("MPI_Comm_dup", COLLECTIVE),
    ("MPI_Comm_free", COLLECTIVE),
    ("MPI_Ibarrier", COLLECTIVE),
    ("MPI_Ibcast", COLLECTIVE),
    ("MPI_Ireduce", COLLECTIVE),
    ("MPI_Iallreduce", COLLECTIVE),
    ("MPI_Igather", COLLECTIVE),
    ("MPI_Igatherv", COLLECTIVE),
    ("MPI_Iscatter", COLLECTIVE),
    ("MPI_Iscatterv", COLLECTIVE),
    ("MPI_Iallgather", COLLECTIVE),
    ("MPI_Iallgatherv", COLLECTIVE),
    ("MPI_Ialltoall", COLLECTIVE),
    ("MPI_Ialltoallv", COLLECTIVE),
    ("MPI_Ireduce_scatter", COLLECTIVE),
    ("MPI_Ireduce_scatter_block", COLLECTIVE),
    ("MPI_Iscan", COLLECTIVE),
    ("MPI_Iexscan", COLLECTIVE),
    ("MPI_Put", REMOTE),
    ("MPI_Get", REMOTE),
];

/// Number of the function that time is in which is nobody's.
pub const OTHER: u32 = 0;

/// The function of an operation, by number; none of what is no call.
pub fn function(operation: &Operation) -> Option<u32> {
    use Kind as K;
    let mode = match operation.mode {
        Mode::Standard => 0,
        Mode::Synchronous => 1,
        Mode::Buffered => 2,
        Mode::Ready => 3,
    };
    Some(match operation.kind {
        K::Compute | K::Sleep | K::Enter | K::Leave => return None,
        K::Send => 1 + mode,
        K::Isend => 5 + mode,
        K::Recv => 9,
        K::Irecv => 10,
        K::Sendrecv => 11,
        K::Wait => 12,
        K::Waitall => 13,
        K::Waitany => 14,
        K::Test => 15,
        // As a call it looks for messages.
        K::Probe | K::Waitnews => 16,
        K::Put => 51,
        K::Get => 52,
        // Collectives are in the order of their kinds; making and freeing communicators always waits.
        kind @ (K::Barrier
        | K::Bcast
        | K::Reduce
        | K::Allreduce
        | K::Gather
        | K::Gatherv
        | K::Scatter
        | K::Scatterv
        | K::Allgather
        | K::Allgatherv
        | K::Alltoall
        | K::Alltoallv
        | K::ReduceScatter
        | K::ReduceScatterBlock
        | K::Scan
        | K::Exscan
        | K::CommCreate
        | K::CommFree) => {
            let place = kind as u32 - K::Barrier as u32;
            match operation.request != NONE && kind < K::CommCreate {
                true => 35 + place,
                false => 17 + place,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_have_functions_of_their_names() {
        for kind in Kind::ALL
            .iter()
            .copied()
            .filter(|kind| kind.is_collective() && *kind < Kind::CommCreate)
        {
            let waits = Operation::new(kind);
            let goes_on = Operation { request: 1, ..waits };
            let name = |operation| {
                FUNCTIONS[function(operation).expect("a call") as usize]
                    .0
                    .to_lowercase()
            };
            assert_eq!(name(&waits), format!("mpi_{}", kind.name()));
            assert_eq!(name(&goes_on), format!("mpi_i{}", kind.name()));
        }
        assert_eq!(
            FUNCTIONS[function(&Operation::new(Kind::CommFree)).expect("a call") as usize].0,
            "MPI_Comm_free"
        );
    }
}
