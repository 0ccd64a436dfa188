//! Placements: every kind gives each logical node a physical node of its own, in the order that its name says.

use fabric::network::Network;
use fabric::spec::{JobSpec, Placement, plain};
use judge::run::run;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, SingleRouterSpec, Topology, TopologySpec};
use vocabulary::{LoadOptions, load_study};
use work::workload::places;

fn hyperx(shape: &[u32], nodes_per_router: u32) -> TopologySpec {
    TopologySpec::HyperX(Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router,
    })
}

fn dragonfly(groups: u32, routers: u32, nodes_per_router: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups,
        routers_per_group: vec![routers],
        nodes_per_router,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 0,
    })
}

fn fat_tree() -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: vec![2, 3, 4],
        up: vec![2, 2],
        up_width: vec![],
    })
}

fn job(placement: Placement, nodes: Option<u32>) -> JobSpec {
    let mut job = plain(TopologySpec::SingleRouter(SingleRouterSpec { nodes: 2 }))
        .jobs
        .remove(0);
    (job.placement, job.nodes) = (placement, nodes);
    job
}

/// Places jobs on a network with seed 1.
fn placed(spec: &TopologySpec, jobs: &[JobSpec]) -> Vec<Vec<u32>> {
    places(jobs, &spec.build().expect("a network"), 1, 1).expect("jobs fit")
}

/// Where one job on all nodes is.
fn alone(spec: &TopologySpec, placement: Placement) -> Vec<u32> {
    placed(spec, &[job(placement, None)]).remove(0)
}

fn refusal(spec: &TopologySpec, jobs: &[JobSpec]) -> String {
    let topology = spec.build().expect("a network");
    places(jobs, &topology, 1, 1).expect_err("must be refused").to_string()
}

fn groups_of(topology: &Topology, nodes: &[u32]) -> Vec<u32> {
    nodes.iter().map(|&node| topology.group_of(node)).collect()
}

#[test]
fn linear_is_the_identity() {
    assert_eq!(alone(&fat_tree(), Placement::Linear), Vec::from_iter(0..24));
}

/// Worked out by another program from what the documentation says: SplitMix64 from `mix(seed ^ 2 << 32 ^ job)`, Fisher-Yates from the end;
/// a later job shuffles what the one before has left, as it lies.
#[test]
fn random_nodes_are_those_of_the_published_generator() {
    assert_eq!(alone(&hyperx(&[4], 2), Placement::Random), [7, 2, 0, 3, 1, 4, 6, 5]);
    let jobs = [job(Placement::Random, Some(3)), job(Placement::Random, None)];
    assert_eq!(placed(&hyperx(&[4], 2), &jobs), [vec![7, 2, 0], vec![5, 1, 4, 3, 6]]);
}

#[test]
fn chunks_stay_together_and_are_shuffled() {
    let nodes = alone(&hyperx(&[4, 4], 2), Placement::Clustered { chunk: 4 });
    let firsts: Vec<u32> = nodes.chunks(4).map(|chunk| chunk[0]).collect();
    assert!(
        nodes
            .chunks(4)
            .all(|c| c[0] % 4 == 0 && c.windows(2).all(|w| w[0] + 1 == w[1]))
    );
    assert!(
        firsts.windows(2).any(|pair| pair[0] > pair[1]),
        "{firsts:?} is no shuffle"
    );
    // Chunks of one node are a random placement.
    let ones = alone(&hyperx(&[4, 4], 2), Placement::Clustered { chunk: 1 });
    assert_eq!(ones, alone(&hyperx(&[4, 4], 2), Placement::Random));
    assert_eq!(
        alone(&fat_tree(), Placement::Clustered { chunk: 24 }),
        Vec::from_iter(0..24)
    );
}

#[test]
fn strides_come_back_for_what_they_left() {
    let nodes = alone(&hyperx(&[5], 2), Placement::Strided { stride: 4 });
    assert_eq!(nodes, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]);
    let jobs = [
        job(Placement::Strided { stride: 3 }, Some(3)),
        job(Placement::Strided { stride: 2 }, Some(4)),
    ];
    assert_eq!(placed(&hyperx(&[5], 2), &jobs), [vec![0, 3, 6], vec![1, 4, 7, 9]]);
}

