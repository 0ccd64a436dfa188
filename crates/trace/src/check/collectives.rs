//! Collectives that the ranks of a communicator do not come to in the same order, or with another root or size.
//!
//! The course of a communicator is kept once: what its first rank to come there does at each step. Courses have eight bytes a step.

use super::findings::{About, OperationPlace, TraceFindings};
use crate::header::TraceHeader;
use crate::operation::{Kind, Lists, NONE, Operation, UNKNOWN_SIZE};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What the ranks of a communicator have to agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CollectivePattern {
    kind: Kind,
    root: u32,
    bytes: u64,
    /// Hash of the sizes by rank where all have to give the same; 0 where none are given.
    sizes: u64,
}

/// Stands for a size or root that cannot be: what meets it was told to be wrong.
const NO_ROOT: u32 = NONE;

impl CollectivePattern {
    fn of(operation: &Operation, lists: &Lists<'_>, wrong: bool) -> CollectivePattern {
        use Kind as K;
        let kind = operation.kind;
        let agrees = !matches!(
            kind,
            K::Barrier
                | K::Gatherv
                | K::Scatterv
                | K::Allgatherv
                | K::Alltoallv
                | K::ReduceScatter
                | K::CommCreate
                | K::CommFree
        );
        let listed = matches!(kind, K::Allgatherv | K::ReduceScatter) && !lists.values.is_empty() && !wrong;
        let root = if kind.has_root() { operation.peer } else { 0 };
        CollectivePattern {
            kind,
            root: if wrong { NO_ROOT } else { root },
            bytes: match (wrong, agrees) {
                (true, _) => UNKNOWN_SIZE,
                (_, true) => operation.bytes,
                _ => 0,
            },
            sizes: if listed { hash(lists.values) } else { 0 },
        }
    }

    /// Whether ranks may come with these to one step, and what is then known of it.
    fn meet(&self, other: &CollectivePattern) -> Option<CollectivePattern> {
        let one = |a, b, unknown| match (a == unknown, b == unknown) {
            (true, _) => Some(b),
            (_, true) => Some(a),
            _ => (a == b).then_some(a),
        };
        Some(CollectivePattern {
            kind: (self.kind == other.kind).then_some(self.kind)?,
            root: one(self.root.into(), other.root.into(), NO_ROOT.into())? as u32,
            bytes: one(self.bytes, other.bytes, UNKNOWN_SIZE)?,
            sizes: one(self.sizes, other.sizes, 0)?,
        })
    }

    fn words(&self) -> String {
        let mut words = self.kind.name().to_owned();
        if !matches!(self.bytes, 0 | UNKNOWN_SIZE) {
            words += &format!(" of {} B", self.bytes);
        }
        if self.kind.has_root() && self.root != NO_ROOT {
            words += &format!(", root {},", self.root);
        }
        if self.sizes != 0 {
            words += " with its list of sizes";
        }
        words
    }
}

fn hash(values: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.hash(&mut hasher);
    hasher.finish().max(1)
}

/// A step of a course.
#[derive(Clone, Copy, Debug)]
struct CourseStep {
    /// Number of its pattern; the highest bit marks one that ranks do not agree on.
    pattern: u32,
    /// Who came to it first.
    rank: u32,
}

const DISPUTED: u32 = 1 << 31;

/// How far a rank has come.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    steps: u64,
    last: OperationPlace,
    /// It has come to another kind than others: what follows says nothing.
    lost: bool,
}

/// The collectives of a communicator.
#[derive(Debug, Default)]
struct Course {
    steps: Vec<CourseStep>,
    ranks: HashMap<u32, At>,
}

impl Course {
    /// Tells the ranks of a communicator that come to more or fewer collectives than the others; to how many all come.
    fn tell_counts(&self, header: &TraceHeader, communicator: u32, findings: &mut TraceFindings) -> u64 {
        let members = &header.communicators[communicator as usize];
        let absent = u64::from(members.len()) - self.ranks.len() as u64;
        // By how many they come to: how many ranks do, and the first of them.
        let mut by_steps: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        for (rank, at) in &self.ranks {
            let (count, first) = by_steps.entry(at.steps).or_insert((0, *rank));
            *count += 1;
            *first = (*first).min(*rank);
        }
        if absent > 0 {
            let first = members.iter().find(|rank| !self.ranks.contains_key(rank));
            by_steps.insert(0, (absent, first.unwrap_or(0)));
        }
        // Most ranks are taken to be right; of as many, those that come to more.
        let usual = by_steps.iter().max_by_key(|(steps, (count, _))| (*count, **steps));
        let Some((&usual, &(alike, other))) = usual else {
            return 0;
        };
        let mut left = u64::from(members.len()) - alike;
        for rank in members.iter() {
            if left == 0 || findings.is_full() {
                break;
            }
            let at = self.ranks.get(&rank);
            let steps = at.map_or(0, |at| at.steps);
            if steps == usual {
                continue;
            }
            left -= 1;
            let words = || {
                let reason = format!(
                    "rank {rank} comes to {steps} collectives of communicator {communicator}, rank {other} to {usual}"
                );
                (reason, "every rank of a communicator takes part in all of them".into())
            };
            match at {
                Some(at) => findings.tell_at(header, About::Collectives, at.last, words),
                None => findings.tell_of(header, About::Collectives, rank, words),
            }
        }
        findings.count(left);
        by_steps.first_key_value().map_or(0, |(steps, _)| *steps)
    }
}

