//! The adaptive and the random routings of SST Merlin, by its own rules, on the routers that are Merlin's ([`InputQueued`]).
//!
//! They are told by other files as well: [`Deroute`](super::deroute::Deroute) goes where `doal` and `vdal` may go, [`Detour`](super::detour::Detour) is
//! UGAL. What is Merlin's own is here: what is weighed against what, in which order, and what of it a packet keeps.
//!
//! * **What waits** is what the output buffer of one port and channel holds, in flits: a packet counts from the tick at which it crosses to
//!   the instant at which its transmission begins, so the one on the wire does not, nor does anything downstream.
//! * **When**: once, when the packet becomes the first of its input queue, after the moves of all lower input ports of the same tick.
//! * **To the node**: some lead packets to the very port of their node ([`ReadyRouting::leads_to_the_node`]), because they change the channel
//!   there, or pass the destination's router.
//!
//! [`InputQueued`]: crate::models
//! [`ReadyRouting::leads_to_the_node`]: super::algorithm::ReadyRouting::leads_to_the_node

mod adaptive_local;
mod adaptive_up;
mod doal;
mod dragonfly;
mod min_a;
mod minimal;
mod scan;
mod ugal;
mod valiant;
mod vdal;

pub(super) use adaptive_local::MerlinAdaptiveLocal;
pub(super) use adaptive_up::MerlinAdaptiveUp;
pub(super) use doal::MerlinDoal;
pub(super) use min_a::MerlinMinA;
pub(super) use minimal::MerlinMinimal;
pub(super) use ugal::MerlinUgal;
pub(super) use valiant::MerlinValiant;
pub(super) use vdal::MerlinVdal;

pub use adaptive_local::RatioSpec;
pub use adaptive_up::KeepSpec;

use super::RoutingTerms;
use super::algorithm::refuse;
use work::build_error::BuildError;

/// What Merlin's routings look at: the output buffer of a port and channel, which input-queued routers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buffers {
    /// Bytes of a flit.
    flit: u64,
    /// Bytes of a whole output buffer, whole flits; `None` without a bound.
    whole: Option<u64>,
}

impl Buffers {
    /// Those of the run's routers, if they are such.
    fn of(terms: &RoutingTerms<'_>) -> Result<Buffers, BuildError> {
        let model = terms.router.named();
        if !model.backlog_is_in_bytes() || model.tells_of_unadmitted() {
            return refuse(
                "the routings of SST Merlin look at the output buffers of input-queued routers, channel by channel",
                "set router.preset = \"merlin\", or router.architecture = \"input-queued\"",
            );
        }
        let flit = u64::from(model.flit(terms.router));
        let whole = model.output_buffer(terms.router).map(|bytes| bytes.0 / flit * flit);
        Ok(Buffers { flit, whole })
    }

    /// Bytes of a whole one, for who looks at the room that is left.
    fn bounded(self) -> Result<u64, BuildError> {
        self.whole.ok_or_else(|| {
            let reason = "it looks at the room that is left in output buffers";
            BuildError::field("routing.kind", reason, Some("bound router.output_buffer"))
        })
    }
}
