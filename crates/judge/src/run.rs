//! Runs a specification: network, engine, phases, self-checks, summary.

use crate::bill::{needs_loads, of_run};
use crate::check;
use crate::checkpoint::{CheckpointError, Checkpoints};
use crate::harvest::{Harvest, HarvestWanted, InFlight};
use crate::operations::RankTimes;
use crate::process::{cpu_time, peak_memory};
pub use crate::results::RunResult;
use crate::results::{Concluded, Inputs, Manner, SkippedPeriods, Summary, link_rows, link_window_rows};
use des::checkpoint::Pack;
use des::engine::Engine;
use des::optimistic::Speculation;
use des::ranks::{self, Broken, RankPlan, ResumeError};
use des::recurrence::observed;
use des::{Outcome, Stop, Time, Torn, Transport, mix};
use fabric::drift::may_drift;
use fabric::engines::{self, EngineKind, MIN_WIDTH, NetworkEngine};
use fabric::models::AnyFabric;
use fabric::network::{Class, Network};
use fabric::observe::{Span, Stats, Track};
use fabric::packet::{HORIZON, Packet};
use fabric::recurrence::may_repeat;
use fabric::spec::{self, FastForward, MessageDetail, RunSpec};
use fabric::state::Parts;
use serde::Serialize;
use std::ops::Range;
use std::time::{Duration, Instant};
use work::build_error::BuildError;
use work::mpi::Program;

mod apart;
mod divide;
mod drain;
mod estimate;
mod keeper;
mod pace;
mod partition;
mod period;
mod repeat;
mod steady;
mod supervisor;
mod windows;

use drain::Drain;
use keeper::{Keeper, SavedRun};
use repeat::Repeating;
pub use steady::first_steady;
use supervisor::{Counts, Supervisor, advance};
use windows::LinkWindows;

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
    /// The ranks that share the run cannot go on.
    #[error("ranks: {0}")]
    Ranks(String),
    /// Another rank of the run, mostly the first, has the error.
    #[error("another rank says why")]
    Elsewhere,
    /// A checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
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

/// CPU time between two reports of a run, at the least.
pub const REPORT_EVERY: Duration = Duration::from_millis(200);

/// Decides whether a run goes on; called every [`REPORT_EVERY`] or so.
pub type RunWatch<'a> = &'a mut dyn FnMut(&RunProgress) -> bool;

/// What is to become of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    /// It goes on.
    GoOn,
    /// It stops.
    Stop,
    /// It writes a checkpoint, if it has a file for one, and stops.
    SaveAndStop,
}

/// As [`RunWatch`], with a choice.
pub type Conduct<'a> = &'a mut dyn FnMut(&RunProgress) -> RunOrder;

/// Runs a specification to its end, on one thread unless it asks for more.
pub fn run(spec: &RunSpec, watch: RunWatch<'_>) -> Result<RunResult, RunError> {
    run_with(spec, None, &mut |progress| match watch(progress) {
        true => RunOrder::GoOn,
        false => RunOrder::Stop,
    })
}

/// Runs a specification to its end, from its checkpoint if there is one and with checkpoints on the way. The file of the last one
/// stays: it is the caller's to remove once the result is safe.
pub fn run_with(spec: &RunSpec, checkpoints: Option<&Checkpoints>, watch: Conduct<'_>) -> Result<RunResult, RunError> {
    let means = Means {
        checkpoints,
        ..Means::default()
    };
    let result = run_by(spec, means, watch)?;
    Ok(result.expect("without ranks the result is here"))
}

/// What a run may use besides its specification; nothing of it changes the result.
#[derive(Default)]
pub struct Means<'a> {
    /// Threads for the run to take if it leaves their number open, with ranks for each of them to take; 0 is 1.
    pub threads: u16,
    /// Where checkpoints go. With ranks all have the same; rank 0 reads and writes the file.
    pub checkpoints: Option<&'a Checkpoints>,
    /// The connection to the other ranks of the run.
    pub ranks: Option<&'a mut dyn Transport>,
}

