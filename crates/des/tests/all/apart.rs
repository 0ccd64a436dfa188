//! A run that is divided into LPs that do not meet, each of which is run by itself, is the run.

use des::apart::{RunPart, divide, unite};
use des::engine::Engine;
use des::phold::{Nobody, Phold};
use des::{ReferenceEngine, Stop, Time, WindowEngine, history};

fn world(remote: f64) -> Phold {
    Phold {
        n_lps: 200,
        events_per_lp: 3,
        mean: Time(1_310_720),
        lookahead: Time(131_072),
        remote,
        seed: 11,
    }
}

fn to<'w>(mut engine: Box<dyn Engine<Phold> + 'w>, until: Time) -> Box<dyn Engine<Phold> + 'w> {
    assert_eq!(engine.run(until, &mut |_, _| true), Stop::Until);
    engine
}

/// Divides a run by whether the names of LPs are multiples of three, and runs each part by itself.
fn parts(world: &Phold, at: Time, end: Time) -> Vec<RunPart> {
    let whole = to(Box::new(ReferenceEngine::new(world, Nobody)), at).save();
    let held: Vec<bool> = (0..world.n_lps).map(|name| name % 3 == 0).collect();
    let halves = divide(world, &whole, &held, |_, _, events| {
        assert!(events.iter().all(|event| held[des::Event::lp(event) as usize]));
        Some([Nobody; 2])
    });
    let [one, others] = halves.unwrap().unwrap();
    let one = to(Box::new(ReferenceEngine::restore(world, &one).unwrap()), end).save();
    let others = WindowEngine::restore(world, Nobody, &others, 8, 1).unwrap();
    let others = to(Box::new(others), end).save();
    [one, others].map(|saved| RunPart::new(world, saved).unwrap()).into()
}

#[test]
fn parts_that_do_not_meet_are_the_whole() {
    let (world, end) = (world(0.0), Time(9_000_000));
    for at in [0, 131_072 * 7, 5_000_001] {
        let parts = parts(&world, Time(at), end);
        assert!(!parts[0].meets(&parts[1]) && parts[0].meets(&parts[0]));
        assert_eq!(parts[0].touched.iter().filter(|&&touched| touched).count(), 67);
        let united = unite(&world, &parts).unwrap().unwrap();
        let ends = Time(12_000_000);
        let told = |engine: Box<dyn Engine<Phold> + '_>| {
            let engine = to(engine, ends);
            (history(&engine.digests()), engine.outcome().events)
        };
        let whole = told(Box::new(ReferenceEngine::new(&world, Nobody)));
        let again = ReferenceEngine::restore(&world, &united).unwrap();
        assert_eq!(again.reached(), end);
        assert_eq!(told(Box::new(again)), whole, "divided at {at}");
    }
}

#[test]
fn parts_that_meet_are_found() {
    let world = world(0.001);
    let parts = parts(&world, Time(131_072), Time(9_000_000));
    assert!(parts[0].meets(&parts[1]));
    assert!(unite(&world, &parts).unwrap().is_none());
}

#[test]
fn what_is_divided_and_put_together_at_once_is_as_it_was() {
    let world = world(0.7);
    let whole = to(Box::new(ReferenceEngine::new(&world, Nobody)), Time(2_000_000)).save();
    let held: Vec<bool> = (0..world.n_lps).map(|name| name % 7 < 3).collect();
    let [one, others] = divide(&world, &whole, &held, |_, _, _| Some([Nobody; 2]))
        .unwrap()
        .unwrap();
    let parts = [one, others].map(|saved| RunPart::new(&world, saved).unwrap());
    assert_eq!(unite(&world, &parts).unwrap(), Some(whole));
}
