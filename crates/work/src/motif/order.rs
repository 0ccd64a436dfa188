//! In which order a rank turns to its neighbours: that of the program, or one of its own.
//!
//! Ranks that all turn to the same neighbour first, in phase, load a symmetric network in turns that never meet; no machine keeps them
//! up. Orders are permutations drawn from (seed, rank), the same in every iteration, by Fisher and Yates, so that all are equally
//! likely. They do not change who sends what to whom.

use des::mix;
use des::rng::below;
use study::choice;

choice! {
    /// The word of an [`Order`].
    #[derive(Default)]
    pub(crate) enum OrderWord {
        #[default]
        Common = "common", "The order of the motif, the same at every rank.";
        Shuffled = "shuffled", "An order of its own at each rank, drawn from the run's seed, among those that it deals with at the same time.";
    }
}

/// Most neighbours that a rank deals with at the same time.
pub(super) const MOST: usize = 128;

/// The order in which ranks turn to those neighbours that they deal with at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The same at every rank.
    #[default]
    Common,
    /// One of its own at each rank, drawn from a seed.
    Shuffled(u64),
}

impl Order {
    /// Which of `count` neighbours, at most [`MOST`], comes as number `i`. Each `list` has an order of its own.
    pub(super) fn nth(self, list: u64, count: u32, i: u32) -> u32 {
        let Order::Shuffled(seed) = self else {
            return i;
        };
        let key = mix(seed.wrapping_add(list));
        let mut all: [u8; MOST] = std::array::from_fn(|k| k as u8);
        // From the end on; what is wanted may yet change until its place has been drawn.
        for last in (1..count).rev() {
            let other = below(mix(key.wrapping_add(last.into())), u64::from(last) + 1);
            all.swap(last as usize, other as usize);
            if last == i {
                break;
            }
        }
        all[i as usize].into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(order: Order, list: u64, count: u32) -> Vec<u32> {
        (0..count).map(|i| order.nth(list, count, i)).collect()
    }

    #[test]
    fn a_shuffled_order_is_a_permutation_and_each_list_has_its_own() {
        for count in [0, 1, 2, 3, 6, 18, 26, 128] {
            let common: Vec<u32> = (0..count).collect();
            assert_eq!(order(Order::Common, 5, count), common);
            let mut orders = std::collections::BTreeSet::new();
            for list in 0..50 {
                let own = order(Order::Shuffled(3), list, count);
                let mut sorted = own.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, common);
                orders.insert(own);
            }
            let possible = (1..=count.min(5)).product::<u32>() as usize;
            assert!(orders.len() >= possible.min(30), "{count}: {} orders", orders.len());
        }
        assert_ne!(order(Order::Shuffled(3), 0, 26), order(Order::Shuffled(4), 0, 26));
    }

    #[test]
    fn all_orders_are_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let draws = 24_000;
        for list in 0..draws {
            *seen.entry(order(Order::Shuffled(9), list, 4)).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 24);
        // Each of 24 orders is expected 1,000 times with a deviation of sqrt(1,000 * 23 / 24) = 31.
        assert!(seen.values().all(|&count| count.abs_diff(1_000) < 6 * 31), "{seen:?}");
    }
}
