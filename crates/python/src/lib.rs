//! The Rust half of the Python package `edgepace`: arrays in, arrays out. What a user sees is in `python/edgepace`.
//!
//! Nothing long holds the interpreter: it goes through `long::long`, or lets go of it for as long as it computes.

mod arrays;
mod curriculum;
mod dataset;
mod fault;
mod finished;
mod long;
mod run;
mod sweep;

use std::ffi::OsString;
use std::process::ExitCode;

use edgepace_cli::EngineSweep;
use pyo3::prelude::*;

use crate::fault::Fault;

/// The program, with the words of its command line and what does a sweep on Ray. Returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, words: Vec<OsString>, ray: Py<PyAny>) -> u8 {
    let engine = move |sweep: &EngineSweep<'_>| Python::attach(|py| sweep::on(py, ray.bind(py), sweep));
    let code = py.detach(|| edgepace_cli::run_with(words, Box::new(engine)));
    // The standard library keeps the number to itself.
    (0..=u8::MAX).find(|&number| ExitCode::from(number) == code).unwrap_or(2)
}

/// The methods as JSON: names, what each is, its backbones and presets, the default first.
#[pyfunction]
fn methods() -> PyResult<String> {
    let text = serde_json::to_string(edgepace_train::METHODS);
    Ok(text.map_err(|error| Fault::new("InternalError", error.to_string()))?)
}

#[pymodule]
fn _edgepace(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<finished::Finished>()?;
    module.add_class::<curriculum::Curriculum>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::outlook, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::one_run, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::keep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::records, module)?)?;
    Ok(())
}
