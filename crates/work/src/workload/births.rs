//! When the messages of synthetic traffic are born: the processes of gaps, a line of the list each, and what they are on the hot path.
//!
//! No process remembers more than when the last message was born: what else it needs is drawn with each message, so that a source has one
//! number in memory whatever its process.

use super::spec::Synthetic;
use super::{Destinations, NEVER};
use des::rng::{ln, unit};
use des::{Philox, mix};
use study::BitsPerSec;
use study::{Entry, Named, choice};

choice! {
    /// Gaps between messages of one node.
    pub enum Process {
        Periodic = "periodic", "Equal gaps; the nodes start at random phases.";
        PeriodicInPhase = "periodic-in-phase", "Equal gaps, all nodes in phase.";
        Poisson = "poisson", "Exponential gaps.";
        Bernoulli = "bernoulli", "In every slot a message or none, each time anew: gaps are geometric.";
        OnOff = "on-off", "Bursts of a geometric number of messages with exponential pauses between them.";
    }
}

impl Process {
    /// What studies may say of each.
    pub const ENTRIES: [Entry; Process::WORDS.len()] = {
        let mut entries = [process(0); Process::WORDS.len()];
        let mut i = 1;
        while i < entries.len() {
            entries[i] = process(i);
            i += 1;
        }
        entries
    };
}

const fn process(i: usize) -> Entry {
    Entry::new(Process::WORDS[i].0, Process::WORDS[i].1)
}

/// When the messages of a synthetic job are born, worked out beforehand for the hot path.
#[derive(Clone, Debug)]
pub(super) struct Births {
    pub rule: BirthRule,
    /// Mean time between two messages of a node that sends most (ps).
    pub gap: f64,
    /// The same of each logical node, where they are not all alike.
    gaps: Vec<f64>,
    /// Messages per node, `u64::MAX` if endless.
    pub count: u64,
    /// Destinations are uniform and gaps exponential, so that a message's gap and destination follow from its number alone.
    pub draws_ahead: bool,
    /// The first node of a job whose nodes follow each other: the others need not be looked up, which of all nodes of a large network would
    /// come from memory.
    pub first: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BirthRule {
    Poisson,
    AtOnce,
    PeriodicInPhase,
    Periodic,
    /// With the time of a slot (ps) and, where all nodes have the same gap, [`silence`] of it.
    Bernoulli {
        slot: f64,
        silence: f64,
    },
    /// With the chance that a message is the first of its burst, and the gap within bursts as a fraction of the mean gap.
    OnOff {
        first: f64,
        within: f64,
    },
    /// As many at once as the window has, and one more for each that has been answered.
    Answered,
}

/// What the birth of a message is drawn from.
pub(super) struct Drawing<'a> {
    /// The message's number at its node.
    pub k: u64,
    /// A random word of its own.
    pub word: u64,
    /// Birth of the message before (ps).
    pub last: u64,
    /// When the node starts (ps).
    pub start: u64,
    /// Phases of nodes, and where this one's is.
    pub phases: (&'a Philox, [u64; 4]),
}

impl Births {
    /// Those of a job of `n` nodes that inject at a rate.
    pub(super) fn new(
        work: &Synthetic,
        destinations: &Destinations,
        nodes: &[u32],
        injection: BitsPerSec,
    ) -> Result<Births, String> {
        let load = work.load.unwrap_or(1.0);
        let time = |bytes: f64| bytes * 8e12 / injection.0 as f64;
        let gap_of = |bytes: f64, rate: f64| time(bytes) / (load * rate);
        let gaps: Vec<f64> = (0..nodes.len() as u32)
            .map(|i| match destinations.rate(i) {
                // It has no messages.
                0.0 => NEVER as f64,
                rate => gap_of(destinations.mean_size(i, work.message.0), rate),
            })
            .collect();
        let sending = gaps.iter().copied().filter(|&gap| gap < NEVER as f64);
        let gap = sending.clone().fold(f64::INFINITY, f64::min);
        let alike = sending.clone().all(|other| other == gap);
        let bytes = work.mean_message();
        let slot = work.slot.map_or(time(bytes), |slot| slot.0 as f64);
        if work.process == Process::Bernoulli && gap.is_finite() && slot > gap * (1.0 + 1e-9) {
            return Err(format!(
                "a message every {gap:.0} ps is more than one in each slot of {slot:.0} ps"
            ));
        }
        let gap = if gap.is_finite() { gap } else { gap_of(bytes, 1.0) };
        let rule = match (work.load, work.window, work.process) {
            (_, Some(_), _) => BirthRule::Answered,
            (None, None, _) => BirthRule::AtOnce,
            (_, _, Process::Poisson) => BirthRule::Poisson,
            (_, _, Process::PeriodicInPhase) => BirthRule::PeriodicInPhase,
            (_, _, Process::Periodic) => BirthRule::Periodic,
            (_, _, Process::Bernoulli) => BirthRule::Bernoulli {
                slot,
                silence: silence(slot, gap),
            },
            (_, _, Process::OnOff) => BirthRule::OnOff {
                first: 1.0 / work.burst(),
                within: load / work.peak(),
            },
        };
        Ok(Births {
            rule,
            gap,
            gaps: if alike { Vec::new() } else { gaps },
            count: work.count.unwrap_or(u64::MAX),
            draws_ahead: matches!(destinations, Destinations::Uniform) && rule == BirthRule::Poisson,
            first: nodes
                .first()
                .copied()
                .filter(|&first| (first..).zip(nodes).all(|(next, &node)| next == node)),
        })
    }

