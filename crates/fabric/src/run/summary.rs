//! The numbers of a run, as they go into `summary.json` and `--json`.

use crate::check::{Verdict, idle_channels};
use crate::harvest::{Harvest, Load};
use crate::memory::account::MemorySummary;
use crate::network::Network;
use crate::observe::{Sample, Stats, Track};
use crate::run::peak_memory;
use crate::spec::RunSpec;
use crate::state::Parts;
use des::optimistic::Speculated;
use des::{Outcome, Teamwork, Time};
use serde::Serialize;
use std::cmp::Reverse;
use std::time::Duration;

use super::jobs::{JobSummary, Measured};
use super::latency::{LatencySummary, WaitSummary};
use super::state::{Judgement, Scales, State, judge, tells};

/// Hops per packet: router-to-router links, plus one for the ejection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HopSummary {
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u64,
}

/// MiB/s per sender.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThroughputSummary {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: f64,
    /// 5th percentile.
    pub p5: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Most.
    pub max: f64,
}

/// A link, and for which part of the time it was busy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyLink {
    /// `(0,1,0) x+`.
    pub name: String,
    /// 0 to 1.
    pub busy: f64,
}

/// Load of one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRow {
    /// Router that sends.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// Router that receives; `u32::MAX` for a node.
    pub peer_router: u32,
    /// Link class.
    pub class: u8,
    /// Part of the time that the link was busy.
    pub utilisation: f64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// How a run was executed; depends on the machine and its mood, never changes the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Execution {
    /// Worker threads.
    pub workers: usize,
    /// Wall time of the simulation in seconds, set-up excluded.
    pub wall_s: f64,
    /// Events per second of wall time and worker.
    pub events_per_s_per_worker: f64,
    /// Mean number of events in a window, of all workers together.
    pub events_per_window: f64,
    /// Part of the workers' time spent waiting for each other, 0 to 1; `None` for one worker.
    pub barrier_share: Option<f64>,
    /// What the engine found out about its workers, in words.
    pub remark: Option<String>,
    /// Windows from one meeting of the workers to the next: more than one where what they send to each other takes longer than what is
    /// sent within a worker.
    pub windows_per_meeting: u64,
    /// What the optimistic engine ran ahead, and what it had to mend.
    pub speculation: Option<Speculation>,
}

/// What speculation did; depends on the machine and its mood, never changes the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Speculation {
    /// Events handled, once or again.
    pub events_executed: u64,
    /// Events undone.
    pub events_rolled_back: u64,
    /// Events handled for good.
    pub events_committed: u64,
    /// Committed over executed events.
    pub efficiency: f64,
    /// Events of windows that were safe when they were run, without a journal.
    pub events_safe: u64,
    /// Events that were sent and taken back.
    pub anti_events: u64,
    /// Rounds, each with one meeting of the workers that tells the global virtual time (GVT).
    pub rounds: u64,
    /// Most windows of a round.
    pub deepest_round: u64,
    /// Most bytes of inputs, undo logs, sent events and records kept.
    pub peak_kept_bytes: u64,
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

/// How an engine has worked, for [`Execution`].
#[derive(Clone, Debug, Default)]
pub(super) struct Manner {
    pub(super) teamwork: Option<Teamwork>,
    pub(super) speculated: Option<Speculated>,
    /// Why one worker runs where more were allowed, if that was clear beforehand.
    pub(super) alone: Option<String>,
    /// Wall time of the simulation.
    pub(super) wall: Duration,
}

impl Execution {
    fn new(outcome: Outcome, manner: &Manner) -> Execution {
        let Manner {
            teamwork,
            speculated,
            alone,
            wall,
        } = manner;
        let wall_s = wall.as_secs_f64();
        let workers = teamwork.map_or(1, |teamwork| teamwork.workers);
        Execution {
            workers,
            wall_s,
            events_per_s_per_worker: outcome.events as f64 / wall_s.max(1e-9) / workers as f64,
            events_per_window: outcome.events as f64 / outcome.windows.max(1) as f64,
            barrier_share: teamwork.map(|teamwork| teamwork.waiting),
            remark: teamwork.and_then(remark).or_else(|| alone.clone()),
            windows_per_meeting: teamwork.map_or(1, |teamwork| teamwork.together.max(1)),
            speculation: speculated.map(Speculation::from),
        }
    }
}

