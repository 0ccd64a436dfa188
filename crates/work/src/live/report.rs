//! How a program ended, and who waits for whom where it did not.

pub(super) mod place;

use super::LiveProgram;
use super::computing::MeasuredStretches;
use super::rank::LiveRank;
use coupling::RankEntry;
use coupling::entry::{ANY_SOURCE, ANY_TAG, collective, kind};
use coupling::layout::{COUNTERS, CPU_COUNTER};
use coupling::processes::exit_code;
use std::cell::RefCell;
use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

/// Most ranks that are told one by one.
const MOST_TOLD: usize = 32;
/// Exit code of a program that cannot go on.
const DEADLOCK: i32 = 4;

/// What has gone wrong.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// A program that cannot be started, and why.
    NotStarted(String),
    /// `MPI_Abort`.
    Aborted { rank: u32, code: i32 },
    /// A process has ended before its time.
    Ended { rank: u32, code: i32, words: String },
    /// Whoever runs the simulator wants no more.
    Interrupted,
    /// A process has told what makes no sense.
    Broken { rank: u32, words: String },
    /// It does something else than the run whose computing times it was to have.
    Disagrees(String),
}

impl Failure {
    /// An entry that cannot be.
    pub fn broken(rank: u32, entry: &RankEntry, reason: &str) -> Failure {
        Failure::Broken {
            rank,
            words: format!("{reason} (kind {} of the MPI library's entries)", entry.kind),
        }
    }

    /// A process that has ended without `MPI_Finalize`.
    pub fn ended(rank: u32, status: ExitStatus, has_begun: bool, has_library: bool) -> Failure {
        let code = exit_code(status);
        let words = match (status.signal(), has_begun, has_library) {
            (Some(signal), ..) => format!("was ended by signal {signal} ({})", signal_name(signal)),
            (None, true, _) => format!("ended with code {code} without having called MPI_Finalize"),
            (None, false, true) => format!("ended with code {code} without having called MPI_Init"),
            (None, false, false) => format!(
                "ended with code {code} without having called MPI_Init: it uses no MPI, or another one than fabricsim's"
            ),
        };
        Failure::Ended {
            rank,
            code: code.max(1),
            words,
        }
    }

    /// The same with what is known of where the rank was.
    pub fn behind(self, last: Option<String>) -> Failure {
        match self {
            Failure::Ended { rank, code, words } => Failure::Ended {
                rank,
                code,
                words: words + &last.unwrap_or_default(),
            },
            other => other,
        }
    }

