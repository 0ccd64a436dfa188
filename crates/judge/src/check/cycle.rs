//! A cycle of channels that wait for each other.

use crate::harvest::Wait;
use std::collections::{BTreeMap, BTreeSet};

/// A cycle of channels each of whose first packets waits for room that the next one holds, by name.
pub(super) fn cycle(waits: &[Wait]) -> Vec<String> {
    type Key = (u32, u32, u32);
    let key = |wait: &Wait| (wait.place.router, wait.place.port, wait.vc);
    let all: BTreeMap<Key, &Wait> = waits.iter().map(|wait| (key(wait), wait)).collect();
    let holders = |of: &Key| -> Vec<Key> {
        let [router, input] = all[of].to;
        let there = all.range((router, 0, 0)..=(router, u32::MAX, u32::MAX));
        let holds = there.filter(|(_, wait)| wait.holds.binary_search(&[input, of.2]).is_ok());
        holds.map(|(&key, _)| key).collect()
    };
    let mut done = BTreeSet::new();
    for &first in all.keys() {
        if done.contains(&first) {
            continue;
        }
        // Depth-first along waiting channels; the first one met again closes the cycle.
        let mut path = vec![first];
        let mut branches = vec![holders(&first)];
        while let Some(options) = branches.last_mut() {
            let Some(next) = options.pop() else {
                branches.pop();
                done.extend(path.pop());
                continue;
            };
            if let Some(at) = path.iter().position(|&step| step == next) {
                let label = |key: &Key| format!("{} channel {}", all[key].place.name, key.2);
                return path[at..].iter().chain([&next]).map(label).collect();
            }
            if !done.contains(&next) {
                path.push(next);
                branches.push(holders(&next));
            }
        }
    }
    Vec::new()
}
