//! PHOLD (Fujimoto 1990), the standard synthetic load of event engines: every event sends one event on.
//!
//! Each LP starts with `events_per_lp` events. An event draws an increment `lookahead + exponential(mean - lookahead)` and, with
//! probability `remote`, a uniformly random LP as the next target, else stays.

use crate::checkpoint::{self, Pack, Torn};
use crate::column::{Journal, NoJournal};
use crate::rng::{Philox, below, ln, mix, unit};
use crate::time::Time;
use crate::world::{Event, Observe, Sink, World};
use std::cmp::Ordering;
use std::ops::Range;

/// PHOLD's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phold {
    /// Number of LPs.
    pub n_lps: u32,
    /// Events each LP starts with.
    pub events_per_lp: u32,
    /// Mean of the increment, lookahead included.
    pub mean: Time,
    /// Smallest increment.
    pub lookahead: Time,
    /// Fraction of events that go to a random LP.
    pub remote: f64,
    /// Seed of the run.
    pub seed: u64,
}

/// The event: 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Ball {
    time: Time,
    lp: u32,
    origin: u32,
    sequence: u64,
    _spare: u64,
}

const _: () = assert!(size_of::<Ball>() == 32);

impl Ball {
    /// An event number `sequence` of LP `origin`.
    pub fn new(time: Time, lp: u32, origin: u32, sequence: u64) -> Ball {
        Ball {
            time,
            lp,
            origin,
            sequence,
            _spare: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn delayed(self, by: Time) -> Ball {
        Ball {
            time: self.time + by,
            ..self
        }
    }

    #[cfg(test)]
    pub(crate) fn is(&self, sequence: u64) -> bool {
        self.sequence == sequence
    }

    fn hash(&self, seed: u64) -> u64 {
        mix(seed ^ (u64::from(self.origin) << 32) ^ self.sequence)
    }
}

impl Event for Ball {
    #[inline(always)]
    fn time(&self) -> Time {
        self.time
    }

    #[inline(always)]
    fn lp(&self) -> u32 {
        self.lp
    }

    fn with_lp(self, lp: u32) -> Self {
        Ball { lp, ..self }
    }

    #[inline(always)]
    fn fold(&self) -> u64 {
        (self.time.0 ^ u64::from(self.origin).rotate_left(40)).wrapping_add(self.sequence)
    }

    fn tie(&self, other: &Self, seed: u64) -> Ordering {
        self.hash(seed)
            .cmp(&other.hash(seed))
            .then_with(|| self.origin.cmp(&other.origin))
            .then_with(|| self.sequence.cmp(&other.sequence))
    }

    #[inline(always)]
    fn tie_word(&self, seed: u64) -> u64 {
        self.hash(seed)
    }
}

/// One LP: the number of events it sent.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Player {
    sent: u64,
}

crate::columns! {
    /// All LPs.
    pub struct Players {
        /// One record per LP.
        pub players: Player,
    }
}

/// Nothing is observed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observe<()> for Nobody {
    fn see(&mut self, _record: ()) {}
    fn merge(&mut self, _other: Nobody) {}
}

impl Pack for Nobody {
    fn pack(&self, _out: &mut Vec<u8>) {}
    fn unpack(_input: &mut &[u8]) -> Result<Self, Torn> {
        Ok(Nobody)
    }
}

impl Phold {
    #[inline(always)]
    fn next(&self, origin: u32, sequence: u64, now: Time, stay: bool) -> Ball {
        let words = Philox::new(self.seed, 0).draw(u64::from(origin), sequence);
        let spread = (self.mean - self.lookahead).0 as f64;
        let time = now + self.lookahead + Time((-ln(unit(words[0])) * spread) as u64);
        let lp = if !stay && unit(words[1]) < self.remote {
            below(words[2], u64::from(self.n_lps)) as u32
        } else {
            origin
        };
        Ball::new(time, lp, origin, sequence)
    }
}

impl Phold {
    /// An LP before its first event.
    pub(crate) fn first(&self) -> Player {
        Player {
            sent: u64::from(self.events_per_lp),
        }
    }

    /// What LP `lp` sends on at an event.
    #[inline(always)]
    pub(crate) fn react(&self, player: &mut Player, lp: u32, now: Time) -> Ball {
        let sequence = player.sent;
        player.sent += 1;
        self.next(lp, sequence, now, false)
    }
}

impl World for Phold {
    type Event = Ball;
    type State = Players;
    type Record = ();
    type Observer = Nobody;

    fn n_lps(&self) -> u32 {
        self.n_lps
    }

