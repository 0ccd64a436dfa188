//! What a run records: sums, a latency histogram, load over time, and on demand every message and every sender.
//!
//! Everything here is a sum, a minimum, a maximum or sorted at the end, so that the order in which committed records of different
//! routers come in does not matter.

use crate::nic::ACK;
use bytemuck::{Pod, Zeroable};
use des::{Observe, Tally};
use std::sync::Arc;

mod latencies;
mod messages;
mod pack;
mod track;

use latencies::count_at;
pub use latencies::{Histogram, Latencies};
pub use track::{Bin, Sample, Track, Waits};

pub use messages::{MessageTimes, Unsent};

/// A fact that a handler shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A packet has left its node.
    Injected {
        /// Its size.
        bytes: u32,
        /// Parts that travel by themselves: 1, or the chunks of the packet.
        parts: u32,
        /// The message that sets out with it, if it is the first of one that is no acknowledgement.
        begins: Option<Begun>,
    },
    /// The first packet of a message has left its node; shown where messages are followed.
    SetOut {
        /// Source node.
        source: u32,
        /// Destination node.
        destination: u32,
        /// Its number at its source.
        number: u16,
        /// Its size.
        bytes: u64,
        /// When it was handed to the interface (ps).
        birth: u64,
        /// When the packet left (ps).
        time: u64,
    },
    /// A packet has been handed to its node.
    Packet {
        /// Its size.
        bytes: u32,
        /// Router-to-router links it took.
        hops: u32,
        /// When (ps).
        time: u64,
    },
    /// A message is complete at its node.
    Message {
        /// Source node.
        source: u32,
        /// Destination node.
        destination: u32,
        /// Its size.
        bytes: u64,
        /// When it was handed to the interface (ps).
        birth: u64,
        /// When it was complete (ps).
        time: u64,
        /// Most router-to-router links of its packets.
        hops: u32,
        /// Its number at its source; [`ACK`](crate::nic::ACK) marks what acknowledges data.
        number: u16,
        /// It came sooner than the zero-load bound: a broken model.
        early: bool,
        /// It is a packet as well, which has no record of its own.
        single: bool,
    },
    /// A node of a job of pairs has the acknowledgement of its batch.
    Acknowledged {
        /// The node.
        node: u32,
        /// When it posted the batch (ps).
        batch: u64,
        /// When the acknowledgement was complete (ps).
        time: u64,
    },
}

/// A message that sets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Source node.
    pub source: u32,
    /// When it was handed to the interface (ps).
    pub birth: u64,
    /// When its first packet left (ps).
    pub time: u64,
}

/// A message whose first packet has left its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetOut {
    /// Source node.
    pub source: u32,
    /// When the packet left (ps).
    pub time: u64,
    /// When the message was handed to the interface (ps).
    pub birth: u64,
    /// Destination node.
    pub destination: u32,
    /// The message's number at its source, as its packets have it.
    pub number: u16,
    /// Its size.
    pub bytes: u64,
}

/// A complete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageRow {
    /// When it was handed to the interface (ps).
    pub birth: u64,
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// When it was complete (ps).
    pub time: u64,
    /// Its size.
    pub bytes: u64,
    /// Most hops of its packets.
    pub hops: u32,
    /// Its number at its source, as its packets have it.
    pub number: u16,
}

/// A sender of a job of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SenderRow {
    /// First birth of a data message (ps), `u64::MAX` if none.
    pub first: u64,
    /// Last arrival of its data, or of the acknowledgement if there are any (ps).
    pub last: u64,
    /// Data bytes delivered.
    pub bytes: u64,
    /// Data messages delivered.
    pub trips: u64,
    /// Sum of their one-way times (ps).
    pub sum: u64,
    /// Longest (ps).
    pub longest: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Sum of the times from a batch's birth to its acknowledgement (ps).
    pub round_trips: u64,
    /// The longest of them (ps).
    pub longest_round_trip: u64,
}

impl SenderRow {
    /// Adds what another observer has seen of the same sender.
    fn merge(&mut self, other: &SenderRow) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.bytes += other.bytes;
        self.trips += other.trips;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.acks += other.acks;
        self.round_trips += other.round_trips;
        self.longest_round_trip = self.longest_round_trip.max(other.longest_round_trip);
    }

    /// Mean time from a batch's birth to its acknowledgement in ps, 0 without acknowledgements.
    pub fn mean_round_trip(&self) -> f64 {
        if self.acks == 0 {
            0.0
        } else {
            self.round_trips as f64 / self.acks as f64
        }
    }
}

