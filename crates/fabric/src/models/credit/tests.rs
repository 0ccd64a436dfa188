use super::{Credit, channel_of};
use crate::models::played::play;
use crate::network::Network;
use crate::network::model::{Fabric, RouterModel};
use crate::observe::{Span, Stats};
use crate::router::waiting_behind;
use crate::spec::*;
use crate::state::State;
use des::engine::Engine;
use des::{ReferenceEngine, Time};
use topo::{FatTreeSpec, Lattice, TopologySpec};

/// A network under uniform traffic: bytes of a buffer and of a message, load.
pub(super) fn network(topology: TopologySpec, buffer: u64, message: u64, load: f64) -> RunSpec {
    let mut spec = plain(topology);
    spec.router.buffer = Some(Bytes(buffer));
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(message))
    });
    spec
}

pub(super) fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
    Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router,
    }
}

/// A change of a study.
pub(super) type Change = (&'static str, fn(&mut RunSpec));

pub(super) const CHANGES: [Change; 8] = [
    ("nothing", |_| {}),
    ("short links", |spec| {
        spec.links.default.latency = Time::from_ns(5);
        spec.router.traversal = Time::from_ns(7);
    }),
    ("slow links between routers", |spec| {
        let slow = LinkSpec {
            bandwidth: BitsPerSec(50_000_000_000),
            latency: Time::from_ns(60),
        };
        spec.links.by_class.insert("x".into(), slow);
    }),
    ("whole packets", |spec| {
        spec.router.switching = Switching::StoreAndForward
    }),
    ("by arrival", |spec| {
        spec.router.arbitration = Arbitration::Fcfs;
        spec.router.vcs = Some(3);
    }),
    ("Valiant", |spec| spec.routing = RoutingSpec::VALIANT),
    ("by what waits", |spec| spec.routing = RoutingSpec::MIN_A),
    ("small packets", |spec| spec.nic.packet = Bytes(700)),
];

/// Shows networks of these topologies with these changes, buffers (KiB), and bytes of a message and loads; what cannot be built is left out.
pub(super) fn each_network<'a>(
    topologies: &[TopologySpec],
    changes: impl Iterator<Item = &'a Change> + Clone,
    buffers: &[u64],
    works: &[(u64, f64)],
    mut see: impl FnMut(&str, &RunSpec, Network),
) {
    for topology in topologies {
        for (name, change) in changes.clone() {
            for &buffer in buffers {
                for &(message, load) in works {
                    let mut spec = network(topology.clone(), buffer << 10, message, load);
                    change(&mut spec);
                    let what = format!(
                        "{topology:?} with {name}, buffers of {buffer} KiB, messages of {message} B, load {load}"
                    );
                    if let Ok(net) = Network::build(&spec) {
                        see(&what, &spec, net);
                    }
                }
            }
        }
    }
}

/// Output ports that are shut: how many, and those of them with a packet that finds room, or with none.
fn shut<const PLAIN: bool>(world: &Fabric<Credit<PLAIN>>, st: &State) -> (usize, Vec<u32>) {
    let net = &world.net;
    let (mut shut, mut wrong) = (0, vec![]);
    for (lp, site) in net.sites.iter().enumerate() {
        let class = |port: u32| net.peers[(site.port + port) as usize].class();
        for local in 0..site.ports() {
            let port = site.port + local;
            if *st.shut.get(lp as u32 * net.words + local / 64) >> (local % 64) & 1 == 0 {
                continue;
            }
            shut += 1;
            let room = |slot: u32| {
                let packet = st.slots.get(slot);
                let input = u32::from(packet.port());
                let stays = input < u32::from(site.net) && class(input) == class(local);
                match world.model.bubble {
                    Some(bubble) if !stays => bubble.entry,
                    Some(bubble) => bubble.slot.into(),
                    None => packet.size().into(),
                }
            };
            // With the bubble rule packets pass others.
            let passing = if world.model.bubble.is_some() { usize::MAX } else { 1 };
            let finds_room = |vc: u32| {
                let channel = st.channel::<Credit<PLAIN>>(channel_of::<PLAIN>(net, port, vc as u8));
                let mut slots = waiting_behind(st, channel.head).take(passing);
                slots.any(|slot| channel.credit >= room(slot))
            };
            if st.ports.get(port).waiting == 0 || (0..net.vcs).any(finds_room) {
                wrong.push(port);
            }
        }
    }
    (shut, wrong)
}

