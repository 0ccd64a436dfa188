//! The Python module `fabricsim._core`: converts values, releases the interpreter lock, maps errors. It makes no decisions.

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
