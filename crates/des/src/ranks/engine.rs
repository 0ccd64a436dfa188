//! The engine of one rank: what it decides it decides from what all ranks say, so that all decide alike.

use super::hub::Abroad;
use super::shares::Shares;
use super::team::{DealtBlock, Team};
use super::{Broken, ResumeError, Transport, agree, bring, say};
use crate::block::{Block, by_name};
use crate::checkpoint::{self, OpenedCheckpoint};
use crate::crew::{Bounds, Pause};
use crate::engine::{Carried, Engine, Gathered, Outcome, Progress, Stop, Teamwork, View, Watch, add};
use crate::mail::NEVER;
use crate::optimistic::{Speculated, Speculation};
use crate::pack::Torn;
use crate::ring::WindowGrid;
use crate::time::Time;
use crate::window::windows_together;
use crate::world::{Observe, Tally, World};
use std::convert::Infallible;
use std::ops::Range;
use std::time::Duration;

/// Windows after which the watcher is asked at the latest.
const WATCH_WINDOWS: u64 = 1 << 12;
/// Events of all ranks together after which the watcher is asked, per worker.
const WATCH_EVENTS: u64 = 1 << 18;

/// How each rank runs its part; all have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPlan {
    /// Workers of each rank on as many threads, the first of which calls the transport. Blocks limit the workers of all ranks to 64.
    pub workers: u32,
    /// How far they may run ahead, if they may; the memory kept is that of each rank.
    pub speculation: Option<Speculation>,
}

impl RankPlan {
    /// So many workers, none of which runs ahead.
    pub fn conservative(workers: u32) -> Self {
        RankPlan {
            workers,
            speculation: None,
        }
    }
}

/// Runs the LPs of one rank.
pub struct RankEngine<'w, 't, W: World> {
    world: &'w W,
    transport: &'t mut dyn Transport,
    shares: Shares,
    /// Windows from one meeting to the next.
    together: u64,
    team: Team<W>,
    outcome: Outcome,
    busy: Duration,
    wait: Duration,
    carried: Carried,
    failure: Option<Broken>,
    reached: Time,
    /// [`Observe::tally`] of all ranks when the watcher was asked last, or at the end of a run.
    tally: Tally,
}

impl<'w, 't, W: World> RankEngine<'w, 't, W> {
    /// The engine of the transport's rank.
    pub fn new(world: &'w W, observer: W::Observer, transport: &'t mut dyn Transport, plan: RankPlan) -> Self {
        let sharing = Shares::new(world, transport.size(), plan.workers as usize);
        let block = |lps| Ok::<_, Infallible>(Block::new(world, lps));
        let Ok(engine) = Self::build(world, observer, transport, (sharing, plan), Time::ZERO, block);
        engine
    }

    /// [`RankEngine::new`] that goes on from what any engine has saved; `observer` is one that has seen nothing. All ranks call this alike,
    /// the bytes are those of rank 0.
    ///
    /// # Errors
    /// The bytes are not those of a run of this world, or the connection is broken: all ranks fail then.
    pub fn restore(
        world: &'w W,
        observer: W::Observer,
        transport: &'t mut dyn Transport,
        plan: RankPlan,
        saved: &[u8],
    ) -> Result<Self, ResumeError> {
        let sharing = Shares::new(world, transport.size(), plan.workers as usize);
        let mut out = vec![Vec::new(); transport.size()];
        let mut torn = None;
        if transport.rank() == 0 {
            let ranks: Vec<Range<u32>> = (0..out.len()).map(|rank| sharing.lps_of(rank)).collect();
            match checkpoint::split(world, &observer, saved, &ranks) {
                Ok(parts) => out = parts,
                Err(reason) => torn = Some(reason),
            }
        }
        let part = transport.exchange(out).map_err(ResumeError::Broken)?.swap_remove(0);
        let torn = torn.unwrap_or(Torn("another rank cannot read its part"));
        let opened = OpenedCheckpoint::read(world, &part);
        let blocks = opened.as_ref().map_err(|_| torn).and_then(|opened| {
            let blocks = sharing.blocks_of(transport.rank());
            blocks
                .map(|block| Block::restore(world, sharing.layout.lps(block), opened))
                .collect::<Result<Vec<_>, _>>()
        });
        let failed = u64::from(blocks.is_err());
        if agree(transport, failed).map_err(ResumeError::Broken)? != 0 {
            return Err(ResumeError::Torn(blocks.err().unwrap_or(torn)));
        }
        let (opened, blocks) = (opened.map_err(ResumeError::Torn)?, blocks.map_err(ResumeError::Torn)?);
        let mut blocks = blocks.into_iter();
        let block = |_| blocks.next().ok_or(ResumeError::Torn(torn));
        let first = transport.rank() == 0;
        let mut engine = Self::build(world, observer, transport, (sharing, plan), opened.time, block)?;
        engine.outcome = opened.outcome;
        if first {
            *engine.team.observer() = opened.observer;
        }
        Ok(engine)
    }

