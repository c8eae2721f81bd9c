//! The thread that drives a worker's state machine, while the program computes and while it waits.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant as StdInstant};

use inart_protocol_aggregation::{
    Instant, Reduced, StateMachine, TensorId, TensorInput, Waiting, WorkerCounters, WorkerFlow,
};

use crate::agent::{Agent, Clock};
use crate::migration::Migrator;
use crate::probe::{Probe, SILENCE};
use crate::status::HostStatus;
use crate::{Error, Wake};

/// A wait that lasts longer is logged, with the host that it waits for.
const LOG_AFTER: Duration = Duration::from_secs(5);
/// Interval of further log lines.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// State shared by the driver and its callers.
struct State {
    flow: WorkerFlow,
    /// Awaited events of callers: a tensor, or that all messages are sent.
    waiting: Vec<Option<TensorId>>,
    /// Whether the worker is no longer needed.
    ended: bool,
    /// Error that ended the driver, if any.
    error: Option<Error>,
    /// Text of the error, after a caller received it.
    reported: Option<String>,
}

/// A worker's state machine, driven by a thread.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Arc<dyn Wake>,
    clock: Clock,
    /// Process of the thread. In a fork of it a lock may be held forever, by a thread that does not exist
    /// there.
    process: u32,
}

/// Drives a worker until it is dropped.
pub(crate) struct Driver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) migrator: Migrator,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn start(flow: WorkerFlow, agent: Agent) -> Result<Self, Error> {
        let state = State { flow, waiting: Vec::new(), ended: false, error: None, reported: None };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake: agent.transport().waker(),
            clock: agent.clock,
            process: process::id(),
        });
        let (name, migrator) = (agent.transport().name().to_owned(), agent.migrator());
        let driven = Arc::clone(&shared);
        let drive = move || {
            // All waits end with the error of a panic.
            let driving = AssertUnwindSafe(|| drive(&driven, agent));
            let error = match catch_unwind(driving) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(panic) => Error::Panicked(text_of(&*panic)),
            };
            driven.lock().error = Some(error);
            driven.changed.notify_all();
        };
        let thread = thread::Builder::new().name("inart-worker".into()).spawn(drive);
        Ok(Self { shared, migrator, thread: Some(thread.map_err(|source| Error::io(&name, source))?) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.shared.check_process().is_err() {
            // The thread is missing in this process.
            std::mem::forget(self.thread.take());
            return;
        }
        self.shared.lock().ended = true;
        self.shared.wake.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

/// The message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

/// Drives the state machine until it is asked to end.
fn drive(shared: &Shared, mut agent: Agent) -> Result<(), Error> {
    let (mut done, mut probe) = (false, Probe::default());
    loop {
        let mut state = shared.lock();
        agent.take_in(&mut state.flow)?;
        let moved = agent.carry_out_moves(&mut state.flow);
        if agent.is_stopped()? {
            state.flow.stop(agent.clock.now());
        }
        agent.transmit(&mut state.flow)?;
        if let Some(frame) = probe.due(state.flow.unheard(agent.clock.now(), SILENCE), StdInstant::now()) {
            agent.send(&frame)?;
        }
        let was_done = std::mem::replace(&mut done, state.flow.is_idle());
        agent.publish(moved || done && !was_done, |now| HostStatus::Worker(state.flow.status(now)));
        if state.waiting.iter().any(|tensor| state.has_ended(*tensor)) {
            shared.changed.notify_all();
        }
        if state.ended {
            state.flow.confirm_results(agent.clock.now());
            return agent.transmit(&mut state.flow);
        }
        let until = state.flow.next_deadline();
        drop(state);
        agent.wait(until)?;
    }
}

impl State {
    /// Returns whether that tensor has ended, or, without a tensor, everything has.
    fn has_ended(&self, tensor: Option<TensorId>) -> bool {
        match tensor {
            Some(tensor) => self.flow.is_done(tensor),
            None => self.flow.is_idle(),
        }
    }

    /// Returns whether the driver has ended with an error. The worker's state is invalid then.
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.reported.is_some()
    }

    /// Returns the error that ended the driver: itself to the first caller, as text to later ones.
    fn take_error(&mut self) -> Option<Error> {
        match self.error.take() {
            Some(error) => {
                self.reported = Some(error.to_string());
                Some(error)
            }
            None => self.reported.clone().map(Error::Ended),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that this process has the driver's thread. Takes no lock.
    ///
    /// # Errors
    /// [`Error::Forked`] in a fork of the worker's process.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        if process::id() == self.process { Ok(()) } else { Err(Error::Forked) }
    }

    /// Starts to sum a tensor. Returns its id, the time, and the counters before.
    ///
    /// # Errors
    ///
    /// The reason why there will be no sum. The peers have been notified.
    pub(crate) fn begin(&self, tensor: TensorInput) -> Result<(TensorId, Instant, WorkerCounters), Error> {
        let mut state = self.lock();
        if let Some(error) = state.take_error() {
            return Err(error);
        }
        if !state.flow.has_room() {
            return Err(Error::TooManyTensors { most: WorkerFlow::MOST_TENSORS });
        }
        let (now, before) = (self.clock.now(), state.flow.counters());
        let started = state.flow.start(now, tensor);
        self.wake.wake();
        match started {
            Ok(tensor) => Ok((tensor, now, before)),
            Err(failure) => {
                drop(self.wait_for(state, None, None));
                Err(failure.into())
            }
        }
    }

    /// Waits until a tensor has ended; `None` if the time is up before that.
    ///
    /// # Errors
    ///
    /// The reason why there is no sum.
    pub(crate) fn end(
        &self,
        tensor: TensorId,
        timeout: Option<Duration>,
    ) -> Result<Option<(Reduced, Instant, WorkerCounters)>, Error> {
        self.check_process()?;
        let (mut state, ended) = self.wait_for(self.lock(), Some(tensor), timeout);
        if let Some(error) = state.take_error() {
            return Err(error);
        }
        if !ended {
            return Ok(None);
        }
        let reduced = state.flow.finish(tensor)?;
        Ok(Some((reduced, self.clock.now(), state.flow.counters())))
    }

    /// Returns a buffer for a tensor of `len` values.
    pub(crate) fn room_for(&self, len: usize) -> TensorInput {
        let mut state = self.lock();
        if state.has_failed() { TensorInput::default() } else { state.flow.room_for(len) }
    }

    /// The host that the worker waits for, as far as it knows.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        let state = self.lock();
        if state.has_failed() { None } else { state.flow.waiting() }
    }

    /// Keeps the memory of an unneeded sum for reuse.
    pub(crate) fn reuse(&self, reduced: Reduced) {
        let mut state = self.lock();
        if !state.has_failed() {
            state.flow.reuse(reduced);
        }
    }

    /// Discards the sum of that tensor. Does nothing in a fork of the worker's process.
    pub(crate) fn discard(&self, tensor: TensorId) {
        if self.check_process().is_err() {
            return;
        }
        let mut state = self.lock();
        if !state.has_failed() {
            state.flow.discard(tensor);
        }
    }

    /// Waits up to `timeout` for the tensor or the driver to finish. Returns true if one of them has.
    fn wait_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        tensor: Option<TensorId>,
        timeout: Option<Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        let began = StdInstant::now();
        let until = timeout.and_then(|timeout| began.checked_add(timeout));
        let mut log_at = began + LOG_AFTER;
        state.waiting.push(tensor);
        let ended = loop {
            if state.has_failed() || state.has_ended(tensor) {
                break true;
            }
            let now = StdInstant::now();
            if until.is_some_and(|until| until <= now) {
                break false;
            }
            if log_at <= now {
                log_at = now + LOG_INTERVAL;
                if let Some(waiting) = state.flow.waiting() {
                    tracing::warn!(seconds = began.elapsed().as_secs(), "waiting for the sum of {waiting}");
                }
            }
            let next = until.map_or(log_at, |until| until.min(log_at));
            let left = next.saturating_duration_since(now);
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(place) = state.waiting.iter().position(|waiting| *waiting == tensor) {
            state.waiting.swap_remove(place);
        }
        (state, ended)
    }
}
