//! What a table and its columns are.

use crate::results::figure::Measure;
use crate::results::run_result::RunResult;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// Small whole numbers.
    U8(Vec<u8>),
    /// Whole numbers.
    U32(Vec<u32>),
    /// Large ones.
    U64(Vec<u64>),
    /// Fractions.
    F64(Vec<f64>),
    /// Whole numbers some of which are not there.
    MaybeU32(Vec<Option<u32>>),
    /// Large ones.
    MaybeU64(Vec<Option<u64>>),
    /// Fractions some of which are not there.
    MaybeF64(Vec<Option<f64>>),
    /// Words of a few.
    Words(Vec<&'static str>),
    /// Names that the run knows, by their numbers in the list behind.
    Names(Vec<u32>, Vec<String>),
}

impl ColumnValues {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            ColumnValues::U8(values) => values.len(),
            ColumnValues::U32(values) => values.len(),
            ColumnValues::U64(values) => values.len(),
            ColumnValues::F64(values) => values.len(),
            ColumnValues::MaybeU32(values) => values.len(),
            ColumnValues::MaybeU64(values) => values.len(),
            ColumnValues::MaybeF64(values) => values.len(),
            ColumnValues::Words(values) => values.len(),
            ColumnValues::Names(values, _) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column of a table.
#[derive(Clone, Copy)]
pub struct TableColumn {
    /// Its name, with its unit.
    pub name: &'static str,
    /// What it is measured in.
    pub measure: Measure,
    /// Its name on an axis, without the unit.
    pub word: &'static str,
    /// What it is.
    pub line: &'static str,
    of: fn(&RunResult) -> ColumnValues,
}

impl TableColumn {
    /// Its values of a run.
    pub fn values(&self, run: &RunResult) -> ColumnValues {
        (self.of)(run)
    }
}

/// A table that a run may have.
#[derive(Clone, Copy)]
pub struct ResultTable {
    /// Its name; a campaign has all of its runs in `NAME.parquet`.
    pub name: &'static str,
    /// What it has a row for, and when it is there.
    pub line: &'static str,
    /// Its columns.
    pub columns: &'static [TableColumn],
    pub(super) is_there: fn(&RunResult) -> bool,
}

impl ResultTable {
    /// Whether a run has it.
    pub fn is_there(&self, run: &RunResult) -> bool {
        (self.is_there)(run)
    }
}

/// A column, as it stands in the lists below.
pub(super) const fn column(
    name: &'static str,
    measure: Measure,
    word: &'static str,
    line: &'static str,
    of: fn(&RunResult) -> ColumnValues,
) -> TableColumn {
    TableColumn {
        name,
        measure,
        word,
        line,
        of,
    }
}
