//! What a program has done, as a trace: a file of work.

use super::LiveProgram;
use super::rank::LiveRank;
use crate::mpi::op::{ANY_SOURCE, ANY_TAG};
use crate::mpi::{Communicator, Program};
use crate::replay::{OperationRecord, what};
use std::collections::HashMap;
use std::path::Path;
use trace::formats::work::WorkWriter;
use trace::operation::{self, NONE, UNKNOWN_SIZE};
use trace::{Kind, Lists, Members, Mode, Operation, ReadStop, TraceForm, TraceHeader, TraceSink};

impl LiveProgram {
    /// Writes what all ranks have done; with the reason why that is not all, if it is not.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_log(&self, path: &Path, incomplete: Option<String>) -> Result<(), String> {
        let cannot = |reason: String| format!("{} cannot be written: {reason}", path.display());
        let mut writer = WorkWriter::create(path).map_err(|error| cannot(error.to_string()))?;
        self.tell(&mut writer, incomplete).map_err(|stop| match stop {
            ReadStop::Interrupted => cannot("it was interrupted".to_owned()),
            ReadStop::Broken(problem) => cannot(problem.to_string()),
            ReadStop::Refused(reason) => reason,
        })
    }

    fn tell(&self, sink: &mut dyn TraceSink, incomplete: Option<String>) -> Result<(), ReadStop> {
        let mut families = LoggedFamilies::of(self);
        families.header.incomplete = incomplete;
        sink.begin(&families.header)?;
        let mut names = LoggedRegions::default();
        for number in 0..self.wish.ranks {
            let rank = self.rank(number);
            let mut turns = rank.computing.turns.iter().peekable();
            let mut inside = Vec::new();
            for (place, record) in (0..).zip(rank.records()) {
                while let Some((_, name)) = turns.next_if(|(before, _)| *before <= place as u32) {
                    sink.operation(
                        number,
                        place,
                        &names.turn(&mut inside, name.as_deref()),
                        &Lists::default(),
                    )?;
                }
                let (operation, listed) = of_record(&rank, record, families.group(self, record.communicator, number));
                let operation = Operation {
                    region: inside.last().copied().unwrap_or(NONE),
                    ..operation
                };
                let lists = Lists {
                    values: listed,
                    ..Lists::default()
                };
                sink.operation(number, place, &operation, &lists)?;
            }
            for (_, name) in turns {
                let turn = names.turn(&mut inside, name.as_deref());
                sink.operation(number, rank.records().len() as u64, &turn, &Lists::default())?;
            }
        }
        sink.end(&names.0)
    }
}

/// Names of regions, numbered in the order in which ranks come to them.
#[derive(Default)]
struct LoggedRegions(Vec<String>);

impl LoggedRegions {
    /// A region begins that has a name, or the innermost ends.
    fn turn(&mut self, inside: &mut Vec<u32>, name: Option<&str>) -> Operation {
        let Some(name) = name else {
            return Operation {
                region: inside.pop().unwrap_or(NONE),
                ..Operation::new(Kind::Leave)
            };
        };
        let known = self.0.iter().position(|known| known == name);
        let region = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        }) as u32;
        inside.push(region);
        Operation {
            region,
            ..Operation::new(Kind::Enter)
        }
    }
}

/// The communicators of a program as those of a trace: one family after the other, each with every rank once.
struct LoggedFamilies {
    header: TraceHeader,
    /// By family and first rank of a group.
    groups: HashMap<(u32, u32), u32>,
}

impl LoggedFamilies {
    fn of(program: &LiveProgram) -> LoggedFamilies {
        let ranks = program.wish.ranks;
        let mut families = LoggedFamilies {
            header: TraceHeader::new("work", ranks, TraceForm::Program),
            groups: HashMap::new(),
        };
        families.header.communicators.clear();
        for number in 0..program.n_communicators() as u16 {
            families.add(number.into(), program.communicator(number), ranks);
        }
        families
    }

    fn add(&mut self, number: u32, family: &Communicator, ranks: u32) {
        for rank in 0..ranks {
            if family.number(rank) == 0 {
                let members = match family {
                    Communicator::World(_) => Members::all(ranks),
                    _ => Members::of((0..family.size(rank)).map(|number| family.rank(rank, number)).collect()),
                };
                self.groups
                    .insert((number, rank), self.header.communicators.len() as u32);
                self.header.communicators.push(members);
            }
        }
    }

    /// The communicator of the trace that is a rank's of a family of the program.
    fn group(&self, program: &LiveProgram, number: u32, rank: u32) -> u32 {
        let first = program.communicator(number as u16).rank(rank, 0);
        self.groups.get(&(number, first)).copied().unwrap_or(0)
    }
}

/// A record as traces have it, with the sizes of an all-to-all.
pub(super) fn of_record<'a>(rank: &'a LiveRank, record: &OperationRecord, communicator: u32) -> (Operation, &'a [u64]) {
    let message = |kind| Operation {
        communicator,
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
        _ => return collective(rank, record, communicator),
    };
    (operation, &[])
}

fn collective<'a>(rank: &'a LiveRank, record: &OperationRecord, communicator: u32) -> (Operation, &'a [u64]) {
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
        communicator,
        request: match record.what {
            what::ICOLLECTIVE => record.request.into(),
            _ => NONE,
        },
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
