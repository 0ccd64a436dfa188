//! Runs on what failures have left: every routing that claims to go round them, on every family, delivers every message, and who cannot be
//! reached is told before the run, as a search of the graph says.

use crate::static_tables::{LANES, engine};
use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::run;
use topo::{
    Arrangement, DragonflyPlusSpec, DragonflySpec, FailKind, FailSpec, FatTreeSpec, Lattice, RingSpec, TopologySpec,
};
use vocabulary::{LoadOptions, load_study};

pub fn lattice(shape: &[u32], width: &[u32]) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: width.to_vec(),
        nodes_per_router: 2,
    }
}

pub fn dragonfly(routers_per_group: &[u32], links_per_pair: u32) -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups: 5,
        routers_per_group: routers_per_group.to_vec(),
        nodes_per_router: 2,
        links_per_pair,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

pub fn dragonfly_plus() -> TopologySpec {
    TopologySpec::DragonflyPlus(DragonflyPlusSpec {
        groups: 4,
        leaves: 3,
        spines: 3,
        nodes_per_leaf: 2,
        links_per_pair: 3,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

pub fn fat_tree() -> TopologySpec {
    TopologySpec::FatTree(FatTreeSpec {
        down: vec![4, 2, 3],
        up: vec![3, 2],
        up_width: vec![1, 1],
    })
}

/// The families, each with what is special to it.
fn families() -> Vec<TopologySpec> {
    vec![
        TopologySpec::Ring(RingSpec {
            routers: 7,
            width: 1,
            nodes_per_router: 2,
        }),
        TopologySpec::Mesh(lattice(&[4, 3], &[1, 1])),
        TopologySpec::Torus(lattice(&[4, 4], &[1, 1])),
        TopologySpec::Torus(lattice(&[2, 5], &[1, 2])),
        TopologySpec::HyperX(lattice(&[4, 3], &[1, 1])),
        dragonfly(&[4], 1),
        dragonfly(&[2, 3], 4),
        dragonfly_plus(),
        fat_tree(),
    ]
}

/// Routings of a study by what `[routing]` says.
fn routings(topology: &TopologySpec) -> Vec<RoutingSpec> {
    let every = [
        "kind = \"minimal\"",
        "kind = \"min-random\"",
        "kind = \"min-a\"",
        "kind = \"valiant\"",
        "kind = \"valiant\"\nvia = \"router\"",
        "kind = \"ugal\"",
        "kind = \"par\"",
        "kind = \"updn\"",
        "kind = \"dfsssp\"\nlanes = 8",
        "kind = \"lash\"\nlanes = 8",
        "kind = \"nue\"\nlanes = 2",
    ];
    let grouped = [
        "kind = \"valiant\"\nvia = \"group\"",
        "kind = \"ugal\"\nvia = \"group\"",
        "kind = \"ugal\"\nvia = \"group\"\nscope = \"group\"",
        "kind = \"par\"\nvia = \"group\"",
        "kind = \"adaptive-local\"",
    ];
    let up = [
        "kind = \"d-mod-k\"",
        "kind = \"scatter\"",
        "kind = \"adaptive-up\"",
        "kind = \"ftree\"\nroots = [15, 16, 17, 18, 19, 20]",
    ];
    let halves = ["kind = \"parx\"\nlanes = 8"];
    let further: &[&str] = match topology {
        TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_) => &grouped,
        TopologySpec::FatTree(_) => &up,
        TopologySpec::HyperX(_) => &halves,
        _ => &[],
    };
    let of = |keys: &&str| {
        let network = match topology {
            TopologySpec::FatTree(_) => "kind = \"fat-tree\"\ndown = [2, 2]\nup = [2]",
            TopologySpec::HyperX(_) => "kind = \"hyperx\"\nshape = [2, 2]",
            _ => "kind = \"dragonfly\"\ngroups = 3\nrouters_per_group = 2",
        };
        let text = format!(
            "[topology]\n{network}\n[router]\nbuffer = \"16 KiB\"\n[routing]\n{keys}\n\
             [[job]]\nwork = {{ kind = \"uniform\", load = 0.1 }}\n[run]\nend = \"1 us\"\n"
        );
        let study = load_study(
            text.as_bytes(),
            "s.toml",
            std::path::Path::new("."),
            &LoadOptions::default(),
        );
        study.unwrap_or_else(|findings| panic!("{keys}: {findings:?}")).runs[0]
            .routing
            .clone()
    };
    every.iter().chain(further).map(of).collect()
}

/// Uniform traffic of a few messages of three packets each per node.
fn traffic(topology: &TopologySpec, routing: &RoutingSpec) -> RunSpec {
    let mut spec = plain(topology.clone());
    spec.routing = routing.clone();
    spec.router.buffer = Some(Bytes(8_192));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(0.6),
        count: Some(6),
        ..Synthetic::of(Pattern::Uniform, Bytes(5_000))
    });
    spec.control.end = Some(Time::from_us(200));
    spec.control.warmup = Some(Time::ZERO);
    spec
}

