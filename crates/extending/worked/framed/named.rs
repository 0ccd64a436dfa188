//! `framed` before a run.

use super::{HopCost, NamedModel, RouterChannels};

/// The model.
#[derive(Debug)]
pub(super) struct NamedFramed;

impl NamedModel for NamedFramed {
    fn limits(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    fn cost(&self) -> HopCost {
        HopCost {
            alone: 0.08e-6,
            with_ranks: 0.075e-6,
        }
    }

    fn channels(&self) -> RouterChannels {
        RouterChannels::Names
    }

    fn gives_credits(&self) -> bool {
        false
    }
}
