//! Reading: what stands at the end of a file, its seal, then batch after batch.

use super::arrow::{self, ColumnType, FileBlock, Metadata, PREFIX, Rows};
use super::cells::{self, Cells, FileSpan, LONGEST_WORD, ListCells, Numbers, There, WordCells};
use super::columns::{self, COLUMNS, Storage, WorkColumn};
use super::flat::{Damaged, FlatTable};
use super::seal::{BLANK, Hash};
use super::text;
use crate::header::TraceHeader;
use crate::operation::{Kind, Lists, NONE};
use crate::problem::{Problem, ReadStop, hint_of};
use crate::sink::TraceReader;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

/// What to do about a file that is not what was written.
const AGAIN: &str = "it was cut or changed: write it again";
/// Operations between two looks at whether the user wants it to end.
const TICK: u64 = 1 << 13;
/// Bytes that are read at a time for a digest.
const PIECE: u64 = 1 << 20;
/// Most words of a dictionary.
const MOST_WORDS: u64 = 1 << 12;

/// What is wrong and what to do; the file is added where it is told.
type Wrong = (String, String);

fn wrong<T>(reason: impl Into<String>, hint: &str) -> Result<T, Wrong> {
    Err((reason.into(), hint.to_owned()))
}

fn again(reason: String) -> Wrong {
    (reason, AGAIN.to_owned())
}

fn damaged(what: &str) -> impl Fn(Damaged) -> Wrong + '_ {
    move |_| again(format!("{what} is damaged"))
}

/// Reads a file.
pub fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    let name = path.display().to_string();
    let tell = |(reason, hint): Wrong| ReadStop::Broken(Problem::new(&name, reason, hint));
    let file = WorkFile::open(path).map_err(tell)?;
    let types = file.types().map_err(tell)?;
    reader.progress.all = file.length;
    if file.sealed().map_err(tell)? {
        file.verify_rest().map_err(tell)?;
    }
    let dictionaries = file.dictionaries(&types).map_err(tell)?;
    let rows = file.rows().map_err(tell)?;
    let (mut header, names) = file.header(rows).map_err(tell)?;
    if header.files.is_empty() {
        header.files = vec![name.clone()];
    }
    reader.begin(&header)?;
    let mut before = 0;
    for i in 0..file.records.len() {
        file.verify_batch(i, reader, &tell)?;
        let batch = file.batch(i, &types, &dictionaries).map_err(tell)?;
        let count = batch.rows;
        let taker = Taker {
            file: &file.file,
            name: &name,
            header: &header,
            regions: names.len(),
            before,
        };
        taker.take(batch, reader)?;
        before += count;
        reader.progress.done = file.records[i].end().unwrap_or(file.length);
    }
    reader.tick()?;
    reader.end(&names)
}

/// A file whose end has been read.
struct WorkFile {
    file: File,
    length: u64,
    /// The table at the end.
    footer: Vec<u8>,
    footer_at: u64,
    words: Vec<FileBlock>,
    records: Vec<FileBlock>,
    schema: Metadata,
    metadata: Metadata,
    /// Where the seal stands in the file, if it has one.
    seal: Option<u64>,
}

impl WorkFile {
    fn open(path: &Path) -> Result<WorkFile, Wrong> {
        let cannot = |error: std::io::Error| (format!("it cannot be read: {error}"), hint_of(&error).to_owned());
        if !std::fs::metadata(path).map_err(cannot)?.is_file() {
            return wrong("it is not a file", "give a file of recorded work");
        }
        let file = File::open(path).map_err(cannot)?;
        let length = file.metadata().map_err(cannot)?.len();
        let magic = arrow::MAGIC.len() as u64;
        // Magic and two bytes at the begin, length of the table and magic at the end.
        let least = magic + 2 + 4 + magic;
        if length < least {
            return Err(again(format!("it ends after {length} bytes")));
        }
        let (mut begin, mut end) = (Vec::new(), Vec::new());
        cells::bytes(&file, 0, magic, &mut begin).map_err(again)?;
        cells::bytes(&file, length - magic - 4, magic + 4, &mut end).map_err(again)?;
        if begin != arrow::MAGIC {
            let packed = "unpack it: rows of a packed file cannot be found";
            return wrong("it does not begin with ARROW1", packed);
        }
        if end[4..] != *arrow::MAGIC {
            return Err(again("its end is missing".into()));
        }
        let size = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        if size > length - least {
            return Err(again(format!(
                "its end is to have {size} bytes, and it has {length} in all"
            )));
        }
        let footer_at = length - magic - 4 - size;
        let mut footer = Vec::new();
        cells::bytes(&file, footer_at, size, &mut footer).map_err(again)?;
        WorkFile::of_footer(file, length, footer, footer_at)
    }

