//! `credit` with `architecture = "late-admission"` before a run.

use crate::equipment::{
    Architecture, Completion, HopCost, LinkDelays, LinkSpec, NamedModel, NicSpec, RouterChannels, RouterSpec,
};
use study::Bytes;
use work::build_error::BuildError;

impl Architecture {
    /// Output queues that admit a packet when there is room, the upstream credit being withheld until then.
    pub const LATE_ADMISSION: Architecture = Architecture {
        choice: (
            "late-admission",
            "Output queues that admit a packet when there is room, the upstream credit being withheld until then.",
        ),
        named: &NamedLateAdmission,
    };
}

/// The model.
#[derive(Debug)]
struct NamedLateAdmission;

impl NamedModel for NamedLateAdmission {
    fn limits(&self) -> Option<&'static str> {
        Some(
            "Packet granularity: flits of a chunk are never apart. Every chunk is received whole before it goes on, nodes take chunks without a link of their own, and random delays stand at their means.",
        )
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.4e-6,
            with_ranks: 0.3e-6,
        }
    }

    fn check(&self, router: &RouterSpec, nic: &NicSpec) -> Result<(), BuildError> {
        let chunk = self.unit(nic);
        if chunk.0 == 0 || chunk > nic.packet {
            let reason = format!("a chunk has 1 to {} bytes, those of a packet", nic.packet.0);
            return Err(BuildError::field("nic.chunk", reason, None));
        }
        if router.vcs.is_some_and(|vcs| vcs != 1) {
            let reason = "a late-admission router has one virtual channel";
            return Err(BuildError::field("router.vcs", reason, Some("take 1")));
        }
        let needed = chunk.0 * self.least_units(router);
        if router.buffer.is_some_and(|buffer| buffer.0 < needed) {
            let reason = format!("{needed} bytes are needed to let a chunk turn");
            return Err(BuildError::field("router.buffer", reason, None));
        }
        Ok(())
    }

    fn channels(&self) -> RouterChannels {
        RouterChannels::One
    }

    fn refuses_adaptive_routing(&self) -> Option<(&'static str, &'static str)> {
        Some((
            "late-admission routers have no rule for adaptive routing",
            "take \"rdr\" or \"min-random\", or another router.architecture",
        ))
    }

    fn keeps_rings_moving(&self, router: &RouterSpec) -> bool {
        router.bubble > 1
    }

    fn reorders(&self) -> bool {
        true
    }

    fn tells_whole_messages(&self, router: &RouterSpec) -> bool {
        router.completion == Completion::Whole
    }

    /// The sequencer takes messages one after the other.
    fn takes_control_first(&self) -> bool {
        false
    }

    fn delivers_at_arrival(&self) -> bool {
        true
    }

    fn nodes_have_links(&self) -> bool {
        false
    }

    fn sends_chunks(&self) -> bool {
        true
    }

    /// A chunk that enters a ring leaves room in it.
    fn least_units(&self, router: &RouterSpec) -> u64 {
        u64::from(router.bubble).max(1)
    }

    fn unit(&self, nic: &NicSpec) -> Bytes {
        nic.chunk.unwrap_or(nic.packet)
    }

    /// Chunks have come as a whole anyway.
    fn waits_for_tails(&self, _: &RouterSpec) -> bool {
        false
    }

    fn delivers_heads(&self, _: &RouterSpec) -> bool {
        true
    }

    /// It is the sequencer's.
    fn message_overhead(&self, _: &NicSpec) -> u64 {
        0
    }

    /// A hop is from a turn to the arrival.
    fn link(&self, router: &RouterSpec, link: &LinkSpec, serialisation: u64) -> LinkDelays {
        let hop = router.local_latency.0 + router.traversal.0 + serialisation + link.latency.0;
        LinkDelays {
            latency: link.latency.0,
            hop,
            credit: router.credit(link.latency.0, router.traversal.0),
        }
    }

    /// A hop is from the hand-over of a message to its first packet at the router: to the interface, sequencer, packetizer. The latency is
    /// from a chunk's arrival to the application.
    fn host_link(&self, router: &RouterSpec, nic: &NicSpec, link: &LinkSpec) -> LinkDelays {
        let local = router.local_latency.0;
        LinkDelays {
            latency: link.latency.0 + local,
            hop: nic.message_overhead.0 + 3 * local + link.latency.0,
            ..self.link(router, link, 0)
        }
    }

    fn injection(&self, router: &RouterSpec, nic: &NicSpec, link: &LinkSpec) -> LinkDelays {
        self.host_link(router, nic, link)
    }
}
