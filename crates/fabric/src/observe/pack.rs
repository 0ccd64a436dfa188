//! What a run has recorded as bytes, for checkpoints.

use super::{
    Bin, EstimatedPart, Histogram, Latencies, Loss, Losses, MAX_BINS, MessageRow, SetOut, Span, Stats, StayRow, Track,
    Waits,
};
use des::checkpoint::{Pack, Torn, put, put_list, take, take_list};

/// Most counts lie side by side and are small: the empty ones before them are left out, and each takes seven bits to a byte, the highest bit for
/// "more".
impl Pack for Histogram {
    fn pack(&self, out: &mut Vec<u8>) {
        let first = self.counts.iter().position(|&count| count > 0);
        let first = first.unwrap_or(self.counts.len());
        let mut bytes = Vec::new();
        for &count in &self.counts[first..] {
            let mut left = count;
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
        }
        put(out, first as u64);
        put_list(out, &bytes);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let torn = Torn("its distributions of latencies are not those of a run");
        let first: u64 = take(input)?;
        if first > 1 << 16 {
            return Err(torn);
        }
        let mut counts = vec![0; first as usize];
        let (mut count, mut shift) = (0u64, 0);
        for byte in take_list::<u8>(input)? {
            if shift > 63 {
                return Err(torn);
            }
            count |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                counts.push(count);
                (count, shift) = (0, 0);
            }
        }
        match shift {
            0 => Ok(Histogram { counts }),
            _ => Err(torn),
        }
    }
}

impl Pack for Latencies {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.sum);
        put(out, [self.count, self.min, self.bytes, self.max]);
        self.histogram.pack(out);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let sum = take(input)?;
        let [count, min, bytes, max] = take(input)?;
        let histogram = Histogram::unpack(input)?;
        Ok(Latencies {
            sum,
            count,
            min,
            bytes,
            max,
            histogram,
        })
    }
}

impl Pack for Waits {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.sum);
        put(out, [self.count, self.max]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let sum = take(input)?;
        let [count, max] = take(input)?;
        Ok(Waits { sum, count, max })
    }
}

impl Pack for Bin {
    fn pack(&self, out: &mut Vec<u8>) {
        self.born.pack(out);
        self.begun.pack(out);
        put(out, [self.kept, self.oldest, self.lost]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let (born, begun) = (Latencies::unpack(input)?, Waits::unpack(input)?);
        let [kept, oldest, lost] = take(input)?;
        Ok(Bin {
            born,
            begun,
            kept,
            lost,
            oldest,
        })
    }
}

impl Pack for Track {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.bins.len() as u64);
        self.bins.iter().for_each(|bin| bin.pack(out));
        self.measured.pack(out);
        self.unmeasured.pack(out);
        self.waits.pack(out);
        put(out, [self.kept, self.latest, self.lost]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let n_bins: u64 = take(input)?;
        if n_bins > MAX_BINS as u64 {
            return Err(Torn("its slices of time are not those of a run"));
        }
        let mut bins = Vec::with_capacity(MAX_BINS);
        for _ in 0..n_bins {
            bins.push(Bin::unpack(input)?);
        }
        let (measured, unmeasured) = (Latencies::unpack(input)?, Latencies::unpack(input)?);
        let waits = Waits::unpack(input)?;
        let [kept, latest, lost] = take(input)?;
        Ok(Track {
            bins,
            measured,
            unmeasured,
            waits,
            kept,
            lost,
            latest,
        })
    }
}

impl Pack for MessageRow {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, [self.birth, self.time, self.bytes]);
        put(out, [self.source, self.destination, self.hops, self.number]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [birth, time, bytes] = take(input)?;
        let [source, destination, hops, number] = take::<[u32; 4]>(input)?;
        Ok(MessageRow {
            birth,
            source,
            destination,
            time,
            bytes,
            hops,
            number,
        })
    }
}

impl Pack for SetOut {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, [self.birth, self.time, self.bytes]);
        put(out, [self.source, self.destination, self.number]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [birth, time, bytes] = take(input)?;
        let [source, destination, number] = take::<[u32; 3]>(input)?;
        Ok(SetOut {
            source,
            time,
            birth,
            destination,
            number,
            bytes,
        })
    }
}

impl Pack for Losses {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, [self.packets, self.again, self.bytes, self.messages]);
        put_list(out, self.first.as_slice());
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [packets, again, bytes, messages] = take(input)?;
        let first: Vec<Loss> = take_list(input)?;
        Ok(Losses {
            packets,
            again,
            bytes,
            messages,
            first: first.first().copied(),
        })
    }
}

