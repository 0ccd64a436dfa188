//! All motifs, played by ranks whose sends wait for their receives: nobody waits for ever, sizes meet, and what is sent is what the
//! formulas say.

mod orders;
mod patterns;
pub(crate) mod play;
mod programs;

use super::*;
use crate::mpi::{Collective, CollectiveKind, Program};
use play::play;
use std::collections::BTreeMap;

/// Odd and even grids with sides of one among them.
const GRIDS: [[u32; 3]; 9] = [
    [1, 1, 1],
    [2, 1, 1],
    [1, 7, 1],
    [1, 1, 5],
    [2, 2, 2],
    [3, 1, 4],
    [3, 4, 5],
    [4, 4, 4],
    [5, 2, 1],
];

// What a test does not say.

impl<const N: usize> Default for CellBlocks<N> {
    fn default() -> CellBlocks<N> {
        CellBlocks::new(1, [10; N])
    }
}

impl Default for Sweep3dParameters {
    fn default() -> Sweep3dParameters {
        Sweep3dParameters {
            ranks: 1,
            grid: None,
            cells: [50, 50, 100],
            kba: 10,
            vars: 1,
            value: 8,
            compute: Compute::Time(1_000_000),
        }
    }
}

impl Default for Suba2aParameters {
    fn default() -> Suba2aParameters {
        Suba2aParameters {
            ranks: 1,
            grid: None,
            bytes: [32 << 10; 3],
            compute: Compute::Time(0),
        }
    }
}

impl Default for Fft3dParameters {
    fn default() -> Fft3dParameters {
        Fft3dParameters {
            ranks: 1,
            grid: None,
            cells: [100; 3],
            value: 16,
            compute: Compute::Time(0),
        }
    }
}

fn ranks(grid: &[u32]) -> u32 {
    grid.iter().product()
}

/// Cells, values and bytes of the blocks of all halo tests.
const CELLS: [u64; 3] = [3, 5, 7];
const VARS: u64 = 2;

/// The ranks one step away in a grid that is not periodic, with the bytes of the step; slowly, from the definition.
fn steps_away(grid: [u32; 3], rank: u32, most_axes: u32) -> Vec<(u32, u64)> {
    let place = |rank: u32| [rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]];
    let here = place(rank);
    let others = (0..ranks(&grid)).filter_map(|other| {
        let there = place(other);
        let apart = [0, 1, 2].map(|d| here[d].abs_diff(there[d]));
        let axes: u32 = apart.iter().sum();
        let near = apart.iter().all(|&steps| steps <= 1) && (1..=most_axes).contains(&axes);
        let along = (0..3).map(|d| if apart[d] == 0 { CELLS[d] } else { 1 });
        near.then(|| (other, along.product::<u64>() * VARS * 8))
    });
    others.collect()
}

/// Every rank sends to exactly the ranks that it should, `times` times, and exactly so much.
fn check_halo(program: &dyn Program, grid: [u32; 3], most_axes: u32) {
    let played = play(program, 2).unwrap_or_else(|error| panic!("{program:?}: {error}"));
    for rank in 0..program.ranks() {
        let mut sent: Vec<_> = played
            .messages
            .iter()
            .filter(|message| message.0 == rank)
            .map(|message| (message.1, message.2))
            .collect();
        sent.sort_unstable();
        let away = steps_away(grid, rank, most_axes);
        let mut expected = [away.clone(), away].concat();
        expected.sort_unstable();
        assert_eq!(sent, expected, "{program:?}, rank {rank}");
        assert_eq!(played.computed[rank as usize], 2 * 9, "{program:?}, rank {rank}");
    }
}

#[test]
fn halos_go_to_all_neighbours_and_have_the_bytes_of_the_formula() {
    for grid in GRIDS {
        let six = CellBlocks {
            ranks: ranks(&grid),
            grid: Some(grid),
            cells: CELLS,
            vars: VARS,
            compute: Compute::Time(9),
            ..Default::default()
        };
        check_halo(&Halo3d::new(&six).unwrap(), grid, 1);
        for (neighbours, most_axes) in [(Neighbours::Eighteen, 2), (Neighbours::TwentySix, 3)] {
            check_halo(&Halo3d26::new(&six, neighbours).unwrap(), grid, most_axes);
        }
    }
}

