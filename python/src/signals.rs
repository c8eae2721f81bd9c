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
/// What they raise.
pub(crate) fn check() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Waits for a future, from a thread that does not hold the lock. A wait that lasts is reported: for `whom`.
///
/// # Errors
/// What a signal handler raises, or the future's.
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
                        notice::say(&format!("waiting for {whom} for {seconds} s"));
                    }
                    check()?;
                }
            }
        }
    })
}

/// Waits until the reader of the reports lets this worker begin: when all of its job's workers have joined.
///
/// # Errors
/// The reader is gone; inside, what a signal handler raises.
pub(crate) fn wait_for_start(reporter: &mut Reporter, who: &str) -> io::Result<PyResult<()>> {
    let mut wait = Wait::begin();
    while !reporter.wait_for_start_timeout(SLICE)? {
        if let Some(seconds) = wait.is_due() {
            notice::say(&format!("{who}: waiting for {seconds} s until all workers of the job have joined"));
        }
        if let Err(raised) = check() {
            return Ok(Err(raised));
        }
    }
    Ok(Ok(()))
}
