//! What is kept of each rank that is seen: a trace may say that there are many more than there are.

use std::collections::HashMap;

/// A value of each rank that was asked for.
#[derive(Debug, Default)]
pub(crate) struct ByRank<T> {
    places: HashMap<u32, usize>,
    values: Vec<(u32, T)>,
    /// Place of the rank that was asked for last, which is mostly asked for next.
    last: usize,
}

impl<T: Default> ByRank<T> {
    /// That of a rank, made when it is asked for first.
    pub fn of(&mut self, rank: u32) -> &mut T {
        if self.values.get(self.last).is_none_or(|(last, _)| *last != rank) {
            self.last = *self.places.entry(rank).or_insert(self.values.len());
            if self.last == self.values.len() {
                self.values.push((rank, T::default()));
            }
        }
        &mut self.values[self.last].1
    }

    /// All of them by rank.
    pub fn into_sorted(mut self) -> Vec<(u32, T)> {
        self.values.sort_unstable_by_key(|(rank, _)| *rank);
        self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_has_its_own() {
        let mut all = ByRank::<u32>::default();
        for rank in [7, 7, u32::MAX, 0, 7, 0] {
            *all.of(rank) += 1;
        }
        assert_eq!(all.into_sorted(), [(0, 2), (7, 3), (u32::MAX, 1)]);
    }
}
