//! The class that Python's package wraps.

use std::mem;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_host_agent::Error as AgentError;
use pyo3::prelude::*;

use super::calls::{Answer, Call, Request, Seen};
use super::orders::Orders;
use crate::errors::Trouble;
use crate::floats::Floats;
use crate::notice::{self, Wait};
use crate::signals;

/// A call that is interrupted, or a join that is withdrawn, has ended within this time.
const LONGEST_END: Duration = Duration::from_secs(15);

/// A worker of an elastic job.
#[pyclass(frozen, module = "inart._inart")]
pub(crate) struct Elastic {
    /// To the thread, until the worker is shut down.
    calls: Mutex<Option<Sender<Call>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    orders: Arc<Orders>,
    /// Description of the wait before a view.
    awaited: Arc<Mutex<String>>,
    seen: Mutex<Seen>,
    /// The process that joined; the thread is missing in those that were forked from it.
    process: u32,
}

impl Elastic {
    /// Waits until the thread has joined, as reported on `answers`.
    ///
    /// # Errors
    /// Returns why the worker cannot take part, or the exception of a signal handler.
    pub(super) fn joined(
        calls: Sender<Call>,
        thread: JoinHandle<()>,
        orders: Arc<Orders>,
        awaited: Arc<Mutex<String>>,
        answers: &Receiver<Answer>,
    ) -> PyResult<Self> {
        let elastic = Self {
            calls: Mutex::new(Some(calls)),
            thread: Mutex::new(Some(thread)),
            orders,
            awaited,
            seen: Mutex::default(),
            process: std::process::id(),
        };
        if let Err(raised) = elastic.wait(answers, 0) {
            elastic.withdraw();
            return Err(raised);
        }
        Ok(elastic)
    }

    /// Checks that this process has joined. Takes no lock: in a fork of that process, a lock may be held by a
    /// thread that is missing.
    fn check_process(&self) -> PyResult<()> {
        if self.process == std::process::id() {
            Ok(())
        } else {
            Err(Trouble::from(AgentError::Forked).into())
        }
    }

    fn known(&self) -> PyResult<MutexGuard<'_, Seen>> {
        self.check_process()?;
        Ok(self.seen())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the thread's answer to the call of that number; 0 is the join. Ctrl-C ends the wait and the
    /// call: the array is not written any more.
    fn wait(&self, answers: &Receiver<Answer>, number: u64) -> PyResult<f64> {
        let mut wait = Wait::begin();
        loop {
            match answers.recv_timeout(signals::SLICE) {
                Ok(Answer { outcome, seen }) => {
                    self.update_seen(seen);
                    return Ok(outcome?);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.report(&mut wait);
                    if let Err(raised) = signals::check() {
                        self.interrupt(answers, number);
                        return Err(raised);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let message = "the worker's thread has ended; join the job again";
                    return Err(Trouble::new("Error", message).into());
                }
            }
        }
    }

    fn update_seen(&self, seen: Seen) {
        if !seen.workers.is_empty() {
            *self.seen() = seen;
        }
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Reports a long wait, if the controller has named its cause.
    fn report(&self, wait: &mut Wait) {
        let Some(seconds) = wait.is_due() else { return };
        let awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !awaited.is_empty() {
            notice::print(&format!("waiting for a view of the job for {seconds} s: {awaited}"));
        }
    }

    /// Ends a call, and waits until the thread does nothing more for it.
    fn interrupt(&self, answers: &Receiver<Answer>, number: u64) {
        if number > 0 {
            self.orders.interrupt(number);
            if let Ok(Answer { seen, .. }) = answers.recv_timeout(LONGEST_END) {
                self.update_seen(seen);
            }
        }
    }

    /// Ends a join that has not succeeded, and waits until the controller knows.
    fn withdraw(&self) {
        self.orders.stop();
        drop(self.calls.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let until = Instant::now() + LONGEST_END;
        while !thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn call(&self, request: Request) -> PyResult<f64> {
        self.check_process()?;
        let (answer, answers) = mpsc::channel();
        let number = self.orders.number_call();
        {
            let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            let gone = || Trouble::new("Error", "the worker was shut down; join the job again");
            let calls = calls.as_ref().ok_or_else(gone)?;
            calls.send(Call { number, request, answer }).map_err(|_| gone())?;
        }
        self.wait(&answers, number)
    }

    /// Leaves the job, if that was not done before.
    fn end(&self, done: bool) -> PyResult<()> {
        if self.process != std::process::id() {
            return Ok(());
        }
        self.orders.stop();
        let is_there = self.calls.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let ended = if is_there { self.call(Request::End(done)).map(drop) } else { Ok(()) };
        drop(self.calls.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(thread), Ok(())) = (thread, &ended) {
            let _ = thread.join(); // a panic there has been reported
        }
        ended
    }
}

impl Drop for Elastic {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // The thread is missing in this process, and may have held locks.
            mem::forget(self.calls.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            mem::forget(self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            return;
        }
        // The thread leaves the job and ends, whatever it waits for.
        self.orders.stop();
    }
}

#[pymethods]
impl Elastic {
    #[getter]
    fn job(&self) -> PyResult<String> {
        Ok(self.known()?.job.clone())
    }

    #[getter]
    fn name(&self) -> PyResult<String> {
        Ok(self.known()?.name())
    }

    #[getter]
    fn rank(&self) -> PyResult<u16> {
        Ok(self.known()?.rank)
    }

    #[getter]
    fn workers(&self) -> PyResult<Vec<String>> {
        Ok(self.known()?.workers.clone())
    }

    #[getter]
    fn rounds(&self) -> PyResult<u64> {
        Ok(self.known()?.rounds)
    }

    #[getter]
    fn view(&self) -> PyResult<u16> {
        Ok(self.known()?.view)
    }

    /// Sums `length` floats at `address`, which belong to `owner`, in place. Returns the duration in seconds.
    /// The caller ensures that they exist, are writable, and that no other code uses them meanwhile. `label`
    /// is compared with those of the other workers.
    #[pyo3(signature = (address, length, owner, label = String::new()))]
    fn all_reduce(
        &self,
        py: Python<'_>,
        address: usize,
        length: usize,
        owner: Py<PyAny>,
        label: String,
    ) -> PyResult<f64> {
        // SAFETY: the caller is the package's `_floats.py`, which has seen to it.
        let floats = unsafe { Floats::new(address, length, owner) };
        py.detach(|| self.call(Request::AllReduce(floats, label)))
    }

    /// Replaces all these floats by those of the newest worker. Its state must have the same layout digest.
    fn load_state(&self, py: Python<'_>, state: Vec<(usize, usize, Py<PyAny>)>, layout: u64) -> PyResult<()> {
        // SAFETY: as above.
        let floats = state.into_iter().map(|(at, length, owner)| unsafe { Floats::new(at, length, owner) });
        let floats = floats.collect();
        py.detach(|| self.call(Request::Load(floats, layout)).map(drop))
    }

    /// This worker has done all its rounds, as all others have.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end(true))
    }

    /// This worker takes part no more, though others go on; a second time does nothing.
    fn shutdown(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.end(false))
    }
}
