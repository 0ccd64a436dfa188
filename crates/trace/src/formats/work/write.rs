//! Writing: operations of any order of ranks become batches that are sorted by rank, in bounded memory.

use super::arrow::{self, ColumnType, FileBlock, Metadata, PREFIX, Piece, Rows, Whole};
use super::columns::{self, COLUMNS, Storage, WorkColumn};
use super::flat::{self, Fields};
use super::seal::{BLANK, Hash};
use super::text;
use crate::header::TraceHeader;
use crate::operation::{Lists, Operation};
use crate::partial::Partial;
use crate::problem::ReadStop;
use crate::sink::TraceSink;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Most operations that wait to be written: 50 MB.
const MOST_WAITING: usize = 1 << 19;
/// Most numbers in lists that wait: 32 MB.
const MOST_LISTED: usize = 1 << 22;
/// Most operations of a batch.
pub(super) const BATCH: usize = 1 << 16;
/// Most numbers in lists of a batch, if it has more than one operation.
const BATCH_LISTED: usize = 1 << 21;
/// Columns begin at multiples of this.
const ALIGNED: usize = 64;

/// An operation that waits.
struct Waiting {
    rank: u32,
    record: u64,
    operation: Operation,
    /// Where its lists begin, and how long they are.
    lists: usize,
    lengths: [u32; 3],
}

/// Writes a trace into a file of work, which appears when it is whole.
pub struct WorkWriter {
    partial: Partial,
    file: BufWriter<File>,
    /// Bytes that have been written.
    place: u64,
    header: Metadata,
    ranks: u32,
    waiting: Vec<Waiting>,
    listed: Vec<u64>,
    dictionaries: Vec<FileBlock>,
    batches: Vec<FileBlock>,
    /// The digest of each batch, one after the other.
    digests: String,
    /// Of all that is in no batch.
    rest: Hash,
    operations: u64,
}