/// Runs a specification to its end by the means given. With ranks, all of them call this alike, and only rank 0 has the result.
pub fn run_by(spec: &RunSpec, means: Means<'_>, watch: Conduct<'_>) -> Result<Option<RunResult>, RunError> {
    let mut spec = spec.clone();
    if spec.control.workers == 0 {
        spec.control.workers = means.threads.max(1);
    }
    let spec = &spec;
    let begun = cpu_time();
    let first = means.ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0);
    let keeper = means
        .checkpoints
        .map(|checkpoints| Keeper::new(spec, checkpoints, first));
    let mut ranks = means.ranks;
    let mut net = Network::build_apart(spec, |topology| partition::blocks(spec, topology, &mut ranks))?;
    let helpers = Helpers { begun, keeper, ranks };
    check::processes(spec, &net, helpers.ranks.is_some(), helpers.keeper.is_some())?;
    check::windows(spec, helpers.ranks.is_some(), helpers.keeper.is_some())?;
    check::rounding(spec, &net)?;
    check::deadlock(spec, &net)?;
    if !net.routing.asks_for_cables() && net.changes.is_none() {
        // The network's own tables have those of this process.
        net.plant.topology.forget_cables();
    }
    drive(spec, net, helpers, watch)
}

/// Chooses the engine; the result does not depend on it. It begins with what another has saved, if that is given.
fn engine<'w>(
    spec: &RunSpec,
    world: &'w AnyFabric,
    stats: Stats,
    saved: Option<&[u8]>,
) -> Result<(NetworkEngine<'w>, &'static str), Torn> {
    let asked = match spec.control.engine {
        // Below that no window can be opened: total order is the only loop that fits.
        _ if world.net().lookahead.0 < MIN_WIDTH => spec::Engine::Reference,
        asked => asked,
    };
    let workers = match alone(spec, world.net()) {
        Some(_) => 1,
        None => u32::from(spec.control.workers),
    };
    let kind = match asked {
        spec::Engine::Reference => EngineKind::Reference,
        spec::Engine::RollbackCheck => EngineKind::RollbackCheck,
        spec::Engine::Optimistic => EngineKind::Optimistic {
            blocks: 8 * workers.max(1),
            workers,
            speculation: Speculation::default(),
        },
        spec::Engine::Conservative | spec::Engine::Auto if workers > 1 => EngineKind::Window {
            blocks: 8 * workers,
            workers,
            adaptive: asked == spec::Engine::Auto,
        },
        spec::Engine::Sequential | spec::Engine::Conservative | spec::Engine::Auto => EngineKind::SEQUENTIAL,
    };
    let engine = match saved {
        None => kind.begin(world, stats),
        Some(saved) => kind.restore(world, stats, saved)?,
    };
    let name = match kind {
        EngineKind::Reference => "reference",
        EngineKind::RollbackCheck => "rollback-check",
        EngineKind::Optimistic { .. } => "optimistic",
        EngineKind::Window { .. } if engine.teamwork().is_some() => "conservative",
        EngineKind::Window { .. } => "sequential",
    };
    Ok((engine, name))
}

