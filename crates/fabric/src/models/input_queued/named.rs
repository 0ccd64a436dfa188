//! `credit` with `architecture = "input-queued"` before a run.

use crate::equipment::{Architecture, HopCost, LinkDelays, LinkSpec, NamedModel, NicSpec, RouterSpec};
use study::{BitsPerSec, Bytes};

impl Architecture {
    /// Input queues per virtual channel, a clocked crossbar of limited bandwidth, output buffers.
    pub const INPUT_QUEUED: Architecture = Architecture {
        choice: (
            "input-queued",
            "Input queues per virtual channel, a clocked crossbar of limited bandwidth, output buffers.",
        ),
        named: &NamedInputQueued,
    };
}

/// The model.
#[derive(Debug)]
struct NamedInputQueued;

/// The part of the traversal behind the crossbar (ps).
fn outside(router: &RouterSpec) -> u64 {
    router.output_latency.min(router.traversal).0
}

/// The part before it (ps).
fn inside(router: &RouterSpec) -> u64 {
    router.traversal.0 - outside(router)
}

impl NamedModel for NamedInputQueued {
    fn limits(&self) -> Option<&'static str> {
        Some("Packet granularity: flits of a packet are never apart. Arbitration takes no time of its own.")
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.4e-6,
            with_ranks: 0.3e-6,
        }
    }

    fn backlog_is_in_bytes(&self) -> bool {
        true
    }

    fn commits_before_room(&self) -> bool {
        true
    }

    fn output_buffer(&self, router: &RouterSpec) -> Option<Bytes> {
        router.output_buffer
    }

    fn reorders(&self) -> bool {
        true
    }

    fn flit(&self, router: &RouterSpec) -> u32 {
        router.flit.0.clamp(1, 1 << 16) as u32
    }

    /// A flit's time unless given.
    fn wake(&self, router: &RouterSpec, bandwidth: BitsPerSec) -> u64 {
        let flit = || (u64::from(self.flit(router)) * 8_000_000_000_000).div_ceil(bandwidth.0);
        router.wake_delay.map_or_else(flit, |wake| wake.0)
    }

    fn injection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> LinkDelays {
        LinkDelays {
            latency: link.latency.0,
            hop: link.latency.0 + inside(router),
            credit: router.credit(link.latency.0, outside(router)),
        }
    }

    fn ejection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> u64 {
        link.latency.0 + outside(router)
    }

    fn node_credit(&self, router: &RouterSpec, host: &LinkSpec) -> Option<u64> {
        let credit = router.credit(host.latency.0, inside(router));
        Some(host.latency.0 + outside(router) + router.node_credit_delay.0 + credit)
    }
}
