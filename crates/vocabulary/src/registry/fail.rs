//! `[fail]`: what is dead from the start.

use study::{Default, Named, Parameter, SEED, Section, Type, key};
use topo::FailKind;

const NUMBERS: Type = Type::Integers {
    min: 0,
    max: u32::MAX as u64,
    single: true,
};

const FAIL: &[Parameter] = &[
    key(
        "cables",
        Type::Texts,
        Default::From("none"),
        "Failed cables between routers, by router and port as in `links.parquet` (`(0,0) x+`, `g0.r3 to g1.r5 #1`); `#*` at the end stands for all parallel ones. A cable fails in both directions.",
    ),
    key(
        "routers",
        Type::Texts,
        Default::From("none"),
        "Dead routers by name, with their cables and nodes.",
    ),
    key("nodes", NUMBERS, Default::From("none"), "Dead nodes by number."),
    key(
        "groups",
        NUMBERS,
        Default::From("none"),
        "Dead groups by number, with all that is in them: those of a dragonfly or dragonfly+, pods of a fat-tree, planes across the first dimension of a lattice.",
    ),
    key(
        "count",
        Type::Integer {
            min: 0,
            max: u32::MAX as u64,
        },
        Default::From("none"),
        "So many more, drawn at random among those that are left.",
    ),
    key(
        "share",
        Type::Number { above: 0.0, max: 1.0 },
        Default::From("none"),
        "Instead of `count`: this share of all there are, rounded to the nearest number.",
    ),
    key(
        "of",
        Type::Choice(FailKind::WORDS),
        Default::Text("cables"),
        "What `count` and `share` count.",
    ),
    key(
        "class",
        Type::Text,
        Default::From("all classes"),
        "Only cables of this link class are drawn.",
    ),
    key(
        "keeps",
        Type::Number { above: 0.0, max: 1.0 },
        Default::From("nothing: they are dead"),
        "Share of their bandwidth that failed cables keep, named and drawn ones: they have lost lanes. Ways do not change for it.",
    ),
    key(
        "seed",
        SEED,
        Default::Text("1"),
        "Seed of the draw, which no other seed changes. With the same one a larger `count` adds to what a smaller one draws.",
    ),
];

/// `[fail]`.
pub(super) const FAIL_TABLE: Section = Section {
    name: "fail",
    header: "[fail]",
    line: "What has failed before the run: packets go round what is dead, jobs are placed without it.",
    parameters: FAIL,
    families: &[],
};
