//! The ranks of a run that are joined by a Python object: `rank`, `size`, `exchange(list of bytes) -> list of bytes`, and, where it says `adds_up`,
//! `meet(least, sums, list of bytes) -> (least, sums, list of bytes)`.

use des::ranks::{Broken, MeetingWords, Transport, meet_by_pairs};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// Carries bytes through the object's `exchange`.
pub struct PyRanks {
    object: Py<PyAny>,
    rank: usize,
    size: usize,
    /// Whether it adds up what all say, and sends messages to those that get one.
    adds_up: bool,
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
            adds_up: object.getattr("adds_up")?.extract()?,
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

impl PyRanks {
    fn call_meet(&self, words: &mut MeetingWords, out: Vec<Vec<u8>>) -> PyResult<Vec<Vec<u8>>> {
        Python::with_gil(|py| {
            let bytes = |words: &[u64]| PyBytes::new(py, bytemuck::cast_slice(words));
            let out = PyList::new(py, out.into_iter().map(|bytes| PyBytes::new(py, &bytes)))?;
            let met = (bytes(&words.least), bytes(&words.sums), out);
            let met = self.object.bind(py).call_method1("meet", met)?;
            let (least, sums, came): (Vec<u64>, Vec<u64>, Vec<Bound<'_, PyBytes>>) = met.extract()?;
            let of = |what: &str| PyValueError::new_err(format!("meet gave another number of words: {what}"));
            words.least = least.try_into().map_err(|_| of("least"))?;
            words.sums = sums.try_into().map_err(|_| of("sums"))?;
            Ok(came.iter().map(|bytes| bytes.as_bytes().to_vec()).collect())
        })
    }

    /// What Python raised is raised again in place of our own error.
    fn noted<T>(&mut self, called: PyResult<T>) -> Result<T, Broken> {
        called.map_err(|error| {
            let words = error.to_string();
            self.raised = Some(error);
            Broken(words)
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
        let came = self.call(out);
        self.noted(came)
    }

    fn meet(&mut self, words: &mut MeetingWords, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        if !self.adds_up {
            return meet_by_pairs(self, words, out);
        }
        let came = self.call_meet(words, out);
        self.noted(came)
    }
}
