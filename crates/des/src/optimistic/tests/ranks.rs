//! The same over processes: ranks that run ahead.

use super::*;
use crate::ranks::{RankEngine, RankPlan, local};

/// Everything that a run of the gossip world on ranks shows, and what speculation did on each.
fn tell_on_ranks(
    world: &Gossip,
    phases: &[Time],
    (ranks, workers): (usize, u32),
    speculation: Option<Speculation>,
) -> (Told, Vec<Option<Speculated>>) {
    let plan = RankPlan { workers, speculation };
    let mut ends = local::connect(ranks);
    let told: Vec<(Told, Vec<u64>, Option<Speculated>)> = std::thread::scope(|scope| {
        let runs = ends.iter_mut().map(|end| {
            scope.spawn(move || {
                let mut engine = RankEngine::new(world, Notes::default(), end, plan);
                let told = tell(&mut engine, phases);
                (told, engine.digests(), engine.speculated())
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let digests: Vec<u64> = told.iter().flat_map(|(_, digests, _)| digests.clone()).collect();
    let speculated = told.iter().map(|(_, _, speculated)| *speculated).collect();
    let mut parts = told.into_iter().map(|(told, _, _)| told);
    let mut all = parts.next().unwrap();
    for part in parts {
        assert_eq!(part.events, all.events);
        all.states.extend(part.states);
        all.records.extend(part.records);
        all.pending.extend(part.pending);
    }
    all.records.sort_unstable();
    all.pending.sort_unstable();
    all.history = history(&digests);
    (all, speculated)
}

#[test]
fn a_world_in_which_all_depends_on_all_gives_one_answer_on_ranks() {
    let mut antis = 0;
    for (n_lps, remote, talkers) in [(97, 26, 256), (300, 256, 256), (64, 128, 60), (1, 0, 256)] {
        let world = gossip(n_lps, remote, talkers);
        let end = Time(60 * WIDTH + 333);
        let expected = tell(&mut ReferenceEngine::new(&world, Notes::default()), &[end]);
        // Phases that cut windows, and one that does not.
        let phases = [
            Time(7 * WIDTH + 1),
            Time(7 * WIDTH + 999),
            Time(20 * WIDTH),
            Time(20 * WIDTH + 5),
            end,
        ];
        for shape in [(1, 1), (2, 1), (3, 1), (2, 2), (1, 3), (3, 2)] {
            let depths = [1, 5, 64].map(|depth| Some(Speculation::fixed(depth)));
            for speculation in depths.into_iter().chain([Some(Speculation::default()), None]) {
                let (told, speculated) = tell_on_ranks(&world, &phases, shape, speculation);
                let what = format!("{shape:?} ranks and workers, {speculation:?}, {world:?}");
                assert_eq!(told.events, expected.events, "{what}");
                assert!(told == expected, "{what}");
                let did = speculated.into_iter().flatten();
                let (mut committed, mut ranks) = (0, 0);
                for did in did {
                    ranks += 1;
                    committed += did.committed;
                    antis += did.antis;
                    assert_eq!(did.executed, did.committed + did.rolled_back, "{what}");
                }
                assert!(ranks == 0 || committed == expected.events, "{what}");
            }
        }
    }
    assert!(antis > 10_000, "{antis}");
}

#[test]
fn a_broken_rule_on_one_rank_stops_all_once_it_is_committed() {
    let honest = gossip(64, 128, 256);
    let end = Time(40 * WIDTH);
    let expected = tell(&mut WindowEngine::new(&honest, Notes::default(), 1), &[end]);
    let (at, _, lie) = expected.records[expected.records.len() / 2];
    let world = Gossip {
        lie: Some(lie),
        ..honest
    };
    for (workers, speculation) in [
        (1, Some(Speculation::fixed(16))),
        (2, Some(Speculation::fixed(3))),
        (2, None),
    ] {
        let plan = RankPlan { workers, speculation };
        let mut ends = local::connect(2);
        let stops: Vec<(bool, Stop)> = std::thread::scope(|scope| {
            let runs = ends.iter_mut().map(|transport| {
                let world = &world;
                scope.spawn(move || {
                    let mut engine = RankEngine::new(world, Notes::default(), transport, plan);
                    let stop = engine.run(end, &mut |_, _| true);
                    assert_eq!(engine.trouble(), None);
                    (engine.lps().contains(&at), stop)
                })
            });
            let runs: Vec<_> = runs.collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        for (own, stop) in stops {
            let words = if own { "lookahead" } else { "on another rank" };
            assert!(
                matches!(stop, Stop::Broken(reason) if reason.contains(words)),
                "{stop:?}"
            );
        }
    }
}
