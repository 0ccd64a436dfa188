//! Packets of a message, and of many, use all ways that are as good as each other.

use judge::run::{self, RunResult};
use std::collections::BTreeMap;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Runs a study; `keys` are its tables.
fn go(keys: &str) -> RunResult {
    let text = format!("name = \"spread\"\n[link]\nbandwidth = \"25 GB/s\"\n{keys}\nseeds = [1]\n");
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{findings:?}"));
    run::run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

const LEAVES: u32 = 16;

fn dragonfly_plus(groups: u32) -> String {
    format!(
        "[topology]\nkind = \"dragonfly+\"\ngroups = {groups}\nleaves = {LEAVES}\nspines = {LEAVES}\nnodes_per_leaf = {}\n\
         links_per_pair = {}\n",
        13,
        LEAVES * LEAVES
    )
}

/// Holds shares of `of` packets against even ones: six standard deviations of a draw.
fn even(counts: &[u64], what: &str) {
    let (n, of) = (counts.len() as f64, counts.iter().sum::<u64>() as f64);
    let sigma = (of / n * (1.0 - 1.0 / n)).sqrt();
    for &count in counts {
        let off = (count as f64 - of / n).abs();
        assert!(off <= 6.0 * sigma, "{what}: {counts:?}");
    }
}

/// Packets over the links of each router, by the class of routers that follows (`class` of a router's number).
fn by_router(result: &RunResult, class: impl Fn(u32) -> u32) -> BTreeMap<(u32, u32), Vec<u64>> {
    let mut bundles = BTreeMap::new();
    for row in result.links.iter().filter(|row| row.peer_router != u32::MAX) {
        let bundle = bundles.entry((row.router, class(row.peer_router)));
        bundle.or_insert_with(Vec::new).push(row.packets);
    }
    bundles
}

/// A message of 4,096 packets from the first node to the last one, nothing else.
fn one_message(topology: &str, nodes: u32, routing: &str) -> RunResult {
    let table = format!(
        "rank,op,peer,bytes\\n0,send,{},8388608\\n{},recv,0,8388608\\n",
        nodes - 1,
        nodes - 1
    );
    go(&format!(
        "{topology}[router]\nmodel = \"sculpin\"\n[nic]\npacket = \"2 KiB\"\n[routing]\n{routing}\n[[job]]\n\
         work = {{ kind = \"ops\", table = \"{table}\" }}\n[observe]\nlinks = true\n[run]\n"
    ))
}

#[test]
fn packets_of_a_message_use_all_spines_and_all_links_of_each() {
    let nodes = 3 * LEAVES * 13;
    for routing in [
        "kind = \"minimal\"",
        "kind = \"min-random\"",
        "kind = \"min-a\"",
        "kind = \"min-a\"\nequal = \"exact\"",
        "kind = \"ugal\"",
        "kind = \"ugal\"\nvia = \"group\"",
        "kind = \"par\"\nvia = \"group\"",
    ] {
        let result = one_message(&dragonfly_plus(3), nodes, routing);
        let bundles = by_router(&result, |router| router / (2 * LEAVES));
        let up = &bundles[&(0, 0)];
        assert_eq!(up.len(), 16);
        // A request goes before the packets.
        assert_eq!(up.iter().sum::<u64>(), 4_097, "{routing}");
        even(up, routing);
        for spine in LEAVES..2 * LEAVES {
            even(&bundles[&(spine, 2)], &format!("{routing} at spine {spine}"));
        }
    }
    // Over another router the legs have all spines too.
    let result = one_message(&dragonfly_plus(3), nodes, "kind = \"valiant\"");
    let bundles = by_router(&result, |router| router / (2 * LEAVES));
    even(&bundles[&(0, 0)], "valiant");
}

#[test]
fn packets_of_a_message_use_all_ways_up_of_both_levels() {
    // 8 x 8 x 2 leaves' nodes; 8 ways up at a leaf, 8 more at each router above.
    let tree = "[topology]\nkind = \"fat-tree\"\ndown = [8, 8, 2]\nup = [8, 8]\n";
    for routing in ["min-random", "min-a", "scatter", "adaptive-up"] {
        let result = one_message(tree, 128, &format!("kind = \"{routing}\""));
        // 16 leaves, 16 routers above them, 64 at the top.
        let bundles = by_router(&result, |router| {
            [0, 1, 2][usize::from(router >= 16) + usize::from(router >= 32)]
        });
        even(&bundles[&(0, 1)], routing);
        for above in 16..24 {
            even(&bundles[&(above, 2)], &format!("{routing} at {above}"));
        }
    }
}

/// All links between two groups of many small messages, and all links up.
#[test]
fn packets_of_many_messages_use_all_links() {
    for routing in ["minimal", "ugal", "par", "min-a"] {
        let result = go(&format!(
            "{}[router]\nmodel = \"sculpin\"\n[routing]\nkind = \"{routing}\"\n[[job]]\nwork = {{ kind = \"uniform\", load = 0.05, \
             message = \"64 B\", process = \"poisson\" }}\n[observe]\nlinks = true\n[run]\nwarmup = \"0 s\"\nend = \"20 us\"\n",
            dragonfly_plus(2)
        ));
        let bundles = by_router(&result, |router| router / LEAVES);
        for leaf in 0..LEAVES {
            even(&bundles[&(leaf, 1)], &format!("{routing} at leaf {leaf}"));
            even(&bundles[&(LEAVES + leaf, 3)], &format!("{routing} at spine {leaf}"));
        }
    }
}

/// A halo exchange of 1,024 ranks on 5 groups; everybody to everybody of it; pairs.
#[test]
fn an_adaptive_routing_is_not_slower_than_a_random_choice() {
    let groups = "[topology]\nkind = \"dragonfly+\"\ngroups = 5\nleaves = 16\nspines = 16\nnodes_per_leaf = 13\nlinks_per_pair = 16\n";
    let halo = "kind = \"halo3d-26\", grid = [32, 32, 32], vars = 10, process_grid = [16, 8, 8], compute = \"0 s\"";
    let works = [
        ("halo", halo.to_owned()),
        (
            "uniform",
            "kind = \"random-neighbours\", degree = [16], message = \"32 KiB\"".to_owned(),
        ),
        (
            "permutation",
            "kind = \"pairs\", mode = \"stream\", messages = 1, message = \"512 KiB\"".to_owned(),
        ),
    ];
    for (name, work) in works {
        let time = |routing: &str| {
            let result = go(&format!(
                "{groups}[router]\nmodel = \"sculpin\"\n[routing]\nkind = \"{routing}\"\n[[job]]\nnodes = 1024\nwork = {{ {work} }}\n[run]\n"
            ));
            result.summary.jobs[0].time_ns.unwrap()
        };
        let random = time("min-random");
        for routing in ["minimal", "ugal", "par", "min-a"] {
            let ratio = time(routing) / random;
            println!("{name}: {routing} {ratio:.3} of min-random's {:.1} us", random / 1e3);
            assert!(
                ratio <= 1.1,
                "{name}: {routing} takes {ratio} times as long as min-random"
            );
        }
    }
}
