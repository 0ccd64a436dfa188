//! `booksim-minimal` on a dragonfly: the group's own link, channels by whether the packet has taken it ([`DragonflyWays`]).

use super::dragonfly::DragonflyWays;
use crate::routing::prelude::*;

/// `booksim-minimal`.
pub struct BooksimMinimal;

impl NamedRouting for BooksimMinimal {
    const LINE: &'static str = "`minimal` on a dragonfly as in BookSim2: the lower half of the channels before the global link, from that on and to nodes behind it the upper; sources draw a channel.";
    const SOURCE: &'static str = "BookSim2, min_dragonflynew";
    const LIMITS: &'static str = "Blind to load; needs vc-routers.";
    const FITS: Fits = Fits::only(&[TopologyKind::Dragonfly]);
    const ADAPTIVE: bool = false;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = NoKeys;
    type Ready = DragonflyWays;

    fn read(_: &OwnValues, _: &mut Findings) -> Option<NoKeys> {
        Some(NoKeys {})
    }

    fn ready(_: &NoKeys, _: &RoutingTerms<'_>, topology: &Topology) -> Result<DragonflyWays, BuildError> {
        DragonflyWays::new(None, topology)
    }
}
