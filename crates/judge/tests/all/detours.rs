//! UGAL and PAR: channels, deadlock, idle networks, saturation.

use crate::outages;
use des::Time;
use fabric::network::Network;
use fabric::spec::*;
use judge::run::run;
use topo::{Arrangement, DragonflySpec, Lattice, RingSpec, SingleRouterSpec, TopologySpec};

/// Balanced: 9 groups of 4 routers with 2 nodes and 2 global links each.
fn dragonfly() -> TopologySpec {
    TopologySpec::Dragonfly(DragonflySpec {
        groups: 9,
        routers_per_group: vec![4],
        nodes_per_router: 2,
        links_per_pair: 1,
        local_width: 1,
        arrangement: Arrangement::Absolute,
        arrangement_seed: 1,
    })
}

fn traffic(routing: RoutingSpec, load: f64, pattern: Pattern) -> RunSpec {
    let mut spec = plain(dragonfly());
    spec.routing = routing;
    spec.router.buffer = Some(Bytes(16 * 2_048));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(pattern, Bytes(2_048))
    });
    spec.control.end = Some(Time::from_us(400));
    spec.control.warmup = Some(Time::from_us(100));
    spec
}

fn accepted(routing: RoutingSpec, load: f64, pattern: Pattern) -> f64 {
    let result = run(&traffic(routing.clone(), load, pattern.clone()), &mut |_| true);
    let result = result.unwrap_or_else(|error| panic!("{routing:?} at {load}: {error}"));
    println!(
        "{pattern:?} at {load}: {:.4} accepted, {:.2} hops: {routing:?}",
        result.summary.accepted_load, result.summary.hops.mean
    );
    result.summary.accepted_load
}

fn over(via: Via) -> DetourSpec {
    DetourSpec {
        via,
        ..DetourSpec::default()
    }
}

/// The routers of a group tell each other what waits for their global links.
fn told(via: Via) -> DetourSpec {
    DetourSpec {
        scope: Scope::Group,
        ..over(via)
    }
}

/// Every detour that tests tell apart.
fn detours() -> Vec<RoutingSpec> {
    let both = |via, per| DetourSpec {
        congestion: Congestion::Both,
        per,
        ..over(via)
    };
    vec![
        RoutingSpec::Ugal(over(Via::Router)),
        RoutingSpec::Ugal(over(Via::Group)),
        RoutingSpec::Ugal(both(Via::Router, Per::Port)),
        RoutingSpec::Ugal(both(Via::Group, Per::Vc)),
        RoutingSpec::Par(over(Via::Router)),
        RoutingSpec::Par(over(Via::Group)),
        RoutingSpec::Par(both(Via::Router, Per::Vc)),
        RoutingSpec::Par(both(Via::Group, Per::Port)),
        RoutingSpec::Ugal(told(Via::Router)),
        RoutingSpec::Ugal(told(Via::Group)),
        RoutingSpec::Par(told(Via::Router)),
    ]
}

/// Every node of a group sends to the next group: `a p = 8` nodes share one global link.
const NEXT_GROUP: Pattern = Pattern::Shift { by: Some(8) };

#[test]
fn a_dragonfly_needs_the_published_channels_and_not_one_fewer() {
    for (routing, vcs) in [
        (RoutingSpec::Ugal(over(Via::Router)), 4),
        (RoutingSpec::Ugal(over(Via::Node)), 4),
        (RoutingSpec::Ugal(over(Via::Group)), 3),
        (RoutingSpec::Par(over(Via::Router)), 5),
        (RoutingSpec::Par(over(Via::Group)), 4),
        (RoutingSpec::Valiant(ViaSpec { via: Via::Node }), 4),
        (RoutingSpec::Valiant(ViaSpec { via: Via::Router }), 4),
        (RoutingSpec::Valiant(ViaSpec { via: Via::Group }), 3),
        (RoutingSpec::AdaptiveLocal(RoomSpec::default()), 3),
    ] {
        let mut spec = traffic(routing.clone(), 0.1, Pattern::Uniform);
        let net = Network::build(&spec).unwrap();
        assert_eq!(net.routing.vcs(), vcs, "{routing:?}");
        let proof = net.routing.prove(&spec.router, &net.topology);
        assert!(proof.free, "{routing:?}: {}", proof.words);
        spec.router.vcs = Some(vcs - 1);
        let net = Network::build(&spec).unwrap();
        let proof = net.routing.prove(&spec.router, &net.topology);
        assert!(
            !proof.free && proof.words.contains("cycle"),
            "{routing:?}: {}",
            proof.words
        );
    }
}

