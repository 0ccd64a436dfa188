//! What a model has to offer to be simulated: events, state columns, and two handlers.

use crate::CHECKS;
use crate::column::{Columns, Journal};
use crate::layout::Layout;
use crate::pack::{Pack, Torn};
use crate::time::Time;
use std::cmp::Ordering;
use std::ops::Range;

/// A message to one logical process at one time.
///
/// Events of one LP are ordered by time, then by [`Event::tie`]. The tie must be a function of the event's content (and the run's
/// seed) alone and must not favour low identifiers: compare a hash first, the content after it. Two events that compare equal must
/// be interchangeable.
pub trait Event: Copy + bytemuck::Pod + Send + Sync + 'static {
    /// When the event happens.
    fn time(&self) -> Time;
    /// The logical process it happens to.
    fn lp(&self) -> u32;
    /// The same at the logical process `lp`.
    fn with_lp(self, lp: u32) -> Self;
    /// Order among events of one LP at one time.
    fn tie(&self, other: &Self, seed: u64) -> Ordering;
    /// A word by which [`Event::tie`] orders first: where the words of two events differ, they are in the order of the words.
    fn tie_word(&self, seed: u64) -> u64;

    /// The content but the LP folded into one word, for the digest of what happened; cheap, it is asked for once per event.
    fn fold(&self) -> u64;

    /// Total order of the events of one LP.
    #[inline(always)]
    fn order(&self, other: &Self, seed: u64) -> Ordering {
        match self.time().cmp(&other.time()) {
            Ordering::Equal => self.tie(other, seed),
            unequal => unequal,
        }
    }
}

/// The digest of an LP's past with one more event in it: a polynomial of all folds, modulo 2^64. A single fold that differs shows in any case, and
/// two neighbours that change places unless they agree in 62 bits. What a past that repeats does to it can be told without the past
/// ([`crate::recurrence`]).
#[inline(always)]
pub(crate) fn chain<E: Event>(digest: u64, event: &E) -> u64 {
    digest.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(event.fold())
}

/// Where a handler puts what leaves the logical process: events `E` and records `R`.
pub trait Outbox<E: Event, R> {
    /// `true` for the engine that is used: handlers may have code of its own for it. For the others code that is large may be shared.
    const HOT: bool = false;

    /// Schedules an event: at another LP no earlier than the lookahead from now, at the own LP no earlier than now.
    #[inline(always)]
    fn send(&mut self, event: E) {
        self.send_at(event.time(), event);
    }
    /// The same for callers that have the event's time at hand, which is spared the way through the event.
    fn send_at(&mut self, time: Time, event: E);
    /// Shows a committed fact to the observer; never read back by the model.
    fn record(&mut self, record: R);
}

/// Checks of an event that it is sent at its own time.
#[inline(always)]
pub(crate) fn check_sent_at<E: Event>(event: &E, time: Time) {
    if CHECKS && event.time() != time {
        mistimed(event.time(), time);
    }
}

#[cold]
#[inline(never)]
fn mistimed(own: Time, sent: Time) -> ! {
    panic!("an event of {own:?} is sent at {sent:?}")
}

/// An outbox for what handlers of a world send.
pub trait Sink<W: World + ?Sized>: Outbox<W::Event, W::Record> {}
impl<W: World + ?Sized, O: Outbox<W::Event, W::Record>> Sink<W> for O {}

/// What an engine does with the world whose handlers run, see [`World::perform`].
pub trait WorldTask<E, S, R> {
    /// What comes of it.
    type Output;

    /// Does it with this one.
    fn with<W: World<Event = E, State = S, Record = R>>(self, world: &W) -> Self::Output;
}

/// Collects what handlers record, in a way that does not depend on the order of records of different LPs.
pub trait Observe<R> {
    /// Takes one committed record.
    fn see(&mut self, record: R);
    /// Counts that tell how far the run is; those of all observers of a run add up.
    fn tally(&self) -> Tally {
        [0; 5]
    }
    /// Takes over all that another observer of the same run has seen.
    fn merge(&mut self, other: Self);
}

/// Counts of an observer by which a run is steered.
pub type Tally = [u64; 5];

/// The hints that bring the state of an LP into the caches, one after the other: what one has asked for says where that of the next lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// What has its place by the number of the LP and says which of its records will be needed.
    Entries,
    /// These records.
    Records,
    /// What they lead to.
    Lists,
    /// What that leads to,
    Heads,
    /// and that,
    Followers,
    /// and that, when the events of the LP come next.
    Last,
}

impl Hint {
    /// The LPs that are handled before the one that is asked for.
    pub(crate) const fn handled_before(self) -> u32 {
        match self {
            Hint::Entries => 6,
            Hint::Records => 4,
            Hint::Lists => 3,
            Hint::Heads => 2,
            Hint::Followers => 1,
            Hint::Last => 0,
        }
    }
}

/// The window for which the state of LPs is brought into the caches.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Events of an LP in it, on average.
    pub each: usize,
    /// It ends there.
    pub end: Time,
}