    fn of_footer(file: File, length: u64, footer: Vec<u8>, footer_at: u64) -> Result<WorkFile, Wrong> {
        let at = damaged("the table at its end");
        let table = FlatTable::root(&footer).map_err(&at)?;
        let version = table.i16(0).map_err(&at)?;
        if !arrow::VERSIONS.contains(&version) {
            return wrong(
                format!("its metadata are of version {version} of Arrow's"),
                "write it with version 5, which is 4 in the file",
            );
        }
        let schema = match table.table(1).map_err(&at)? {
            Some(schema) if schema.i16(0).map_err(&at)? == 0 => schema,
            Some(_) => return wrong("its numbers are big-endian", "write it on a little-endian machine"),
            None => return Err(again("it has no schema".into())),
        };
        let plain = |all: Vec<(String, usize, String)>| all.into_iter().map(|(key, _, value)| (key, value)).collect();
        let told = arrow::metadata(&table, 4).map_err(&at)?;
        let seal = told.iter().find(|(key, ..)| key == text::SEAL);
        let seal = seal.map(|(_, place, _)| footer_at + *place as u64);
        let work = WorkFile {
            words: arrow::blocks(&table, 2).map_err(&at)?,
            records: arrow::blocks(&table, 3).map_err(&at)?,
            schema: plain(arrow::metadata(&schema, 2).map_err(&at)?),
            metadata: plain(told),
            seal,
            file,
            length,
            footer,
            footer_at,
        };
        work.check_version()?;
        work.check_places()?;
        Ok(work)
    }

    fn check_version(&self) -> Result<(), Wrong> {
        let Some(version) = text::value(&self.schema, text::VERSION_KEY) else {
            let hint = format!("set `{}` in the metadata of its schema", text::VERSION_KEY);
            return wrong("it is an Arrow file, and not one of recorded work", &hint);
        };
        match version.parse::<u32>() {
            Ok(1..=text::VERSION) => Ok(()),
            Ok(newer @ 2..) => wrong(
                format!(
                    "it is of version {newer} of the format, and versions up to {} are known",
                    text::VERSION
                ),
                "read it with a newer fabricsim",
            ),
            _ => Err(again(format!("{version:?} is no version of the format"))),
        }
    }

    /// Batches come one after the other, all before the end: each row is read once.
    fn check_places(&self) -> Result<(), Wrong> {
        let mut before = 0;
        for block in self.words.iter().chain(&self.records) {
            let end = block.end().filter(|end| *end <= self.footer_at);
            match end {
                Some(end) if block.offset >= before && block.head >= PREFIX as u64 => before = end,
                _ => return Err(again(format!("a batch is to be at byte {}", block.offset))),
            }
        }
        Ok(())
    }

