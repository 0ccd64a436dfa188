//! `adaptive-local` of SST Merlin's dragonfly: minimal or over a random third group, whichever has more room before it ([`Detour`]).

use super::detour::Detour;
use super::keys::{CONGESTION, PER, RATIO, defaults};
use super::prelude::*;
use super::weigh::{Congestion, Per};

/// `adaptive-local`.
pub struct AdaptiveLocal;

/// When `adaptive-local` takes a detour: if its room is more than `ratio` times that of the minimal way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoomSpec {
    /// Whose room is looked at: that left in the output buffer, in the next one, or in both.
    pub congestion: Congestion,
    /// Whose part of them counts.
    pub per: Per,
    /// Factor on the minimal way's side, in thousandths where it is used; at least 1, so that on an idle network nothing goes round.
    pub ratio: f64,
}

impl Default for RoomSpec {
    fn default() -> Self {
        defaults::<AdaptiveLocal>()
    }
}

impl NamedRouting for AdaptiveLocal {
    const LINE: &'static str = "At the source router minimal, or over a random third group if that has more than `ratio` times the room before it.";
    const SOURCE: &'static str = "SST Merlin, adaptive-local of its dragonfly";
    const LIMITS: &'static str = "Sees the own router only; needs bounded buffers.";
    const FITS: Fits = Fits::only(&[TopologyKind::Dragonfly, TopologyKind::DragonflyPlus]);
    const KEYS: &'static [Parameter] = &[CONGESTION.or("credits"), PER.or("vc"), RATIO.or("2")];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = RoomSpec;
    type Ready = Detour;

    fn read(keys: &OwnValues, findings: &mut Findings) -> Option<RoomSpec> {
        let ratio = read_ratio(keys, findings)?;
        Some(RoomSpec {
            congestion: keys.choice("congestion"),
            per: keys.choice("per"),
            ratio,
        })
    }

    fn in_time(_: &RoomSpec) -> InTime {
        InTime::GoOnInLegs(2)
    }

    fn ready(parameters: &RoomSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Detour, BuildError> {
        Detour::by_room(parameters, terms, topology)
    }
}

/// How many times the room of the direct way that of a detour must be; `None` after an error.
pub(super) fn read_ratio(keys: &OwnValues, findings: &mut Findings) -> Option<f64> {
    let ratio = keys.number("ratio");
    if ratio < 1.0 {
        let reason = format!("{ratio} would send packets on detours on an idle network");
        findings.error(keys.values.place("ratio"), "routing.ratio", reason, "give 1 or more");
        return None;
    }
    Some(ratio)
}