const MAX_BINS: usize = 128;

/// Which messages of a run are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Those born at this time (ps) or later,
    pub from: u64,
    /// and before this time: `u64::MAX` for a run that ends with its work.
    pub to: u64,
    /// The run ends at this time: what is known to arrive later is still in flight.
    pub cut: u64,
}

impl Default for Span {
    /// All messages of a run that ends with its work.
    fn default() -> Self {
        Span {
            from: 0,
            to: u64::MAX,
            cut: u64::MAX,
        }
    }
}

impl Span {
    /// The run has sources without end.
    pub fn is_open(&self) -> bool {
        self.to != u64::MAX
    }

    /// The last time of the measured span.
    fn last(&self) -> u64 {
        self.to.saturating_sub(1)
    }
}

/// The observer of network runs; counters that change together are no neighbours, as in [`crate::state::Port`].
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Stats {
    /// Packets that left their node.
    pub injected: u64,
    /// Latest delivery (ps).
    pub latest: u64,
    /// Their bytes.
    pub injected_bytes: u64,
    /// Which messages are measured.
    pub span: Span,
    /// Packets handed to their node.
    pub packets: u64,
    /// Their bytes.
    pub packet_bytes: u64,
    /// Messages complete.
    pub messages: u64,
    /// Length of a slice.
    pub shift: u32,
    /// Slices keep counts, bytes and sums of latencies only.
    pub light_bins: bool,
    /// Messages that beat the zero-load bound.
    pub early: u64,
    /// Packets by router-to-router links taken.
    pub hops: Vec<u64>,
    /// Packets on their ejection link when the run ends.
    pub landing: u64,
    /// Bytes handed to nodes in each slice.
    pub delivered: Vec<u64>,
    /// What is known of each job's messages in slices of simulated time, `1 << shift` ps each.
    pub tracks: Vec<Track>,
    /// The job of every node; empty if there is one job.
    pub job_of: Arc<[u16]>,
    /// Their bytes.
    pub landing_bytes: u64,
    /// Bytes of every source's messages that were complete in the paced time: the measured span if that begins behind the start of the run,
    /// else the later half of the run; empty without sources that never stop.
    pub paces: Vec<u64>,
    /// Start of the paced time (ps).
    pub paced_from: u64,
    /// Its length (ps).
    pub paced_for: u64,
    /// Senders of pairs by node; empty if there are none.
    pub senders: Vec<SenderRow>,
    /// Messages born before the end of the measured span that have arrived one by one, if asked for.
    pub rows: Option<Vec<MessageRow>>,
    /// Messages that have set out one by one, if asked for.
    pub set_out: Vec<SetOut>,
}

impl Stats {
    /// An observer of a run; `senders` nodes are followed one by one, `full` keeps every message. `job_of` tells the job of every node
    /// where there are several, `jobs` of them.
    pub fn new(span: Span, senders: u32, full: bool, job_of: Arc<[u16]>, (jobs, nodes): (usize, u32)) -> Stats {
        let paced = match span.from {
            0 => span.to / 2..span.to,
            from => from..span.to,
        };
        Stats {
            span,
            shift: match span.is_open() {
                // The longest slices of which the span takes 64 at least, but half a microsecond: a message shall be under way in few of them.
                true => (span.to >> 6).max(1 << 19).ilog2(),
                false => 20,
            },
            senders: vec![
                SenderRow {
                    first: u64::MAX,
                    ..SenderRow::default()
                };
                senders as usize
            ],
            rows: full.then(Vec::new),
            tracks: vec![Track::default(); jobs.max(1)],
            job_of,
            paces: vec![0; if span.is_open() { nodes as usize } else { 0 }],
            paced_from: paced.start,
            paced_for: paced.end.saturating_sub(paced.start),
            ..Stats::default()
        }
    }

    /// All jobs together.
    pub fn whole(&self) -> Track {
        let mut all = Track::default();
        self.tracks.iter().for_each(|track| all.merge(track));
        all
    }

    /// Counts a packet that has been handed to its node.
    #[inline(always)]
    fn landed(&mut self, bytes: u64, hops: u32, time: u64) {
        self.packets += 1;
        self.packet_bytes += bytes;
        count_at(&mut self.hops, hops as usize);
        if time < self.span.to {
            let index = self.slice(time);
            if index >= self.delivered.len() {
                self.delivered.resize(index + 1, 0);
            }
            self.delivered[index] += bytes;
        }
    }

