//! `credit` before a run: what its architectures have in common, and virtual output queues.

use super::super::{Architecture, RouterSpec};
use super::input_queued::NamedInputQueued;
use super::late_admission::NamedLateAdmission;
use super::late_admission_vcs::NamedLateAdmissionVcs;
use super::output_buffered::NamedOutputBuffered;
use super::vc_router::NamedVcRouter;
use super::{CreditLeaves, HopCost, NamedModel};
use study::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "credit",
    line: "Input buffers per virtual channel with credits, arbitration and virtual cut-through on packets.",
    groups: &[],
    source: "Dally and Towles 2004, chapters 13 and 16",
    limits: "",
};

/// What answers for a router of it: its architecture.
pub(super) fn of(router: &RouterSpec) -> &'static dyn NamedModel {
    match router.architecture {
        Architecture::Voq => &NamedCredit,
        Architecture::InputQueued => &NamedInputQueued,
        Architecture::LateAdmission => &NamedLateAdmission,
        Architecture::LateAdmissionVcs => &NamedLateAdmissionVcs,
        Architecture::OutputBuffered => &NamedOutputBuffered,
        Architecture::VcRouter => &NamedVcRouter,
    }
}

/// The model with virtual output queues.
#[derive(Debug)]
pub(super) struct NamedCredit;

impl NamedModel for NamedCredit {
    fn limits(&self) -> Option<(&'static str, &'static str)> {
        Some((
            "voq",
            "Packet granularity: flits of a packet are never apart. The crossbar is ideal: an output takes a packet from any input whenever its link is free.",
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

    fn loses_packets(&self) -> bool {
        true
    }
}