/// What the engine found out about its workers, in words.
fn remark(teamwork: Teamwork) -> Option<String> {
    let Teamwork { workers, .. } = teamwork;
    if let Some((events, worth)) = teamwork.thin {
        return Some(format!(
            "one worker ran: a window of this network holds {events:.1} events for each of {workers} workers, and meeting after every \
             window pays from about {worth:.0} on; engine = \"optimistic\" meets once for several windows"
        ));
    }
    let (one, all) = teamwork.given_up?;
    Some(format!(
        "{workers} workers were slower than one ({all:.0} against {one:.0} ns per event), so one ran: windows of this network hold too \
         few events, or the machine is busy"
    ))
}

/// The numbers of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Summary {
    pub verdict: Verdict,
    pub sim_time_ns: f64,
    pub messages: u64,
    pub packets: u64,
    pub packet_hops: u64,
    /// The link that was busy for the most time, of routers to each other and to nodes.
    pub busiest_link: Option<BusyLink>,
    /// Messages that are measured: born behind the warm-up and before the end.
    pub measured: u64,
    /// Those of them that have arrived.
    pub arrived: u64,
    /// From hand-over to arrival.
    pub latency_ns: LatencySummary,
    /// From hand-over to the first packet that leaves: part of the latency.
    pub wait_ns: WaitSummary,
    /// Latencies of those that have arrived alone, where others have not or the network did not keep up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_of_arrived_ns: Option<LatencySummary>,
    pub hops: HopSummary,
    pub offered_load: Option<f64>,
    pub accepted_load: f64,
    /// Half the width of its 95 % interval.
    pub accepted_load_error: Option<f64>,
    /// What was accepted of the source of which least was.
    pub accepted_load_min: Option<f64>,
    /// Jain's index of what was accepted of each source against what it offered.
    pub fairness: Option<f64>,
    pub saturated: Option<String>,
    pub warmup_ns: f64,
    pub bytes_delivered: u64,
    #[serde(rename = "throughput_MiBps")]
    pub throughput: Option<ThroughputSummary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
    /// The job of memory nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySummary>,
    /// Bytes that came by each rail of the hosts, where they have several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rail_bytes: Vec<u64>,
    pub events: u64,
    pub cpu_s: f64,
    pub build_s: f64,
    pub peak_rss_bytes: u64,
    pub digest: String,
    pub engine: &'static str,
    pub execution: Execution,
    pub n_nodes: u32,
    pub n_routers: u32,
    pub notes: Vec<String>,
    pub limits: Vec<String>,
}

pub(super) struct Inputs<'a> {
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
}