#[test]
fn what_never_finds_the_detour_shorter_is_minimal() {
    let minimal = run(&traffic(RoutingSpec::MINIMAL, 0.2, NEXT_GROUP), &mut |_| true).unwrap();
    let all = Bytes(1 << 40);
    for detour in [
        DetourSpec {
            threshold: all,
            ..DetourSpec::default()
        },
        DetourSpec {
            bias: all,
            ..over(Via::Group)
        },
    ] {
        for routing in [RoutingSpec::Ugal(detour), RoutingSpec::Par(detour)] {
            let result = run(&traffic(routing.clone(), 0.2, NEXT_GROUP), &mut |_| true).unwrap();
            assert_eq!(result.summary.digest, minimal.summary.digest, "{routing:?}");
        }
        let detour = DetourSpec {
            threshold: Bytes(0),
            bias: Bytes(0),
            ..detour
        };
        let result = run(&traffic(RoutingSpec::Ugal(detour), 0.2, NEXT_GROUP), &mut |_| true).unwrap();
        assert_ne!(result.summary.digest, minimal.summary.digest);
    }
}

#[test]
fn next_group_traffic_takes_one_in_a_p_minimally_and_half_by_detours() {
    let minimal = accepted(RoutingSpec::MINIMAL, 0.5, NEXT_GROUP);
    assert!((minimal - 0.125).abs() < 0.002, "1 / (a p) = 1 / 8: {minimal}");
    let valiant = accepted(RoutingSpec::VALIANT, 0.5, NEXT_GROUP);
    assert!((0.49..0.51).contains(&valiant), "{valiant}");
    for routing in detours() {
        let below = accepted(routing.clone(), 0.44, NEXT_GROUP);
        assert!(below > 0.435, "{routing:?}: {below} of 0.44");
        assert!(below > 3.45 * minimal, "{routing:?}: {below}");
        // Two global links for most packets; what is left on the minimal one is an eighth at most.
        let most = accepted(routing.clone(), 0.8, NEXT_GROUP);
        assert!(most < 0.5 + 0.125, "{routing:?}: {most}");
    }
}

#[test]
fn uniform_traffic_keeps_nearly_all_where_valiant_keeps_half() {
    let load = 0.9;
    let valiant = accepted(RoutingSpec::VALIANT, load, Pattern::Uniform);
    assert!((0.45..0.6).contains(&valiant), "{valiant}");
    for routing in detours().into_iter().chain([RoutingSpec::MINIMAL]) {
        // PAR asks twice in the source group and so goes round more: it saturates earlier.
        let load = if matches!(routing, RoutingSpec::Par(_)) {
            0.8
        } else {
            load
        };
        let most = accepted(routing.clone(), load, Pattern::Uniform);
        assert!(most > 0.98 * load, "{routing:?}: {most}");
    }
}

/// A source that looks at its own queues alone fills those before the crowded link until they push back to it, all the more the
/// larger they are, and for ever where they are unbounded (Kim, Dally, Scott & Abts 2008, figure 17; Jiang, Kim & Dally 2009).
#[test]
fn what_the_group_tells_is_known_before_it_pushes_back() {
    let mean = |model, scope| {
        let detour = DetourSpec {
            scope,
            ..over(Via::Group)
        };
        let mut spec = traffic(RoutingSpec::Ugal(detour), 0.3, NEXT_GROUP);
        spec.router.model = model;
        spec.router.buffer = Some(Bytes(256 * 2_048));
        let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{model:?} {scope:?}: {error}"));
        let (summary, mean) = (&result.summary, result.sample.latencies.mean().unwrap() / 1e3);
        println!(
            "{model:?} {scope:?}: {:.4} accepted, {mean:.0} ns, {:?}",
            summary.accepted_load, summary.latency_ns
        );
        (summary.accepted_load, mean)
    };
    for model in [RouterKind::CREDIT, RouterKind::SCULPIN] {
        let (local, told) = (mean(model, Scope::Local), mean(model, Scope::Group));
        assert!(told.0 > 0.298, "{model:?}: {told:?}");
        assert!(told.1 < 0.1 * local.1, "{model:?}: {told:?} {local:?}");
    }
}

/// Every packet over one of the 7 third groups: it takes two of the global links, of which each group has 7 that are not the direct one, and
/// that one lies idle: 8 load * 2 <= 7.
#[test]
fn valiant_over_third_groups_leaves_the_direct_link_idle() {
    let valiant = RoutingSpec::Valiant(ViaSpec { via: Via::Group });
    let most = 7.0 / 16.0;
    let below = accepted(valiant.clone(), 0.9 * most, NEXT_GROUP);
    assert!(below > 0.98 * 0.9 * most, "{below}");
    let over = accepted(valiant.clone(), 0.8, NEXT_GROUP);
    assert!((0.9 * most..1.005 * most).contains(&over), "{over} of {most}");
    let uniform = accepted(valiant.clone(), 0.9, Pattern::Uniform);
    assert!((0.4..0.6).contains(&uniform), "{uniform}");
}