/// Why a run that leaves the engine open takes one worker where more are allowed, if that is clear before the first event.
fn alone(spec: &RunSpec, net: &Network) -> Option<String> {
    let workers = spec.control.workers;
    if workers < 2 || spec.control.engine != spec::Engine::Auto {
        return None;
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let reason = if net.lookahead.0 < MIN_WIDTH {
        "links and routers without delay leave no window in which workers could work side by side".to_owned()
    } else if cores == 1 {
        "this machine gives the process one core".to_owned()
    } else if net.n_routers() < 2 * u32::from(workers) {
        format!(
            "{} routers are too few to share out to {workers} workers",
            net.n_routers()
        )
    } else {
        return None;
    };
    Some(format!("one worker ran: {reason}"))
}

/// Rank 0 has something to go on from.
const SAVED: u64 = 1;
/// Rank 0 has, and cannot use it.
const REFUSED: u64 = 2;
/// This rank keeps checkpoints.
const KEEPS: u64 = 4;
/// This rank does not.
const KEEPS_NONE: u64 = 8;

/// The engine of a rank; all ranks begin with what the first has read from its checkpoint.
fn on_ranks<'e>(
    spec: &RunSpec,
    world: &'e AnyFabric,
    stats: Stats,
    ranks: &'e mut dyn Transport,
    keeper: &Option<Keeper<'_>>,
    saved: Result<Option<SavedRun>, CheckpointError>,
) -> Result<PlacedEngine<'e>, RunError> {
    match spec.control.engine {
        spec::Engine::Auto | spec::Engine::Conservative | spec::Engine::Optimistic => {}
        spec::Engine::Sequential | spec::Engine::Reference | spec::Engine::RollbackCheck => {
            let reason = "this engine runs in one process, ranks cannot share it";
            let hint = "take auto, conservative or optimistic, or run without mpirun";
            return Err(BuildError::field("run.engine", reason, Some(hint)).into());
        }
    }
    if world.net().lookahead.0 < MIN_WIDTH {
        let reason = "links and routers without delay leave no window in which ranks could work side by side";
        return Err(BuildError::field("link.latency", reason, Some("run without mpirun")).into());
    }
    let broken = |Broken(reason)| RunError::Ranks(reason);
    let keeps = if keeper.is_some() { KEEPS } else { KEEPS_NONE };
    let has = match &saved {
        Ok(None) => 0,
        Ok(Some(_)) => SAVED,
        Err(_) => REFUSED,
    };
    let all = ranks::agree(ranks, keeps | has).map_err(broken)?;
    let saved = saved?;
    if all & REFUSED != 0 {
        return Err(RunError::Elsewhere);
    }
    if all & KEEPS != 0 && all & KEEPS_NONE != 0 {
        return Err(RunError::Ranks("some ranks keep checkpoints and some do not".into()));
    }
    let ahead = spec.control.engine == spec::Engine::Optimistic;
    let plan = RankPlan {
        workers: spec.control.workers.into(),
        speculation: ahead.then(Speculation::default),
    };
    let first = ranks.rank() == 0;
    let saved = (all & SAVED != 0).then(|| saved.unwrap_or_default().whole);
    let engine = engines::on_ranks(world, stats, ranks, plan, saved.as_deref()).map_err(|refused| match refused {
        ResumeError::Torn(torn) if first => Keeper::refuse(keeper, torn).into(),
        ResumeError::Torn(_) => RunError::Elsewhere,
        ResumeError::Broken(reason) => broken(reason),
    })?;
    let name = if ahead { "optimistic" } else { "conservative" };
    Ok((engine, name, Vec::new()))
}

/// [`Means`] as [`drive`] needs them.
struct Helpers<'a> {
    /// CPU time when the run began.
    begun: Duration,
    keeper: Option<Keeper<'a>>,
    ranks: Option<&'a mut dyn Transport>,
}