impl Summary {
    pub(super) fn new(inputs: Inputs<'_>) -> Summary {
        let Inputs {
            spec,
            net,
            harvest,
            whole,
            sample,
            first,
            open_loop,
            ..
        } = inputs;
        let stats = &harvest.stats;
        let ns = |ps: f64| ps / 1e3;
        let warmup = first.map_or(stats.span.from, |first| (first as u64) << stats.shift);
        let span_end = if open_loop { inputs.end.0 } else { stats.latest };
        let busiest_until = match open_loop && !spec.control.drain_sources {
            // All that has been sent was born before the end.
            true => span_end,
            false => span_end.max(stats.latest),
        };
        let last_core = harvest.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
        let done = harvest.ranks.iter().filter(|row| row.is_done());
        let last_rank = done.map(|row| row.finished).max().unwrap_or(0);
        let reached = span_end.max(stats.latest).max(last_rank).max(last_core);
        let busiest = busiest(harvest, reached);
        let measured = Measured {
            spec,
            net,
            harvest,
            first,
            scales: Scales {
                shift: stats.shift,
                end: inputs.end.0,
                crossing: net.longest_crossing(),
                message: net.time_on_slowest(net.workload.most_endless_bytes()),
                busiest: (harvest.busiest.0 as f64 / busiest_until.max(1) as f64).min(1.0),
                bounded: spec.router.has_bounded_buffers(),
            },
        };
        let judgement = match open_loop {
            true => judge(whole, &measured.scales),
            false => Judgement {
                state: State::Ok,
                because: String::new(),
                settles: None,
            },
        };
        let given = tells(judgement.state, measured.bins(whole));
        let (n_measured, arrived) = (sample.messages, sample.latencies.count);
        let (latency_ns, wait_ns) = measured.figures(whole, sample, given);
        let of_arrived = (!given || arrived < n_measured).then(|| LatencySummary::of_arrived(&sample.latencies));
        let loads = measured.loads(0..spec.jobs.len());
        let links: u64 = (0..)
            .zip(&stats.hops)
            .map(|(links, &count): (u64, _)| links * count)
            .sum();
        let hops = match stats.packets {
            0 => HopSummary { mean: 0.0, max: 0 },
            packets => HopSummary {
                mean: links as f64 / packets as f64 + 1.0,
                max: stats.hops.len() as u64,
            },
        };
        let offered_load = net.workload.offered_load(net.n_nodes());
        let accepted_load = accepted(net, stats, warmup, span_end);
        let mut notes = Vec::from_iter(idle_channels(spec, net).map(|words| format!("router.vcs: {words}")));
        if !judgement.because.is_empty() {
            notes.push(said(&judgement, offered_load, accepted_load));
        }
        if n_measured == 0 {
            notes.push("no message was measured: there are no latencies".into());
        } else if arrived < n_measured {
            notes.push(format!(
                "{} of {n_measured} measured messages ({:.2} %) had not arrived when the run ended",
                n_measured - arrived,
                100.0 * (n_measured - arrived) as f64 / n_measured as f64
            ));
        }
        let mut verdict = inputs.verdict;
        verdict.state = judgement.state;
        verdict.because = judgement.because.clone();
        verdict.settles_ns = judgement.settles.map(|ps| ns(ps as f64));
        Summary {
            verdict,
            sim_time_ns: ns(reached as f64),
            messages: stats.messages,
            packets: stats.packets,
            packet_hops: harvest.packet_hops,
            busiest_link: busiest.clone(),
            measured: n_measured,
            arrived,
            latency_ns,
            wait_ns,
            latency_of_arrived_ns: of_arrived,
            hops,
            offered_load,
            accepted_load,
            accepted_load_error: measured.accepted_error(),
            accepted_load_min: loads.as_ref().map(|loads| loads.accepted_load_min),
            fairness: loads.as_ref().map(|loads| loads.fairness),
            saturated: (judgement.state == State::Saturated).then_some(judgement.because),
            warmup_ns: ns(warmup as f64),
            bytes_delivered: stats.packet_bytes,
            throughput: throughput(stats),
            jobs: measured.jobs(),
            memory: net.workload.memory().map(|plan| {
                let name = &spec.jobs[plan.job as usize].name;
                let links = (busiest.as_ref(), net.injection.bandwidth().0);
                MemorySummary::new(name, &plan.shape, &harvest.memory, links)
            }),
            rail_bytes: harvest.rails.clone(),
            events: inputs.outcome.events,
            cpu_s: harvest.cpu.as_secs_f64(),
            build_s: inputs.build.as_secs_f64(),
            peak_rss_bytes: harvest.peak_memory.max(peak_memory()),
            digest: format!("{:016x}", inputs.digest),
            engine: inputs.engine,
            execution: Execution::new(inputs.outcome, inputs.manner),
            n_nodes: net.n_nodes(),
            n_routers: net.n_routers(),
            notes,
            limits: super::limits::limits(spec),
        }
    }
}

