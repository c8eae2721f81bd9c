//! A sum in flight.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use inart_host_agent::report::RoundReport;
use inart_host_agent::{Handle as Started, RoundStats};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::claims::Claim;
use crate::errors::Trouble;
use crate::floats::Floats;
use crate::shared::Shared;
use crate::signals;

/// A tensor that is being summed.
#[pyclass(frozen, module = "inart")]
pub(crate) struct Handle {
    shared: Arc<Shared>,
    state: Mutex<State>,
}

enum State {
    Pending(Started<Floats>, Claim),
    Done(RoundStats),
    Failed(Trouble),
    /// Only while a thread holds the lock.
    Waiting,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>, started: Started<Floats>, claim: Claim) -> Self {
        Self { shared, state: Mutex::new(State::Pending(started, claim)) }
    }

    /// Waits up to `timeout`; returns `None` on a timeout.
    fn wait_for(&self, timeout: Duration) -> Option<Result<RoundStats, Trouble>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = match mem::replace(&mut *state, State::Waiting) {
            State::Pending(started, claim) => match self.end(started, timeout) {
                Ok(Ok(stats)) => State::Done(stats),
                Ok(Err(started)) => State::Pending(started, claim),
                Err(trouble) => State::Failed(trouble),
            },
            ended => ended,
        };
        match &*state {
            State::Done(stats) => Some(Ok(*stats)),
            State::Failed(trouble) => Some(Err(trouble.clone())),
            State::Pending(..) | State::Waiting => None,
        }
    }

    fn end(
        &self,
        started: Started<Floats>,
        timeout: Duration,
    ) -> Result<Result<RoundStats, Started<Floats>>, Trouble> {
        if !self.shared.is_audited() {
            return match self.shared.with(|worker| worker.wait_timeout(started, timeout))? {
                Ok((floats, stats)) => {
                    floats.check_written()?;
                    Ok(Ok(stats))
                }
                Err(started) => Ok(Err(started)),
            };
        }
        match self.shared.with(|worker| worker.wait_recorded(started, timeout))? {
            Ok((floats, stats, record)) => {
                self.shared.report_round(RoundReport::new(stats, record))?;
                floats.check_written()?;
                Ok(Ok(stats))
            }
            Err(started) => Ok(Err(started)),
        }
    }

    /// Waits until `until`, or for ever; `None` if the time is up.
    fn wait_until(&self, until: Option<Instant>) -> PyResult<Option<RoundStats>> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let slice = left.map_or(signals::SLICE, |left| left.min(signals::SLICE));
            if let Some(ended) = self.wait_for(slice) {
                return Ok(Some(ended?));
            }
            if left == Some(slice) {
                return Ok(None);
            }
            self.shared.still_waits();
            signals::check()?;
        }
    }
}

#[pymethods]
impl Handle {
    /// Waits until the sum is in the array; raises `TimeoutError` after `timeout` seconds.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let until = timeout.map(deadline).transpose()?.flatten();
        self.shared.check_process()?;
        match py.detach(|| self.wait_until(until))? {
            Some(stats) => self.shared.summed(py, &stats),
            None => {
                let seconds = timeout.unwrap_or_default();
                let why =
                    py.detach(|| self.shared.waiting()).map_or_else(String::new, |why| format!(" ({why})"));
                let message = format!("the sum is not ready after {seconds} s{why}; wait again, or longer");
                Err(Trouble::new("TimeoutError", message).raise(py))
            }
        }
    }

    /// Returns the tensor that the worker waits for and the host that keeps it waiting, in words; `None` if
    /// that is not known.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.shared.check_process()?;
        Ok(py.detach(|| self.shared.waiting()))
    }

    /// Returns whether waiting would return or raise at once.
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        self.shared.check_process()?;
        Ok(py.detach(|| self.wait_for(Duration::ZERO)).is_some())
    }

    /// Seconds from the start to the end of the wait; `None` before that.
    #[getter]
    fn seconds(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.shared.check_process()?;
        Ok(py.detach(|| match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Done(stats) => Some(stats.communication.as_secs_f64()),
            _ => None,
        }))
    }
}

/// Returns the time in `seconds` from now; `None` if it cannot be represented.
fn deadline(seconds: f64) -> PyResult<Option<Instant>> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(PyValueError::new_err(format!("timeout {seconds}: give seconds, 0 or more, or None")));
    }
    Ok(Duration::try_from_secs_f64(seconds).ok().and_then(|timeout| Instant::now().checked_add(timeout)))
}
