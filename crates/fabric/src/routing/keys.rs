//! The keys of `[routing]`: those that routings share, and the table of all of them for the registry.
//!
//! A routing lists its keys ([`NamedRouting::KEYS`](super::algorithm::NamedRouting)), with a default of its own where that differs from the one
//! here. A key that no other routing has is declared in the routing's file and stands behind the shared ones. Which routings a key belongs to and
//! which of them have another default is put together from these lists.

use super::algorithm::NamedRouting;
use super::{Congestion, DemandsFrom, Equal, PathChoice, Per, SumsIn, Tie, Via};
use super::{LISTED, OWNERS};
use study::owned::{self, Uses};
use study::{Default, Named, Parameter, TIB, Type, When, key, size, size_or_none};

pub(super) const TIE: Parameter = key(
    "tie",
    Type::Choice(Tie::WORDS),
    Default::Text("positive"),
    "The way of a packet that goes half-way round a ring, where both are equally long.",
);

pub(super) const CANDIDATES: Parameter = key(
    "candidates",
    Type::Integer { min: 1, max: 14 },
    Default::Text("1"),
    "Random detours that the minimal way is held against; the best of them counts.",
);

pub(super) const VIA: Parameter = key(
    "via",
    Type::Choice(Via::WORDS),
    Default::Text("router"),
    "What a detour leads over.",
);

pub(super) const CONGESTION: Parameter = key(
    "congestion",
    Type::Choice(Congestion::WORDS),
    Default::Text("output"),
    "What counts as waiting, as time at the link's bandwidth.",
);

pub(super) const PER: Parameter = key(
    "per",
    Type::Choice(Per::WORDS),
    Default::Text("port"),
    "Whose waiting counts.",
);

pub(super) const EQUAL: Parameter = key(
    "equal",
    Type::Choice(Equal::WORDS),
    Default::Text("within-a-packet"),
    "Which ports are as good as the one with the least waiting, and which of them is taken.",
);

pub(super) const WEIGH_HOPS: Parameter = key(
    "weigh_hops",
    Type::Flag,
    Default::Text("true"),
    "Waiting is multiplied by the hops of the way.",
);

pub(super) const RATIO: Parameter = key(
    "ratio",
    Type::Number {
        above: 0.0,
        max: 1_000.0,
    },
    Default::Text("1"),
    "Factor on the detour's waiting, or on the room of the minimal way (adaptive-local, merlin-adaptive-local), to a thousandth.",
);

pub(super) const BIAS: Parameter = key(
    "bias",
    size_or_none(TIB),
    Default::Text("0 B"),
    "Added to the detour's waiting, as time at the bandwidth of the minimal way's link.",
);

pub(super) const THRESHOLD: Parameter = key(
    "threshold",
    size_or_none(TIB),
    Default::Text("0 B"),
    "Up to this much waiting the minimal way is taken, whatever waits for others.",
);

pub(super) const SCOPE: Parameter = key(
    "scope",
    Type::Choice(super::detour::ScopeWord::WORDS),
    Default::Text("local"),
    "Whose queues are compared.",
);

pub(super) const STEP: Parameter = key(
    "step",
    size_or_none(TIB),
    Default::From("a packet"),
    "With scope = \"group\": a router tells the others when the work of a global link has changed by more than this and by more than a quarter.",
);

pub(super) const FILE: Parameter = key(
    "file",
    Type::Text,
    Default::From("none: `table` needs one"),
    "Path of the tables, relative to the study's folder: compact tables, or a dump of linear forwarding tables.",
);

pub(super) const LANES: Parameter = key(
    "lanes",
    Type::Integer { min: 1, max: 15 },
    Default::Text("8"),
    "Virtual lanes that the engine may use; a router gets as many virtual channels as it does use.",
);

pub(super) const ROOTS: Parameter = key(
    "roots",
    Type::Integers {
        min: 0,
        max: 0xFFFF_FFFF,
        single: true,
    },
    Default::From("found from the distances to nodes"),
    "Routers at the top, by number.",
);

pub(super) const LMC: Parameter = key(
    "lmc",
    Type::Integer { min: 0, max: 4 },
    Default::Text("0"),
    "Each node has 2^lmc addresses, each with paths of its own. parx has 2.",
);

pub(super) const SEED: Parameter = key(
    "seed",
    Type::Integer {
        min: 0,
        max: 0x7FFF_FFFF_FFFF_FFFF,
    },
    Default::Text("1"),
    "Seed of the engine's own random choices, apart from that of the run.",
);

pub(super) const PATH: Parameter = key(
    "path",
    Type::Choice(PathChoice::WORDS),
    Default::Text("round-robin"),
    "Which of several paths a message takes; all its packets take the same, but with `striped`.",
);

pub(super) const SMALL_BELOW: Parameter = key(
    "small_below",
    size(65_536),
    Default::Text("512 B"),
    "Messages of fewer bytes are short for `by-size`; at most a packet.",
);

pub(super) const DEMANDS: Parameter = key(
    "demands",
    Type::Choice(DemandsFrom::WORDS),
    Default::Text("jobs"),
    "What tells parx who sends to whom.",
);

pub(super) const DEMAND_SUMS: Parameter = key(
    "demand_sums",
    Type::Choice(SumsIn::WORDS),
    Default::Text("modulo-256"),
    "How the demands of the nodes of a router add up.",
);

/// The key that chooses, and the shared ones in the order of the documentation.
const SHARED: &[Parameter] = &[
    key(
        "kind",
        Type::Of(&super::ROUTING),
        Default::Text("minimal"),
        "How packets find their way.",
    ),
    TIE,
    CANDIDATES,
    VIA,
    CONGESTION,
    PER,
    EQUAL,
    WEIGH_HOPS,
    RATIO,
    BIAS,
    THRESHOLD,
    SCOPE,
    STEP,
    FILE,
    LANES,
    ROOTS,
    LMC,
    SEED,
    PATH,
    SMALL_BELOW,
    DEMANDS,
    DEMAND_SUMS,
];

/// All keys of `[routing]`, each with the routings that it belongs to.
pub const ALL: &[Parameter] = &owned::parameters(SHARED, OWNERS, USES, CONDITIONS);

const USES: &[Uses<LISTED>; owned::count(SHARED, OWNERS)] = &owned::uses(SHARED, OWNERS);
const CONDITIONS: &[When; owned::count(SHARED, OWNERS)] = &owned::conditions(SHARED, USES);

/// The parameters of a routing of which a study says nothing.
pub(super) fn defaults<R: NamedRouting>() -> R::Parameters {
    owned::defaults(R::KEYS, R::read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use study::reader::default_value;

    #[test]
    fn a_key_means_the_same_to_all_its_routings_and_their_defaults_are_values_of_it() {
        for owner in OWNERS {
            for own in owner.keys {
                let told = (owner.name, own.key);
                let all = ALL.iter().find(|key| key.key == own.key).unwrap();
                assert_eq!(format!("{:?}", own.kind), format!("{:?}", all.kind), "{told:?}");
                assert_eq!(own.doc, all.doc, "{told:?}");
                assert!(all.when[0].values.contains(&owner.name), "{told:?}");
                if let Default::Text(text) = own.default {
                    assert!(default_value(&own.kind, text).is_some(), "{told:?}");
                }
            }
        }
    }
}
