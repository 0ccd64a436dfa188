//! The numbers of each job.

use super::figure::{Figure, Figures};
use super::latency::{LatencySummary, WaitSummary};
use super::loads::{Loads, behind_of, loads};
use super::losses::{self, LossSummary};
use super::state::{LoadState, of_sources_without_end, of_work_that_ends, tells};
use super::{Concluded, figures};
use fabric::mpi::{RankRow, account};
use serde::Serialize;
use work::mpi::LeftOut;
use work::ranks::Plan;

figures! {
    /// A job. Its messages are those of all its nodes, requests and answers of protocols among them, acknowledgements of pairs not.
    pub struct JobSummary {
        name: String = Text, "job", "Its name in the study.";
        time_ns: Option<f64> = Nanoseconds, "time of the job", "When the last of all ranks was done, or the last message of finite traffic arrived; null if one was not, and of traffic without an end.";
        measured: u64 = Count, "measured messages", "Messages that are measured: born behind the warm-up and before the end, and not lost.", parts Sum;
        arrived: u64 = Count, "arrived messages", "Those of them that have arrived.", parts Sum;
        #[serde(skip_serializing_if = "Option::is_none")]
        lost: Option<LossSummary> = Group, "lost", "What it has lost on a network that fails while the run goes on; only there with outages.";
        latency_ns: LatencySummary = Group, "latency", "From hand-over to arrival.";
        ..work: JobWork;
    }
}

/// What only some kinds of work have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant)]
pub enum JobWork {
    /// MPI ranks.
    Ranks(RankFigures),
    /// Traffic, pairs and memory nodes.
    Traffic(TrafficFigures),
}

impl Figures for JobWork {
    fn figures() -> Vec<Figure> {
        let mut all = RankFigures::figures();
        for figure in TrafficFigures::figures() {
            match all.iter_mut().find(|known| known.name == figure.name) {
                Some(known) => known.figures.extend(figure.figures),
                None => all.push(figure),
            }
        }
        all
    }
}

figures! {
    /// MPI ranks: times are means over the ranks, but for the first end.
    pub struct RankFigures {
        #[serde(skip_serializing_if = "Option::is_none")]
        begin_ns: Option<f64> = Nanoseconds, "begin of the job", "When the first rank began its work, where that is not the start of the run for all.", parts Least;
        ranks: u64 = Count, "ranks", "MPI ranks.", parts Sum;
        finished: u64 = Count, "finished ranks", "Ranks that came to the end of their programs.", parts Sum;
        first_ns: Option<f64> = Nanoseconds, "time of the first rank", "When the first rank was done; null if none was.", parts Least;
        mean_ns: Option<f64> = Nanoseconds, "mean time of ranks", "Mean over the ranks that were done.";
        compute_ns: f64 = Nanoseconds, "computing", "What ranks computed, mean over them.";
        wait_ns: f64 = Nanoseconds, "waiting", "Of ranks: what they waited for messages, mean over them; a number. Of other work: what its messages waited before their first packet left, figures as in `source_wait_ns`.";
        overhead_ns: f64 = Nanoseconds, "overheads", "What ranks spent on overheads and copies of messages, mean over them.";
        compute_share: Option<f64> = Share, "share of computing", "Computing as a part of the time that ranks spent on computing, waiting and overheads; null where they spent none.";
        wait_share: Option<f64> = Share, "share of waiting", "Waiting as a part of the same.";
        overhead_share: Option<f64> = Share, "share of overheads", "Overheads as a part of the same.";
        source_wait_ns: WaitSummary = Group, "wait at the source", "Of ranks: what messages waited before their first packet left, part of their latencies.";
        messages: u64 = Count, "messages", "Messages of ranks over the network.", parts Sum;
        bytes: u64 = Bytes, "bytes", "Their bytes.", parts Sum;
        local_messages: u64 = Count, "messages within nodes", "Messages of ranks that did not leave their node.", parts Sum;
        local_bytes: u64 = Bytes, "bytes within nodes", "Their bytes.", parts Sum;
        iterations: u64 = Count, "iterations", "Iterations that all ranks have behind them.", parts Least;
        left_out: LeftOutFigures = Group, "left out", "What of a trace is not played: what does not match where `repair = \"drop\"` leaves it out, and what a part cuts in two; all 0 of work that is no trace.";
    }
}

figures! {
    /// What of the traces of a job is not played.
    pub struct LeftOutFigures {
        sends: u64 = Count, "sends left out", "Sends whose message no rank receives, or whose receive is too small.", seeds Greatest, parts Greatest;
        receives: u64 = Count, "receives left out", "Receives of messages that no rank sends, or that are larger.", seeds Greatest, parts Greatest;
        collectives: u64 = Count, "collectives left out", "Operations of collectives that ranks do not agree on.", seeds Greatest, parts Greatest;
        waits: u64 = Count, "waits left out", "Waits for requests that are not there.", seeds Greatest, parts Greatest;
        others: u64 = Count, "other operations left out", "Other operations: writing and reading of others' memory, and fields that name nothing.", seeds Greatest, parts Greatest;
        cut: u64 = Count, "operations cut in two", "Operations that the borders of a part cut in two.", seeds Greatest, parts Greatest;
        problems: u64 = Count, "problems of files", "What readers could not read of the files.", seeds Greatest, parts Greatest;
    }
}