    /// The columns of the file in its order.
    fn types(&self) -> Result<Vec<(WorkColumn, ColumnType)>, Wrong> {
        let at = damaged("its schema");
        let table = FlatTable::root(&self.footer).map_err(&at)?;
        let schema = table.table(1).map_err(&at)?.ok_or(Damaged).map_err(&at)?;
        let mut found: Vec<(WorkColumn, ColumnType)> = Vec::new();
        for (name, kind) in arrow::columns(&schema).map_err(&at)? {
            let Some((column, _, storage, _)) = COLUMNS.iter().find(|(_, known, ..)| *known == name) else {
                let known: Vec<&str> = COLUMNS.iter().map(|(_, name, ..)| *name).collect();
                return wrong(
                    format!("there is no column `{name}`"),
                    &format!("columns are {}", known.join(", ")),
                );
            };
            let (fits, wanted) = match storage {
                Storage::Number(_) => (
                    matches!(kind, Some(ColumnType::Whole(_) | ColumnType::Null)),
                    "whole numbers".to_owned(),
                ),
                Storage::Words => (
                    matches!(
                        kind,
                        Some(ColumnType::Text(_) | ColumnType::Dictionary(..) | ColumnType::Null)
                    ),
                    "texts, or a dictionary of texts".to_owned(),
                ),
                Storage::Lists(width) => (
                    matches!(kind, Some(ColumnType::List(..) | ColumnType::Null)),
                    format!("lists of whole numbers, such as list(uint{})", 8 * width),
                ),
            };
            match kind {
                Some(kind) if fits => found.push((*column, kind)),
                _ => {
                    return wrong(
                        format!("column `{name}` has a type that it cannot have"),
                        &format!("cast it to {wanted}"),
                    );
                }
            }
            if found.iter().filter(|(other, _)| other == column).count() > 1 {
                return wrong(format!("column `{name}` is there twice"), "keep one of them");
            }
        }
        for needed in [WorkColumn::Rank, WorkColumn::Kind] {
            let there = found
                .iter()
                .any(|(column, kind)| *column == needed && *kind != ColumnType::Null);
            if !there {
                let name = COLUMNS[needed as usize].1;
                return wrong(format!("column `{name}` is missing"), "each row needs it");
            }
        }
        Ok(found)
    }

    /// The table of a message at a block, of the kind that it has to have.
    fn message(&self, block: &FileBlock, kind: u8) -> Result<Vec<u8>, Wrong> {
        let what = format!("the batch at byte {}", block.offset);
        let mut head = Vec::new();
        cells::bytes(&self.file, block.offset, block.head, &mut head).map_err(again)?;
        let bytes = head.split_off(PREFIX);
        if head[..4] != arrow::CONTINUATION.to_le_bytes() {
            return Err(again(format!("{what} does not begin as one")));
        }
        let at = damaged(&what);
        let table = FlatTable::root(&bytes).map_err(&at)?;
        let (found, body) = (table.u8(1).map_err(&at)?, table.i64(3).map_err(&at)?);
        if found != kind || u64::try_from(body) != Ok(block.body) {
            return Err(again(format!("{what} is not what the table at its end says")));
        }
        Ok(bytes)
    }

    /// The words of each dictionary of a column.
    fn dictionaries(&self, types: &[(WorkColumn, ColumnType)]) -> Result<HashMap<i64, Vec<String>>, Wrong> {
        let mut all: HashMap<i64, Vec<String>> = HashMap::new();
        for block in &self.words {
            let at = damaged("a dictionary");
            let bytes = self.message(block, arrow::DICTIONARY)?;
            let table = FlatTable::root(&bytes).and_then(|table| table.table(2)).map_err(&at)?;
            let table = table.ok_or(Damaged).map_err(&at)?;
            let id = table.i64(0).map_err(&at)?;
            let width = types.iter().find_map(|(_, kind)| match kind {
                ColumnType::Dictionary(of, _, width) if *of == id => Some(*width),
                _ => None,
            });
            let Some(width) = width else { continue };
            let rows = table.table(1).map_err(&at)?.ok_or(Damaged).map_err(&at)?;
            let rows = Rows::of(&rows).map_err(&at)?;
            let words = self.dictionary(block, &rows, width)?;
            let told = all.entry(id).or_default();
            if table.u8(2).map_err(&at)? == 0 {
                told.clear();
            }
            told.extend(words);
            if told.len() as u64 > MOST_WORDS {
                return Err(again(format!("a dictionary has {} words", told.len())));
            }
        }
        Ok(all)
    }