    /// Mean time between two messages of a logical node (ps).
    #[inline]
    pub(super) fn gap_of(&self, logical: u32) -> f64 {
        match self.gaps.is_empty() {
            true => self.gap,
            false => self.gaps[logical as usize],
        }
    }

    /// The birth of a message whose gaps are not exponential; none of one that waits for an answer.
    pub(super) fn at(&self, logical: u32, drawing: &Drawing<'_>) -> Option<u64> {
        let &Drawing {
            k, word, last, start, ..
        } = drawing;
        let gap = self.gap_of(logical);
        let exponential = |mean: f64| -ln(unit(word)) * mean;
        Some(match self.rule {
            BirthRule::Answered => return None,
            BirthRule::Poisson | BirthRule::AtOnce => start,
            BirthRule::PeriodicInPhase => (k as f64 * gap) as u64 + start,
            BirthRule::Periodic => {
                let (phases, at) = &drawing.phases;
                let phase = unit(phases.block(*at)[0]);
                (((k as f64 + phase) * gap) as u64).min(NEVER)
            }
            BirthRule::Bernoulli { slot, silence: common } => {
                let silence = match self.gaps.is_empty() {
                    true => common,
                    false => silence(slot, gap),
                };
                let slots = match silence < 0.0 {
                    true => (ln(unit(word)) / silence) as u64 + 1,
                    false => 1,
                };
                // Slots are counted in whole, so that rounding does not move them; the first may have a message.
                let before = if k == 0 { 0 } else { rounded(last as f64 / slot) + 1 };
                rounded((before + slots - 1) as f64 * slot).min(NEVER)
            }
            BirthRule::OnOff { first, within } => {
                let pause = exponential((1.0 - within) * gap / first);
                let gap = match k == 0 || unit(mix(word)) < first {
                    true if k == 0 => pause,
                    true => within * gap + pause,
                    false => within * gap,
                };
                (last + (0.5 + gap) as u64).min(NEVER)
            }
        })
    }
}

/// The logarithm of the chance that no message is born in a slot, of nodes with so much time between messages; 0 if there is one in each.
fn silence(slot: f64, gap: f64) -> f64 {
    let chance = slot / gap;
    if chance < 1.0 { ln(1.0 - chance) } else { 0.0 }
}

/// The whole number next to one that is not negative, upwards from the middle of two: [`f64::round`], which is a call.
#[inline(always)]
fn rounded(value: f64) -> u64 {
    let whole = value as u64;
    whole.saturating_add(u64::from(value - whole as f64 >= 0.5))
}

/// Whole ps of a time, rounded down: 0 for what is negative, [`NEVER`] at most and where it is no number. `as` asks twice more.
#[inline(always)]
pub(super) fn whole_ps(time: f64) -> u64 {
    let most = NEVER as f64;
    let time = if time < most { time } else { most };
    let time = if time > 0.0 { time } else { 0.0 };
    // SAFETY: from 0 to `NEVER`, which an `i64` holds.
    #[allow(unsafe_code)]
    unsafe {
        time.to_int_unchecked::<i64>() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{NEVER, rounded, whole_ps};

    #[test]
    fn whole_ps_are_what_a_conversion_gives_within_the_bounds_of_time() {
        for time in [
            0.0,
            0.49,
            0.5,
            1.0,
            1.5,
            2.0,
            1e3,
            181_920.75,
            2f64.powi(53) + 2.0,
            4e18,
        ] {
            assert_eq!(whole_ps(time), time as u64, "{time}");
        }
        for time in [-0.0, -0.5, -1.0, -1e300, f64::NEG_INFINITY] {
            assert_eq!(whole_ps(time), 0, "{time}");
        }
        for time in [NEVER as f64, 5e18, 1e19, f64::MAX, f64::INFINITY, f64::NAN] {
            assert_eq!(whole_ps(time), NEVER, "{time}");
        }
    }

    #[test]
    fn rounding_is_that_of_the_library() {
        let halves = (0..2_000).map(|half| f64::from(half) / 2.0);
        let beside = halves.flat_map(|half| [half, half.next_up(), half.next_down().max(0.0)]);
        let large = [52, 53, 62, 63, 64, 70].map(|bits| 2f64.powi(bits));
        let large = large
            .into_iter()
            .flat_map(|power| [power.next_down(), power, power.next_up()]);
        for value in beside.chain(large).chain([f64::INFINITY, 1_234_567_890.5]) {
            assert_eq!(rounded(value), value.round() as u64, "{value}");
        }
    }
}