fn drive(
    spec: &RunSpec,
    net: Network,
    helpers: Helpers<'_>,
    watch: Conduct<'_>,
) -> Result<Option<RunResult>, RunError> {
    let Helpers {
        begun,
        mut keeper,
        ranks,
    } = helpers;
    let mut ranks = ranks.filter(|ranks| ranks.size() > 1);
    let workload = &net.workload;
    let Periods { span, end, last } = Periods::of(spec, &net)?;
    let open_loop = workload.endless();
    let total = workload.total_messages();
    let stats = unseen(spec, &net, span);
    let why_all = why_all(spec, &net, ranks.is_some());
    let world = AnyFabric::new(spec, net.measured_in(span));
    let net = world.net();
    let mut supervisor = Supervisor::new(spec, net, total, if open_loop { last } else { end }, watch);
    let saved = keeper.as_mut().map_or(Ok(None), |keeper| keeper.open(&mut supervisor));
    let unseen = stats.clone();
    let (mut engine, engine_name, parts) = match &mut ranks {
        Some(ranks) => on_ranks(spec, &world, stats, &mut **ranks, &keeper, saved)?,
        None => at_its_place(spec, &world, stats, saved?).map_err(|torn| Keeper::refuse(&keeper, torn))?,
    };
    supervisor.now = engine.reached();
    let built = cpu_time();
    let begun_wall = Instant::now();
    supervisor.begun = built;
    begin_programs(net);
    let drain = Drain::new(end, last);
    let mut until = drain.first(engine.reached());
    let (mut stop, left_out);
    (engine, stop, left_out) = match why_all {
        Some(_) => {
            let stop = advance(&mut *engine, until, &mut supervisor, &mut keeper)?;
            (engine, stop, SkippedPeriods::default())
        }
        None => {
            let restore = |saved: &[u8], notes: bool| restored(spec, &world, &unseen, (saved, notes));
            let repeating = Repeating {
                world: &world,
                until,
                restore: &restore,
                unseen: &unseen,
                precision: spec.control.precision,
            };
            repeating.shorten(engine, parts, &mut supervisor, &mut keeper)?
        }
    };
    while open_loop
        && stop == Stop::Until
        && let Some(next) = drain.next(until, &mut *engine, spec, net)?
    {
        until = next;
        stop = advance(&mut *engine, until, &mut supervisor, &mut keeper)?;
    }
    let ran = cpu_time() + supervisor.before;
    let stalled = supervisor.stalled;
    ended_well(stop, &supervisor, &*engine)?;
    let mut manner = Manner {
        teamwork: engine.teamwork(),
        speculated: engine.speculated(),
        left_out,
        alone: alone(spec, net).filter(|_| engine.teamwork().is_none()),
        ..Manner::default()
    };
    let mut in_flight = InFlight::default();
    engine.pending(&mut |event: &Packet| in_flight.count(event, net));
    let digests = engine.digests();
    let cut = if stop == Stop::Until { until } else { Time::MAX };
    let waits = stalled || stop == Stop::Idle && Counts::new(&engine.view()).in_flight() > 0;
    let wanted = wanted(spec, waits, cut.0.min(span.to));
    let (states, stats, outcome) = engine.into_parts();
    let mut harvest = Harvest::reap(&world, &Parts::new(&states), stats, in_flight, &digests, wanted);
    drop(states);
    let windows = supervisor.windows.as_ref();
    harvest.windows = windows.map_or(Vec::new(), |windows| windows.told(net));
    harvest.cpu = ran - built;
    let Some(harvest) = together(harvest, net, ranks)? else {
        return Ok(None);
    };
    manner.wall = begun_wall.elapsed();
    let run = Finished {
        spec,
        net,
        harvest,
        outcome,
        stop,
        stalled,
        total,
        open_loop,
        end,
        manner,
        windows: windows.map(LinkWindows::shape),
    };
    run.conclude(engine_name, built - begun).map(Some)
}

/// What is recorded of a run, before the first event.
fn unseen(spec: &RunSpec, net: &Network, span: Span) -> Stats {
    let workload = &net.workload;
    let senders = if workload.has_pairs() { net.n_nodes() } else { 0 };
    let (job_of, jobs) = workload.jobs_of_nodes();
    let full = spec.observe.messages == MessageDetail::Full;
    let mut stats = Stats::new(span, senders, full, job_of, (jobs, net.n_nodes()));
    // Where the warm-up is given, what is measured has its own record and slices need means only.
    stats.light_bins = spec.control.warmup.is_some() || !workload.endless();
    stats
}

