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

/// A column as it is handed over: name, type, values, and where some are missing a bit for each that says whether it is there.
pub(crate) type ArrowColumn<T> = (&'static str, Cow<'static, str>, T, Option<T>);

/// Values as they lie in Arrow's columns: the name of their type, their bytes and bits. Words are numbers of one byte, and the type has the words:
/// `uint8:send,recv`; names are those of four bytes, and the type has a list of them as JSON: `uint32:["init",""]`.
type ArrowValues = (Cow<'static, str>, Vec<u8>, Option<Vec<u8>>);

fn in_arrow(values: ColumnValues) -> ArrowValues {
    fn all<T: Copy, const N: usize>(kind: &'static str, values: &[T], bytes: fn(T) -> [u8; N]) -> ArrowValues {
        (
            Cow::Borrowed(kind),
            values.iter().flat_map(|&value| bytes(value)).collect(),
            None,
        )
    }
    fn some<T: Copy + Default, const N: usize>(
        kind: &'static str,
        values: &[Option<T>],
        bytes: fn(T) -> [u8; N],
    ) -> ArrowValues {
        let there = |eight: &[Option<T>]| {
            let bits = eight
                .iter()
                .enumerate()
                .map(|(bit, value)| u8::from(value.is_some()) << bit);
            bits.fold(0, |byte, bit| byte | bit)
        };
        let given = values
            .iter()
            .flat_map(|value| bytes(value.unwrap_or_default()))
            .collect();
        (Cow::Borrowed(kind), given, Some(values.chunks(8).map(there).collect()))
    }
    match values {
        ColumnValues::Words(values) => words(&values),
        ColumnValues::Names(values, names) => {
            let names = serde_json::to_string(&names).expect("a list of texts is JSON");
            let (kind, numbers, _) = all("uint32", &values, u32::to_le_bytes);
            (Cow::Owned(format!("{kind}:{names}")), numbers, None)
        }
        ColumnValues::U8(values) => (Cow::Borrowed("uint8"), values, None),
        ColumnValues::U32(values) => all("uint32", &values, u32::to_le_bytes),
        ColumnValues::U64(values) => all("uint64", &values, u64::to_le_bytes),
        ColumnValues::F64(values) => all("float64", &values, f64::to_le_bytes),
        ColumnValues::MaybeU32(values) => some("uint32", &values, u32::to_le_bytes),
        ColumnValues::MaybeU64(values) => some("uint64", &values, u64::to_le_bytes),
        ColumnValues::MaybeF64(values) => some("float64", &values, f64::to_le_bytes),
    }
}

/// Words as numbers among those that occur, in the order in which they do.
fn words(values: &[&'static str]) -> ArrowValues {
    let mut known: Vec<&str> = Vec::new();
    let number = |word: &&'static str| {
        let at = known.iter().position(|other| other == word);
        at.unwrap_or_else(|| {
            known.push(word);
            known.len() - 1
        }) as u8
    };
    let bytes = values.iter().map(number).collect();
    (Cow::Owned(format!("uint8:{}", known.join(","))), bytes, None)
}

/// The columns of a table as Python has them.
pub(crate) fn in_python(
    py: Python<'_>,
    table: impl FnOnce() -> Vec<ArrowColumn<Vec<u8>>> + Send,
) -> Vec<ArrowColumn<Bound<'_, PyBytes>>> {
    let columns = py.allow_threads(table);
    let bytes = |values: Vec<u8>| PyBytes::new(py, &values);
    columns
        .into_iter()
        .map(|(name, kind, values, there)| (name, kind, bytes(values), there.map(bytes)))
        .collect()
}

impl PyRunResult {
    pub fn new(result: judge::run::RunResult) -> Self {
        PyRunResult { result }
    }

    /// The columns of a table; empty if the run does not have it.
    fn table(&self, name: &str) -> Vec<ArrowColumn<Vec<u8>>> {
        let Some(table) = table(name).filter(|table| table.is_there(&self.result)) else {
            return Vec::new();
        };
        let column = |column: &judge::results::tables::TableColumn| {
            let (kind, values, there) = in_arrow(column.values(&self.result));
            (column.name, kind, values, there)
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
    fn columns<'py>(&self, py: Python<'py>, table: &str) -> Vec<ArrowColumn<Bound<'py, PyBytes>>> {
        in_python(py, || self.table(table))
    }
}