    /// The slice that a time is in, before the end of the measured span; slices are made longer if there would be too many.
    #[inline(always)]
    fn slice(&mut self, time: u64) -> usize {
        let index = (time >> self.shift) as usize;
        if index < MAX_BINS {
            return index;
        }
        self.lengthen(time)
    }

    #[cold]
    fn lengthen(&mut self, time: u64) -> usize {
        while time >> self.shift >= MAX_BINS as u64 {
            self.double();
        }
        (time >> self.shift) as usize
    }

    /// Makes slices twice as long.
    fn double(&mut self) {
        self.shift += 1;
        self.tracks.iter_mut().for_each(Track::double);
        self.delivered = self.delivered.chunks(2).map(|pair| pair.iter().sum()).collect();
    }

    /// The messages of the job that a node is in.
    #[inline(always)]
    fn track(&mut self, node: u32) -> &mut Track {
        match self.job_of.get(node as usize) {
            Some(&job) => &mut self.tracks[usize::from(job)],
            None => &mut self.tracks[0],
        }
    }

    #[inline(always)]
    fn begins(&mut self, begun: Begun) {
        let Begun { source, birth, time } = begun;
        let span = self.span;
        if birth >= span.to {
            return;
        }
        let wait = time - birth;
        let index = self.slice(birth);
        let track = self.track(source);
        track.bin(index).begun.add(wait);
        if birth >= span.from {
            track.waits.add(wait);
        }
    }

    /// A message born before the end of the measured span has arrived.
    #[inline(always)]
    fn arrives(&mut self, source: u32, bytes: u64, birth: u64, time: u64) {
        let span = self.span;
        let latency = time - birth;
        let bucket = Histogram::bucket(latency);
        let (index, light) = (self.slice(birth), self.light_bins);
        if !self.paces.is_empty() {
            if (birth ^ time) >> self.shift != 0 {
                let until = self.slice(time.min(span.last()));
                if index != until {
                    self.track(source).under_way(birth, index, until);
                }
            }
            if time.wrapping_sub(self.paced_from) < self.paced_for {
                self.paces[source as usize] += bytes;
            }
        }
        let closed = !span.is_open();
        let track = self.track(source);
        if closed {
            track.latest = track.latest.max(time);
        }
        let born = &mut track.bin(index).born;
        if light {
            born.add_up(latency, bytes);
        } else {
            born.add(latency, bucket, bytes);
        }
        if birth >= span.from {
            track.measured.add(latency, bucket, bytes);
        }
    }

    /// `count` messages of a node that were born at the same time, before the end of the measured span, had not set out when the run ended.
    pub fn keep(&mut self, node: u32, birth: u64, count: u64) {
        let span = self.span;
        if birth >= span.to || count == 0 {
            return;
        }
        let index = self.slice(birth);
        let last = if span.is_open() { self.slice(span.last()) } else { index };
        let track = self.track(node);
        let bin = track.bin(index);
        bin.kept += count;
        if last != index {
            track.under_way(birth, index, last);
        }
        if birth >= span.from {
            track.kept += count;
        }
    }

    /// Says of all messages that have set out and not arrived how long they have been under way: of each it is known in which slice it
    /// was born. Called once, on the whole of a run that has ended.
    pub fn look_back(&mut self) {
        if !self.span.is_open() {
            return;
        }
        let last = self.slice(self.span.last());
        for track in &mut self.tracks {
            for index in 0..track.bins.len().min(last) {
                if track.bins[index].begun.count > track.bins[index].born.count {
                    // The youngest that it can be.
                    track.under_way(((index as u64 + 1) << self.shift) - 1, index, last);
                }
            }
        }
    }

    fn follow(&mut self, source: u32, bytes: u64, birth: u64, time: u64) {
        let sender = &mut self.senders[source as usize];
        sender.first = sender.first.min(birth);
        sender.last = sender.last.max(time);
        sender.bytes += bytes;
        sender.trips += 1;
        sender.sum += time - birth;
        sender.longest = sender.longest.max(time - birth);
    }
}