#[test]
fn a_rank_in_the_middle_sends_faces_edges_and_corners() {
    // The published size: 128^3 cells, 10 values: faces of 1.25 MiB, edges of 10 KiB, corners of 80 B.
    let block = CellBlocks {
        ranks: 27,
        cells: [128; 3],
        vars: 10,
        ..Default::default()
    };
    let sent = |neighbours| {
        let motif = Halo3d26::new(&block, neighbours);
        play(&motif.unwrap(), 1).unwrap().sent[13]
    };
    let (face, edge, corner) = (128 * 128 * 80, 128 * 80, 80);
    assert_eq!(sent(Neighbours::TwentySix), 6 * face + 12 * edge + 8 * corner);
    assert_eq!(sent(Neighbours::Eighteen), 6 * face + 12 * edge);
}

/// All operations of a rank in an iteration.
fn ops(program: &dyn Program, rank: u32) -> Vec<Op> {
    (0..).map_while(|index| program.op(rank, 0, index)).collect()
}

fn isend(peer: u32, bytes: u64) -> Op {
    Op::Isend(Transfer::new(peer, bytes))
}

fn irecv(peer: u32, bytes: u64) -> Op {
    Op::Irecv(Transfer::new(peer, bytes))
}

fn send(peer: u32, bytes: u64) -> Op {
    Op::Send(Transfer::new(peer, bytes))
}

fn recv(peer: u32, bytes: u64) -> Op {
    Op::Recv(Transfer::new(peer, bytes))
}

#[test]
fn halos_keep_the_order_of_their_programs() {
    // Rank 0 of 2 x 2 x 1: x up is 1, y up is 2, the edge (+,+,0) is 3; 2 x 3 x 4 cells of 8 bytes.
    let grid = Some([2, 2, 1]);
    let cells = [2, 3, 4];
    let six = CellBlocks {
        ranks: 4,
        grid,
        cells,
        compute: Compute::Time(5),
        ..Default::default()
    };
    let compute = Op::Compute { time: 5 };
    let dimensions = [
        irecv(1, 96),
        isend(1, 96),
        Op::WaitAll,
        irecv(2, 64),
        isend(2, 64),
        Op::WaitAll,
    ];
    assert_eq!(
        ops(&Halo3d::new(&six).unwrap(), 0),
        [&[compute][..], &dimensions].concat()
    );
    let more = |neighbours| {
        let block = CellBlocks {
            compute: Compute::Time(0),
            ..six.clone()
        };
        ops(&Halo3d26::new(&block, neighbours).unwrap(), 0)
    };
    let pair = |peer, bytes| [irecv(peer, bytes), isend(peer, bytes)];
    assert_eq!(
        more(Neighbours::Eighteen),
        [&pair(1, 96)[..], &pair(2, 64), &pair(3, 32), &[Op::WaitAll]].concat()
    );
    let all = [
        irecv(1, 96),
        irecv(2, 64),
        irecv(3, 32),
        isend(1, 96),
        isend(2, 64),
        isend(3, 32),
        Op::WaitAll,
    ];
    assert_eq!(more(Neighbours::TwentySix), all);
}

#[test]
fn sizes_beyond_a_tebibyte_are_refused() {
    let huge = CellBlocks {
        ranks: 8,
        cells: [1 << 20; 3],
        vars: 10,
        ..Default::default()
    };
    assert_eq!(Halo3d::new(&huge).unwrap_err().field, "grid");
    let endless = CellBlocks {
        cells: [u64::MAX; 3],
        ..huge
    };
    assert_eq!(Halo3d::new(&endless).unwrap_err().field, "grid");
    let suba2a = Suba2aParameters {
        ranks: 8,
        bytes: [1, 2, LARGEST + 1],
        ..Default::default()
    };
    let misfit = Suba2a::new(&suba2a).unwrap_err();
    assert_eq!(misfit.reason, "a message of 1099511562240 bytes is too large");
    assert!(
        Suba2a::new(&Suba2aParameters {
            bytes: [1, 2, LARGEST],
            ..suba2a
        })
        .is_ok()
    );
    let all = CollectiveLoopParameters {
        ranks: 1 << 23,
        kind: CollectiveKind::Allgather,
        bytes: LARGEST,
        root: 0,
        groups: None,
        compute: Compute::Time(0),
    };
    let misfit = CollectiveLoop::new(&all).unwrap_err();
    assert_eq!(
        misfit.reason,
        "1099511562239 bytes for each of 8388608 ranks are too many"
    );
}

