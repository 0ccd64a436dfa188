//! The run that benchmarks and tests begin with.

use super::*;
use std::collections::BTreeMap;
use topo::{FailSpec, TopologySpec};

/// A run with the defaults of a study that says nothing but its topology.
pub fn plain(topology: TopologySpec) -> RunSpec {
    RunSpec {
        study: String::new(),
        experiment: String::new(),
        sweep: Vec::new(),
        topology,
        links: Links {
            default: LinkSpec {
                bandwidth: BitsPerSec(200_000_000_000),
                latency: Time::from_ns(100),
            },
            by_class: BTreeMap::new(),
        },
        router: RouterSpec {
            model: RouterKind::CREDIT,
            preset: None,
            architecture: Architecture::VOQ,
            traversal: Time::from_ns(100),
            traversal_occupies_link: false,
            vcs: None,
            buffer: Some(Bytes(65_536)),
            output_buffer: None,
            shares_buffers: false,
            crossbar_bandwidth: None,
            flit: Bytes(64),
            output_latency: Time::ZERO,
            credits_traverse: false,
            node_credit_delay: Time::ZERO,
            wake_delay: None,
            arbitration: Arbitration::RoundRobin,
            switching: Switching::CutThrough,
            delivery: DeliveryPoint::Tail,
            credit_delay: Time::ZERO,
            credit_uses_link: true,
            bubble: 0,
            local_latency: Time::ZERO,
            completion: Completion::Whole,
            pipeline: None,
            allow_deadlock: false,
        },
        routing: RoutingSpec::MINIMAL,
        nic: NicSpec {
            packet: Bytes(2_048),
            chunk: None,
            message_overhead: Time::ZERO,
            packet_overhead: Time::ZERO,
            gap: Time::ZERO,
            idle_delay_per_byte: Time::ZERO,
            bandwidth: None,
            buffer: None,
            control: ControlOrder::First,
            reads_behind: 0,
            retransmit: None,
        },
        fail: FailSpec::default(),
        outages: OutagesSpec::default(),
        jobs: vec![JobSpec {
            name: "job".into(),
            work: Work::Synthetic(Synthetic::of(Pattern::Uniform, Bytes(2_048))),
            nodes: None,
            placement: Placement::Linear,
        }],
        observe: ObserveSpec {
            links: false,
            messages: MessageDetail::Summary,
            timeline: false,
            ranks: false,
            operations: false,
            links_every: None,
        },
        cost: None,
        control: RunControl {
            seed: 1,
            end: Some(Time::from_us(20)),
            warmup: None,
            drain: None,
            drain_sources: true,
            engine: Engine::Auto,
            workers: 1,
            partition: PartitionSpec::Auto,
            fast_forward: FastForward::Exact,
            draw_cycle: 0,
            stall_after: Time::from_us(10_000),
            perturbation: None,
        },
    }
}
