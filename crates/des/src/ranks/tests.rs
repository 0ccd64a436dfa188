use super::*;
use crate::engine::{Engine, Gathered, Stop, history};
use crate::phold::{Nobody, Phold};
use crate::time::Time;
use crate::window::WindowEngine;

fn world(n_lps: u32, remote: f64) -> Phold {
    Phold {
        n_lps,
        events_per_lp: 3,
        mean: Time(1_310_720),
        lookahead: Time(131_072),
        remote,
        seed: 7,
    }
}

/// What `job` gives on every rank.
fn on_ranks<R: Send>(ranks: usize, job: impl Fn(&mut local::Local) -> R + Sync) -> Vec<R> {
    let mut ends = local::connect(ranks);
    std::thread::scope(|scope| {
        let runs: Vec<_> = ends.iter_mut().map(|end| scope.spawn(|| job(end))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// Ranks and workers of each.
type Shape = (usize, u32);

/// An engine of one rank, at the beginning or at what rank 0 goes on from.
fn engine<'w, 't>(
    world: &'w Phold,
    end: &'t mut local::Local,
    workers: u32,
    saved: Option<&[u8]>,
) -> RankEngine<'w, 't, Phold> {
    match saved {
        None => RankEngine::new(world, Nobody, end, workers),
        // What the others have does not count.
        Some(saved) => {
            let saved = if end.rank() == 0 { saved } else { b"nothing" };
            RankEngine::restore(world, Nobody, end, workers, saved).unwrap()
        }
    }
}

/// Digest and events of a run on ranks through several end times, and what they have saved at the last.
fn run(world: &Phold, (ranks, workers): Shape, saved: Option<&[u8]>, phases: &[Time]) -> (u64, u64, Vec<u8>) {
    let results = on_ranks(ranks, |end| {
        let mut engine = engine(world, end, workers, saved);
        for &until in phases {
            assert_eq!(engine.run(until, &mut |_, _| true), Stop::Until);
            assert_eq!(engine.reached(), until);
        }
        assert_eq!(engine.lps().len(), engine.digests().len());
        (engine.digests(), engine.outcome().events, engine.gather().unwrap())
    });
    assert!(results.iter().all(|(_, events, _)| *events == results[0].1));
    assert!(
        results[1..]
            .iter()
            .all(|(_, _, gathered)| *gathered == Gathered::Elsewhere)
    );
    let digests: Vec<u64> = results.iter().flat_map(|(digests, _, _)| digests.clone()).collect();
    match results.into_iter().next() {
        Some((_, events, Gathered::Whole(saved))) => (history(&digests), events, saved),
        other => panic!("{other:?}"),
    }
}

/// Digest and events of a run on one process, and what it has saved.
fn alone(world: &Phold, saved: Option<&[u8]>, end: Time) -> (u64, u64, Vec<u8>) {
    let mut engine = match saved {
        None => WindowEngine::new(world, Nobody, 8),
        Some(saved) => WindowEngine::restore(world, Nobody, saved, 4, 2).unwrap(),
    };
    assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
    assert_eq!(engine.reached(), end);
    (history(&engine.digests()), engine.outcome().events, engine.save())
}

/// Saved bytes without the number of windows, which is the engine's own.
fn but_windows(mut saved: Vec<u8>) -> Vec<u8> {
    saved[16..24].fill(0);
    saved
}

const SHAPES: [Shape; 7] = [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (1, 3), (2, 5)];

#[test]
fn ranks_give_the_history_of_one_process() {
    for (n_lps, remote) in [(300, 0.1), (1_000, 1.0), (5, 0.5), (1, 1.0)] {
        let world = world(n_lps, remote);
        let end = Time(9_000_000);
        let (digest, events, saved) = alone(&world, None, end);
        for shape in SHAPES {
            let phases = [Time(1_000_001), Time(5_000_000), end];
            let other = run(&world, shape, None, &phases);
            assert_eq!((other.0, other.1), (digest, events), "{shape:?}, {world:?}");
            assert!(
                but_windows(other.2) == but_windows(saved.clone()),
                "{shape:?}, {world:?}"
            );
        }
    }
}

#[test]
fn what_ranks_have_reached_goes_on_anywhere() {
    let world = world(700, 0.4);
    let end = Time(9_000_000);
    let (digest, events, _) = alone(&world, None, end);
    // Within a window, and at a border of windows.
    for middle in [Time(4_000_003), Time(131_072 * 30)] {
        let mut before: Vec<_> = SHAPES[..5]
            .iter()
            .map(|&shape| run(&world, shape, None, &[middle]).2)
            .collect();
        before.push(alone(&world, None, middle).2);
        for saved in &before {
            for shape in SHAPES {
                let after = run(&world, shape, Some(saved), &[end]);
                assert_eq!((after.0, after.1), (digest, events), "on {shape:?} from {middle}");
            }
            let after = alone(&world, Some(saved), end);
            assert_eq!((after.0, after.1), (digest, events), "alone from {middle}");
        }
    }
}

#[test]
fn ranks_that_are_stopped_can_be_saved_where_they_stand() {
    // Long enough for the watcher to be asked; only one rank wants to stop.
    let world = world(4_000, 0.5);
    let end = Time(400_000_000);
    let (digest, events, _) = alone(&world, None, end);
    for (shape, who) in [((2, 1), 1), ((2, 2), 0), ((3, 1), 2)] {
        let stopped = on_ranks(shape.0, |transport| {
            let rank = transport.rank();
            let mut engine = engine(&world, transport, shape.1, None);
            let mut asked = 0;
            let stop = engine.run(end, &mut |_, progress| {
                asked += 1;
                assert!(progress.events > 0);
                rank != who || asked < 2
            });
            assert_eq!((stop, asked), (Stop::Interrupted, 2), "{shape:?}");
            assert!(engine.reached() < end && engine.reached() > Time::ZERO);
            let gathered = engine.gather().unwrap();
            // The engine itself goes on, too.
            assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
            assert_eq!(engine.outcome().events, events);
            (gathered, engine.digests())
        });
        let digests: Vec<u64> = stopped.iter().flat_map(|(_, digests)| digests.clone()).collect();
        assert_eq!(history(&digests), digest);
        let Gathered::Whole(saved) = &stopped[0].0 else {
            panic!("{stopped:?}");
        };
        let after = run(&world, (2, 1), Some(saved), &[end]);
        assert_eq!((after.0, after.1), (digest, events), "{shape:?}");
    }
}

#[test]
fn all_ranks_refuse_what_one_cannot_read() {
    let small = world(100, 0.5);
    let (_, _, saved) = run(&small, (2, 1), None, &[Time(1_000_000)]);
    let refused = |saved: &[u8]| {
        on_ranks(3, |end| match RankEngine::restore(&small, Nobody, end, 1, saved) {
            Ok(_) => None,
            Err(Refused::Torn(Torn(reason))) => Some(reason),
            Err(Refused::Broken(Broken(reason))) => panic!("{reason}"),
        })
    };
    assert_eq!(refused(&saved), [None; 3]);
    let elsewhere = Some("another rank cannot read its part");
    assert_eq!(
        refused(&saved[..saved.len() - 1]),
        [Some("it ends too early"), elsewhere, elsewhere]
    );
    // Behind the head, 24 bytes of each LP, the last 8 of them the length of its state: the last LP but one gets a byte of the last.
    let mut shifted = saved.clone();
    let place = |lp: usize| 40 + lp * 24 + 16;
    shifted[place(98)] += 1;
    shifted[place(99)] -= 1;
    let elsewhere = Some("another rank cannot read its part");
    let own = Some("the state of a logical process is too long");
    assert_eq!(refused(&shifted), [elsewhere, elsewhere, own]);
    let other = world(101, 0.5);
    assert_eq!(
        on_ranks(2, |end| RankEngine::restore(&other, Nobody, end, 1, &saved).is_err()),
        [true; 2]
    );
}

#[test]
fn a_rank_that_is_gone_ends_the_run_of_the_others() {
    let world = world(100, 1.0);
    for workers in [1, 3] {
        let mut ends = local::connect(2);
        drop(ends.pop());
        let mut engine = RankEngine::new(&world, Nobody, &mut ends[0], workers);
        assert!(matches!(engine.run(Time(1_000), &mut |_, _| true), Stop::Broken(_)));
        assert_eq!(engine.trouble(), Some("rank 1 is gone"));
    }
}

#[test]
fn any_rank_can_stop_all() {
    let world = world(4_000, 0.5);
    for workers in [1, 2] {
        let stops = on_ranks(2, |end| {
            let rank = end.rank();
            let mut engine = RankEngine::new(&world, Nobody, end, workers);
            engine.run(Time(1 << 40), &mut |_, _| rank == 0)
        });
        assert_eq!(stops, [Stop::Interrupted; 2]);
    }
}

#[test]
fn ranks_agree_on_what_any_of_them_says() {
    let said = on_ranks(3, |end| {
        let word = 1 << end.rank();
        agree(end, word)
    });
    assert_eq!(said, [Ok(7), Ok(7), Ok(7)]);
}