    fn dictionary(&self, block: &FileBlock, rows: &Rows, width: usize) -> Result<Vec<String>, Wrong> {
        if rows.packed {
            return packed();
        }
        if rows.rows > MOST_WORDS {
            return Err(again(format!("a dictionary has {} words", rows.rows)));
        }
        let mut pieces = Pieces::new(block, rows);
        let (there, places, texts) = (pieces.next()?, pieces.next()?, pieces.next()?);
        let read = || {
            let empty = rows.nodes.first().map_or(0, |(_, empty)| *empty);
            let places = offsets(places, width, rows.rows, texts.length)?;
            let mut words = WordCells::new(There::new(there, rows.rows, empty)?, places, texts);
            let mut word = |row| {
                words
                    .at(&self.file, row)
                    .map(|word| word.unwrap_or_default().to_owned())
            };
            (0..rows.rows).map(&mut word).collect::<Result<_, String>>()
        };
        read().map_err(|reason| again(format!("a dictionary has {reason}")))
    }

    /// What is where in a batch.
    fn layout(&self, block: &FileBlock) -> Result<Rows, Wrong> {
        let at = damaged("a batch");
        let bytes = self.message(block, arrow::RECORDS)?;
        let table = FlatTable::root(&bytes).and_then(|table| table.table(2)).map_err(&at)?;
        let rows = Rows::of(&table.ok_or(Damaged).map_err(&at)?).map_err(&at)?;
        match rows.packed {
            true => packed(),
            false => Ok(rows),
        }
    }

    /// Rows of all batches.
    fn rows(&self) -> Result<u64, Wrong> {
        let mut all: u64 = 0;
        for block in &self.records {
            all = all.saturating_add(self.layout(block)?.rows);
        }
        Ok(all)
    }

    /// A batch with its columns.
    fn batch(
        &self,
        i: usize,
        types: &[(WorkColumn, ColumnType)],
        dictionaries: &HashMap<i64, Vec<String>>,
    ) -> Result<Batch, Wrong> {
        let block = &self.records[i];
        let rows = self.layout(block)?;
        let mut pieces = Pieces::new(block, &rows);
        let mut columns = Vec::new();
        for &(column, kind) in types {
            let words = match kind {
                ColumnType::Dictionary(id, ..) => dictionaries.get(&id).map_or(&[][..], Vec::as_slice),
                _ => &[],
            };
            columns.push((column, pieces.column(column, kind, words)?));
        }
        Ok(Batch {
            rows: rows.rows,
            columns,
        })
    }

    /// The header and the names of regions.
    fn header(&self, rows: u64) -> Result<(TraceHeader, Vec<String>), Wrong> {
        let plain = |reason| (reason, "see docs/reference/work-format.md".to_owned());
        let header = text::header(&self.schema, rows).map_err(plain)?;
        let mut names = text::json(&self.metadata, text::REGIONS).map_err(plain)?;
        if names.is_none() {
            names = text::json(&self.schema, text::REGIONS).map_err(plain)?;
        }
        if let Some(told) = text::json::<u64>(&self.metadata, text::OPERATIONS).map_err(plain)?
            && told != rows
        {
            return Err(again(format!("it is to have {told} operations, and it has {rows}")));
        }
        Ok((header, names.unwrap_or_default()))
    }

    /// Whether it has a seal. What only sealed files have does not stand alone.
    fn sealed(&self) -> Result<bool, Wrong> {
        let told = |key| text::value(&self.metadata, key).is_some();
        let marked = self.marked()?;
        match (told(text::SEAL), told(text::BATCHES), told(text::OPERATIONS), marked) {
            (true, true, true, true) => Ok(true),
            (false, false, false, false) => Ok(false),
            _ => Err(again("a part of its seal is missing".into())),
        }
    }

