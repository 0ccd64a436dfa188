//! `[fail]`: what is dead from the start, and `[[outage]]`: what fails later.

use super::sections::LONGEST;
use study::{Default, Named, Parameter, SEED, Section, Type, key, time};
use topo::FailKind;

const NUMBERS: Type = Type::Integers {
    min: 0,
    max: u32::MAX as u64,
    single: true,
};

const CABLES: Parameter = key(
    "cables",
    Type::Texts,
    Default::From("none"),
    "Failed cables between routers, by router and port as in `links.parquet` (`(0,0) x+`, `g0.r3 to g1.r5 #1`); `#*` at the end stands for all parallel ones. A cable fails in both directions.",
);
const ROUTERS: Parameter = key(
    "routers",
    Type::Texts,
    Default::From("none"),
    "Dead routers by name, with their cables and nodes.",
);
const NODES: Parameter = key("nodes", NUMBERS, Default::From("none"), "Dead nodes by number.");
const GROUPS: Parameter = key(
    "groups",
    NUMBERS,
    Default::From("none"),
    "Dead groups by number, with all that is in them: those of a dragonfly or dragonfly+, pods of a fat-tree, planes across the first dimension of a lattice.",
);
const RACKS: Parameter = key(
    "racks",
    NUMBERS,
    Default::From("none"),
    "Dead racks by number, with all that is in them: those of `[cost.layout]`, or of its defaults without `[cost]`.",
);
const COUNT: Parameter = key(
    "count",
    Type::Integer {
        min: 0,
        max: u32::MAX as u64,
    },
    Default::From("none"),
    "So many more, drawn at random among those that are left.",
);
const SHARE: Parameter = key(
    "share",
    Type::Number { above: 0.0, max: 1.0 },
    Default::From("none"),
    "Instead of `count`: this share of all there are, rounded to the nearest number.",
);
const OF: Parameter = key(
    "of",
    Type::Choice(FailKind::WORDS),
    Default::Text("cables"),
    "What `count` and `share` count.",
);
const CLASS: Parameter = key(
    "class",
    Type::Text,
    Default::From("all classes"),
    "Only cables of this link class are drawn.",
);
const SEED_OF_DRAW: Parameter = key(
    "seed",
    SEED,
    Default::Text("1"),
    "Seed of the draw, which no other seed changes. With the same one a larger `count` adds to what a smaller one draws.",
);

/// A hundredth of the bits: of packets of 64 bytes one in 200 comes through.
const MOST_ERRORS: f64 = 0.01;
const ERROR_RATE: Parameter = key(
    "error_rate",
    Type::Number {
        above: 0.0,
        max: MOST_ERRORS,
    },
    Default::From("no errors: they are dead"),
    "Share of wrong bits on failed cables, named and drawn ones (bit error rate): they live on, and send a packet with an error again.",
);

const FAIL: &[Parameter] = &[
    CABLES,
    ROUTERS,
    NODES,
    GROUPS,
    RACKS,
    COUNT,
    SHARE,
    OF,
    CLASS,
    key(
        "keeps",
        Type::Number { above: 0.0, max: 1.0 },
        Default::From("nothing: they are dead"),
        "Share of their bandwidth that failed cables keep, named and drawn ones: they have lost lanes. Ways do not change for it.",
    ),
    ERROR_RATE,
    SEED_OF_DRAW,
];

const OUTAGE: &[Parameter] = &[
    key(
        "at",
        time(LONGEST),
        Default::Required,
        "When it begins: links of what fails are dark from then on, and what is on them or comes to them is lost.",
    ),
    key(
        "until",
        Type::Or(&("never", "for the rest of the run"), &time(LONGEST)),
        Default::Text("never"),
        "When it ends, behind `at`: links work again.",
    ),
    key(
        "keeps",
        Type::Number { above: 0.0, max: 1.0 },
        Default::From("nothing: what fails is dark"),
        "Share of their bandwidth that cables keep in it, named and drawn ones: nothing is lost on them, and ways do not change.",
    ),
    ERROR_RATE,
    key(
        "reroute",
        Type::Or(
            &("never", "packets keep the ways of before, and are lost on them"),
            &time(LONGEST),
        ),
        Default::Text("0 ns"),
        "So long after its begin, and after its end, routers lead packets by ways of what is left.",
    ),
    CABLES,
    ROUTERS,
    NODES,
    GROUPS,
    RACKS,
    COUNT,
    SHARE,
    OF,
    CLASS,
    SEED_OF_DRAW,
];

/// `[[outage]]`.
pub(super) const OUTAGE_TABLES: Section = Section {
    name: "outage",
    header: "[[outage]]",
    line: "One outage: what fails while the run goes on, and when.",
    parameters: OUTAGE,
    families: &[],
};

/// `[fail]`.
pub(super) const FAIL_TABLE: Section = Section {
    name: "fail",
    header: "[fail]",
    line: "What has failed before the run: packets go round what is dead, jobs are placed without it.",
    parameters: FAIL,
    families: &[],
};
