use super::super::VcRouter;
use super::{NEVER, counted};
use crate::models::played::{Played, play};
use crate::network::Network;
use crate::network::model::{Fabric, RouterModel as _};
use crate::spec::*;
use crate::state::Port;
use crate::state::pipeline::FlitSource;
use des::Time;
use topo::{Lattice, TopologySpec};

/// A mesh of these routers under uniform traffic: flits of a buffer, bytes of a packet and of a message, latency of links (ps), load.
fn mesh(buffer: u64, packet: u64, message: u64, latency: u64, load: f64) -> RunSpec {
    let mut spec = plain(TopologySpec::Mesh(Lattice {
        shape: vec![4, 4],
        width: vec![],
        nodes_per_router: 1,
    }));
    spec.links.default = LinkSpec {
        bandwidth: BitsPerSec(64_000_000_000),
        latency: Time(latency),
    };
    spec.router.architecture = Architecture::VC_ROUTER;
    spec.router.pipeline = Some(PipelineSpec::default());
    spec.router.flit = Bytes(8);
    spec.router.buffer = Some(Bytes(8 * buffer));
    spec.router.credit_delay = Time::from_ns(1);
    spec.router.vcs = Some(2);
    spec.nic.packet = Bytes(packet);
    spec.jobs[0].work = Work::Synthetic(Synthetic {
        load: Some(load),
        ..Synthetic::of(Pattern::Uniform, Bytes(message))
    });
    spec
}

/// All messages with their times, what every port has sent, and how many events that took.
fn run(spec: &RunSpec, change: impl FnOnce(&mut VcRouter)) -> (Vec<[u64; 4]>, Vec<[u64; 4]>, u64) {
    let mut world = Fabric::<VcRouter>::new(spec, Network::build(spec).unwrap());
    change(&mut world.model);
    let Played { rows, ports, events } = play(&world, Time::from_us(2));
    let of = |port: &Port| [port.packets, port.bytes, port.busy, port.free];
    (rows, ports.iter().map(of).collect(), events)
}

/// Every credit and every departure of a node's flit is an event of its own.
fn tell_at_once(model: &mut VcRouter) {
    model.counted = 0;
    (model.keeps_returns, model.returns_at_once) = (false, false);
}

#[test]
fn nobody_can_tell_credits_that_wait_from_others() {
    for (packet, message) in [(8, 8), (32, 32), (40, 90)] {
        for (buffer, latency) in [(7, 1_000), (8, 1_000), (12, 3_000), (30, 1_300)] {
            for load in [0.1, 0.9] {
                let spec = mesh(buffer, packet, message, latency, load);
                let what = format!("packets of {packet} B, buffers of {buffer}, latency {latency}, load {load}");
                let mut waits = false;
                let late = run(&spec, |model| waits = model.tells_late() && model.keeps_returns);
                let exact = run(&spec, tell_at_once);
                assert!(late.0.len() > 100, "{what}");
                assert_eq!(late.0, exact.0, "{what}");
                assert_eq!(late.1, exact.1, "{what}");
                assert!(late.2 <= exact.2, "{what}");
                if load < 0.5 && waits && packet == 8 {
                    assert!(late.2 * 3 < exact.2 * 2, "{what}: {} {}", late.2, exact.2);
                }
            }
        }
    }
}

#[test]
fn credits_do_not_wait_where_they_are_seen() {
    let waits = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = mesh(12, 8, 8, 1_000, 0.1);
        change(&mut spec);
        let net = Network::build(&spec).unwrap();
        let model = Fabric::<VcRouter>::new(&spec, net).model;
        (model.tells_late(), model.links[0].spare)
    };
    // Five flits may leave unseen, one every other cycle.
    assert_eq!(waits(&|_| {}), (true, 4));
    let never = (false, NEVER);
    let pipeline = |change: &dyn Fn(&mut PipelineSpec)| {
        waits(&|spec| {
            let mut pipeline = PipelineSpec::default();
            change(&mut pipeline);
            spec.router.pipeline = Some(pipeline);
        })
    };
    assert_eq!(pipeline(&|pipeline| pipeline.wait_for_tail_credit = true), never);
    assert_eq!(pipeline(&|pipeline| pipeline.internal_speedup = 2), never);
    assert_eq!(pipeline(&|pipeline| pipeline.stages[1] = 2), never);
    assert_eq!(waits(&|spec| spec.routing = RoutingSpec::MIN_A), never);
    assert_eq!(waits(&|spec| spec.router.buffer = Some(Bytes(8 * 4))), never);
    assert_eq!(waits(&|spec| spec.router.vcs = Some(16)), never);
}

#[test]
fn counts_name_their_channels() {
    let found: Vec<(u32, u64)> = counted(0xF00_0000_0000_0021).collect();
    assert_eq!(found, [(0, 1), (1, 2), (14, 15)]);
    assert_eq!(counted(0).next(), None);
}

#[test]
fn room_comes_back_to_a_source_in_order() {
    let mut source: FlitSource = bytemuck::Zeroable::zeroed();
    for round in 0..30u64 {
        let channels = |i: u64| ((round + i) % 5) as u8;
        let most = FlitSource::MOST_RETURNS as u64;
        (0..most).for_each(|i| source.keep_return(1_000 * round + i, channels(i)));
        assert!(source.is_sound(5) && !source.is_sound(4));
        assert_eq!(source.take_return(1_000 * round), Some(channels(0).into()));
        assert_eq!(source.take_return(1_000 * round), None);
        for i in 1..most {
            assert_eq!(source.take_return(1_000 * round + 500), Some(channels(i).into()));
        }
        assert_eq!(source.take_return(u64::MAX), None);
    }
}
