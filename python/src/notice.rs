//! Notices on Python's standard error: long waits, and warnings.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;

/// Duration of a wait before it is reported.
const SAY_AFTER: Duration = Duration::from_secs(5);
/// And then this often.
const SAY_EVERY: Duration = Duration::from_secs(10);

/// Time of the next report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    began: Instant,
    say_at: Instant,
}

impl Wait {
    /// Starts a wait.
    pub(crate) fn begin() -> Self {
        let began = Instant::now();
        Self { began, say_at: began + SAY_AFTER }
    }

    /// Returns whether it is to be reported now, and how long it has lasted: in whole seconds.
    pub(crate) fn is_due(&mut self) -> Option<u64> {
        let now = Instant::now();
        if now < self.say_at {
            return None;
        }
        self.say_at = now + SAY_EVERY;
        Some(now.saturating_duration_since(self.began).as_secs())
    }
}

/// Writes a line to Python's standard error, from a thread that does not hold the interpreter's lock. A
/// program without one reads nothing.
pub(crate) fn print(line: &str) {
    let write = |py: Python<'_>| -> PyResult<()> {
        let stream = py.import("sys")?.getattr("stderr")?;
        if !stream.is_none() {
            stream.call_method1("write", (format!("inart: {line}\n"),))?;
            stream.call_method0("flush")?;
        }
        Ok(())
    };
    let _ = Python::try_attach(write);
}

/// Warns as Python's `warnings.warn` does.
///
/// # Errors
/// The warning itself, where the program has made errors of warnings.
pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let warnings = py.import("warnings")?;
    warnings.call_method1("warn", (message, py.get_type::<PyRuntimeWarning>())).map(drop)
}

/// Returns the warning about a tensor with NaN or infinity.
pub(crate) fn not_finite(who: &str, tensor: u32) -> String {
    format!(
        "{who}: tensor {tensor} of this rank has a NaN or an infinity, so at all ranks sums of its block of 256 values \
         are NaN (up to 256 values: of that value alone); this is said once"
    )
}
