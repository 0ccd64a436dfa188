//! How a run was executed: what depends on the machine and its mood, and never changes the result.

use super::{Concluded, figures};
use des::optimistic::Speculated;
use des::{Carried, Outcome, Teamwork, Time};
use std::time::Duration;

figures! {
    /// How a run was executed.
    #[derive(Default)]
    pub struct Execution {
        workers: usize = Count, "workers", "Worker threads.", parts Greatest;
        wall_s: f64 = Seconds, "wall time", "Wall time of the simulation, set-up excluded.";
        events_per_s_per_worker: f64 = PerSecond, "events per second and worker", "Events per second of wall time and worker, without those of periods left out.";
        events_per_window: f64 = Count, "events per window", "Mean number of events in a window, of all workers together.";
        barrier_share: Option<f64> = Share, "waiting for workers", "Part of the workers' time spent waiting for each other; null for one worker.";
        remark: Option<String> = Text, "remark", "What was found out about workers, and about jobs that were to be run apart, in words.";
        windows_per_meeting: u64 = Count, "windows per meeting", "Windows from one meeting of the workers to the next: more than one where what they send to each other takes longer than what is sent within a worker.";
        messages_per_meeting: Option<f64> = Count, "messages per meeting", "Messages with events that ranks send to each other at a meeting of all, on average, all ranks together; null without ranks.";
        bytes_per_meeting: Option<f64> = Bytes, "bytes per meeting", "Bytes of these messages; null without ranks.";
        skipped_periods: u64 = Count, "periods left out", "Periods that were counted without being run, since all that happens in them had happened before.", parts Sum;
        skipped_ns: f64 = Nanoseconds, "time left out", "Simulated time of these periods, those of jobs that were run apart added up.", parts Sum;
        apart: usize = Count, "runs apart", "Runs into which this one was divided, since some of its jobs have their own periods and do not meet; 0 where it was one.", parts Sum;
        speculation: Option<Speculation> = Group, "speculation", "What the optimistic engine ran ahead, and what it had to mend; null on other engines.";
    }
}

figures! {
    /// What speculation did.
    #[derive(Default)]
    pub struct Speculation {
        events_executed: u64 = Count, "events executed", "Events handled, once or again.", parts Sum;
        events_rolled_back: u64 = Count, "events rolled back", "Events undone.", parts Sum;
        events_committed: u64 = Count, "events committed", "Events handled for good.", parts Sum;
        efficiency: f64 = Share, "efficiency", "Committed over executed events.";
        events_safe: u64 = Count, "safe events", "Events of windows that were safe when they were run, without a journal.", parts Sum;
        anti_events: u64 = Count, "anti-events", "Events that were sent and taken back.", parts Sum;
        rounds: u64 = Count, "rounds", "Rounds, each with one meeting of the workers that tells the global virtual time (GVT).";
        deepest_round: u64 = Count, "windows of the deepest round", "Most windows of a round.", parts Greatest;
        peak_kept_bytes: u64 = Bytes, "kept for rollbacks", "Most bytes of inputs, undo logs, sent events and records kept.", parts Greatest;
    }
}

impl From<Speculated> for Speculation {
    fn from(did: Speculated) -> Self {
        Speculation {
            events_executed: did.executed,
            events_rolled_back: did.rolled_back,
            events_committed: did.committed,
            efficiency: did.efficiency(),
            events_safe: did.safe,
            anti_events: did.antis,
            rounds: did.rounds,
            deepest_round: did.deepest,
            peak_kept_bytes: did.peak_kept,
        }
    }
}

/// What was left out of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedPeriods {
    /// Periods.
    pub periods: u64,
    /// Their simulated time (ps).
    pub time: u64,
    /// Their events.
    pub events: u64,
    /// Runs into which it was divided; none where it was one all the time.
    pub apart: usize,
    /// They met, so that it was run as one.
    pub met: bool,
}

/// How an engine has worked, for [`Execution`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) teamwork: Option<Teamwork>,
    pub(crate) speculated: Option<Speculated>,
    /// Why one worker runs where more were allowed, if that was clear beforehand.
    pub(crate) alone: Option<String>,
    /// What was counted without being run.
    pub(crate) left_out: SkippedPeriods,
    /// Wall time of the simulation.
    pub(crate) wall: Duration,
}

/// Of a run.
pub(super) fn of(run: &Concluded<'_>) -> Execution {
    Execution::new(run.outcome, run.manner)
}

impl Execution {
    fn new(outcome: Outcome, manner: &Manner) -> Execution {
        let Manner {
            teamwork,
            speculated,
            alone,
            left_out,
            wall,
        } = manner;
        let wall_s = wall.as_secs_f64();
        let met = left_out
            .met
            .then(|| "jobs that had not met were run apart, then met, and were run as one until they had".to_owned());
        let workers = teamwork.map_or(1, |teamwork| teamwork.workers);
        let per_meeting = |part: fn(Carried) -> u64| {
            let teamwork = teamwork.as_ref()?;
            Some(part(teamwork.carried?) as f64 / teamwork.windows_shared.max(1) as f64)
        };
        Execution {
            workers,
            wall_s,
            events_per_s_per_worker: (outcome.events - left_out.events) as f64 / wall_s.max(1e-9) / workers as f64,
            events_per_window: outcome.events as f64 / outcome.windows.max(1) as f64,
            barrier_share: teamwork.map(|teamwork| teamwork.waiting),
            remark: teamwork
                .and_then(|teamwork| remark(teamwork, outcome.events))
                .or_else(|| alone.clone())
                .into_iter()
                .chain(met)
                .reduce(|one, other| format!("{one}; {other}")),
            windows_per_meeting: teamwork.map_or(1, |teamwork| teamwork.together.max(1)),
            messages_per_meeting: per_meeting(|carried| carried.messages),
            bytes_per_meeting: per_meeting(|carried| carried.bytes),
            speculation: speculated.map(Speculation::from),
            skipped_periods: left_out.periods,
            skipped_ns: Time(left_out.time).as_ns(),
            apart: left_out.apart,
        }
    }
}

/// What the engine found out about its workers, in words, where one ran most of so many events.
fn remark(teamwork: Teamwork, events: u64) -> Option<String> {
    let Teamwork { workers, .. } = teamwork;
    if teamwork.events_shared > events / 2 {
        return None;
    }
    if let Some((events, worth)) = teamwork.thin {
        return Some(format!(
            "one worker ran: a window of this network holds {events:.1} events for each of {workers} workers, and meeting after every \
             window pays from about {worth:.0} on; engine = \"optimistic\" meets once for several windows"
        ));
    }
    let (one, all) = teamwork.given_up?;
    Some(format!(
        "{workers} workers did not pay ({all:.0} against {one:.0} ns per event), so one ran: windows of this network hold too \
         few events, or the machine is busy"
    ))
}
