//! An engine that chooses between one worker and several loses little by the choice, counted in windows and events.

use des::engine::{Engine as _, Stop};
use des::phold::{Nobody, Phold};
use des::{Time, WindowEngine};

const MEAN: u64 = 1_310_720;

/// A world whose windows hold about `window` events.
fn world(n_lps: u32, window: u64) -> Phold {
    Phold {
        n_lps,
        events_per_lp: 1,
        mean: Time(MEAN),
        lookahead: Time(MEAN * window / u64::from(n_lps)),
        remote: 0.1,
        seed: 5,
    }
}

/// Runs it, compares it with one worker's run, and returns windows and how they were shared.
fn run(world: &Phold, means: u64) -> (u64, des::Teamwork) {
    let end = Time(means * MEAN);
    let mut one = WindowEngine::new(world, Nobody, 16);
    assert_eq!(one.run(end, &mut |_, _| true), Stop::Until);
    let mut choosing = WindowEngine::with_workers(world, Nobody, 16, 2).adaptive();
    assert_eq!(choosing.run(end, &mut |_, _| true), Stop::Until);
    assert_eq!(choosing.digests(), one.digests());
    assert_eq!(choosing.outcome(), one.outcome());
    (one.outcome().windows, choosing.teamwork().unwrap())
}

#[test]
fn thin_windows_are_not_tried_with_several_workers() {
    let (windows, teamwork) = run(&world(1_024, 8), 100);
    assert!(windows > 10_000, "{windows}");
    assert_eq!(
        (teamwork.events_shared, teamwork.windows_shared),
        (0, 0),
        "{teamwork:?}"
    );
    let (events, worth) = teamwork.thin.unwrap();
    assert!(events > 3.0 && events < 5.0 && worth > events, "{teamwork:?}");
}

#[test]
fn a_trial_that_fails_is_a_small_part_of_the_run() {
    // Just thick enough to be tried.
    let (windows, teamwork) = run(&world(1_024, 32), 1_000);
    assert!(windows > 30_000, "{windows}");
    assert!(teamwork.windows_shared > 0 && teamwork.thin.is_none(), "{teamwork:?}");
    assert!(
        teamwork.given_up.is_none() || teamwork.windows_shared * 20 < windows,
        "{windows} {teamwork:?}"
    );
}

#[test]
fn thick_windows_are_tried() {
    let (_, teamwork) = run(&world(16_384, 1_600), 20);
    assert!(teamwork.events_shared > 0 && teamwork.thin.is_none(), "{teamwork:?}");
}