    /// Whether the first message says that there is a seal.
    fn marked(&self) -> Result<bool, Wrong> {
        let begin = arrow::MAGIC.len() as u64 + 2;
        let mut size = Vec::new();
        cells::bytes(&self.file, begin, PREFIX as u64, &mut size).map_err(again)?;
        let length = u64::from(u32::from_le_bytes([size[4], size[5], size[6], size[7]]));
        let block = FileBlock {
            offset: begin,
            head: PREFIX as u64 + length,
            body: 0,
        };
        if block.end().is_none_or(|end| end > self.footer_at) {
            return Err(again("its schema is to be longer than the file".into()));
        }
        let bytes = self.message(&block, arrow::SCHEMA)?;
        let table = FlatTable::root(&bytes).and_then(|table| arrow::metadata(&table, 4));
        let pairs = table.map_err(damaged("its schema"))?;
        Ok(pairs.iter().any(|(key, ..)| key == text::SEALED))
    }

    /// Verifies all that is in no batch.
    fn verify_rest(&self) -> Result<(), Wrong> {
        let mut hash = Hash::default();
        let mut place = 0;
        let mut piece = Vec::new();
        let mut take = |hash: &mut Hash, place: &mut u64, to: u64| -> Result<(), Wrong> {
            while *place < to {
                let length = (to - *place).min(PIECE);
                cells::bytes(&self.file, *place, length, &mut piece).map_err(again)?;
                hash.update(&piece);
                *place += length;
            }
            Ok(())
        };
        for block in &self.records {
            take(&mut hash, &mut place, block.offset)?;
            place = block.end().unwrap_or(self.length);
        }
        let told = text::value(&self.metadata, text::SEAL).unwrap_or_default();
        let seal = self.seal.unwrap_or(self.length);
        if told.len() == BLANK.len() {
            take(&mut hash, &mut place, seal)?;
            hash.update(BLANK.as_bytes());
            place = seal + BLANK.len() as u64;
            take(&mut hash, &mut place, self.length)?;
        }
        match hash.digits() == told {
            true => Ok(()),
            false => Err(again("its seal is not that of its content".into())),
        }
    }

    /// Verifies a batch, if the file has a seal.
    fn verify_batch(
        &self,
        i: usize,
        reader: &mut TraceReader<'_>,
        tell: &impl Fn(Wrong) -> ReadStop,
    ) -> Result<(), ReadStop> {
        let Some(digests) = text::value(&self.metadata, text::BATCHES) else {
            return Ok(());
        };
        let block = &self.records[i];
        let (mut hash, mut piece) = (Hash::default(), Vec::new());
        let (mut place, end) = (block.offset, block.end().unwrap_or(self.length));
        while place < end {
            let length = (end - place).min(PIECE);
            cells::bytes(&self.file, place, length, &mut piece)
                .map_err(again)
                .map_err(tell)?;
            hash.update(&piece);
            place += length;
            reader.tick()?;
        }
        let told = digests.get(i * BLANK.len()..(i + 1) * BLANK.len());
        let whole = digests.len() == self.records.len() * BLANK.len();
        match whole && told == Some(hash.digits().as_str()) {
            true => Ok(()),
            false => Err(tell(again(format!("batch {i} is not what was written")))),
        }
    }
}

fn packed<T>() -> Result<T, Wrong> {
    wrong("its batches are packed", "write it without compression")
}

/// Places between lists or texts: one more than rows, none beyond the end. Without rows there may be none.
fn offsets(span: FileSpan, width: usize, rows: u64, most: u64) -> Result<Numbers, String> {
    let count = if rows == 0 { 0 } else { rows + 1 };
    let whole = arrow::Whole { width, signed: true };
    Numbers::new(There::default(), whole, span, count, most)
}

/// The columns of a batch.
struct Batch {
    rows: u64,
    columns: Vec<(WorkColumn, Cells)>,
}

/// The nodes and pieces of a batch, column after column.
struct Pieces<'a> {
    block: &'a FileBlock,
    rows: &'a Rows,
    node: usize,
    piece: usize,
}