#[test]
fn groups_are_filled_one_after_the_other_in_random_order() {
    for (spec, size) in [(dragonfly(9, 4, 2), 8), (fat_tree(), 6), (hyperx(&[6, 2, 2], 3), 12)] {
        let topology = spec.build().unwrap();
        let nodes = alone(&spec, Placement::PerGroup);
        let groups = groups_of(&topology, &nodes);
        let order: Vec<u32> = groups.chunks(size).map(|chunk| chunk[0]).collect();
        assert!(groups.chunks(size).all(|chunk| chunk.iter().all(|&g| g == chunk[0])));
        assert!(nodes.chunks(size).all(|chunk| chunk.is_sorted()), "{nodes:?}");
        assert_eq!(BTreeSet::from_iter(&order).len() as u32, topology.n_groups().unwrap());
        let seeds = |seed| places(&[job(Placement::PerGroup, None)], &topology, 1, seed).unwrap();
        assert!((2..12).any(|seed| seeds(seed)[0] != nodes), "the order must be drawn");
    }
}

#[test]
fn spread_takes_a_node_of_each_group_in_turn() {
    for (spec, n_groups) in [(dragonfly(9, 4, 2), 9), (fat_tree(), 4), (hyperx(&[6, 2, 2], 3), 6)] {
        let topology = spec.build().unwrap();
        let nodes = alone(&spec, Placement::Spread);
        let seeds = |seed| places(&[job(Placement::Spread, None)], &topology, 1, seed).unwrap();
        assert!((2..12).any(|seed| seeds(seed)[0] != nodes), "the order must be drawn");
        let groups = groups_of(&topology, &nodes);
        let round = &groups[..n_groups];
        assert_eq!(BTreeSet::from_iter(round).len(), n_groups);
        assert!(groups.chunks(n_groups).all(|chunk| chunk == round));
    }
}

/// A Clos of three levels: pods of 8 leaves of 4 nodes.
fn clos() -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: vec![4, 8, 3],
        up: vec![4, 8],
        up_width: vec![],
    })
}

