//! Benchmarks and skeletons of applications.

use super::play::{Played, play};
use super::*;
use crate::mpi::Program;
use std::collections::{BTreeMap, BTreeSet};

/// Plays one iteration of the motif.
fn played(program: &dyn Program) -> Played {
    play(program, program.rounds()).unwrap_or_else(|error| panic!("{program:?}: {error}"))
}

/// Every application.
pub(super) const APPLICATIONS: [&str; 10] = [
    "hpcg", "amg", "comd", "minife", "swfft", "ffvc", "mvmc", "ntchem", "milc", "qball",
];

/// Operations of a rank per second unless said otherwise.
const RATE: f64 = 1e10;

/// How an application is to be.
pub(super) struct Told {
    pub ranks: u32,
    /// Cells of a rank, unless as usual.
    pub cells: Option<Vec<u64>>,
    /// Time that a rank computes in an iteration (ps), in place of that from operations and `rate`.
    pub time: Option<u64>,
    pub rate: f64,
    pub order: Order,
}

/// The program of an application.
pub(super) fn application(name: &str, told: &Told) -> Arc<dyn Program> {
    let cells = told.cells.clone().map(|cells| ("grid", MotifValue::List(cells)));
    let time = told.time.map(|time| ("compute", MotifValue::Integer(time)));
    let given = cells
        .into_iter()
        .chain(time)
        .chain([("flop_rate", MotifValue::Number(told.rate))]);
    let motif = Motif {
        kind: name.to_owned(),
        values: given.map(|(key, value)| (key.to_owned(), value)).collect(),
    };
    program(&motif, told.ranks, (told.order, true)).unwrap_or_else(|misfit| panic!("{name}: {misfit:?}"))
}

fn parameters(ranks: u32) -> Told {
    Told {
        ranks,
        cells: None,
        time: None,
        rate: RATE,
        order: Order::Common,
    }
}

#[test]
fn applications_end_on_any_number_of_ranks_and_compute_as_long_as_they_are_told() {
    for name in APPLICATIONS {
        let mut own = Vec::new();
        for ranks in [1, 2, 3, 8, 12, 30] {
            let usual = played(&*application(name, &parameters(ranks)));
            let all_alike = |times: &[u64]| times.iter().all(|&time| time == times[0]);
            assert!(all_alike(&usual.computed), "{} on {ranks}", name);
            own.push(usual.computed[0]);
            let told = Told {
                time: Some(123_456_789_000),
                ..parameters(ranks)
            };
            let computed = played(&*application(name, &told)).computed[0];
            // The block of nobody else takes no time; every part is rounded.
            let alone = name == "ntchem" && ranks == 1;
            let expected = if alone { 0 } else { 123_456_789_000 };
            assert!(computed.abs_diff(expected) < 500, "{} on {ranks}: {computed}", name);
            let none = Told {
                time: Some(0),
                ..parameters(ranks)
            };
            assert_eq!(played(&*application(name, &none)).computed[0], 0);
        }
        let slow = Told {
            rate: RATE / 2.0,
            ..parameters(8)
        };
        let computed = played(&*application(name, &slow)).computed[0];
        assert!(computed.abs_diff(2 * own[3]) < 500, "{}", name);
    }
}

#[test]
fn a_molecular_dynamics_rank_sends_six_faces_twice_a_step() {
    let told = Told {
        cells: Some(vec![4, 5, 6]),
        ..parameters(27)
    };
    let played = played(&*application("comd", &told));
    let faces = 2 * (5 * 6 + 4 * 6 + 4 * 5);
    assert_eq!(played.sent, [10 * faces * (323 + 46); 27]);
    assert_eq!(played.messages.len(), 27 * 10 * 12);
    assert_eq!(played.collectives[0].len(), 2);
}

#[test]
fn a_multigrid_rank_in_the_middle_sends_the_halos_of_four_grids() {
    let told = Told {
        cells: Some(vec![16, 16, 16]),
        ..parameters(27)
    };
    let played = played(&*application("hpcg", &told));
    let halo = |side: u64| (6 * side * side + 12 * side + 8) * 8;
    let fine = 3 * halo(16) + halo(16);
    assert_eq!(played.sent[13], fine + 3 * halo(8) + 3 * halo(4) + halo(2));
    // 108 + 54 + 108 operations per cell on three grids, 108 on the last, 66 with the matrix.
    let flops = 4096.0 * (270.0 + 270.0 / 8.0 + 270.0 / 64.0 + 108.0 / 512.0 + 66.0);
    let time = (flops / RATE * 1e12) as u64;
    assert!(played.computed[13].abs_diff(time) < 20, "{}", played.computed[13]);
    assert_eq!(played.collectives[13].len(), 3);
}

#[test]
fn a_transform_moves_all_cells_of_a_rank_along_every_line_twice_each_way() {
    let told = Told {
        cells: Some(vec![8, 8, 8]),
        ..parameters(64)
    };
    let played = played(&*application("swfft", &told));
    // 4 x 4 x 4 ranks: three quarters of 512 cells leave, 12 times.
    assert_eq!(played.sent, [12 * 512 * 16 * 3 / 4; 64]);
}

#[test]
fn a_lattice_rank_sends_one_and_three_layers_of_half_of_the_sites_twice() {
    let told = Told {
        cells: Some(vec![4, 4, 4, 4]),
        ..parameters(81)
    };
    let played = played(&*application("milc", &told));
    assert_eq!(played.sent, [2 * 8 * 64 / 2 * 48 * (1 + 3); 81]);
}

