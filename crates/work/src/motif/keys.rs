//! Keys of motifs: those that several of them have, and how a motif reads its own.
//!
//! Runs hold the values of a motif's keys by name ([`Motif`]); what a run does not hold has the default that the key itself has. Grids
//! keep theirs out of the texts of runs: the words of their default are the list.

use super::order::OrderWord;
use super::{CellBlocks, Compute, Misfit, Order};
use crate::mpi::LARGEST;
use crate::mpi::spec::{Motif, MotifValue};
use std::collections::BTreeMap;
use study::reader::Values;
use study::{Default, Entry, Named, Parameter, SECOND, SEED, Type, key, size, size_or_none, time};

/// What all motifs share.
pub(super) const RANKS: &[Parameter] = &[
    key(
        "ranks",
        Type::Integer { min: 1, max: 1 << 28 },
        Default::From("nodes of the job times `ranks_per_node`"),
        "Number of ranks.",
    ),
    key(
        "iterations",
        Type::Integer { min: 1, max: 1 << 31 },
        Default::Text("1"),
        "How often.",
    ),
];

const TIME: Parameter = key(
    "compute",
    time(1_000 * SECOND),
    Default::Text("0 ns"),
    "Computing of a rank in each step.",
);

/// Computing of motifs without cells.
pub(super) const COMPUTE: &[Parameter] = &[TIME];

/// Computing of motifs with cells.
pub(super) const COMPUTE_CELLS: &[Parameter] = &[
    TIME,
    key(
        "flop_per_cell",
        Type::Number { above: 0.0, max: 1e12 },
        Default::From("`compute` says how long"),
        "Operations per cell and step; with `flop_rate`, in place of `compute`.",
    ),
    flop_rate(
        Default::From("`compute` says how long"),
        "Operations of a rank per second.",
    ),
];

/// Operations per second.
pub(super) const fn flop_rate(default: Default, doc: &'static str) -> Parameter {
    key("flop_rate", Type::Number { above: 0.0, max: 1e18 }, default, doc)
}

/// Ranks along each dimension.
pub(super) const fn process_grid(doc: &'static str) -> Parameter {
    key(
        "process_grid",
        Type::Integers {
            min: 1,
            max: 1 << 28,
            single: false,
        },
        Default::From("as cubic (or square) as the number of ranks allows, x fastest"),
        doc,
    )
}

/// Cells along each dimension.
pub(super) const CELLS: Type = Type::Integers {
    min: 1,
    max: 1 << 32,
    single: false,
};

pub(super) const VARS: Parameter = key(
    "vars",
    Type::Integer { min: 1, max: 1 << 20 },
    Default::Text("1"),
    "Values per cell.",
);

pub(super) const fn value(default: &'static str) -> Parameter {
    key("value", size(65_536), Default::Text(default), "Size of a value.")
}

/// Blocks of cells in three dimensions.
pub(super) const HALO: &[Parameter] = &[
    key(
        "grid",
        CELLS,
        Default::From("[10, 10, 10]"),
        "Cells of a rank along x, y, z.",
    ),
    process_grid("Ranks along x, y, z."),
    VARS,
    value("8 B"),
];

pub(super) const ORDER: &[Parameter] = &[key(
    "order",
    Type::Choice(OrderWord::WORDS),
    Default::Text("common"),
    "In which order a rank turns to its neighbours.",
)];

pub(super) const fn message(default: &'static str) -> Parameter {
    key(
        "message",
        size_or_none(LARGEST),
        Default::Text(default),
        "Size of a message.",
    )
}

pub(super) const ONE_MESSAGE: &[Parameter] = &[message("1 KiB")];

pub(super) const SIZES: Parameter = key(
    "messages",
    Type::Sizes { max: LARGEST },
    Default::Text("1 KiB"),
    "Sizes, one after the other.",
);

pub(super) const fn seed(doc: &'static str) -> Parameter {
    key("seed", SEED, Default::Text("1"), doc)
}

/// What a motif is read from.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The values of its keys.
    pub values: Values,
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks that the job has room for.
    pub room: u32,
    /// In which order ranks turn to their neighbours.
    pub order: Order,
}

