//! One window of a block run forward, undone from the journal, compared with what was before, and run forward again.

use crate::block::{Block, run_block};
use crate::column::{Columns, Log};
use crate::late::LEFT_BEHIND;
use crate::time::Time;
use crate::withheld::Withheld;
use crate::world::{Outbox, World};

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
        block: &mut Block<W::State>,
        order: &[W::Event],
        end: Time,
        sink: &mut impl Outbox<W::Event, W::Record>,
    ) -> u64 {
        let seed = world.seed();
        let before = block.state.digest();
        let saved = block.wakes.clone();
        let mut first = Withheld::<W>::new(end, seed);
        run_block(world, block, &mut self.log, order, end, &mut first);
        let after = block.state.digest();
        let wakes = std::mem::replace(&mut block.wakes, saved);
        self.log.undo(&mut block.state);
        if block.state.digest() != before {
            self.failure = Some("rollback check: the state after an undo is not what it was");
        }
        let mut second = Withheld::<W>::new(end, seed);
        let handled = run_block(world, block, &mut self.log, order, end, &mut second);
        self.log.commit();
        let same_events = bytemuck::cast_slice::<_, u8>(&first.events) == bytemuck::cast_slice::<_, u8>(&second.events);
        if block.state.digest() != after || block.wakes != wakes || !same_events || first.records != second.records {
            self.failure = Some("rollback check: the second pass of a window differs from the first");
        }
        if second.left_behind {
            self.failure = Some(LEFT_BEHIND);
        }
        second.release(sink);
        handled
    }
}
