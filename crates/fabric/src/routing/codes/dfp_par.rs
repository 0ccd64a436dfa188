//! `codes-dfp-par`: `prog-adaptive` of CODES' dragonfly-plus ([`Dfp`]).

use super::dfp::Dfp;
use super::{GLOBAL_PICKS, Preference, RATIO, THRESHOLD, needs_scores};
use crate::routing::keys::defaults;
use crate::routing::prelude::*;
use study::{Bytes, Default as Standard, Type, key};

/// `codes-dfp-par`.
pub struct CodesDfpPar;

const LEAVES_GO_ROUND: Parameter = key(
    "leaves_go_round",
    Type::Flag,
    Standard::Text("true"),
    "The leaf of the source considers detours (source_leaf_consider_nonmin of CODES).",
);

const SPINES_GO_ON: Parameter = key(
    "spines_go_on",
    Type::Flag,
    Standard::Text("false"),
    "The spine by which a third group is entered considers its own links to the destination's group, not the leaves alone (int_spine_consider_min of CODES).",
);

/// When `codes-dfp-par` goes round, and who decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DfpSpec {
    /// Up to this much before a minimal link it is taken (`adaptive_threshold`).
    pub threshold: Bytes,
    /// Factor on a detour's score: 2 for `delta`, 1 for `alpha`.
    pub ratio: f64,
    /// Of several global links so many are compared.
    pub global_picks: u8,
    /// Leaves of the source consider detours.
    pub leaves_go_round: bool,
    /// Spines of a third group consider minimal links.
    pub spines_go_on: bool,
}

impl Default for DfpSpec {
    fn default() -> Self {
        defaults::<CodesDfpPar>()
    }
}

impl NamedRouting for CodesDfpPar {
    const LINE: &'static str = "`par` as in CODES' dragonfly-plus: leaf and spine of the source's group each decide afresh; a third group is left by way of a leaf.";
    const SOURCE: &'static str = "CODES, dragonfly-plus, prog-adaptive";
    const LIMITS: &'static str = "Sees the own router only; needs late-admission-vcs routers.";
    const FITS: Fits = Fits::only(&[TopologyKind::DragonflyPlus]);
    const KEYS: &'static [Parameter] = &[RATIO.or("2"), THRESHOLD, GLOBAL_PICKS, LEAVES_GO_ROUND, SPINES_GO_ON];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::WhereQueuesAreLong;
    const OVER_A_THIRD_GROUP: bool = true;
    const WITH_FAILURES: WithFailures = WithFailures::NeedsAll;

    type Parameters = DfpSpec;
    type Ready = Dfp;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<DfpSpec> {
        Some(DfpSpec {
            threshold: Bytes(keys.quantity("threshold")),
            ratio: keys.number("ratio"),
            global_picks: keys.small("global_picks"),
            leaves_go_round: keys.flag("leaves_go_round"),
            spines_go_on: keys.flag("spines_go_on"),
        })
    }

    fn ready(parameters: &DfpSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Dfp, BuildError> {
        needs_scores(terms)?;
        let preference = Preference::new(parameters.threshold, parameters.ratio);
        Dfp::new(preference, parameters, topology)
    }
}
