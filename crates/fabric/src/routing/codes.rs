//! The routings of CODES' dragonfly-dally, dragonfly-plus and fat-tree, by its own rules, on the routers that are CODES'
//! ([`LateAdmissionVcs`]).
//!
//! What is shared: a packet is routed once per router, when all of it has come, before it is known whether it is admitted. **The score of
//! a port** is what has come for it and has not been admitted behind its link, in bytes, all channels together; on an idle link that is
//! what was sent until its credit was back. **The best of a list** is the least score of all its links where they are local, of a few drawn
//! ones where they are global; equal ones are drawn. A link to another router of the group is in a list once for each global link that
//! the router has ([`Candidates`]).
//!
//! [`LateAdmissionVcs`]: crate::models

mod candidates;
mod dally;
mod dally_minimal;
mod dally_par;
mod dfp;
mod dfp_par;
mod fat_tree;

pub(super) use dally_minimal::CodesDallyMinimal;
pub(super) use dally_par::CodesDallyPar;
pub(super) use dfp_par::CodesDfpPar;
pub(super) use fat_tree::CodesFatTree;

pub use dally_minimal::PicksSpec;
pub use dally_par::DallySpec;
pub use dfp_par::DfpSpec;

use super::RoutingTerms;
use super::algorithm::refuse;
use super::keys::{RATIO, THRESHOLD};
use study::{Bytes, Default, Parameter, Type, key};
use work::build_error::BuildError;

const GLOBAL_PICKS: Parameter = key(
    "global_picks",
    Type::Integer { min: 1, max: 16 },
    Default::Text("2"),
    "Of several global links so many, drawn, are compared.",
);

/// When a minimal link is kept: its score is at most the threshold, or at most so many thousandths of the detour's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Preference {
    threshold: u64,
    thousandths: u64,
}

impl Preference {
    fn new(threshold: Bytes, ratio: f64) -> Preference {
        Preference {
            threshold: threshold.0,
            thousandths: (ratio * 1_000.0).round() as u64,
        }
    }

    /// Whether the minimal link is kept, by the scores of both; `None` where there is no link.
    fn keeps(self, minimal: Option<u64>, round: Option<u64>) -> bool {
        match (minimal, round) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(minimal), Some(round)) => minimal <= self.threshold || minimal * 1_000 <= round * self.thousandths,
        }
    }
}

/// Refuses routers that do not tell what has not been admitted.
fn needs_scores(terms: &RoutingTerms<'_>) -> Result<(), BuildError> {
    match terms.router.named().tells_of_unadmitted() {
        true => Ok(()),
        false => refuse(
            "the routings of CODES look at what has come for a port and has not been admitted behind its link",
            "set router.preset = \"codes-dragonfly\" or \"codes-fat-tree\", or router.architecture = \"late-admission-vcs\"",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_is_taken_where_the_minimal_score_is_above_the_threshold_and_twice_that_of_the_detour() {
        let delta = Preference::new(Bytes(0), 2.0);
        assert!(delta.keeps(Some(4_096), Some(2_048)));
        assert!(!delta.keeps(Some(4_097), Some(2_048)));
        assert!(delta.keeps(Some(0), Some(0)) && delta.keeps(Some(9_000), None) && !delta.keeps(None, Some(9_000)));
        assert!(Preference::new(Bytes(4_097), 2.0).keeps(Some(4_097), Some(0)));
        let alpha = Preference::new(Bytes(0), 1.0);
        assert!(alpha.keeps(Some(2_048), Some(2_048)) && !alpha.keeps(Some(2_049), Some(2_048)));
    }
}
