//! Several processes: each rank runs its own blocks window by window, then all exchange what they have sent to each other.
//!
//! A rank keeps the state and the events of its own LPs only. How bytes travel is the transport's business (MPI in practice); the loop is
//! that of [`crate::window`], with one exchange in place of the barrier. What a rank decides it decides from the heads of all ranks, so that
//! all decide alike.

use crate::block::Block;
use crate::checkpoint::{self, Part, Torn};
use crate::engine::{Engine, Gathered, Outcome, Progress, Stop, Teamwork, View, Watch, add};
use crate::mail::NEVER;
use crate::ring::Grid;
use crate::time::Time;
use crate::window::WindowEngine;
use crate::worker::{MAX_BLOCKS, Worker};
use crate::world::{Observe, World};
use std::ops::Range;
use std::time::{Duration, Instant};

/// The connection of a rank to all others is broken: the run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

/// Carries bytes between the ranks of a run.
pub trait Transport {
    /// Number of this rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Sends `out[r]` to every rank `r` and returns what each of them has sent here; called by all ranks alike. What is for the own
    /// rank comes back as it is.
    fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken>;
}

/// What every rank tells every other after a window, in front of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Head {
    /// Next window with something to do here or in what goes out with this head.
    next: u64,
    /// Events handled in the window.
    handled: u64,
    /// A model broke a rule, or the watcher wants to stop.
    stop: u64,
    /// Unused: events stay aligned to their 32 bytes.
    spare: u64,
}

/// Windows after which the watcher is asked at the latest.
const WATCH_WINDOWS: u64 = 1 << 14;
/// Events of all ranks together after which the watcher is asked, per rank.
const WATCH_EVENTS: u64 = 1 << 18;

/// Runs the LPs of one rank.
pub struct RankEngine<'w, 't, W: World> {
    world: &'w W,
    transport: &'t mut dyn Transport,
    worker: Worker<W>,
    /// The rank of each block.
    owners: Vec<usize>,
    outcome: Outcome,
    busy: Duration,
    wait: Duration,
    failure: Option<Broken>,
    reached: Time,
    /// Counts of all ranks when the watcher was asked last, or at the end of a run.
    tally: [u64; 3],
}

/// A message between ranks is not what was sent.
fn torn(reason: &str) -> Broken {
    Broken(format!("a message between ranks is torn: {reason}"))
}

/// Blocks of `n_ranks` ranks: (LPs per block as a power of two, first block of each rank and the number of blocks).
fn blocks_of_ranks(n_lps: u32, n_ranks: usize) -> (u32, Vec<usize>) {
    let wanted = (8 * n_ranks).clamp(1, MAX_BLOCKS) as u32;
    let shift = n_lps.max(1).div_ceil(wanted).next_power_of_two().ilog2();
    let n_blocks = n_lps.max(1).div_ceil(1 << shift) as usize;
    let owner = |block: usize| {
        let start = (block as u64) << shift;
        let end = (start + (1 << shift)).min(u64::from(n_lps));
        ((start + end) / 2 * n_ranks as u64 / u64::from(n_lps.max(1))).min(n_ranks as u64 - 1) as usize
    };
    (shift, (0..n_blocks).map(owner).collect())
}

impl<'w, 't, W: World> RankEngine<'w, 't, W> {
    /// The engine of the transport's rank; at most 64 ranks.
    pub fn new(world: &'w W, observer: W::Observer, transport: &'t mut dyn Transport) -> Self {
        let grid = Grid::new(world.lookahead().0.clamp(WindowEngine::<W>::MIN_WIDTH, Grid::MAX_WIDTH));
        let (shift, owners) = blocks_of_ranks(world.n_lps(), transport.size());
        let mut worker = Worker::new(world, observer, grid, shift);
        for (number, _) in owners
            .iter()
            .enumerate()
            .filter(|&(_, &owner)| owner == transport.rank())
        {
            let start = (number as u32) << shift;
            let (block, first) = Block::new(world, start..world.n_lps().min(start + (1 << shift)));
            if worker.blocks.is_empty() {
                worker.first = number;
            }
            worker.blocks.push(block);
            for event in first {
                worker.lanes.rings[number].insert(&grid, event);
            }
        }
        RankEngine {
            world,
            transport,
            worker,
            owners,
            outcome: Outcome::default(),
            busy: Duration::ZERO,
            wait: Duration::ZERO,
            failure: None,
            reached: Time::ZERO,
            tally: [0; 3],
        }
    }