impl Keys {
    /// The keys of a motif for a job with room for `room` ranks. `order` is that of ranks which have orders of their own: those of the
    /// motif if it says so, and all with `always`.
    pub(super) fn new(entry: &Entry, motif: &Motif, room: u32, (order, always): (Order, bool)) -> Result<Keys, Misfit> {
        let mut given = Vec::new();
        for parameter in entry.parameters() {
            if let Some(value) = motif.values.get(parameter.key) {
                let checked = value.checked(&parameter.kind).ok_or_else(|| {
                    let reason = format!("{value:?} is not {}", parameter.kind.words());
                    Misfit::new(parameter.key, reason, "give a value as studies do")
                })?;
                given.push((parameter.key, checked));
            }
        }
        let values = Values::of(entry.parameters(), given);
        Ok(Keys {
            ranks: values.integer_u32("ranks").unwrap_or(room),
            room,
            order: match values.choice("order").unwrap_or_default() {
                OrderWord::Common if !always => Order::Common,
                OrderWord::Common | OrderWord::Shuffled => order,
            },
            values,
        })
    }

    /// A whole number whose type bounds it to 32 bits.
    pub(super) fn integer_u32(&self, key: &str) -> u32 {
        u32::try_from(self.values.integer_or_default(key)).unwrap_or(u32::MAX)
    }

    /// A list of as many numbers as there are dimensions.
    pub(super) fn sides<const N: usize>(&self, key: &'static str) -> Result<[u64; N], Misfit> {
        sides(key, &self.values.integers_or_default(key))
    }

    pub(super) fn process_grid<const N: usize>(&self) -> Result<Option<[u32; N]>, Misfit> {
        let given = self.values.integers("process_grid");
        let sides = given.map(|list| sides::<N>("process_grid", list)).transpose()?;
        Ok(sides.map(|sides| sides.map(|side| u32::try_from(side).unwrap_or(u32::MAX))))
    }

    pub(super) fn compute(&self) -> Result<Compute, Misfit> {
        let values = &self.values;
        match (
            values.number("flop_per_cell"),
            values.number("flop_rate"),
            values.quantity("compute"),
        ) {
            (None, None, _) => Ok(Compute::Time(values.quantity_or_default("compute"))),
            (Some(per_cell), Some(rate), None) => Ok(Compute::Flops { per_cell, rate }),
            _ => {
                let hint = "give compute alone, or flop_per_cell together with flop_rate";
                Err(Misfit::new("compute", "is said twice, or half", hint))
            }
        }
    }

    pub(super) fn block<const N: usize>(&self) -> Result<CellBlocks<N>, Misfit> {
        Ok(CellBlocks {
            ranks: self.ranks,
            compute: self.compute()?,
            grid: self.process_grid()?,
            cells: self.sides("grid")?,
            vars: self.values.integer_or_default("vars"),
            value: self.values.quantity_or_default("value"),
            order: self.order,
        })
    }

    pub(super) fn message(&self) -> u64 {
        self.values.quantity_or_default("message")
    }
}

/// A list of as many numbers as there are dimensions.
fn sides<const N: usize>(key: &'static str, list: &[u64]) -> Result<[u64; N], Misfit> {
    let wrong = |_| {
        let hint = format!("give {N} numbers such as {:?}", [8; N]);
        Misfit::new(key, format!("has {} numbers, not {N}", list.len()), hint)
    };
    <[u64; N]>::try_from(list).map_err(wrong)
}

/// The values that runs hold of a motif's keys, so that equal runs have equal texts.
pub fn of_runs(values: &Values) -> BTreeMap<String, MotifValue> {
    let mut held: BTreeMap<_, _> = values
        .keys()
        .filter_map(|(key, value)| Some((key.to_owned(), MotifValue::of(value)?)))
        .collect();
    // How often it is done is no matter of the motif.
    held.remove("iterations");
    // Said or not, the common order is the same run.
    if values.choice("order") == Some(OrderWord::Common) {
        held.remove("order");
    }
    // Nobody has said a time where operations say how long.
    if values.given("flop_per_cell") && !values.given("compute") {
        held.remove("compute");
    }
    held
}
