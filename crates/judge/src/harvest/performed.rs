//! The accesses that memory nodes have performed, where they are written down.

use des::lists::places;
use fabric::network::Network;
use fabric::state::State;
use work::memory::state::Performed;

/// Appends the accesses that the memory nodes of a part of the network have performed, if values are checked.
pub(super) fn see(net: &Network, state: &State, rows: &mut Vec<Performed>) {
    if !net.workload.memory().is_some_and(|plan| plan.shape.values) {
        return;
    }
    for node in state.memory.nodes.as_slice() {
        let there = places(node.performed, |at| state.memory.performed.get(at).next);
        rows.extend(there.map(|at| *state.memory.performed.get(at)));
    }
}