impl<'a> Pieces<'a> {
    fn new(block: &'a FileBlock, rows: &'a Rows) -> Pieces<'a> {
        Pieces {
            block,
            rows,
            node: 0,
            piece: 0,
        }
    }

    /// The next piece of the body.
    fn next(&mut self) -> Result<FileSpan, Wrong> {
        let piece = self.rows.pieces.get(self.piece).copied().unwrap_or_default();
        self.piece += 1;
        let end = piece.offset.checked_add(piece.length);
        match end.is_some_and(|end| end <= self.block.body) {
            true => Ok(FileSpan {
                place: self.block.offset + self.block.head + piece.offset,
                length: piece.length,
            }),
            false => Err(again("a column is to be beyond the end of its batch".into())),
        }
    }

    /// The next node's rows and empty cells.
    fn node(&mut self) -> (u64, u64) {
        self.node += 1;
        self.rows.nodes.get(self.node - 1).copied().unwrap_or_default()
    }

    /// The next column.
    fn column(&mut self, column: WorkColumn, kind: ColumnType, words: &[String]) -> Result<Cells, Wrong> {
        let (_, name, storage, _) = COLUMNS[column as usize];
        let (rows, empty) = self.node();
        if rows != self.rows.rows {
            return Err(again(format!("column `{name}` has {rows} of {} rows", self.rows.rows)));
        }
        if kind == ColumnType::Null {
            return Ok(Cells::Empty);
        }
        let bits = self.next()?;
        let most = match storage {
            Storage::Number(width) | Storage::Lists(width) => u64::MAX >> (64 - 8 * width),
            Storage::Words => u64::MAX,
        };
        let place = self.next()?;
        let found = match kind {
            ColumnType::Null => Ok(Cells::Empty),
            ColumnType::Whole(whole) => There::new(bits, rows, empty)
                .and_then(|there| Numbers::new(there, whole, place, rows, most))
                .map(Cells::Numbers),
            ColumnType::Dictionary(_, whole, _) => There::new(bits, rows, empty)
                .and_then(|there| Numbers::new(there, whole, place, rows, most))
                .map(|numbers| Cells::Known(numbers, meanings(column, words))),
            ColumnType::Text(width) => {
                let texts = self.next()?;
                There::new(bits, rows, empty)
                    .and_then(|there| Ok((there, offsets(place, width, rows, texts.length)?)))
                    .map(|(there, places)| Cells::Words(WordCells::new(there, places, texts)))
            }
            ColumnType::List(width, items) => {
                let (count, gaps) = self.node();
                let items = match items {
                    Some(whole) => {
                        let (bits, place) = (self.next()?, self.next()?);
                        Some((whole, bits, place))
                    }
                    None => None,
                };
                There::new(bits, rows, empty).and_then(|there| {
                    let places = offsets(place, width, rows, count)?;
                    let numbers = |(whole, bits, place)| {
                        There::new(bits, count, gaps).and_then(|there| Numbers::new(there, whole, place, count, most))
                    };
                    let items = items.map(numbers).transpose()?;
                    Ok(Cells::CollectedOperation(ListCells::new(there, places, items)))
                })
            }
        };
        found.map_err(|reason| again(format!("column `{name}`: {reason}")))
    }
}

/// What the words of a column mean, none for those that mean nothing.
fn meanings(column: WorkColumn, words: &[String]) -> Vec<Option<u64>> {
    words.iter().map(|word| meaning(column, word)).collect()
}

fn meaning(column: WorkColumn, word: &str) -> Option<u64> {
    debug_assert!(
        columns::words(column)
            .iter()
            .all(|word| word.len() < LONGEST_WORD as usize)
    );
    let all = columns::words(column);
    all.iter().position(|known| *known == word).map(|at| at as u64)
}

/// Takes the operations of a batch.
struct Taker<'a> {
    file: &'a File,
    name: &'a str,
    header: &'a TraceHeader,
    /// Number of names of regions.
    regions: usize,
    /// Rows of the batches before.
    before: u64,
}

