//! What a run has recorded as bytes, for checkpoints.

use super::{Bin, Histogram, Latencies, MAX_BINS, MessageRow, Stats};
use des::checkpoint::{Pack, Torn, put, put_list, take, take_list};

impl Pack for Latencies {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.sum);
        put(out, [self.count, self.min, self.bytes, self.max]);
        put_list(out, &self.histogram.counts);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let sum = take(input)?;
        let [count, min, bytes, max] = take(input)?;
        let counts = take_list(input)?;
        Ok(Latencies {
            sum,
            count,
            min,
            bytes,
            max,
            histogram: Histogram { counts },
        })
    }
}

impl Pack for MessageRow {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, [self.birth, self.time, self.bytes]);
        put(out, [self.source, self.destination, self.hops]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [birth, time, bytes] = take(input)?;
        let [source, destination, hops] = take(input)?;
        Ok(MessageRow {
            birth,
            source,
            destination,
            time,
            bytes,
            hops,
        })
    }
}

impl Pack for Stats {
    fn pack(&self, out: &mut Vec<u8>) {
        put(
            out,
            [self.injected, self.injected_bytes, self.packets, self.packet_bytes],
        );
        put(out, [self.messages, self.early, self.landing, self.landing_bytes]);
        put(out, [self.latest, self.from, self.to, self.cut]);
        put(out, [self.shift, u32::from(self.light_bins)]);
        put_list(out, &self.hops);
        put(out, self.bins.len() as u64);
        for bin in &self.bins {
            bin.born.pack(out);
            put(out, bin.delivered);
        }
        self.measured.pack(out);
        put_list(out, &self.senders);
        let rows = self.rows.as_deref();
        put(out, [u64::from(rows.is_some()), rows.map_or(0, <[_]>::len) as u64]);
        rows.unwrap_or_default().iter().for_each(|row| row.pack(out));
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [injected, injected_bytes, packets, packet_bytes] = take(input)?;
        let [messages, early, landing, landing_bytes] = take(input)?;
        let [latest, from, to, cut] = take(input)?;
        let [shift, light] = take::<[u32; 2]>(input)?;
        let hops = take_list(input)?;
        let n_bins: u64 = take(input)?;
        if shift > 48 || n_bins > MAX_BINS as u64 {
            return Err(Torn("its slices of time are not those of a run"));
        }
        let mut bins = Vec::with_capacity(MAX_BINS);
        for _ in 0..n_bins {
            let born = Latencies::unpack(input)?;
            let delivered = take(input)?;
            bins.push(Bin { born, delivered });
        }
        let measured = Latencies::unpack(input)?;
        let senders = take_list(input)?;
        let [full, n_rows] = take::<[u64; 2]>(input)?;
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            rows.push(MessageRow::unpack(input)?);
        }
        // Every field by name: a new one is missing here until it is written as well.
        Ok(Stats {
            injected,
            latest,
            injected_bytes,
            from,
            packets,
            to,
            packet_bytes,
            cut,
            messages,
            shift,
            light_bins: light != 0,
            early,
            hops,
            landing,
            bins,
            landing_bytes,
            measured,
            senders,
            rows: (full != 0).then_some(rows),
        })
    }
}