    /// An engine at `time` with blocks and their events from `block`.
    fn build<E>(
        world: &'w W,
        observer: W::Observer,
        transport: &'t mut dyn Transport,
        (sharing, plan): (Shares, RankPlan),
        time: Time,
        mut block: impl FnMut(Range<u32>) -> Result<(Block<W::State>, Vec<W::Event>), E>,
    ) -> Result<Self, E> {
        let grid = WindowGrid::at(world.lookahead(), time);
        let mut shares: Vec<Vec<DealtBlock<W>>> = Vec::new();
        for worker in 0..sharing.workers {
            let mut share = Vec::new();
            for number in sharing.blocks(transport.rank(), worker) {
                let (block, first) = block(sharing.layout.lps(number))?;
                share.push(DealtBlock { number, block, first });
            }
            shares.push(share);
        }
        // Where there are not enough blocks for all some workers would only wait; one stays for the meetings.
        shares.retain(|share| !share.is_empty());
        if shares.is_empty() {
            shares.push(Vec::new());
        }
        Ok(RankEngine {
            world,
            team: Team::new(world, observer, grid, &sharing, shares, plan.speculation),
            transport,
            together: windows_together(world, &sharing.layout, sharing.n_workers()),
            shares: sharing,
            outcome: Outcome::default(),
            busy: Duration::ZERO,
            wait: Duration::ZERO,
            carried: Carried::default(),
            failure: None,
            reached: time,
            tally: [0; 5],
        })
    }

    /// The numbers of the LPs of this rank, with those between them that are not in use.
    pub fn lps(&self) -> Range<u32> {
        self.shares.lps_of(self.transport.rank())
    }

    fn blocks(&self) -> impl Iterator<Item = &Block<W::State>> {
        self.team.members().into_iter().flat_map(|member| member.blocks())
    }

    /// The sums over all ranks of the counts of their observers.
    fn sum_tallies(&mut self) -> Result<(), Broken> {
        let mut own = [0; 5];
        for member in self.team.members() {
            add(&mut own, member.observer().tally());
        }
        self.tally = [0; 5];
        for counts in say(self.transport, own)? {
            add(&mut self.tally, counts);
        }
        Ok(())
    }

    /// The parts of all ranks as one run: on rank 0, nothing on the others.
    fn collect(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let saved = self.save();
        let came = bring(self.transport, saved)?;
        if self.transport.rank() != 0 {
            return Ok(None);
        }
        let parts: Vec<(Range<u32>, &[u8])> = came
            .iter()
            .enumerate()
            .map(|(rank, saved)| (self.shares.lps_of(rank), &saved[..]))
            .collect();
        let joined = checkpoint::join(self.world, &parts).map_err(|Torn(reason)| Broken::torn(reason))?;
        Ok(Some(joined))
    }

