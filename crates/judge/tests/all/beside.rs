//! Messages beside the network by SST/macro's rules: how far they go, and which of those that come to a node at one time is first; worked out by hand.

use judge::run::{RunResult, run};
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Operations of ranks, one on each node, whose messages cost nothing but their way.
fn done(topology: &str, keys: &str, work: &str) -> RunResult {
    let copy = if keys.contains("copy") { "" } else { "copy = \"free\"\n" };
    let text = format!(
        "[topology]\n{topology}\n[link]\nbandwidth = \"25 GB/s\"\nlatency = \"100 ns\"\n[router]\npreset = \"sculpin\"\n[mpi]\n\
         send_overhead = \"0 ns\"\nreceive_overhead = \"0 ns\"\nrendezvous = \"get\"\nprogress = \"in-calls\"\n\
         beside = \"256 B\"\n{copy}{keys}\n[[job]]\n{work}\n[run]\nend = \"done\"\n"
    );
    let study = load_study(text.as_bytes(), "beside.toml", Path::new("."), &LoadOptions::default());
    let spec = study.unwrap_or_else(|found| panic!("{text}: {found:?}")).runs.remove(0);
    run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn ops(rows: &str) -> String {
    format!("work = {{ kind = \"ops\", table = \"\"\"rank,op,peer,bytes,tag,request,time_ps\n{rows}\"\"\" }}")
}

/// When a rank is done (ps).
fn end(result: &RunResult, rank: u32) -> u64 {
    let row = result.ranks.iter().find(|row| row.rank == rank);
    row.expect("a rank").finished
}

const DRAGONFLY: &str =
    "kind = \"dragonfly\"\ngroups = 9\nrouters_per_group = 4\nnodes_per_router = 2\narrangement = \"circulant\"";
const DRAGONFLY_PLUS: &str =
    "kind = \"dragonfly+\"\ngroups = 5\nleaves = 4\nspines = 4\nnodes_per_leaf = 4\nlinks_per_pair = 4";
const RING: &str = "kind = \"torus\"\nshape = [4]\nnodes_per_router = 1";

#[test]
fn hops_beside_the_network_are_those_of_sst_macro() {
    // Router r of a group has links to the groups r + 1 before and behind it, to their routers r.
    let cases = [
        (DRAGONFLY, 0, 1, 0, 1),
        (DRAGONFLY, 0, 2, 1, 1),
        (DRAGONFLY, 0, 8, 1, 1),
        (DRAGONFLY, 0, 10, 2, 2),
        // Over the link of another router of the group: packets need two hops.
        (DRAGONFLY, 0, 18, 2, 3),
        (DRAGONFLY, 0, 16, 3, 3),
        // The link to router 0 is not seen as one to its group.
        (DRAGONFLY, 8, 0, 1, 1),
        (DRAGONFLY, 8, 2, 2, 3),
        (DRAGONFLY_PLUS, 0, 1, 0, 2),
        (DRAGONFLY_PLUS, 0, 4, 2, 2),
        (DRAGONFLY_PLUS, 0, 16, 3, 3),
    ];
    for (topology, from, to, wired, counted) in cases {
        let taken = |keys: &str| {
            let rows = format!("{from},send,{to},100,0,,\n{to},recv,{from},100,0,,\n");
            end(&done(topology, keys, &ops(&rows)), to)
        };
        // 100 ns, and for every hop, and 100 B at 25 GB/s.
        assert_eq!(taken(""), 104_000 + 100_000 * wired, "{topology}: {from} to {to}");
        let keys = "beside_groups = \"sst-macro\"";
        assert_eq!(taken(keys), 104_000 + 100_000 * counted, "{topology}: {from} to {to}");
    }
}

/// The ranks that read from rank 0, in the order in which they are done.
fn order(keys: &str, rows: &str) -> Vec<u32> {
    let result = done(RING, keys, &ops(rows));
    let mut readers: Vec<u32> = (1..4).filter(|&rank| end(&result, rank) > 0).collect();
    readers.sort_by_key(|&rank| end(&result, rank));
    readers
}

#[test]
fn of_requests_that_come_at_one_time_the_one_that_was_sent_first_is_served_first() {
    // Announcements set out at 0. That to node 2, two hops away, is there after 302.56 ns, and so is its request 302.56 ns later, at 605.12 ns. Rank 1, one
    // hop away, posts its receive at 402.56 ns, and its request takes 202.56 ns.
    let rows = "0,isend,1,40960,0,0,\n0,isend,2,40960,0,1,\n0,waitall,,,,,\n1,compute,,,,,402560\n1,recv,0,40960,0,,\n2,recv,0,40960,0,,\n";
    assert_eq!(order("beside_order = \"sent\"", rows), [2, 1]);
    assert_eq!(order("beside_order = \"by-node\"", rows), [1, 2]);
}

#[test]
fn of_requests_of_one_time_the_last_node_is_first_unless_they_need_no_memory_registered() {
    let rows = |bytes: u32| {
        format!(
            "0,isend,1,{bytes},0,0,\n0,isend,3,{bytes},0,1,\n0,waitall,,,,,\n1,recv,0,{bytes},0,,\n3,recv,0,{bytes},0,,\n"
        )
    };
    let keys = "eager = \"8192 B\"\nfetch_above = \"512 B\"\nbeside_order = \"sent\"";
    assert_eq!(order(keys, &rows(40_960)), [3, 1]);
    assert_eq!(order(keys, &rows(8_192)), [1, 3]);
}

#[test]
fn what_is_fetched_is_copied_by_its_receiver_only() {
    let rows = |bytes: u32| format!("0,send,1,{bytes},0,,\n1,recv,0,{bytes},0,,\n");
    let keys = |copy: &str| format!("eager = \"8192 B\"\nfetch_above = \"512 B\"\ncopy = \"{copy}\"");
    let more = |bytes: u32| {
        let taken = |copy| end(&done(RING, &keys(copy), &ops(&rows(bytes))), 1);
        taken("8 GB/s") - taken("800 GB/s")
    };
    // 125 ps less 1.25 ps for a byte.
    assert_eq!(more(400), 2 * (50_000 - 500));
    assert_eq!(more(8_000), 1_000_000 - 10_000);
}

#[test]
fn what_comes_before_the_time_begins_is_left_out() {
    let barrier = "{ kind = \"collective\", collective = \"barrier\" }";
    let result = |prelude: u32| {
        let work = format!("prelude = {prelude}\nwork = [{barrier}, {barrier}, {barrier}]");
        done(RING, "", &work)
    };
    // Two rounds of a hop, and of two.
    for (prelude, begun) in [(0, 0), (1, 500_000), (2, 1_000_000)] {
        let result = result(prelude);
        assert!(
            result
                .ranks
                .iter()
                .all(|rank| rank.begun == begun && rank.finished == 1_500_000)
        );
        let told = result.summary.jobs[0].ranks().unwrap().begin_ns;
        assert_eq!(told, (prelude > 0).then_some(begun as f64 / 1e3));
    }
}