/// Failures tried per family and routing; all of them where the environment asks for it.
fn tries() -> u64 {
    match std::env::var("FABRICSIM_FAILURES") {
        Ok(tries) => tries.parse().expect("FABRICSIM_FAILURES is a number"),
        Err(_) => 8,
    }
}

#[test]
fn who_goes_round_failures_delivers_everything_and_who_is_cut_off_is_named() {
    let (mut ran, mut parted) = (0, 0);
    for (topology, n) in families().iter().zip(0..) {
        for routing in routings(topology) {
            for seed in 0..tries() {
                let mut spec = traffic(topology, &routing);
                let of = if seed % 5 == 4 {
                    FailKind::Routers
                } else {
                    FailKind::Cables
                };
                spec.fail = FailSpec::random(of, 1 + (seed % 2) as u32, 1_000 * n + seed);
                let what = || format!("{topology:?} {routing:?} {:?}", spec.fail);
                let whole = topology.build().unwrap();
                let fallout = whole.find_failures(&spec.fail).unwrap();
                let left = whole.without(&spec.fail).unwrap();
                let alive = (0..left.n_nodes()).filter(|node| !fallout.nodes.contains(node));
                let routers: Vec<u32> = alive.map(|node| left.router_of(node)).collect();
                let is_whole = routers.iter().all(|&router| left.are_joined(routers[0], router));
                match run(&spec, &mut |_| true) {
                    Ok(result) => {
                        assert!(is_whole, "{}", what());
                        let nodes = u64::from(left.n_nodes()) - fallout.nodes.len() as u64;
                        let summary = &result.summary;
                        assert_eq!(
                            (summary.measured, summary.arrived),
                            (6 * nodes, 6 * nodes),
                            "{}",
                            what()
                        );
                        let net = Network::build(&spec).unwrap();
                        let proof = net.routing.prove(&spec.router, &net.topology);
                        assert!(proof.free, "{}: {}", what(), proof.words);
                        ran += 1;
                    }
                    Err(error) => {
                        let words = error.to_string();
                        assert!(!is_whole, "{}: {words}", what());
                        parted += u32::from(!is_whole);
                    }
                }
            }
        }
    }
    println!("{ran} runs, {parted} refused");
    assert!(ran > 10 * parted && parted > 0);
}

#[test]
fn dimension_order_names_the_pairs_that_have_lost_their_way() {
    let topology = TopologySpec::Torus(lattice(&[4, 4], &[1, 1]));
    let mut spec = traffic(&topology, &RoutingSpec::DOR);
    spec.fail.cables = vec!["(0,0) x+".into()];
    let words = Network::build(&spec).unwrap_err().to_string();
    // A tie goes to the positive side. Over x+: from (0,0) to columns 1 and 2, from (3,0) to column 1; back: from (1,0) to column 0; four rows each.
    let expected = "\"dor\" keeps its ways, and those of 16 pairs of routers are lost";
    assert!(words.contains(expected), "{words}");
    // Whom nothing parts, dimension order serves.
    let mut thin = traffic(&TopologySpec::Torus(lattice(&[4, 4], &[2, 2])), &RoutingSpec::DOR);
    thin.fail.cables = vec!["(0,0) x+".into()];
    assert!(run(&thin, &mut |_| true).is_ok());
    let mut needs_all = traffic(&topology, &RoutingSpec::RDR);
    needs_all.fail.cables = vec!["(0,0) x+".into()];
    let words = Network::build(&needs_all).unwrap_err().to_string();
    assert!(words.contains("needs a network without failures"), "{words}");
}

/// Torus-2QoS goes round any one cable and any one router, dead routers with all that their nodes would say; packets take four channels behind a dead router
/// and two otherwise.
#[test]
fn torus_2qos_goes_round_any_cable_and_any_router() {
    let mut turned = 0;
    for shape in [&[4, 4][..], &[5, 3], &[3, 4, 3]] {
        let topology = TopologySpec::Torus(lattice(shape, &vec![1; shape.len()]));
        let whole = topology.build().unwrap();
        let routing = engine("torus-2qos", LANES, 0, PathChoice::RoundRobin);
        let mut spec = traffic(&topology, &routing);
        assert_eq!(Network::build(&spec).unwrap().routing.vcs(), 2);
        for router in 0..whole.n_routers() {
            for what in ["cable", "router"] {
                spec.fail = FailSpec::default();
                match what {
                    "cable" => spec.fail.cables = vec![whole.cable_name(router, (router % 4) as u16)],
                    _ => spec.fail.routers = vec![whole.router_name(router)],
                }
                let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{:?}: {error}", spec.fail));
                let nodes = u64::from(whole.n_nodes()) - if what == "router" { 2 } else { 0 };
                assert_eq!(
                    (result.summary.measured, result.summary.arrived),
                    (6 * nodes, 6 * nodes)
                );
                let net = Network::build(&spec).unwrap();
                let proof = net.routing.prove(&spec.router, &net.topology);
                assert!(proof.free, "{:?}: {}", spec.fail, proof.words);
                assert!(net.routing.vcs() == 2 || what == "router");
                turned += u32::from(net.routing.vcs() == 4);
            }
        }
    }
    assert!(turned > 40, "{turned}");
}

