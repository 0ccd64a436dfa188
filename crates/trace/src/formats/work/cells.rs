//! Cells of columns, read in windows: whatever a batch's size, little of it is in memory.

use super::arrow::Whole;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Rows of a window.
const WINDOW: u64 = 1 << 13;
/// Most bytes of a word: no name that is known is longer.
pub const LONGEST_WORD: u64 = 64;
/// Bytes of texts that are read at a time.
const TEXT: u64 = 1 << 16;

/// Bytes of a file at a place.
pub fn bytes(file: &File, place: u64, length: u64, out: &mut Vec<u8>) -> Result<(), String> {
    out.resize(length as usize, 0);
    file.read_exact_at(out, place)
        .map_err(|error| format!("it cannot be read: {error}"))
}

/// A piece of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSpan {
    /// Its first byte.
    pub place: u64,
    /// Bytes.
    pub length: u64,
}

/// Which cells are there.
#[derive(Default)]
pub struct There {
    /// Bits; without them all are there.
    span: Option<FileSpan>,
    rows: u64,
    first: u64,
    window: Vec<u8>,
}

impl There {
    /// The bits at a place for so many rows of which some are empty, or why there are none.
    pub fn new(span: FileSpan, rows: u64, empty: u64) -> Result<There, String> {
        if empty > 0 && span.length < rows.div_ceil(8) {
            return Err("the bits that say which cells are empty are too few".into());
        }
        Ok(There {
            span: (empty > 0).then_some(span),
            rows,
            ..There::default()
        })
    }

    /// Whether a cell is there.
    #[inline]
    pub fn at(&mut self, file: &File, row: u64) -> Result<bool, String> {
        let Some(span) = self.span else { return Ok(true) };
        if row < self.first || row >= self.first + 8 * self.window.len() as u64 {
            self.first = row & !7;
            let length = (self.rows - self.first).min(8 * WINDOW).div_ceil(8);
            bytes(file, span.place + self.first / 8, length, &mut self.window)?;
        }
        let bit = row - self.first;
        Ok(self.window[(bit / 8) as usize] >> (bit % 8) & 1 == 1)
    }
}

/// Whole numbers, none of them beyond a most.
pub struct Numbers {
    there: There,
    whole: Whole,
    span: FileSpan,
    count: u64,
    most: u64,
    first: u64,
    window: Vec<u64>,
    raw: Vec<u8>,
}

/// What stands in a window for a number that is negative or too large: it may be in a cell that is empty.
const BAD: u64 = u64::MAX;

impl Numbers {
    /// So many numbers at a place, or that they are too few.
    pub fn new(there: There, whole: Whole, span: FileSpan, count: u64, most: u64) -> Result<Numbers, String> {
        let needed = count.checked_mul(whole.width as u64);
        if needed.is_none_or(|needed| span.length < needed) {
            return Err(format!(
                "{count} numbers of {} bytes are not in {} bytes",
                whole.width, span.length
            ));
        }
        Ok(Numbers {
            there,
            whole,
            span,
            count,
            most,
            first: 0,
            window: Vec::new(),
            raw: Vec::new(),
        })
    }

