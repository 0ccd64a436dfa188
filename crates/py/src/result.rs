//! A run's result: the summary as JSON, tables as little-endian columns.

use judge::results::tables::{ColumnValues, table};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::borrow::Cow;

/// What a run gave.
#[pyclass(frozen, name = "RunResult")]
pub struct PyRunResult {
    result: judge::run::RunResult,
}

/// A column as it is handed over: name, NumPy type, bytes.
pub(crate) type NumpyColumn<T> = (&'static str, Cow<'static, str>, T);

/// NumPy type and bytes of values. A type that ends in `?` says that some are not there: the greatest whole number and NaN stand for those. Words are numbers
/// of one byte, and the type has the words: `|u1:send,recv`; names are those of four bytes, and the type has a list of them as JSON:
/// `<u4:["init",""]`.
fn bytes(values: ColumnValues) -> (Cow<'static, str>, Vec<u8>) {
    fn all<T: Copy, const N: usize>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(|&value| bytes(value)).collect()
    }
    let (kind, bytes) = match values {
        ColumnValues::Words(values) => return words(&values),
        ColumnValues::Names(values, names) => {
            let names = serde_json::to_string(&names).expect("a list of texts is JSON");
            return (Cow::Owned(format!("<u4:{names}")), all(&values, u32::to_le_bytes));
        }
        ColumnValues::U8(values) => ("|u1", values),
        ColumnValues::U32(values) => ("<u4", all(&values, u32::to_le_bytes)),
        ColumnValues::U64(values) => ("<u8", all(&values, u64::to_le_bytes)),
        ColumnValues::F64(values) => ("<f8", all(&values, f64::to_le_bytes)),
        ColumnValues::MaybeU32(values) => ("<u4?", all(&values, |value| value.unwrap_or(u32::MAX).to_le_bytes())),
        ColumnValues::MaybeU64(values) => ("<u8?", all(&values, |value| value.unwrap_or(u64::MAX).to_le_bytes())),
        ColumnValues::MaybeF64(values) => ("<f8?", all(&values, |value| value.unwrap_or(f64::NAN).to_le_bytes())),
    };
    (Cow::Borrowed(kind), bytes)
}

/// Words as numbers among those that occur, in the order in which they do.
fn words(values: &[&'static str]) -> (Cow<'static, str>, Vec<u8>) {
    let mut known: Vec<&str> = Vec::new();
    let number = |word: &&'static str| {
        let at = known.iter().position(|other| other == word);
        at.unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        }) as u8
    };
    let bytes = values.iter().map(number).collect();
    (Cow::Owned(format!("|u1:{}", known.join(","))), bytes)
}

impl PyRunResult {
    pub fn new(result: judge::run::RunResult) -> Self {
        PyRunResult { result }
    }

    /// The columns of a table; empty if the run does not have it.
    fn table(&self, name: &str) -> Vec<NumpyColumn<Vec<u8>>> {
        let Some(table) = table(name).filter(|table| table.is_there(&self.result)) else {
            return Vec::new();
        };
        let column = |column: &judge::results::tables::TableColumn| {
            let (kind, bytes) = bytes(column.values(&self.result));
            (column.name, kind, bytes)
        };
        table.columns.iter().map(column).collect()
    }
}

#[pymethods]
impl PyRunResult {
    /// The numbers as JSON.
    #[getter]
    fn summary(&self) -> String {
        serde_json::json!(self.result.summary).to_string()
    }

    /// The columns of a table; empty if it was not recorded.
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> Vec<NumpyColumn<Bound<'py, PyBytes>>> {
        let columns = py.allow_threads(|| self.table(table));
        columns
            .into_iter()
            .map(|(name, kind, bytes)| (name, kind, PyBytes::new(py, &bytes)))
            .collect()
    }
}
