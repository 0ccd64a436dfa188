//! A recording as the program of ranks.

use super::recorder::CallRecording;
use super::records::{OperationRecord, what};
use crate::mpi::graph::{Doing, GraphOp, OperationGraph};
use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, Transfer};
use crate::mpi::{Collective, CollectiveKind, Communicator, LARGEST, LeftOut, Op, Program};
use crate::regions::RecordedRegions;
use std::sync::Arc;
use trace::operation::UNKNOWN_SIZE;

/// How long computations take.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputeTimes {
    /// Picoseconds for a unit of work.
    pub each: f64,
    /// The same in regions that have one of their own, by number of the region.
    pub regions: Vec<f64>,
}

/// What ranks did, once per iteration.
#[derive(Clone, Debug)]
pub struct TraceProgram {
    recording: Arc<CallRecording>,
    times: ComputeTimes,
    message_scale: f64,
}

impl TraceProgram {
    /// Plays a recording with other times, and messages of `message_scale` times their size.
    pub fn new(recording: Arc<CallRecording>, times: ComputeTimes, message_scale: f64) -> TraceProgram {
        TraceProgram {
            recording,
            times,
            message_scale,
        }
    }

    /// The largest message (bytes), and the largest size of a collective, with the most ranks of one.
    pub fn largest(&self) -> (u64, u64, u32) {
        let (bytes, size) = self.recording.meetings.largest();
        (self.sized(self.recording.largest), self.sized(bytes), size)
    }

    fn sized(&self, bytes: u64) -> u64 {
        scaled(bytes, self.message_scale)
    }

    fn transfer(&self, record: &OperationRecord) -> Transfer {
        Transfer {
            peer: match record.other {
                trace::operation::ANY_SOURCE => ANY_SOURCE,
                peer => peer,
            },
            bytes: match record.amount {
                UNKNOWN_SIZE => ANY_SIZE,
                bytes => self.sized(bytes),
            },
            tag: record.tag,
            communicator: self.recording.communicators.of_messages(record.communicator),
            request: record.request,
            synchronous: matches!(record.what, what::SSEND | what::ISSEND),
        }
    }

    fn compute(&self, record: &OperationRecord) -> Op {
        let region = self.times.regions.get(record.communicator as usize);
        let each = region.copied().unwrap_or(self.times.each);
        Op::Compute {
            time: scaled(record.amount, each),
        }
    }

    fn collective(&self, record: &OperationRecord) -> Op {
        let agreed = self.recording.meetings.get(record.communicator, record.amount as u32);
        let collective = Collective {
            kind: agreed.kind,
            communicator: self.recording.communicators.of_collectives(record.communicator),
            bytes: self.sized(agreed.bytes),
            root: match agreed.kind {
                CollectiveKind::Alltoallv => record.more as u32,
                _ => agreed.root,
            },
        };
        match record.what {
            what::ICOLLECTIVE if !agreed.waits => Op::Icollective {
                collective,
                request: record.request,
            },
            _ => Op::Collective(collective),
        }
    }
}

/// A number times a factor, rounded to the nearest; exactly itself with factor 1.
fn scaled(number: u64, factor: f64) -> u64 {
    match factor == 1.0 {
        true => number,
        false => (number as f64 * factor).round() as u64,
    }
}

impl Program for TraceProgram {
    fn repeats_after(&self) -> Option<u32> {
        Some(1)
    }

    fn ranks(&self) -> u32 {
        self.recording.ranks
    }

    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let record = self.recording.records.get(rank, index)?;
        let request = record.request;
        Some(match record.what {
            what::COMPUTE => self.compute(&record),
            // No rate or factor of computations changes it.
            what::SLEEP => Op::Compute { time: record.amount },
            what::SEND | what::SSEND => Op::Send(self.transfer(&record)),
            what::ISEND | what::ISSEND => Op::Isend(self.transfer(&record)),
            what::RECV => Op::Recv(self.transfer(&record)),
            what::IRECV => Op::Irecv(self.transfer(&record)),
            what::SENDRECV => {
                let send = self.transfer(&record);
                let come = OperationRecord {
                    amount: UNKNOWN_SIZE,
                    other: record.more as u32,
                    tag: record.source_tag,
                    ..record
                };
                let recv = self.transfer(&come);
                Op::SendRecv { send, recv }
            }
            what::WAIT => Op::Wait { request },
            what::WAIT_ALL => Op::WaitAll,
            what::WAIT_ANY => Op::WaitAny,
            what::WAIT_NEWS => Op::WaitNews,
            what::TEST => Op::Test { request },
            _ => self.collective(&record),
        })
    }

    fn communicators(&self) -> &[Communicator] {
        &self.recording.communicators.families
    }

    /// Of what a rank sends itself; what it receives is for the record only.
    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let family = &self.communicators()[usize::from(collective.communicator)];
        let listed = self
            .recording
            .listed(collective.root, family.size(from), family.number(to));
        self.sized(listed).min(LARGEST)
    }

    fn peers(&self) -> u32 {
        self.recording.peers
    }

    fn regions(&self) -> Option<&RecordedRegions> {
        self.recording.visited.as_ref()
    }

    fn graph(&self) -> Option<&OperationGraph> {
        self.recording.graph.as_ref()
    }

    fn left_out(&self) -> LeftOut {
        self.recording.left_out
    }

    fn doing(&self, rank: u32, number: u32, _operation: &GraphOp) -> Doing {
        match self.op(rank, 0, number) {
            Some(Op::Isend(Transfer {
                peer,
                bytes,
                tag,
                communicator,
                ..
            })) => Doing::Send {
                peer,
                bytes,
                tag,
                communicator,
            },
            Some(Op::Irecv(Transfer {
                peer,
                bytes,
                tag,
                communicator,
                ..
            })) => Doing::Recv {
                peer,
                bytes,
                tag,
                communicator,
            },
            Some(Op::Collective(collective)) => Doing::Collective(collective),
            Some(Op::Compute { time }) => Doing::Compute(time),
            _ => Doing::Compute(0),
        }
    }
}