/// A detour at half the room, that is when the minimal link's buffer is half full: next-group traffic keeps one in 8 minimally and spreads
/// the rest as Valiant does; what it takes minimally comes on top.
#[test]
fn adaptive_local_goes_round_where_less_than_half_of_the_room_is_left() {
    let local = RoutingSpec::AdaptiveLocal(RoomSpec::default());
    let uniform = accepted(local.clone(), 0.8, Pattern::Uniform);
    assert!(uniform > 0.98 * 0.8, "{uniform}");
    let minimal = accepted(RoutingSpec::MINIMAL, 0.5, NEXT_GROUP);
    let below = accepted(local.clone(), 0.35, NEXT_GROUP);
    assert!(below > 2.0 * minimal, "{below}");
    let over = accepted(local.clone(), 0.8, NEXT_GROUP);
    assert!(over < 7.0 / 16.0 + 0.125, "{over}");
    // Where nothing is worth twice the room, everything is minimal.
    let never = RoutingSpec::AdaptiveLocal(RoomSpec {
        ratio: 1e6,
        ..RoomSpec::default()
    });
    let messages = |routing: RoutingSpec| {
        let mut spec = traffic(routing, 0.1, NEXT_GROUP);
        spec.observe.messages = MessageDetail::Full;
        outages::told(&spec)
    };
    assert_eq!(messages(never), messages(RoutingSpec::MINIMAL));
}

/// Eight nodes send over three cables to one router: each packet takes the one with the least waiting, so all carry the same.
#[test]
fn parallel_cables_are_candidates() {
    let mut spec = plain(TopologySpec::HyperX(Lattice {
        shape: vec![2],
        width: vec![3],
        nodes_per_router: 8,
    }));
    spec.routing = RoutingSpec::Ugal(DetourSpec::default());
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(0.3),
        ..Synthetic::of(Pattern::Shift { by: Some(8) }, Bytes(2_048))
    });
    spec.control.end = Some(Time::from_us(200));
    spec.observe.links = true;
    let result = run(&spec, &mut |_| true).unwrap();
    let cables: Vec<u64> = result
        .links
        .iter()
        .filter(|row| row.class != 0)
        .map(|row| row.packets)
        .collect();
    assert_eq!(cables.len(), 6);
    let mean = cables.iter().sum::<u64>() / 6;
    assert!(cables.iter().all(|&n| n.abs_diff(mean) * 50 < mean), "{cables:?}");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |spec: &RunSpec| match Network::build(spec) {
        Ok(_) => panic!("{:?} on {:?}", spec.routing, spec.topology),
        Err(error) => error.to_string(),
    };
    let mut spec = traffic(RoutingSpec::Ugal(over(Via::Group)), 0.1, Pattern::Uniform);
    spec.topology = TopologySpec::Ring(RingSpec {
        routers: 5,
        width: 1,
        nodes_per_router: 1,
    });
    assert!(refused(&spec).starts_with("routing.via"));
    spec.routing = RoutingSpec::Ugal(told(Via::Router));
    assert!(refused(&spec).starts_with("routing.scope"));
    let credits = DetourSpec {
        congestion: Congestion::Credits,
        ..DetourSpec::default()
    };
    let mut spec = traffic(RoutingSpec::Par(credits), 0.1, Pattern::Uniform);
    spec.router.model = RouterKind::SCULPIN;
    assert!(refused(&spec).starts_with("routing.congestion"));
    // `voq` routers have no output buffer, `sculpin` has none at all.
    for (model, congestion) in [
        (RouterKind::CREDIT, Congestion::Output),
        (RouterKind::SCULPIN, Congestion::Credits),
    ] {
        let local = RoutingSpec::AdaptiveLocal(RoomSpec {
            congestion,
            ..RoomSpec::default()
        });
        let mut spec = traffic(local.clone(), 0.1, Pattern::Uniform);
        spec.router.model = model;
        assert!(refused(&spec).starts_with("routing.congestion"));
    }
    for routing in [
        RoutingSpec::AdaptiveLocal(RoomSpec::default()),
        RoutingSpec::Valiant(ViaSpec { via: Via::Group }),
    ] {
        let mut spec = traffic(routing.clone(), 0.1, Pattern::Uniform);
        spec.topology = TopologySpec::SingleRouter(SingleRouterSpec { nodes: 4 });
        assert!(refused(&spec).starts_with("routing."));
    }
    let mut spec = traffic(RoutingSpec::Ugal(over(Via::Router)), 0.1, Pattern::Uniform);
    spec.router.architecture = Architecture::LATE_ADMISSION;
    assert!(refused(&spec).starts_with("routing.kind"));
}
