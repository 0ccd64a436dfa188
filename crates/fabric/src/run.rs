//! Runs a specification: network, engine, phases, self-checks, summary.

use crate::check;
use crate::network::{BuildError, Class, Network};
use crate::observe::{Bin, Latencies, Stats};
use crate::packet::{HORIZON, Packet};
use crate::router::{Credit, InputQueued, LateAdmission, RouterModel, Sculpin};
use crate::spec::{self, Architecture, MessageDetail, RunSpec};
use crate::state::{Parts, State};
use crate::world::Fabric;
use des::engine::Engine;
use des::optimistic::{OptimisticEngine, Speculation};
use des::{Outcome, Progress, ReferenceEngine, RollbackCheck, Stop, Time, View, WindowEngine, mix};
use serde::Serialize;
use std::time::Duration;

mod steady;
mod summary;

pub use steady::{SteadyState, steady_state};
pub use summary::{HopSummary, LatencySummary, LinkRow, Summary, ThroughputSummary, link_rows, sender_rates};

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The specification does not fit together.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The watcher asked to stop.
    #[error("interrupted at {at}")]
    Interrupted {
        /// Simulated time reached.
        at: Time,
    },
    /// A self-check failed; the summary says which.
    #[error("self-check failed: {}", .0.verdict.failures())]
    Check(Box<Summary>),
    /// A model broke a rule of the engine.
    #[error("engine: {0}")]
    Engine(&'static str),
}

/// Where a run stands, for progress displays.
#[derive(Clone, Debug, Serialize)]
pub struct RunProgress {
    /// Done part, 0 to 1.
    pub fraction: f64,
    /// Simulated time reached.
    pub sim_time_ns: f64,
    /// Events handled.
    pub events: u64,
    /// Packets handed to nodes.
    pub delivered: u64,
    /// Packets injected and not yet handed to nodes.
    pub in_flight: u64,
    /// The busiest links so far and the part of the time they were busy.
    pub hot_links: Vec<(String, f64)>,
}

/// Everything a run gave.
#[derive(Debug)]
pub struct RunResult {
    /// The numbers.
    pub summary: Summary,
    /// The recorded facts.
    pub stats: Stats,
    /// Loads of all links, if asked for.
    pub links: Vec<LinkRow>,
    /// The measured messages' latencies.
    pub latencies: Latencies,
    /// Whether load over time was asked for.
    pub timeline: bool,
    /// What all nodes together can inject.
    pub bytes_per_ps: f64,
}

/// Decides whether a run goes on; called a few times per second of CPU time.
pub type Watch<'a> = &'a mut dyn FnMut(&RunProgress) -> bool;

/// Runs a specification to its end.
pub fn run(spec: &RunSpec, watch: Watch<'_>) -> Result<RunResult, RunError> {
    let begun = cpu_time();
    let net = Network::build(spec)?;
    check::deadlock(spec, &net)?;
    match (spec.router.model, spec.router.architecture) {
        (spec::RouterModel::Sculpin, _) if net.is_plain() => drive::<Sculpin<true>>(spec, net, begun, watch),
        (spec::RouterModel::Sculpin, _) => drive::<Sculpin>(spec, net, begun, watch),
        (spec::RouterModel::Credit, Architecture::Voq) if net.is_plain() => {
            drive::<Credit<true>>(spec, net, begun, watch)
        }
        (spec::RouterModel::Credit, Architecture::Voq) => drive::<Credit>(spec, net, begun, watch),
        (spec::RouterModel::Credit, Architecture::LateAdmission) => drive::<LateAdmission>(spec, net, begun, watch),
        (spec::RouterModel::Credit, Architecture::InputQueued) => drive::<InputQueued>(spec, net, begun, watch),
    }
}