/// Bytes handed to nodes between two times as a fraction of what all nodes could inject.
fn accepted(net: &Network, stats: &Stats, from: u64, to: u64) -> f64 {
    let first = (from >> stats.shift) as usize;
    let last = ((to >> stats.shift) as usize).min(stats.delivered.len());
    let (bytes, span) = match first < last {
        true => (
            stats.delivered[first..last].iter().sum(),
            ((last - first) as u64) << stats.shift,
        ),
        // Shorter than a slice: the whole run.
        false => (stats.packet_bytes, stats.latest.max(1)),
    };
    let capacity = net.injection.bandwidth().0 as f64 / 8.0 * span as f64 * 1e-12 * f64::from(net.n_nodes());
    bytes as f64 / capacity
}

/// What a network that has not been seen to keep up says of itself.
fn said(judgement: &Judgement, offered: Option<f64>, accepted: f64) -> String {
    let word = match judgement.state {
        State::Ok => "ok",
        State::Unsettled => "unsettled",
        State::Saturated => "saturated",
    };
    let loads = offered.map_or(String::new(), |offered| {
        format!(" ({accepted:.3} of the injection bandwidth was accepted where {offered:.3} was offered)")
    });
    format!("{word}: {}{loads}", judgement.because)
}

fn throughput(stats: &Stats) -> Option<ThroughputSummary> {
    let mut rates: Vec<f64> = sender_rates(stats).map(|(_, rate)| rate).collect();
    if rates.is_empty() {
        return None;
    }
    rates.sort_by(f64::total_cmp);
    let at = |q: f64| rates[((q * rates.len() as f64).ceil() as usize).clamp(1, rates.len()) - 1];
    Some(ThroughputSummary {
        mean: rates.iter().sum::<f64>() / rates.len() as f64,
        min: rates[0],
        p5: at(0.05),
        p50: at(0.5),
        p95: at(0.95),
        max: rates[rates.len() - 1],
    })
}

/// Rate of each sender in MiB/s: bytes over the time from its first send to its last acknowledgement (or delivery).
pub fn sender_rates(stats: &Stats) -> impl Iterator<Item = (u32, f64)> + '_ {
    (0..)
        .zip(&stats.senders)
        .filter(|(_, sender)| sender.trips > 0)
        .map(|(node, sender)| {
            let seconds = (sender.last - sender.first) as f64 * 1e-12;
            (node, sender.bytes as f64 / (1u64 << 20) as f64 / seconds)
        })
}

/// Loads of links over `sim_time_ns`.
pub(super) fn link_rows(loads: Vec<Load>, sim_time_ns: f64) -> Vec<LinkRow> {
    let span = (sim_time_ns * 1e3).max(1.0);
    let row = |load: Load| LinkRow {
        router: load.router,
        port: load.port,
        peer_router: load.peer_router,
        class: load.class as u8,
        // What a link has accepted may reach beyond the end of the run; from there on it is busy without a gap.
        utilisation: (load.busy - load.free.saturating_sub(span as u64).min(load.busy)) as f64 / span,
        packets: load.packets,
        bytes: load.bytes,
    };
    loads.into_iter().map(row).collect()
}

/// The link that was busy for most of the time `span` (ps).
fn busiest(harvest: &Harvest, span: u64) -> Option<BusyLink> {
    let (busy, place) = &harvest.busiest;
    let name = place.as_ref()?.name.clone();
    let busy = (*busy as f64 / span.max(1) as f64).min(1.0);
    Some(BusyLink { name, busy })
}

/// The busiest links and the part of the time they were busy.
pub(super) fn hottest(net: &Network, state: &Parts<'_>, now: Time, n: usize) -> Vec<(String, f64)> {
    let mut best: Vec<(u64, u32)> = Vec::new();
    for (port, record) in state.numbered_ports() {
        if best.len() < n || record.busy > best[n - 1].0 {
            let mine = (Reverse(record.busy), port);
            let place = best.partition_point(|&(busy, port)| (Reverse(busy), port) < mine);
            best.insert(place, (record.busy, port));
            best.truncate(n);
        }
    }
    let span = now.0.max(1) as f64;
    best.into_iter()
        .map(|(busy, port)| (net.name_of_port(port), (busy as f64 / span).min(1.0)))
        .collect()
}
