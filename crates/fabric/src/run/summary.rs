//! The numbers of a run, as they go into `summary.json` and `--json`.

use crate::check::Verdict;
use crate::harvest::{Harvest, Load};
use crate::memory::account::MemorySummary;
use crate::mpi::{RankRow, account};
use crate::network::Network;
use crate::observe::{Latencies, Stats};
use crate::run::{SteadyState, peak_memory};
use crate::spec::RunSpec;
use crate::state::Parts;
use des::optimistic::Speculated;
use des::{Outcome, Teamwork, Time};
use serde::Serialize;
use std::time::Duration;

/// Latencies in ns, from a message's hand-over to its last byte at the destination.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Least.
    pub min: f64,
    /// Most.
    pub max: f64,
}

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
    pub latency_ns: LatencySummary,
    pub hops: HopSummary,
    pub offered_load: Option<f64>,
    pub accepted_load: f64,
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

/// The MPI ranks of a job: times are means over its ranks, but for the first and last end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct JobSummary {
    pub name: String,
    pub ranks: u64,
    /// Ranks that came to the end of their programs.
    pub finished: u64,
    /// When the last of all ranks was done; `None` if one was not.
    pub time_ns: Option<f64>,
    /// When the first was done.
    pub first_ns: f64,
    pub mean_ns: f64,
    pub compute_ns: f64,
    pub wait_ns: f64,
    pub overhead_ns: f64,
    pub messages: u64,
    pub bytes: u64,
    pub local_messages: u64,
    pub local_bytes: u64,
    /// Iterations that all ranks have behind them.
    pub iterations: u64,
}

fn jobs(spec: &RunSpec, rows: &[RankRow]) -> Vec<JobSummary> {
    let summary = |rows: &[RankRow]| {
        let n = rows.len() as f64;
        let done: Vec<f64> = rows
            .iter()
            .filter(|row| row.is_done())
            .map(|row| row.finished as f64 / 1e3)
            .collect();
        let mean = |time: fn(&RankRow) -> u64| rows.iter().map(|row| time(row) as f64 / 1e3).sum::<f64>() / n;
        let sum = |count: fn(&RankRow) -> u64| rows.iter().map(count).sum::<u64>();
        let first = done.iter().copied().fold(f64::INFINITY, f64::min);
        JobSummary {
            name: spec.jobs[rows[0].job as usize].name.clone(),
            ranks: rows.len() as u64,
            finished: done.len() as u64,
            time_ns: account::span(rows.iter()).map(|time| time.0 as f64 / 1e3),
            first_ns: if done.is_empty() { 0.0 } else { first },
            mean_ns: done.iter().sum::<f64>() / (done.len().max(1)) as f64,
            compute_ns: mean(|row| row.computed),
            wait_ns: mean(|row| row.waited),
            overhead_ns: mean(|row| row.worked),
            messages: sum(|row| row.messages),
            bytes: sum(|row| row.bytes),
            local_messages: sum(|row| row.local_messages),
            local_bytes: sum(|row| row.local_bytes),
            iterations: rows.iter().map(|row| row.iterations).min().unwrap_or(0),
        }
    };
    rows.chunk_by(|a, b| a.job == b.job).map(summary).collect()
}

pub(super) struct Inputs<'a> {
    pub spec: &'a RunSpec,
    pub net: &'a Network,
    pub harvest: &'a Harvest,
    pub verdict: Verdict,
    pub latencies: &'a Latencies,
    pub steady: &'a SteadyState,
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
            latencies,
            steady,
            ..
        } = inputs;
        let stats = &harvest.stats;
        let ns = |ps: f64| ps / 1e3;
        let quantile = |q: f64| match latencies.count {
            0 => 0.0,
            _ => ns(latencies
                .histogram
                .quantile(q)
                .clamp(latencies.min as f64, latencies.max as f64)),
        };
        let (min, max) = if latencies.count == 0 {
            (0, 0)
        } else {
            (latencies.min, latencies.max)
        };
        let latency_ns = LatencySummary {
            mean: ns(latencies.mean()),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            min: ns(min as f64),
            max: ns(max as f64),
        };
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
        let span_end = if inputs.open_loop { inputs.end.0 } else { stats.latest };
        let offered_load = net.workload.offered_load(net.n_nodes());
        let accepted_load = accepted(net, stats, steady.warmup, span_end);
        let done = harvest.ranks.iter().filter(|row| row.is_done());
        let last_core = harvest.memory.iter().map(|row| row.cores.finished).max().unwrap_or(0);
        let last_rank = done.map(|row| row.finished).max().unwrap_or(0);
        let busiest = busiest(harvest, span_end.max(stats.latest).max(last_rank).max(last_core));
        let mut notes = Vec::new();
        let saturated = saturation(inputs.open_loop, offered_load, accepted_load, steady);
        if let Some(text) = &saturated {
            notes.push(text.clone());
        }
        Summary {
            verdict: inputs.verdict,
            sim_time_ns: ns(span_end.max(stats.latest).max(last_rank).max(last_core) as f64),
            messages: stats.messages,
            packets: stats.packets,
            packet_hops: harvest.packet_hops,
            busiest_link: busiest.clone(),
            latency_ns,
            hops,
            offered_load,
            accepted_load,
            saturated,
            warmup_ns: ns(steady.warmup as f64),
            bytes_delivered: stats.packet_bytes,
            throughput: throughput(stats),
            jobs: jobs(spec, &harvest.ranks),
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
    let last = ((to >> stats.shift) as usize).min(stats.bins.len());
    let (bytes, span) = match first < last {
        true => (
            stats.bins[first..last].iter().map(|bin| bin.delivered).sum(),
            ((last - first) as u64) << stats.shift,
        ),
        // Shorter than a slice: the whole run.
        false => (stats.packet_bytes, stats.latest.max(1)),
    };
    let capacity = net.injection.bandwidth().0 as f64 / 8.0 * span as f64 * 1e-12 * f64::from(net.n_nodes());
    bytes as f64 / capacity
}

/// Says in words whether the network kept up.
fn saturation(open_loop: bool, offered: Option<f64>, accepted: f64, steady: &SteadyState) -> Option<String> {
    let offered = offered.filter(|_| open_loop)?;
    // Less than offered alone may be chance in a short run; a backlog shows in latencies that grow.
    if accepted < 0.95 * offered && steady.drifting > 0.1 {
        return Some(format!(
            "saturated: {accepted:.3} of the injection bandwidth was accepted where {offered:.3} was offered; latencies are those of the messages that arrived and grow with the length of the run"
        ));
    }
    (steady.drifting > 0.5).then(|| {
        let growth = match steady.drifting {
            drifting if drifting.is_finite() => format!("mean latency grew by {:.0} %", drifting * 100.0),
            _ => "ever fewer messages arrived".into(),
        };
        format!(
            "not settled: {growth} over the measured span; the load is at or beyond saturation, or the run is too short"
        )
    })
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
            best.push((record.busy, port));
            best.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            best.truncate(n);
        }
    }
    let span = now.0.max(1) as f64;
    best.into_iter()
        .map(|(busy, port)| (net.name_of_port(port), (busy as f64 / span).min(1.0)))
        .collect()
}