/// Chooses the engine; the result does not depend on it.
fn engine<'w, M: RouterModel>(
    spec: &RunSpec,
    world: &'w Fabric<M>,
    stats: Stats,
) -> (Box<dyn NetworkEngine<M> + 'w>, &'static str) {
    let width = world.net.lookahead.0;
    let kind = match spec.control.engine {
        // Below that no window can be opened: total order is the only loop that fits.
        _ if width < WindowEngine::<Fabric<M>>::MIN_WIDTH => spec::Engine::Reference,
        spec::Engine::Auto => spec::Engine::Conservative,
        kind => kind,
    };
    let workers = u32::from(spec.control.workers);
    match kind {
        spec::Engine::Reference => (Box::new(ReferenceEngine::new(world, stats)), "reference"),
        spec::Engine::RollbackCheck => (Box::new(RollbackCheck::new(world, stats)), "rollback-check"),
        spec::Engine::Optimistic => {
            let engine = OptimisticEngine::new(world, stats, 8 * workers.max(1), workers, Speculation::default());
            (Box::new(engine), "optimistic")
        }
        spec::Engine::Conservative if workers > 1 => {
            let engine = WindowEngine::with_workers(world, stats, 8 * workers, workers);
            match engine.workers() {
                1 => (Box::new(engine), "sequential"),
                _ => (Box::new(engine), "conservative"),
            }
        }
        _ => (Box::new(WindowEngine::new(world, stats, 8)), "sequential"),
    }
}

/// An engine that runs a network.
trait NetworkEngine<M: RouterModel>: Engine<Fabric<M>> {}
impl<M: RouterModel, E: Engine<Fabric<M>>> NetworkEngine<M> for E {}

fn drive<M: RouterModel>(
    spec: &RunSpec,
    net: Network,
    begun: Duration,
    watch: Watch<'_>,
) -> Result<RunResult, RunError> {
    let workload = &net.workload;
    let horizon = horizon(spec, &net)?;
    let end = spec.control.end.unwrap_or(horizon);
    let open_loop = workload.endless();
    let measure_to = if open_loop { end.0 } else { u64::MAX };
    let from = spec.control.warmup.unwrap_or(Time::ZERO).0;
    let senders = if workload.has_pairs() { net.n_nodes() } else { 0 };
    let total = workload.total_messages();
    let drain = match (open_loop, spec.control.drain) {
        (false, _) => Time::ZERO,
        (true, Some(drain)) => drain,
        (true, None) => end,
    };
    let last = Time(end.0.saturating_add(drain.0).min(horizon.0));
    let mut stats = Stats::new(
        senders,
        spec.observe.messages == MessageDetail::Full,
        from,
        measure_to,
        last.0,
    );
    // Where the warm-up is given, what is measured has its own record and slices need means only.
    stats.light_bins = spec.control.warmup.is_some() || !open_loop;
    let world = Fabric::<M>::new(net);
    let (mut engine, engine_name) = engine(spec, &world, stats);
    let built = cpu_time();
    let mut supervisor = Supervisor::new(spec, &world.net, total, if open_loop { last } else { end }, watch);
    let mut stop = engine.run(end, &mut |view, progress| supervisor.look(view, progress));
    if open_loop && stop == Stop::Until && last > end {
        // Let the measured messages arrive; in steps, to stop as soon as they have.
        let mut until = end;
        let step = Time((drain.0 / 16).max(1));
        while stop == Stop::Until && until < last && Counts::new(&engine.view()).in_flight() > 0 {
            until = Time((until.0 + step.0).min(last.0));
            stop = engine.run(until, &mut |view, progress| supervisor.look(view, progress));
        }
    }
    let ran = cpu_time();
    let stalled = supervisor.stalled;
    let reached = supervisor.now;
    match stop {
        Stop::Broken(reason) => return Err(RunError::Engine(reason)),
        Stop::Interrupted if !stalled => return Err(RunError::Interrupted { at: reached }),
        _ => {}
    }
    let mut in_flight = check::InFlight::default();
    engine.pending(&mut |event: &Packet| in_flight.count(event, &world.net));
    let events = des::engine::history(&engine.digests());
    let (states, stats, outcome) = engine.into_parts();
    let run = Finished {
        spec,
        net: &world.net,
        states,
        stats,
        events,
        outcome,
        stop,
        stalled,
        in_flight,
        total,
        open_loop,
        end,
    };
    run.conclude(engine_name, begun, built, ran)
}