    /// The sums over all ranks of the counts of their observers.
    fn sum_tallies(&mut self) -> Result<(), Broken> {
        let own = self.worker.lanes.observer.tally();
        let message = bytemuck::bytes_of(&own).to_vec();
        let came = self.transport.exchange(vec![message; self.transport.size()])?;
        self.tally = [0; 3];
        for message in &came {
            let (counts, _) = message
                .split_first_chunk::<24>()
                .ok_or_else(|| torn("it is too short"))?;
            add(&mut self.tally, bytemuck::pod_read_unaligned(counts));
        }
        Ok(())
    }

    /// The parts of all ranks as one run: on rank 0, nothing on the others.
    fn collect(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let lps = self.lps();
        let mut bytes = bytemuck::bytes_of(&[lps.start, lps.end]).to_vec();
        bytes.extend(self.save());
        let mut out = vec![Vec::new(); self.transport.size()];
        out[0] = bytes;
        let came = self.transport.exchange(out)?;
        if self.transport.rank() != 0 {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for message in &came {
            let (lps, saved) = message
                .split_first_chunk::<8>()
                .ok_or_else(|| torn("it is too short"))?;
            let [start, end]: [u32; 2] = bytemuck::pod_read_unaligned(lps);
            parts.push((start..end, saved));
        }
        let joined = checkpoint::join(self.world, &parts).map_err(|Torn(reason)| torn(reason))?;
        Ok(Some(joined))
    }

    /// The LPs of this rank.
    pub fn lps(&self) -> Range<u32> {
        let first = self.worker.blocks.first().map_or(0, |block| block.lps.start);
        first..self.worker.blocks.last().map_or(first, |block| block.lps.end)
    }

    /// Exchanges heads and events: the least next window, the events of all ranks, whether to stop.
    fn exchange(&mut self, handled: u64, stop: bool) -> Result<(u64, u64, bool), Broken> {
        let own = self.worker.own();
        let grid = self.worker.lanes.grid;
        let mut next = self.worker.next_window().unwrap_or(NEVER);
        let mut out: Vec<Vec<W::Event>> = vec![Vec::new(); self.transport.size()];
        for (block, ring) in self.worker.lanes.rings[..self.owners.len()].iter_mut().enumerate() {
            if !own.contains(&block) {
                next = next.min(ring.next_window(&grid).unwrap_or(NEVER));
                ring.drain_into(&mut out[self.owners[block]]);
            }
        }
        let head = Head {
            next,
            handled,
            stop: u64::from(stop),
            spare: 0,
        };
        let message = |events: Vec<W::Event>| {
            let events = bytemuck::cast_slice::<W::Event, u8>(&events);
            let mut bytes = Vec::with_capacity(size_of::<Head>() + events.len());
            bytes.extend_from_slice(bytemuck::bytes_of(&head));
            bytes.extend_from_slice(events);
            bytes
        };
        let came = self.transport.exchange(out.into_iter().map(message).collect())?;
        let (mut least, mut events, mut halt) = (NEVER, 0, false);
        for message in &came {
            let (head, body) = message
                .split_at_checked(size_of::<Head>())
                .ok_or_else(|| torn("it is too short"))?;
            let head: Head = bytemuck::pod_read_unaligned(head);
            least = least.min(head.next);
            events += head.handled;
            halt |= head.stop != 0;
            let (parts, rest) = body.as_chunks::<32>();
            const { assert!(size_of::<W::Event>() == 32, "events travel as 32 bytes") };
            if !rest.is_empty() {
                return Err(torn("it holds part of an event"));
            }
            for part in parts {
                let event: W::Event = bytemuck::pod_read_unaligned(part);
                self.worker.lanes.rings
                    [(crate::world::Event::lp(&event) >> self.worker.lanes.shift) as usize % MAX_BLOCKS]
                    .insert(&grid, event);
            }
        }
        Ok((least, events, halt))
    }

    fn run_windows(&mut self, until: Time, watch: Watch<'_, W>) -> Result<Stop, Broken> {
        let width = self.worker.lanes.grid.width;
        let (mut index, _, _) = self.exchange(0, false)?;
        let (mut events, mut windows) = (0, 0);
        loop {
            if index == NEVER {
                return Ok(Stop::Idle);
            }
            if index.saturating_mul(width) >= until.0 {
                return Ok(Stop::Until);
            }
            let begun = Instant::now();
            let handled = self.worker.run_window(self.world, index, until, None);
            let ran = begun.elapsed();
            let broken = self.worker.lanes.broken;
            let (next, all, halt) = self.exchange(handled, broken.is_some())?;
            self.busy += ran;
            self.wait += begun.elapsed().saturating_sub(ran);
            self.outcome.windows += 1;
            self.outcome.events += all;
            (events, windows) = (events + all, windows + 1);
            if halt {
                return Ok(Stop::Broken(
                    broken.unwrap_or("a model broke a rule of the engine on another rank"),
                ));
            }
            if self.worker.lanes.end == until.0 {
                return Ok(Stop::Until);
            }
            index = next;
            if events >= WATCH_EVENTS * self.transport.size() as u64 || windows >= WATCH_WINDOWS {
                (events, windows) = (0, 0);
                let progress = Progress {
                    now: Time(self.worker.lanes.end),
                    events: self.outcome.events,
                };
                self.sum_tallies()?;
                let go_on = watch(&self.view(), progress);
                let (_, _, halt) = self.exchange(0, !go_on)?;
                if halt {
                    return Ok(Stop::Interrupted);
                }
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
                    self.reached = until;
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
            states: self.worker.blocks.iter().map(|block| &block.state).collect(),
            observers: vec![&self.worker.lanes.observer],
            tally: self.tally,
        }
    }

    fn digests(&self) -> Vec<u64> {
        let blocks = self.worker.blocks.iter();
        blocks.flat_map(|block| block.wakes.digests()).copied().collect()
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn reached(&self) -> Time {
        self.reached
    }

    /// The LPs of this rank; [`checkpoint::join`] makes a whole run of those of all ranks.
    fn save(&self) -> Vec<u8> {
        let parts = self.worker.blocks.iter().map(|block| Part {
            lps: block.lps.clone(),
            state: &block.state,
            wakes: block.wakes.times().to_vec(),
            digests: block.wakes.digests(),
        });
        checkpoint::write(self.world, self, parts)
    }

    fn teamwork(&self) -> Option<Teamwork> {
        let waiting = self.wait.as_secs_f64() / (self.wait + self.busy).as_secs_f64().max(1e-9);
        Some(Teamwork {
            workers: self.transport.size(),
            events_shared: self.outcome.events,
            windows_shared: self.outcome.windows,
            wall_shared: self.wait + self.busy,
            waiting,
            given_up: None,
            thin: None,
        })
    }

    fn gather(&mut self) -> Result<Gathered, String> {
        match self.collect() {
            Ok(Some(saved)) => Ok(Gathered::Whole(saved)),
            Ok(None) => Ok(Gathered::Elsewhere),
            Err(Broken(reason)) => Err(reason),
        }
    }

    fn trouble(&self) -> Option<&str> {
        self.failure.as_ref().map(|Broken(reason)| reason.as_str())
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        for ring in &self.worker.lanes.rings[self.worker.own()] {
            ring.for_each(show);
        }
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        let states = self.worker.blocks.into_iter().map(|block| block.state).collect();
        (states, self.worker.lanes.observer, self.outcome)
    }
}

/// Ranks on threads of one process, joined by channels: for tests and for measuring the loop without a network.
pub mod local {
    use super::{Broken, Transport};
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// One end.
    #[derive(Debug)]
    pub struct Local {
        rank: usize,
        to: Vec<Sender<Vec<u8>>>,
        from: Vec<Receiver<Vec<u8>>>,
    }

    /// The transports of `n` ranks.
    pub fn connect(n: usize) -> Vec<Local> {
        let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..n).map(|_| Vec::new()).collect();
        let mut from: Vec<Vec<Receiver<Vec<u8>>>> = (0..n).map(|_| Vec::new()).collect();
        for source in &mut to {
            for target in &mut from {
                let (sender, receiver) = channel();
                source.push(sender);
                target.push(receiver);
            }
        }
        let ends = to.into_iter().zip(from).enumerate();
        ends.map(|(rank, (to, from))| Local { rank, to, from }).collect()
    }

    impl Transport for Local {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            self.to.len()
        }

        fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
            let gone = |rank: usize| Broken(format!("rank {rank} is gone"));
            for (rank, (to, bytes)) in self.to.iter().zip(out).enumerate() {
                to.send(bytes).map_err(|_| gone(rank))?;
            }
            let receive = |(rank, from): (usize, &Receiver<Vec<u8>>)| from.recv().map_err(|_| gone(rank));
            self.from.iter().enumerate().map(receive).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::history;
    use crate::phold::{Nobody, Phold};

    fn world(n_lps: u32, remote: f64) -> Phold {
        Phold {
            n_lps,
            events_per_lp: 3,
            mean: Time(1_310_720),
            lookahead: Time(131_072),
            remote,
            seed: 7,
        }
    }

    /// Digest and events of a run on ranks, through several end times.
    fn on_ranks(world: &Phold, ranks: usize, phases: &[Time]) -> (u64, u64) {
        let mut ends = local::connect(ranks);
        let mut results: Vec<(Vec<u64>, u64)> = Vec::new();
        std::thread::scope(|scope| {
            let runs: Vec<_> = ends
                .iter_mut()
                .map(|end| {
                    scope.spawn(|| {
                        let mut engine = RankEngine::new(world, Nobody, end);
                        for &until in phases {
                            assert_eq!(engine.run(until, &mut |_, _| true), Stop::Until);
                        }
                        assert_eq!(engine.lps().len(), engine.digests().len());
                        (engine.digests(), engine.outcome().events)
                    })
                })
                .collect();
            results.extend(runs.into_iter().map(|run| run.join().unwrap()));
        });
        assert!(results.iter().all(|(_, events)| *events == results[0].1));
        let digests: Vec<u64> = results.iter().flat_map(|(digests, _)| digests.clone()).collect();
        (history(&digests), results[0].1)
    }

    #[test]
    fn ranks_give_the_history_of_one_process() {
        for (n_lps, remote) in [(300, 0.1), (1_000, 1.0), (5, 0.5), (1, 1.0)] {
            let world = world(n_lps, remote);
            let end = Time(9_000_000);
            let mut alone = WindowEngine::new(&world, Nobody, 8);
            assert_eq!(alone.run(end, &mut |_, _| true), Stop::Until);
            let expected = (history(&alone.digests()), alone.outcome().events);
            for ranks in [1, 2, 3] {
                let phases = [Time(1_000_001), Time(5_000_000), end];
                assert_eq!(on_ranks(&world, ranks, &phases), expected, "{ranks} ranks, {world:?}");
            }
        }
    }

    #[test]
    fn what_ranks_have_reached_goes_on_in_one_process() {
        let world = world(700, 0.4);
        let (middle, end) = (Time(4_000_003), Time(9_000_000));
        let mut alone = WindowEngine::new(&world, Nobody, 8);
        assert_eq!(alone.run(end, &mut |_, _| true), Stop::Until);
        let mut ends = local::connect(3);
        let gathered: Vec<Gathered> = std::thread::scope(|scope| {
            let runs: Vec<_> = ends
                .iter_mut()
                .map(|end| {
                    scope.spawn(|| {
                        let mut engine = RankEngine::new(&world, Nobody, end);
                        assert_eq!(engine.run(middle, &mut |_, _| true), Stop::Until);
                        engine.gather().unwrap()
                    })
                })
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(gathered[1..], [Gathered::Elsewhere, Gathered::Elsewhere]);
        let Gathered::Whole(saved) = &gathered[0] else {
            panic!("{:?}", gathered[0]);
        };
        let mut engine = WindowEngine::restore(&world, Nobody, saved, 4, 2).unwrap();
        assert_eq!(engine.reached(), middle);
        assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
        assert_eq!(history(&engine.digests()), history(&alone.digests()));
        assert_eq!(engine.outcome().events, alone.outcome().events);
    }

    #[test]
    fn a_rank_that_is_gone_ends_the_run_of_the_others() {
        let world = world(100, 1.0);
        let mut ends = local::connect(2);
        drop(ends.pop());
        let mut engine = RankEngine::new(&world, Nobody, &mut ends[0]);
        assert!(matches!(engine.run(Time(1_000), &mut |_, _| true), Stop::Broken(_)));
        assert_eq!(engine.trouble(), Some("rank 1 is gone"));
    }

    #[test]
    fn any_rank_can_stop_all() {
        let world = world(4_000, 0.5);
        let mut ends = local::connect(2);
        let stops: Vec<Stop> = std::thread::scope(|scope| {
            let runs = ends.iter_mut().enumerate().map(|(rank, end)| {
                let world = &world;
                scope.spawn(move || {
                    let mut engine = RankEngine::new(world, Nobody, end);
                    engine.run(Time(1 << 40), &mut |_, _| rank == 0)
                })
            });
            let runs: Vec<_> = runs.collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(stops, [Stop::Interrupted; 2]);
    }
}
