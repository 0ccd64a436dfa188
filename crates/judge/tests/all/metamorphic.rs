//! What may be changed of a run without changing what it does: laws between runs, which need no number from outside.

use judge::run;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

const NETWORKS: [(&str, &str); 6] = [
    ("kind = \"single-router\"\nnodes = 9", "kind = \"minimal\""),
    ("kind = \"torus\"\nshape = [4, 4]", "kind = \"dor\""),
    ("kind = \"torus\"\nshape = [3, 4]", "kind = \"valiant\""),
    (
        "kind = \"hyperx\"\nshape = [3, 3]\nnodes_per_router = 2",
        "kind = \"min-random\"",
    ),
    (
        "kind = \"dragonfly\"\ngroups = 3\nrouters_per_group = 3\nnodes_per_router = 2",
        "kind = \"ugal\"",
    ),
    ("kind = \"fat-tree\"\ndown = [4, 3]\nup = [2]", "kind = \"minimal\""),
];

const WORK: [&str; 6] = [
    "{ kind = \"uniform\", message = \"10000 B\", count = 40 }",
    "{ kind = \"random-permutation\", message = \"4 KiB\", count = 60, load = 0.9 }",
    "{ kind = \"incast\", message = \"5000 B\", count = 20 }",
    "{ kind = \"pairs\", mode = \"batch\", batch = 3, messages = 10, message = \"9001 B\", ack = \"6000 B\" }",
    "{ kind = \"halo3d\", iterations = 2 }",
    "{ kind = \"collective\", collective = \"alltoall\", message = \"12 KiB\" }",
];

/// Every message of a run, and its packets' bytes: (source, destination, bytes) in order.
fn messages(network: (&str, &str), model: &str, work: &str, packet: u32) -> (Vec<(u32, u32, u64)>, u64) {
    let text = format!(
        "name = \"law\"\n[topology]\n{}\n[routing]\n{}\n[router]\nmodel = \"{model}\"\n[nic]\npacket = \"{packet} B\"\n[[job]]\nwork = {work}\n\
         [run]\nseeds = [3]\n[observe]\nmessages = \"full\"\n",
        network.0, network.1
    );
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{text}: {findings:?}"));
    let result = run::run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rows = result.stats.rows.unwrap();
    let mut messages: Vec<_> = rows
        .iter()
        .map(|row| (row.source, row.destination, row.bytes))
        .collect();
    messages.sort_unstable();
    assert!(!messages.is_empty(), "{text}");
    (messages, result.stats.packet_bytes)
}

#[test]
fn packets_of_half_the_size_change_no_message_and_no_byte() {
    for network in NETWORKS {
        for model in ["sculpin", "credit"] {
            for work in WORK {
                let whole = messages(network, model, work, 8_192);
                for packet in [4_096, 2_048, 999] {
                    assert_eq!(
                        messages(network, model, work, packet),
                        whole,
                        "{network:?} {model} {work} {packet}"
                    );
                }
            }
        }
    }
}
