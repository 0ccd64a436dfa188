//! Wrong specifications: all mistakes at once, by key, with a reason; never a panic.

use crate::common::*;
use topo::{Arrangement, FieldError, GraphFormat, GraphSpec, SingleRouterSpec, TopologySpec};

fn told(spec: &TopologySpec) -> Vec<FieldError> {
    spec.build().expect_err("a wrong specification was built")
}

fn fields(spec: &TopologySpec) -> Vec<String> {
    told(spec).into_iter().map(|e| e.field).collect()
}

#[test]
fn every_wrong_key_is_named_at_once() {
    let cases = [
        (TopologySpec::SingleRouter(SingleRouterSpec { nodes: 0 }), vec!["nodes"]),
        (ring(2, 0, 0), vec!["routers", "width", "nodes_per_router"]),
        (torus(&[], &[], 1), vec!["shape"]),
        (
            mesh(&[4, 0, 0], &[1, 0], 0),
            vec!["shape[1]", "shape[2]", "width", "width[1]", "nodes_per_router"],
        ),
        (hyperx(&[4, 4], &[1, 1, 1], 1), vec!["width"]),
        (
            dragonfly(0, &[], 0, 1, 0, Arrangement::Absolute),
            vec!["routers_per_group", "groups", "nodes_per_router", "local_width"],
        ),
        (
            dragonfly(3, &[2, 2, 2], 1, 0, 1, Arrangement::Random),
            vec!["routers_per_group", "links_per_pair"],
        ),
        (
            megafly(3, 0, 0, 0, 0, 1, Arrangement::Relative),
            vec!["leaves", "spines", "nodes_per_leaf", "links_per_pair"],
        ),
        (fat_tree(&[], &[], &[]), vec!["down"]),
        (fat_tree(&[4, 4], &[4, 4], &[1]), vec!["up", "up_width"]),
        (fat_tree(&[4, 0], &[0], &[0]), vec!["down[1]", "up[0]", "up_width[0]"]),
    ];
    for (spec, expected) in cases {
        assert_eq!(fields(&spec), expected, "{spec:?}");
    }
}

#[test]
fn an_error_reads_as_place_reason_and_hint() {
    let text = told(&ring(1, 1, 1))[0].to_string();
    assert_eq!(
        text,
        "routers: 1 router is too few, a ring needs at least 3 (use a mesh or torus of shape [2] for two routers)"
    );
}

#[test]
fn what_is_too_large_is_refused_before_memory_is_taken() {
    let max = u32::MAX;
    let cases = [
        torus(&[1000, 1000, 1000], &[], 1),
        torus(&[max; 8], &[max; 8], max),
        mesh(&[(1 << 26) + 1], &[], 1),
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: (1 << 26) + 1 }),
        hyperx(&[70_000], &[], 1),
        hyperx(&[100, 100], &[400, 400], 1),
        torus(&[10], &[40_000], 1),
        torus(&[1; 65], &[], 1),
        torus(&[100, 100, 100], &[], 300),
        TopologySpec::SingleRouter(SingleRouterSpec { nodes: max }),
        ring(max, max, max),
        dragonfly(max, &[max], max, max, max, Arrangement::Random),
        dragonfly(100_000, &[4], 1, 1, 1, Arrangement::Absolute),
        dragonfly(2, &[70_000], 1, 1, 1, Arrangement::Absolute),
        dragonfly(2, &[1], 1, 70_000, 1, Arrangement::Absolute),
        megafly(max, max, max, max, max, max, Arrangement::Random),
        megafly(2, 300, 300, 1, 1, 300, Arrangement::Random),
        fat_tree(&[max; 6], &[max; 5], &[max; 5]),
        fat_tree(&[64, 64, 64, 64, 64], &[64, 64, 64, 64], &[]),
        fat_tree(&[2; 65], &[2; 64], &[]),
        fat_tree(&[4, 300], &[300], &[300]),
    ];
    for spec in cases {
        for error in told(&spec) {
            assert!(
                error.reason.contains("limit") || error.reason.contains("must be 1 to 64"),
                "{spec:?}: {error}"
            );
        }
    }
}

fn graph_of(text: &str, format: GraphFormat, nodes_per_router: u32) -> Result<topo::Topology, Vec<FieldError>> {
    TopologySpec::Graph(GraphSpec {
        text: None,
        file: String::new(),
        format,
        nodes_per_router,
    })
    .build_with_text(text)
}

#[test]
fn wrong_graphs_say_what_and_where() {
    let cases = [
        ("", "no cable"),
        ("a b\nc d\n", "no way from router `a` to `c`"),
        ("a a", "line 1: a cable from router `a` to itself"),
        ("a b\nnode c 2", "line 2: unknown router `c`"),
        (
            "a b\nnode a 1\nnode a 1",
            "line 3: router `a` has its nodes stated twice",
        ),
        ("a b 70000", "network ports"),
        ("a b 4294967295", "limit"),
        ("a b\nnode a 4294967295", "nodes are too many"),
        ("a b -1", "line 1: the number of cables `-1` is not a whole number"),
    ];
    for (text, expected) in cases {
        let errors = graph_of(text, GraphFormat::EdgeList, 1).expect_err(text);
        assert!(
            errors.iter().any(|e| e.field == "file" && e.reason.contains(expected)),
            "{text:?}: {errors:?}"
        );
    }
    let no_nodes = graph_of("a b", GraphFormat::EdgeList, 0).expect_err("a network without nodes");
    assert_eq!(no_nodes[0].field, "nodes_per_router");
    let ring: String = (0..20_001).map(|i| format!("{i} {}\n", (i + 1) % 20_001)).collect();
    assert!(
        graph_of(&ring, GraphFormat::EdgeList, 1).expect_err("tables too large")[0]
            .reason
            .contains("20001 routers")
    );
    let missing = TopologySpec::Graph(GraphSpec {
        text: None,
        file: "/no/such/file".into(),
        format: GraphFormat::EdgeList,
        nodes_per_router: 1,
    });
    assert!(told(&missing)[0].reason.contains("cannot read"));
}
