//! A run that is saved between two windows and goes on elsewhere has the history of one that was never stopped.

use des::engine::Engine;
use des::phold::{Nobody, Phold};
use des::{ReferenceEngine, RollbackCheck, Stop, Time, Torn, WindowEngine, history};
use proptest::prelude::*;

fn world(n_lps: u32, events_per_lp: u32, lookahead: u64, remote: f64, seed: u64) -> Phold {
    Phold {
        n_lps,
        events_per_lp,
        mean: Time(1_310_720),
        lookahead: Time(lookahead),
        remote,
        seed,
    }
}

/// The engines by number; 0 is the reference.
const ENGINES: u32 = 5;

fn engine<'w>(world: &'w Phold, number: u32, saved: Option<&[u8]>) -> Result<Box<dyn Engine<Phold> + 'w>, Torn> {
    let window = |blocks, workers| match saved {
        None => Ok(WindowEngine::with_workers(world, Nobody, blocks, workers)),
        Some(saved) => WindowEngine::restore(world, Nobody, saved, blocks, workers),
    };
    Ok(match (number, saved) {
        (0, None) => Box::new(ReferenceEngine::new(world, Nobody)),
        (0, Some(saved)) => Box::new(ReferenceEngine::restore(world, saved)?),
        (1, None) => Box::new(RollbackCheck::new(world, Nobody)),
        (1, Some(saved)) => Box::new(RollbackCheck::restore(world, Nobody, saved)?),
        (2, _) => Box::new(window(1, 1)?),
        (3, _) => Box::new(window(8, 1)?),
        _ => Box::new(window(64, 3)?),
    })
}

fn run_to(engine: &mut dyn Engine<Phold>, until: Time) {
    assert_eq!(engine.run(until, &mut |_, _| true), Stop::Until);
    assert_eq!(engine.reached(), until);
}

fn outcome(mut engine: Box<dyn Engine<Phold> + '_>, end: Time) -> (u64, u64) {
    run_to(&mut *engine, end);
    (history(&engine.digests()), engine.outcome().events)
}

/// Saves at `cuts` on one engine after another and finishes on the last.
fn check(world: &Phold, cuts: &[u64], end: Time, first: u32) {
    let whole = outcome(engine(world, 0, None).unwrap(), end);
    let mut saved: Option<Vec<u8>> = None;
    for (number, &cut) in (first..).zip(cuts) {
        let mut engine = engine(world, number % ENGINES, saved.as_deref()).unwrap();
        run_to(&mut *engine, Time(cut));
        saved = Some(engine.save());
    }
    let last = first + cuts.len() as u32;
    let engine = engine(world, last % ENGINES, saved.as_deref()).unwrap();
    assert_eq!(
        outcome(engine, end),
        whole,
        "{world:?} cut at {cuts:?}, from engine {first}"
    );
}

#[test]
fn a_run_goes_on_from_any_engine_to_any_other() {
    let world = world(256, 4, 131_072, 0.7, 7);
    let end = Time(12_000_000);
    for from in 0..ENGINES {
        for to in 0..ENGINES {
            // At a border of windows, within one, at the very start.
            for cut in [131_072 * 40, 5_000_001, 0] {
                let mut before = engine(&world, from, None).unwrap();
                run_to(&mut *before, Time(cut));
                let after = engine(&world, to, Some(&before.save())).unwrap();
                assert_eq!(outcome(after, end), outcome(before, end), "{from} to {to} at {cut}");
            }
        }
    }
}

#[test]
fn every_engine_writes_the_same_bytes_but_for_its_windows() {
    let world = world(300, 2, 131_072, 0.5, 3);
    let saved = |number| {
        let mut engine = engine(&world, number, None).unwrap();
        run_to(&mut *engine, Time(6_000_000));
        let mut bytes = engine.save();
        bytes[16..24].fill(0);
        bytes
    };
    let reference = saved(0);
    assert!(reference.len() > 300 * 32);
    for number in 1..ENGINES {
        assert!(saved(number) == reference, "engine {number} writes something else");
    }
}

#[test]
fn an_interrupted_run_can_be_saved_where_it_stands() {
    let world = world(2_000, 8, 131_072, 0.5, 11);
    let end = Time(80_000_000);
    let whole = outcome(engine(&world, 2, None).unwrap(), end);
    for number in 0..ENGINES {
        let mut engine_ = engine(&world, number, None).unwrap();
        let mut asked = 0;
        let stop = engine_.run(end, &mut |_, _| {
            asked += 1;
            asked == 0
        });
        assert_eq!((stop, asked), (Stop::Interrupted, 1));
        assert!(engine_.reached() < end && engine_.outcome().events > 0);
        let after = engine(&world, (number + 2) % ENGINES, Some(&engine_.save())).unwrap();
        assert_eq!(outcome(after, end), whole, "from engine {number}");
        // And the engine itself goes on.
        assert_eq!(outcome(engine_, end), whole, "engine {number}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let small = world(64, 2, 131_072, 0.5, 1);
    let mut before = engine(&small, 2, None).unwrap();
    run_to(&mut *before, Time(1_000_000));
    let saved = before.save();
    let refused = |world: &Phold, saved: &[u8]| {
        let reasons: Vec<_> = (0..ENGINES)
            .map(|number| engine(world, number, Some(saved)).err())
            .collect();
        assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{reasons:?}");
        reasons[0].map(|torn| torn.0)
    };
    assert_eq!(refused(&small, &saved), None);
    let more = [&saved[..], &[0]].concat();
    assert_eq!(refused(&small, &more), Some("there is more behind its end"));
    for length in (0..saved.len()).step_by(97) {
        assert_eq!(
            refused(&small, &saved[..length]),
            Some("it ends too early"),
            "{length} bytes"
        );
    }
    let other = world(65, 2, 131_072, 0.5, 1);
    assert_eq!(
        refused(&other, &saved),
        Some("it has another number of logical processes")
    );
    let mut foreign = saved.clone();
    let event = foreign.len() - 32;
    foreign[event + 8] = 200;
    assert_eq!(
        refused(&small, &foreign),
        Some("it holds an event that this run cannot have")
    );
    foreign.copy_from_slice(&saved);
    foreign[event..event + 8].fill(0);
    assert_eq!(
        refused(&small, &foreign),
        Some("it holds an event that this run cannot have")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn cuts_anywhere_change_nothing(
        n_lps in 1u32..200,
        events in 1u32..5,
        lookahead in prop::sample::select(vec![2u64, 1_000, 131_072, 1_000_000]),
        seed in 0u64..100,
        first in 0..ENGINES,
        mut cuts in prop::collection::vec(0u64..6_000_000, 1..5),
    ) {
        cuts.sort_unstable();
        check(&world(n_lps, events, lookahead, 0.5, seed), &cuts, Time(6_000_000), first);
    }
}
