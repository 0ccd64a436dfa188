//! Keys that families share, and types of keys.

use super::TopologyKeys;
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

pub(super) const TAPER: Type = Type::Integer { min: 1, max: 65_535 };

/// How much a network is tapered, where a study says so in place of `counts`, the key that counts the cables it is about.
pub(super) fn taper(keys: &mut TopologyKeys<'_>, counts: &str) -> Result<Option<u32>, ()> {
    if !keys.values.given("taper") {
        return Ok(None);
    }
    if keys.values.given(counts) {
        let reason = format!("stands beside `{counts}`, which says the same");
        keys.error("taper", reason, "remove one of them");
        return Err(());
    }
    keys.number("taper").map(Some).ok_or(())
}