/// How often ports were shut, in a run that is looked into every 300 ns; none may be that has a packet which finds room.
fn shut_in_a_run<const PLAIN: bool>(spec: &RunSpec, what: &str) -> usize {
    let net = Network::build(spec).unwrap();
    let world = Fabric::<Credit<PLAIN>>::new(spec, net);
    let stats = Stats::new(Span::default(), world.net.n_nodes(), false, Default::default(), (1, 0));
    let mut engine = ReferenceEngine::new(&world, stats);
    let mut often = 0;
    for step in 1..40 {
        engine.run(Time::from_ns(300 * step), &mut |_, _| true);
        let (shut, wrong) = shut(&world, engine.view().states[0]);
        assert!(wrong.is_empty(), "{what}: ports {wrong:?} in step {step}");
        often += shut;
    }
    often
}

#[test]
fn a_port_is_shut_only_while_nothing_that_waits_for_it_finds_room() {
    let bubble: Change = ("bubbles", |spec| {
        spec.router.bubble = 2;
        spec.router.vcs = Some(1);
    });
    let mut often_shut = 0;
    let topologies = [
        TopologySpec::HyperX(lattice(&[4, 3], 4)),
        TopologySpec::Torus(lattice(&[5, 4], 2)),
    ];
    let changes = CHANGES.iter().chain([&bubble]);
    each_network(&topologies, changes, &[10, 24], &[(9_000, 1.0)], |what, spec, net| {
        let often = match net.is_plain() && <Credit as RouterModel>::is_plain(&spec.router) {
            true => shut_in_a_run::<true>(spec, what),
            false => shut_in_a_run::<false>(spec, what),
        };
        often_shut += usize::from(often > 100);
    });
    assert!(often_shut > 20, "{often_shut}");
}

/// All messages that have come by some time, of a run in which packets are sent on ahead, or only when they start.
fn come<const PLAIN: bool>(spec: &RunSpec, ahead: bool) -> Vec<[u64; 4]> {
    let net = Network::build(spec).unwrap();
    let mut world = Fabric::<Credit<PLAIN>>::new(spec, net);
    if !ahead {
        world.model.ahead = 0;
    }
    let end = Time::from_us(12);
    let rows = play(&world, end).rows;
    rows.into_iter().filter(|row| row[3] < end.0).collect()
}

#[test]
fn packets_that_are_sent_on_ahead_come_as_if_they_were_not() {
    let networks = [
        TopologySpec::HyperX(lattice(&[4, 3], 4)),
        TopologySpec::FatTree(FatTreeSpec {
            down: vec![4, 3],
            up: vec![2],
            up_width: vec![],
        }),
    ];
    let hotspot: Change = ("a hot spot", |spec| {
        spec.jobs[0].work = Work::Synthetic(Synthetic {
            load: Some(0.2),
            ..Synthetic::of(
                Pattern::HotSpot {
                    targets: 1,
                    fraction: 0.3,
                },
                Bytes(2_048),
            )
        });
    });
    let (mut plain, mut others) = (0, 0);
    let changes = CHANGES.iter().chain([&hotspot]);
    let works = [(2_048, 0.2), (2_048, 0.9), (9_000, 0.5), (100, 0.3)];
    each_network(&networks, changes, &[6, 24, 64, 400], &works, |what, spec, net| {
        if <Credit as RouterModel>::new(spec, &net).ahead == 0 {
            return;
        }
        let exact = come::<false>(spec, false);
        assert!(exact.len() > 50, "{what}: {}", exact.len());
        assert_eq!(come::<false>(spec, true), exact, "{what}");
        if net.is_plain() {
            assert_eq!(come::<true>(spec, true), exact, "{what}");
            plain += 1;
        } else {
            others += 1;
        }
    });
    assert!(plain > 50 && others > 20, "{plain} {others}");
}
