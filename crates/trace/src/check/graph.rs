//! OpenDependencies of a rank's operations: on what is there, and never in a circle.
//!
//! An operation that depends on earlier ones only is in no circle, so that nothing of it is kept. What is kept is from the first operation
//! that depends on a later one to where all that was depended on has come.

use super::findings::{About, OperationPlace, TraceFindings};
use crate::header::TraceHeader;
use crate::operation::Lists;
use std::collections::VecDeque;

/// Steps that are taken at most to find the shortest circle among many.
const MOST_STEPS: usize = 1 << 22;

/// The dependencies of a rank that are not yet known to be sound.
#[derive(Debug, Default)]
pub(crate) struct OpenDependencies {
    /// Number of the first operation that is kept.
    base: u32,
    /// Records of those that are kept.
    records: Vec<u64>,
    /// Where the dependencies of each begin, and the end.
    starts: Vec<usize>,
    /// OpenDependencies, by number of operation.
    on: Vec<u32>,
    /// The largest number that an operation depends on.
    furthest: u32,
}

impl OpenDependencies {
    /// Takes the dependencies of an operation.
    pub fn take(
        &mut self,
        header: &TraceHeader,
        place: OperationPlace,
        lists: &Lists<'_>,
        findings: &mut TraceFindings,
    ) {
        let own = place.number;
        let all = lists.after.iter().chain(lists.after_start).copied();
        if all.clone().any(|on| on == own) {
            let words = || {
                let reason = format!("operation {own} of rank {} depends on itself", place.rank);
                (reason, "take the dependency out".into())
            };
            findings.tell_at(header, About::Dependencies, place, words);
        }
        let furthest = all.clone().filter(|on| *on != own).max().unwrap_or(0);
        if self.records.is_empty() {
            if furthest <= own {
                return;
            }
            (self.base, self.furthest) = (own, 0);
            self.starts.push(0);
        }
        self.furthest = self.furthest.max(furthest);
        self.records.push(place.record);
        let base = self.base;
        self.on.extend(all.filter(|on| *on != own && *on >= base));
        self.starts.push(self.on.len());
        if self.furthest <= own {
            self.close(header, place.rank, findings);
        }
    }

    /// The rank is over.
    pub fn end(&mut self, header: &TraceHeader, rank: u32, findings: &mut TraceFindings) {
        if self.records.is_empty() {
            return;
        }
        let count = self.records.len();
        let there = self.base + count as u32;
        for i in 0..count {
            let Some(on) = self.after(i).iter().find(|on| **on >= there) else {
                continue;
            };
            let words = || {
                let reason = format!(
                    "operation {} of rank {rank} depends on operation {on}",
                    self.base + i as u32
                );
                (reason, format!("the rank has the operations 0..={}", there - 1))
            };
            findings.tell_at(header, About::Dependencies, self.place(rank, i), words);
        }
        self.close(header, rank, findings);
    }

    /// Tells the circles among what is kept, and forgets it.
    fn close(&mut self, header: &TraceHeader, rank: u32, findings: &mut TraceFindings) {
        for circle in self.circles() {
            let words = || {
                let name = |at: &usize| (self.base + *at as u32).to_string();
                let mut names: Vec<String> = circle.iter().map(name).collect();
                let last = names[0].clone();
                if names.len() > 12 {
                    let left_out = format!("... {} more ...", names.len() - 10);
                    names.splice(5..names.len() - 5, [left_out]);
                }
                let reason = format!(
                    "operations of rank {rank} wait for each other: {} -> {last}",
                    names.join(" -> ")
                );
                (reason, "take one of these dependencies out".into())
            };
            findings.tell_at(header, About::Dependencies, self.place(rank, circle[0]), words);
        }
        *self = OpenDependencies::default();
    }

    fn place(&self, rank: u32, i: usize) -> OperationPlace {
        OperationPlace {
            rank,
            number: self.base + i as u32,
            record: self.records[i],
        }
    }

    fn after(&self, i: usize) -> &[u32] {
        &self.on[self.starts[i]..self.starts[i + 1]]
    }