/// What the ranks of a communicator do not agree on, for who repairs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disputed {
    /// Steps that every rank comes to.
    pub common: u64,
    /// Of these, in rising order, those that not all come to in the same way.
    pub steps: Vec<u64>,
}

/// The collectives of all communicators.
#[derive(Debug, Default)]
pub(crate) struct Collectives {
    courses: BTreeMap<u32, Course>,
    numbers: HashMap<CollectivePattern, u32>,
    patterns: Vec<CollectivePattern>,
}

impl Collectives {
    /// Takes a collective of a rank of its communicator. Where its fields are `wrong`, nothing that it says is held against others.
    pub fn take(
        &mut self,
        header: &TraceHeader,
        place: OperationPlace,
        (operation, lists): (&Operation, &Lists<'_>),
        wrong: bool,
        findings: &mut TraceFindings,
    ) {
        let pattern = CollectivePattern::of(operation, lists, wrong);
        let course = self.courses.entry(operation.communicator).or_default();
        let at = course.ranks.entry(place.rank).or_default();
        let step = at.steps;
        at.steps += 1;
        at.last = place;
        let Some(first) = course.steps.get_mut(step as usize) else {
            let disputed = if wrong { DISPUTED } else { 0 };
            course.steps.push(CourseStep {
                pattern: number_of(&mut self.numbers, &mut self.patterns, pattern) | disputed,
                rank: place.rank,
            });
            return;
        };
        if wrong {
            first.pattern |= DISPUTED;
        }
        let theirs = self.patterns[(first.pattern & !DISPUTED) as usize];
        if theirs == pattern {
            return;
        }
        if let Some(known) = pattern.meet(&theirs) {
            let disputed = first.pattern & DISPUTED;
            first.pattern = number_of(&mut self.numbers, &mut self.patterns, known) | disputed;
            return;
        }
        first.pattern |= DISPUTED;
        let lost = at.lost;
        at.lost |= pattern.kind != theirs.kind;
        if lost {
            return;
        }
        let (rank, other, communicator) = (place.rank, first.rank, operation.communicator);
        findings.tell_at(header, About::Collectives, place, || {
            let (own, their) = (pattern.words(), theirs.words());
            let reason = format!(
                "{own} of rank {rank} meets {their} of rank {other}, as number {step} of communicator {communicator}"
            );
            let hint =
                "all ranks of a communicator come to its collectives in the same order, with the same size and root";
            (reason, hint.into())
        });
    }

    /// Tells what is left when the trace is over: what repairs it, and how many operations that leaves out.
    pub fn end(self, header: &TraceHeader, findings: &mut TraceFindings) -> (BTreeMap<u32, Disputed>, u64) {
        let mut all = BTreeMap::new();
        let mut left_out = 0;
        for (communicator, course) in self.courses {
            let members = &header.communicators[communicator as usize];
            let common = course.tell_counts(header, communicator, findings);
            let steps = (0..common).filter(|&step| course.steps[step as usize].pattern & DISPUTED != 0);
            let steps: Vec<u64> = steps.collect();
            let beyond: u64 = course.ranks.values().map(|at| at.steps - common).sum();
            left_out += beyond + steps.len() as u64 * u64::from(members.len());
            if !steps.is_empty() || beyond > 0 {
                all.insert(communicator, Disputed { common, steps });
            }
        }
        (all, left_out)
    }
}

fn number_of(
    numbers: &mut HashMap<CollectivePattern, u32>,
    patterns: &mut Vec<CollectivePattern>,
    pattern: CollectivePattern,
) -> u32 {
    *numbers.entry(pattern).or_insert_with(|| {
        patterns.push(pattern);
        (patterns.len() - 1) as u32
    })
}
