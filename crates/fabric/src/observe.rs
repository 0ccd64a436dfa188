//! What a run records: sums, a latency histogram, load over time, and on demand every message and every sender.
//!
//! Everything here is a sum, a minimum, a maximum or sorted at the end, so that the order in which committed records of different
//! routers come in does not matter.

use bytemuck::{Pod, Zeroable};
use des::Observe;

mod pack;

/// A fact that a handler shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A packet has left its node.
    Injected {
        /// Its size.
        bytes: u32,
        /// Parts that travel by themselves: 1, or the chunks of the packet.
        parts: u32,
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
        /// It acknowledges data.
        ack: bool,
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

/// Sub-buckets per power of two: bucket borders are 0.8 % apart.
const SUB_BITS: u32 = 7;

/// Counts one more at `index`; grows if it must.
#[inline(always)]
fn count_at(counts: &mut Vec<u64>, index: usize) {
    #[cold]
    fn grow(counts: &mut Vec<u64>, index: usize) {
        counts.resize(index + 1, 0);
        counts[index] = 1;
    }
    match counts.get_mut(index) {
        Some(count) => *count += 1,
        None => grow(counts, index),
    }
}

/// A log-linear histogram of times in ps; exact below 128 ps, else to 0.8 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    #[inline(always)]
    fn bucket(value: u64) -> usize {
        let exponent = (value >> SUB_BITS | 1).ilog2();
        ((u64::from(exponent) << SUB_BITS) + (value >> exponent)) as usize
    }

    /// Lower border of a bucket.
    fn lower(bucket: usize) -> u64 {
        let sub = 1 << SUB_BITS;
        if bucket < 2 * sub {
            return bucket as u64;
        }
        let exponent = bucket / sub - 1;
        ((bucket - exponent * sub) as u64) << exponent
    }

    /// Counts a value.
    #[inline(always)]
    pub fn add(&mut self, value: u64) {
        self.count(Self::bucket(value));
    }

    #[inline(always)]
    fn count(&mut self, bucket: usize) {
        count_at(&mut self.counts, bucket);
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// The value below which a fraction `q` of the counts lies, interpolated within its bucket; 0 if empty.
    pub fn quantile(&self, q: f64) -> f64 {
        let total: u64 = self.counts.iter().sum();
        if total == 0 {
            return 0.0;
        }
        let target = q * total as f64;
        let mut below = 0.0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            if count > 0 && below + count as f64 >= target {
                let (from, to) = (Self::lower(bucket) as f64, Self::lower(bucket + 1) as f64);
                return from + (to - from) * ((target - below) / count as f64).clamp(0.0, 1.0);
            }
            below += count as f64;
        }
        Self::lower(self.counts.len()) as f64
    }

    /// The cumulative distribution: (upper border in ps, fraction at or below), a point per non-empty bucket.
    pub fn cumulative(&self) -> Vec<(f64, f64)> {
        let total: u64 = self.counts.iter().sum();
        let mut sum = 0;
        let points = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        points
            .map(|(bucket, &count)| {
                sum += count;
                (Self::lower(bucket + 1) as f64, sum as f64 / total as f64)
            })
            .collect()
    }
}

/// Latencies of a set of messages; counters that change together are no neighbours, as in [`crate::state::Port`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Latencies {
    /// Sum of latencies (ps).
    pub sum: u128,
    /// Messages.
    pub count: u64,
    /// Least (ps), `u64::MAX` if there are none.
    pub min: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Most (ps).
    pub max: u64,
    /// Distribution.
    pub histogram: Histogram,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies {
            count: 0,
            bytes: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            histogram: Histogram::default(),
        }
    }
}

impl Latencies {
    #[inline(always)]
    fn add(&mut self, latency: u64, bucket: usize, bytes: u64) {
        self.add_up(latency, bytes);
        self.min = self.min.min(latency);
        self.max = self.max.max(latency);
        self.histogram.count(bucket);
    }

    /// Counts a latency without its place in the distribution.
    #[inline(always)]
    fn add_up(&mut self, latency: u64, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
        self.sum += u128::from(latency);
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &Latencies) {
        self.count += other.count;
        self.bytes += other.bytes;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.merge(&other.histogram);
    }

    /// Mean in ps, 0 if there are none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }
}

/// A slice of simulated time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Messages born in it.
    pub born: Latencies,
    /// Bytes handed to nodes in it.
    pub delivered: u64,
}

const MAX_BINS: usize = 128;

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
    /// Start of the measured span (ps).
    pub from: u64,
    /// Packets handed to their node.
    pub packets: u64,
    /// End of the measured span (ps).
    pub to: u64,
    /// Their bytes.
    pub packet_bytes: u64,
    /// The run ends at this time (ps): what is known to arrive later is still in flight.
    pub cut: u64,
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
    /// Slices of simulated time, `1 << shift` ps each.
    pub bins: Vec<Bin>,
    /// Their bytes.
    pub landing_bytes: u64,
    /// Messages born at or after `from` and before `to`, acknowledgements excepted.
    pub measured: Latencies,
    /// Senders of pairs by node; empty if there are none.
    pub senders: Vec<SenderRow>,
    /// Messages one by one, if asked for.
    pub rows: Option<Vec<MessageRow>>,
}

