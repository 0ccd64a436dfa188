//! DOAL, DAL and VDAL on HyperX: channels, deadlock, idle networks, saturation.

use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::run;
use topo::{Lattice, TopologySpec};

fn hyperx(shape: &[u32], nodes_per_router: u32) -> TopologySpec {
    TopologySpec::HyperX(Lattice {
        shape: shape.to_vec(),
        width: vec![1; shape.len()],
        nodes_per_router,
    })
}

fn traffic(topology: TopologySpec, routing: RoutingSpec, load: f64, pattern: Pattern) -> RunSpec {
    let mut spec = plain(topology);
    spec.routing = routing;
    spec.router.buffer = Some(Bytes(16 * 2_048));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(pattern, Bytes(2_048))
    });
    spec.control.end = Some(Time::from_us(300));
    spec.control.warmup = Some(Time::from_us(100));
    spec
}

fn accepted(topology: &TopologySpec, routing: RoutingSpec, load: f64, pattern: Pattern) -> f64 {
    let result = run(
        &traffic(topology.clone(), routing.clone(), load, pattern.clone()),
        &mut |_| true,
    );
    let result = result.unwrap_or_else(|error| panic!("{routing:?} at {load}: {error}"));
    println!(
        "{pattern:?} at {load}: {:.4} accepted, {:.2} hops: {routing:?}",
        result.summary.accepted_load, result.summary.hops.mean
    );
    result.summary.accepted_load
}

type Make = fn(DerouteSpec) -> RoutingSpec;
const KINDS: [Make; 3] = [RoutingSpec::Doal, RoutingSpec::Dal, RoutingSpec::Vdal];

/// The rule of SST Merlin: q against 2 q + 1 flit, by channel.
fn merlin() -> DerouteSpec {
    DerouteSpec {
        per: Per::Vc,
        bias: Bytes(64),
        ..DerouteSpec::default()
    }
}

fn seeing_credits() -> DerouteSpec {
    DerouteSpec {
        congestion: Congestion::Both,
        ..DerouteSpec::default()
    }
}

#[test]
fn each_has_the_stated_channels_and_a_proof() {
    for shape in [&[9][..], &[4, 3], &[3, 2, 4], &[2, 1, 3, 2], &[16, 16, 8]] {
        let dimensions = shape.iter().filter(|&&size| size > 1).count() as u8;
        for (kind, vcs) in KINDS.into_iter().zip([2, 2, 2 * dimensions]) {
            let routing = kind(DerouteSpec::default());
            let spec = traffic(hyperx(shape, 1), routing.clone(), 0.1, Pattern::Uniform);
            let net = Network::build(&spec).unwrap();
            assert_eq!(net.routing.vcs(), vcs, "{routing:?}");
            let proof = net.routing.prove(&spec.router, &net.topology);
            assert!(proof.free, "{routing:?} on {shape:?}: {}", proof.words);
            let escapes = matches!(routing, RoutingSpec::Dal(_));
            assert_eq!(proof.words.contains("escape channel"), escapes, "{}", proof.words);
        }
    }
}

#[test]
fn doal_needs_its_second_channel_and_vdal_makes_do_with_fewer_detours() {
    let proof = |routing: RoutingSpec, vcs| {
        let mut spec = traffic(hyperx(&[4, 4], 1), routing.clone(), 0.1, Pattern::Uniform);
        spec.router.vcs = Some(vcs);
        let net = Network::build(&spec).unwrap();
        net.routing.prove(&spec.router, &net.topology)
    };
    let doal = proof(RoutingSpec::Doal(DerouteSpec::default()), 1);
    assert!(!doal.free && doal.words.contains("cycle"), "{}", doal.words);
    // A channel for each hop: 4 for two detours, 3 for one, 2 for none; on one channel hops of both orders meet.
    for vcs in 1..=4 {
        let vdal = proof(RoutingSpec::Vdal(DerouteSpec::default()), vcs);
        assert_eq!(vdal.free, vcs >= 2, "{vcs}: {}", vdal.words);
    }
}

#[test]
fn what_never_finds_the_detour_shorter_goes_directly() {
    let topology = hyperx(&[4, 4], 3);
    let digest = |routing: RoutingSpec| {
        let mut spec = traffic(topology.clone(), routing.clone(), 0.3, Pattern::Tornado);
        // As many channels for all, so that room is told of at the same times.
        spec.router.vcs = Some(2);
        run(&spec, &mut |_| true).unwrap().summary
    };
    let bias = Bytes(1 << 40);
    for spec in [
        DerouteSpec { bias, ..merlin() },
        DerouteSpec {
            threshold: bias,
            ..seeing_credits()
        },
    ] {
        for kind in [RoutingSpec::Doal, RoutingSpec::Vdal] {
            let direct = digest(kind(spec));
            // One link in each dimension, and the node's.
            assert_eq!(direct.hops.mean, 3.0, "{:?}", kind(spec));
        }
    }
    let doal = digest(RoutingSpec::Doal(DerouteSpec { bias, ..merlin() }));
    assert_eq!(doal.digest, digest(RoutingSpec::DOR).digest);
}