#[test]
fn every_pair_of_an_mpi_graph_meets_once_per_message_of_a_window() {
    let motif = MpiGraph::new(&MpiGraphParameters {
        ranks: 7,
        bytes: 100,
        window: 3,
        barrier: true,
        compute: Compute::Time(5),
    });
    let played = played(&motif.unwrap());
    let mut count = BTreeMap::new();
    for (from, to, bytes) in played.messages {
        assert_eq!(bytes, 100);
        *count.entry((from, to)).or_insert(0) += 1;
    }
    assert_eq!(count.len(), 7 * 6);
    assert!(count.iter().all(|(&(from, to), &times)| from != to && times == 3));
    assert_eq!((played.collectives[0].len(), played.computed[0]), (6, 30));
}

#[test]
fn bisections_are_perfect_matchings_and_differ() {
    for (ranks, both) in [(2, false), (9, true), (16, false), (33, true)] {
        let motif = Ebb::new(&EbbParameters {
            ranks,
            bytes: 64,
            both,
            seed: 5,
        });
        let motif = motif.unwrap();
        let mut matchings = BTreeSet::new();
        for k in 0..4 {
            let one = |rank| motif.op(rank, k, 0).is_some();
            let busy: Vec<u32> = (0..ranks).filter(|&rank| one(rank)).collect();
            assert_eq!(busy.len() as u32, ranks / 2 * 2);
            let (before, after) = (play(&motif, k).unwrap(), play(&motif, k + 1).unwrap());
            let sorted = |played: Played| {
                let mut messages = played.messages;
                messages.sort_unstable();
                messages
            };
            let (before, mut after) = (sorted(before), sorted(after));
            before.iter().for_each(|message| {
                let at = after.iter().position(|other| other == message).unwrap();
                after.remove(at);
            });
            let partner: BTreeMap<u32, u32> = after.iter().map(|&(from, to, _)| (from, to)).collect();
            assert_eq!(partner.len(), after.len(), "everybody sends once");
            assert!(partner.iter().all(|(from, to)| partner[to] == *from && from != to));
            matchings.insert(after);
        }
        assert!(matchings.len() > 1 || ranks == 2, "{ranks}");
    }
}

#[test]
fn a_factorisation_takes_two_thirds_of_the_cube_of_its_rows() {
    let parameters = HplParameters {
        ranks: 6,
        grid: Some([2, 3]),
        rows: 2_000,
        block: 16,
        rate: 1e9,
    };
    let motif = Hpl::new(&parameters).unwrap();
    assert_eq!(motif.rounds(), 125);
    let played = played(&motif);
    let expected = 2.0 / 3.0 * 2_000_f64.powi(3) / 1e9 * 1e12;
    let all: f64 = played.computed.iter().map(|&time| time as f64).sum();
    assert!((all / expected - 1.0).abs() < 0.03, "{}", all / expected);
    // The panel along rows in every round, and pivots in columns in all but the last.
    let bcasts = |rank: usize| {
        let kinds = played.collectives[rank].iter().map(|collective| collective.kind);
        kinds.filter(|kind| *kind == CollectiveKind::Bcast).count()
    };
    assert_eq!([0, 5].map(bcasts), [125; 2]);
    assert!(
        Hpl::new(&HplParameters {
            block: 0,
            ..parameters.clone()
        })
        .is_err()
    );
    assert!(
        Hpl::new(&HplParameters {
            rate: 0.0,
            ..parameters
        })
        .is_err()
    );
}

#[test]
fn a_search_looks_at_every_edge_once_from_either_end() {
    assert!((bfs::LEVELS.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let parameters = BfsParameters {
        ranks: 8,
        scale: 16,
        edge_factor: 16,
        rate: 1e8,
    };
    let played = played(&Bfs::new(&parameters).unwrap());
    let edges = 2 * 16 * (1_u64 << 16) / 8;
    // 16 bytes per edge, all but the share that stays.
    let expected = edges * 16 * 7 / 8;
    assert!(
        played.sent[0].abs_diff(expected) < 7 * 8,
        "{} {expected}",
        played.sent[0]
    );
    assert!(played.computed[0].abs_diff(edges * 10_000) < 10);
    assert!(
        Bfs::new(&BfsParameters {
            scale: 60,
            ..parameters
        })
        .is_err()
    );
}

#[test]
fn a_cycle_keeps_the_messages_of_its_parts_apart() {
    let halo = |vars| {
        let parameters = CellBlocks::<3> {
            ranks: 8,
            vars,
            ..Default::default()
        };
        std::sync::Arc::new(Stencil::new(&parameters).unwrap()) as std::sync::Arc<dyn Program>
    };
    let cycle = Cycle::new(vec![(halo(1), 2), (halo(3), 1)]).unwrap();
    assert_eq!((cycle.rounds(), cycle.communicators().len()), (3, 2));
    let played = play(&cycle, 6).unwrap();
    let face = 100 * 8;
    assert_eq!(played.sent, [2 * 6 * face * (2 + 3); 8]);
    let size = |iteration| match cycle.op(0, iteration, 0).unwrap() {
        Op::Irecv(transfer) => (transfer.bytes, transfer.communicator),
        op => panic!("{op:?}"),
    };
    let (small, large) = ((face, 0), (3 * face, 1));
    assert_eq!([0, 1, 2, 3, 4, 5].map(size), [small, small, large, small, small, large]);
}
