//! One window of a block run forward, undone from the journal, compared with what was before, and run forward again.

use crate::block::{Before, Block, Late, insert_late, run_block, take_late};
use crate::column::{Columns, Log, Mark, NoJournal};
use crate::time::Time;
use crate::world::{Event, Sink, World};

/// What one pass of a block sent and recorded, kept back until the pass is committed.
struct CheckedSink<W: World> {
    events: Vec<W::Event>,
    records: Vec<W::Record>,
    late: Vec<W::Event>,
    lp: u32,
    end: Time,
    seed: u64,
    left_behind: bool,
}

impl<W: World> CheckedSink<W> {
    fn new(end: Time, seed: u64) -> Self {
        CheckedSink {
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

impl<W: World> Sink<W> for CheckedSink<W> {
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

impl<W: World> Late<W::Event> for CheckedSink<W> {
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
    /// One that has found nothing.
    pub(crate) fn new() -> Self {
        Checker {
            log: Log::default(),
            failure: None,
            world: std::marker::PhantomData,
        }
    }

    /// What it has found, if anything.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        self.failure
    }

    /// Runs a block through one window, back, and again; what the second pass sent and recorded goes to `sink`. Returns the events
    /// handled.
    pub(crate) fn run_block(
        &mut self,
        world: &W,
        block: &mut Block<W>,
        order: &[W::Event],
        end: Time,
        sink: &mut impl Sink<W>,
    ) -> u64 {
        let seed = world.seed();
        let before = block.state.digest();
        let saved = block.wakes.clone();
        let mut first = CheckedSink::<W>::new(end, seed);
        run_block(world, block, &mut self.log, order, end, &mut first);
        let after = block.state.digest();
        let wakes = std::mem::replace(&mut block.wakes, saved);
        self.log.undo(&mut block.state);
        if block.state.digest() != before {
            self.failure = Some("rollback check: the state after an undo is not what it was");
        }
        let mut second = CheckedSink::<W>::new(end, seed);
        let handled = run_block(world, block, &mut NoJournal, order, end, &mut second);
        let same_events = bytemuck::cast_slice::<_, u8>(&first.events) == bytemuck::cast_slice::<_, u8>(&second.events);
        if block.state.digest() != after || block.wakes != wakes || !same_events || first.records != second.records {
            self.failure = Some("rollback check: the second pass of a window differs from the first");
        }
        if second.left_behind {
            self.failure = Some("closing a logical process sent it an event within the window");
        }
        for event in second.events {
            sink.send(event);
        }
        for record in second.records {
            sink.record(record);
        }
        handled
    }
}
