//! Ranks that turn to their neighbours in orders of their own say the same to the same ranks, and still all come to their end.

use super::*;
use std::sync::Arc;

const SHUFFLED: Order = Order::Shuffled(11);

/// All motifs whose ranks have neighbours, in an order; each with the number of its rounds.
fn motifs(order: Order) -> Vec<Arc<dyn Program>> {
    let mut motifs: Vec<Arc<dyn Program>> = Vec::new();
    for grid in [[3, 4, 5], [2, 2, 2], [1, 7, 1]] {
        let block = CellBlocks {
            ranks: ranks(&grid),
            grid: Some(grid),
            cells: CELLS,
            order,
            ..Default::default()
        };
        motifs.push(Arc::new(Halo3d::new(&block).unwrap()));
        motifs.push(Arc::new(Halo3d::new(&block).unwrap().periodic(true)));
        motifs.push(Arc::new(Stencil::<3>::new(&block).unwrap()));
        for neighbours in [Neighbours::Eighteen, Neighbours::TwentySix] {
            motifs.push(Arc::new(Halo3d26::new(&block, neighbours).unwrap()));
        }
    }
    let block = CellBlocks {
        ranks: 54,
        grid: Some([3, 3, 3, 2]),
        order,
        ..Default::default()
    };
    motifs.push(Arc::new(Stencil::<4>::new(&block).unwrap()));
    for (mutual, redraw) in [(true, false), (false, false), (true, true)] {
        let parameters = RandomNeighboursParameters {
            ranks: 60,
            degree: (3, 64),
            bytes: 9,
            mutual,
            redraw,
            receives: Receives::Named,
            seed: 1,
            order,
            compute: Compute::Time(0),
        };
        motifs.push(Arc::new(RandomNeighbours::new(&parameters).unwrap()));
    }
    for name in ["hpcg", "amg", "comd", "minife", "ffvc", "milc"] {
        let told = programs::Told {
            ranks: 24,
            cells: None,
            time: Some(0),
            rate: 1e10,
            order,
        };
        motifs.push(programs::application(name, &told));
    }
    motifs
}

/// Operations up to each wait, in order.
fn between_waits(program: &dyn Program, rank: u32, iteration: u32) -> Vec<Vec<String>> {
    let ops = (0..).map_while(|index| program.op(rank, iteration, index));
    let ops: Vec<String> = ops.map(|op| format!("{op:?}")).collect();
    ops.split_inclusive(|op| op.contains("WaitAll") || op.contains("Collective"))
        .map(<[String]>::to_vec)
        .collect()
}

/// Different messages that are sent at the same time.
fn sends(part: &[String]) -> usize {
    let sends = part.iter().filter(|op| op.starts_with("Isend"));
    sends.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn a_shuffled_rank_does_between_two_waits_what_it_did_before_in_another_order() {
    for (common, shuffled) in motifs(Order::Common).iter().zip(motifs(SHUFFLED)) {
        let (mut moved, mut movable) = (0, 0);
        for rank in 0..common.ranks() {
            for iteration in 0..common.rounds().min(4) {
                let told = [&**common, &*shuffled].map(|program| between_waits(program, rank, iteration));
                moved += u32::from(told[0] != told[1]);
                movable += u32::from(told[0].iter().any(|part| sends(part) > 1));
                let [common, shuffled] = told.map(|mut parts| {
                    parts.iter_mut().for_each(|part| part.sort());
                    parts
                });
                assert_eq!(common, shuffled, "rank {rank}, iteration {iteration}");
            }
        }
        assert!(5 * moved >= movable, "{common:?}: {moved} of {movable} changed");
    }
}

#[test]
fn receives_and_sends_of_a_shuffled_rank_meet_those_of_the_others() {
    for (common, shuffled) in motifs(Order::Common).iter().zip(motifs(SHUFFLED)) {
        let messages = |program: &dyn Program| {
            let played = play(program, program.rounds()).unwrap_or_else(|error| panic!("{program:?}: {error}"));
            let mut messages = played.messages;
            messages.sort_unstable();
            messages
        };
        assert_eq!(messages(&**common), messages(&*shuffled));
    }
}

#[test]
fn ranks_of_a_halo_turn_to_their_neighbours_in_many_orders() {
    // All ranks of a periodic grid have 6 neighbours: 720 orders.
    let block = CellBlocks {
        ranks: 512,
        order: SHUFFLED,
        ..Default::default()
    };
    let motif = Stencil::<3>::new(&block).unwrap();
    let grid = Grid::<3>::near_cubic(512).unwrap();
    let order = |rank: u32| -> Vec<(usize, bool)> {
        let ways = |peer: u32| {
            let mut way = (0..3).flat_map(|d| [(d, true), (d, false)]);
            way.find(move |&(d, up)| grid.neighbour_round(rank, d, up) == Some(peer))
        };
        ops(&motif, rank)
            .iter()
            .filter_map(|op| match op {
                Op::Isend(send) => ways(send.peer),
                _ => None,
            })
            .collect()
    };
    let orders: std::collections::BTreeSet<_> = (0..512).map(order).collect();
    // 512 draws of 720 give 366 different ones, with a deviation of 9.
    assert!((310..=420).contains(&orders.len()), "{} orders", orders.len());
}