impl Pack for Stats {
    fn pack(&self, out: &mut Vec<u8>) {
        if self.n_fresh > 0 {
            let mut settled = self.clone();
            settled.settle();
            return settled.pack(out);
        }
        put(
            out,
            [self.injected, self.injected_bytes, self.packets, self.packet_bytes],
        );
        put(out, [self.messages, self.early, self.landing, self.landing_bytes]);
        let Span { from, to, cut } = self.span;
        put(out, [self.latest, from, to, cut]);
        put(out, [self.flow, self.message_flow]);
        let EstimatedPart {
            time,
            iterations,
            squares,
        } = self.estimated;
        put(out, [time, iterations, squares.to_bits()]);
        put(out, [self.paced_from, self.paced_for]);
        // That note is to be taken of all is written for who goes on at once, but none of it.
        let flags = u32::from(self.light_bins) | u32::from(self.takes_note()) << 1;
        put(out, [self.shift, flags]);
        put_list(out, &self.hops);
        put_list(out, &self.delivered);
        put_list(out, &self.job_of);
        put_list(out, &self.paces);
        put(out, self.tracks.len() as u64);
        self.tracks.iter().for_each(|track| track.pack(out));
        self.losses.iter().for_each(|losses| losses.pack(out));
        put(out, self.repeated);
        put_list(out, &self.senders);
        let rows = self.rows.as_deref();
        put(out, [u64::from(rows.is_some()), rows.map_or(0, <[_]>::len) as u64]);
        rows.unwrap_or_default().iter().for_each(|row| row.pack(out));
        put(out, self.set_out.len() as u64);
        self.set_out.iter().for_each(|message| message.pack(out));
        put_list(out, &self.operations);
        put_list(out, &self.rank_waits);
        let mut stays: Vec<_> = self.stays.values().copied().collect();
        stays.sort_unstable();
        put_list(out, &stays);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [injected, injected_bytes, packets, packet_bytes] = take(input)?;
        let [messages, early, landing, landing_bytes] = take(input)?;
        let [latest, from, to, cut] = take(input)?;
        let [flow, message_flow] = take(input)?;
        let [estimated_time, estimated_iterations, squares] = take(input)?;
        let [paced_from, paced_for] = take(input)?;
        let [shift, flags] = take::<[u32; 2]>(input)?;
        let hops = take_list(input)?;
        let (delivered, job_of, paces): (Vec<u64>, Vec<u16>, _) =
            (take_list(input)?, take_list(input)?, take_list(input)?);
        if shift > 63 || delivered.len() > MAX_BINS {
            return Err(Torn("its slices of time are not those of a run"));
        }
        let mut tracks = Vec::new();
        for _ in 0..take::<u64>(input)? {
            tracks.push(Track::unpack(input)?);
        }
        let mut losses = Vec::new();
        for _ in 0..tracks.len() {
            losses.push(Losses::unpack(input)?);
        }
        let repeated = take(input)?;
        if tracks.is_empty() || job_of.iter().any(|&job| usize::from(job) >= tracks.len()) {
            return Err(Torn("its jobs are not those of a run"));
        }
        let senders = take_list(input)?;
        let [full, n_rows] = take::<[u64; 2]>(input)?;
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            rows.push(MessageRow::unpack(input)?);
        }
        let mut set_out = Vec::new();
        for _ in 0..take::<u64>(input)? {
            set_out.push(SetOut::unpack(input)?);
        }
        let (operations, rank_waits) = (take_list(input)?, take_list(input)?);
        let stays: Vec<StayRow> = take_list(input)?;
        let by_message = |row: StayRow| ([row.source, row.destination, row.label], row);
        // Every field by name: a new one is missing here until it is written as well.
        Ok(Stats {
            injected,
            latest,
            flow,
            injected_bytes,
            span: Span { from, to, cut },
            packets,
            packet_bytes,
            messages,
            shift,
            estimated: EstimatedPart {
                time: estimated_time,
                iterations: estimated_iterations,
                squares: f64::from_bits(squares),
            },
            message_flow,
            light_bins: flags & 1 != 0,
            shown: (flags & 2 != 0).then(Box::default),
            early,
            losses,
            repeated,
            hops,
            landing,
            delivered,
            tracks,
            job_of: job_of.into(),
            landing_bytes,
            paces,
            paced_from,
            paced_for,
            in_detail: full != 0 || !senders.is_empty(),
            fresh: Vec::new(),
            n_fresh: 0,
            senders,
            rows: (full != 0).then_some(rows),
            set_out,
            operations,
            rank_waits,
            stays: stays.into_iter().map(by_message).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_come_back_and_torn_ones_do_not() {
        for values in [vec![], vec![0], vec![5, 5, 70_000_000, 1 << 47]] {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.add_many(value, 1 << 40 | 3));
            let mut bytes = Vec::new();
            histogram.pack(&mut bytes);
            let back = Histogram::unpack(&mut &bytes[..]).unwrap();
            assert_eq!(back.total(), histogram.total());
            assert_eq!(back.quantile(0.7, back.total()), histogram.quantile(0.7, back.total()));
            assert_eq!(back, histogram);
            assert!(Histogram::unpack(&mut &bytes[..bytes.len() - 1]).is_err());
        }
    }
}