impl From<LeftOut> for LeftOutFigures {
    fn from(left_out: LeftOut) -> LeftOutFigures {
        let LeftOut {
            sends,
            receives,
            collectives,
            waits,
            others,
            cut,
            problems,
        } = left_out;
        LeftOutFigures {
            sends,
            receives,
            collectives,
            waits,
            others,
            cut,
            problems,
        }
    }
}

figures! {
    /// Traffic, pairs and memory nodes.
    pub struct TrafficFigures {
        wait_ns: WaitSummary = Group, "wait at the source", "What messages waited before their first packet left.";
        state: LoadState = Text, "state", "Of other work than ranks: whether the network kept up with it.";
        ..loads: Option<Loads>;
    }
}

/// All jobs that do something.
pub(super) fn of(run: &Concluded<'_>) -> Vec<JobSummary> {
    let stats = &run.harvest.stats;
    let ranks = |job: usize| -> Vec<&RankRow> {
        let rows = run.harvest.ranks.iter();
        rows.filter(|row| row.job as usize == job).collect()
    };
    let mut jobs = Vec::new();
    for (j, (spec, track)) in run.spec.jobs.iter().zip(&stats.tracks).enumerate() {
        let rows = ranks(j);
        let endless = run.net.workload.is_endless(j);
        if rows.is_empty() && spec.work == fabric::spec::Work::Idle {
            continue;
        }
        let sample = track.sample(run.first, stats.span, stats.shift);
        let (measured, arrived) = (sample.messages, sample.latencies.count);
        let state = match endless {
            true => {
                let own = of_sources_without_end(run.net.workload.is_open_loop(j), track, &run.scales);
                own.unless_behind(behind_of(run, j), run.span_end).state
            }
            false => of_work_that_ends(measured, arrived).state,
        };
        let given = !endless || tells(state, run.bins(track));
        let (latency_ns, wait_ns) = run.times(track, &sample, given);
        let (time_ns, work) = match rows.is_empty() {
            false => (
                account::span(rows.iter().copied()).map(|time| time.0 as f64 / 1e3),
                JobWork::Ranks(RankFigures::new(&rows, run.net.workload.plan_of(j), wait_ns)),
            ),
            true => (
                (!endless && track.latest > 0 && measured == arrived).then_some(track.latest as f64 / 1e3),
                JobWork::Traffic(TrafficFigures {
                    wait_ns,
                    state,
                    loads: loads(run, std::iter::once(j)).filter(|_| endless),
                }),
            ),
        };
        jobs.push(JobSummary {
            name: spec.name.clone(),
            time_ns,
            measured,
            arrived,
            lost: losses::may_lose(run.net).then(|| LossSummary::new(run.net, &stats.losses[j])),
            latency_ns,
            work,
        });
    }
    jobs
}

impl RankFigures {
    fn new(rows: &[&RankRow], plan: Option<&Plan>, source_wait_ns: WaitSummary) -> RankFigures {
        let own_starts = plan.is_some_and(Plan::has_own_starts);
        let phases = plan.map_or(&[][..], |plan| &plan.phases).iter();
        let left_out = phases.fold(LeftOut::default(), |all, phase| all.and(phase.program.left_out()));
        let n = rows.len() as f64;
        let done: Vec<f64> = rows
            .iter()
            .filter(|row| row.is_done())
            .map(|row| row.finished as f64 / 1e3)
            .collect();
        let mean = |time: fn(&RankRow) -> u64| rows.iter().map(|row| time(row) as f64 / 1e3).sum::<f64>() / n;
        let sum = |count: fn(&RankRow) -> u64| rows.iter().map(|row| count(row)).sum::<u64>();
        let (computed, waited, worked) = (mean(|row| row.computed), mean(|row| row.waited), mean(|row| row.worked));
        let spent = computed + waited + worked;
        let share = |time: f64| (spent > 0.0).then(|| time / spent);
        RankFigures {
            begin_ns: own_starts.then(|| rows.iter().map(|row| row.begun).min().unwrap_or(0) as f64 / 1e3),
            ranks: rows.len() as u64,
            finished: done.len() as u64,
            first_ns: done.iter().copied().reduce(f64::min),
            mean_ns: (!done.is_empty()).then(|| done.iter().sum::<f64>() / done.len() as f64),
            compute_ns: computed,
            wait_ns: waited,
            overhead_ns: worked,
            compute_share: share(computed),
            wait_share: share(waited),
            overhead_share: share(worked),
            source_wait_ns,
            messages: sum(|row| row.messages),
            bytes: sum(|row| row.bytes),
            local_messages: sum(|row| row.local_messages),
            local_bytes: sum(|row| row.local_bytes),
            iterations: rows.iter().map(|row| row.iterations).min().unwrap_or(0),
            left_out: left_out.into(),
        }
    }
}

impl JobSummary {
    /// The figures of its ranks.
    pub fn ranks(&self) -> Option<&RankFigures> {
        match &self.work {
            JobWork::Ranks(ranks) => Some(ranks),
            JobWork::Traffic(_) => None,
        }
    }

    /// The figures of its traffic.
    pub fn traffic(&self) -> Option<&TrafficFigures> {
        match &self.work {
            JobWork::Ranks(_) => None,
            JobWork::Traffic(traffic) => Some(traffic),
        }
    }
}
