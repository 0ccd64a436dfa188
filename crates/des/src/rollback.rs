//! The rollback check: every window is run forward, undone from the journal, compared with what was before, and run forward again.
//!
//! A model passes if its state after the undo is what it was, and if the second pass sends and records exactly what the first did:
//! then any engine that speculates can roll it back.

use crate::checker::Checker;
use crate::engine::{Engine, Outcome, Stop, View, Watch};
use crate::pack::Torn;
use crate::time::Time;
use crate::window::WindowEngine;
use crate::world::World;

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
        RollbackCheck {
            engine,
            checker: Checker::new(),
        }
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
