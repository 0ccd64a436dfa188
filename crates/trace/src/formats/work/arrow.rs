//! Arrow's metadata as far as the format needs them: schemas, where batches are in a file, and what is where in a batch.

use super::flat::{Damaged, Fields, FlatTable, FlatValue};

/// What a file begins and ends with.
pub const MAGIC: &[u8; 6] = b"ARROW1";
/// What a message begins with.
pub const CONTINUATION: u32 = u32::MAX;
/// Versions of the metadata that are read; the last is written.
pub const VERSIONS: std::ops::RangeInclusive<i16> = 3..=4;

/// Kinds of messages.
pub const SCHEMA: u8 = 1;
/// Words.
pub const DICTIONARY: u8 = 2;
/// Rows.
pub const RECORDS: u8 = 3;

const NULL: u8 = 1;
const INT: u8 = 2;
const TEXT: u8 = 5;
const LIST: u8 = 12;
const LARGE_TEXT: u8 = 20;
const LARGE_LIST: u8 = 21;

/// Whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of each.
    pub width: usize,
    /// Whether they may be negative.
    pub signed: bool,
}

/// What a column has, of that which can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Nothing: every cell is empty.
    Null,
    /// Numbers.
    Whole(Whole),
    /// Texts; the distances between them take so many bytes.
    Text(usize),
    /// Texts by their number in a dictionary of this name, in which the distances between them take so many bytes.
    Dictionary(i64, Whole, usize),
    /// Lists; the distances between them take so many bytes. Without numbers all are empty.
    List(usize, Option<Whole>),
}

/// Keys and values.
pub type Metadata = Vec<(String, String)>;

/// The fields of a list of keys and values.
pub fn metadata_fields(metadata: &Metadata) -> FlatValue {
    let each = metadata
        .iter()
        .map(|(key, value)| vec![(0, FlatValue::Text(key.clone())), (1, FlatValue::Text(value.clone()))]);
    FlatValue::Tables(each.collect())
}

/// Keys and values of a table's field, with the place of each value.
pub fn metadata(table: &FlatTable<'_>, field: usize) -> Result<Vec<(String, usize, String)>, Damaged> {
    let each = table.tables(field)?.into_iter().map(|pair| {
        let ((_, key), (place, value)) = (pair.text(0)?, pair.text(1)?);
        Ok((key.to_owned(), place, value.to_owned()))
    });
    each.collect()
}

fn whole_fields(whole: Whole) -> Fields {
    vec![
        (0, FlatValue::I32(8 * whole.width as i32)),
        (1, FlatValue::U8(whole.signed.into())),
    ]
}

fn field(name: &str, kind: ColumnType, empty: bool) -> Fields {
    let unsigned = |width| Whole { width, signed: false };
    let (number, fields, dictionary, items) = match kind {
        ColumnType::Null => (NULL, Vec::new(), None, None),
        ColumnType::Whole(whole) => (INT, whole_fields(whole), None, None),
        ColumnType::Text(4) => (TEXT, Vec::new(), None, None),
        ColumnType::Text(_) => (LARGE_TEXT, Vec::new(), None, None),
        ColumnType::Dictionary(id, whole, width) => {
            let number = if width == 4 { TEXT } else { LARGE_TEXT };
            (number, Vec::new(), Some((id, whole)), None)
        }
        ColumnType::List(width, items) => {
            let number = if width == 4 { LIST } else { LARGE_LIST };
            (number, Vec::new(), None, Some(items.unwrap_or(unsigned(1))))
        }
    };
    let children = items.map(|items| field("item", ColumnType::Whole(items), false));
    let mut all = vec![
        (0, FlatValue::Text(name.to_owned())),
        (1, FlatValue::U8(empty.into())),
        (2, FlatValue::U8(number)),
        (3, FlatValue::Table(fields)),
        (5, FlatValue::Tables(children.into_iter().collect())),
    ];
    if let Some((id, whole)) = dictionary {
        let encoding = vec![(0, FlatValue::I64(id)), (1, FlatValue::Table(whole_fields(whole)))];
        all.push((4, FlatValue::Table(encoding)));
    }
    all
}

/// A schema of columns: name, type, and whether cells may be empty.
pub fn schema(columns: &[(&str, ColumnType, bool)], metadata: &Metadata) -> Fields {
    let fields = columns.iter().map(|(name, kind, empty)| field(name, *kind, *empty));
    vec![
        (0, FlatValue::I16(0)),
        (1, FlatValue::Tables(fields.collect())),
        (2, metadata_fields(metadata)),
    ]
}

fn whole(table: &FlatTable<'_>) -> Result<Option<Whole>, Damaged> {
    let bits = table.i32(0)?;
    Ok(matches!(bits, 8 | 16 | 32 | 64).then_some(Whole {
        width: bits as usize / 8,
        signed: table.u8(1)? != 0,
    }))
}

/// The columns of a schema: name and type, none where it is one that is not read.
pub fn columns(schema: &FlatTable<'_>) -> Result<Vec<(String, Option<ColumnType>)>, Damaged> {
    let each = schema.tables(1)?.into_iter().map(|field| {
        let (_, name) = field.text(0)?;
        Ok((name.to_owned(), column(&field)?))
    });
    each.collect()
}

