//! A connection matrix with every word that one may have.

use super::Sample;

/// Six flows, two triggers; the barrier waits for flows of two nodes and starts flows of two.
pub const MATRIX: &str = "# a comment
Nodes 6
Connections 6
Triggers 2

0->1 id 1 start 0 size 2000000 recv_done_trigger 1
2->3 id 2 start 12.5 size 1000 send_done_trigger 2 prio 3
1->4 id 3 trigger 1 size 500 recv_done_trigger 2
4->5 id 4 trigger 2 size 600
2->0 id 5 start 9 trigger 2 size 700\r
2->4 start 0.000001 size 1
trigger id 1 oneshot
trigger id 2 barrier count 2
";

/// All of them.
pub fn all() -> Vec<Sample> {
    vec![Sample {
        format: "htsim",
        name: "every word",
        files: vec![("every.cm".into(), MATRIX.into())],
        open: "every.cm",
    }]
}