/// All p nodes of a router send to the next router of the line. Directly there is one link: 1/p. A detour uses two of the other links:
/// its first hop one of the S - 2 to third routers, its second hop one of theirs, which the router lends in turn. So p load = 1 + (S - 2)/2.
#[test]
fn a_crowded_link_is_left_for_as_many_detours_as_the_line_has_room_for() {
    let (s, p) = (9, 8);
    let topology = hyperx(&[s], p);
    let next = Pattern::Shift { by: Some(p) };
    let most = (1.0 + f64::from(s - 2) / 2.0) / f64::from(p);
    let direct = accepted(&topology, RoutingSpec::DOR, 0.9, next.clone());
    assert!((direct - 1.0 / f64::from(p)).abs() < 0.002, "{direct}");
    let valiant = accepted(&topology, RoutingSpec::VALIANT, 0.9, next.clone());
    // Two hops but for intermediates that are source or destination: 16/9 p load on S - 1 links.
    assert!(valiant < f64::from(s) / 16.0 + 0.005, "{valiant}");
    for kind in KINDS {
        for spec in [DerouteSpec::default(), merlin(), seeing_credits()] {
            let below = accepted(&topology, kind(spec), 0.85 * most, next.clone());
            assert!(below > 0.98 * 0.85 * most, "{:?}: {below}", kind(spec));
            let over = accepted(&topology, kind(spec), 0.9, next.clone());
            assert!(over < 1.01 * most, "{:?}: {over}", kind(spec));
            assert!(over > 0.75 * most, "{:?} in overload: {over}", kind(spec));
        }
    }
}

/// All nodes of a router send to one router that differs in both dimensions: in each dimension the same as on a line.
#[test]
fn a_diagonal_is_limited_by_the_lines_of_both_dimensions() {
    let (s, p) = (5, 4);
    let topology = hyperx(&[s, s], p);
    // Tornado: two further in both dimensions, which on a HyperX is as good as one.
    let next = Pattern::Tornado;
    let most = (1.0 + f64::from(s - 2) / 2.0) / f64::from(p);
    let direct = accepted(&topology, RoutingSpec::DOR, 0.9, next.clone());
    assert!((direct - 1.0 / f64::from(p)).abs() < 0.004, "{direct}");
    for kind in KINDS {
        let below = accepted(&topology, kind(DerouteSpec::default()), 0.8 * most, next.clone());
        assert!(below > 0.98 * 0.8 * most, "{below}");
        let over = accepted(&topology, kind(DerouteSpec::default()), 0.9, next.clone());
        assert!(over < 1.01 * most, "{over}");
    }
}

/// Two routers send to one node of a third, each at the full rate: what comes in twice as fast as it leaves fills the buffers there, which hold
/// all of it. In the senders' routers nothing ever waits: only who counts credits goes round.
#[test]
fn credits_show_the_next_buffer_and_the_own_queue_does_not() {
    let hops = |congestion, per| {
        let routing = RoutingSpec::Doal(DerouteSpec {
            congestion,
            per,
            ..DerouteSpec::default()
        });
        let mut spec = traffic(
            hyperx(&[4], 1),
            routing.clone(),
            1.0,
            Pattern::Incast { sources: Some(2) },
        );
        spec.router.buffer = Some(Bytes(64 * 2_048));
        spec.control.end = None;
        spec.control.warmup = None;
        if let Work::Synthetic(synthetic) = &mut spec.jobs[0].work {
            (synthetic.count, synthetic.process) = (Some(40), Process::Periodic);
        }
        run(&spec, &mut |_| true).unwrap().summary.hops.mean
    };
    for per in [Per::Port, Per::Vc] {
        assert_eq!(hops(Congestion::Output, per), 2.0);
        let (credits, both) = (hops(Congestion::Credits, per), hops(Congestion::Both, per));
        assert!(credits > 2.1 && both > 2.1, "{credits} {both}");
    }
}

/// Two hops over any of the S - 2 third routers for every packet; the direct link lies idle.
#[test]
fn valiant_over_third_routers_leaves_the_direct_link_idle() {
    let (s, p) = (9, 8);
    let topology = hyperx(&[s], p);
    let most = f64::from(s - 2) / (2.0 * f64::from(p));
    let valiant = RoutingSpec::Valiant(ViaSpec { via: Via::Router });
    let below = accepted(&topology, valiant.clone(), 0.9 * most, Pattern::Shift { by: Some(p) });
    assert!(below > 0.98 * 0.9 * most, "{below}");
    let over = accepted(&topology, valiant.clone(), 0.9, Pattern::Shift { by: Some(p) });
    assert!((0.95 * most..1.005 * most).contains(&over), "{over} of {most}");
}

