//! DUMPI: calls of MPI with their arguments and times, a file for each rank (SST DUMPI; the collection of the DOE mini-applications).
//!
//! | | |
//! |---|---|
//! | `PREFIX.meta` | how many ranks there are, as `key=value` |
//! | `PREFIX-RRRR.bin` | the calls of a rank |
//!
//! Files are read twice: first for what makes communicators, as their members are known from all ranks ([`communicators`]), then for the
//! rest. A receive from anybody is told with whom it was given a message from, which stands at the end of a later wait: where there is
//! one, the file of its rank is read ahead ([`completions`]). No more than one file is open, and nothing is held of its calls.

mod collectives;
mod communicators;
mod completions;
mod datatypes;
mod file;
mod files;
mod functions;
mod making;
mod messages;
mod rank;
mod record;

use crate::format::FormatReader;
use crate::header::{TraceForm, TraceHeader};
use crate::operation::Kind;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use communicators::{Mine, RebuiltCommunicators};
use file::{DumpiFile, EndOfReading, MAGIC};
use files::{files_of_ranks, has_trace, is_meta};
use functions as f;
use making::{MAKERS, Making, RankLists, making};
use rank::{OpenRequest, RegionNames, Teller};
use record::{CallRecord, Calls};
use std::path::{Path, PathBuf};

/// Calls between two looks at whether the user wants to go on.
const TICK: u64 = 4096;

/// DUMPI.
pub(crate) struct Dumpi;

impl FormatReader for Dumpi {
    const NAME: &'static str = "dumpi";
    const LINE: &'static str = "Calls of MPI that DUMPI (SST) recorded, versions 0.6 to 1";
    const FILES: &'static str =
        "PREFIX.meta beside a PREFIX-RRRR.bin for each rank, one of the latter, or their folder";
    const LIMITS: &'static str = "Computing is the time between calls (wall clock; processor time where the other is not told): time within calls \
        that do not communicate, MPI_Init among them, is not counted. A test that found its requests complete is a wait for them, a \
        waitsome waits for what it got, a probe that found nothing is left out. Left out are files, generalised requests, the epochs of \
        windows but for fences, and communicators between two groups; accumulating is writing. Messages over MPI_COMM_SELF count as of all \
        ranks. A grid that may be reordered is taken in the order of its ranks. Of a receive within a sendrecv from anybody the source is \
        not kept. Calls of threads come in the order of the file.";
    const SOURCE: &'static str = "sst-dumpi, https://github.com/sstsimulator/sst-dumpi";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        start.starts_with(&MAGIC) || is_meta(path, start) || has_trace(path)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let files = files_of_ranks(path)?;
        let header = TraceHeader::new(Self::NAME, files.len() as u32, TraceForm::Program);
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let sizes = files
            .iter()
            .map(|file| std::fs::metadata(file).map_or(0, |about| about.len()));
        // Most files are read twice.
        reader.progress.all = 2 * sizes.sum::<u64>();
        let first = first_pass(&files, reader)?;
        let comms = RebuiltCommunicators::of(first.makings, first.lists, &names);
        for problem in comms.problems {
            reader.problem(problem);
        }
        let header = TraceHeader {
            files: names,
            communicators: comms.members,
            ..header
        };
        reader.begin(&header)?;
        let mut regions = RegionNames::default();
        let mut timed = false;
        for (rank, file) in files.iter().enumerate() {
            // What is wrong with the whole file has been told.
            let Ok(file) = DumpiFile::open(file) else {
                continue;
            };
            let comms = (&header.communicators[..], &comms.made[rank][..]);
            let begin = first.begin.unwrap_or_default();
            timed |= read_rank(
                &mut Teller::new(rank as u32, &file, reader, comms, &mut regions, begin),
                &file,
            )?;
        }
        if !timed && reader.progress.records > 0 {
            let reason = "no call tells when it was";
            let hint = "computations are left out: record with times (DUMPI's option timestamps)";
            reader.problem(Problem::new(path.display().to_string(), reason, hint));
        }
        reader.progress.done = reader.progress.all;
        reader.end(&regions.list)
    }
}