#[test]
fn the_rails_of_a_host_are_at_leaves_of_their_own() {
    let topology = clos().build().unwrap();
    for rails in [2, 4, 8] {
        let nodes = alone(&clos(), Placement::RailOptimised { rails });
        assert_eq!(BTreeSet::from_iter(&nodes).len(), 96);
        for (number, host) in nodes.chunks(rails as usize).enumerate() {
            let leaf = |node: u32| node / 4;
            // Pods are filled one after the other, and in them the sets of as many leaves as there are rails.
            let first = leaf(host[0]);
            assert_eq!(first % rails, 0, "{rails} rails, host {number}");
            assert_eq!(first / rails, number as u32 / 4);
            assert!((first..).zip(host).all(|(rail, &node)| leaf(node) == rail));
            assert!(host.iter().all(|node| node % 4 == number as u32 % 4));
            assert!(groups_of(&topology, host).windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}

#[test]
fn hosts_that_are_not_whole_are_left_out() {
    let rails = Placement::RailOptimised { rails: 8 };
    // Node 33 is the second of leaf 0 of pod 1: its host is gone, the others of the pod are not.
    let jobs = [job(Placement::File([33].into()), Some(1)), job(rails.clone(), Some(88))];
    let placed = placed(&clos(), &jobs);
    let slots = placed[1].chunks(8).map(|host| host[0]);
    let expected = [0, 1, 2, 3, 32, 34, 35, 64, 65, 66, 67];
    assert_eq!(slots.collect::<Vec<_>>(), expected);
    let too_many = [job(Placement::File([33].into()), Some(1)), job(rails, Some(89))];
    let words = refusal(&clos(), &too_many);
    assert!(
        words.starts_with("job.1.placement: 89 nodes are asked for, 11 hosts of 8 interfaces each are whole and free"),
        "{words}"
    );
    for (spec, rails, expected) in [
        (
            clos(),
            3,
            "the leaves of a pod, or routers of a group, are no sets of 3",
        ),
        (hyperx(&[4], 2), 3, "the routers with nodes (4) are no sets of 3"),
        (
            TopologySpec::SingleRouter(SingleRouterSpec { nodes: 4 }),
            2,
            "the routers with nodes (1) are no sets of 2",
        ),
        (hyperx(&[4], 2), 9, "9 interfaces a host, the network has 8 nodes"),
    ] {
        let words = refusal(&spec, &[job(Placement::RailOptimised { rails }, None)]);
        assert!(words.contains(expected), "{words}");
    }
}

/// What the arrangement is for: interfaces of one rail are at one leaf, so that what they say to each other passes no other router.
#[test]
fn messages_within_a_rail_pass_one_leaf() {
    let hops = |placement: &str| {
        let text = format!(
            "topology = {{ kind = \"fat-tree\", down = [4, 8], up = [4] }}\n[[job]]\nplacement = {placement}\nwork = {{ kind = \"shift\", by = 8, count = 3 }}\n"
        );
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
        let study = study.unwrap_or_else(|errors| panic!("{}", vocabulary::render(&errors)));
        run(&study.runs[0], &mut |_| true).unwrap().summary.hops.max
    };
    assert_eq!(hops("{ kind = \"rail-optimised\", rails = 8 }"), 1);
    assert_eq!(hops("\"linear\""), 3);
}

#[test]
fn a_file_is_taken_as_it_is() {
    let listed = Placement::File([7, 1, 3].into());
    let jobs = [job(listed, Some(3)), job(Placement::Linear, Some(4))];
    assert_eq!(placed(&hyperx(&[4], 2), &jobs), [vec![7, 1, 3], vec![0, 2, 4, 5]]);
}

#[test]
fn what_does_not_fit_is_refused_with_place_reason_and_hint() {
    let ring = hyperx(&[4], 2);
    let check = |placement: Placement, nodes, expected: &str| {
        let first = job(Placement::Linear, Some(2));
        assert_eq!(refusal(&ring, &[first, job(placement, nodes)]), expected);
    };
    check(
        Placement::Linear,
        Some(7),
        "job.1.nodes: 7 nodes are asked for, 6 are free (take fewer nodes or a larger network)",
    );
    check(
        Placement::Clustered { chunk: 9 },
        None,
        "job.1.placement: chunks of 9 nodes do not fit, the network has 8 (give chunk = 1 to 8)",
    );
    check(
        Placement::Strided { stride: 0 },
        None,
        "job.1.placement: a stride of 0 leads nowhere, the network has 8 nodes (give stride = 1 to 7)",
    );
    let listed = |nodes: &[u32]| Placement::File(nodes.into());
    check(
        listed(&[2, 3]),
        Some(3),
        "job.1.placement: 2 nodes are listed, the job has 3 (list every logical node once)",
    );
    check(
        listed(&[2, 8]),
        Some(2),
        "job.1.placement: there is no node 8, the network has 8 (list nodes of the network)",
    );
    check(
        listed(&[2, 2]),
        Some(2),
        "job.1.placement: node 2 of logical node 1 is listed before (list every node once)",
    );
    check(
        listed(&[2, 1]),
        Some(2),
        "job.1.placement: node 1 of logical node 1 is taken by job \"job\" (list nodes that are free, or put this job first)",
    );
    let one = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 4 });
    for placement in [Placement::PerGroup, Placement::Spread] {
        let words = refusal(&one, &[job(placement, None)]);
        assert!(
            words.starts_with("job.0.placement: this network has no groups (take a"),
            "{words}"
        );
    }
}

#[test]
fn a_placement_does_not_depend_on_the_rest_of_the_run() {
    for placement in ["\"random\"", "{ kind = \"clustered\", chunk = 2 }"] {
        let text = format!(
            "[topology]\nkind = \"torus\"\nshape = [4, 4]\n[[job]]\nplacement = {placement}\nnodes = 8\nwork = {{ kind = \"shift\", load = 0.5 }}\n[run]\nend = \"1 ms\"\n\
             [sweep]\n\"link.bandwidth\" = [\"25 GB/s\", \"50 GB/s\"]\n\"topology.shape\" = [[4, 4], [16, 1]]\n\"job.0.work.load\" = [0.1, 0.9]\n"
        );
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default()).unwrap();
        let partners = |network: &Network| -> Vec<(bool, u32)> {
            let message = |node| network.workload.generate(node, &mut bytemuck::Zeroable::zeroed());
            (0..16)
                .map(|node| {
                    (
                        network.workload.generates(node),
                        message(node).map_or(99, |m| m.destination),
                    )
                })
                .collect()
        };
        let all: BTreeSet<_> = (study.runs.iter())
            .map(|run| partners(&Network::build(run).unwrap()))
            .collect();
        assert_eq!((study.runs.len(), all.len()), (8, 1), "{placement}");
        assert!(
            all.iter()
                .all(|run| run.iter().filter(|(sends, _)| *sends).count() == 8)
        );
    }
}

fn placements() -> impl Strategy<Value = Placement> {
    prop_oneof![
        Just(Placement::Linear),
        Just(Placement::Random),
        (1..=8u32).prop_map(|chunk| Placement::Clustered { chunk }),
        (1..=7u32).prop_map(|stride| Placement::Strided { stride }),
        Just(Placement::PerGroup),
        Just(Placement::Spread),
    ]
}