impl Taker<'_> {
    fn take(&self, mut batch: Batch, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let mut cells = [None; COLUMNS.len()];
        let (mut after, mut after_start, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut shorter, mut listed) = ([Vec::new(), Vec::new()], Vec::new());
        let begun = reader.progress.done;
        for row in 0..batch.rows {
            for (column, source) in &mut batch.columns {
                let lists = match column {
                    WorkColumn::After => &mut after,
                    WorkColumn::AfterStart => &mut after_start,
                    WorkColumn::Values => &mut values,
                    _ => &mut listed,
                };
                cells[*column as usize] = self.cell(*column, source, row, lists)?;
            }
            let place = |column: WorkColumn| cells[column as usize];
            let rank = self.rank(row, place(WorkColumn::Rank))?;
            let kind = place(WorkColumn::Kind).and_then(|number| Kind::ALL.get(number as usize));
            let Some(kind) = kind else {
                return Err(self.stop(row, "its kind is missing", "each row needs `rank` and `kind`"));
            };
            let operation = columns::operation(*kind, place);
            if operation.communicator as usize >= self.header.communicators.len() {
                let reason = format!(
                    "communicator {} of {}",
                    operation.communicator,
                    self.header.communicators.len()
                );
                return Err(self.stop(row, &reason, "list it in `communicators` of the metadata"));
            }
            if operation.region != NONE && operation.region as usize >= self.regions {
                let reason = format!("region {} of {} that have a name", operation.region, self.regions);
                return Err(self.stop(row, &reason, "list it in `regions` of the metadata"));
            }
            for (short, long) in shorter.iter_mut().zip([&after, &after_start]) {
                short.clear();
                short.extend(long.iter().map(|&number| number as u32));
            }
            let lists = Lists {
                after: &shorter[0],
                after_start: &shorter[1],
                values: &values,
            };
            let record = place(WorkColumn::Record).unwrap_or(self.before + row);
            reader.operation(rank, record, &operation, &lists)?;
            reader.progress.records += 1;
            if row % TICK == TICK - 1 {
                reader.tick()?;
            }
        }
        reader.progress.done = begun;
        reader.tick()
    }

    /// The cell of a row; a list goes into `lists`.
    fn cell(
        &self,
        column: WorkColumn,
        source: &mut Cells,
        row: u64,
        lists: &mut Vec<u64>,
    ) -> Result<Option<u64>, ReadStop> {
        let told = match source {
            Cells::Empty => Ok(None),
            Cells::Numbers(numbers) => numbers.at(self.file, row),
            Cells::Known(numbers, meanings) => match numbers.at(self.file, row) {
                Ok(Some(number)) => match meanings.get(number as usize) {
                    Some(Some(meaning)) => Ok(Some(*meaning)),
                    _ => Err(format!("word {number} of its dictionary is none of {}", known(column))),
                },
                other => other.map(|_| None),
            },
            Cells::Words(words) => match words.at(self.file, row) {
                Ok(Some(word)) => match meaning(column, word) {
                    Some(meaning) => Ok(Some(meaning)),
                    None => Err(format!("{word:?} is none of {}", known(column))),
                },
                other => other.map(|_| None),
            },
            Cells::CollectedOperation(listed) => listed.at(self.file, row, lists).map(|()| None),
        };
        let name = COLUMNS[column as usize].1;
        told.map_err(|reason| self.stop(row, &format!("column `{name}`: {reason}"), ""))
    }

    fn rank(&self, row: u64, told: Option<u64>) -> Result<u32, ReadStop> {
        match told {
            Some(rank) if rank < self.header.ranks.into() => Ok(rank as u32),
            Some(rank) => {
                let reason = format!("rank {rank} of {} ranks", self.header.ranks);
                Err(self.stop(row, &reason, "`ranks` of the metadata says how many there are"))
            }
            None => Err(self.stop(row, "its rank is missing", "each row needs `rank` and `kind`")),
        }
    }

    fn stop(&self, row: u64, reason: &str, hint: &str) -> ReadStop {
        ReadStop::Broken(Problem::new(self.name, reason, hint).at(self.before + row))
    }
}

fn known(column: WorkColumn) -> String {
    columns::words(column).join(", ")
}