    /// What one that is kept depends on, of those that are kept.
    fn next(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let (base, count) = (self.base, self.records.len());
        let on = self.after(i).iter().map(move |on| (on - base) as usize);
        on.filter(move |on| *on < count)
    }

    /// A circle, as short as can be told, of each set of operations that wait for each other; each begins with its first operation.
    fn circles(&self) -> Vec<Vec<usize>> {
        let set_of = self.sets();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut order: Vec<usize> = (0..set_of.len()).collect();
        order.sort_by_key(|&i| set_of[i]);
        for of_set in order.chunk_by(|a, b| set_of[*a] == set_of[*b]) {
            if of_set.len() > 1 {
                sets.push(of_set.to_vec());
            }
        }
        let mut steps = 0;
        let mut seen = vec![usize::MAX; set_of.len()];
        let mut circles: Vec<Vec<usize>> = sets
            .iter()
            .filter_map(|set| self.shortest(set, &set_of, &mut seen, &mut steps))
            .collect();
        circles.sort();
        circles
    }

    /// The shortest circle of a set, by a search from each of its operations, while steps are left.
    fn shortest(&self, set: &[usize], set_of: &[usize], from: &mut [usize], steps: &mut usize) -> Option<Vec<usize>> {
        let mut best: Option<Vec<usize>> = None;
        for &start in set {
            // The first search always ends: every set has a circle through each of its operations.
            if best.is_some() && *steps > MOST_STEPS {
                break;
            }
            let mut queue = VecDeque::from([start]);
            let mut touched = Vec::new();
            'search: while let Some(i) = queue.pop_front() {
                for on in self.next(i).filter(|on| set_of[*on] == set_of[start]) {
                    *steps += 1;
                    if on == start {
                        let circle = walk_back(from, start, i);
                        if best.as_ref().is_none_or(|best| circle.len() < best.len()) {
                            best = Some(circle);
                        }
                        break 'search;
                    }
                    if from[on] == usize::MAX {
                        from[on] = i;
                        touched.push(on);
                        queue.push_back(on);
                    }
                }
            }
            touched.into_iter().for_each(|i| from[i] = usize::MAX);
            if best.as_ref().is_some_and(|best| best.len() == 2) {
                break;
            }
        }
        best.map(|mut circle| {
            let first = circle
                .iter()
                .enumerate()
                .min_by_key(|(_, i)| **i)
                .map_or(0, |(at, _)| at);
            circle.rotate_left(first);
            circle
        })
    }

    /// The strongly connected set of each operation (Tarjan 1972), without recursion.
    fn sets(&self) -> Vec<usize> {
        const NEW: usize = usize::MAX;
        let count = self.records.len();
        let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
        let mut set_of = vec![NEW; count];
        let (mut stack, mut counter) = (Vec::new(), 0);
        // Operations whose dependencies are being looked at, with how many have been.
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if index[root] != NEW {
                continue;
            }
            path.push((root, 0));
            while let Some((i, done)) = path.pop() {
                if done == 0 {
                    (index[i], low[i]) = (counter, counter);
                    counter += 1;
                    stack.push(i);
                }
                let after = self.after(i);
                let mut deeper = None;
                for (at, on) in after.iter().enumerate().skip(done.saturating_sub(1)) {
                    let on = (*on - self.base) as usize;
                    if on >= count {
                        continue;
                    }
                    if index[on] == NEW {
                        deeper = Some((at, on));
                        break;
                    }
                    if set_of[on] == NEW {
                        low[i] = low[i].min(low[on]);
                    }
                }
                if let Some((at, on)) = deeper {
                    // It is looked at once more when the deeper one is done.
                    path.push((i, at + 1));
                    path.push((on, 0));
                    continue;
                }
                if low[i] == index[i] {
                    while let Some(member) = stack.pop() {
                        set_of[member] = i;
                        if member == i {
                            break;
                        }
                    }
                }
            }
        }
        set_of
    }
}

/// The circle that a search from `start` has found: in the order of dependency, `last` being what leads back.
fn walk_back(from: &[usize], start: usize, last: usize) -> Vec<usize> {
    let mut circle = Vec::new();
    let mut at = last;
    while at != start {
        circle.push(at);
        at = from[at];
    }
    circle.push(start);
    circle.reverse();
    circle
}