/// What the first pass finds.
struct First {
    /// What each rank makes.
    makings: Vec<Vec<Making>>,
    lists: RankLists,
    /// When the first call of all began (ns).
    begin: Option<u64>,
}

fn first_pass(files: &[PathBuf], reader: &mut TraceReader<'_>) -> Result<First, ReadStop> {
    let mut first = First {
        makings: Vec::with_capacity(files.len()),
        lists: RankLists::new(files.len() as u32),
        begin: None,
    };
    for (rank, path) in files.iter().enumerate() {
        first.makings.push(Vec::new());
        let file = match DumpiFile::open(path) {
            Ok(file) => file,
            Err(problem) => {
                reader.problem(problem.of_rank(rank as u32));
                continue;
            }
        };
        let done = reader.progress.done;
        let (makings, begin) = makings(&file, &mut first.lists, |read| {
            reader.progress.done = done + read;
            reader.tick()
        })?;
        reader.progress.done = done + file.size;
        first.makings[rank] = makings;
        first.begin = first.begin.into_iter().chain(begin).min();
    }
    Ok(first)
}

/// What a rank makes, and when its first call began. Where the file cannot be read on, the second pass tells.
fn makings(
    file: &DumpiFile,
    lists: &mut RankLists,
    mut tick: impl FnMut(u64) -> Result<(), ReadStop>,
) -> Result<(Vec<Making>, Option<u64>), ReadStop> {
    let (mut found, mut begin) = (Vec::new(), None);
    let Ok(mut calls) = Calls::of(file) else {
        return Ok((found, begin));
    };
    // Who has counted calls and none that makes a communicator need not be read.
    let counts = file.counts().filter(|counts| counts.iter().any(|count| *count > 0));
    let none = counts.is_some_and(|counts| MAKERS.iter().all(|maker| counts[usize::from(*maker)] == 0));
    let mut record = CallRecord::default();
    for at in 0.. {
        let Ok(true) = calls.next(&mut record) else {
            break;
        };
        begin = begin.or(record.times.map(|(entry, _)| entry));
        if none && begin.is_some() {
            break;
        }
        found.extend(making(&record, at, lists));
        if at.is_multiple_of(TICK) {
            tick(calls.read())?;
        }
    }
    Ok((found, begin))
}

/// Tells the operations of a rank; whether it told times.
fn read_rank(rank: &mut Teller<'_, '_>, file: &DumpiFile) -> Result<bool, ReadStop> {
    let done = rank.reader.progress.done;
    if let Err(fault) = read_calls(rank, file, done)? {
        let (reason, hint) = fault.words();
        rank.problem(reason, &hint);
    }
    rank.tell_computation()?;
    rank.reader.progress.done = done + file.size;
    Ok(rank.timed)
}

