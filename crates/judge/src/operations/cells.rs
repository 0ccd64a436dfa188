//! What an operation is, as cells of a table: what does not apply is not there.

use super::OperationTimes;
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, UNNAMED};
use work::mpi::{Collective, CollectiveKind, Op, Transfer};
use work::ranks::Plan;

/// The cells of an operation. Nothing is there of one that is not known: those of graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCells {
    /// To whom or from whom; not of a receive from anybody.
    pub peer: Option<u32>,
    /// Bytes of a message or collective; of a receive the most that it takes, not of one that takes any. Of an alltoallv all that is sent.
    pub bytes: Option<u64>,
    /// Tag of a message; not of a receive of any.
    pub tag: Option<u32>,
    /// Communicator of a message or collective.
    pub communicator: Option<u32>,
    /// Name of a request, of those that have one.
    pub request: Option<u32>,
    /// From whom a sendrecv receives; not of one from anybody.
    pub source: Option<u32>,
    /// Tag of what a sendrecv receives; not of one of any.
    pub source_tag: Option<u32>,
    /// Bytes that a sendrecv receives at most, not of one that takes any; all that is received in an alltoallv.
    pub received: Option<u64>,
    /// Root of a collective, by its number in the communicator.
    pub root: Option<u32>,
    /// How long a computation takes (ps).
    pub time: Option<u64>,
}

/// An operation of a plan as it is kept, and what it receives; see [`OperationTimes`].
pub(super) fn known(plan: &Plan, rank: u32, at: [u32; 3], op: Option<Op>) -> (Option<Op>, u64) {
    let Some(phase) = plan.phases.get(at[0] as usize).filter(|phase| !phase.is_graph) else {
        return (None, 0);
    };
    let (Some(Op::Collective(collective)) | Some(Op::Icollective { collective, .. })) = op else {
        return (op, 0);
    };
    if collective.kind != CollectiveKind::Alltoallv {
        return (op, 0);
    }
    let program = &phase.program;
    let communicator = program.communicator(collective.communicator);
    let others = (0..communicator.size(rank)).map(|number| communicator.rank(rank, number));
    let (mut bytes, mut received) = (0_u64, 0_u64);
    for other in others {
        bytes = bytes.saturating_add(program.pair_bytes(&collective, rank, other));
        received = received.saturating_add(program.pair_bytes(&collective, other, rank));
    }
    let collective = Collective { bytes, ..collective };
    let op = match op {
        Some(Op::Icollective { request, .. }) => Op::Icollective { collective, request },
        _ => Op::Collective(collective),
    };
    (Some(op), received)
}

impl OperationTimes {
    /// What it is.
    pub fn cells(&self) -> OperationCells {
        let nothing = OperationCells::default();
        match self.op {
            None | Some(Op::WaitAll | Op::WaitAny | Op::WaitNews) => nothing,
            Some(Op::Compute { time }) => OperationCells {
                time: Some(time),
                ..nothing
            },
            Some(Op::Isend(it) | Op::Irecv(it)) => OperationCells {
                request: (it.request != UNNAMED).then(|| it.request.into()),
                ..message(&it)
            },
            Some(Op::Send(it) | Op::Recv(it)) => message(&it),
            Some(Op::SendRecv { send, recv }) => {
                let come = message(&recv);
                OperationCells {
                    source: come.peer,
                    source_tag: come.tag,
                    received: come.bytes,
                    ..message(&send)
                }
            }
            Some(Op::Wait { request } | Op::Test { request }) => OperationCells {
                request: (request != UNNAMED).then(|| request.into()),
                ..nothing
            },
            Some(Op::Collective(it)) => self.meeting(&it),
            Some(Op::Icollective { collective, request }) => OperationCells {
                request: (request != UNNAMED).then(|| request.into()),
                ..self.meeting(&collective)
            },
        }
    }
}

impl OperationTimes {
    /// The cells of a collective.
    fn meeting(&self, it: &Collective) -> OperationCells {
        OperationCells {
            bytes: Some(it.bytes),
            communicator: Some(it.communicator.into()),
            root: it.kind.has_root().then_some(it.root),
            received: (it.kind == CollectiveKind::Alltoallv).then_some(self.received),
            ..OperationCells::default()
        }
    }
}

/// The cells of a message.
fn message(transfer: &Transfer) -> OperationCells {
    OperationCells {
        peer: (transfer.peer != ANY_SOURCE).then_some(transfer.peer),
        bytes: (transfer.bytes != ANY_SIZE).then_some(transfer.bytes),
        tag: (transfer.tag != ANY_TAG).then(|| transfer.tag.into()),
        communicator: Some(transfer.communicator.into()),
        ..OperationCells::default()
    }
}