impl Stats {
    /// An observer of a run that ends at `cut`; `senders` nodes are followed one by one, `full` keeps every message.
    pub fn new(senders: u32, full: bool, from: u64, to: u64, cut: u64) -> Stats {
        Stats {
            cut,
            from,
            to,
            shift: 20,
            senders: vec![
                SenderRow {
                    first: u64::MAX,
                    ..SenderRow::default()
                };
                senders as usize
            ],
            rows: full.then(Vec::new),
            ..Stats::default()
        }
    }

    /// Counts a packet that has been handed to its node.
    #[inline(always)]
    fn landed(&mut self, bytes: u64, hops: u32, time: u64) {
        self.packets += 1;
        self.packet_bytes += bytes;
        count_at(&mut self.hops, hops as usize);
        self.bin(time).delivered += bytes;
    }

    #[inline(always)]
    fn bin(&mut self, time: u64) -> &mut Bin {
        let index = (time >> self.shift) as usize;
        if index >= self.bins.len() {
            let index = self.grow(time);
            return &mut self.bins[index];
        }
        &mut self.bins[index]
    }

    /// Makes slices twice as long.
    fn double(&mut self) {
        self.shift += 1;
        let old = std::mem::take(&mut self.bins);
        for pair in old.chunks(2) {
            let mut bin = pair[0].clone();
            if let Some(second) = pair.get(1) {
                bin.born.merge(&second.born);
                bin.delivered += second.delivered;
            }
            self.bins.push(bin);
        }
    }

    /// Makes room for a later time, in longer slices if there would be too many.
    #[cold]
    fn grow(&mut self, time: u64) -> usize {
        while time >> self.shift >= MAX_BINS as u64 {
            self.double();
        }
        let index = (time >> self.shift) as usize;
        if index >= self.bins.len() {
            self.bins.resize_with(index + 1, Bin::default);
        }
        index
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
            Record::Injected { bytes, parts } => {
                self.injected += u64::from(parts);
                self.injected_bytes += u64::from(bytes);
            }
            Record::Packet { bytes, hops, time } => {
                if time > self.cut {
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
                ack,
                early,
                single,
            } => {
                self.early += u64::from(early);
                if time > self.cut {
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
                if ack {
                    return;
                }
                if !self.senders.is_empty() {
                    self.follow(source, bytes, birth, time);
                }
                let latency = time - birth;
                let bucket = Histogram::bucket(latency);
                let light = self.light_bins;
                let born = &mut self.bin(birth).born;
                if light {
                    born.add_up(latency, bytes);
                } else {
                    born.add(latency, bucket, bytes);
                }
                if birth >= self.from && birth < self.to {
                    self.measured.add(latency, bucket, bytes);
                }
                if let Some(rows) = &mut self.rows {
                    rows.push(MessageRow {
                        birth,
                        source,
                        destination,
                        time,
                        bytes,
                        hops,
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

    /// Packets injected, packets handed over, messages complete.
    fn tally(&self) -> [u64; 3] {
        [self.injected, self.packets, self.messages]
    }

    fn merge(&mut self, other: Stats) {
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
        for (i, theirs) in (0u64..).zip(&other.bins) {
            let mine = self.bin(i << other.shift);
            mine.born.merge(&theirs.born);
            mine.delivered += theirs.delivered;
        }
        while self.shift < other.shift {
            self.double();
        }
        self.measured.merge(&other.measured);
        for (mine, theirs) in self.senders.iter_mut().zip(&other.senders) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.rows, other.rows) {
            mine.extend(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_in_order_and_narrow() {
        for value in (0..5_000u64).chain((13..47).flat_map(|e| [(1 << e) - 1, 1 << e, (1 << e) + 1, 3 << e])) {
            let bucket = Histogram::bucket(value);
            let (from, to) = (Histogram::lower(bucket), Histogram::lower(bucket + 1));
            assert!(from <= value && value < to, "{value} is not in {from}..{to}");
            assert!(to - from <= 1.max(value / 128 + 1), "{value}: {from}..{to}");
        }
    }

    #[test]
    fn quantiles_of_a_uniform_distribution_are_right_to_a_bucket() {
        let mut histogram = Histogram::default();
        for value in 0..100_000 {
            histogram.add(value);
        }
        for q in [0.01, 0.5, 0.95, 0.99] {
            assert!((histogram.quantile(q) / (q * 1e5) - 1.0).abs() < 0.008, "q = {q}");
        }
    }

    #[test]
    fn bins_grow_longer_without_losing_anything() {
        let mut stats = Stats::new(0, false, 0, u64::MAX, u64::MAX);
        for i in 0..1_000u64 {
            let birth = i << 22;
            let message = Record::Message {
                source: 0,
                destination: 1,
                bytes: 10,
                birth,
                time: birth + 5,
                hops: 1,
                ack: false,
                early: false,
                single: false,
            };
            stats.see(message);
        }
        assert!(stats.bins.len() <= MAX_BINS);
        assert_eq!(stats.bins.iter().map(|bin| bin.born.count).sum::<u64>(), 1_000);
    }
}