/// The longest time (ps) from an action at one router to the event that it sends: a packet over a link, or its credit.
fn slowest_step(net: &Network) -> u64 {
    let step = |class: &Class| (class.ser(net.packet)).saturating_add(class.hop + class.credit);
    net.classes.iter().chain([&net.injection]).map(step).max().unwrap_or(0)
}

/// The last time a run can reach such that no event it sends lies beyond the end of simulated time.
fn horizon(spec: &RunSpec, net: &Network) -> Result<Time, BuildError> {
    let seconds = |time: Time| time.0 as f64 * 1e-12;
    let step = slowest_step(net);
    if step > HORIZON.0 / 2 {
        let reason = format!(
            "a full packet takes {:.1} s for a single link, simulated time ends at {:.0} s",
            seconds(Time(step)),
            seconds(HORIZON)
        );
        return Err(BuildError::field(
            "link",
            reason,
            Some("take faster links or smaller packets"),
        ));
    }
    let horizon = Time(HORIZON.0 - step);
    match spec.control.end {
        Some(end) if end > horizon => {
            let reason = format!(
                "{:.3} s is too long, simulated time ends at {:.0} s",
                seconds(end),
                seconds(HORIZON)
            );
            Err(BuildError::field("run.end", reason, Some("take a shorter run")))
        }
        _ => Ok(horizon),
    }
}

/// A run whose engine has stopped.
struct Finished<'a> {
    spec: &'a RunSpec,
    net: &'a Network,
    states: Vec<State>,
    stats: Stats,
    /// Digest of all events.
    events: u64,
    outcome: Outcome,
    stop: Stop,
    stalled: bool,
    in_flight: check::InFlight,
    total: Option<u64>,
    open_loop: bool,
    end: Time,
}

impl Finished<'_> {
    fn conclude(
        self,
        engine: &'static str,
        begun: Duration,
        built: Duration,
        ran: Duration,
    ) -> Result<RunResult, RunError> {
        let Finished {
            spec,
            net,
            states,
            stats,
            stop,
            ..
        } = &self;
        let state = &Parts::new(states);
        let verdict = check::verdict(&check::Facts {
            net,
            state,
            stats,
            in_flight: &self.in_flight,
            idle: *stop == Stop::Idle,
            stalled: self.stalled,
            expected: if spec.control.end.is_none() || *stop == Stop::Idle {
                self.total
            } else {
                None
            },
        });
        let digest = digest(self.events, stats);
        let (latencies, steady) = self.measure();
        let summary = summary::Summary::new(summary::Inputs {
            spec,
            net,
            state,
            stats,
            verdict,
            latencies: &latencies,
            steady: &steady,
            open_loop: self.open_loop,
            end: self.end,
            outcome: self.outcome,
            engine,
            digest,
            build: built - begun,
            ran: ran - built,
        });
        if !summary.verdict.ok {
            return Err(RunError::Check(Box::new(summary)));
        }
        let links = if spec.observe.links {
            link_rows(net, state, summary.sim_time_ns)
        } else {
            Vec::new()
        };
        Ok(RunResult {
            summary,
            links,
            latencies,
            timeline: spec.observe.timeline,
            bytes_per_ps: net.injection.bandwidth().0 as f64 / 8e12 * f64::from(net.n_nodes()),
            stats: self.stats,
        })
    }

    /// The latencies that count, and since when the network was steady.
    fn measure(&self) -> (Latencies, SteadyState) {
        let stats = &self.stats;
        let slices: &[Bin] = &stats.bins;
        if self.spec.control.warmup.is_some() || !self.open_loop {
            let steady = SteadyState {
                warmup: stats.from,
                drifting: steady::drifting(slices, stats.shift, stats.from, self.end.0),
            };
            return (stats.measured.clone(), steady);
        }
        let steady = steady_state(slices, stats.shift, self.end.0);
        let mut latencies = Latencies::default();
        for (i, bin) in slices.iter().enumerate() {
            if (i as u64) << stats.shift >= steady.warmup {
                latencies.merge(&bin.born);
            }
        }
        (latencies, steady)
    }
}