impl WorkWriter {
    /// Begins a file. Until the trace has ended it has another name, beside the one that it will have.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn create(path: &Path) -> std::io::Result<WorkWriter> {
        let partial = Partial::create(path)?;
        Ok(WorkWriter {
            file: BufWriter::with_capacity(1 << 18, partial.file()?),
            partial,
            place: 0,
            header: Metadata::new(),
            ranks: 0,
            waiting: Vec::new(),
            listed: Vec::new(),
            dictionaries: Vec::new(),
            batches: Vec::new(),
            digests: String::new(),
            rest: Hash::default(),
            operations: 0,
        })
    }

    fn refused(&self, error: std::io::Error) -> ReadStop {
        ReadStop::Refused(format!("{} cannot be written: {error}", self.partial.path().display()))
    }

    /// Writes bytes that are in no batch.
    fn put(&mut self, bytes: &[u8]) -> Result<(), ReadStop> {
        self.rest.update(bytes);
        self.put_unhashed(bytes)
    }

    fn put_unhashed(&mut self, bytes: &[u8]) -> Result<(), ReadStop> {
        let written = self.file.write_all(bytes);
        self.place += bytes.len() as u64;
        written.map_err(|error| self.refused(error))
    }

    /// The bytes of a message before its body, which begins at a multiple of [`ALIGNED`].
    fn head(&self, message: &Fields) -> Vec<u8> {
        let mut table = flat::build(message);
        let end = |table: &[u8]| self.place as usize + PREFIX + table.len();
        while !end(&table).is_multiple_of(ALIGNED) {
            table.push(0);
        }
        let mut head = Vec::with_capacity(PREFIX + table.len());
        head.extend(arrow::CONTINUATION.to_le_bytes());
        head.extend((table.len() as u32).to_le_bytes());
        head.extend(table);
        head
    }

    fn schema(&self) -> Fields {
        arrow::schema(&types(), &self.header)
    }

    fn put_dictionaries(&mut self) -> Result<(), ReadStop> {
        for (column, ..) in COLUMNS.iter().filter(|(_, _, storage, _)| *storage == Storage::Words) {
            let words = columns::words(*column);
            let mut body = Body::default();
            let ends = words.iter().scan(0, |end, word| {
                *end += word.len() as u32;
                Some(*end)
            });
            let places: Vec<u8> = std::iter::once(0).chain(ends).flat_map(u32::to_le_bytes).collect();
            body.piece(&[]);
            body.piece(&places);
            body.piece(words.concat().as_bytes());
            body.rows.nodes.push((words.len() as u64, 0));
            body.rows.rows = words.len() as u64;
            let header = vec![
                (0, flat::FlatValue::I64(*column as i64)),
                (1, flat::FlatValue::Table(body.rows.fields())),
            ];
            let message = arrow::message(arrow::DICTIONARY, header, body.bytes.len() as u64);
            let (offset, head) = (self.place, self.head(&message));
            self.put(&head)?;
            self.put(&body.bytes)?;
            self.dictionaries.push(FileBlock {
                offset,
                head: head.len() as u64,
                body: body.bytes.len() as u64,
            });
        }
        Ok(())
    }

    /// Writes all that waits, sorted by rank.
    fn flush(&mut self) -> Result<(), ReadStop> {
        let mut waiting = std::mem::take(&mut self.waiting);
        // Operations of a rank stay in their order.
        waiting.sort_by_key(|waiting| waiting.rank);
        let mut rest = &waiting[..];
        while !rest.is_empty() {
            let mut listed = 0;
            let count = rest[..rest.len().min(BATCH)]
                .iter()
                .take_while(|waiting| {
                    listed += waiting.lengths.iter().map(|length| *length as usize).sum::<usize>();
                    listed <= BATCH_LISTED
                })
                .count();
            let (batch, later) = rest.split_at(count.max(1));
            self.put_batch(batch)?;
            rest = later;
        }
        waiting.clear();
        self.waiting = waiting;
        self.listed.clear();
        Ok(())
    }

    fn put_batch(&mut self, batch: &[Waiting]) -> Result<(), ReadStop> {
        let body = Body::of(batch, &self.listed);
        let message = arrow::message(arrow::RECORDS, body.rows.fields(), body.bytes.len() as u64);
        let (offset, head) = (self.place, self.head(&message));
        let mut hash = Hash::default();
        hash.update(&head);
        hash.update(&body.bytes);
        self.put_unhashed(&head)?;
        self.put_unhashed(&body.bytes)?;
        self.digests.push_str(&hash.digits());
        self.operations += batch.len() as u64;
        self.batches.push(FileBlock {
            offset,
            head: head.len() as u64,
            body: body.bytes.len() as u64,
        });
        Ok(())
    }

    /// Writes what stands at the end of a file, its seal with it.
    fn put_footer(&mut self, names: &[String]) -> Result<(), ReadStop> {
        let mut end = arrow::CONTINUATION.to_le_bytes().to_vec();
        end.extend([0; 4]);
        self.put(&end)?;
        let regions = serde_json::to_string(names).unwrap_or_default();
        let pairs = [
            (text::REGIONS, regions),
            (text::OPERATIONS, self.operations.to_string()),
            (text::BATCHES, std::mem::take(&mut self.digests)),
            (text::SEAL, BLANK.to_owned()),
        ];
        let metadata = pairs.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let seal_at = metadata.len() - 1;
        let footer = arrow::footer(self.schema(), &self.dictionaries, &self.batches, &metadata);
        let mut bytes = flat::build(&footer);
        bytes.extend((bytes.len() as u32).to_le_bytes());
        bytes.extend(arrow::MAGIC);
        self.rest.update(&bytes);
        let seal = std::mem::take(&mut self.rest).digits();
        let table = flat::FlatTable::root(&bytes).and_then(|footer| arrow::metadata(&footer, 4));
        let (_, place, _) = table.expect("what was built is whole")[seal_at];
        bytes[place..place + seal.len()].copy_from_slice(seal.as_bytes());
        self.put_unhashed(&bytes)
    }
}

impl TraceSink for WorkWriter {
    fn begin(&mut self, header: &TraceHeader) -> Result<(), ReadStop> {
        self.ranks = header.ranks;
        self.header = text::of_header(header);
        self.put(arrow::MAGIC)?;
        self.put(&[0; 2])?;
        let mut schema = arrow::message(arrow::SCHEMA, self.schema(), 0);
        let sealed = vec![(text::SEALED.to_owned(), String::new())];
        schema.push((4, arrow::metadata_fields(&sealed)));
        let head = self.head(&schema);
        self.put(&head)?;
        self.put_dictionaries()
    }

