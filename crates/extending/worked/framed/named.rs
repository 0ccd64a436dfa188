//! `framed` before a run.

use super::{HopCost, NamedModel, RouterChannels, RouterSpec};
use study::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "framed",
    line: "As sculpin, with the preamble and the gap between packets of Ethernet.",
    groups: &[],
    source: "IEEE 802.3",
    limits: "No back-pressure: congestion never spreads upstream.",
};

/// What answers for a router of it.
pub(super) fn of(_: &RouterSpec) -> &'static dyn NamedModel {
    &NamedFramed
}

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