/// A model: logical processes with state in columns. They are numbered `0..n_lps` unless it says otherwise by its [`World::layout`].
pub trait World: Sync {
    /// The event type; 32 bytes for networks.
    type Event: Event;
    /// State of the LPs of a block.
    type State: Columns + Send + Sync;
    /// What handlers show to the observer.
    type Record: Copy + PartialEq + Send + Sync;
    /// Collects the records; engines give each worker a clone of the first one.
    type Observer: Observe<Self::Record> + Pack + Clone + Send + Sync;

    /// Number of logical processes.
    fn n_lps(&self) -> u32;
    /// No event that a handler sends reaches any LP sooner than this, except own-LP events that the model declares as such.
    fn lookahead(&self) -> Time;
    /// How the LPs lie in blocks, about `n_blocks` of them if the world leaves it to the engine.
    fn layout(&self, n_blocks: u32) -> Layout {
        Layout::even(self.n_lps(), n_blocks)
    }
    /// The name of an LP, `0..n_lps`: results and checkpoints speak of LPs by name, so that they are the same in every layout.
    fn name(&self, lp: u32) -> u32 {
        lp
    }
    /// The LP of that name.
    fn named(&self, name: u32) -> u32 {
        name
    }
    /// No event that a handler sends reaches an LP of another owner sooner than this; at least [`World::lookahead`].
    fn lookahead_across(&self, _owner: &dyn Fn(u32) -> usize) -> Time {
        self.lookahead()
    }
    /// Seed of the run, part of every tie.
    fn seed(&self) -> u64;

    /// State of the LPs `lps`, all of one block, before the first event, with columns numbered as in the whole world, and the first
    /// events of these LPs.
    fn start(&self, lps: Range<u32>) -> (Self::State, Vec<Self::Event>);

    /// Handles one event of `lp`. Everything due strictly before the event's time has to be caught up first by the handler itself.
    fn handle<J: Journal, S: Sink<Self>>(
        &self,
        state: &mut Self::State,
        journal: &mut J,
        lp: u32,
        event: &Self::Event,
        sink: &mut S,
    );

    /// Performs everything of `lp` that is due strictly before `end` without an event, and returns when it wants to be closed next:
    /// the earliest time at or after `end` at which it will act by itself, [`Time::MAX`] if never.
    fn close<J: Journal, S: Sink<Self>>(
        &self,
        state: &mut Self::State,
        journal: &mut J,
        lp: u32,
        end: Time,
        sink: &mut S,
    ) -> Time;

    /// Does a task with the world whose handlers run: this one, or, where a world is one of several kinds, the kind that it is. Engines ask
    /// once per block and window, so that handlers of each kind are compiled into loops of their own, and engines once for all kinds.
    #[inline(always)]
    fn perform<T: WorldTask<Self::Event, Self::State, Self::Record>>(&self, task: T) -> T::Output
    where
        Self: Sized,
    {
        task.with(self)
    }

    /// `true` if [`World::prefetch`] is worth its instructions: the caches do not hold the state of all LPs.
    fn is_large(&self) -> bool {
        true
    }

    /// Asks for a part of the state of `lp` to be brought into the caches, some LPs before its events are handled; may do nothing.
    #[inline(always)]
    fn prefetch(&self, _state: &Self::State, _lp: u32, _hint: Hint, _ahead: Ahead) {}

    /// In place of which hint the records of an LP are asked for in parts, one with each event of an earlier LP, and in how many: all of them at once would be
    /// more questions than memory takes at a time, and what the handlers ask would have to wait. 0: there is no need. `each` is as in [`Ahead`].
    fn parts(&self, _each: usize) -> (Hint, u32) {
        (Hint::Records, 0)
    }

    /// Asks for one of the [parts](World::parts) of the records of `lp`.
    #[inline(always)]
    fn prefetch_part(&self, _state: &Self::State, _lp: u32, _part: u32) {}

    /// `true` if [`World::foresee`] is worth its instructions: events lead to places that are all over the memory.
    fn foresees(&self) -> bool {
        false
    }

    /// Asks for what these events, at most [`FORESEEN`](crate::FORESEEN), will touch to be brought into the caches, shortly before they are handled; may
    /// do nothing. `each` is as in [`Ahead`].
    fn foresee(&self, _state: &Self::State, _events: &[Self::Event], _each: usize) {}

    /// When `lp` wants to be closed for the first time.
    fn first_wake(&self, state: &Self::State, lp: u32) -> Time;

    /// Appends all of the state of `lp` to `out`, the same bytes wherever its pooled records lie.
    fn pack(&self, state: &Self::State, lp: u32, out: &mut Vec<u8>);

    /// Sets the state of `lp`, which is as [`World::start`] made it, to what [`World::pack`] has written; takes exactly that.
    fn unpack(&self, state: &mut Self::State, lp: u32, input: &mut &[u8]) -> Result<(), Torn>;

    /// `true` if `event`, read from outside, has nothing in it that the world does not have. Its LP exists.
    fn knows(&self, event: &Self::Event) -> bool;
}
