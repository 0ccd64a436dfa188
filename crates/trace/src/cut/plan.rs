//! Which ends of messages and which steps of communicators are in a part on all sides.

use super::MessageChannel;
use std::collections::{HashMap, HashSet};

/// An end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageEnd {
    Send,
    Receive,
}

/// Which of so many are in the part, as ranges of their numbers.
#[derive(Clone, Debug, Default)]
struct Runs {
    count: u64,
    runs: Vec<(u64, u64)>,
}

impl Runs {
    fn add(&mut self, selected: bool) {
        let number = self.count;
        self.count += 1;
        match self.runs.last_mut() {
            _ if !selected => {}
            Some((_, end)) if *end == number => *end += 1,
            _ => self.runs.push((number, number + 1)),
        }
    }

    fn has(&self, number: u64) -> bool {
        let after = self.runs.partition_point(|(begin, _)| *begin <= number);
        after > 0 && number < self.runs[after - 1].1
    }

    /// What is in both.
    fn and(&self, other: &Runs) -> Runs {
        let (mut i, mut j, mut runs) = (0, 0, Vec::new());
        while let (Some(a), Some(b)) = (self.runs.get(i), other.runs.get(j)) {
            let (begin, end) = (a.0.max(b.0), a.1.min(b.1));
            if begin < end {
                runs.push((begin, end));
            }
            match a.1 <= b.1 {
                true => i += 1,
                false => j += 1,
            }
        }
        Runs {
            count: self.count.min(other.count),
            runs,
        }
    }
}

/// What is known of the ends of a channel: which are in the part, and how many the second pass has seen.
#[derive(Default)]
struct Ends {
    sides: [Runs; 2],
    both: Runs,
    seen: [u64; 2],
}

/// See the module.
#[derive(Default)]
pub(super) struct CutPlan {
    channels: HashMap<MessageChannel, Ends>,
    steps: HashMap<(u32, u32), Runs>,
    /// Steps of a communicator that are in the part for all its ranks.
    common: HashMap<u32, Runs>,
    seen: HashMap<(u32, u32), u64>,
    any: HashSet<u32>,
}

impl CutPlan {
    /// An end of a message, in the part or outside.
    pub(super) fn end(&mut self, channel: MessageChannel, side: MessageEnd, selected: bool) {
        self.channels.entry(channel).or_default().sides[side as usize].add(selected);
    }

    /// A rank comes to a collective, in the part or outside.
    pub(super) fn comes(&mut self, communicator: u32, rank: u32, selected: bool) {
        self.steps.entry((communicator, rank)).or_default().add(selected);
    }

    /// A rank takes messages of which it is not told whose they are.
    pub(super) fn takes_any(&mut self, rank: u32) {
        self.any.insert(rank);
    }

    pub(super) fn has_any(&self, rank: u32) -> bool {
        self.any.contains(&rank)
    }

    /// All has been seen once; `members` are the ranks of a communicator that are in the part.
    pub(super) fn finish(&mut self, members: impl Fn(u32) -> Vec<u32>) {
        for ends in self.channels.values_mut() {
            ends.both = ends.sides[0].and(&ends.sides[1]);
            ends.sides = Default::default();
        }
        let communicators: HashSet<u32> = self.steps.keys().map(|(communicator, _)| *communicator).collect();
        let nothing = Runs::default();
        for communicator in communicators {
            let mut each = members(communicator)
                .into_iter()
                .map(|rank| self.steps.get(&(communicator, rank)).unwrap_or(&nothing));
            let first = each.next().cloned().unwrap_or_default();
            let common = each.fold(first, |common, runs| common.and(runs));
            self.common.insert(communicator, common);
        }
        self.steps = HashMap::new();
    }

    /// The trace is told from its begin again.
    pub(super) fn rewind(&mut self) {
        self.channels.values_mut().for_each(|ends| ends.seen = [0; 2]);
        self.seen.clear();
    }

    /// Whether the next end of a channel is in the part with its other end.
    pub(super) fn next(&mut self, channel: MessageChannel, side: MessageEnd) -> bool {
        let ends = self.channels.entry(channel).or_default();
        let number = ends.seen[side as usize];
        ends.seen[side as usize] += 1;
        ends.both.has(number)
    }

    /// Whether the next collective that a rank comes to is in the part for all ranks.
    pub(super) fn next_step(&mut self, communicator: u32, rank: u32) -> bool {
        let seen = self.seen.entry((communicator, rank)).or_default();
        let number = *seen;
        *seen += 1;
        self.common.get(&communicator).is_some_and(|common| common.has(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_sets() {
        let sets: [fn(u64) -> bool; 3] = [|i| i % 7 < 3, |i| (5..60).contains(&i), |i| i % 2 == 0];
        let runs = sets.map(|set| {
            let mut runs = Runs::default();
            (0..100).for_each(|i| runs.add(set(i)));
            runs
        });
        for a in 0..3 {
            for b in 0..3 {
                let both = runs[a].and(&runs[b]);
                for i in 0..110 {
                    assert_eq!(both.has(i), i < 100 && sets[a](i) && sets[b](i), "{a} {b} {i}");
                }
            }
        }
    }
}
