//! What all engines have in common: how a run is driven, watched and stopped.

use crate::time::Time;
use crate::world::World;

/// Why an engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No event is left and no LP will act by itself.
    Idle,
    /// Everything before the asked time was run.
    Until,
    /// The watcher asked to stop.
    Interrupted,
    /// A model broke a rule of the engine: the text says which.
    Broken(&'static str),
}

/// Where a run stands; shown to the watcher now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time reached.
    pub now: Time,
    /// Events handled so far.
    pub events: u64,
}

/// What an engine did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Events handled; a function of study and seed.
    pub events: u64,
    /// Windows opened (window engines) or steps taken (reference engine); depends on the engine.
    pub windows: u64,
}

/// What a run looks like between two windows.
pub struct View<'a, W: World> {
    /// The states of all blocks, in the order of their LPs.
    pub states: Vec<&'a W::State>,
    /// What the workers have recorded; only all of them together mean something.
    pub observers: Vec<&'a W::Observer>,
}

/// Asked now and then whether to go on.
pub type Watch<'a, W> = &'a mut dyn FnMut(&View<'_, W>, Progress) -> bool;

/// An engine that runs one world.
pub trait Engine<W: World> {
    /// Runs everything strictly before `until`. The watcher is asked now and then whether to go on.
    fn run(&mut self, until: Time, watch: Watch<'_, W>) -> Stop;
    /// State and records as they are now.
    fn view(&self) -> View<'_, W>;
    /// Of each LP a digest of all the events it has handled, in their order; the same on every engine.
    fn digests(&self) -> Vec<u64>;
    /// Counts so far.
    fn outcome(&self) -> Outcome;
    /// Everything strictly before this time has been run.
    fn reached(&self) -> Time;
    /// The run as it stands as bytes (see [`crate::checkpoint`]), for the `restore` of any engine; between two calls of [`Engine::run`].
    fn save(&self) -> Vec<u8>;
    /// Shows every pending event, in no particular order.
    fn pending(&self, show: &mut dyn FnMut(&W::Event));
    /// Gives up the engine for its results: the states of all blocks in the order of their LPs, and all records.
    fn into_parts(self: Box<Self>) -> (Vec<W::State>, W::Observer, Outcome);
}

/// One digest of everything that happened, in LP order, from [`Engine::digests`].
pub fn history(digests: &[u64]) -> u64 {
    digests.iter().fold(1, |all, digest| crate::rng::mix(all ^ digest))
}

/// Runs an engine through several end times; for callers that decide on the way.
pub fn run_phases<W: World>(engine: &mut dyn Engine<W>, phases: &[Time]) -> Stop {
    for &until in phases {
        match engine.run(until, &mut |_, _| true) {
            Stop::Until => {}
            stop => return stop,
        }
    }
    Stop::Until
}
