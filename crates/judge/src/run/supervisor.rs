//! The way of a run from checkpoint to checkpoint, watched for its caller: progress, interruption, stalls.

use super::{Conduct, Keeper, LinkWindows, REPORT_EVERY, RunError, RunOrder, RunProgress, slowest_step};
use crate::process::cpu_time;
use crate::results;
use des::apart::RunPart;
use des::engine::Engine;
use des::{Progress, Stop, Time, View};
use fabric::models::AnyFabric;
use fabric::network::Network;
use fabric::spec::RunSpec;
use fabric::state::Parts;
use std::time::{Duration, Instant};

/// The caller wants the run to stop.
const STOP: u64 = 1;
/// The caller wants a checkpoint, then the run to stop.
const SAVE_AND_STOP: u64 = 2;
/// A checkpoint is due.
const SAVE: u64 = 4;
/// Packets are in flight and nothing moves.
const STALLED: u64 = 8;

/// Runs everything before `goal`, with checkpoints on the way.
pub(super) fn advance(
    engine: &mut (dyn Engine<AnyFabric> + '_),
    goal: Time,
    supervisor: &mut Supervisor<'_, '_>,
    keeper: &mut Option<Keeper<'_>>,
) -> Result<Stop, RunError> {
    loop {
        let until = keeper
            .as_ref()
            .map_or(goal, |keeper| keeper.next(engine.reached()).min(goal));
        let until = (supervisor.windows.as_ref()).map_or(until, |windows| windows.next().min(until));
        supervisor.save_at = keeper.as_ref().and_then(|keeper| keeper.save_at);
        supervisor.order = RunOrder::GoOn;
        supervisor.save = false;
        let mut stop = engine.run(until, &mut |view, progress| supervisor.look(view, progress));
        let mut wanted = stop == Stop::Until && keeper.as_ref().is_some_and(|keeper| keeper.is_due(until));
        if stop == Stop::Until
            && let Some(windows) = &mut supervisor.windows
        {
            windows.look(until, &Parts::new(engine.view().states.iter().copied()));
        }
        if stop == Stop::Until && until < goal {
            // Steps may be shorter than what an engine does before it asks.
            let progress = Progress {
                now: until,
                events: engine.outcome().events,
            };
            supervisor.look(&engine.view(), progress);
        }
        if stop == Stop::Interrupted || stop == Stop::Until && until < goal {
            // Each rank has its own clock and caller.
            let wishes = engine.agree(supervisor.wishes()).map_err(RunError::Ranks)?;
            supervisor.grant(wishes);
            if wishes != 0 {
                stop = Stop::Interrupted;
            }
        }
        if stop == Stop::Interrupted {
            wanted |= supervisor.save || supervisor.order == RunOrder::SaveAndStop;
        }
        if let Some(keeper) = keeper
            && wanted
        {
            keeper.save(engine, supervisor)?;
        }
        let goes_on = match stop {
            Stop::Until => until < goal,
            Stop::Interrupted => supervisor.save && supervisor.order == RunOrder::GoOn && !supervisor.stalled,
            _ => false,
        };
        if !goes_on {
            return Ok(stop);
        }
    }
}

/// What all workers together have counted.
pub(super) struct Counts {
    injected: u64,
    packets: u64,
    messages: u64,
    due: u64,
}

impl Counts {
    pub(super) fn new(view: &View<'_, AnyFabric>) -> Counts {
        let [injected, packets, messages, begun, arrived] = view.tally;
        Counts {
            injected,
            packets,
            messages,
            // What is under way where jobs are run apart may have set out before. None of them has a drain, which is who asks.
            due: begun.wrapping_sub(arrived),
        }
    }

    /// Messages born before the end of the measured span that have set out and not arrived.
    pub(super) fn due(&self) -> u64 {
        self.due
    }

    /// Packets that have left their node and not reached another.
    pub(super) fn in_flight(&self) -> u64 {
        self.injected - self.packets
    }
}

/// What has come of the other parts of a run, where jobs are run apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OtherParts {
    packets: u64,
    messages: u64,
    events: u64,
    /// How many have been run to the end, of how many others.
    parts: [usize; 2],
}

impl OtherParts {
    /// What these parts have come to, so many of which are done.
    pub(super) fn new<'p>(others: impl Iterator<Item = &'p RunPart>, done: usize) -> OtherParts {
        let mut beside = OtherParts::default();
        for part in others {
            let [_, packets, messages, ..] = part.tally;
            beside.packets += packets;
            beside.messages += messages;
            beside.events += part.events;
            beside.parts[1] += 1;
        }
        beside.parts[0] = done;
        beside
    }

    /// The part of the time that all parts have behind them, if one that runs has this.
    fn of_time(&self, one: f64) -> f64 {
        let [done, others] = self.parts.map(|parts| parts as f64);
        (done + one) / (others + 1.0)
    }
}