    /// Reads a window that begins at a row and has `length` rows at least, as far as there are any.
    fn fill(&mut self, file: &File, row: u64, length: u64) -> Result<(), String> {
        let count = (self.count - row).min(length.max(WINDOW));
        let width = self.whole.width;
        bytes(
            file,
            self.span.place + row * width as u64,
            count * width as u64,
            &mut self.raw,
        )?;
        self.first = row;
        self.window.clear();
        let most = self.most;
        let sign = if self.whole.signed { 1_u64 << (8 * width - 1) } else { 0 };
        let number = |raw: &[u8]| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(raw);
            let number = u64::from_le_bytes(word);
            if number & sign != 0 || number > most {
                BAD
            } else {
                number
            }
        };
        self.window.extend(self.raw.chunks_exact(width).map(number));
        Ok(())
    }

    /// A cell, none where it is empty, or what is wrong with it.
    #[inline]
    pub fn at(&mut self, file: &File, row: u64) -> Result<Option<u64>, String> {
        if row < self.first || row >= self.first + self.window.len() as u64 {
            if row >= self.count {
                return Err(format!("row {row} of {} rows", self.count));
            }
            self.fill(file, row, 1)?;
        }
        if !self.there.at(file, row)? {
            return Ok(None);
        }
        match self.window[(row - self.first) as usize] {
            BAD if self.most < BAD || self.is_negative(file, row)? => {
                Err(format!("a number that is negative or above {}", self.most))
            }
            number => Ok(Some(number)),
        }
    }

    /// Whether a number of a window is negative, where the greatest number is allowed.
    fn is_negative(&self, file: &File, row: u64) -> Result<bool, String> {
        let width = self.whole.width as u64;
        let mut last = Vec::new();
        bytes(file, self.span.place + row * width + width - 1, 1, &mut last)?;
        Ok(self.whole.signed && last[0] & 0x80 != 0)
    }

    /// Appends the numbers from one row to another.
    fn range(&mut self, file: &File, rows: std::ops::Range<u64>, out: &mut Vec<u64>) -> Result<(), String> {
        // A long list is read in pieces, and grows with what the file has.
        for row in rows {
            match self.at(file, row)? {
                Some(number) => out.push(number),
                None => return Err("a list with an empty item".into()),
            }
        }
        Ok(())
    }
}

/// Where the items or texts of each row end.
fn ends(numbers: &mut Numbers, file: &File, row: u64) -> Result<std::ops::Range<u64>, String> {
    let place = |numbers: &mut Numbers, row| numbers.at(file, row).map(Option::unwrap_or_default);
    let (begin, end) = (place(numbers, row)?, place(numbers, row + 1)?);
    match begin <= end {
        true => Ok(begin..end),
        false => Err("a list that ends before it begins".into()),
    }
}

/// Texts that are words.
pub struct WordCells {
    there: There,
    places: Numbers,
    span: FileSpan,
    first: u64,
    window: Vec<u8>,
}

impl WordCells {
    /// Texts with the places between them, whose greatest is within the texts.
    pub fn new(there: There, places: Numbers, span: FileSpan) -> WordCells {
        WordCells {
            there,
            places,
            span,
            first: 0,
            window: Vec::new(),
        }
    }

    /// A word, none where the cell is empty.
    pub fn at(&mut self, file: &File, row: u64) -> Result<Option<&str>, String> {
        if !self.there.at(file, row)? {
            return Ok(None);
        }
        let range = ends(&mut self.places, file, row)?;
        if range.end - range.start > LONGEST_WORD {
            return Err(format!("a word of more than {LONGEST_WORD} bytes"));
        }
        if range.start < self.first || range.end > self.first + self.window.len() as u64 {
            self.first = range.start;
            let length = (self.span.length - range.start).min(TEXT);
            bytes(file, self.span.place + range.start, length, &mut self.window)?;
        }
        let word = &self.window[(range.start - self.first) as usize..(range.end - self.first) as usize];
        let word = std::str::from_utf8(word).map_err(|_| "a text that is not UTF-8".to_owned())?;
        Ok(Some(word))
    }
}

/// Lists of numbers.
pub struct ListCells {
    there: There,
    places: Numbers,
    items: Option<Numbers>,
}

impl ListCells {
    /// Lists with the places between them; without items all have to be empty.
    pub fn new(there: There, places: Numbers, items: Option<Numbers>) -> ListCells {
        ListCells { there, places, items }
    }

    /// The items of a row's list.
    pub fn at(&mut self, file: &File, row: u64, out: &mut Vec<u64>) -> Result<(), String> {
        out.clear();
        if !self.there.at(file, row)? {
            return Ok(());
        }
        let range = ends(&mut self.places, file, row)?;
        match &mut self.items {
            Some(items) => items.range(file, range, out),
            None if range.is_empty() => Ok(()),
            None => Err("a list with an empty item".into()),
        }
    }
}

/// A column of a batch.
pub enum Cells {
    /// Every cell is empty.
    Empty,
    /// Numbers.
    Numbers(Numbers),
    /// Words by their numbers, with what each of them is; none for one that is not known.
    Known(Numbers, Vec<Option<u64>>),
    /// Words.
    Words(WordCells),
    /// Lists.
    CollectedOperation(ListCells),
}
