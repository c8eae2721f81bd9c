//! The extension module `inart._inart`: a worker of `inart-host-agent` for Python.
//!
//! Users see the package around it (`python/inart`), which checks arrays and reads the environment. No
//! function here holds the interpreter's lock while it waits.

mod claims;
mod elastic;
mod errors;
mod floats;
mod handle;
mod join;
mod local;
mod notice;
mod servers;
mod shared;
mod signals;
mod worker;

use pyo3::prelude::*;

/// Returns the module.
#[pymodule]
fn _inart(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<elastic::Elastic>()?;
    module.add_class::<handle::Handle>()?;
    module.add_class::<worker::Worker>()?;
    module.add_function(wrap_pyfunction!(join::join, module)?)?;
    module.add_function(wrap_pyfunction!(local::local, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
