//! What is known of the messages of a job over time.

use super::Span;
use super::latencies::{Histogram, Latencies};
use des::later;

/// How long messages waited at their source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Sum (ps).
    pub sum: u128,
    /// Messages.
    pub count: u64,
    /// Most (ps).
    pub max: u64,
}

impl Waits {
    #[inline(always)]
    pub(super) fn add(&mut self, wait: u64) {
        self.count += 1;
        self.sum += u128::from(wait);
        self.max = later(self.max, wait);
    }

    /// Adds those of other messages.
    pub fn merge(&mut self, other: &Waits) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// A slice of simulated time, and the messages born in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Those that have arrived, with their latencies.
    pub born: Latencies,
    /// Those that have set out, with the time they waited at their source.
    pub begun: Waits,
    /// Those that had not set out when the run ended.
    pub kept: u64,
    /// Those that were lost.
    pub lost: u64,
    /// Least birth (ps) of the messages that arrived in it or, of the last one, later; `u64::MAX` if there were none. Once the run has been
    /// [looked back](Track::look_back) on: of those that were under way, or waited for it, when it began.
    pub oldest: u64,
}

impl Default for Bin {
    fn default() -> Self {
        Bin {
            born: Latencies::default(),
            begun: Waits::default(),
            kept: 0,
            lost: 0,
            oldest: u64::MAX,
        }
    }
}

impl Bin {
    /// Messages born in it that were not lost.
    pub fn messages(&self) -> u64 {
        (self.begun.count + self.kept).saturating_sub(self.lost)
    }

    /// Those of them that have not arrived, and may yet.
    pub fn missing(&self) -> u64 {
        self.messages().saturating_sub(self.born.count)
    }

    /// Adds the messages of another bin that is part of the same slice.
    pub(super) fn merge(&mut self, other: &Bin) {
        self.born.merge(&other.born);
        self.begun.merge(&other.begun);
        self.kept += other.kept;
        self.lost += other.lost;
        self.oldest = self.oldest.min(other.oldest);
    }
}

/// Extremes that messages which arrive in one slice may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// Least birth of those that arrived in the slice (ps).
    oldest: u64,
    /// Last arrival (ps).
    latest: u64,
    /// Least latency, and largest, of those that are measured, where slices are light (ps).
    min: u64,
    max: u64,
}

/// A new extreme. There are few, and a branch that is hardly ever taken needs no register.
#[cold]
#[inline(never)]
fn beyond(value: u64) -> u64 {
    value
}

/// The messages of a job. Acknowledgements do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Slices of simulated time.
    pub bins: Vec<Bin>,
    /// Latencies of the messages born in the measured span that have arrived, once the run has been looked back on. Before, it has their extremes and
    /// their distribution where slices are light, and else nothing.
    pub measured: Latencies,
    /// Sums of the others; empty where slices are not light, as all messages are measured then.
    pub unmeasured: Latencies,
    /// How long measured messages that have set out waited for it; where slices are not light, once the run has been looked back on.
    pub waits: Waits,
    /// Those that had not set out when the run ended.
    pub kept: u64,
    /// Those that were lost.
    pub lost: u64,
    /// When the last message of all was complete (ps), in runs that end with their work.
    pub latest: u64,
}

impl Track {
    /// Messages born in the measured span that were not lost.
    pub fn born(&self) -> u64 {
        (self.waits.count + self.kept).saturating_sub(self.lost)
    }

    #[inline(always)]
    pub(super) fn bin(&mut self, index: usize) -> &mut Bin {
        #[cold]
        fn grow(bins: &mut Vec<Bin>, index: usize) {
            bins.resize_with(index + 1, Bin::default);
        }
        if index >= self.bins.len() {
            grow(&mut self.bins, index);
        }
        &mut self.bins[index]
    }

    /// A message that was born in slice `index` has arrived, in one that there is; `LIGHT`: slices are, and it is measured if it was born at `from`
    /// or later.
    #[inline(always)]
    pub(super) fn arrives<const LIGHT: bool>(
        &mut self,
        bytes: u64,
        (birth, time): (u64, u64),
        index: usize,
        from: u64,
        edges: &mut Edges,
    ) {
        let latency = time - birth;
        if birth < edges.oldest {
            edges.oldest = beyond(birth);
        }
        let born = &mut self.bins[index].born;
        born.add_up(latency, bytes);
        if !LIGHT {
            born.add_extremes(latency, latency);
            born.histogram.add(latency);
            return;
        }
        edges.latest = edges.latest.max(time);
        if birth < from {
            self.unmeasured.add_up(latency, bytes);
            return;
        }
        if latency < edges.min {
            edges.min = beyond(latency);
        }
        if latency > edges.max {
            edges.max = beyond(latency);
        }
        self.measured.histogram.add(latency);
    }

