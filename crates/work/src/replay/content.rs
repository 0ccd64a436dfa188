//! What a trace says, as a number: SHA-256 of its operations, whatever files they are in and however those are packed.

use sha2::{Digest, Sha256};
use trace::{Lists, Operation, ReadStop, TraceForm, TraceHeader, TraceSink, WorkUnit};

/// Bytes that are put together before they are hashed.
const BLOCK: usize = 1 << 16;

/// Takes a trace for its SHA-256.
#[derive(Debug, Default)]
pub struct ContentHash {
    digest: Sha256,
    bytes: Vec<u8>,
}

impl ContentHash {
    fn put(&mut self, words: impl IntoIterator<Item = u64>) {
        words
            .into_iter()
            .for_each(|word| self.bytes.extend_from_slice(&word.to_le_bytes()));
        if self.bytes.len() >= BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.digest.update(&self.bytes);
        self.bytes.clear();
    }

    /// The SHA-256 when the trace is over, in hexadecimal.
    pub fn finish(mut self) -> String {
        self.flush();
        self.digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl TraceSink for ContentHash {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        let form = u64::from(header.form == TraceForm::Graph);
        let unit = u64::from(header.unit == WorkUnit::Instructions);
        self.put([header.ranks.into(), form, unit, header.communicators.len() as u64]);
        for members in &header.communicators {
            self.put([members.len().into()]);
            self.put(members.iter().map(u64::from));
        }
        Ok(())
    }

    fn operation(&mut self, rank: u32, _record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let small = [
            operation.kind as u8,
            operation.mode as u8,
            operation.lane,
            operation.nic,
        ];
        self.put([
            pair(rank, u32::from_le_bytes(small)),
            pair(operation.communicator, operation.peer),
            pair(operation.tag, operation.source),
            pair(operation.source_tag, operation.request),
            // Whether there is a list is in the same word as the region: lengths follow.
            pair(operation.region, u32::from(*lists != Lists::default())),
            operation.bytes,
            operation.received,
            operation.time,
            operation.start,
        ]);
        if *lists != Lists::default() {
            let lengths = [lists.after.len(), lists.after_start.len(), lists.values.len()];
            self.put(lengths.map(|length| length as u64));
            self.put(lists.after.iter().chain(lists.after_start).map(|&other| other.into()));
            self.put(lists.values.iter().copied());
        }
        Ok(())
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.put([u64::MAX, names.len() as u64]);
        for name in names {
            self.put([name.len() as u64]);
            self.bytes.extend_from_slice(name.as_bytes());
        }
        Ok(())
    }
}