/// Why all periods of a run are run; `None` if those that repeat are left out: of runs that are alone and record no more than sums.
fn why_all(spec: &RunSpec, net: &Network, shared: bool) -> Option<&'static str> {
    let in_time = spec.observe.over_time();
    match spec.control.fast_forward {
        FastForward::Off => Some("it is switched off"),
        FastForward::Exact | FastForward::Statistical if shared => Some("ranks share the run"),
        FastForward::Exact | FastForward::Statistical if in_time => Some("what happens is recorded over time"),
        FastForward::Exact => may_repeat(net),
        FastForward::Statistical => may_drift(net),
    }
}

/// An engine with its name, and the parts into which its run was divided when it was saved.
type PlacedEngine<'w> = (NetworkEngine<'w>, &'static str, Vec<Vec<u8>>);

/// The engine of a run at its start, or as a checkpoint has it, which may have been written when all was to be noted. Runs that leave nothing out go
/// on from where they were divided.
fn at_its_place<'w>(
    spec: &RunSpec,
    world: &'w AnyFabric,
    stats: Stats,
    saved: Option<SavedRun>,
) -> Result<PlacedEngine<'w>, Torn> {
    let notes_nothing = |saved: &Vec<u8>| observed(world, saved, Stats::note_nothing);
    let saved = match saved {
        Some(SavedRun { whole, parts }) if why_all(spec, world.net(), false).is_none() => SavedRun {
            whole: notes_nothing(&whole)?,
            parts: parts.iter().map(notes_nothing).collect::<Result<_, _>>()?,
        },
        Some(SavedRun { whole, .. }) => SavedRun {
            whole,
            parts: Vec::new(),
        },
        None => {
            let (engine, name) = engine(spec, world, stats, None)?;
            return Ok((engine, name, Vec::new()));
        }
    };
    let (engine, name) = engine(spec, world, stats, Some(&saved.whole))?;
    Ok((engine, name, saved.parts))
}

/// The engine of a run as it was saved, which notes what it is shown from there on, or does not.
fn restored<'w>(
    spec: &RunSpec,
    world: &'w AnyFabric,
    unseen: &Stats,
    (saved, notes): (&[u8], bool),
) -> Result<NetworkEngine<'w>, RunError> {
    let mut unseen = unseen.clone();
    if notes {
        unseen.note_all();
    }
    match engine(spec, world, unseen, Some(saved)) {
        Ok((engine, _)) => Ok(engine),
        Err(torn) => Err(RunError::Engine(torn.0)),
    }
}