    /// The extremes so far, for messages that arrive in slice `at`, which there is.
    #[inline(always)]
    pub(super) fn edges(&self, at: usize) -> Edges {
        Edges {
            oldest: self.bins[at].oldest,
            latest: self.latest,
            min: self.measured.min,
            max: self.measured.max,
        }
    }

    /// Takes back the extremes that it gave.
    #[inline(always)]
    pub(super) fn set_edges(&mut self, at: usize, edges: Edges) {
        self.bins[at].oldest = edges.oldest;
        self.latest = edges.latest;
        (self.measured.min, self.measured.max) = (edges.min, edges.max);
    }

    /// Says of each slice up to the `last` of the run how old the oldest message was that was under way when it began. What had arrived before a
    /// slice was not, so it is enough to know the least birth of what arrived in each; what has not arrived is as old as its slice of
    /// birth tells at least.
    pub(super) fn look_back(&mut self, last: usize, shift: u32) {
        self.bin(last);
        let lacks = |bin: &Bin| bin.begun.count > bin.born.count + bin.lost;
        let first = self.bins.iter().position(lacks);
        let mut oldest = first.map_or(u64::MAX, |index| ((index as u64 + 1) << shift) - 1);
        for (index, bin) in self.bins.iter_mut().enumerate().rev() {
            oldest = oldest.min(bin.oldest);
            bin.oldest = match oldest >> shift < index as u64 {
                true => oldest,
                false => u64::MAX,
            };
        }
    }

    /// Completes what is measured from the slices, whether they are `light` or have kept all that is known; called once.
    pub(super) fn sum_up(&mut self, light: bool) {
        if !light {
            for bin in &self.bins {
                self.measured.merge(&bin.born);
                self.waits.merge(&bin.begun);
            }
            return;
        }
        let (measured, unmeasured) = (&mut self.measured, &self.unmeasured);
        for bin in &self.bins {
            measured.count += bin.born.count;
            measured.bytes += bin.born.bytes;
            measured.sum += bin.born.sum;
        }
        measured.count -= unmeasured.count;
        measured.bytes -= unmeasured.bytes;
        measured.sum -= unmeasured.sum;
    }

    /// Makes slices twice as long.
    pub(super) fn double(&mut self) {
        let old = std::mem::take(&mut self.bins);
        for pair in old.chunks(2) {
            let mut bin = pair[0].clone();
            if let Some(second) = pair.get(1) {
                bin.merge(second);
            }
            self.bins.push(bin);
        }
    }

    /// Adds what another observer has seen of the same job in slices of the same length.
    pub fn merge(&mut self, other: &Track) {
        for (i, theirs) in other.bins.iter().enumerate() {
            self.bin(i).merge(theirs);
        }
        self.measured.merge(&other.measured);
        self.unmeasured.merge(&other.unmeasured);
        self.waits.merge(&other.waits);
        self.kept += other.kept;
        self.lost += other.lost;
        self.latest = self.latest.max(other.latest);
    }

    /// The part of it that was born in the measured span, or in the slices from `first` on where that is given.
    pub fn sample(&self, first: Option<usize>, span: Span, shift: u32) -> Sample {
        let start = first.unwrap_or((span.from >> shift) as usize).min(self.bins.len());
        let bins = &self.bins[start..];
        let mut sample = match first {
            None => Sample {
                messages: self.born(),
                latencies: self.measured.clone(),
                waits: self.waits,
                lost: self.lost,
                ..Sample::default()
            },
            Some(_) => {
                let mut sample = Sample::default();
                for bin in bins {
                    sample.messages += bin.messages();
                    sample.lost += bin.lost;
                    sample.latencies.merge(&bin.born);
                    sample.waits.merge(&bin.begun);
                }
                sample
            }
        };
        // Of those that have not arrived it is known in which slice they were born: they are at least as old as its end. In the first slice there may
        // be some that are not measured.
        let mut missing = sample.messages.saturating_sub(sample.latencies.count);
        let mut kept = sample.messages + sample.lost - sample.waits.count;
        for (i, bin) in bins.iter().enumerate().rev() {
            let i = (start + i) as u64;
            let age = span.cut.saturating_sub((i + 1) << shift);
            let (lacks, keeps) = (bin.missing().min(missing), bin.kept.min(kept));
            sample.missing.add_many(age, lacks);
            sample.kept.add_many(age, keeps);
            (missing, kept) = (missing - lacks, kept - keeps);
        }
        sample
    }
}

/// Messages that are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// How many there are that were not lost.
    pub messages: u64,
    /// How many were lost.
    pub lost: u64,
    /// Latencies of those that have arrived.
    pub latencies: Latencies,
    /// Waits at the source of those that have set out.
    pub waits: Waits,
    /// The least that latencies of the others can be.
    pub missing: Histogram,
    /// The least that waits of the others can be.
    pub kept: Histogram,
}