/// Watches a run for its caller: progress, interruption, stalls.
pub(super) struct Supervisor<'a, 'w> {
    pub(super) net: &'a Network,
    total: Option<u64>,
    /// About how many packets the ranks of the run will have sent in the end.
    packets: Option<f64>,
    last: Time,
    watch: Conduct<'w>,
    next_report: Duration,
    /// The links that have most to do, as they were last looked for, and when they will be again.
    hot_links: Vec<(String, f64)>,
    next_hot_links: Duration,
    pub(super) now: Time,
    stall_after: Time,
    pub(super) progress_at: Time,
    /// Packets that had set out, and that had arrived, when that was last another number.
    pub(super) moved: u64,
    pub(super) stalled: bool,
    /// What the caller wants.
    order: RunOrder,
    /// When the next checkpoint is due.
    save_at: Option<Instant>,
    /// The engine was stopped for a checkpoint.
    save: bool,
    /// CPU time at the first event of this process.
    pub(super) begun: Duration,
    /// CPU time that was spent before the checkpoint the run went on from.
    pub(super) before: Duration,
    /// What other parts of the run have come to.
    beside: OtherParts,
    /// Loads of links over time, if they are asked for.
    pub(super) windows: Option<LinkWindows>,
}

/// Looking for the links that have most to do, among all of the network, takes at most one part in so many of a run.
const HOT_LINKS_SHARE: u32 = 200;

impl<'a, 'w> Supervisor<'a, 'w> {
    pub(super) fn new(spec: &RunSpec, net: &'a Network, total: Option<u64>, last: Time, watch: Conduct<'w>) -> Self {
        Supervisor {
            order: RunOrder::GoOn,
            save_at: None,
            save: false,
            begun: Duration::ZERO,
            before: Duration::ZERO,
            beside: OtherParts::default(),
            windows: spec.observe.links_every.map(LinkWindows::new),
            net,
            total,
            packets: net.workload.ranks().map(|plans| plans.packets(net.packet).max(1.0)),
            last,
            watch,
            next_report: Duration::ZERO,
            hot_links: Vec::new(),
            next_hot_links: Duration::ZERO,
            now: Time::ZERO,
            // Slow or long links are no stall: a packet that moves is there after its hops.
            stall_after: spec.control.stall_after.max(Time(
                slowest_step(net).saturating_mul(4 * u64::from(net.topology.diameter()) + 8),
            )),
            progress_at: Time::ZERO,
            moved: 0,
            stalled: false,
        }
    }

    /// An engine begins at this time, beside other parts of the run.
    pub(super) fn begin(&mut self, now: Time, beside: OtherParts) {
        (self.now, self.progress_at, self.beside) = (now, now, beside);
        (self.stalled, self.order) = (false, RunOrder::GoOn);
    }

    /// Why the run cannot just go on, in bits.
    fn wishes(&self) -> u64 {
        let order = match self.order {
            RunOrder::GoOn => 0,
            RunOrder::Stop => STOP,
            RunOrder::SaveAndStop => SAVE_AND_STOP,
        };
        order | if self.save { SAVE } else { 0 } | if self.stalled { STALLED } else { 0 }
    }

    /// Takes over what any of the ranks wishes.
    fn grant(&mut self, wishes: u64) {
        self.order = match wishes {
            wishes if wishes & SAVE_AND_STOP != 0 => RunOrder::SaveAndStop,
            wishes if wishes & STOP != 0 => RunOrder::Stop,
            _ => RunOrder::GoOn,
        };
        self.save = wishes & SAVE != 0;
        self.stalled = wishes & STALLED != 0;
    }

    pub(super) fn look(&mut self, view: &View<'_, AnyFabric>, progress: Progress) -> bool {
        let counts = Counts::new(view);
        self.now = progress.now;
        // Packets of which none was in flight, or one has set out since, need not have arrived.
        let moved = counts.injected + counts.packets;
        if moved != self.moved || counts.in_flight() == 0 {
            self.moved = moved;
            self.progress_at = progress.now;
        } else if progress.now.saturating_sub(self.progress_at) > self.stall_after {
            self.stalled = true;
            return false;
        }
        self.save = self.save_at.is_some_and(|time| Instant::now() >= time);
        let cpu = cpu_time();
        if cpu < self.next_report {
            return !self.save;
        }
        self.next_report = cpu + REPORT_EVERY;
        let (packets, messages) = (
            counts.packets + self.beside.packets,
            counts.messages + self.beside.messages,
        );
        let done = match (self.total, self.packets) {
            (Some(total), _) if total > 0 => messages as f64 / total as f64,
            (_, Some(expected)) => (packets as f64 / expected).min(0.999),
            _ => 0.0,
        };
        // What has an end in time may never be done.
        let fraction = done.max(self.beside.of_time(progress.now.0 as f64 / self.last.0 as f64));
        if cpu >= self.next_hot_links {
            self.hot_links = results::hottest(self.net, &Parts::new(view.states.iter().copied()), progress.now, 3);
            self.next_hot_links = cpu + HOT_LINKS_SHARE * cpu_time().saturating_sub(cpu);
        }
        self.order = (self.watch)(&RunProgress {
            fraction: fraction.clamp(0.0, 1.0),
            sim_time_ns: progress.now.as_ns(),
            events: progress.events + self.beside.events,
            delivered: packets,
            in_flight: counts.in_flight(),
            hot_links: self.hot_links.clone(),
        });
        self.order == RunOrder::GoOn && !self.save
    }
}
