//! Lists of candidates, and the best of them.

use crate::routing::least::Least;
use crate::routing::prelude::*;
use std::cell::RefCell;
use std::ops::Range;

/// How many links of a list are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picks {
    /// All.
    All,
    /// So many drawn ones, all different.
    Distinct(u32),
    /// So many drawn ones, each behind the first of all; the same may come again.
    Offset(u32),
}

/// Output ports that a packet may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    ports: Vec<u32>,
    /// They are global links.
    global: bool,
}

thread_local! {
    /// Minimal ones, and those of detours; kept to spare allocations.
    static LISTS: RefCell<(Candidates, Candidates)> = RefCell::default();
}

/// Lends the two lists of a decision, empty.
pub(super) fn with_lists<T>(decide: impl FnOnce(&mut Candidates, &mut Candidates) -> T) -> T {
    LISTS.with_borrow_mut(|(minimal, round)| {
        minimal.clear(false);
        round.clear(false);
        decide(minimal, round)
    })
}

impl Candidates {
    /// None yet, of local or of global links.
    pub fn clear(&mut self, global: bool) {
        self.ports.clear();
        self.global = global;
    }

    /// Adds ports.
    pub fn add(&mut self, ports: Range<u32>) {
        self.ports.extend(ports);
    }

    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Score and port of the best one: of all local links, or of the global ones that are picked.
    pub fn best(&self, picks: Picks, word: u64, mut score: impl FnMut(u32) -> u64) -> Option<(u64, u32)> {
        let mut least = Least::new(word);
        let picks = if self.global { picks } else { Picks::All };
        self.pick(picks, mix(word), |port| least.offer(score(port), Way::new(port, 0, 0)));
        least.best().map(|(score, way)| (score, way.port()))
    }

    fn pick(&self, picks: Picks, word: u64, mut take: impl FnMut(u32)) {
        let n = self.ports.len();
        let draw = |number: u32, among: usize| below(mix(word ^ u64::from(number)), among as u64) as usize;
        match picks {
            Picks::Offset(many) if n > 1 => {
                let first = draw(0, n);
                take(self.ports[first]);
                for number in 1..many {
                    take(self.ports[(first + draw(number, n)) % n]);
                }
            }
            Picks::Distinct(many) if (many as usize) < n => {
                // Places that are taken, in order.
                let mut taken: [usize; 16] = [usize::MAX; 16];
                for number in 0..many.min(16) {
                    let before = number as usize;
                    let free = |place: usize, &other: &usize| place + usize::from(other <= place);
                    let place = taken[..before].iter().fold(draw(number, n - before), free);
                    let at = taken[..before].partition_point(|&other| other < place);
                    taken[at..=before].rotate_right(1);
                    taken[at] = place;
                    take(self.ports[place]);
                }
            }
            _ => self.ports.iter().for_each(|&port| take(port)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ports: Range<u32>, global: bool) -> Candidates {
        Candidates {
            ports: ports.collect(),
            global,
        }
    }

    fn picked(list: &Candidates, picks: Picks, word: u64) -> Vec<u32> {
        let mut found = Vec::new();
        list.pick(picks, word, |port| found.push(port));
        found
    }

    #[test]
    fn distinct_picks_are_all_pairs_alike_and_never_one_twice() {
        let list = of(10..15, true);
        let mut pairs = [[0u32; 5]; 5];
        for draw in 0..20_000 {
            let found = picked(&list, Picks::Distinct(2), mix(draw));
            let [a, b] = found[..] else { panic!("{found:?}") };
            pairs[(a - 10) as usize][(b - 10) as usize] += 1;
        }
        for (a, row) in pairs.iter().enumerate() {
            for (b, &count) in row.iter().enumerate() {
                // A twentieth each: 1,000; four standard deviations are 123.
                assert!(
                    if a == b {
                        count == 0
                    } else {
                        count.abs_diff(1_000) < 123
                    },
                    "{pairs:?}"
                );
            }
        }
        assert_eq!(picked(&list, Picks::Distinct(5), 1), [10, 11, 12, 13, 14]);
        let mut three = picked(&list, Picks::Distinct(3), 7);
        three.dedup();
        assert_eq!(three.len(), 3);
    }

    #[test]
    fn a_pick_by_offset_is_the_first_again_once_in_as_many_as_there_are() {
        let list = of(0..4, true);
        let again = (0..20_000).filter(|&draw| {
            let found = picked(&list, Picks::Offset(2), mix(draw));
            found[0] == found[1]
        });
        assert!(again.count().abs_diff(5_000) < 245);
        assert_eq!(picked(&of(3..4, true), Picks::Offset(2), 9), [3]);
    }

    #[test]
    fn all_local_links_are_compared_and_equal_ones_are_drawn_as_often_as_they_are_there() {
        let mut list = of(0..3, false);
        list.add(1..2);
        let mut taken = [0u32; 3];
        for draw in 0..9_000 {
            let score = |port: u32| if port == 0 { 5 } else { 4 };
            let (score, port) = list.best(Picks::Distinct(1), mix(draw), score).unwrap();
            assert_eq!(score, 4);
            taken[port as usize] += 1;
        }
        assert!(taken[0] == 0 && taken[1].abs_diff(6_000) < 180, "{taken:?}");
        assert_eq!(of(0..0, true).best(Picks::All, 1, |_| 0), None);
    }
}
