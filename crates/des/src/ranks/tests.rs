use super::*;
use crate::engine::{Engine, Gathered, Stop, history};
use crate::optimistic::Speculation;
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

/// What `job` gives on every rank. Two meet by pairs, more add up what they say.
fn on_ranks<R: Send>(ranks: usize, job: impl Fn(&mut local::Local) -> R + Sync) -> Vec<R> {
    let mut ends = match ranks {
        ..=2 => local::connect(ranks),
        _ => local::connect_adding_up(ranks),
    };
    std::thread::scope(|scope| {
        let runs: Vec<_> = ends.iter_mut().map(|end| scope.spawn(|| job(end))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    })
}

/// Ranks and how each runs.
type Shape = (usize, RankPlan);

/// So many ranks with so many workers each.
fn of(ranks: usize, workers: u32) -> Shape {
    (ranks, RankPlan::conservative(workers))
}

/// The same, running ahead.
fn ahead(ranks: usize, workers: u32, speculation: Speculation) -> Shape {
    let plan = RankPlan {
        workers,
        speculation: Some(speculation),
    };
    (ranks, plan)
}

/// An engine of one rank, at the beginning or at what rank 0 goes on from.
fn engine<'w, 't>(
    world: &'w Phold,
    end: &'t mut local::Local,
    plan: RankPlan,
    saved: Option<&[u8]>,
) -> RankEngine<'w, 't, Phold> {
    match saved {
        None => RankEngine::new(world, Nobody, end, plan),
        // What the others have does not count.
        Some(saved) => {
            let saved = if end.rank() == 0 { saved } else { b"nothing" };
            RankEngine::restore(world, Nobody, end, plan, saved).unwrap()
        }
    }
}

/// Digest and events of a run on ranks through several end times, and what they have saved at the last.
fn run(world: &Phold, (ranks, plan): Shape, saved: Option<&[u8]>, phases: &[Time]) -> (u64, u64, Vec<u8>) {
    let results = on_ranks(ranks, |end| {
        let mut engine = engine(world, end, plan, saved);
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

fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (1, 3), (2, 5)]
        .map(|(ranks, workers)| of(ranks, workers))
        .into();
    // As far ahead as has paid, and forced: much is rolled back.
    shapes.extend([(2, 1), (2, 2)].map(|(ranks, workers)| ahead(ranks, workers, Speculation::default())));
    for (ranks, workers, depth) in [(1, 1, 8), (2, 1, 5), (3, 1, 64), (3, 2, 16), (1, 3, 3)] {
        shapes.push(ahead(ranks, workers, Speculation::fixed(depth)));
    }
    shapes
}

#[test]
fn ranks_give_the_history_of_one_process() {
    for (n_lps, remote) in [(300, 0.1), (1_000, 1.0), (5, 0.5), (1, 1.0)] {
        let world = world(n_lps, remote);
        let end = Time(9_000_000);
        let (digest, events, saved) = alone(&world, None, end);
        for shape in shapes() {
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
        let mut before: Vec<_> = [of(2, 1), of(3, 2), ahead(2, 2, Speculation::fixed(6))]
            .into_iter()
            .map(|shape| run(&world, shape, None, &[middle]).2)
            .collect();
        before.push(alone(&world, None, middle).2);
        for (n, shape) in shapes().into_iter().enumerate() {
            let after = run(&world, shape, Some(&before[n % before.len()]), &[end]);
            assert_eq!((after.0, after.1), (digest, events), "on {shape:?} from {middle}");
        }
        for saved in &before {
            let after = alone(&world, Some(saved), end);
            assert_eq!((after.0, after.1), (digest, events), "alone from {middle}");
        }
    }
}

#[test]
fn what_is_much_comes_to_the_first_rank_in_turn() {
    for (lengths, most, parts_at_a_time) in [
        (vec![0], 10, 0),
        (vec![9, 5, 5], 10, 2),
        (vec![0, 11, 3, 3, 3, 20, 0, 0], 10, 3),
        (vec![0, 0, 0], 0, 2),
        (vec![7, 1, 1], u64::MAX, 2),
    ] {
        let all = &lengths;
        let came = on_ranks(lengths.len(), |end| {
            struct Counted<'a>(&'a mut dyn Transport, usize);
            impl Transport for Counted<'_> {
                fn rank(&self) -> usize {
                    self.0.rank()
                }

                fn size(&self) -> usize {
                    self.0.size()
                }

                fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
                    let came = self.0.exchange(out)?;
                    let others = came[1..].iter().filter(|part| part.len() != 8 && !part.is_empty());
                    self.1 = self.1.max(others.count());
                    Ok(came)
                }
            }
            let me = end.rank();
            let mut counted = Counted(end, 0);
            let mut came = Vec::new();
            bring_in_turn(&mut counted, vec![me as u8; all[me]], most, |part| came.push(part)).unwrap();
            (came, counted.1)
        });
        let expected: Vec<Vec<u8>> = (1..)
            .zip(&lengths[1..])
            .map(|(rank, &length)| vec![rank; length])
            .collect();
        assert_eq!(came[0].0, expected);
        assert!(came[0].1 <= parts_at_a_time, "{lengths:?}: {} at a time", came[0].1);
        assert!(
            came[1..]
                .iter()
                .all(|(came, at_a_time)| came.is_empty() && *at_a_time == 0)
        );
    }
}