    fn run_windows(&mut self, until: Time, watch: Watch<'_, W>) -> Result<Stop, Broken> {
        loop {
            let members = self.team.members();
            let width = members[0].grid().width;
            let next = members.iter().filter_map(|member| member.next_window()).min();
            let all = say(self.transport, [next.unwrap_or(NEVER)])?;
            let index = all.iter().map(|[next]| *next).min().unwrap_or(NEVER);
            if index == NEVER {
                return Ok(Stop::Idle);
            }
            if index.saturating_mul(width) >= until.0 {
                return Ok(Stop::Until);
            }
            let bounds = Bounds {
                index,
                until,
                events: WATCH_EVENTS * self.shares.n_workers() as u64,
                windows: WATCH_WINDOWS,
                together: self.together,
            };
            let mut abroad = Abroad::new(&mut *self.transport, &self.shares);
            let burst = self.team.run(self.world, bounds, &mut abroad);
            self.busy += abroad.busy;
            self.wait += abroad.wait;
            self.carried.add(abroad.carried);
            if let Some(broken) = abroad.failure {
                return Err(broken);
            }
            self.outcome.events += burst.events;
            self.outcome.windows += burst.windows;
            match burst.pause {
                Pause::Idle | Pause::Until => {}
                Pause::Broken => {
                    let broken = self.team.members().iter().find_map(|member| member.broken());
                    let elsewhere = "a model broke a rule of the engine on another rank";
                    return Ok(Stop::Broken(broken.unwrap_or(elsewhere)));
                }
                Pause::Enough => {
                    self.reached = Time(self.team.members()[0].end());
                    self.sum_tallies()?;
                    let progress = Progress {
                        now: self.reached,
                        events: self.outcome.events,
                    };
                    let stop = !watch(&self.view(), progress);
                    if agree(self.transport, u64::from(stop))? != 0 {
                        return Ok(Stop::Interrupted);
                    }
                }
            }
            if burst.pause == Pause::Until {
                return Ok(Stop::Until);
            }
        }
    }
}

impl<W: World> Engine<W> for RankEngine<'_, '_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        let stop = self.run_windows(until, watch);
        match stop.and_then(|stop| self.sum_tallies().map(|()| stop)) {
            Ok(stop) => {
                if matches!(stop, Stop::Until | Stop::Idle) {
                    self.reached = self.reached.max(until);
                }
                stop
            }
            Err(broken) => {
                self.failure = Some(broken);
                Stop::Broken("the connection to another rank is broken")
            }
        }
    }

    fn view(&self) -> View<'_, W> {
        View {
            states: self.blocks().map(|block| &block.state).collect(),
            observers: self.team.members().iter().map(|member| member.observer()).collect(),
            tally: self.tally,
        }
    }

    /// Of the LPs of this rank.
    fn digests(&self) -> Vec<u64> {
        by_name(self.world, self.blocks())
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn reached(&self) -> Time {
        self.reached
    }

    /// The LPs of this rank; [`Engine::gather`] makes a whole run of those of all ranks.
    fn save(&self) -> Vec<u8> {
        checkpoint::write(self.world, self, self.blocks().map(Block::part))
    }

    fn teamwork(&self) -> Option<Teamwork> {
        let waiting = self.wait.as_secs_f64() / (self.wait + self.busy).as_secs_f64().max(1e-9);
        Some(Teamwork {
            workers: self.shares.n_running(),
            events_shared: self.outcome.events,
            windows_shared: self.outcome.windows,
            wall_shared: self.wait + self.busy,
            waiting,
            given_up: None,
            thin: None,
            together: self.together,
            carried: Some(self.carried),
        })
    }

    fn gather(&mut self) -> Result<Gathered, String> {
        match self.collect() {
            Ok(Some(saved)) => Ok(Gathered::Whole(saved)),
            Ok(None) => Ok(Gathered::Elsewhere),
            Err(Broken(reason)) => Err(reason),
        }
    }

    fn agree(&mut self, word: u64) -> Result<u64, String> {
        agree(self.transport, word).map_err(|Broken(reason)| reason)
    }

    fn total(&mut self, count: u64) -> Result<u64, String> {
        let all = say(self.transport, [count]).map_err(|Broken(reason)| reason)?;
        Ok(all.iter().map(|[count]| count).sum())
    }

    fn bring(&mut self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, String> {
        bring(self.transport, bytes).map_err(|Broken(reason)| reason)
    }

    fn trouble(&self) -> Option<&str> {
        self.failure.as_ref().map(|Broken(reason)| reason.as_str())
    }

    fn speculated(&self) -> Option<Speculated> {
        self.team.speculated()
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        for member in self.team.members() {
            member.pending(show);
        }
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        let (states, observer) = self.team.into_parts();
        (states, observer, self.outcome)
    }
}