    fn code(&self) -> i32 {
        match self {
            Failure::NotStarted(_) => 127,
            Failure::Aborted { code, .. } if *code & 0xff == 0 => 1,
            Failure::Aborted { code, .. } => code & 0xff,
            Failure::Ended { code, .. } => *code,
            Failure::Interrupted => 130,
            Failure::Broken { .. } | Failure::Disagrees(_) => 3,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::NotStarted(reason) => write!(f, "{reason}"),
            Failure::Aborted { rank, code } => write!(f, "rank {rank} called MPI_Abort with code {code}"),
            Failure::Ended { rank, words, .. } => write!(f, "rank {rank} {words}"),
            Failure::Interrupted => write!(f, "interrupted"),
            Failure::Broken { rank, words } => write!(f, "rank {rank} told {words}"),
            Failure::Disagrees(words) => write!(
                f,
                "times of computing were recorded from a run that went otherwise: {words}"
            ),
        }
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed",
        11 => "segmentation fault",
        15 => "terminated",
        _ => "see kill -l",
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEnd {
    /// All ranks have called `MPI_Finalize`.
    Finished,
    /// Something has gone wrong with a process.
    Failed,
    /// Ranks wait for each other for ever.
    Deadlock,
}

/// What there is to say about a program that was run.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveReport {
    /// How it ended.
    pub end: LiveEnd,
    /// The code for a shell.
    pub exit_code: i32,
    /// What has gone wrong, and who waits for whom: lines.
    pub words: Vec<String>,
    /// Calls of MPI, of all ranks.
    pub calls: u64,
    /// Calls that waited for the simulator.
    pub traps: u64,
    /// CPU time of the ranks within calls of MPI (s).
    pub library_s: f64,
    /// Calls whose result depends on times, by the names of their kinds.
    pub time_dependent: Vec<(&'static str, u64)>,
}

/// Kinds of calls that make what a program does depend on times, in the order of the library's counters from 1 on.
const TIME_DEPENDENT: [&str; 8] = [
    "Test",
    "Iprobe",
    "Improbe",
    "Request_get_status",
    "Waitany",
    "Waitsome",
    "Testsome",
    "ANY_SOURCE",
];

thread_local! {
    static REPORTS: RefCell<Vec<LiveReport>> = const { RefCell::new(Vec::new()) };
}

/// The reports of programs that have ended in runs of this thread since it asked last.
pub fn take_reports() -> Vec<LiveReport> {
    REPORTS.take()
}

impl LiveProgram {
    /// Ends the program, once, writes its log where one is wanted, and leaves its report for [`take_reports`].
    pub(super) fn finish(&self) -> Option<(bool, String)> {
        let mut report = self.conclude_with(&mut || self.manner().goes_on())?;
        let mut words = report.words.join("; ");
        let mut is_well = report.end == LiveEnd::Finished;
        let manner = self.manner();
        let has_run = matches!(self.running.get(), Some(Ok(_)));
        let log = manner.log.as_ref().filter(|_| has_run).map(|log| {
            let reason = report.words.first().filter(|_| !is_well).cloned();
            let is_incomplete = reason.is_some();
            self.write_log(log, reason)?;
            if is_incomplete {
                let told = format!("{} is incomplete: it has what was done up to there", log.display());
                report.words.push(told);
            }
            Ok::<(), String>(())
        });
        let table = manner.table.as_ref().map(|table| self.write_table(table));
        for stop in [log, table].into_iter().flatten().filter_map(Result::err) {
            is_well = false;
            words = format!("{words}; {stop}");
        }
        if words.is_empty() {
            words = format!("all {} processes came to their ends", self.wish.ranks);
        }
        REPORTS.with_borrow_mut(|reports| reports.push(report));
        Some((is_well, words))
    }

    /// Writes what was measured of its computing.
    fn write_table(&self, path: &Path) -> Result<(), String> {
        let mut all = MeasuredStretches::default();
        for rank in 0..self.wish.ranks {
            all.merge(&self.rank(rank).computing.measured);
        }
        all.write(path)
    }

    /// Ends the program: its processes are waited for where all is well while `goes_on` says so, and ended where it is not.
    fn conclude_with(&self, goes_on: &mut dyn FnMut() -> bool) -> Option<LiveReport> {
        let running = match self.running.get()? {
            Ok(running) => running,
            Err(failure) => return Some(self.report(LiveEnd::Failed, failure.code(), vec![failure.to_string()])),
        };
        let failure = self.failure.lock().map(|failure| failure.clone()).unwrap_or_default();
        if let Some(failure) = failure {
            if let Some(processes) = running.processes() {
                processes.finish();
            }
            return Some(self.report(LiveEnd::Failed, failure.code(), vec![failure.to_string()]));
        }
        let unfinished: Vec<u32> = (0..self.wish.ranks)
            .filter(|&rank| !self.rank(rank).is_over())
            .collect();
        if !unfinished.is_empty() {
            let words = self.waiting(&unfinished);
            if let Some(processes) = running.processes() {
                processes.finish();
            }
            return Some(self.report(LiveEnd::Deadlock, DEADLOCK, words));
        }
        let codes = running.processes().map(|processes| {
            let codes = processes.wait(goes_on);
            processes.finish();
            codes.unwrap_or_default()
        });
        let code = codes.iter().flatten().map(|status| exit_code(*status)).max();
        Some(self.report(LiveEnd::Finished, code.unwrap_or(0), Vec::new()))
    }

    fn report(&self, end: LiveEnd, exit_code: i32, words: Vec<String>) -> LiveReport {
        let mut counters = [0_u64; COUNTERS];
        if let Some(Ok(running)) = self.running.get() {
            for rank in 0..self.wish.ranks {
                let own = &running.host.area().mailbox(rank).counters;
                for (sum, counter) in counters.iter_mut().zip(own) {
                    *sum += counter.load(std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
        LiveReport {
            end,
            exit_code,
            words,
            calls: counters[0],
            library_s: counters[CPU_COUNTER] as f64 * 1e-9,
            traps: (0..self.wish.ranks).map(|rank| self.rank(rank).traps).sum(),
            time_dependent: TIME_DEPENDENT.into_iter().zip(counters[1..].iter().copied()).collect(),
        }
    }

    /// What ranks wait for, and the circle in which they do.
    fn waiting(&self, unfinished: &[u32]) -> Vec<String> {
        let mut words = vec![format!(
            "deadlock: {} of {} ranks wait for what never comes",
            unfinished.len(),
            self.wish.ranks
        )];
        for &rank in unfinished.iter().take(MOST_TOLD) {
            let state = self.rank(rank);
            let place = self.place(rank, &state.last().0);
            words.push(format!("  rank {rank}: {}{place}", what_for(&state)));
        }
        if unfinished.len() > MOST_TOLD {
            words.push(format!("  and {} ranks more", unfinished.len() - MOST_TOLD));
        }
        if let Some(circle) = self.circle(unfinished) {
            let mut line = String::from("  circle: ");
            for rank in &circle {
                // Writing to a text does not fail.
                let _ = write!(line, "{rank} waits for ");
            }
            let _ = write!(line, "{}", circle[0]);
            words.push(line);
        }
        words
    }

    /// Ranks that wait for each other, one after the other.
    fn circle(&self, unfinished: &[u32]) -> Option<Vec<u32>> {
        let next = |rank: u32| {
            let (last, request) = self.rank(rank).last();
            let entry = request.unwrap_or(last);
            let waits = matches!(entry.kind, kind::SEND | kind::RECV | kind::ISEND | kind::IRECV);
            (waits && entry.peer != ANY_SOURCE).then_some(entry.peer)
        };
        unfinished.iter().find_map(|&start| {
            let mut seen = vec![start];
            let mut rank = start;
            while let Some(peer) = next(rank) {
                if let Some(begin) = seen.iter().position(|&known| known == peer) {
                    return Some(seen.split_off(begin));
                }
                seen.push(peer);
                rank = peer;
            }
            None
        })
    }

    /// Where in its program a rank is.
    fn place(&self, rank: u32, entry: &RankEntry) -> String {
        let Some(Ok(running)) = self.running.get() else {
            return String::new();
        };
        let place = running.place(rank, entry.place);
        place.map_or_else(String::new, |place| format!(", at {place}"))
    }
}

/// What a rank waits for, in words.
fn what_for(rank: &LiveRank) -> String {
    let (last, request) = rank.last();
    let message = |entry: &RankEntry, verb: &str, direction: &str| {
        let peer = match entry.peer {
            ANY_SOURCE => "any rank".to_owned(),
            peer => format!("rank {peer}"),
        };
        let tag = match entry.tag {
            ANY_TAG => "any tag".to_owned(),
            tag => format!("tag {tag}"),
        };
        let communicator = match entry.communicator {
            0 => String::new(),
            number => format!(", communicator {number}"),
        };
        format!("{verb} {} bytes {direction} {peer} ({tag}{communicator})", entry.bytes)
    };
    let open = || {
        let mut list: Vec<&RankEntry> = rank.open().collect();
        list.sort_by_key(|entry| entry.request);
        let all = list.len();
        let told = list.into_iter().take(3).map(|entry| match entry.kind {
            kind::IRECV => message(entry, "receiving up to", "from"),
            _ => message(entry, "sending", "to"),
        });
        let told: Vec<String> = told.collect();
        match all {
            0 => "no request open".to_owned(),
            n if n > 3 => format!("{n} requests open, such as {}", told.join("; ")),
            _ => told.join("; "),
        }
    };
    match (last.kind, request) {
        (kind::SEND, _) => message(&last, "sends", "to"),
        (kind::RECV, _) => message(&last, "receives up to", "from"),
        (kind::WAIT, Some(entry)) if entry.kind == kind::IRECV => {
            format!("waits for a request: {}", message(&entry, "receiving up to", "from"))
        }
        (kind::WAIT, Some(entry)) => format!("waits for a request: {}", message(&entry, "sending", "to")),
        (kind::WAIT | kind::WAIT_ALL, _) => format!("waits for its requests: {}", open()),
        (kind::WAIT_NEWS, _) => format!("waits for any request or message: {}", open()),
        (kind::POLL, _) => format!("looks for a message or at a request again and again: {}", open()),
        (kind::COLLECTIVE, _) => format!(
            "is in {} of communicator {}",
            collective_name(last.tag),
            last.communicator
        ),
        (kind::FINALIZE, _) => "is in MPI_Finalize".to_owned(),
        _ if !rank.has_begun() => "has not called MPI_Init".to_owned(),
        _ => "is in its own code".to_owned(),
    }
}

fn collective_name(kind: u16) -> &'static str {
    match kind {
        collective::BARRIER => "a barrier",
        collective::BCAST => "a broadcast",
        collective::REDUCE => "a reduction",
        collective::ALLREDUCE => "an all-reduce",
        collective::GATHER => "a gather",
        collective::SCATTER => "a scatter",
        collective::ALLGATHER => "an all-gather",
        collective::REDUCE_SCATTER => "a reduce-scatter",
        collective::ALLTOALL => "an all-to-all",
        _ => "an all-to-all of sizes of its own",
    }
}
