//! `adaptive-up`: the way up a fat-tree with the least waiting before it, random among equal ones ([`PortChoice`]); each of several parallel
//! cables is a candidate.

use super::choice::{Equal, PortChoice};
use super::keys::{CONGESTION, EQUAL, PER, defaults};
use super::prelude::*;
use super::scatter::{channels_of_ways_up, needs_fat_tree};
use super::weigh::{Congestion, Per};
use study::{Type, key};
use topo::AnyMinimalRule;

/// `adaptive-up`.
pub struct AdaptiveUp;

/// What `adaptive-up` looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseSpec {
    /// What counts as waiting.
    pub congestion: Congestion,
    /// Whose waiting counts.
    pub per: Per,
    /// Which ports are as good as each other; a canonical study leaves exact ones out.
    #[serde(default = "exact", skip_serializing_if = "is_exact")]
    pub equal: Equal,
    /// Ports that are drawn, of which the best is taken; `None`: all. Of `adaptive-up` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u8>,
}

const DRAWS: Parameter = key(
    "draws",
    Type::Integer { min: 1, max: 64 },
    study::Default::From("all of them"),
    "Ports that a packet draws, of which it takes the one with the least waiting: with 2 the better of two.",
);

impl Default for SenseSpec {
    fn default() -> Self {
        defaults::<AdaptiveUp>()
    }
}

fn exact() -> Equal {
    Equal::Exact
}

fn is_exact(equal: &Equal) -> bool {
    *equal == Equal::Exact
}

impl NamedRouting for AdaptiveUp {
    const LINE: &'static str =
        "The up port with the least waiting before it, random among equal ones; the way down is fixed.";
    const SOURCE: &'static str = "CODES, fat-tree, adaptive";
    const LIMITS: &'static str = "Sees the own router only.";
    const FITS: Fits = Fits::only(&[TopologyKind::FatTree]);
    const KEYS: &'static [Parameter] = &[CONGESTION, PER, EQUAL, DRAWS];
    const ADAPTIVE: bool = true;
    const DETOURS: Detours = Detours::Never;
    const OVER_A_THIRD_GROUP: bool = false;
    const WITH_FAILURES: WithFailures = WithFailures::GoesRound;

    type Parameters = SenseSpec;
    type Ready = LeastUp;

    fn read(keys: &OwnValues, _: &mut Findings) -> Option<SenseSpec> {
        Some(SenseSpec {
            congestion: keys.choice("congestion"),
            per: keys.choice("per"),
            equal: keys.choice("equal"),
            draws: keys.small_if_given("draws"),
        })
    }

    fn in_time(_: &SenseSpec) -> InTime {
        InTime::GoOn
    }

    fn ready(parameters: &SenseSpec, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<LeastUp, BuildError> {
        needs_fat_tree(topology)?;
        Ok(LeastUp {
            sense: Some(Sense::new(parameters.congestion, parameters.per, terms)?),
            choice: PortChoice {
                equal: parameters.equal,
                bytes: false,
            },
            draws: parameters.draws,
        })
    }
}

/// The way up with the least waiting before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastUp {
    /// `None`: what the router counts itself.
    sense: Option<Sense>,
    choice: PortChoice,
    /// Ports that are drawn; `None`: all.
    draws: Option<u8>,
}

impl LeastUp {
    /// By the bytes that the router counts, a drawn port before others.
    pub(super) fn by_bytes() -> LeastUp {
        LeastUp {
            sense: None,
            choice: PortChoice {
                equal: Equal::Drawn,
                bytes: true,
            },
            draws: None,
        }
    }
}

impl ReadyRouting for LeastUp {
    fn vcs(&self, topology: &Topology) -> u8 {
        channels_of_ways_up(topology)
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(AnyMinimalRule { topology, vcs })
    }

    #[inline(always)]
    fn next(&self, here: Here<'_>, wait: impl FnMut(u32, u8) -> u64) -> Way {
        let vc = here.routing.channel_of_hops(here.packet);
        match self.draws {
            Some(draws) => self.choice.of_drawn(here, vc, draws, wait),
            None => self.choice.of_minimal(here, vc, wait),
        }
    }

    fn sense(&self) -> Option<Sense> {
        self.sense
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}
