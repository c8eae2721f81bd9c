//! Waiting without the interpreter's lock, but not without its signals: Ctrl-C ends any wait.

use std::future::Future;
use std::io;
use std::time::Duration;

use inart_host_agent::report::Reporter;
use pyo3::prelude::*;

use crate::errors::Trouble;
use crate::notice::{self, Wait};

/// Signals are looked for this often.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// Runs Python's signal handlers, from a thread that does not hold the lock.
///
/// # Errors
/// Returns the exception of a handler.
pub(crate) fn check() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Waits for a future, from a thread that does not hold the lock. Reports a long wait for `whom`.
///
/// # Errors
/// Returns the exception of a signal handler, or the future's error.
pub(crate) fn wait_for<T, E: Into<Trouble>>(
    whom: &str,
    future: impl Future<Output = Result<T, E>>,
) -> PyResult<T> {
    let mut wait = Wait::begin();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::new("Error", format!("starting: {error}")))?;
    runtime.block_on(async {
        tokio::pin!(future);
        loop {
            match tokio::time::timeout(SLICE, &mut future).await {
                Ok(done) => return Ok(done.map_err(Into::into)?),
                Err(_) => {
                    if let Some(seconds) = wait.is_due() {
                        notice::print(&format!("waiting for {whom} for {seconds} s"));
                    }
                    check()?;
                }
            }
        }
    })
}

/// Waits until the reader of the reports lets this worker start: when all of its job's workers have joined.
///
/// # Errors
/// Returns an error if the reader has disconnected; the inner error is the exception of a signal handler.
pub(crate) fn wait_for_start(reporter: &mut Reporter, who: &str) -> io::Result<PyResult<()>> {
    let mut wait = Wait::begin();
    while !reporter.wait_for_start_timeout(SLICE)? {
        if let Some(seconds) = wait.is_due() {
            notice::print(&format!(
                "{who}: waiting for {seconds} s until all workers of the job have joined"
            ));
        }
        if let Err(raised) = check() {
            return Ok(Err(raised));
        }
    }
    Ok(Ok(()))
}
