//! The chunks of a file of events or definitions, one in memory at a time.

use super::fields::{ByteOrder, FieldFault, FieldReader};
use crate::problem::Problem;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Ends a chunk, and fills what is left of it.
pub const END_OF_CHUNK: u8 = 0;
/// The same, in a file that is buffered.
pub const END_OF_BUFFER: u8 = 1;
/// Ends a file.
pub const END_OF_FILE: u8 = 2;
/// What to do with a file that is cut or damaged.
pub const DAMAGED: &str = "the file is damaged or cut: copy it again, or record it anew";

/// Reads a file chunk by chunk.
pub struct ChunkReader {
    file: File,
    name: String,
    /// Bytes of a chunk, those of the last one excepted.
    size: u64,
    /// Bytes of the file that have not been read.
    left: u64,
    read: u64,
    bytes: Vec<u8>,
    at: usize,
    order: ByteOrder,
    ended: bool,
}

impl ChunkReader {
    /// Opens a file whose chunks have `size` bytes.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open(path: &Path, size: u64) -> Result<ChunkReader, Problem> {
        let name = path.display().to_string();
        let cannot = |error: std::io::Error| Problem::unreadable(&name, &error);
        // A named pipe would be opened for ever.
        let about = std::fs::metadata(path).map_err(cannot)?;
        if !about.is_file() {
            return Err(Problem::new(&name, "it is not a file", ""));
        }
        let file = File::open(path).map_err(cannot)?;
        Ok(ChunkReader {
            file,
            size,
            left: about.len(),
            read: 0,
            bytes: Vec::new(),
            at: 0,
            order: ByteOrder::Little,
            ended: false,
            name,
        })
    }

    /// The file, as messages name it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that have been read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Something wrong with the file at the place that has been reached.
    pub fn wrong(&self, FieldFault(reason): FieldFault) -> Problem {
        Problem::new(&self.name, reason, DAMAGED)
    }

    /// Reads the next record: `read` is given its number and what follows, and leaves the place behind it. `None` at the end of the file.
    ///
    /// # Errors
    /// What `read` says, and a file that ends without its mark or has no chunk where one should be.
    #[inline]
    pub fn record<T>(
        &mut self,
        mut read: impl FnMut(u8, &mut FieldReader<'_>) -> Result<T, FieldFault>,
    ) -> Result<Option<T>, Problem> {
        loop {
            if self.ended {
                return Ok(None);
            }
            let mut fields = FieldReader::new(&self.bytes, self.at, self.order);
            let id = fields.u8().unwrap_or(END_OF_CHUNK);
            match id {
                END_OF_CHUNK | END_OF_BUFFER => self.next_chunk()?,
                END_OF_FILE => self.ended = true,
                _ => {
                    let told = read(id, &mut fields);
                    self.at = fields.at();
                    return told.map(Some).map_err(|fault| self.wrong(fault));
                }
            }
        }
    }

    fn next_chunk(&mut self) -> Result<(), Problem> {
        if self.left == 0 {
            return Err(self.wrong(FieldFault("it ends without the mark of its end")));
        }
        let size = self.size.min(self.left);
        self.bytes.resize(size as usize, 0);
        let filled = self.file.read_exact(&mut self.bytes);
        filled.map_err(|error| Problem::unreadable(&self.name, &error))?;
        self.left -= size;
        self.read += size;
        let head = FieldReader::begin(&self.bytes).and_then(|mut fields| {
            // Numbers of the first and the last record: files of definitions leave them 0.
            fields.u64_whole()?;
            fields.u64_whole()?;
            Ok((fields.at(), fields.order()))
        });
        (self.at, self.order) = head.map_err(|fault| self.wrong(fault))?;
        Ok(())
    }
}
