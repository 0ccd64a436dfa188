//! Cases of the benchmark that play recordings: at a small length they are the work that they are recordings of.

use judge::bench::{BenchOptions, BenchResult, bench};

fn go(name: &str, length: f64) -> BenchResult {
    let options = BenchOptions {
        length,
        ..BenchOptions::default()
    };
    let result = bench(name, options).unwrap_or_else(|| panic!("there is no case {name}"));
    result.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn an_exchange_takes_the_same_hops_from_an_archive_and_as_a_motif() {
    let (motif, trace) = (go("halo3d-4k", 0.02), go("trace-4k", 0.02));
    // Begin and end of the program, four records of an allreduce, and of each of ten exchanges of 12 requests 3 calls with a wait for four.
    assert_eq!(trace.records, 4_096 * (2 + 4 + 10 * (12 * 3 + 3 * (2 + 4))));
    assert_eq!((motif.records, motif.packet_hops > 0), (0, true));
    assert_eq!((trace.packet_hops, trace.events), (motif.packet_hops, motif.events));
}
