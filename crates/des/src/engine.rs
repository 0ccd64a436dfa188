//! What all engines have in common: how a run is driven, watched and stopped.

use crate::time::Time;
use crate::world::{Observe, Tally, World};
use std::time::Duration;

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

/// How the workers of an engine have shared the work; depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Teamwork {
    /// Workers that could run.
    pub workers: usize,
    /// Events handled while several workers ran.
    pub events_shared: u64,
    /// Meetings of the workers: of one window, or of several where what they send to each other takes longer.
    pub windows_shared: u64,
    /// Windows from one meeting to the next.
    pub together: u64,
    /// What ranks have carried to each other; none where one process ran.
    pub carried: Option<Carried>,
    /// Wall time with several workers running.
    pub wall_shared: Duration,
    /// Part of the workers' time spent waiting for each other, 0 to 1, measured in some of the windows.
    pub waiting: f64,
    /// Several workers were tried and found slower than one: wall time per event (ns) of one and of all.
    pub given_up: Option<(f64, f64)>,
    /// Several workers were not tried: events that a window held for each, and how many would be worth a trial.
    pub thin: Option<(f64, f64)>,
}

/// What ranks have sent to each other at their meetings: messages with events and their bytes, all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Messages.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Carried {
    /// Adds others.
    pub fn add(&mut self, others: Carried) {
        self.messages += others.messages;
        self.bytes += others.bytes;
    }
}

/// What speculation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Speculated {
    /// Events handled, once or again.
    pub executed: u64,
    /// Events undone.
    pub rolled_back: u64,
    /// Events handled for good.
    pub committed: u64,
    /// Events of windows that were safe when they were run: without journal, for good at once.
    pub safe: u64,
    /// Events that were sent and taken back.
    pub antis: u64,
    /// Rounds, each with one barrier.
    pub rounds: u64,
    /// Most bytes of inputs, undo logs, sent events and records kept.
    pub peak_kept: u64,
    /// Most windows of a round.
    pub deepest: u64,
}

impl Speculated {
    /// The part of the events handled that was for good.
    pub fn efficiency(&self) -> f64 {
        self.committed as f64 / self.executed.max(1) as f64
    }
}

/// What a run looks like between two windows.
pub struct View<'a, W: World> {
    /// The states of all blocks, in the order of their LPs.
    pub states: Vec<&'a W::State>,
    /// What the workers have recorded; only all of them together mean something.
    pub observers: Vec<&'a W::Observer>,
    /// [`Observe::tally`] of all observers, those of other processes included.
    pub tally: Tally,
}

impl<'a, W: World> View<'a, W> {
    /// A view of an engine that is alone.
    pub(crate) fn new(states: Vec<&'a W::State>, observers: Vec<&'a W::Observer>) -> Self {
        let mut tally = [0; 5];
        for observer in &observers {
            add(&mut tally, observer.tally());
        }
        View {
            states,
            observers,
            tally,
        }
    }
}

/// Adds counts to counts.
pub(crate) fn add(sum: &mut Tally, counts: Tally) {
    sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}

/// What all observers of a run have seen, in one.
pub(crate) fn merged<R, O: Observe<R>>(observers: impl IntoIterator<Item = O>) -> O {
    let all = observers.into_iter().reduce(|mut all, observer| {
        all.merge(observer);
        all
    });
    all.expect("a run has an observer")
}

/// Where a run is once all its ranks have brought it together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gathered {
    /// In this engine: there are no other ranks.
    Here,
    /// In these bytes, from which any engine goes on.
    Whole(Vec<u8>),
    /// On another rank.
    Elsewhere,
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
    /// How several workers have shared the work; nothing where one is all there is.
    fn teamwork(&self) -> Option<Teamwork> {
        None
    }
    /// What speculation did, on an engine that speculates.
    fn speculated(&self) -> Option<Speculated> {
        None
    }
    /// Everything strictly before this time has been run.
    fn reached(&self) -> Time;
    /// The run as it stands as bytes (see [`crate::checkpoint`]), for the `restore` of any engine; between two calls of [`Engine::run`].
    fn save(&self) -> Vec<u8>;
    /// Brings the run together where several ranks have shared it; called by all ranks alike.
    ///
    /// # Errors
    /// The connection between the ranks is broken: the text says how.
    fn gather(&mut self) -> Result<Gathered, String> {
        Ok(Gathered::Here)
    }
    /// The bits that any of the ranks that share the run has set in its `word`; called by all ranks alike.
    ///
    /// # Errors
    /// The connection between the ranks is broken: the text says how.
    fn agree(&mut self, word: u64) -> Result<u64, String> {
        Ok(word)
    }
    /// The sum of the `count`s of the ranks that share the run; called by all ranks alike.
    ///
    /// # Errors
    /// The connection between the ranks is broken: the text says how.
    fn total(&mut self, count: u64) -> Result<u64, String> {
        Ok(count)
    }
    /// What each of the ranks that share the run has brought: on the first of them, by rank; the others get nothing. Called by all ranks alike.
    ///
    /// # Errors
    /// The connection between the ranks is broken: the text says how.
    fn bring(&mut self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, String> {
        Ok(vec![bytes])
    }
    /// Why the engine is [`Stop::Broken`], where that is not the model's doing.
    fn trouble(&self) -> Option<&str> {
        None
    }
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