#[test]
fn computing_takes_the_time_of_the_work() {
    let flops = Compute::Flops {
        per_cell: 26.0,
        rate: 1e9,
    };
    assert_eq!(flops.time(1000), Ok(26_000_000));
    let nonsense = Compute::Flops {
        per_cell: 26.0,
        rate: 0.0,
    };
    assert_eq!(nonsense.time(1).unwrap_err().field, "compute");
}

#[test]
fn sweeps_pass_every_column_from_every_corner() {
    for grid in [[1, 1], [1, 6], [5, 1], [2, 2], [3, 4], [5, 5]] {
        let parameters = Sweep3dParameters {
            ranks: ranks(&grid),
            grid: Some(grid),
            cells: [4, 6, 12],
            kba: 3,
            vars: 2,
            compute: Compute::Time(7),
            ..Default::default()
        };
        let motif = Sweep3d::new(&parameters).unwrap();
        let played = play(&motif, 2).unwrap_or_else(|error| panic!("{grid:?}: {error}"));
        // 4 steps in each of 8 sweeps; 4 sweeps cross every border each way.
        assert!(played.computed.iter().all(|&time| time == 2 * 8 * 4 * 7));
        for from in 0..motif.ranks() {
            for to in 0..motif.ranks() {
                let [fx, fy] = [from % grid[0], from / grid[0]];
                let [tx, ty] = [to % grid[0], to / grid[0]];
                let bytes = match (fx.abs_diff(tx), fy.abs_diff(ty)) {
                    (1, 0) => 4 * 3 * 2 * 8,
                    (0, 1) => 6 * 3 * 2 * 8,
                    _ => 0,
                };
                let between = played
                    .messages
                    .iter()
                    .filter(|message| (message.0, message.1) == (from, to));
                let sizes: Vec<_> = between.map(|message| message.2).collect();
                let count = if bytes > 0 { 2 * 4 * 4 } else { 0 };
                assert_eq!(sizes, vec![bytes; count], "{grid:?}: {from} to {to}");
            }
        }
    }
}

#[test]
fn a_sweep_step_receives_computes_and_sends() {
    let parameters = Sweep3dParameters {
        ranks: 4,
        cells: [1, 2, 1],
        kba: 1,
        compute: Compute::Time(7),
        ..Default::default()
    };
    let compute = Op::Compute { time: 7 };
    // Rank 0, low x and low y, of 2 x 2: starts the first sweep, is at the end of the third.
    let first = [compute, send(1, 8), send(2, 16)];
    let second = [recv(1, 8), compute, send(2, 16)];
    let third = [recv(1, 8), recv(2, 16), compute];
    let fourth = [recv(2, 16), compute, send(1, 8)];
    let round = [first, second, third, fourth].concat();
    assert_eq!(
        ops(&Sweep3d::new(&parameters).unwrap(), 0),
        [&round[..], &round].concat()
    );
    let uneven = Sweep3dParameters {
        cells: [1, 2, 10],
        kba: 4,
        ..parameters
    };
    let misfit = Sweep3d::new(&uneven).unwrap_err();
    assert_eq!(
        (misfit.field, misfit.reason.as_str()),
        ("kba", "10 cells along z cannot be cut into steps of 4")
    );
}

#[test]
fn all_to_alls_run_along_the_lines_of_the_grid() {
    for grid in GRIDS {
        let parameters = Suba2aParameters {
            ranks: ranks(&grid),
            grid: Some(grid),
            bytes: [5, 70, 900],
            ..Default::default()
        };
        let motif = Suba2a::new(&parameters).unwrap();
        let played = play(&motif, 3).unwrap();
        let bytes: u64 = grid
            .iter()
            .zip([5, 70, 900])
            .map(|(&side, bytes)| u64::from(side - 1) * bytes)
            .sum();
        assert_eq!(played.sent, vec![3 * bytes; motif.ranks() as usize], "{grid:?}");
        // Two ranks share a line exactly if they differ in one coordinate.
        let place = |rank: u32| [rank % grid[0], rank / grid[0] % grid[1], rank / grid[0] / grid[1]];
        for (d, line) in motif.communicators()[1..].iter().enumerate() {
            for rank in 0..motif.ranks() {
                for number in 0..line.size(rank) {
                    let mut there = place(rank);
                    there[d] = number;
                    assert_eq!(place(line.rank(rank, number)), there);
                    assert_eq!(line.number(line.rank(rank, number)), number);
                }
            }
        }
    }
    let one = Suba2aParameters {
        ranks: 8,
        bytes: [0, 16, 0],
        ..Default::default()
    };
    assert_eq!(
        ops(&Suba2a::new(&one).unwrap(), 3).len(),
        1,
        "a size of 0 leaves a dimension out"
    );
}

