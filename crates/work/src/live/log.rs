//! What a program has done, as a trace: a file of work.

use super::LiveProgram;
use super::rank::LiveRank;
use crate::mpi::op::{ANY_SOURCE, ANY_TAG};
use crate::replay::{OperationRecord, what};
use std::path::Path;
use trace::formats::work::WorkWriter;
use trace::operation::{self, NONE, UNKNOWN_SIZE};
use trace::{Kind, Lists, Mode, Operation, ReadStop, TraceForm, TraceHeader, TraceSink};

impl LiveProgram {
    /// Writes what all ranks have done.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_log(&self, path: &Path) -> Result<(), String> {
        let cannot = |reason: String| format!("{} cannot be written: {reason}", path.display());
        let mut writer = WorkWriter::create(path).map_err(|error| cannot(error.to_string()))?;
        self.tell(&mut writer).map_err(|stop| match stop {
            ReadStop::Interrupted => cannot("it was interrupted".to_owned()),
            ReadStop::Broken(problem) => cannot(problem.to_string()),
            ReadStop::Refused(reason) => reason,
        })
    }

    fn tell(&self, sink: &mut dyn TraceSink) -> Result<(), ReadStop> {
        sink.begin(&TraceHeader::new("work", self.wish.ranks, TraceForm::Program))?;
        for number in 0..self.wish.ranks {
            let rank = self.rank(number);
            for (place, record) in (0..).zip(rank.records()) {
                let (operation, listed) = of_record(&rank, record);
                let lists = Lists {
                    values: listed,
                    ..Lists::default()
                };
                sink.operation(number, place, &operation, &lists)?;
            }
        }
        sink.end(&[])
    }
}

/// A record as traces have it, with the sizes of an all-to-all.
fn of_record<'a>(rank: &'a LiveRank, record: &OperationRecord) -> (Operation, &'a [u64]) {
    let message = |kind| Operation {
        communicator: record.communicator,
        request: match record.what {
            what::ISEND | what::IRECV | what::ISSEND => record.request.into(),
            _ => NONE,
        },
        mode: match record.what {
            what::SSEND | what::ISSEND => Mode::Synchronous,
            _ => Mode::Standard,
        },
        ..Operation::message(kind, source(record.other), record.amount, tag(record.tag))
    };
    let operation = match record.what {
        what::COMPUTE => Operation::compute(record.amount),
        what::SLEEP => Operation {
            kind: Kind::Sleep,
            ..Operation::compute(record.amount)
        },
        what::SEND | what::SSEND => message(Kind::Send),
        what::ISEND | what::ISSEND => message(Kind::Isend),
        what::RECV => Operation {
            bytes: UNKNOWN_SIZE,
            ..message(Kind::Recv)
        },
        what::IRECV => Operation {
            bytes: UNKNOWN_SIZE,
            ..message(Kind::Irecv)
        },
        what::SENDRECV => Operation {
            source: source(record.more as u32),
            source_tag: tag(record.source_tag),
            received: UNKNOWN_SIZE,
            ..message(Kind::Sendrecv)
        },
        what::WAIT => Operation {
            request: record.request.into(),
            ..Operation::new(Kind::Wait)
        },
        what::WAIT_ALL => Operation::new(Kind::Waitall),
        what::WAIT_NEWS => Operation::new(Kind::Waitnews),
        what::TEST => Operation::new(Kind::Test),
        _ => return collective(rank, record),
    };
    (operation, &[])
}

fn collective<'a>(rank: &'a LiveRank, record: &OperationRecord) -> (Operation, &'a [u64]) {
    let kind = match record.tag {
        coupling::entry::collective::BARRIER => Kind::Barrier,
        coupling::entry::collective::BCAST => Kind::Bcast,
        coupling::entry::collective::REDUCE => Kind::Reduce,
        coupling::entry::collective::ALLREDUCE => Kind::Allreduce,
        coupling::entry::collective::GATHER => Kind::Gather,
        coupling::entry::collective::SCATTER => Kind::Scatter,
        coupling::entry::collective::ALLGATHER => Kind::Allgather,
        coupling::entry::collective::REDUCE_SCATTER => Kind::ReduceScatterBlock,
        coupling::entry::collective::ALLTOALL => Kind::Alltoall,
        _ => Kind::Alltoallv,
    };
    let sizes = match kind {
        Kind::Alltoallv => rank.list(record.more as u32),
        _ => &[],
    };
    let operation = Operation {
        communicator: record.communicator,
        peer: if kind.has_root() { record.other } else { NONE },
        bytes: match kind {
            Kind::Alltoallv => sizes.iter().sum(),
            _ => record.amount,
        },
        ..Operation::new(kind)
    };
    (operation, sizes)
}

fn source(rank: u32) -> u32 {
    if rank == ANY_SOURCE {
        operation::ANY_SOURCE
    } else {
        rank
    }
}

fn tag(tag: u16) -> u32 {
    if tag == ANY_TAG { operation::ANY_TAG } else { tag.into() }
}
