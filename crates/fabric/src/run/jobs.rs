//! The numbers of each job.

use super::latency::{LatencySummary, WaitSummary, half_width};
use super::state::{Scales, State, judge, tells};
use crate::harvest::Harvest;
use crate::mpi::{Plan, RankRow, account};
use crate::network::Network;
use crate::observe::{Bin, Sample, Stats, Track};
use crate::spec::RunSpec;
use serde::Serialize;

/// A job. Its messages are those of all its nodes, requests and answers of protocols among them, acknowledgements of pairs not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct JobSummary {
    pub name: String,
    /// When the last of all ranks was done, or the last message of finite traffic arrived; `None` if one was not.
    pub time_ns: Option<f64>,
    /// Messages that are measured: born behind the warm-up and before the end.
    pub measured: u64,
    /// Those of them that have arrived.
    pub arrived: u64,
    pub latency_ns: LatencySummary,
    #[serde(flatten)]
    pub work: JobWork,
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

/// MPI ranks: times are means over the ranks, but for the first end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct RankFigures {
    /// When the first rank began its work, where that is not the start of the run for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_ns: Option<f64>,
    pub ranks: u64,
    /// Ranks that came to the end of their programs.
    pub finished: u64,
    /// When the first was done; `None` if none was.
    pub first_ns: Option<f64>,
    /// Mean over those that were done.
    pub mean_ns: Option<f64>,
    pub compute_ns: f64,
    pub wait_ns: f64,
    pub overhead_ns: f64,
    /// What messages waited at their source.
    pub source_wait_ns: WaitSummary,
    pub messages: u64,
    pub bytes: u64,
    pub local_messages: u64,
    pub local_bytes: u64,
    /// Iterations that all ranks have behind them.
    pub iterations: u64,
}

/// Traffic, pairs and memory nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct TrafficFigures {
    /// What messages waited at their source.
    pub wait_ns: WaitSummary,
    /// Whether the network kept up with it.
    pub state: State,
    #[serde(flatten)]
    pub loads: Option<Loads>,
}

/// Loads of sources without end, as fractions of what their nodes can inject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loads {
    /// What the sources offer, mean over the nodes.
    pub offered_load: f64,
    /// What was delivered.
    pub accepted_load: f64,
    /// What was delivered of the source of which least was.
    pub accepted_load_min: f64,
    /// Jain's index of fairness (1984) of the delivered shares of what sources offer: 1 if all are alike, 1 / n if there is one only.
    pub fairness: f64,
}

/// What was measured, and how.
pub(super) struct Measured<'a> {
    pub spec: &'a RunSpec,
    pub net: &'a Network,
    pub harvest: &'a Harvest,
    /// The first slice that counts, where that was found by measurement.
    pub first: Option<usize>,
    pub scales: Scales,
}