    fn lookahead(&self) -> Time {
        self.lookahead
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn start(&self, lps: Range<u32>) -> (Players, Vec<Ball>) {
        let mut players = Players::default();
        let player = self.first();
        players.players.fill(lps.start, vec![player; lps.len()]);
        let first = lps.flat_map(|lp| (0..player.sent).map(move |sequence| self.next(lp, sequence, Time::ZERO, true)));
        (players, first.collect())
    }

    #[inline(always)]
    fn handle<J: Journal, S: Sink<Self>>(
        &self,
        state: &mut Players,
        journal: &mut J,
        lp: u32,
        event: &Ball,
        sink: &mut S,
    ) {
        let player = state.players.edit(journal, lp);
        sink.send(self.react(player, lp, event.time));
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Self>>(&self, _: &mut Players, _: &mut J, _: u32, _: Time, _: &mut S) -> Time {
        Time::MAX
    }

    fn first_wake(&self, _: &Players, _: u32) -> Time {
        Time::MAX
    }

    fn pack(&self, state: &Players, lp: u32, out: &mut Vec<u8>) {
        checkpoint::put(out, *state.players.get(lp));
    }

    fn unpack(&self, state: &mut Players, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        state.players.set(&mut NoJournal, lp, checkpoint::take(input)?);
        Ok(())
    }

    fn knows(&self, event: &Ball) -> bool {
        event.origin < self.n_lps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Stop, history};
    use crate::{ReferenceEngine, RollbackCheck, WindowEngine, run_phases};

    fn world(n_lps: u32, events_per_lp: u32, lookahead: u64, remote: f64) -> Phold {
        Phold {
            n_lps,
            events_per_lp,
            mean: Time(1_310_720),
            lookahead: Time(lookahead),
            remote,
            seed: 7,
        }
    }

    fn finish(mut engine: Box<dyn Engine<Phold> + '_>, phases: &[Time]) -> (u64, u64) {
        assert_eq!(run_phases(&mut *engine, phases), Stop::Until);
        (history(&engine.digests()), engine.outcome().events)
    }

    fn agree(world: Phold, end: Time) {
        let reference = finish(Box::new(ReferenceEngine::new(&world, Nobody)), &[end]);
        assert!(reference.1 > 200, "the case must do something: {} events", reference.1);
        let cut = [Time(end.0 / 7), Time(end.0 / 7 + 1), Time(end.0 / 2), end];
        for blocks in [1, 3, 8] {
            let engine = WindowEngine::new(&world, Nobody, blocks);
            assert_eq!(
                finish(Box::new(engine), &cut),
                reference,
                "{blocks} blocks of {world:?}"
            );
        }
        for (blocks, workers) in [(2, 2), (16, 2), (64, 4)] {
            let engine = WindowEngine::with_workers(&world, Nobody, blocks, workers);
            assert_eq!(
                finish(Box::new(engine), &cut),
                reference,
                "{workers} workers on {blocks} blocks of {world:?}"
            );
        }
        let checked = RollbackCheck::new(&world, Nobody);
        assert_eq!(
            finish(Box::new(checked), &[end]),
            reference,
            "rollback check of {world:?}"
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "too long for Miri")]
    fn every_engine_gives_the_same_history_dense_and_sparse() {
        agree(world(256, 8, 131_072, 1.0), Time(20_000_000));
        agree(world(1_000, 1, 131_072, 0.1), Time(10_000_000));
        agree(world(300, 1, 128, 0.5), Time(3_000_000));
        agree(world(1, 300, 131_072, 1.0), Time(3_000_000));
        agree(world(700, 2, 1_310_720, 0.5), Time(30_000_000));
    }

    #[test]
    fn equal_times_are_ordered_by_hash_not_by_identifier() {
        let later: usize = (0..1_000)
            .filter(|&i| Ball::new(Time(5), 0, i, 0).tie(&Ball::new(Time(5), 0, i + 1, 0), 1) == Ordering::Greater)
            .count();
        assert!(
            (400..600).contains(&later),
            "{later} of 1000 neighbours are in descending order"
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "too long for Miri")]
    fn a_model_that_breaks_the_lookahead_is_stopped() {
        let honest = world(200, 4, 131_072, 1.0);
        // The engine is told a larger lookahead than the increments keep to.
        struct Liar(Phold);
        impl World for Liar {
            type Event = Ball;
            type State = Players;
            type Record = ();
            type Observer = Nobody;
            fn n_lps(&self) -> u32 {
                self.0.n_lps
            }
            fn lookahead(&self) -> Time {
                Time(self.0.lookahead.0 * 16)
            }
            fn seed(&self) -> u64 {
                self.0.seed
            }
            fn start(&self, lps: Range<u32>) -> (Players, Vec<Ball>) {
                self.0.start(lps)
            }
            fn handle<J: Journal, S: Sink<Self>>(&self, s: &mut Players, j: &mut J, lp: u32, e: &Ball, sink: &mut S) {
                let player = s.players.edit(j, lp);
                player.sent += 1;
                sink.send(self.0.next(lp, player.sent, e.time, false));
            }
            fn close<J: Journal, S: Sink<Self>>(&self, _: &mut Players, _: &mut J, _: u32, _: Time, _: &mut S) -> Time {
                Time::MAX
            }
            fn first_wake(&self, _: &Players, _: u32) -> Time {
                Time::MAX
            }
            fn pack(&self, s: &Players, lp: u32, out: &mut Vec<u8>) {
                self.0.pack(s, lp, out);
            }
            fn unpack(&self, s: &mut Players, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
                self.0.unpack(s, lp, input)
            }
            fn knows(&self, event: &Ball) -> bool {
                self.0.knows(event)
            }
        }
        let liar = Liar(honest);
        let mut engine = WindowEngine::new(&liar, Nobody, 1);
        let stop = engine.run(Time(50_000_000), &mut |_, _| true);
        assert!(
            matches!(stop, Stop::Broken(reason) if reason.contains("lookahead")),
            "{stop:?}"
        );
    }
}
