//! The reference engine: a binary heap of events and one of wake-ups, in total stamp order. Written to be read; the oracle of the
//! window engine, and the engine of last resort where the lookahead is zero.

use crate::block::{Block, by_name};
use crate::checkpoint::{self, OpenedCheckpoint};
use crate::column::Log;
use crate::engine::{Engine, Outcome, Progress, Stop, View, Watch};
use crate::pack::Torn;
use crate::time::Time;
use crate::withheld::Withheld;
use crate::world::{Event, Observe, Outbox, World, check_sent_at};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::ops::Range;

/// An event in the heap, ordered by (time, LP, tie); the order of different LPs at one time is immaterial.
struct Pending<E> {
    event: E,
    seed: u64,
}

impl<E: Event> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_time = self.event.time().cmp(&other.event.time());
        let by_lp = || self.event.lp().cmp(&other.event.lp());
        by_time
            .then_with(by_lp)
            .then_with(|| self.event.tie(&other.event, self.seed))
    }
}

impl<E: Event> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E: Event> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E: Event> Eq for Pending<E> {}

/// Runs a world one event at a time.
pub struct ReferenceEngine<'w, W: World> {
    world: &'w W,
    blocks: Vec<Block<W::State>>,
    /// An LP's block is `lp >> shift`.
    shift: u32,
    queue: Queue<W>,
    /// What the event at hand has sent.
    held: Withheld<W>,
    /// What it has changed; nobody asks.
    log: Log,
    /// When LPs want to be closed; some entries are outdated.
    wakes: BinaryHeap<Reverse<(Time, u32)>>,
    outcome: Outcome,
    reached: Time,
}

struct Queue<W: World> {
    events: BinaryHeap<Reverse<Pending<W::Event>>>,
    observer: W::Observer,
    seed: u64,
    now: Time,
    broken: bool,
}

impl<W: World> Outbox<W::Event, W::Record> for Queue<W> {
    fn send_at(&mut self, time: Time, event: W::Event) {
        check_sent_at(&event, time);
        self.broken |= event.time() < self.now;
        self.events.push(Reverse(Pending { event, seed: self.seed }));
    }

    fn record(&mut self, record: W::Record) {
        self.observer.see(record);
    }
}

/// The block of an LP, and its place there.
fn find<S>(blocks: &mut [Block<S>], shift: u32, lp: u32) -> (&mut Block<S>, usize) {
    let block = &mut blocks[(lp >> shift) as usize];
    let place = (lp - block.lps.start) as usize;
    (block, place)
}

impl<'w, W: World> ReferenceEngine<'w, W> {
    /// An engine before the first event.
    pub fn new(world: &'w W, observer: W::Observer) -> Self {
        let block = |lps| Ok::<_, Infallible>(Block::new(world, lps));
        let Ok(engine) = Self::build(world, observer, Time::ZERO, Outcome::default(), block);
        engine
    }

    /// An engine that goes on from what an engine has saved.
    ///
    /// # Errors
    /// The bytes are not those of a run of this world.
    pub fn restore(world: &'w W, saved: &[u8]) -> Result<Self, Torn> {
        let opened = OpenedCheckpoint::read(world, saved)?;
        let block = |lps| Block::restore(world, lps, &opened);
        Self::build(world, opened.observer.clone(), opened.time, opened.outcome, block)
    }

    /// An engine at `time` with blocks and their events from `block`.
    fn build<E>(
        world: &'w W,
        observer: W::Observer,
        time: Time,
        outcome: Outcome,
        mut block: impl FnMut(Range<u32>) -> Result<(Block<W::State>, Vec<W::Event>), E>,
    ) -> Result<Self, E> {
        let layout = world.layout(1);
        let seed = world.seed();
        let mut queue = Queue {
            events: BinaryHeap::new(),
            observer,
            seed,
            now: time,
            broken: false,
        };
        let (mut blocks, mut wakes) = (Vec::new(), BinaryHeap::new());
        for number in 0..layout.n_blocks() {
            let (block, events) = block(layout.lps(number))?;
            queue
                .events
                .extend(events.into_iter().map(|event| Reverse(Pending { event, seed })));
            let times = block
                .lps
                .clone()
                .map(|lp| (Time(block.wakes.wake((lp - block.lps.start) as usize)), lp));
            wakes.extend(times.filter(|&(time, _)| time < Time::MAX).map(Reverse));
            blocks.push(block);
        }
        Ok(ReferenceEngine {
            world,
            blocks,
            shift: layout.shift(),
            queue,
            held: Withheld::new(Time::ZERO, seed),
            log: Log::default(),
            wakes,
            outcome,
            reached: time,
        })
    }

