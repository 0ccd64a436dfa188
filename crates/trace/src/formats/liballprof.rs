//! Raw traces of liballprof, from which GOAL is made: calls of MPI with their arguments and times, a text for each rank.
//!
//! ```text
//! # clockdiff: 12.5 s (relative to rank 0)
//! MPI_Isend:1225038833277018:14781072:36864:13,1,1:1:204:5641280,0,4:7104000:1225038833277029
//! ```
//!
//! Between the times of begin and end (us) stand the arguments of C: pointers as addresses, a datatype as `number,size,extent`, a
//! communicator as `number,own rank,ranks`. A request is where the program keeps it. Numbers that a call returns are not told but for these,
//! so members of communicators are those that fit what ranks called ([`communicators`]).

mod call;
mod communicators;
mod files;
mod rank;

use crate::format::FormatReader;
use crate::header::{TraceForm, TraceHeader};
use crate::lines::each_line;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use call::MpiCall;
use communicators::Splits;
use rank::ProfiledRank;
use std::path::Path;

/// Raw traces of liballprof.
pub struct Liballprof;

impl FormatReader for Liballprof {
    const NAME: &'static str = "liballprof";
    const LINE: &'static str = "Raw traces of liballprof (LogGOPSim, ATLAHS): calls of MPI, a text for each rank";
    const FILES: &'static str =
        "a file of the set (pmpi-trace-rank-0.txt, lines `MPI_Barrier:START:...:END`), or the folder of a set";
    const LIMITS: &'static str = "Computing is the time between calls. What a call returns is not told: a test only looks, a waitany or waitsome \
        waits for any of its requests, a probe without waiting is left out, a receive from anybody stays so. Communicators are \
        known that have all ranks, or that MPI_Comm_split made of all ranks; copies are taken as what they are copied of, and what goes over \
        others is left out. Of numbers below 0, -1 is any source or tag and the rest nobody, as in Open MPI. One-sided \
        calls are left out. Clocks are set by the difference at the begin.";
    const SOURCE: &'static str = "liballprof of LogGOPSim, https://github.com/spcl/LogGOPSim";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        files::is_it(path, start)
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let files = files::of(path, reader)?;
        let sizes = files
            .iter()
            .map(|file| std::fs::metadata(file).map_or(0, |about| about.len()));
        reader.progress.all = 2 * sizes.sum::<u64>();
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let ranks = files.len() as u32;
        let mut found = ProfiledSet::default();
        for (rank, file) in files.iter().enumerate() {
            found.clocks.push(None);
            found.splits.begin(rank as u32);
            each_line(file, reader, |_, number, line| {
                found.note(ranks, number, line);
                Ok(())
            })?;
        }
        if found.size > ranks {
            let reason = format!(
                "there is a communicator of {} ranks, and there are {ranks} files",
                found.size
            );
            let hint = "files of all ranks are to be in one folder";
            reader.problem(Problem::new(path.display().to_string(), reason, hint));
        }
        let results = found.splits.results(ranks, &names);
        for problem in &results.problems {
            reader.problem(problem.clone());
        }
        let header = TraceHeader {
            files: names,
            communicators: results.members.clone(),
            ..TraceHeader::new(Self::NAME, ranks, TraceForm::Program)
        };
        reader.begin(&header)?;
        let begin = found.begin();
        for (rank, file) in files.iter().enumerate() {
            let (clock, step) = (found.clocks[rank].unwrap_or_default(), found.step());
            let mut calls = ProfiledRank::new(rank as u32, &header, &results, (begin, clock.difference), step);
            each_line(file, reader, |reader, number, line| calls.line(reader, number, line))?;
            calls.end(reader)?;
        }
        reader.progress.done = reader.progress.all;
        reader.end(&[])
    }
}

/// The clock of a rank.
#[derive(Clone, Copy, Default)]
struct RankClock {
    /// When its first call was (ps), by its own clock.
    first: Option<i128>,
    /// What it is behind the first rank's (ps).
    difference: i128,
}

/// What the first pass finds.
#[derive(Default)]
struct ProfiledSet {
    clocks: Vec<Option<RankClock>>,
    splits: Splits,
    /// The largest communicator.
    size: u32,
    /// A request is kept where none of eight bytes would be.
    small_requests: bool,
}

impl ProfiledSet {
    fn note(&mut self, ranks: u32, number: u64, line: &str) {
        let clock = self
            .clocks
            .last_mut()
            .expect("a rank has begun")
            .get_or_insert_default();
        if let Some(comment) = line.strip_prefix('#') {
            // The tool writes microseconds, whatever unit stands behind them.
            let told = comment
                .split_once("clockdiff:")
                .filter(|(before, _)| !before.contains("Finalize"));
            let difference = told.and_then(|(_, words)| call::time(words.split_ascii_whitespace().next()?));
            clock.difference = difference.unwrap_or(clock.difference);
            return;
        }
        let needed = line.starts_with("MPI_I") || line.starts_with("MPI_Comm_split:") || line.contains("_init:");
        if clock.first.is_some() && !needed {
            return;
        }
        let Ok(call) = MpiCall::of(line) else {
            return;
        };
        clock.first = clock.first.or(call.begin).or(call.end);
        if let Some(place) = call.request_place() {
            self.small_requests |= call.address(place).is_ok_and(|address| address % 8 != 0);
        }
        if let Some(Ok(comm)) = call.comm_place().map(|place| call.comm(place)) {
            self.size = self.size.max(comm.size);
            if call.name == "MPI_Comm_split"
                && comm.size == ranks
                && let (Ok(colour), Ok(key)) = (call.integer(1), call.integer(2))
            {
                self.splits.note(colour, key, number);
            }
        }
    }

    /// When the first call of all was (ps), by the first rank's clock.
    fn begin(&self) -> i128 {
        let clocks = self.clocks.iter().flatten();
        let firsts = clocks.filter_map(|clock| Some(clock.first?.saturating_add(clock.difference)));
        firsts.min().unwrap_or_default()
    }

    /// Bytes of a request.
    fn step(&self) -> u64 {
        if self.small_requests { 4 } else { 8 }
    }
}
