//! The ranks of a run that are joined by a Python object: `rank`, `size`, and `exchange(list of bytes) -> list of bytes`.

use des::ranks::{Broken, Transport};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Carries bytes through the object's `exchange`.
pub struct PyRanks {
    object: Py<PyAny>,
    rank: usize,
    size: usize,
    /// What `exchange` raised, to be raised again in place of our own error.
    pub raised: Option<PyErr>,
}

impl PyRanks {
    /// Takes the object's rank and size.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(PyRanks {
            object: object.clone().unbind(),
            rank: object.getattr("rank")?.extract()?,
            size: object.getattr("size")?.extract()?,
            raised: None,
        })
    }

    fn call(&self, out: Vec<Vec<u8>>) -> PyResult<Vec<Vec<u8>>> {
        Python::with_gil(|py| {
            // One by one: a checkpoint is not to be there twice.
            let out = PyList::new(py, out.into_iter().map(|bytes| PyBytes::new(py, &bytes)))?;
            let came = self.object.bind(py).call_method1("exchange", (out,))?;
            came.try_iter()?
                .map(|bytes| Ok(bytes?.downcast::<PyBytes>()?.as_bytes().to_vec()))
                .collect()
        })
    }
}

impl Transport for PyRanks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        self.call(out).map_err(|error| {
            let words = error.to_string();
            self.raised = Some(error);
            Broken(words)
        })
    }
}
