//! `[cost]` and its tables. The defaults are published: `docs/models/cost.md` says by whom and when.

use study::units::Unit;
use study::{Default, Named, Parameter, Section, Type, key};
use topo::bill::PriceBase;

/// A price of up to a million dollars.
const PRICE: Type = Type::Quantity {
    unit: Unit::Price,
    min: 0,
    max: 1_000_000_000_000,
};

/// A power of up to a megawatt.
const POWER: Type = Type::Quantity {
    unit: Unit::Power,
    min: 0,
    max: 1_000_000_000,
};

/// A length of up to ten kilometres.
const LENGTH: Type = Type::Quantity {
    unit: Unit::Length,
    min: 0,
    max: 10_000_000,
};

const HOW_MANY: Type = Type::Integer {
    min: 1,
    max: u32::MAX as u64,
};

const COST: &[Parameter] = &[
    key(
        "router_price",
        PRICE,
        Default::Text("0 USD"),
        "Price of a router besides its ports.",
    ),
    key(
        "router_rebate",
        PRICE,
        Default::Text("892.3 USD"),
        "Taken off the price of every router, at most all of it: what a line through prices of routers over their ports has below zero.",
    ),
    key(
        "port_price",
        PRICE,
        Default::Text("350.4 USD"),
        "Price of a port of a router, of those that have a cable.",
    ),
    key(
        "interface_price",
        PRICE,
        Default::Text("0 USD"),
        "Price of the interface of a node.",
    ),
    key(
        "router_power",
        POWER,
        Default::Text("0 W"),
        "Power of a router besides its ports.",
    ),
    key(
        "port_power",
        POWER,
        Default::Text("2.8 W"),
        "Power of a port of a router that has a cable, whatever it does.",
    ),
    key(
        "port_send_power",
        POWER,
        Default::Text("0 W"),
        "Further power of a port of a router while it sends.",
    ),
    key(
        "interface_power",
        POWER,
        Default::Text("0 W"),
        "Power of the interface of a node, whatever it does.",
    ),
    key(
        "interface_send_power",
        POWER,
        Default::Text("0 W"),
        "Further power of the interface of a node while it sends.",
    ),
];

const fn price(default: &'static str) -> Parameter {
    key(
        "price",
        PRICE,
        Default::Text(default),
        "Price of a cable with its ends, besides its metres.",
    )
}

const fn price_per_metre(default: &'static str) -> Parameter {
    key(
        "price_per_metre",
        PRICE,
        Default::Text(default),
        "Further price of each metre.",
    )
}

const PER: Parameter = key(
    "per",
    Type::Choice(PriceBase::WORDS),
    Default::Text("bandwidth"),
    "What both prices are of.",
);

const CABLE_POWER: Parameter = key(
    "power",
    POWER,
    Default::Text("0 W"),
    "Power of a cable, both ends together, whatever it does.",
);

const ELECTRICAL: &[Parameter] = &[
    price("0.5771 USD"),
    price_per_metre("0.4079 USD"),
    PER,
    CABLE_POWER,
    key(
        "reach",
        LENGTH,
        Default::Text("2 m"),
        "The longest electrical cable; longer ones are optical.",
    ),
];

const OPTICAL: &[Parameter] = &[price("7.2745 USD"), price_per_metre("0.0919 USD"), PER, CABLE_POWER];

const LAYOUT: &[Parameter] = &[
    key(
        "nodes_per_rack",
        HOW_MANY,
        Default::Text("128"),
        "Most nodes of a rack; they are with their routers.",
    ),
    key(
        "routers_per_rack",
        HOW_MANY,
        Default::Text("32"),
        "Most routers of a rack.",
    ),
    key(
        "rows",
        Type::Or(
            &("auto", "as many as make the room nearest to a square of racks"),
            &HOW_MANY,
        ),
        Default::Text("auto"),
        "Rows in which the racks stand.",
    ),
    key(
        "rack_pitch",
        LENGTH,
        Default::Text("1 m"),
        "From a rack to the next one in its row.",
    ),
    key("row_pitch", LENGTH, Default::Text("1 m"), "From a row to the next one."),
    key(
        "in_rack",
        LENGTH,
        Default::Text("1 m"),
        "Length of a cable within a rack.",
    ),
    key(
        "slack",
        LENGTH,
        Default::Text("2 m"),
        "Length of a cable between racks besides the way along and across the rows.",
    ),
];

pub(super) const COST_TABLE: Section = Section {
    name: "cost",
    header: "[cost]",
    line: "What routers, ports and interfaces cost and draw. With `[cost]`, be it empty, runs have price, power and energy.",
    parameters: COST,
    families: &[],
};

pub(super) const ELECTRICAL_TABLE: Section = Section {
    name: "cost.electrical",
    header: "[cost.electrical]",
    line: "Electrical cables, up to a length.",
    parameters: ELECTRICAL,
    families: &[],
};

pub(super) const OPTICAL_TABLE: Section = Section {
    name: "cost.optical",
    header: "[cost.optical]",
    line: "Optical cables, for all that is longer.",
    parameters: OPTICAL,
    families: &[],
};

pub(super) const LAYOUT_TABLE: Section = Section {
    name: "cost.layout",
    header: "[cost.layout]",
    line: "Racks and where they stand, of which come the lengths of cables. Groups, pods and lines of a lattice are kept together.",
    parameters: LAYOUT,
    families: &[],
};