#[test]
fn transposes_carry_every_value_to_its_pencil() {
    for (grid, cells) in [
        ([1, 1], [4, 4, 4]),
        ([3, 2], [7, 5, 4]),
        ([2, 4], [4, 8, 4]),
        ([4, 4], [16, 17, 18]),
        ([1, 5], [5, 6, 7]),
    ] {
        let parameters = Fft3dParameters {
            ranks: ranks(&grid),
            grid: Some(grid),
            cells,
            compute: Compute::Time(3),
            ..Default::default()
        };
        let motif = Fft3d::new(&parameters).unwrap();
        let played = play(&motif, 1).unwrap();
        let kinds: Vec<_> = played.collectives[0]
            .iter()
            .map(|collective| (collective.kind, collective.communicator))
            .collect();
        let transpose = |communicator| (CollectiveKind::Alltoallv, communicator);
        assert_eq!(
            kinds,
            [
                transpose(1),
                transpose(2),
                (CollectiveKind::Barrier, 0),
                transpose(3),
                transpose(4)
            ]
        );
        assert!(played.computed.iter().all(|&time| time == 18));
        // Who has a cell as part of its pencils along each axis, cell by cell.
        let part = |cells: u64, parts: u32, i: u64| {
            let starts = (0..=parts).map(|p| cut(cells, p, parts)).collect::<Vec<_>>();
            starts
                .windows(2)
                .position(|pair| (pair[0]..pair[1]).contains(&i))
                .unwrap() as u32
        };
        let owner = |axis: usize, at: [u64; 3]| {
            let (a, b) = [(1, 2), (0, 2), (0, 1)][axis];
            part(cells[a], grid[0], at[a]) + grid[0] * part(cells[b], grid[1], at[b])
        };
        let mut moved: BTreeMap<(u16, u32, u32), u64> = BTreeMap::new();
        for x in 0..cells[0] {
            for y in 0..cells[1] {
                for z in 0..cells[2] {
                    let [xs, ys, zs] = [0, 1, 2].map(|axis| owner(axis, [x, y, z]));
                    for (communicator, from, to) in [(1, xs, ys), (2, ys, zs), (3, zs, ys), (4, ys, xs)] {
                        *moved.entry((communicator, from, to)).or_default() += 16;
                    }
                }
            }
        }
        for communicator in 1..=4 {
            let lines = &motif.communicators()[usize::from(communicator)];
            for from in 0..motif.ranks() {
                for number in 0..lines.size(from) {
                    let to = lines.rank(from, number);
                    let bytes = moved.remove(&(communicator, from, to)).unwrap_or(0);
                    let collective = Collective {
                        kind: CollectiveKind::Alltoallv,
                        communicator,
                        bytes: 0,
                        root: 0,
                    };
                    assert_eq!(
                        motif.pair_bytes(&collective, from, to),
                        bytes,
                        "{grid:?} {cells:?} {communicator}: {from} to {to}"
                    );
                }
            }
        }
        assert!(moved.is_empty(), "cells leave their rows or columns: {moved:?}");
    }
    let few = Fft3dParameters {
        ranks: 36,
        cells: [6, 5, 6],
        ..Default::default()
    };
    let misfit = Fft3d::new(&few).unwrap_err();
    assert_eq!(
        misfit.reason,
        "6 x 5 x 6 cells are too few for 6 x 6 ranks: some would have none"
    );

    /// Start of a part, by adding up.
    fn cut(cells: u64, part: u32, parts: u32) -> u64 {
        let longer = cells % u64::from(parts);
        (0..u64::from(part))
            .map(|p| cells / u64::from(parts) + u64::from(p < longer))
            .sum()
    }
}
