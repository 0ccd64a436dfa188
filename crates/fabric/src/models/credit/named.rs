//! `credit` before a run: what its architectures have in common, and virtual output queues.

use crate::equipment::{Architecture, CreditLeaves, HopCost, NamedModel, NicSpec, RouterKind, RouterSpec};
use study::Entry;
use work::build_error::BuildError;

impl RouterKind {
    /// Input buffers per virtual channel with credits; its architecture answers for it.
    pub const CREDIT: RouterKind = RouterKind {
        entry: Entry {
            name: "credit",
            line: "Input buffers per virtual channel with credits, arbitration and virtual cut-through on packets.",
            groups: &[],
            source: "Dally and Towles 2004, chapters 13 and 16",
            limits: "",
        },
        named: |router| router.architecture.named,
    };
}

impl Architecture {
    /// Virtual output queues over the input buffers, ideal crossbar.
    pub const VOQ: Architecture = Architecture {
        choice: ("voq", "Virtual output queues over the input buffers, ideal crossbar."),
        named: &NamedCredit,
    };
}

/// The model with virtual output queues.
#[derive(Debug)]
struct NamedCredit;

impl NamedModel for NamedCredit {
    fn limits(&self) -> Option<&'static str> {
        Some(
            "Packet granularity: flits of a packet are never apart. The crossbar is ideal: an output takes a packet from any input whenever its link is free.",
        )
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.2e-6,
            with_ranks: 0.15e-6,
        }
    }

    fn check(&self, router: &RouterSpec, _: &NicSpec) -> Result<(), BuildError> {
        match router.vcs {
            Some(vcs) if router.bubble > 1 && vcs > 1 => {
                let reason = "with the bubble rule a ring has one virtual channel";
                Err(BuildError::field(
                    "router.vcs",
                    reason,
                    Some("take 1 or \"auto\", or leave router.bubble away"),
                ))
            }
            _ => Ok(()),
        }
    }

    fn keeps_rings_moving(&self, router: &RouterSpec) -> bool {
        router.bubble > 1
    }

    /// A packet that enters a ring leaves room in it.
    fn least_units(&self, router: &RouterSpec) -> u64 {
        u64::from(router.bubble).max(1)
    }

    fn credit_leaves(&self) -> CreditLeaves {
        CreditLeaves::WithTail
    }

    fn loses_packets(&self) -> bool {
        true
    }
}
