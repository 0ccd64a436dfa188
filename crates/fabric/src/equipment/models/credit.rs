//! `credit` with virtual output queues before a run.

use super::{CreditLeaves, HopCost, NamedModel};

/// The model.
#[derive(Debug)]
pub(super) struct NamedCredit;

impl NamedModel for NamedCredit {
    fn limits(&self) -> Option<(&'static str, &'static str)> {
        Some((
            "voq",
            "The crossbar is ideal: an output takes a packet from any input whenever its link is free.",
        ))
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.2e-6,
            with_ranks: 0.15e-6,
        }
    }

    fn credit_leaves(&self) -> CreditLeaves {
        CreditLeaves::WithTail
    }
}