#[test]
fn a_routing_that_can_deadlock_on_what_is_left_is_refused_with_the_cycle() {
    let mesh = TopologySpec::Mesh(lattice(&[4, 3], &[1, 1]));
    let tables = routings(&mesh)
        .into_iter()
        .find_map(|routing| routing.tables().map(|(_, tables)| tables.clone()));
    let minhop = RoutingSpec::by_tables("minhop", tables.unwrap()).unwrap();
    let mut spec = traffic(&mesh, &minhop);
    spec.fail.cables = vec!["(2,1) x+".into()];
    let words = run(&spec, &mut |_| true).unwrap_err().to_string();
    assert!(
        words.contains("can deadlock, a cycle of") && words.contains("(2,1) y+ vc0 -> "),
        "{words}"
    );
}

/// A tree of four leaves with sixteen nodes each and full bisection, every leaf sending to the next one.
fn shifted_tree(routing: &str, load: f64, fail: &str) -> RunSpec {
    let text = format!(
        "[topology]\nkind = \"fat-tree\"\ndown = [16, 4]\nup = [16]\n[link]\nbandwidth = \"25 GB/s\"\n[router]\nbuffer = \"64 KiB\"\n\
         [routing]\nkind = \"{routing}\"\n{fail}\n[[job]]\nwork = {{ kind = \"shift\", by = 16, load = {load}, message = \"2 KiB\" }}\n\
         [run]\nend = \"400 us\"\n"
    );
    let study = load_study(
        text.as_bytes(),
        "s.toml",
        std::path::Path::new("."),
        &LoadOptions::default(),
    );
    study.unwrap_or_else(|findings| panic!("{findings:?}")).runs[0].clone()
}

#[test]
fn a_dead_top_cable_costs_what_the_load_bound_says() {
    let dead = "[fail]\ncables = [\"L1.1 to L2.5\"]";
    let bound = |routing: &str, fail: &str| {
        judge::limits::limits(&shifted_tree(routing, 0.5, fail))
            .unwrap()
            .unwrap()
            .bound
    };
    assert_eq!(bound("scatter", ""), Some(1.0));
    // Sixteen nodes share fifteen cables; by D-mod-k two of them share one.
    let close = |found: Option<f64>, expected: f64| {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}, not {expected}")
    };
    close(bound("scatter", dead), 15.0 / 16.0);
    close(bound("d-mod-k", dead), 0.5);
    let accepted = |routing: &str, load: f64| {
        let result = run(&shifted_tree(routing, load, dead), &mut |_| true).unwrap();
        (result.summary.accepted_load, result.summary.accepted_load_min.unwrap())
    };
    // Below the bound all is taken; above it the nodes of the two leaves concerned get their share.
    let (all, worst) = accepted("adaptive-up", 0.90);
    // About 2,200 messages of each source in the measured time: five standard deviations of chance.
    assert!((all - 0.90).abs() < 0.01 && worst > 0.80, "{all} {worst}");
    let (_, worst) = accepted("d-mod-k", 0.90);
    assert!((worst - 0.5).abs() < 0.02, "{worst}");
}

#[test]
fn a_cable_that_has_lost_lanes_carries_what_it_keeps() {
    let slow = "[fail]\ncables = [\"L1.1 to L2.5\"]\nkeeps = 0.25";
    let limits = judge::limits::limits(&shifted_tree("d-mod-k", 0.5, slow))
        .unwrap()
        .unwrap();
    assert!((limits.bound.unwrap() - 0.25).abs() < 1e-9, "{:?}", limits.bound);
    assert_eq!(
        limits.limit.as_deref(),
        Some("the up1 at 25 % links L1.1 to L2.5 and L2.5 to L1.1")
    );
    let run = |load| {
        run(&shifted_tree("d-mod-k", load, slow), &mut |_| true)
            .unwrap()
            .summary
    };
    // The two nodes whose messages take it, up and down.
    assert!((run(0.9).accepted_load_min.unwrap() - 0.25).abs() < 0.01);
    assert!((run(0.2).accepted_load - 0.2).abs() < 0.005);
}