/// Digest of everything that happened, the events and what was counted: the same on every engine.
fn digest(events: u64, stats: &Stats) -> u64 {
    [
        stats.injected,
        stats.packets,
        stats.messages,
        stats.latest,
        stats.measured.sum as u64,
        stats.measured.max,
    ]
    .iter()
    .fold(events, |digest, &word| mix(digest ^ word))
}

/// What all workers together have counted.
struct Counts {
    injected: u64,
    packets: u64,
    messages: u64,
}

impl Counts {
    fn new<M: RouterModel>(view: &View<'_, Fabric<M>>) -> Counts {
        let sum = |count: &dyn Fn(&Stats) -> u64| view.observers.iter().map(|stats| count(stats)).sum();
        Counts {
            injected: sum(&|stats| stats.injected),
            packets: sum(&|stats| stats.packets),
            messages: sum(&|stats| stats.messages),
        }
    }

    /// Packets that have left their node and not reached another.
    fn in_flight(&self) -> u64 {
        self.injected - self.packets
    }
}

/// Watches a run for its caller: progress, interruption, stalls.
struct Supervisor<'a, 'w> {
    net: &'a Network,
    total: Option<u64>,
    last: Time,
    watch: Watch<'w>,
    next_report: Duration,
    now: Time,
    stall_after: Time,
    progress_at: Time,
    delivered: u64,
    stalled: bool,
}

impl<'a, 'w> Supervisor<'a, 'w> {
    fn new(spec: &RunSpec, net: &'a Network, total: Option<u64>, last: Time, watch: Watch<'w>) -> Self {
        Supervisor {
            net,
            total,
            last,
            watch,
            next_report: Duration::ZERO,
            now: Time::ZERO,
            // Slow or long links are no stall: a packet that moves is there after its hops.
            stall_after: spec.control.stall_after.max(Time(
                slowest_step(net).saturating_mul(4 * u64::from(net.topology.diameter()) + 8),
            )),
            progress_at: Time::ZERO,
            delivered: 0,
            stalled: false,
        }
    }

    fn look<M: RouterModel>(&mut self, view: &View<'_, Fabric<M>>, progress: Progress) -> bool {
        let counts = Counts::new(view);
        self.now = progress.now;
        if counts.packets != self.delivered {
            self.delivered = counts.packets;
            self.progress_at = progress.now;
        } else if counts.in_flight() > 0 && progress.now.saturating_sub(self.progress_at) > self.stall_after {
            self.stalled = true;
            return false;
        }
        let cpu = cpu_time();
        if cpu < self.next_report {
            return true;
        }
        self.next_report = cpu + Duration::from_millis(200);
        let fraction = match self.total {
            Some(total) if total > 0 => counts.messages as f64 / total as f64,
            _ => progress.now.0 as f64 / self.last.0 as f64,
        };
        (self.watch)(&RunProgress {
            fraction: fraction.clamp(0.0, 1.0),
            sim_time_ns: progress.now.as_ns(),
            events: progress.events,
            delivered: counts.packets,
            in_flight: counts.in_flight(),
            hot_links: summary::hottest(self.net, &Parts::new(view.states.iter().copied()), progress.now, 3),
        })
    }
}

/// CPU time of this process.
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Largest resident memory of this process so far in bytes, 0 where the system does not say.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}
