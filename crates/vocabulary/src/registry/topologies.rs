//! Keys that all topologies have; those of each stand in the file of its family (crate `topo`).

use study::{Default, Parameter, Type, key};
use topo::TOPOLOGY;

/// Keys of `[topology]` that do not depend on the kind.
pub(crate) const TOPOLOGY_COMMON: &[Parameter] = &[
    key(
        "kind",
        Type::Of(&TOPOLOGY),
        Default::From("the kind of the preset"),
        "The family of the network.",
    ),
    key(
        "preset",
        Type::Name,
        Default::From("no preset"),
        "A ready-made network that gives all values; other keys given beside it replace single values.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topology_has_distinct_keys() {
        for entry in TOPOLOGY.entries() {
            let mut keys: Vec<_> = entry
                .parameters()
                .chain(TOPOLOGY_COMMON)
                .map(|parameter| parameter.key)
                .collect();
            keys.sort_unstable();
            let n_keys = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), n_keys, "{}", entry.name);
        }
    }
}
