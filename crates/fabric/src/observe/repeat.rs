//! What is recorded in periods that are not run, as they would be the same as one that was.

use super::{BirthSlices, MAX_BINS, Record, Stats};
use crate::packet::Label;
use des::Observe;

/// What was shown in a period, for it to be counted as often as the period is left out.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Packets that left their nodes, and their bytes.
    departed: (u64, u64),
    /// Births of messages that set out: a node of the job, and how long they waited.
    births: Vec<(u32, BirthSlices)>,
    landed: Vec<LandedPacket>,
    complete: Vec<CompleteMessage>,
    /// There was something that belongs to one message or operation, and cannot be counted again.
    other: bool,
}

#[derive(Clone, Copy, Debug)]
struct LandedPacket {
    time: u64,
    bytes: u32,
    hops: u32,
}

#[derive(Clone, Copy, Debug)]
struct CompleteMessage {
    birth: u64,
    time: u64,
    bytes: u64,
    source: u32,
    destination: u32,
    hops: u32,
    number: Label,
    early: bool,
}

impl Shown {
    /// Takes note of what is shown.
    #[cold]
    #[inline(never)]
    pub(super) fn note(&mut self, record: &Record) {
        match *record {
            Record::Departed(departed) => {
                self.departed.0 += u64::from(departed.packets);
                self.departed.1 += departed.bytes;
                let born = departed.born.iter().filter(|slice| slice.waits.count > 0);
                self.births.extend(born.map(|slice| (departed.source, *slice)));
            }
            // Shares are set by what is under way.
            Record::Announced { .. } => {}
            Record::Packet { bytes, hops, time, .. } => self.landed.push(LandedPacket { time, bytes, hops }),
            Record::Message {
                source,
                destination,
                bytes,
                birth,
                time,
                hops,
                number,
                early,
                single: false,
                share: _,
            } => self.complete.push(CompleteMessage {
                birth,
                time,
                bytes,
                source,
                destination,
                hops,
                number,
                early,
            }),
            Record::Message { .. }
            | Record::SetOut { .. }
            | Record::Lost(_)
            | Record::Operation(_)
            | Record::Waited(_)
            | Record::Stayed(_)
            | Record::Acknowledged { .. } => self.other = true,
        }
    }

    /// Adds what another observer of the run was shown.
    pub fn merge(&mut self, other: &Shown) {
        self.departed.0 += other.departed.0;
        self.departed.1 += other.departed.1;
        self.births.extend_from_slice(&other.births);
        self.landed.extend_from_slice(&other.landed);
        self.complete.extend_from_slice(&other.complete);
        self.other |= other.other;
    }

    /// The first and last time in it (ps).
    fn span(&self) -> (u64, u64) {
        let births = self.births.iter().map(|(_, slice)| (slice.since, slice.since));
        let landed = self.landed.iter().map(|packet| (packet.time, packet.time));
        let complete = self.complete.iter().map(|message| (message.birth, message.time));
        let all = births.chain(landed).chain(complete);
        all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
    }

    /// Shows it to an observer, some time (ps) later.
    fn show(&self, later: u64, stats: &mut Stats) {
        stats.injected += self.departed.0;
        stats.injected_bytes += self.departed.1;
        for &(source, BirthSlices { since, waits }) in &self.births {
            let since = since + later;
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
        for message in &self.complete {
            stats.see(Record::Message {
                source: message.source,
                destination: message.destination,
                bytes: message.bytes,
                birth: message.birth + later,
                time: message.time + later,
                hops: message.hops,
                number: message.number,
                early: message.early,
                single: false,
                share: 0,
            });
        }
        stats.settle();
    }
}

impl Stats {
    /// From now on it takes note of all that it is shown, beside counting it.
    pub fn note_all(&mut self) {
        self.shown = Some(Box::default());
    }

    /// Whether it takes note of all and has seen nothing since.
    pub(super) fn takes_note(&self) -> bool {
        let nothing = |shown: &Shown| shown.departed.0 == 0 && shown.landed.is_empty() && shown.complete.is_empty();
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
    /// under way are the caller's to set. `false`, and nothing is counted, if it holds what belongs to one message or operation.
    #[must_use]
    pub fn repeat(&mut self, shown: &Shown, period: u64, times: u64) -> bool {
        if shown.other {
            return false;
        }
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
            let [begin, end] = [first, last].map(|time| (time + number * period) >> shift);
            // Periods that lie in the same slice as a whole add the same, but for the last time of all.
            let alike = match begin == end {
                true => (((end + 1) << shift) - 1 - last) / period,
                false => number,
            };
            let alike = alike.clamp(number, times);
            if alike > number {
                self.merge(once(number).many(alike - number));
            }
            self.merge(once(alike));
            number = alike + 1;
        }
        true
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
