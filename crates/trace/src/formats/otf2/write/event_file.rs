//! The file of a rank's events, chunk by chunk. It is open only while something is written to it: there may be more ranks than files that may
//! be open.

use super::encode::{CHUNK_HEAD, FieldWriter};
use std::fs::OpenOptions;
use std::io::{Result, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes of a chunk of events.
pub const EVENT_CHUNK: usize = 1 << 18;
/// Sets the time of what follows.
const TIME: u8 = 5;

/// The events of a rank that are not in its file yet, and what is known of those that are.
#[derive(Debug, Default)]
pub struct EventFile {
    waiting: FieldWriter,
    /// Bytes that are in the file.
    written: u64,
    /// Where the chunk begins in the file; none has begun before the first event.
    chunk: Option<u64>,
    /// Number of the chunk's first event, from 1.
    first: u64,
    /// Events so far.
    pub events: u64,
    /// The time that the chunk has set.
    time: Option<u64>,
}

impl EventFile {
    /// Bytes that wait to be written.
    pub fn waiting(&self) -> usize {
        self.waiting.bytes.len()
    }

    fn end(&self) -> u64 {
        self.written + self.waiting.bytes.len() as u64
    }

    /// One more event at a time (ticks), as its bytes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn event(&mut self, path: &Path, time: u64, record: &[u8]) -> Result<()> {
        // The time and the end of the chunk have to fit as well.
        let needed = record.len() as u64 + 9 + 2;
        match self.chunk {
            Some(chunk) if self.end() + needed > chunk + EVENT_CHUNK as u64 => {
                let fill = (chunk + EVENT_CHUNK as u64 - self.end()) as usize;
                self.waiting.bytes.resize(self.waiting.bytes.len() + fill, 0);
                self.close_chunk(path)?;
                self.begin_chunk();
            }
            Some(_) => {}
            None => self.begin_chunk(),
        }
        if self.time != Some(time) {
            self.waiting.byte(TIME).whole(time);
            self.time = Some(time);
        }
        self.waiting.bytes.extend(record);
        self.events += 1;
        Ok(())
    }

    fn begin_chunk(&mut self) {
        self.chunk = Some(self.end());
        self.first = self.events + 1;
        self.time = None;
        self.waiting.chunk(self.first, 0);
    }

    /// Writes what waits, and which event of the chunk is the last one.
    fn close_chunk(&mut self, path: &Path) -> Result<()> {
        let Some(chunk) = self.chunk else {
            return Ok(());
        };
        self.spill(path)?;
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.seek(SeekFrom::Start(chunk + CHUNK_HEAD as u64 - 8))?;
        file.write_all(&self.events.to_le_bytes())
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn spill(&mut self, path: &Path) -> Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(path)?;
        file.write_all(&self.waiting.bytes)?;
        self.written += self.waiting.bytes.len() as u64;
        self.waiting.bytes = Vec::new();
        Ok(())
    }

    /// Writes all that is left, and the mark of the end.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(&mut self, path: &Path) -> Result<()> {
        if self.chunk.is_none() {
            self.begin_chunk();
        }
        self.waiting.end();
        self.close_chunk(path)
    }
}