#[test]
fn ranks_that_are_stopped_can_be_saved_where_they_stand() {
    // Long enough for the watcher to be asked; only one rank wants to stop.
    let world = world(4_000, 0.5);
    let end = Time(400_000_000);
    let (digest, events, _) = alone(&world, None, end);
    let deep = Speculation::fixed(4);
    for (shape, who) in [
        (of(2, 1), 1),
        (of(2, 2), 0),
        (of(3, 1), 2),
        (ahead(2, 1, deep), 0),
        (ahead(2, 2, deep), 1),
    ] {
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
        let after = run(&world, of(2, 1), Some(saved), &[end]);
        assert_eq!((after.0, after.1), (digest, events), "{shape:?}");
    }
}

#[test]
fn all_ranks_refuse_what_one_cannot_read() {
    let small = world(100, 0.5);
    let (_, _, saved) = run(&small, of(2, 1), None, &[Time(1_000_000)]);
    let refused = |saved: &[u8]| {
        on_ranks(3, |end| {
            match RankEngine::restore(&small, Nobody, end, RankPlan::conservative(1), saved) {
                Ok(_) => None,
                Err(ResumeError::Torn(Torn(reason))) => Some(reason),
                Err(ResumeError::Broken(Broken(reason))) => panic!("{reason}"),
            }
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
        on_ranks(2, |end| RankEngine::restore(
            &other,
            Nobody,
            end,
            RankPlan::conservative(1),
            &saved
        )
        .is_err()),
        [true; 2]
    );
}

#[test]
fn a_rank_that_is_gone_ends_the_run_of_the_others() {
    let world = world(100, 1.0);
    for (_, plan) in [of(2, 1), of(2, 3), ahead(2, 2, Speculation::default())] {
        let mut ends = local::connect(2);
        drop(ends.pop());
        let mut engine = RankEngine::new(&world, Nobody, &mut ends[0], plan);
        assert!(matches!(engine.run(Time(1_000), &mut |_, _| true), Stop::Broken(_)));
        assert_eq!(engine.trouble(), Some("rank 1 is gone"));
    }
}

#[test]
fn any_rank_can_stop_all() {
    let world = world(4_000, 0.5);
    for (_, plan) in [of(2, 1), of(2, 2), ahead(2, 2, Speculation::default())] {
        let stops = on_ranks(2, |end| {
            let rank = end.rank();
            let mut engine = RankEngine::new(&world, Nobody, end, plan);
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

#[test]
fn ranks_that_run_ahead_go_back_and_agree_on_it() {
    // Everything goes to other LPs, half of them on the other rank: what is run ahead is mostly wrong.
    let world = world(600, 1.0);
    let end = Time(9_000_000);
    let (digest, events, _) = alone(&world, None, end);
    let (ranks, plan) = ahead(2, 2, Speculation::fixed(12));
    let results = on_ranks(ranks, |end_| {
        let mut engine = engine(&world, end_, plan, None);
        assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
        (engine.speculated().unwrap(), engine.digests(), engine.outcome().events)
    });
    let digests: Vec<u64> = results.iter().flat_map(|(_, digests, _)| digests.clone()).collect();
    assert_eq!(history(&digests), digest);
    let did: Vec<_> = results.iter().map(|(did, _, _)| *did).collect();
    assert_eq!(did.iter().map(|did| did.committed).sum::<u64>(), events);
    assert!(results.iter().all(|(_, _, all)| *all == events));
    for rank in &did {
        assert_eq!(rank.executed, rank.committed + rank.rolled_back);
        assert!(rank.rolled_back > events / 20 && rank.antis > 0, "{did:?}");
        assert_eq!(
            (rank.deepest, rank.rounds, rank.peak_kept),
            (12, did[0].rounds, did[0].peak_kept)
        );
    }
}

#[test]
fn ranks_keep_no_more_than_they_may() {
    let world = world(600, 0.3);
    let end = Time(9_000_000);
    let (digest, events, _) = alone(&world, None, end);
    let little = Speculation {
        kept: 1,
        ..Speculation::fixed(8)
    };
    let other = run(&world, ahead(2, 1, little), None, &[end]);
    assert_eq!((other.0, other.1), (digest, events));
    let rounds = |speculation| {
        let (ranks, plan) = ahead(2, 1, speculation);
        on_ranks(ranks, |end_| {
            let mut engine = engine(&world, end_, plan, None);
            assert_eq!(engine.run(end, &mut |_, _| true), Stop::Until);
            engine.speculated().unwrap().rounds
        })
    };
    let (short, long) = (rounds(little), rounds(Speculation::fixed(8)));
    assert!(short[0] == short[1] && long[0] == long[1]);
    assert!(short[0] > 3 * long[0], "one window a round: {short:?}, eight: {long:?}");
}
