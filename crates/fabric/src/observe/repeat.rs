//! What is recorded in periods that are not run, as they would be the same as one that was.

use super::{BirthSlices, MAX_BINS, MessageRow, Record, Stats, Waits, alike};
use des::Observe;

/// What was shown in a period, for it to be counted as often as the period is left out: of messages of ranks, none of which is lost or is a
/// packet of which nothing is announced.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Packets that left their nodes, and their bytes.
    departed: (u64, u64),
    /// Messages that set out: source, birth and how long it waited.
    births: Vec<(u32, u64, u64)>,
    landed: Vec<LandedPacket>,
    complete: Vec<(MessageRow, bool)>,
}

#[derive(Clone, Copy, Debug)]
struct LandedPacket {
    time: u64,
    bytes: u32,
    hops: u32,
}

impl Shown {
    /// So many packets left their nodes in the period, with so many bytes.
    pub fn set_departed(&mut self, packets: u64, bytes: u64) {
        self.departed = (packets, bytes);
    }

    /// A message has set out.
    pub(super) fn begun(&mut self, source: u32, birth: u64, wait: u64) {
        self.births.push((source, birth, wait));
    }

    /// A packet has been handed to its node.
    #[cold]
    #[inline(never)]
    pub(super) fn landed(&mut self, time: u64, bytes: u32, hops: u32) {
        self.landed.push(LandedPacket { time, bytes, hops });
    }

    /// A message of several packets is complete, or a rank's.
    #[cold]
    #[inline(never)]
    pub(super) fn complete(&mut self, message: &MessageRow, early: bool) {
        self.complete.push((*message, early));
    }

    /// As many packets arrive as left their nodes, and as many messages set out as arrive: what is shown many times over leaves as much under way as
    /// there was. The first or last ones stand for those that are too many or missing.
    pub fn balance(&mut self, departed: u64) {
        // Whoever has run what is in these lists, they are the same.
        self.landed
            .sort_unstable_by_key(|packet| (packet.time, packet.bytes, packet.hops));
        self.births
            .sort_unstable_by_key(|&(source, birth, wait)| (birth, source, wait));
        let place = |row: &MessageRow| (row.time, row.birth, row.source, row.destination, row.number, row.bytes);
        self.complete.sort_unstable_by_key(|(row, early)| (place(row), *early));
        fit(&mut self.landed, departed as usize);
        fit(&mut self.births, self.complete.len());
        let bytes = self.landed.iter().map(|packet| u64::from(packet.bytes)).sum();
        self.departed = (departed, bytes);
    }

    /// Whether no message has set out or none has arrived.
    pub fn is_empty(&self) -> bool {
        self.births.is_empty() || self.complete.is_empty() || self.landed.is_empty()
    }

    /// Adds what another observer of the run was shown.
    pub fn merge(&mut self, other: &Shown) {
        self.births.extend_from_slice(&other.births);
        self.landed.extend_from_slice(&other.landed);
        self.complete.extend_from_slice(&other.complete);
    }

    /// The first and last time in it (ps).
    fn span(&self) -> (u64, u64) {
        let births = self.births.iter().map(|&(_, birth, _)| (birth, birth));
        let landed = self.landed.iter().map(|packet| (packet.time, packet.time));
        let complete = self.complete.iter().map(|(message, _)| (message.birth, message.time));
        let all = births.chain(landed).chain(complete);
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
    }

    /// Shows it to an observer, some time (ps) later.
    fn show(&self, later: u64, stats: &mut Stats) {
        stats.injected += self.departed.0;
        stats.injected_bytes += self.departed.1;
        for &(source, birth, wait) in &self.births {
            let mut waits = Waits::default();
            waits.add(wait);
            let since = birth + later;
            stats.begin(source, &BirthSlices { since, waits });
        }
        for packet in &self.landed {
            stats.see(Record::Packet {
                bytes: packet.bytes,
                hops: packet.hops,
                time: packet.time + later,
                share: 0,
            });
        }
        for &(message, early) in &self.complete {
            stats.see(Record::Message {
                source: message.source,
                destination: message.destination,
                bytes: message.bytes,
                birth: message.birth + later,
                time: message.time + later,
                hops: message.hops,
                number: message.number,
                early,
                single: false,
                share: 0,
            });
        }
        stats.settle();
    }
}

/// Leaves so many of a list, or repeats some of it until there are as many.
fn fit<T: Copy>(list: &mut Vec<T>, wanted: usize) {
    let missing = wanted.saturating_sub(list.len());
    list.truncate(wanted);
    for place in 0..if list.is_empty() { 0 } else { missing } {
        list.push(list[place]);
    }
}

impl Stats {
    /// From now on it takes note of all that it is shown, beside counting it.
    pub fn note_all(&mut self) {
        self.shown = Some(Box::default());
    }

    /// From now on it counts alone.
    pub fn note_nothing(&mut self) {
        self.shown = None;
    }

    /// Whether it takes note of all and has seen nothing since.
    pub(super) fn takes_note(&self) -> bool {
        let nothing = |shown: &Shown| shown.births.is_empty() && shown.landed.is_empty() && shown.complete.is_empty();
        self.shown.as_deref().is_some_and(nothing)
    }

    /// What it was shown since it takes note of all.
    pub fn shown(&self) -> Option<&Shown> {
        self.shown.as_deref()
    }

    /// An observer of the same run, with slices of the same length, that has seen nothing.
    fn empty(&self) -> Stats {
        let nodes = self.paces.len() as u32;
        let mut empty = Stats::new(self.span, 0, false, self.job_of.clone(), (self.tracks.len(), nodes));
        (empty.shift, empty.light_bins) = (self.shift, self.light_bins);
        empty
    }

    /// Counts what was shown in a period `times` times, each a period (ps) after the other, as if it had been shown each time; the shares of what is
    /// under way are the caller's to set.
    pub fn repeat(&mut self, shown: &Shown, period: u64, times: u64) {
        self.settle();
        let (first, last) = shown.span();
        while (last + period * times) >> self.shift >= MAX_BINS as u64 {
            self.double();
        }
        let shift = self.shift;
        let empty = self.empty();
        let once = |number: u64| {
            let mut stats = empty.clone();
            shown.show(number * period, &mut stats);
            stats
        };
        let mut number = 1;
        while number <= times {
            let [begin, end] = [first, last].map(|time| time + number * period);
            // Periods that lie in the same slice as a whole, and on one side of the start of what is measured and of the end of the run, add the
            // same, but for the last time of all.
            let (since, length) = alike(begin, shift, [self.span.from, self.span.cut.saturating_add(1)]);
            let alike = match end - since < length {
                true => (since + length - 1 - last) / period,
                false => number,
            };
            let alike = alike.clamp(number, times);
            if alike > number {
                self.merge(once(number).many(alike - number));
            }
            self.merge(once(alike));
            number = alike + 1;
        }
    }

    /// As if all had been shown so many times.
    fn many(self, mut times: u64) -> Stats {
        let mut all = self.empty();
        let mut power = self;
        while times > 0 {
            if times & 1 != 0 {
                all.merge(power.clone());
            }
            times >>= 1;
            if times > 0 {
                power.merge(power.clone());
            }
        }
        all
    }
}