impl Observe<Record> for Stats {
    #[inline(always)]
    fn see(&mut self, record: Record) {
        match record {
            Record::Injected { bytes, parts, begins } => {
                self.injected += u64::from(parts);
                self.injected_bytes += u64::from(bytes);
                if let Some(begun) = begins {
                    self.begins(begun);
                }
            }
            Record::Packet { bytes, hops, time } => {
                if time > self.span.cut {
                    self.landing += 1;
                    self.landing_bytes += u64::from(bytes);
                    return;
                }
                self.landed(u64::from(bytes), hops, time);
            }
            Record::Message {
                source,
                destination,
                bytes,
                birth,
                time,
                hops,
                number,
                early,
                single,
            } => {
                self.early += u64::from(early);
                if time > self.span.cut {
                    if single {
                        self.landing += 1;
                        self.landing_bytes += bytes;
                    }
                    return;
                }
                if single {
                    self.landed(bytes, hops, time);
                }
                self.messages += 1;
                self.latest = self.latest.max(time);
                if number & ACK != 0 {
                    return;
                }
                if !self.senders.is_empty() {
                    self.follow(source, bytes, birth, time);
                }
                if birth < self.span.to {
                    self.arrives(source, bytes, birth, time);
                }
                if let Some(rows) = self.rows.as_mut().filter(|_| birth < self.span.to) {
                    rows.push(MessageRow {
                        birth,
                        source,
                        destination,
                        time,
                        bytes,
                        hops,
                        number,
                    });
                }
            }
            Record::SetOut {
                source,
                destination,
                number,
                bytes,
                birth,
                time,
            } => {
                if time <= self.span.cut && birth < self.span.to && self.rows.is_some() {
                    self.set_out.push(SetOut {
                        source,
                        time,
                        birth,
                        destination,
                        number,
                        bytes,
                    });
                }
            }
            Record::Acknowledged { node, batch, time } => {
                let sender = &mut self.senders[node as usize];
                let trip = time - batch;
                sender.last = sender.last.max(time);
                sender.acks += 1;
                sender.round_trips += trip;
                sender.longest_round_trip = sender.longest_round_trip.max(trip);
            }
        }
    }

    /// Packets injected, packets handed over, messages complete; messages born before the end of the measured span that have set out, and
    /// that have arrived.
    fn tally(&self) -> Tally {
        let due = |of: fn(&Bin) -> u64| self.tracks.iter().flat_map(|track| &track.bins).map(of).sum::<u64>();
        [
            self.injected,
            self.packets,
            self.messages,
            due(|bin| bin.begun.count),
            due(|bin| bin.born.count),
        ]
    }

    fn merge(&mut self, mut other: Stats) {
        self.injected += other.injected;
        self.injected_bytes += other.injected_bytes;
        self.packets += other.packets;
        self.packet_bytes += other.packet_bytes;
        self.latest = self.latest.max(other.latest);
        self.messages += other.messages;
        self.early += other.early;
        self.landing += other.landing;
        self.landing_bytes += other.landing_bytes;
        if self.hops.len() < other.hops.len() {
            self.hops.resize(other.hops.len(), 0);
        }
        for (mine, theirs) in self.hops.iter_mut().zip(&other.hops) {
            *mine += theirs;
        }
        while self.shift < other.shift {
            self.double();
        }
        while other.shift < self.shift {
            other.double();
        }
        if self.delivered.len() < other.delivered.len() {
            self.delivered.resize(other.delivered.len(), 0);
        }
        for (mine, theirs) in self.delivered.iter_mut().zip(&other.delivered) {
            *mine += theirs;
        }
        for (mine, theirs) in self.tracks.iter_mut().zip(&other.tracks) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.paces.iter_mut().zip(&other.paces) {
            *mine += theirs;
        }
        for (mine, theirs) in self.senders.iter_mut().zip(&other.senders) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.rows, other.rows) {
            mine.extend(theirs);
        }
        self.set_out.extend(other.set_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_longer_without_losing_anything() {
        let span = Span {
            from: 0,
            to: u64::MAX,
            cut: u64::MAX,
        };
        let mut stats = Stats::new(span, 0, false, Arc::default(), (1, 0));
        for i in 0..1_000u64 {
            let birth = i << 22;
            let message = Record::Message {
                source: 0,
                destination: 1,
                bytes: 10,
                birth,
                time: birth + 5,
                hops: 1,
                number: 0,
                early: false,
                single: false,
            };
            stats.see(message);
        }
        let bins = &stats.tracks[0].bins;
        assert!(bins.len() <= MAX_BINS);
        assert_eq!(bins.iter().map(|bin| bin.born.count).sum::<u64>(), 1_000);
    }
}
