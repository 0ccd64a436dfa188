//! A run that has ended, as its figures see it.

use super::execution::Manner;
use super::latency::{LatencySummary, WaitSummary};
use super::links::{BusyLink, busiest};
use super::loads::{Loads, behind, loads};
use super::state::{Judgement, Scales, of_sources_without_end, of_work_that_ends, tells};
use super::verdict::Verdict;
use crate::harvest::Harvest;
use des::{Outcome, Time};
use fabric::network::Network;
use fabric::observe::{Bin, Sample, Stats, Track};
use fabric::spec::RunSpec;
use std::time::Duration;
use topo::bill::Bill;

/// What a run has left behind.
pub(crate) struct Inputs<'a> {
    pub spec: &'a RunSpec,
    pub net: &'a Network,
    pub harvest: &'a Harvest,
    pub verdict: Verdict,
    /// The messages of all jobs.
    pub whole: &'a Track,
    /// Those of them that are measured.
    pub sample: &'a Sample,
    /// The first slice that counts, where that was found by measurement.
    pub first: Option<usize>,
    pub open_loop: bool,
    pub end: Time,
    pub outcome: Outcome,
    pub manner: &'a Manner,
    pub engine: &'static str,
    pub digest: u64,
    pub build: Duration,
    /// What the network is made of, where the study has prices.
    pub bill: Option<Bill>,
}

/// What a run has left behind, and what several figures need of it.
pub(crate) struct Concluded<'a> {
    pub spec: &'a RunSpec,
    pub net: &'a Network,
    pub harvest: &'a Harvest,
    /// The verdict of the self-checks.
    pub verdict: Verdict,
    pub sample: &'a Sample,
    /// The first slice that counts, where that was found by measurement.
    pub first: Option<usize>,
    pub outcome: Outcome,
    pub manner: &'a Manner,
    pub engine: &'static str,
    pub digest: u64,
    pub build: Duration,
    /// What the network is made of, where the study has prices.
    pub bill: Option<Bill>,
    pub scales: Scales,
    /// Whether the network kept up.
    pub judgement: Judgement,
    /// Whether figures of the messages are worth telling.
    pub given: bool,
    /// End of the warm-up (ps).
    pub warmup: u64,
    /// End of the measured span (ps).
    pub span_end: u64,
    /// The last time that anything happened (ps).
    pub reached: u64,
    pub busiest: Option<BusyLink>,
    /// Loads of the sources of all jobs.
    pub loads: Option<Loads>,
    /// By which share deliveries clearly stay behind them.
    pub behind: Option<f64>,
    pub latency_ns: LatencySummary,
    pub wait_ns: WaitSummary,
}

impl<'a> Concluded<'a> {
    /// Works out what several figures need.
    pub(crate) fn new(inputs: Inputs<'a>) -> Concluded<'a> {
        let Inputs {
            spec,
            net,
            harvest,
            verdict,
            whole,
            sample,
            first,
            open_loop,
            ..
        } = inputs;
        let stats = &harvest.stats;
        let warmup = first.map_or(stats.span.from, |first| (first as u64) << stats.shift);
        let span_end = if open_loop { inputs.end.0 } else { stats.latest };
        let last_core = harvest.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
        let done = harvest.ranks.iter().filter(|row| row.is_done());
        let last_rank = done.map(|row| row.finished).max().unwrap_or(0);
        let reached = span_end.max(stats.latest).max(last_rank).max(last_core);
        let scales = Scales::new(spec, net, harvest, span_end, inputs.end);
        let pushed = (0..spec.jobs.len()).any(|job| net.workload.is_open_loop(job));
        let judgement = match open_loop {
            true => of_sources_without_end(pushed, whole, &scales),
            false => of_work_that_ends(sample.messages, sample.latencies.count),
        };
        let mut run = Concluded {
            spec,
            net,
            harvest,
            verdict,
            sample,
            first,
            outcome: inputs.outcome,
            manner: inputs.manner,
            engine: inputs.engine,
            digest: inputs.digest,
            build: inputs.build,
            bill: inputs.bill,
            scales,
            judgement,
            given: false,
            warmup,
            span_end,
            reached,
            busiest: busiest(harvest, reached),
            loads: None,
            behind: None,
            latency_ns: LatencySummary::default(),
            wait_ns: WaitSummary::default(),
        };
        run.loads = loads(&run, 0..spec.jobs.len());
        run.behind = behind(&run).filter(|_| open_loop && pushed);
        run.judgement = run.judgement.unless_behind(run.behind, span_end);
        run.given = !open_loop || tells(run.judgement.state, run.bins(whole));
        (run.latency_ns, run.wait_ns) = run.times(whole, sample, run.given);
        run
    }

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
    pub(super) fn times(&self, track: &Track, sample: &Sample, given: bool) -> (LatencySummary, WaitSummary) {
        let latency = LatencySummary::new(sample, self.bins(track), given);
        (latency, WaitSummary::new(sample, given))
    }
}

/// Nanoseconds of a time in ps.
pub(super) fn ns(ps: f64) -> f64 {
    ps / 1e3
}