/// The error of a run that has broken down or was interrupted.
fn ended_well(
    stop: Stop,
    supervisor: &Supervisor<'_, '_>,
    engine: &(dyn Engine<AnyFabric> + '_),
) -> Result<(), RunError> {
    match stop {
        Stop::Broken(reason) => Err(match engine.trouble() {
            Some(trouble) => RunError::Ranks(trouble.into()),
            None => RunError::Engine(reason),
        }),
        Stop::Interrupted if !supervisor.stalled => {
            live_programs(supervisor.net).for_each(|program| program.give_up());
            Err(RunError::Interrupted { at: supervisor.now })
        }
        _ => Ok(()),
    }
}

/// What is wanted of a run in the end: all ranks stand at the same, and what one wants all want.
fn wanted(spec: &RunSpec, waits: bool, cut: u64) -> HarvestWanted {
    HarvestWanted {
        links: spec.observe.links || spec.observe.links_every.is_some() || needs_loads(spec),
        waits,
        unsent: (spec.observe.messages == MessageDetail::Full).then_some(cut),
    }
}

/// Has the processes of live programs started.
fn begin_programs(net: &Network) {
    for (number, program) in (0..).zip(live_programs(net)) {
        program.begin(number);
    }
}

/// The programs whose processes run.
fn live_programs(net: &Network) -> impl Iterator<Item = &dyn Program> {
    let plans = net
        .workload
        .ranks()
        .into_iter()
        .flat_map(|ranks| ranks.jobs.iter().flatten());
    let phases = plans.filter(|plan| plan.is_live).flat_map(|plan| &plan.phases);
    phases.map(|phase| &*phase.program)
}

/// The periods of a run: a warm-up, what is measured, and the time that measured messages have to arrive.
struct Periods {
    /// What is measured.
    span: Span,
    /// The end of the run, but for messages that have to arrive.
    end: Time,
    /// When those must be there.
    last: Time,
}

impl Periods {
    fn of(spec: &RunSpec, net: &Network) -> Result<Periods, RunError> {
        let horizon = horizon(spec, net)?;
        let end = spec.control.end.unwrap_or(horizon);
        let open_loop = net.workload.endless();
        let drain = match (open_loop, spec.control.drain) {
            (false, _) => Time::ZERO,
            (true, Some(drain)) => drain,
            (true, None) => end,
        };
        let last = Time(end.0.saturating_add(drain.0).min(horizon.0));
        let span = Span {
            from: spec.control.warmup.unwrap_or(Time::ZERO).0,
            to: if open_loop { end.0 } else { u64::MAX },
            cut: last.0,
        };
        Ok(Periods { span, end, last })
    }
}

/// The first rank takes up to so many bytes of others at a time, or what one of them has come to.
const AT_A_TIME: u64 = 32 << 20;

/// The harvest of the whole run: on the first of the ranks that share it, nothing on the others; called by all ranks alike.
fn together(
    mut harvest: Harvest,
    net: &Network,
    ranks: Option<&mut dyn Transport>,
) -> Result<Option<Harvest>, RunError> {
    let Some(ranks) = ranks else {
        return Ok(Some(harvest));
    };
    let broken = |Broken(reason)| RunError::Ranks(reason);
    let torn = |torn: Torn| RunError::Ranks(torn.to_string());
    let Range { start, end } = harvest.apart.places;
    let told = ranks::say(ranks, [start.into(), end.into()]).map_err(broken)?;
    let parts: Vec<Range<u32>> = told.iter().map(|[from, to]| *from as u32..*to as u32).collect();
    let owed = ranks.exchange(harvest.apart.for_others(&parts)).map_err(broken)?;
    harvest.join_credits(net, &owed).map_err(torn)?;
    let first = ranks.rank() == 0;
    let mut bytes = Vec::new();
    if first {
        harvest.make_room(net);
    } else {
        harvest.peak_memory = peak_memory();
        std::mem::take(&mut harvest).pack(&mut bytes);
    }
    let mut failed = None;
    ranks::bring_in_turn(ranks, bytes, AT_A_TIME, |bytes| {
        failed = failed.take().or(add_part(&mut harvest, bytes).err());
    })
    .map_err(broken)?;
    if let Some(failed) = failed {
        return Err(failed);
    }
    harvest.put_in_order();
    Ok(first.then_some(harvest))
}

/// Adds what another rank has brought to what the first has.
fn add_part(harvest: &mut Harvest, bytes: Vec<u8>) -> Result<(), RunError> {
    let part = Harvest::unpack(&mut &bytes[..]).map_err(|torn| RunError::Ranks(torn.to_string()))?;
    drop(bytes);
    harvest.merge(part);
    Ok(())
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
    harvest: Harvest,
    outcome: Outcome,
    stop: Stop,
    stalled: bool,
    total: Option<u64>,
    open_loop: bool,
    end: Time,
    manner: Manner,
    /// Length (ps) of windows of links, and how many have ended, if they were asked for.
    windows: Option<(u64, u64)>,
}

impl Finished<'_> {
    fn conclude(mut self, engine: &'static str, build: Duration) -> Result<RunResult, RunError> {
        let bill = of_run(self.spec)?;
        self.harvest.stats.look_back();
        let Finished {
            spec,
            net,
            harvest,
            stop,
            ..
        } = &self;
        let verdict = check::verdict(&check::RunFacts {
            net,
            harvest,
            idle: *stop == Stop::Idle,
            stalled: self.stalled,
            until_done: spec.control.end.is_none(),
            expected: if spec.control.end.is_none() || *stop == Stop::Idle {
                self.total
            } else {
                None
            },
        });
        let ends = harvest.ranks.iter().fold(0, |digest, row| mix(digest ^ row.finished));
        let sums = harvest
            .memory
            .iter()
            .map(|row| row.cores.finished ^ mix(row.cores.latency));
        let ends = sums.fold(ends, |digest, sum| mix(digest ^ sum));
        let digest = digest(harvest.history() ^ ends, &harvest.stats);
        let (whole, first) = self.measured();
        let sample = whole.sample(first, self.harvest.stats.span, self.harvest.stats.shift);
        let Finished { harvest, .. } = &self;
        let summary = Summary::of(&Concluded::new(Inputs {
            spec,
            net,
            harvest,
            verdict,
            whole: &whole,
            sample: &sample,
            first,
            open_loop: self.open_loop,
            end: self.end,
            outcome: self.outcome,
            manner: &self.manner,
            engine,
            digest,
            build,
            bill,
        }));
        if !summary.verdict.ok {
            return Err(RunError::Check(Box::new(summary)));
        }
        let stats = &mut self.harvest.stats;
        let (operations, waits) = (
            std::mem::take(&mut stats.operations),
            std::mem::take(&mut stats.rank_waits),
        );
        let stays = std::mem::take(&mut stats.stays);
        let rank_times = (self.spec.observe.operations)
            .then(|| RankTimes::new(self.net, operations, &waits, &stays, &self.harvest.ranks));
        let loads = std::mem::take(&mut self.harvest.loads);
        let windows = std::mem::take(&mut self.harvest.windows);
        let link_windows = (self.windows).map(|shape| link_window_rows(windows, &loads, shape, summary.sim_time_ns));
        let links = link_rows(
            if self.spec.observe.links { loads } else { Vec::new() },
            summary.sim_time_ns,
        );
        Ok(RunResult {
            summary,
            link_windows,
            messages: self.harvest.stats.messages(&self.harvest.unsent),
            links,
            sample,
            timeline: self.spec.observe.timeline,
            rank_rows: self.spec.observe.ranks,
            rank_times,
            bytes_per_ps: self.net.injection_rate() * f64::from(self.net.n_nodes()),
            stats: self.harvest.stats,
            ranks: self.harvest.ranks,
            memory: self.harvest.memory,
        })
    }

    /// The messages of all jobs, and the first of the slices whose messages count where that was found by measurement.
    fn measured(&self) -> (Track, Option<usize>) {
        let stats = &self.harvest.stats;
        let whole = stats.whole();
        let given = self.spec.control.warmup.is_some() || !self.open_loop;
        let first = (!given).then(|| first_steady(&whole.bins, stats.shift, self.end.0));
        (whole, first)
    }
}

/// Digest of everything that happened, the events and what was counted: the same on every engine.
fn digest(events: u64, stats: &Stats) -> u64 {
    let lost = stats.lost();
    let events = match lost.first {
        None => events,
        Some(first) => [lost.packets, lost.bytes, lost.messages, first.time]
            .iter()
            .fold(events, |digest, &word| mix(digest ^ word)),
    };
    [
        stats.injected,
        stats.packets,
        stats.messages,
        stats.latest,
        stats
            .tracks
            .iter()
            .fold(0u64, |sum, track| sum.wrapping_add(track.measured.sum as u64)),
        stats.tracks.iter().map(|track| track.measured.max).max().unwrap_or(0),
    ]
    .iter()
    .fold(events, |digest, &word| mix(digest ^ word))
}
