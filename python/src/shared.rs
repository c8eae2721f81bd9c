//! State that a worker and its handles share.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, TryLockError};

use inart_controller_api::{Following, Reporting};
use inart_host_agent::report::{Report, Reporter, RoundReport};
use inart_host_agent::{Error, RoundStats, Worker};
use pyo3::prelude::*;

use crate::claims::{Claim, Claims};
use crate::errors::Trouble;
use crate::notice::{self, Wait};
use crate::servers::Servers;

/// A worker of a job.
pub(crate) struct Joined {
    /// Follows the job's controller to each new plan, if the job has one.
    pub _following: Option<Following>,
    /// Reports the worker's status to that controller.
    pub _reporting: Option<Reporting>,
    pub worker: Worker,
}

/// A worker, until it is shut down.
pub(crate) struct Shared {
    worker: RwLock<Option<Joined>>,
    /// Memory of the sums in flight.
    claims: Arc<Claims>,
    /// The job and the worker, for people.
    who: String,
    /// The wait for sums that is reported, of several at the same time.
    wait: Mutex<Option<Wait>>,
    /// Whether the warning about a tensor with NaN or infinity was printed.
    has_warned: AtomicBool,
    /// Receiver of a report per sum.
    reporter: Option<Mutex<Reporter>>,
    /// Error that ended the job.
    ended: OnceLock<Trouble>,
    /// The process that joined. In others, which were forked from it, the worker's thread is missing.
    process: u32,
    /// Creates the state of a worker of a job within this process.
    servers: Option<Servers>,
}

impl Shared {
    /// Creates the shared state. `who` names the job and the worker in notices.
    pub(crate) fn new(
        worker: Joined,
        who: String,
        reporter: Option<Reporter>,
        servers: Option<Servers>,
    ) -> Self {
        Self {
            worker: RwLock::new(Some(worker)),
            claims: Arc::default(),
            who,
            wait: Mutex::default(),
            has_warned: AtomicBool::default(),
            reporter: reporter.map(Mutex::new),
            ended: OnceLock::new(),
            process: std::process::id(),
            servers,
        }
    }

    /// Checks that this process has joined. Takes no lock: in a fork of that process, a lock may be held by a
    /// thread that is missing.
    ///
    /// # Errors
    /// Returns an error if this process is a fork of the worker's.
    pub(crate) fn check_process(&self) -> Result<(), Trouble> {
        if self.process == std::process::id() { Ok(()) } else { Err(Error::Forked.into()) }
    }

    /// Returns what the awaited sum waits for, if known.
    pub(crate) fn waiting(&self) -> Option<String> {
        self.with(|worker| Ok(worker.waiting())).ok().flatten().map(|waiting| waiting.to_string())
    }

    /// A wait for a sum goes on. It is reported now and then, once for all threads that wait.
    pub(crate) fn still_waits(&self) {
        let due = match self.wait.try_lock() {
            Ok(mut wait) => wait.get_or_insert_with(Wait::begin).is_due(),
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => None,
        };
        if let Some(seconds) = due
            && let Some(waiting) = self.waiting()
        {
            notice::print(&format!("{}: waiting for {seconds} s: {waiting}", self.who));
        }
    }

    /// Records a finished sum.
    ///
    /// # Errors
    /// A warning, where the program has made errors of warnings.
    pub(crate) fn summed(&self, py: Python<'_>, stats: &RoundStats) -> PyResult<()> {
        if let Ok(mut wait) = self.wait.try_lock() {
            *wait = None;
        }
        if stats.not_finite && !self.has_warned.swap(true, Ordering::Relaxed) {
            notice::warn(py, &notice::not_finite(&self.who, stats.round))?;
        }
        Ok(())
    }

    /// Claims memory for a sum.
    ///
    /// # Errors
    /// Returns an error if a sum in flight has a part of the memory, or if this process is a fork.
    pub(crate) fn claim(&self, start: usize, bytes: usize) -> Result<Claim, Trouble> {
        self.check_process()?;
        self.claims.claim(start, bytes)
    }

    /// Uses the worker.
    ///
    /// # Errors
    /// Returns the worker's error; or an error if the worker was shut down, or belongs to another process.
    pub(crate) fn with<T>(&self, body: impl FnOnce(&Worker) -> Result<T, Error>) -> Result<T, Trouble> {
        self.check_process()?;
        let worker = self.worker.read().unwrap_or_else(PoisonError::into_inner);
        let Some(worker) = worker.as_ref() else {
            return Err(Trouble::new("Error", "the worker was shut down; join the job again"));
        };
        body(&worker.worker).map_err(|error| self.note(error))
    }

    /// Records the error that ended the job: the host's agent reports it in full only once.
    fn note(&self, error: Error) -> Trouble {
        let (later, fatal) =
            (matches!(error, Error::Ended(_)), !matches!(error, Error::TooManyTensors { .. }));
        let trouble = Trouble::from(error);
        if later && let Some(first) = self.ended.get() {
            return first.clone();
        }
        if fatal && self.ended.set(trouble.clone()).is_ok() {
            self.report(|| Report::Failed { error: trouble.message.clone() });
        }
        trouble
    }

    /// Returns whether every sum is audited.
    pub(crate) fn is_audited(&self) -> bool {
        self.reporter.is_some()
    }

    /// Reports a sum.
    ///
    /// # Errors
    /// Returns an error if the reader has disconnected: the sums would not be audited.
    pub(crate) fn report_round(&self, round: RoundReport) -> Result<(), Trouble> {
        let Some(mut reporter) = self.reporter() else { return Ok(()) };
        reporter.send(&Report::Round(round)).map_err(|error| {
            Trouble::new(
                "Error",
                format!("INART_REPORT: the reader of the reports has closed the socket ({error})"),
            )
        })
    }

    /// Reports how the worker ends; a failure to report is ignored.
    fn report(&self, report: impl FnOnce() -> Report) {
        if let Some(mut reporter) = self.reporter() {
            let _ = reporter.send(&report());
        }
    }

    fn reporter(&self) -> Option<MutexGuard<'_, Reporter>> {
        self.reporter.as_ref().map(|reporter| reporter.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the worker. Its sums in flight are lost.
    pub(crate) fn shut_down(&self) {
        if self.process != std::process::id() {
            return;
        }
        let worker = self.worker.write().unwrap_or_else(PoisonError::into_inner).take();
        if worker.is_some() && self.ended.get().is_none() {
            self.report(|| Report::Done { trained: None });
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Its thread is not in this process and cannot be waited for.
            mem::forget(self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            mem::forget(self.servers.take());
            return;
        }
        self.shut_down();
    }
}