fn column(field: &FlatTable<'_>) -> Result<Option<ColumnType>, Damaged> {
    let number = field.u8(2)?;
    if let Some(encoding) = field.table(4)? {
        // What is not told are signed numbers of four bytes.
        let index = match encoding.table(1)? {
            Some(index) => whole(&index)?,
            None => Some(Whole { width: 4, signed: true }),
        };
        let width = match number {
            TEXT => 4,
            LARGE_TEXT => 8,
            _ => return Ok(None),
        };
        let id = encoding.i64(0)?;
        return Ok(index.map(|index| ColumnType::Dictionary(id, index, width)));
    }
    let plain = |field: &FlatTable<'_>| -> Result<Option<Option<Whole>>, Damaged> {
        Ok(match (field.u8(2)?, field.table(3)?, field.table(4)?) {
            (NULL, _, None) => Some(None),
            (INT, Some(kind), None) => whole(&kind)?.map(Some),
            _ => None,
        })
    };
    Ok(match number {
        TEXT => Some(ColumnType::Text(4)),
        LARGE_TEXT => Some(ColumnType::Text(8)),
        LIST | LARGE_LIST => {
            let width = if number == LIST { 4 } else { 8 };
            match field.tables(5)?.first() {
                Some(items) => plain(items)?.map(|items| ColumnType::List(width, items)),
                None => None,
            }
        }
        _ => plain(field)?.map(|whole| whole.map_or(ColumnType::Null, ColumnType::Whole)),
    })
}

/// A message with its header; its body is as long as told.
pub fn message(kind: u8, header: Fields, body: u64) -> Fields {
    vec![
        (0, FlatValue::I16(*VERSIONS.end())),
        (1, FlatValue::U8(kind)),
        (2, FlatValue::Table(header)),
        (3, FlatValue::I64(body as i64)),
    ]
}

/// How many bytes a message takes before its body: the mark, its length and its table.
pub const PREFIX: usize = 8;

/// A piece of a body: where it begins and how long it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, bytes from the begin of the body.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// Rows as they are in a body: a node for each column and each list's items, with rows and empty cells, and the pieces of all in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// How many rows.
    pub rows: u64,
    /// Rows and how many of them are empty.
    pub nodes: Vec<(u64, u64)>,
    /// Pieces of the body.
    pub pieces: Vec<Piece>,
    /// Whether pieces are packed.
    pub packed: bool,
}

impl Rows {
    /// Their table.
    pub fn fields(&self) -> Fields {
        let words = |pairs: Vec<(u64, u64)>| {
            let bytes = pairs.iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()]);
            FlatValue::Records(pairs.len() as u32, bytes.flatten().collect())
        };
        let pieces = self.pieces.iter().map(|piece| (piece.offset, piece.length));
        vec![
            (0, FlatValue::I64(self.rows as i64)),
            (1, words(self.nodes.clone())),
            (2, words(pieces.collect())),
        ]
    }

    /// Those of a table.
    pub fn of(table: &FlatTable<'_>) -> Result<Rows, Damaged> {
        let pairs = |field| -> Result<Vec<(u64, u64)>, Damaged> {
            let records = table.records(field, 16)?.chunks_exact(16);
            Ok(records.map(|record| (word(record, 0), word(record, 8))).collect())
        };
        let piece = |(offset, length)| Piece { offset, length };
        Ok(Rows {
            rows: table.i64(0)?.try_into().map_err(|_| Damaged)?,
            nodes: pairs(1)?,
            pieces: pairs(2)?.into_iter().map(piece).collect(),
            packed: table.table(3)?.is_some(),
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Where a message is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBlock {
    /// Its first byte.
    pub offset: u64,
    /// Bytes before its body.
    pub head: u64,
    /// Bytes of its body.
    pub body: u64,
}

impl FileBlock {
    /// The first byte after it, if there is such a number.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.head)?.checked_add(self.body)
    }
}

/// Bytes of a block in the list of blocks.
const BLOCK: usize = 24;

fn block_fields(blocks: &[FileBlock]) -> FlatValue {
    let bytes = blocks.iter().flat_map(|block| {
        [
            block.offset.to_le_bytes(),
            block.head.to_le_bytes(),
            block.body.to_le_bytes(),
        ]
    });
    FlatValue::Records(blocks.len() as u32, bytes.flatten().collect())
}

/// The table at the end of a file.
pub fn footer(schema: Fields, dictionaries: &[FileBlock], records: &[FileBlock], metadata: &Metadata) -> Fields {
    vec![
        (0, FlatValue::I16(*VERSIONS.end())),
        (1, FlatValue::Table(schema)),
        (2, block_fields(dictionaries)),
        (3, block_fields(records)),
        (4, metadata_fields(metadata)),
    ]
}

/// The blocks of a footer's field.
pub fn blocks(footer: &FlatTable<'_>, field: usize) -> Result<Vec<FileBlock>, Damaged> {
    let each = footer.records(field, BLOCK)?.chunks_exact(BLOCK).map(|record| {
        let block = FileBlock {
            offset: word(record, 0),
            // Four bytes of length and four that say nothing.
            head: word(record, 8) & u64::from(u32::MAX),
            body: word(record, 16),
        };
        Ok(block)
    });
    each.collect()
}