impl Measured<'_> {
    /// The slices that lie within the measured span as a whole.
    pub(super) fn slices(&self) -> std::ops::Range<usize> {
        let Stats { span, shift, .. } = &self.harvest.stats;
        let first = self.first.unwrap_or(span.from.div_ceil(1 << shift) as usize);
        let end = match span.is_open() {
            true => (span.to >> shift) as usize,
            false => usize::MAX,
        };
        first..end.max(first)
    }

    /// Those of them that a track has.
    pub(super) fn bins<'t>(&self, track: &'t Track) -> &'t [Bin] {
        let slices = self.slices();
        let end = slices.end.min(track.bins.len());
        &track.bins[slices.start.min(end)..end]
    }

    /// Latencies and waits at the source of a track's measured messages.
    pub(super) fn figures(&self, track: &Track, sample: &Sample, given: bool) -> (LatencySummary, WaitSummary) {
        let latency = LatencySummary::new(sample, self.bins(track), given);
        (latency, WaitSummary::new(sample, given))
    }

    /// Bytes per node and source rate: loads of all endless sources of the jobs numbered.
    pub(super) fn loads(&self, jobs: impl Iterator<Item = usize>) -> Option<Loads> {
        let stats = &self.harvest.stats;
        let span = stats.span;
        if !span.is_open() || stats.paced_for == 0 {
            return None;
        }
        let capacity = self.net.injection_rate() * stats.paced_for as f64;
        let (mut nodes, mut offered, mut accepted) = (0usize, 0.0, 0.0);
        let (mut least, mut sum, mut squares, mut sources) = (f64::INFINITY, 0.0, 0.0, 0u64);
        for job in jobs {
            let Some((load, senders)) = self.net.workload.offers(job) else {
                continue;
            };
            nodes += self.net.workload.nodes_of(job).len();
            offered += load * senders.len() as f64;
            for node in senders {
                let own = stats.paces[node as usize] as f64 / capacity;
                accepted += own;
                least = least.min(own);
                let share = own / load;
                (sum, squares, sources) = (sum + share, squares + share * share, sources + 1);
            }
        }
        (sources > 0).then(|| Loads {
            offered_load: offered / nodes as f64,
            accepted_load: accepted / nodes as f64,
            accepted_load_min: least,
            fairness: if squares > 0.0 {
                sum * sum / (sources as f64 * squares)
            } else {
                1.0
            },
        })
    }

    /// Half the width of the 95 % interval of the accepted load, by the slices of the measured span.
    pub(super) fn accepted_error(&self) -> Option<f64> {
        let stats = &self.harvest.stats;
        let slices = self.slices();
        if !stats.span.is_open() {
            return None;
        }
        let length = slices.len().div_ceil(20).max(1);
        let capacity =
            self.net.injection_rate() * (length as f64 * (1u64 << stats.shift) as f64) * f64::from(self.net.n_nodes());
        let of = |slice: usize| stats.delivered.get(slice).copied().unwrap_or(0);
        let starts = slices
            .clone()
            .step_by(length)
            .filter(|start| start + length <= slices.end);
        let loads: Vec<f64> = starts
            .map(|start| (start..start + length).map(of).sum::<u64>() as f64 / capacity)
            .collect();
        half_width(&loads)
    }

    /// All jobs that do something.
    pub(super) fn jobs(&self) -> Vec<JobSummary> {
        let stats = &self.harvest.stats;
        let ranks = |job: usize| -> Vec<&RankRow> {
            let rows = self.harvest.ranks.iter();
            rows.filter(|row| row.job as usize == job).collect()
        };
        let mut jobs = Vec::new();
        for (j, (spec, track)) in self.spec.jobs.iter().zip(&stats.tracks).enumerate() {
            let rows = ranks(j);
            let endless = self.net.workload.is_endless(j);
            let own_starts = self.net.workload.plan_of(j).is_some_and(Plan::has_own_starts);
            if rows.is_empty() && spec.work == crate::spec::Work::Idle {
                continue;
            }
            let state = match endless {
                true => judge(track, &self.scales).state,
                false => State::Ok,
            };
            let sample = track.sample(self.first, stats.span, stats.shift);
            let (measured, arrived) = (sample.messages, sample.latencies.count);
            let (latency_ns, wait_ns) = self.figures(track, &sample, tells(state, self.bins(track)));
            let (time_ns, work) = match rows.is_empty() {
                false => (
                    account::span(rows.iter().copied()).map(|time| time.0 as f64 / 1e3),
                    JobWork::Ranks(RankFigures::new(&rows, own_starts, wait_ns)),
                ),
                true => (
                    (track.latest > 0 && measured == arrived).then_some(track.latest as f64 / 1e3),
                    JobWork::Traffic(TrafficFigures {
                        wait_ns,
                        state,
                        loads: self.loads(std::iter::once(j)).filter(|_| endless),
                    }),
                ),
            };
            jobs.push(JobSummary {
                name: spec.name.clone(),
                time_ns,
                measured,
                arrived,
                latency_ns,
                work,
            });
        }
        jobs
    }
}

impl RankFigures {
    fn new(rows: &[&RankRow], own_starts: bool, source_wait_ns: WaitSummary) -> RankFigures {
        let n = rows.len() as f64;
        let done: Vec<f64> = rows
            .iter()
            .filter(|row| row.is_done())
            .map(|row| row.finished as f64 / 1e3)
            .collect();
        let mean = |time: fn(&RankRow) -> u64| rows.iter().map(|row| time(row) as f64 / 1e3).sum::<f64>() / n;
        let sum = |count: fn(&RankRow) -> u64| rows.iter().map(|row| count(row)).sum::<u64>();
        RankFigures {
            begin_ns: own_starts.then(|| rows.iter().map(|row| row.begun).min().unwrap_or(0) as f64 / 1e3),
            ranks: rows.len() as u64,
            finished: done.len() as u64,
            first_ns: done.iter().copied().reduce(f64::min),
            mean_ns: (!done.is_empty()).then(|| done.iter().sum::<f64>() / done.len() as f64),
            compute_ns: mean(|row| row.computed),
            wait_ns: mean(|row| row.waited),
            overhead_ns: mean(|row| row.worked),
            source_wait_ns,
            messages: sum(|row| row.messages),
            bytes: sum(|row| row.bytes),
            local_messages: sum(|row| row.local_messages),
            local_bytes: sum(|row| row.local_bytes),
            iterations: rows.iter().map(|row| row.iterations).min().unwrap_or(0),
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
