//! What an engine that goes back has to get right, on PHOLD and on a world whose every event depends on all that came before.

use super::*;
use crate::checkpoint::{Pack, Torn};
use crate::column::Journal;
use crate::engine::history;
use crate::phold::{Ball, Nobody, Phold};
use crate::rng::{below, mix};
use crate::world::{Event, Sink};
use crate::{Observe, ReferenceEngine, WindowEngine, run_phases};
use std::ops::Range;
use std::sync::{Arc, Mutex};

mod ranks;

const WIDTH: u64 = 1_000;
/// Worlds drawn at random.
const CASES: u64 = 60;

/// Each event puts an item into its LP's list; an LP takes one item out at a time, by itself, and sends where it says. What an item
/// says depends on all events before it, so that one straggler changes everything after it.
#[derive(Clone, Debug)]
struct Gossip {
    n_lps: u32,
    /// Of 256 items, as many go to any LP; the others to a neighbour.
    remote: u64,
    /// Of 256 LPs, as many begin with an event.
    talkers: u64,
    seed: u64,
    /// The item that is sent on too soon.
    lie: Option<u64>,
    /// The item over which a handler panics.
    trap: Option<u64>,
    /// All items that were ever taken out, also by runs that were undone.
    said: Option<Arc<Mutex<Vec<u64>>>>,
}

#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Teller {
    sum: u64,
    due: u64,
    head: u32,
    free: u32,
}

#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Item {
    value: u64,
    next: u64,
}

crate::columns! {
    struct Tellers {
        tellers: Teller,
        items: Item,
        twins: u64,
    }
}

const NONE: u32 = u32::MAX;
/// The sequence of events that say nothing but "now".
const NUDGE: u64 = 1;

/// All records, in no order.
#[derive(Clone, Debug, Default)]
struct Notes(Vec<(u32, u64, u64)>);

impl Observe<(u32, u64, u64)> for Notes {
    fn see(&mut self, record: (u32, u64, u64)) {
        self.0.push(record);
    }
    fn merge(&mut self, other: Notes) {
        self.0.extend(other.0);
    }
}

/// These worlds are not saved.
impl Pack for Notes {
    fn pack(&self, _: &mut Vec<u8>) {}
    fn unpack(_: &mut &[u8]) -> Result<Self, Torn> {
        Err(Torn("not saved"))
    }
}

impl Gossip {
    /// Takes out items that are due before `now`.
    fn catch_up<J: Journal, S: Sink<Self>>(&self, state: &mut Tellers, j: &mut J, lp: u32, now: u64, sink: &mut S) {
        loop {
            let teller = *state.tellers.get(lp);
            if teller.head == NONE || teller.due >= now {
                return;
            }
            let Item { value, next } = *state.items.get(teller.head);
            // With the journal in the middle of a change.
            state.items.edit(j, teller.head).value ^= 1;
            assert!(self.trap != Some(value), "on purpose");
            state.items.edit(j, teller.head).value ^= 1;
            assert_eq!(
                *state.twins.get(teller.head),
                value,
                "columns that grow together have the same places"
            );
            state.items.edit(j, teller.head).next = teller.free.into();
            let at = teller.due;
            let edited = state.tellers.edit(j, lp);
            edited.free = teller.head;
            edited.head = next as u32;
            // One in 16 sleeps long, so that whole blocks do.
            edited.due = at + 1 + value % 700 + u64::from(value >> 50 & 15 == 0) * 9 * WIDTH;
            sink.record((lp, at, value));
            if let Some(said) = &self.said {
                said.lock().unwrap().push(value);
            }
            let target = if value & 255 < self.remote {
                below(mix(value), self.n_lps.into()) as u32
            } else {
                (lp + 1) % self.n_lps
            };
            if self.lie == Some(value) {
                sink.send(Ball::new(Time(at), (lp + 1) % self.n_lps, lp, value << 1));
                continue;
            }
            let late = if value >> 58 == 0 {
                400 * WIDTH
            } else {
                value >> 32 & 2_047
            };
            sink.send(Ball::new(Time(at + WIDTH + late), target, lp, value << 1));
        }
    }
}

impl World for Gossip {
    type Event = Ball;
    type State = Tellers;
    type Record = (u32, u64, u64);
    type Observer = Notes;