#[test]
fn uniform_traffic_keeps_nearly_all_where_valiant_keeps_half() {
    for topology in [hyperx(&[9], 8), hyperx(&[5, 5], 4)] {
        let valiant = accepted(&topology, RoutingSpec::VALIANT, 0.9, Pattern::Uniform);
        assert!(valiant < 0.65, "{valiant}");
        for kind in KINDS {
            for spec in [DerouteSpec::default(), merlin(), seeing_credits()] {
                let most = accepted(&topology, kind(spec), 0.8, Pattern::Uniform);
                // By channel, a detour of DOAL looks at a channel that detours alone use: what waits for its link on the other is not
                // seen, and a packet that finds another one before it goes round.
                let blind = matches!(kind(spec), RoutingSpec::Doal(DerouteSpec { per: Per::Vc, .. }));
                assert!(blind || most > 0.98 * 0.8, "{:?}: {most}", kind(spec));
            }
        }
    }
}

/// What waits in the input queues of such routers is in no one's count, and a crossbar of 1.5 times the links' bandwidth cannot make up for detours
/// round a single packet: those are ruled out by a threshold of two packets. The line is then used to nine tenths of what it has.
#[test]
fn input_queued_routers_take_uniform_and_adverse_traffic_with_a_threshold_of_two_packets() {
    let (s, p) = (9, 8);
    let most = (1.0 + f64::from(s - 2) / 2.0) / f64::from(p);
    let accepted = |routing: RoutingSpec, load, pattern: Pattern| {
        let mut spec = traffic(hyperx(&[s], p), routing.clone(), load, pattern.clone());
        spec.router.architecture = Architecture::INPUT_QUEUED;
        spec.router.output_buffer = Some(Bytes(16 * 2_048));
        let accepted = run(&spec, &mut |_| true).unwrap().summary.accepted_load;
        println!("input-queued, {pattern:?} at {load}: {accepted:.4} {routing:?}");
        accepted
    };
    for kind in [RoutingSpec::Doal, RoutingSpec::Vdal] {
        let routing = kind(DerouteSpec {
            threshold: Bytes(2 * 2_048),
            ..DerouteSpec::default()
        });
        let uniform = accepted(routing.clone(), 0.8, Pattern::Uniform);
        assert!(uniform > 0.98 * 0.8, "{uniform}");
        let adverse = accepted(routing.clone(), 0.9, Pattern::Shift { by: Some(p) });
        assert!((0.9 * most..1.01 * most).contains(&adverse), "{adverse}");
        // Without it the packet that is being sent is reason enough, and more go round than there is room for.
        let eager = accepted(kind(DerouteSpec::default()), 0.8, Pattern::Uniform);
        assert!(eager < 0.9 * uniform, "{eager}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |spec: &RunSpec| match Network::build(spec) {
        Ok(_) => panic!("{:?} on {:?}", spec.routing, spec.topology),
        Err(error) => error.to_string(),
    };
    let torus = TopologySpec::Torus(Lattice {
        shape: vec![4, 4],
        width: vec![1, 1],
        nodes_per_router: 1,
    });
    for kind in KINDS {
        let spec = traffic(torus.clone(), kind(DerouteSpec::default()), 0.1, Pattern::Uniform);
        assert!(refused(&spec).starts_with("routing.kind"));
        let mut spec = traffic(hyperx(&[3, 3], 1), kind(seeing_credits()), 0.1, Pattern::Uniform);
        spec.router.buffer = None;
        assert!(refused(&spec).starts_with("routing.congestion"));
        spec.router.architecture = Architecture::LATE_ADMISSION;
        assert!(refused(&spec).starts_with("routing.kind"));
    }
    let dal = RoutingSpec::Dal(DerouteSpec::default());
    let five = traffic(hyperx(&[2, 2, 2, 2, 2], 1), dal.clone(), 0.1, Pattern::Uniform);
    assert!(refused(&five).contains("four at most"));
    let mut queued = traffic(hyperx(&[3, 3], 1), dal.clone(), 0.1, Pattern::Uniform);
    queued.router.architecture = Architecture::INPUT_QUEUED;
    assert!(refused(&queued).starts_with("routing.kind"));
}

/// Buffers of one packet in overload: what could stand still for ever would. All that is sent must come.
#[test]
fn nothing_stands_still_with_room_for_one_packet() {
    let most = Bytes(1 << 40);
    for kind in KINDS {
        // The last one takes no detour that it need not: where a channel has no room, DAL is on its escape channel.
        for spec in [
            DerouteSpec::default(),
            seeing_credits(),
            DerouteSpec { bias: most, ..merlin() },
        ] {
            for (topology, pattern) in [
                (hyperx(&[5], 4), Pattern::Uniform),
                (hyperx(&[4, 4], 4), Pattern::Tornado),
                (hyperx(&[3, 3, 3], 3), Pattern::BitComplement),
                (hyperx(&[4, 4], 4), Pattern::RandomPermutation),
            ] {
                let mut spec = traffic(topology, kind(spec), 1.0, pattern.clone());
                spec.router.buffer = Some(Bytes(2_048));
                spec.control.end = None;
                spec.control.warmup = None;
                if let Work::Synthetic(synthetic) = &mut spec.jobs[0].work {
                    synthetic.count = Some(150);
                }
                let result = run(&spec, &mut |_| true);
                let result = result.unwrap_or_else(|error| panic!("{:?} {pattern:?}: {error}", spec.routing));
                assert!(result.summary.messages >= 100 * u64::from(result.summary.n_nodes) / 2);
            }
        }
    }
}
