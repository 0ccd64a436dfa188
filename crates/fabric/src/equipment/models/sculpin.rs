//! `sculpin` before a run.

use super::{HopCost, NamedModel, RouterChannels, RouterSpec};
use study::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "sculpin",
    line: "Packets wait for the output port in unbounded queues; no credits.",
    groups: &[],
    source: "The SCULPIN model of SST/macro",
    limits: "No back-pressure: congestion never spreads upstream.",
};

/// What answers for a router of it.
pub(super) fn of(_: &RouterSpec) -> &'static dyn NamedModel {
    &NamedSculpin
}

/// The model.
#[derive(Debug)]
pub(super) struct NamedSculpin;

impl NamedModel for NamedSculpin {
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

    fn loses_packets(&self) -> bool {
        true
    }
}
