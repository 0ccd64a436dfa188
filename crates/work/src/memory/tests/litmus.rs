//! Small programs with outcomes that no machine may show whose cores do one access after the other.

use super::game::Game;
use crate::memory::shape::{AddressMap, CacheShape, Shape};
use crate::memory::spec::{Evict, NodeArrangement};
use des::rng::{SplitMix, below};
use std::collections::BTreeSet;
use study::Named;

const X: u64 = 0;
const Y: u64 = 1;

/// What a core does: loads (`false`) and stores (`true`) of lines.
type Program = &'static [(u64, bool)];

/// Runs programs of cores, given by node and core, many times with warm and cold caches and messages in any order; returns what
/// loads saw: how often their line had been written since the start, program by program.
fn outcomes(nodes: u32, cores: u32, programs: &[(u32, u32, Program)]) -> BTreeSet<Vec<u32>> {
    let mut seen = BTreeSet::new();
    for seed in 0..20_000 {
        let mut random = SplitMix(seed);
        let mut next = |n: u64| below(random.next_word(), n);
        let shape = Shape {
            nodes,
            cores,
            outstanding: 1,
            l1: CacheShape {
                sets: 1,
                ways: 1 + next(2) as u32,
            },
            l2: CacheShape {
                sets: 1,
                ways: 1 + next(3) as u32,
            },
            misses: 1 + next(2) as u32,
            told: next(2) == 0,
            lines: 1,
            map: AddressMap::Interleaved,
            bucket_bits: 1,
            directory: CacheShape { sets: 0, ways: 0 },
            banks: 1,
            interfaces: 1,
            arrangement: NodeArrangement {
                evict: Evict::ALL[next(2) as usize],
                ..NodeArrangement::default()
            },
            values: false,
        };
        let mut game = Game::new(shape);
        // Caches that are warm in all kinds of ways.
        for _ in 0..next(12) {
            let place = game.place(next(nodes.into()) as u32, next(cores.into()) as u32);
            let place = place.expect("all accesses before are over");
            game.issue(place, next(2), false);
            while !game.referee.wire.is_empty() {
                game.deliver(next(game.referee.wire.len() as u64) as usize);
            }
        }
        let mut at = vec![0; programs.len()];
        let mut loads = vec![Vec::new(); programs.len()];
        loop {
            let mut moved = false;
            for (i, (node, core, program)) in programs.iter().enumerate() {
                let place = node * cores + core;
                let idle = !game.is_open(place);
                if idle && at[i] > 0 && loads[i].len() < at[i] {
                    loads[i].push(game.referee.seen[place as usize]);
                }
                if idle && at[i] < program.len() && next(2) == 0 {
                    let (line, store) = program[at[i]];
                    game.issue(place, line, store);
                    at[i] += 1;
                    moved = true;
                }
            }
            let n = game.referee.wire.len() as u64;
            if n > 0 && next(3) > 0 {
                game.deliver(next(n) as usize);
                moved = true;
            }
            let over = (0..programs.len()).all(|i| loads[i].len() == programs[i].2.len());
            if over && n == 0 && !moved {
                break;
            }
        }
        game.check_end();
        let all = programs.iter().zip(loads).flat_map(|((_, _, program), seen)| {
            let of = program.iter().zip(seen);
            of.filter(|((_, store), _)| !store)
                .map(|(_, seen)| seen)
                .collect::<Vec<_>>()
        });
        seen.insert(all.collect());
    }
    seen
}

/// Where two programs run: on different nodes, on one node, and on different nodes beside idle cores.
const PLACES: [[(u32, u32); 2]; 3] = [[(0, 0), (1, 0)], [(0, 0), (0, 1)], [(2, 1), (0, 1)]];

fn check(first: Program, second: Program, never: &[u32], sometimes: &[&[u32]]) {
    for [a, b] in PLACES {
        let seen = outcomes(3, 2, &[(a.0, a.1, first), (b.0, b.1, second)]);
        assert!(!seen.contains(never), "{a:?} {b:?}: {seen:?}");
        for outcome in sometimes {
            assert!(
                seen.contains(*outcome),
                "{a:?} {b:?}: {outcome:?} is not among {seen:?}"
            );
        }
    }
}

#[test]
fn message_passing_who_sees_the_flag_sees_the_data() {
    check(
        &[(X, true), (Y, true)],
        &[(Y, false), (X, false)],
        &[1, 0],
        &[&[0, 0], &[0, 1], &[1, 1]],
    );
}

#[test]
fn store_buffering_one_of_two_sees_the_other() {
    check(
        &[(X, true), (Y, false)],
        &[(Y, true), (X, false)],
        &[0, 0],
        &[&[0, 1], &[1, 0], &[1, 1]],
    );
}

#[test]
fn load_buffering_not_both_see_what_comes_after() {
    check(
        &[(X, false), (Y, true)],
        &[(Y, false), (X, true)],
        &[1, 1],
        &[&[0, 0], &[0, 1], &[1, 0]],
    );
}

#[test]
fn coherence_of_reads_a_line_never_gets_older() {
    check(
        &[(X, true)],
        &[(X, false), (X, false)],
        &[1, 0],
        &[&[0, 0], &[0, 1], &[1, 1]],
    );
}

#[test]
fn two_readers_see_two_independent_writers_in_one_order() {
    let write: [Program; 2] = [&[(X, true)], &[(Y, true)]];
    let read: [Program; 2] = [&[(X, false), (Y, false)], &[(Y, false), (X, false)]];
    for (cores, places) in [
        (1, [(0, 0), (1, 0), (2, 0), (3, 0)]),
        (2, [(0, 0), (1, 0), (2, 0), (2, 1)]),
    ] {
        let programs: Vec<_> = places
            .iter()
            .zip(write.into_iter().chain(read))
            .map(|(&(node, core), program)| (node, core, program))
            .collect();
        let seen = outcomes(4, cores, &programs);
        assert!(!seen.contains(&vec![1, 0, 1, 0]), "{seen:?}");
        assert!(seen.contains(&vec![1, 0, 0, 1]), "{seen:?}");
    }
}
