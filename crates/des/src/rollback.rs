//! The rollback check: every window is run forward, undone from the journal, compared with what was before, and run forward again.
//!
//! A model passes if its state after the undo is what it was, and if the second pass sends and records exactly what the first did:
//! then any engine that speculates can roll it back.

use crate::block::{Before, Block, Late, run_block};
use crate::checkpoint::Torn;
use crate::column::{Columns, Log, Mark, NoJournal};
use crate::engine::{Engine, Outcome, Stop, View, Watch};
use crate::time::Time;
use crate::window::WindowEngine;
use crate::worker::{Lanes, insert_late, take_late};
use crate::world::{Event, Sink, World};

/// What one pass of a block sent and recorded, kept back until the pass is committed.
struct Capture<W: World> {
    events: Vec<W::Event>,
    records: Vec<W::Record>,
    late: Vec<W::Event>,
    lp: u32,
    end: Time,
    seed: u64,
    left_behind: bool,
}

impl<W: World> Capture<W> {
    fn new(end: Time, seed: u64) -> Self {
        Capture {
            events: Vec::new(),
            records: Vec::new(),
            late: Vec::new(),
            lp: 0,
            end,
            seed,
            left_behind: false,
        }
    }
}

impl<W: World> Sink<W> for Capture<W> {
    fn send_at(&mut self, time: Time, event: W::Event) {
        debug_assert_eq!(event.time(), time, "an event is sent at another time than its own");
        if event.lp() == self.lp && event.time() < self.end {
            insert_late(&mut self.late, event, self.seed);
        } else {
            self.events.push(event);
        }
    }

    fn record(&mut self, record: W::Record) {
        self.records.push(record);
    }
}

impl<W: World> Late<W::Event> for Capture<W> {
    fn enter(&mut self, lp: u32, _before: Before) {
        self.lp = lp;
    }

    fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    fn late_before(&mut self, event: Option<&W::Event>, seed: u64) -> Option<W::Event> {
        take_late(&mut self.late, event, seed)
    }

    fn leave(&mut self, _mark: Mark, _left: usize) {
        self.left_behind |= !self.late.is_empty();
        self.late.clear();
    }
}

/// Runs blocks twice and compares.
#[derive(Debug)]
pub(crate) struct Checker<W> {
    log: Log,
    failure: Option<&'static str>,
    world: std::marker::PhantomData<fn(W)>,
}

impl<W: World> Checker<W> {
    pub(crate) fn failure(&self) -> Option<&'static str> {
        self.failure
    }

    pub(crate) fn run_block(
        &mut self,
        world: &W,
        block: &mut Block<W>,
        order: &[W::Event],
        end: Time,
        lanes: &mut Lanes<W>,
    ) -> u64 {
        let seed = world.seed();
        let before = block.state.digest();
        let saved = block.wakes.clone();
        let mut first = Capture::<W>::new(end, seed);
        run_block(world, block, &mut self.log, order, end, &mut first);
        let after = block.state.digest();
        let wakes = std::mem::replace(&mut block.wakes, saved);
        self.log.undo(&mut block.state);
        if block.state.digest() != before {
            self.failure = Some("rollback check: the state after an undo is not what it was");
        }
        let mut second = Capture::<W>::new(end, seed);
        let handled = run_block(world, block, &mut NoJournal, order, end, &mut second);
        let same_events = bytemuck::cast_slice::<_, u8>(&first.events) == bytemuck::cast_slice::<_, u8>(&second.events);
        if block.state.digest() != after || block.wakes != wakes || !same_events || first.records != second.records {
            self.failure = Some("rollback check: the second pass of a window differs from the first");
        }
        if second.left_behind {
            self.failure = Some("closing a logical process sent it an event within the window");
        }
        for event in second.events {
            lanes.send(event);
        }
        for record in second.records {
            lanes.record(record);
        }
        handled
    }
}

/// The window engine with every window checked; slow, for tests and `engine = "rollback-check"`.
pub struct RollbackCheck<'w, W: World> {
    engine: WindowEngine<'w, W>,
    checker: Checker<W>,
}

impl<'w, W: World> RollbackCheck<'w, W> {
    /// A checking engine on one block.
    pub fn new(world: &'w W, observer: W::Observer) -> Self {
        Self::of(WindowEngine::new(world, observer, 1))
    }

    /// A checking engine on one block that goes on from what an engine has saved.
    ///
    /// # Errors
    /// The bytes are not those of a run of this world.
    pub fn restore(world: &'w W, observer: W::Observer, saved: &[u8]) -> Result<Self, Torn> {
        WindowEngine::restore(world, observer, saved, 1, 1).map(Self::of)
    }

    fn of(engine: WindowEngine<'w, W>) -> Self {
        let checker = Checker {
            log: Log::default(),
            failure: None,
            world: std::marker::PhantomData,
        };
        RollbackCheck { engine, checker }
    }
}

impl<W: World> Engine<W> for RollbackCheck<'_, W> {
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop {
        self.engine.run_checked(until, watch, Some(&mut self.checker))
    }

    fn view(&self) -> View<'_, W> {
        self.engine.view()
    }

    fn digests(&self) -> Vec<u64> {
        self.engine.digests()
    }

    fn outcome(&self) -> Outcome {
        self.engine.outcome()
    }

    fn reached(&self) -> Time {
        self.engine.reached()
    }

    fn save(&self) -> Vec<u8> {
        self.engine.save()
    }

    fn pending(&self, show: &mut dyn FnMut(&W::Event)) {
        self.engine.pending(show);
    }

    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome) {
        Box::new(self.engine).into_parts()
    }
}