fn networks() -> impl Strategy<Value = TopologySpec> {
    prop_oneof![
        (2..5u32, 1..4u32, 1..4u32).prop_map(|(x, y, n)| hyperx(&[x + 1, y + 1, 2], n)),
        (2..6u32, 2..5u32, 2..4u32).prop_map(|(g, r, n)| dragonfly(g, r, n)),
        Just(fat_tree()),
    ]
}

proptest! {
    /// Of any jobs on any network, every logical node has a physical node that no other has.
    #[test]
    fn no_node_is_used_twice(spec in networks(), jobs in prop::collection::vec((placements(), 0.05..0.5f64), 1..5), seed: u64) {
        let topology = spec.build().unwrap();
        let n = topology.n_nodes();
        let mut left = n;
        let jobs: Vec<JobSpec> = jobs
            .into_iter()
            .filter_map(|(placement, share)| {
                let nodes = ((f64::from(n) * share) as u32).max(1).min(left);
                left -= nodes;
                (nodes > 0).then(|| job(placement, Some(nodes)))
            })
            .collect();
        let taken = places(&jobs, &topology, 1, seed).unwrap();
        let used: BTreeSet<u32> = taken.iter().flatten().copied().collect();
        prop_assert!(used.iter().all(|&node| node < n));
        prop_assert_eq!(used.len() as u32, n - left);
        for (job, nodes) in jobs.iter().zip(&taken) {
            prop_assert_eq!(job.nodes, Some(nodes.len() as u32));
        }
        prop_assert_eq!(taken, places(&jobs, &topology, 1, seed).unwrap());
    }

    /// A job on a part of the network is the beginning of the job on all of it.
    #[test]
    fn a_smaller_job_is_the_beginning_of_a_larger_one(spec in networks(), placement in placements(), share in 0.1..1.0f64, seed: u64) {
        let topology = spec.build().unwrap();
        let nodes = (f64::from(topology.n_nodes()) * share).ceil() as u32;
        let whole = places(&[job(placement.clone(), None)], &topology, 1, seed).unwrap();
        let part = places(&[job(placement, Some(nodes))], &topology, 1, seed).unwrap();
        prop_assert_eq!(&part[0][..], &whole[0][..nodes as usize]);
        let all: BTreeSet<u32> = whole[0].iter().copied().collect();
        prop_assert_eq!(all.len() as u32, topology.n_nodes());
    }

    /// After other jobs, chunks of consecutive free nodes stay together whatever they left.
    #[test]
    fn chunks_of_free_nodes_stay_together(spec in networks(), before in placements(), chunk in 1..6u32, seed: u64) {
        let topology = spec.build().unwrap();
        let taken = topology.n_nodes() / 3 + 1;
        let jobs = [job(before, Some(taken)), job(Placement::Clustered { chunk }, None)];
        let places = places(&jobs, &topology, 1, seed).unwrap();
        let mut free = places[1].clone();
        free.sort_unstable();
        let mut chunks: Vec<&[u32]> = free.chunks(chunk as usize).collect();
        let mut rest = &places[1][..];
        while !rest.is_empty() {
            let at = chunks.iter().position(|chunk| rest.starts_with(chunk));
            prop_assert!(at.is_some(), "{rest:?} begins with no chunk");
            rest = &rest[chunks.remove(at.unwrap()).len()..];
        }
    }
}

/// An idle job keeps its nodes, so that the others stay where they are, and does nothing.
#[test]
fn a_job_beside_an_idle_one_does_what_it_does_alone() {
    let study = |second: &str| {
        let text = format!(
            "topology = {{ kind = \"hyperx\", shape = [4, 4], nodes_per_router = 2 }}\n\
             [[job]]\nname = \"first\"\nnodes = 9\nplacement = \"random\"\nwork = {{ kind = \"uniform\", count = 20 }}\n{second}"
        );
        let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
        let study = study.unwrap_or_else(|errors| panic!("{}", vocabulary::render(&errors)));
        run(&study.runs[0], &mut |_| true).unwrap().summary
    };
    let job = |rest: &str| {
        study(&format!(
            "[[job]]\nname = \"second\"\nnodes = 12\nplacement = \"random\"\n{rest}"
        ))
    };
    let alone = study("");
    let idle = job("work.kind = \"idle\"");
    assert_eq!((&idle.digest, idle.messages), (&alone.digest, 180));
    // The keys of a job of ranks may stay.
    let switched_off = "ranks_per_node = 2\nwork = { kind = \"idle\", grid = [4, 4, 4], compute = \"1 us\" }";
    assert_eq!(job(switched_off).digest, alone.digest);
    let busy = job("work = { kind = \"uniform\", count = 20 }");
    assert_ne!(busy.digest, alone.digest);
    assert_eq!(busy.messages, 420);
}