    fn n_lps(&self) -> u32 {
        self.n_lps
    }
    fn pack(&self, _: &Tellers, _: u32, _: &mut Vec<u8>) {}
    fn unpack(&self, _: &mut Tellers, _: u32, _: &mut &[u8]) -> Result<(), Torn> {
        Err(Torn("not saved"))
    }
    fn knows(&self, _: &Ball) -> bool {
        true
    }
    fn lookahead(&self) -> Time {
        Time(WIDTH)
    }
    fn seed(&self) -> u64 {
        self.seed
    }

    fn start(&self, lps: Range<u32>) -> (Tellers, Vec<Ball>) {
        let mut state = Tellers::default();
        let teller = Teller {
            sum: 0,
            due: 0,
            head: NONE,
            free: NONE,
        };
        state.tellers.fill(lps.start, vec![teller; lps.len()]);
        let draw = |lp: u32| mix(self.seed ^ u64::from(lp));
        let talks = lps.filter(|&lp| draw(lp) & 255 < self.talkers);
        let first = talks.map(|lp| Ball::new(Time(draw(lp) >> 50), lp, lp, draw(lp) & !1));
        (state, first.collect())
    }

    fn handle<J: Journal, S: Sink<Self>>(&self, state: &mut Tellers, j: &mut J, lp: u32, event: &Ball, sink: &mut S) {
        let now = event.time().0;
        self.catch_up(state, j, lp, now, sink);
        let said = event.fold();
        let teller = state.tellers.edit(j, lp);
        teller.sum = mix(teller.sum ^ said);
        let Teller { sum, due, head, free } = *teller;
        if event.is(NUDGE) {
            return;
        }
        let item = Item {
            value: sum,
            next: head.into(),
        };
        let place = if free == NONE {
            state.twins.push(j, sum);
            state.items.push(j, item)
        } else {
            state.tellers.edit(j, lp).free = state.items.get(free).next as u32;
            state.twins.set(j, free, sum);
            state.items.set(j, free, item);
            free
        };
        let teller = state.tellers.edit(j, lp);
        teller.head = place;
        teller.due = due.max(now) + sum % 300;
        if sum & 3 == 0 {
            // To itself, within the window or not.
            sink.send(Ball::new(Time(now + (sum >> 8) % 600), lp, lp, NUDGE));
        }
    }

    fn close<J: Journal, S: Sink<Self>>(
        &self,
        state: &mut Tellers,
        j: &mut J,
        lp: u32,
        end: Time,
        sink: &mut S,
    ) -> Time {
        self.catch_up(state, j, lp, end.0, sink);
        let teller = state.tellers.get(lp);
        if teller.head == NONE {
            Time::MAX
        } else {
            Time(teller.due)
        }
    }

    fn first_wake(&self, _: &Tellers, _: u32) -> Time {
        Time::MAX
    }
}

/// The state of every LP without the places of its items.
fn told(states: &[&Tellers]) -> Vec<(u64, u64, Vec<u64>)> {
    let of_lp = |state: &Tellers, lp: u32| {
        let teller = *state.tellers.get(lp);
        let mut values = Vec::new();
        let mut at = teller.head;
        while at != NONE {
            values.push(state.items.get(at).value);
            at = state.items.get(at).next as u32;
        }
        (teller.sum, teller.due, values)
    };
    let all = states.iter();
    all.flat_map(|state| state.tellers.range().map(move |lp| of_lp(state, lp)))
        .collect()
}

/// Everything that a run of the gossip world shows.
#[derive(Debug, PartialEq)]
struct Told {
    history: u64,
    events: u64,
    states: Vec<(u64, u64, Vec<u64>)>,
    records: Vec<(u32, u64, u64)>,
    pending: Vec<(u64, u32, u64)>,
}

fn tell(engine: &mut dyn Engine<Gossip>, phases: &[Time]) -> Told {
    assert_eq!(run_phases(engine, phases), Stop::Until);
    let view = engine.view();
    let states = told(&view.states);
    let mut records: Vec<_> = view.observers.iter().flat_map(|notes| &notes.0).copied().collect();
    records.sort_unstable();
    let mut pending = Vec::new();
    engine.pending(&mut |event| pending.push((event.time().0, event.lp(), event.fold())));
    pending.sort_unstable();
    Told {
        history: history(&engine.digests()),
        events: engine.outcome().events,
        states,
        records,
        pending,
    }
}