    /// Earliest valid wake-up.
    fn next_wake(&mut self) -> Option<(Time, u32)> {
        while let Some(&Reverse((time, lp))) = self.wakes.peek() {
            let (block, place) = find(&mut self.blocks, self.shift, lp);
            if block.wakes.wake(place) == time.0 {
                return Some((time, lp));
            }
            self.wakes.pop();
        }
        None
    }

    /// Closes an LP and notes when it wants to be closed next.
    fn close(&mut self, lp: u32, end: Time) {
        let (block, place) = find(&mut self.blocks, self.shift, lp);
        let wake = self
            .world
            .close(&mut block.state, &mut self.log, lp, end, &mut self.held);
        if wake.0 != block.wakes.wake(place) {
            block.wakes.put(place, wake.0);
            if wake < Time::MAX {
                self.wakes.push(Reverse((wake, lp)));
            }
        }
    }

    /// Runs one event, or one wake-up if that is earlier: at equal times all events come first.
    fn step(&mut self, until: Time) -> Option<Stop> {
        let event_time = self.queue.events.peek().map(|Reverse(pending)| pending.event.time());
        let wake = self.next_wake();
        let next = [event_time, wake.map(|(time, _)| time)].into_iter().flatten().min();
        let Some(now) = next else { return Some(Stop::Idle) };
        if now >= until {
            return Some(Stop::Until);
        }
        self.queue.now = now;
        self.outcome.windows += 1;
        match (event_time, wake) {
            (Some(time), _) if time == now => {
                let Reverse(Pending { event, .. }) = self.queue.events.pop()?;
                let lp = event.lp();
                self.outcome.events += 1;
                let (block, place) = find(&mut self.blocks, self.shift, lp);
                block.wakes.learn(place, &event);
                self.world
                    .handle(&mut block.state, &mut self.log, lp, &event, &mut self.held);
                self.close(lp, now);
            }
            (_, Some((_, lp))) => self.close(lp, Time(now.0 + 1)),
            (_, None) => return Some(Stop::Idle),
        }
        self.held.release(&mut self.queue);
        self.log.commit();
        self.queue
            .broken
            .then_some(Stop::Broken("an event was sent into the past"))
    }
}

impl<W: World> Engine<W> for ReferenceEngine<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        loop {
            if let Some(stop) = self.step(until) {
                if stop == Stop::Until {
                    self.reached = until;
                }
                return stop;
            }
            if self.outcome.windows.is_multiple_of(65_536) {
                let progress = Progress {
                    now: self.queue.now,
                    events: self.outcome.events,
                };
                if !watch(&self.view(), progress) {
                    // All of this instant, so that what is before and what comes after can be told apart.
                    let until = Time(self.queue.now.0 + 1);
                    return loop {
                        match self.step(until) {
                            None => {}
                            Some(Stop::Broken(reason)) => break Stop::Broken(reason),
                            Some(_) => {
                                self.reached = until;
                                break Stop::Interrupted;
                            }
                        }
                    };
                }
            }
        }
    }

    fn view(&self) -> View<'_, W> {
        View::new(
            self.blocks.iter().map(|block| &block.state).collect(),
            vec![&self.queue.observer],
        )
    }

    fn digests(&self) -> Vec<u64> {
        by_name(self.world, &self.blocks)
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn reached(&self) -> Time {
        self.reached
    }

    fn save(&self) -> Vec<u8> {
        checkpoint::write(self.world, self, self.blocks.iter().map(Block::part))
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        self.queue
            .events
            .iter()
            .for_each(|Reverse(pending)| show(&pending.event));
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        let states = self.blocks.into_iter().map(|block| block.state).collect();
        (states, self.queue.observer, self.outcome)
    }
}
