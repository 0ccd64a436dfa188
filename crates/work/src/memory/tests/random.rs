//! Random accesses to few lines in tiny caches, messages in any order.

use super::game::Game;
use crate::memory::protocol::{COPIES, COPY_EVENTS, HOME_EVENTS, HOMES, copy, home};
use crate::memory::shape::{AddressMap, CacheShape, Shape};
use crate::memory::spec::{Evict, NodeArrangement};
use des::rng::{SplitMix, below};
use std::collections::BTreeSet;
use study::Named;

/// Which message under way comes next.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Any.
    Any,
    /// The oldest.
    Oldest,
    /// The newest.
    Newest,
    /// The oldest or the newest of any class, so that single messages are overtaken by thousands.
    Ends,
}

const ORDERS: [Order; 4] = [Order::Any, Order::Oldest, Order::Newest, Order::Ends];

/// A number below `n`.
fn next(random: &mut SplitMix, n: u64) -> u64 {
    below(random.next_word(), n)
}

fn pick(order: Order, n: u64, random: &mut SplitMix) -> usize {
    let newest = n as usize - 1;
    match order {
        Order::Any => next(random, n) as usize,
        Order::Oldest => 0,
        Order::Newest => newest,
        Order::Ends => [0, newest][next(random, 16).min(1) as usize],
    }
}

/// Plays `accesses` accesses; `traffic` messages come for each on average at most.
fn play(shape: Shape, order: Order, stores: u64, accesses: u64, seed: u64) -> Game {
    let mut game = Game::new(shape);
    let random = &mut SplitMix(seed);
    let mut left = accesses;
    while left > 0 || !game.referee.wire.is_empty() {
        let n = game.referee.wire.len() as u64;
        if left > 0 && (n == 0 || next(random, 2) == 0) {
            let node = next(random, shape.nodes.into()) as u32;
            let core = next(random, shape.cores.into()) as u32;
            if let Some(place) = game.place(node, core) {
                let line = next(random, shape.all_lines());
                let store = next(random, 100) < stores;
                game.issue(place, line, store);
                left -= 1;
                continue;
            }
            if n == 0 {
                continue;
            }
        }
        game.deliver(pick(order, game.referee.wire.len() as u64, random));
    }
    game.check_end();
    game
}

fn shape_of(seed: u64) -> Shape {
    let mut random = SplitMix(seed ^ 0x5EED);
    let mut up_to = |n: u64| 1 + next(&mut random, n) as u32;
    Shape {
        nodes: 1 + up_to(4),
        cores: up_to(3),
        outstanding: up_to(3),
        l1: CacheShape {
            sets: up_to(2),
            ways: up_to(2),
        },
        l2: CacheShape {
            sets: up_to(2),
            ways: up_to(3),
        },
        misses: up_to(4),
        told: up_to(2) == 1,
        lines: up_to(3).into(),
        map: [AddressMap::Blocks, AddressMap::Interleaved][up_to(2) as usize - 1],
        bucket_bits: up_to(3) - 1,
        directory: CacheShape { sets: 0, ways: 0 },
        banks: 1,
        interfaces: 1,
        arrangement: NodeArrangement {
            evict: Evict::ALL[up_to(2) as usize - 1],
            ..NodeArrangement::default()
        },
        values: false,
    }
}

#[test]
fn every_load_and_store_sees_what_was_written_last_whatever_messages_overtake() {
    let (mut copies, mut homes) = (BTreeSet::<(u8, u8)>::new(), BTreeSet::<(u8, u8)>::new());
    let mut by = [0; 4];
    let mut played = 0;
    for seed in 0..600 {
        for order in ORDERS {
            let game = play(shape_of(seed), order, 10 + seed % 5 * 20, 1_000, seed);
            copies.extend(&game.referee.copies);
            homes.extend(&game.referee.homes);
            (0..4).for_each(|i| by[i] += game.referee.by[i]);
            played += 1_000;
        }
    }
    assert_eq!(by.iter().sum::<u64>(), played, "every access is performed once");
    assert!(by.iter().all(|&n| n > played / 100), "{by:?}");
    // Every cell of the tables has been of use: what is there can happen.
    let legal = COPIES.iter().flat_map(|&state| {
        let cells = COPY_EVENTS.iter().filter(move |&&event| copy(state, event).is_some());
        cells.map(move |&event| (state, event))
    });
    let unused: Vec<_> = legal
        .filter(|(state, event)| !copies.contains(&(*state as u8, *event as u8)))
        .collect();
    assert_eq!(unused, [], "cells of copies never used");
    let legal = HOMES.iter().flat_map(|&state| {
        let cells = HOME_EVENTS.iter().filter(move |&&event| home(state, event).is_some());
        cells.map(move |&event| (state, event))
    });
    let unused: Vec<_> = legal
        .filter(|(state, event)| !homes.contains(&(*state as u8, *event as u8)))
        .collect();
    assert_eq!(unused, [], "cells of homes never used");
}

#[test]
fn more_than_64_nodes_share_a_line() {
    let shape = Shape {
        nodes: 150,
        cores: 1,
        outstanding: 1,
        l1: CacheShape { sets: 1, ways: 1 },
        l2: CacheShape { sets: 1, ways: 2 },
        misses: 1,
        told: true,
        lines: 1,
        map: AddressMap::Interleaved,
        bucket_bits: 0,
        directory: CacheShape { sets: 0, ways: 0 },
        banks: 1,
        interfaces: 1,
        arrangement: NodeArrangement::default(),
        values: false,
    };
    for (seed, order) in (0..).zip(ORDERS) {
        play(shape, order, 2, 20_000, seed);
        play(Shape { told: false, ..shape }, order, 2, 20_000, seed);
        let arrangement = NodeArrangement {
            evict: Evict::WhenAsked,
            ..NodeArrangement::default()
        };
        play(Shape { arrangement, ..shape }, order, 2, 20_000, seed);
    }
}
