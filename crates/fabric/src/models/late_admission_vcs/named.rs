//! `credit` with `architecture = "late-admission-vcs"` before a run.

use crate::equipment::{Architecture, CreditLeaves, HopCost, LinkDelays, LinkSpec, NamedModel, NicSpec, RouterSpec};

impl Architecture {
    /// The same with a queue per virtual channel, whole packets, links to nodes, and no rule for rings.
    pub const LATE_ADMISSION_VCS: Architecture = Architecture {
        choice: (
            "late-admission-vcs",
            "The same with a queue per virtual channel, whole packets, links to nodes, and no rule for rings.",
        ),
        named: &NamedLateAdmissionVcs,
    };
}

/// The model.
#[derive(Debug)]
struct NamedLateAdmissionVcs;

impl NamedModel for NamedLateAdmissionVcs {
    fn limits(&self) -> Option<&'static str> {
        Some(
            "Every packet is received whole before it goes on, one that is not full takes the room of a full one, and random delays stand at their means.",
        )
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.4e-6,
            with_ranks: 0.3e-6,
        }
    }

    fn credit_leaves(&self) -> CreditLeaves {
        CreditLeaves::AtOnce
    }

    fn backlog_is_in_bytes(&self) -> bool {
        true
    }

    fn commits_before_room(&self) -> bool {
        true
    }

    fn tells_of_unadmitted(&self) -> bool {
        true
    }

    /// Messages of a node leave in order.
    fn takes_control_first(&self) -> bool {
        false
    }

    /// It does not keep the interface.
    fn message_overhead(&self, _: &NicSpec) -> u64 {
        0
    }

    fn ahead(&self, nic: &NicSpec) -> u64 {
        nic.message_overhead.0
    }

    fn waits_for_tails(&self, _: &RouterSpec) -> bool {
        true
    }

    fn delivers_heads(&self, _: &RouterSpec) -> bool {
        false
    }

    /// What a router takes is told at its output: an interface has none of it.
    fn injection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> LinkDelays {
        LinkDelays {
            latency: link.latency.0,
            hop: link.latency.0,
            credit: router.credit(link.latency.0, 0),
        }
    }

    fn ejection(&self, router: &RouterSpec, _: &NicSpec, link: &LinkSpec) -> u64 {
        link.latency.0 + router.traversal.0
    }

    fn node_credit(&self, router: &RouterSpec, host: &LinkSpec) -> Option<u64> {
        Some(host.latency.0 + router.traversal.0 + router.credit(host.latency.0, 0))
    }
}