fn read_calls(rank: &mut Teller<'_, '_>, file: &DumpiFile, done: u64) -> Result<Result<(), EndOfReading>, ReadStop> {
    let mut calls = match Calls::of(file) {
        Ok(calls) => calls,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut record = CallRecord::default();
    loop {
        match calls.next(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(Ok(())),
            Err(fault) => return Ok(Err(fault)),
        }
        rank.note_time(&record);
        call(rank, &record)?;
        rank.at += 1;
        let is_call = record.function < f::FUNCTION_ENTER;
        rank.reader.progress.records += u64::from(is_call);
        if rank.at.is_multiple_of(TICK) {
            rank.reader.progress.done = done + calls.read();
            rank.reader.tick()?;
        }
    }
}

/// Tells what a call becomes.
fn call(rank: &mut Teller<'_, '_>, record: &CallRecord) -> Result<(), ReadStop> {
    let v = |i: usize| record.value(i);
    match record.function {
        f::SEND | f::BSEND | f::SSEND | f::RSEND => rank.send(record),
        f::RECV => rank.recv(record),
        f::ISEND | f::IBSEND | f::ISSEND | f::IRSEND | f::IRECV => rank.begin(record),
        f::SEND_INIT | f::BSEND_INIT | f::SSEND_INIT | f::RSEND_INIT | f::RECV_INIT => {
            rank.prepare(record);
            Ok(())
        }
        f::START => rank.start(record, v(0) as i32),
        f::STARTALL => record
            .list(0)
            .iter()
            .try_for_each(|&request| rank.start(record, request)),
        f::WAIT | f::WAITALL | f::WAITANY | f::WAITSOME | f::TEST | f::TESTALL | f::TESTANY | f::TESTSOME => {
            rank.wait(record)
        }
        f::SENDRECV | f::SENDRECV_REPLACE => rank.sendrecv(record),
        f::PROBE | f::IPROBE => rank.probe(record),
        f::CANCEL => {
            rank.cancel(v(0) as i32);
            Ok(())
        }
        f::REQUEST_FREE => {
            rank.requests.remove(&(v(0) as i32));
            Ok(())
        }
        f::GREQUEST_START => {
            rank.requests.insert(v(0) as i32, OpenRequest::Nothing);
            Ok(())
        }
        f::BARRIER
        | f::BCAST
        | f::GATHER
        | f::GATHERV
        | f::SCATTER
        | f::SCATTERV
        | f::ALLGATHER
        | f::ALLGATHERV
        | f::ALLTOALL
        | f::ALLTOALLV
        | f::ALLTOALLW
        | f::REDUCE
        | f::ALLREDUCE
        | f::REDUCE_SCATTER
        | f::SCAN
        | f::EXSCAN => rank.collective(record),
        f::COMM_FREE | f::COMM_DISCONNECT => {
            rank.collective(record)?;
            rank.bind(v(0), None);
            Ok(())
        }
        f::WIN_CREATE | f::WIN_FENCE | f::WIN_FREE => rank.window(record),
        f::PUT | f::GET | f::ACCUMULATE => rank.one_sided(record),
        f::FUNCTION_ENTER => rank.function(record, Kind::Enter),
        f::FUNCTION_EXIT => rank.function(record, Kind::Leave),
        f::COMM_SIZE | f::COMM_RANK => {
            check(rank, record);
            Ok(())
        }
        f::ABORT => {
            rank.problem("the program ends with MPI_Abort", "what it was about to do is not told");
            Ok(())
        }
        _ => {
            rank.types.note(record);
            made(rank, record)
        }
    }
}

/// Takes note of communicators that a call makes.
fn made(rank: &mut Teller<'_, '_>, record: &CallRecord) -> Result<(), ReadStop> {
    let v = |i: usize| record.value(i);
    match record.function {
        f::COMM_DUP => rank.made(record, v(0), v(1)),
        f::COMM_CREATE => rank.made(record, v(0), v(2)),
        f::COMM_SPLIT | f::CART_CREATE => rank.made(record, v(0), v(3)),
        f::GRAPH_CREATE => rank.made(record, v(1), v(4)),
        f::CART_SUB => rank.made(record, v(1), v(2)),
        function if MAKERS.contains(&function) => {
            // Of the others the members are not told.
            if let Some(Making::NoComm { comm }) = making(record, rank.at, &mut RankLists::new(0)) {
                rank.bind(comm.into(), None);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What the program was told of a communicator is what was found out.
fn check(rank: &mut Teller<'_, '_>, record: &CallRecord) {
    let Some(&mine @ Mine { number, .. }) = rank.comms.get(&record.value(0)) else {
        return;
    };
    let Some((_, members)) = rank.known(mine) else {
        return;
    };
    let (what, found) = match record.function {
        f::COMM_SIZE => ("size", i64::from(members)),
        _ => ("rank", i64::from(number)),
    };
    let told = record.value(1);
    if told != found {
        let reason = format!(
            "{what} {told} in the communicator {} was told, and {found} was found out",
            record.value(0)
        );
        rank.problem_once(
            (what, record.value(0)),
            reason,
            "calls over it may have other partners than they had",
        );
    }
}
