//! A ring of ranks without MPI: what a call costs, and how much of that is the way to the simulator and back.
//!
//! `fabricsim mpirun -n 64 -- target/release/examples/ring 10000`

use coupling::RankSide;
use coupling::entry::{BLOCKING, NO_PAYLOAD, RankEntry, kind};

fn main() {
    let rounds: u64 = std::env::args()
        .nth(1)
        .map_or(1000, |word| word.parse().expect("a number of rounds"));
    let Some(mut rank) = RankSide::of_process(None).expect("the memory of fabricsim mpirun") else {
        return eprintln!("start it with fabricsim mpirun");
    };
    let (me, ranks) = (rank.rank(), rank.terms().ranks);
    let blank = RankEntry {
        request: BLOCKING,
        payload: NO_PAYLOAD,
        ..RankEntry::default()
    };
    rank.trap(
        RankEntry {
            kind: kind::INIT,
            ..blank
        },
        |_| (),
    );
    rank.settle();
    let mut clock = 0;
    for _ in 0..rounds {
        let block = rank.arena().say(&[0; 8]).expect("room for a message");
        rank.append(RankEntry {
            kind: kind::IRECV,
            peer: (me + ranks - 1) % ranks,
            bytes: 8,
            request: 0,
            ..blank
        });
        rank.append(RankEntry {
            kind: kind::ISEND,
            peer: (me + 1) % ranks,
            bytes: 8,
            request: 1,
            payload: block,
            ..blank
        });
        rank.append(RankEntry {
            kind: kind::WAIT,
            request: 0,
            ..blank
        });
        let mut come = None;
        clock = rank.trap(
            RankEntry {
                kind: kind::WAIT,
                request: 1,
                ..blank
            },
            |piece| {
                if piece.request == 0 {
                    come = Some(piece.payload);
                }
            },
        );
        rank.arena().free(come.expect("a message"));
    }
    rank.trap(
        RankEntry {
            kind: kind::FINALIZE,
            ..blank
        },
        |_| (),
    );
    if me == 0 {
        println!(
            "{rounds} rounds of {ranks} ranks: {:.3} ns each",
            clock as f64 / 1000.0 / rounds as f64
        );
    }
}
