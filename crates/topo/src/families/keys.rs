//! Keys that families share, and types of keys.

use study::{Default, Parameter, Type, key};

pub(super) const COUNT: Type = Type::Integer {
    min: 1,
    max: u32::MAX as u64,
};

pub(super) const COUNTS: Type = Type::Integers {
    min: 1,
    max: u32::MAX as u64,
    single: false,
};

pub(super) const WIDTH: Type = Type::Integer { min: 1, max: 65_535 };

pub(super) const WIDTHS: Type = Type::Integers {
    min: 1,
    max: 65_535,
    single: true,
};

pub(super) const NODES: Type = Type::Integer { min: 1, max: 65_535 };

pub(super) const NODES_PER_ROUTER: Parameter =
    key("nodes_per_router", NODES, Default::Text("1"), "Nodes on every router.");
