//! The routings of SST/macro, by its own rules: ways that are dealt out in turn by counters of each router, one test of a detour against the minimal
//! port by packets that wait, and the links that it takes.
//!
//! **What waits** at a port is a whole number of packets: on `sculpin` routers those that wait for the link, without the one that it sends; with
//! credits those that have left and whose credit is not back, in whole packets of `nic.packet`. A detour is taken where `q_via h_via <
//! q_min h_min`. **Turns** begin with the number of the router, where nothing else is said.
//! **Draws** are hashes, or by the clock as there ([`Draw`]).

mod dragonfly;
mod draw;
mod further;
mod hyperx;
mod minimal;
mod par;
mod plus;
mod queue;
mod scatter;
mod ugal;
mod valiant;

pub use draw::{Draw, DrawSpec};
pub(super) use minimal::MacroMinimal;
pub(super) use par::MacroPar;
pub(super) use scatter::MacroScatter;
pub(super) use ugal::MacroUgal;
pub(super) use valiant::MacroValiant;

use super::prelude::*;
use dragonfly::GroupTurns;
use hyperx::JointDetour;
use plus::SpineTurns;

/// One of them on the network that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacroRouting {
    Dragonfly(GroupTurns),
    DragonflyPlus(SpineTurns),
    HyperX(JointDetour),
}

impl MacroRouting {
    fn named(&self) -> &dyn ReadyRouting {
        match self {
            MacroRouting::Dragonfly(own) => own,
            MacroRouting::DragonflyPlus(own) => own,
            MacroRouting::HyperX(own) => own,
        }
    }
}

impl ReadyRouting for MacroRouting {
    fn vcs(&self, topology: &Topology) -> u8 {
        self.named().vcs(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        self.named().rule(topology, vcs)
    }

    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        match self {
            MacroRouting::Dragonfly(own) => own.next(here, wait),
            MacroRouting::DragonflyPlus(own) => own.next(here, wait),
            MacroRouting::HyperX(own) => own.next(here, wait),
        }
    }

    fn sense(&self) -> Option<Sense> {
        self.named().sense()
    }

    fn draws_by_time(&self) -> bool {
        self.named().draws_by_time()
    }

    fn counters(&self) -> u32 {
        self.named().counters()
    }

    fn asks_for_cables(&self) -> bool {
        self.named().asks_for_cables()
    }
}
