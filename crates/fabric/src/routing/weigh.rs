//! What adaptive routings look at, and how they weigh a direct way against a detour.

use super::RoutingTerms;
use study::Bytes;
use study::choice;
use work::build_error::BuildError;

choice! {
    /// What an adaptive routing counts as waiting before an output.
    pub enum Congestion {
        Output = "output", "What waits in the own router for the output.";
        Credits = "credits", "What the buffer at the other end of the link holds, as far as credits tell.";
        Both = "both", "The sum of the two.";
        Unadmitted = "unadmitted", "What has come for the output and has not been admitted to a queue of the next router: late-admission-vcs alone, which tells nothing else.";
    }
}

choice! {
    /// Whose waiting an adaptive routing counts.
    pub enum Per {
        Port = "port", "All virtual channels of the port.";
        Vc = "vc", "The virtual channel that the packet would take.";
    }
}

/// What an adaptive routing wants to know of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sense {
    /// What waits in the own router.
    pub output: bool,
    /// What the buffer at the other end holds.
    pub credits: bool,
    /// Of the packet's channel only.
    pub per_vc: bool,
    /// A channel but the lowest counts only if its credit is enough for the packet and all that wait for it: a packet that takes it then
    /// waits for the link alone, never for another packet to move on. Others count as [`u64::MAX`].
    pub reserve: bool,
}

impl Sense {
    /// Checks what is to be looked at against the router model.
    pub(super) fn new(congestion: Congestion, per: Per, terms: &RoutingTerms<'_>) -> Result<Sense, BuildError> {
        let unadmitted = congestion == Congestion::Unadmitted;
        if unadmitted != terms.router.named().tells_of_unadmitted() {
            let (reason, hint) = match unadmitted {
                true => (
                    "only routers that admit packets late, channel by channel, know what has not been admitted behind a link",
                    "take \"both\", or set router.architecture = \"late-admission-vcs\"",
                ),
                false => (
                    "a late-admission-vcs router counts what has not been admitted behind a link, and nothing else",
                    "take \"unadmitted\"",
                ),
            };
            return Err(BuildError::field("routing.congestion", reason, Some(hint)));
        }
        let credits = matches!(congestion, Congestion::Credits | Congestion::Both);
        if credits && !terms.router.has_bounded_buffers() {
            let reason = "without bounded buffers there are no credits to look at";
            return Err(BuildError::field("routing.congestion", reason, Some("take \"output\"")));
        }
        Ok(Sense {
            output: congestion != Congestion::Credits,
            credits,
            per_vc: per == Per::Vc,
            reserve: false,
        })
    }
}

/// When the direct way is kept: `q_min <= threshold` or `q_min h_min <= ratio q_via h_via + bias`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weigh {
    by_hops: bool,
    /// In thousandths.
    ratio: u64,
    /// In bytes.
    bias: u64,
    /// In bytes.
    threshold: u64,
}

impl Weigh {
    pub(super) fn new(by_hops: bool, ratio: f64, bias: Bytes, threshold: Bytes) -> Weigh {
        Weigh {
            by_hops,
            ratio: (ratio * 1_000.0).round() as u64,
            bias: bias.0,
            threshold: threshold.0,
        }
    }

    /// A way's wait (ps) times what its hops count.
    pub(super) fn cost(&self, wait: u64, hops: u32) -> u128 {
        u128::from(wait) * if self.by_hops { u128::from(hops) } else { 1 }
    }

    /// `true` if the direct way is kept whatever waits on others; `time_of` tells the time of bytes on its link.
    pub(super) fn settled(&self, wait: u64, time_of: impl Fn(u64) -> u64) -> bool {
        wait == 0 || (self.threshold > 0 && wait <= time_of(self.threshold))
    }

    /// `true` if the room on a detour is more than that on the direct way times the ratio.
    pub(super) fn has_more_room(&self, direct: u128, detour: u128) -> bool {
        detour * 1_000 > direct * u128::from(self.ratio)
    }

    /// `true` if the direct way is kept, by the costs of both.
    pub(super) fn keeps(&self, direct: u128, detour: u128, time_of: impl Fn(u64) -> u64) -> bool {
        let bias = if self.bias > 0 { time_of(self.bias) } else { 0 };
        direct * 1_000 <= detour * u128::from(self.ratio) + u128::from(bias) * 1_000
    }
}