fn gossip(n_lps: u32, remote: u64, talkers: u64) -> Gossip {
    Gossip {
        n_lps,
        remote,
        talkers,
        seed: 11,
        lie: None,
        trap: None,
        said: None,
    }
}

/// Runs the world on one optimistic engine and compares it with what other engines gave.
fn agree(
    world: &Gossip,
    phases: &[Time],
    expected: &Told,
    (blocks, workers): (u32, u32),
    how: Speculation,
) -> Speculated {
    let mut engine = OptimisticEngine::new(world, Notes::default(), blocks, workers, how);
    let got = tell(&mut engine, phases);
    let what = format!("{workers} workers, {blocks} blocks, {how:?}, {world:?}");
    assert_eq!(got.events, expected.events, "{what}");
    assert!(got == *expected, "{what}");
    let speculated = engine.speculated();
    assert_eq!(speculated.committed, expected.events, "{what}");
    assert_eq!(
        speculated.executed,
        speculated.committed + speculated.rolled_back,
        "{what}"
    );
    speculated
}

/// Small enough for Miri: shared memory, undo and late events of two and three workers in a few windows.
#[test]
fn two_and_three_workers_agree_on_a_few_windows() {
    let world = gossip(12, 128, 256);
    let phases = [Time(9 * WIDTH + 1), Time(24 * WIDTH)];
    let expected = tell(&mut ReferenceEngine::new(&world, Notes::default()), &phases[1..]);
    assert!(expected.events > 60 && !expected.records.is_empty(), "{expected:?}");
    for (blocks, workers) in [(4, 2), (6, 3)] {
        let mut window = WindowEngine::with_workers(&world, Notes::default(), blocks, workers);
        assert_eq!(window.workers(), workers as usize);
        assert_eq!(tell(&mut window, &phases), expected, "{workers} workers");
        let what = agree(&world, &phases, &expected, (blocks, workers), Speculation::fixed(4));
        assert!(what.rolled_back > 0 && what.antis > 0, "{what:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn a_world_in_which_all_depends_on_all_gives_one_answer_at_every_depth() {
    let (mut antis, mut some_safe) = (0, 0);
    for (n_lps, remote, talkers) in [
        (97, 26, 256),
        (300, 256, 256),
        (64, 128, 60),
        (12, 64, 256),
        (1_500, 128, 20),
    ] {
        let world = gossip(n_lps, remote, talkers);
        let end = Time(60 * WIDTH + 333);
        let expected = tell(&mut ReferenceEngine::new(&world, Notes::default()), &[end]);
        assert!(expected.events > 60 && expected.records.len() > 30, "{world:?}");
        let window = tell(&mut WindowEngine::new(&world, Notes::default(), 4), &[end]);
        assert!(window == expected, "window engine of {world:?}");
        // Phases that cut windows, and one that does not.
        let phases = [
            Time(7 * WIDTH + 1),
            Time(7 * WIDTH + 999),
            Time(20 * WIDTH),
            Time(20 * WIDTH + 5),
            end,
        ];
        for (blocks, workers) in [(1, 1), (7, 1), (2, 2), (16, 2), (40, 4)] {
            for depth in [1, 2, 5, 17, 64] {
                let what = agree(&world, &phases, &expected, (blocks, workers), Speculation::fixed(depth));
                let shared = workers > 1 && n_lps > 1;
                if depth == 1 || !shared {
                    assert_eq!((what.rolled_back, what.antis), (0, 0), "nothing is in doubt: {what:?}");
                    assert_eq!(
                        (what.safe, what.peak_kept),
                        (what.committed, 0),
                        "all at once for good: {what:?}"
                    );
                } else if talkers == 256 && depth > 2 {
                    assert!(what.rolled_back > 0 && what.antis > 0, "{depth}: {what:?}");
                    assert_eq!(what.deepest, u64::from(depth).min(40), "a phase at most: {what:?}");
                }
                antis += what.antis;
                assert!(what.safe > 0, "{what:?}");
                some_safe += u32::from(what.safe < what.committed && what.rolled_back > 0);
            }
            agree(&world, &phases, &expected, (blocks, workers), Speculation::default());
        }
    }
    assert!(antis > 1_000, "{antis}");
    assert!(
        some_safe > 20,
        "rounds with safe windows, windows run ahead and mended ones: {some_safe}"
    );
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn worlds_engines_and_phases_drawn_at_random_give_one_answer() {
    let mut deep = 0;
    for case in 0..CASES {
        let draw = |what: u64, from: u64, to: u64| from + below(mix(mix(case) ^ what), to - from);
        let world = Gossip {
            seed: case,
            ..gossip(draw(1, 2, 400) as u32, draw(2, 0, 257), draw(3, 40, 257))
        };
        if world.start(0..world.n_lps).1.is_empty() {
            continue;
        }
        let end = draw(4, 5, 120) * WIDTH + draw(5, 0, 2) * draw(6, 0, WIDTH);
        let mut phases: Vec<Time> = (0..draw(7, 0, 4)).map(|i| Time(draw(8 + i, 1, end))).collect();
        phases.push(Time(end));
        phases.sort_unstable();
        let expected = tell(&mut WindowEngine::new(&world, Notes::default(), 1), &[Time(end)]);
        let depth = draw(12, 1, 40) as u32;
        let how = Speculation {
            least: draw(13, 1, u64::from(depth) + 1) as u32,
            first: depth,
            most: depth,
            kept: 1 << draw(14, 10, 24),
        };
        let workers = draw(15, 1, 4) as u32;
        let blocks = draw(16, u64::from(workers), 30) as u32;
        let what = agree(&world, &phases, &expected, (blocks, workers), how);
        deep += u32::from(what.rolled_back > 100);
    }
    assert!(deep > CASES as u32 / 4, "{deep}");
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn events_beyond_the_ring_are_taken_back_as_well() {
    let world = gossip(200, 128, 256);
    let end = [Time(900 * WIDTH)];
    let expected = tell(&mut WindowEngine::new(&world, Notes::default(), 2), &end);
    let what = agree(&world, &end, &expected, (8, 2), Speculation::fixed(64));
    assert!(what.antis > 6_400, "one of 64 of them goes 400 windows ahead: {what:?}");
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn phold_gives_one_history_at_every_depth() {
    for (n_lps, events_per_lp, lookahead, remote) in [
        (2_000, 1, 131_072, 0.1),
        (256, 8, 131_072, 1.0),
        (300, 1, 1_280, 0.5),
        (5, 2, 655_360, 0.5),
    ] {
        let world = Phold {
            n_lps,
            events_per_lp,
            mean: Time(1_310_720),
            lookahead: Time(lookahead),
            remote,
            seed: 7,
        };
        let end = Time(5_000_000);
        let mut sequential = WindowEngine::new(&world, Nobody, 3);
        assert_eq!(sequential.run(end, &mut |_, _| true), Stop::Until);
        for (blocks, workers, how) in [
            (3, 1, Speculation::fixed(8)),
            (2, 2, Speculation::fixed(1)),
            (8, 2, Speculation::fixed(2)),
            (8, 2, Speculation::fixed(32)),
            (16, 4, Speculation::fixed(6)),
            (8, 2, Speculation::default()),
        ] {
            let mut engine = OptimisticEngine::new(&world, Nobody, blocks, workers, how);
            assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
            let what = engine.speculated();
            assert_eq!(engine.digests(), sequential.digests(), "{workers} {how:?} {world:?}");
            assert_eq!(engine.outcome().events, sequential.outcome().events);
            if workers == 1 || how.most == 1 {
                assert_eq!((what.rolled_back, what.antis), (0, 0), "{what:?}");
                assert_eq!((what.safe, what.deepest), (what.committed, 1), "{what:?}");
            } else if how.least > 5 && n_lps > 5 && lookahead > 1_280 {
                // Events are as far from each other as ten lookaheads, or a thousand in the narrow case.
                assert!(what.rolled_back > 0 && what.antis > 0, "{how:?} {world:?} {what:?}");
                assert!(what.efficiency() < 1.0);
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn over_the_limit_of_kept_bytes_no_window_is_run_ahead() {
    let world = gossip(2_000, 128, 256);
    let end = [Time(80 * WIDTH)];
    let expected = tell(&mut WindowEngine::new(&world, Notes::default(), 1), &end);
    let run = |how| agree(&world, &end, &expected, (8, 2), how);
    let free = run(Speculation::fixed(32));
    assert_eq!(run(Speculation::fixed(1)).peak_kept, 0, "a safe window keeps nothing");
    let one = run(Speculation::fixed(2));
    assert!(one.peak_kept > 0 && one.safe < one.committed, "{one:?}");
    let limit = 2 * one.peak_kept as usize;
    assert!(free.peak_kept > 4 * limit as u64, "{free:?} {one:?}");
    let bound = run(Speculation {
        kept: limit,
        ..Speculation::fixed(32)
    });
    // The limit, a window beyond it, and what is run again before it is noticed.
    assert!(bound.peak_kept < 2 * limit as u64, "{bound:?} {one:?}");
    let tight = run(Speculation {
        kept: 0,
        ..Speculation::fixed(32)
    });
    assert!(tight.peak_kept <= 2 * one.peak_kept, "{tight:?} {one:?}");
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn a_watcher_sees_committed_state_only_and_can_stop_the_run() {
    let world = gossip(2_000, 128, 256);
    let mut engine = OptimisticEngine::new(&world, Notes::default(), 8, 2, Speculation::fixed(16));
    let mut seen = 0;
    let mut at = Time::ZERO;
    let stop = engine.run(Time(u64::MAX), &mut |view, progress| {
        seen += 1;
        at = progress.now;
        // The same run that goes just as far.
        let mut other = WindowEngine::new(&world, Notes::default(), 1);
        assert_eq!(other.run(at, &mut |_, _| true), Stop::Until);
        assert_eq!(other.outcome().events, progress.events);
        assert!(told(&other.view().states) == told(&view.states));
        seen < 2
    });
    assert_eq!((stop, seen), (Stop::Interrupted, 2));
    assert!(engine.speculated().rolled_back > 0);
    // And goes on from there.
    let end = Time(at.0 + 3 * WIDTH + 1);
    let mut other = WindowEngine::new(&world, Notes::default(), 1);
    assert!(tell(&mut engine, &[end]) == tell(&mut other, &[end]));
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn a_broken_rule_or_a_panic_counts_only_if_it_is_committed() {
    let honest = gossip(64, 128, 256);
    let end = Time(40 * WIDTH);
    let expected = tell(&mut WindowEngine::new(&honest, Notes::default(), 1), &[end]);
    let committed: Vec<u64> = expected.records.iter().map(|&(_, _, value)| value).collect();
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Gossip {
        said: Some(said.clone()),
        ..honest.clone()
    };
    agree(&heard, &[end], &expected, (8, 2), Speculation::fixed(16));
    let mut undone: Vec<u64> = said.lock().unwrap().clone();
    undone.retain(|value| !committed.contains(value));
    assert!(undone.len() > 50, "{}", undone.len());
    let with = |lie, trap| Gossip {
        lie,
        trap,
        ..honest.clone()
    };
    // Rounds are the same in every run, so that these are said again.
    for &lie in undone.iter().step_by(undone.len() / 20) {
        agree(
            &with(Some(lie), None),
            &[end],
            &expected,
            (8, 2),
            Speculation::fixed(16),
        );
        agree(
            &with(None, Some(lie)),
            &[end],
            &expected,
            (8, 2),
            Speculation::fixed(16),
        );
    }
    // A committed one stops it, at any depth.
    for depth in [1, 16] {
        let bad = Some(committed[committed.len() / 2]);
        for (world, text) in [(with(bad, None), "lookahead"), (with(None, bad), "panicked")] {
            let mut engine = OptimisticEngine::new(&world, Notes::default(), 8, 2, Speculation::fixed(depth));
            let stop = engine.run(end, &mut |_, _| true);
            assert!(
                matches!(stop, Stop::Broken(reason) if reason.contains(text)),
                "{stop:?}"
            );
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too long for Miri")]
fn idle_worlds_and_long_gaps_end() {
    let world = gossip(10, 0, 0);
    let mut engine = OptimisticEngine::new(&world, Notes::default(), 4, 2, Speculation::default());
    assert_eq!(engine.run(Time(u64::MAX), &mut |_, _| true), Stop::Idle);
    // One LP that talks to itself, and after long gaps.
    let world = gossip(1, 0, 256);
    let end = Time(20_000 * WIDTH);
    let expected = tell(&mut ReferenceEngine::new(&world, Notes::default()), &[end]);
    let what = agree(&world, &[end], &expected, (1, 1), Speculation::default());
    assert!(what.rounds < 19_000, "windows without events are skipped: {what:?}");
}
