//! Waiting without the interpreter's lock, but not without its signals: Ctrl-C ends any wait.

use std::future::Future;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::Trouble;

/// Signals are looked for this often.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Runs Python's signal handlers, from a thread that does not hold the lock.
///
/// # Errors
/// What they raise.
pub(crate) fn check() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Waits for a future, from a thread that does not hold the lock.
///
/// # Errors
/// What a signal handler raises, or the future's.
pub(crate) fn wait_for<T, E: Into<Trouble>>(future: impl Future<Output = Result<T, E>>) -> PyResult<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::new("Error", format!("starting: {error}")))?;
    runtime.block_on(async {
        tokio::pin!(future);
        loop {
            match tokio::time::timeout(SLICE, &mut future).await {
                Ok(done) => return Ok(done.map_err(Into::into)?),
                Err(_) => check()?,
            }
        }
    })
}