    fn operation(&mut self, rank: u32, record: u64, operation: &Operation, lists: &Lists<'_>) -> Result<(), ReadStop> {
        if rank >= self.ranks {
            return Err(ReadStop::Refused(format!(
                "an operation of rank {rank} of {} ranks",
                self.ranks
            )));
        }
        let begin = self.listed.len();
        self.listed.extend(lists.after.iter().copied().map(u64::from));
        self.listed.extend(lists.after_start.iter().copied().map(u64::from));
        self.listed.extend(lists.values);
        self.waiting.push(Waiting {
            rank,
            record,
            operation: *operation,
            lists: begin,
            lengths: [lists.after.len(), lists.after_start.len(), lists.values.len()].map(|length| length as u32),
        });
        match self.waiting.len() >= MOST_WAITING || self.listed.len() >= MOST_LISTED {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn end(&mut self, names: &[String]) -> Result<(), ReadStop> {
        self.flush()?;
        self.put_footer(names)?;
        let named = self.file.flush().and_then(|()| self.partial.finish());
        named.map_err(|error| self.refused(error))
    }
}

/// The types of all columns.
fn types() -> Vec<(&'static str, ColumnType, bool)> {
    let unsigned = |width| Whole { width, signed: false };
    let each = COLUMNS.iter().map(|(column, name, storage, empty)| {
        let kind = match storage {
            Storage::Number(width) => ColumnType::Whole(unsigned(*width)),
            Storage::Words => ColumnType::Dictionary(*column as i64, Whole { width: 1, signed: true }, 4),
            Storage::Lists(width) => ColumnType::List(4, Some(unsigned(*width))),
        };
        (*name, kind, *empty)
    });
    each.collect()
}

/// The body of a message.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    rows: Rows,
}

impl Body {
    /// The columns of a batch.
    fn of(batch: &[Waiting], listed: &[u64]) -> Body {
        let mut body = Body::default();
        body.rows.rows = batch.len() as u64;
        for (column, _, storage, _) in COLUMNS {
            match storage {
                Storage::Number(width) => body.cells(batch, column, width),
                Storage::Words => body.cells(batch, column, 1),
                Storage::Lists(width) => body.lists(batch, listed, column, width),
            }
        }
        body
    }

    /// Adds a piece; what follows is at a multiple of [`ALIGNED`] again.
    fn piece(&mut self, bytes: &[u8]) {
        let (offset, length) = (self.bytes.len() as u64, bytes.len() as u64);
        self.rows.pieces.push(Piece { offset, length });
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNED), 0);
    }

    /// Adds a node and the bits that say which cells are there; none where all are.
    fn node(&mut self, rows: usize, there: impl Iterator<Item = bool>) {
        let mut bits = vec![0; rows.div_ceil(8)];
        let mut count = 0;
        for (row, _) in there.enumerate().filter(|(_, there)| *there) {
            bits[row / 8] |= 1 << (row % 8);
            count += 1;
        }
        self.rows.nodes.push((rows as u64, (rows - count) as u64));
        self.piece(if count == rows { &[] } else { &bits });
    }

    fn cells(&mut self, batch: &[Waiting], column: WorkColumn, width: usize) {
        let cell = |waiting: &Waiting| match column {
            WorkColumn::Rank => Some(waiting.rank.into()),
            WorkColumn::Record => Some(waiting.record),
            _ => columns::cell(column, &waiting.operation),
        };
        self.node(batch.len(), batch.iter().map(|waiting| cell(waiting).is_some()));
        let mut bytes = Vec::with_capacity(batch.len() * width);
        for waiting in batch {
            bytes.extend(&cell(waiting).unwrap_or(0).to_le_bytes()[..width]);
        }
        self.piece(&bytes);
    }

    fn lists(&mut self, batch: &[Waiting], listed: &[u64], column: WorkColumn, width: usize) {
        let which = column as usize - WorkColumn::After as usize;
        let list = |waiting: &Waiting| {
            let before: u32 = waiting.lengths[..which].iter().sum();
            let begin = waiting.lists + before as usize;
            begin..begin + waiting.lengths[which] as usize
        };
        self.node(batch.len(), batch.iter().map(|waiting| !list(waiting).is_empty()));
        let (mut ends, mut items, mut count) = (vec![0; 4], Vec::new(), 0_u32);
        for waiting in batch {
            let values = &listed[list(waiting)];
            values
                .iter()
                .for_each(|value| items.extend(&value.to_le_bytes()[..width]));
            count += values.len() as u32;
            ends.extend(count.to_le_bytes());
        }
        self.piece(&ends);
        self.node(count as usize, std::iter::repeat_n(true, count as usize));
        self.piece(&items);
    }
}
