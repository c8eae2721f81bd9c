//! The thread that drives a worker's state machine, while the program computes and while it waits.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant as StdInstant};

use inart_core::{Instant, Reduced, StateMachine, TensorId, WorkerCounters, WorkerFlow};

use crate::agent::{Agent, Clock};
use crate::moves::Mover;
use crate::status::HostStatus;
use crate::{Error, Wake};

/// What the driver and those who wait share.
struct State {
    flow: WorkerFlow,
    /// What a caller waits for: a tensor, or that all messages are sent.
    waiting: Vec<Option<TensorId>>,
    /// Whether the worker is no longer needed.
    ended: bool,
    /// What ended the driver, if anything did.
    error: Option<Error>,
    /// The same as text, once a caller was told.
    told: Option<String>,
}

/// A worker's state machine in the hands of a thread.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Arc<dyn Wake>,
    clock: Clock,
}

/// Drives a worker until it is dropped.
pub(crate) struct Driver {
    pub(crate) shared: Arc<Shared>,
    pub(crate) mover: Mover,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn start(flow: WorkerFlow, agent: Agent) -> Result<Self, Error> {
        let state = State { flow, waiting: Vec::new(), ended: false, error: None, told: None };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake: agent.transport().waker(),
            clock: agent.clock,
        });
        let (name, mover) = (agent.transport().name().to_owned(), agent.mover());
        let driven = Arc::clone(&shared);
        let drive = move || {
            if let Err(error) = drive(&driven, agent) {
                driven.lock().error = Some(error);
                driven.changed.notify_all();
            }
        };
        let thread = thread::Builder::new().name("inart-worker".into()).spawn(drive);
        Ok(Self { shared, mover, thread: Some(thread.map_err(|source| Error::io(&name, source))?) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.wake.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been reported
        }
    }
}

/// Drives the state machine until it is told to end.
fn drive(shared: &Shared, mut agent: Agent) -> Result<(), Error> {
    let mut done = false;
    loop {
        let mut state = shared.lock();
        agent.take_in(&mut state.flow)?;
        let moved = agent.carry_out_moves(&mut state.flow);
        if agent.is_stopped()? {
            state.flow.stop(agent.clock.now());
        }
        agent.transmit(&mut state.flow)?;
        let was_done = std::mem::replace(&mut done, state.flow.is_idle());
        agent.publish(moved || done && !was_done, |now| HostStatus::Worker(state.flow.status(now)));
        if state.waiting.iter().any(|tensor| state.has_ended(*tensor)) {
            shared.changed.notify_all();
        }
        if state.ended {
            state.flow.say_what_is_there(agent.clock.now());
            return agent.transmit(&mut state.flow);
        }
        let until = state.flow.next_deadline();
        drop(state);
        agent.wait(until)?;
    }
}

impl State {
    /// Whether that tensor has ended, or, if none is named, everything has.
    fn has_ended(&self, tensor: Option<TensorId>) -> bool {
        match tensor {
            Some(tensor) => self.flow.is_done(tensor),
            None => self.flow.is_idle(),
        }
    }

    /// What ended the driver: as it is for the first caller, as text for later ones.
    fn take_error(&mut self) -> Option<Error> {
        match self.error.take() {
            Some(error) => {
                self.told = Some(error.to_string());
                Some(error)
            }
            None => self.told.clone().map(Error::Ended),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to sum a tensor; its name, when that was, and what had been counted before.
    ///
    /// # Errors
    /// Why there will be no sum. The peers have been told.
    pub(crate) fn begin(&self, tensor: Vec<f32>) -> Result<(TensorId, Instant, WorkerCounters), Error> {
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

    /// Waits until a tensor has come to its end; `None` if the time is up before that.
    ///
    /// # Errors
    /// Why there is no sum.
    pub(crate) fn end(
        &self,
        tensor: TensorId,
        timeout: Option<Duration>,
    ) -> Result<Option<(Reduced, Instant, WorkerCounters)>, Error> {
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

    /// Room for a tensor of so many values.
    pub(crate) fn room_for(&self, len: usize) -> Vec<f32> {
        self.lock().flow.room_for(len)
    }

    /// That sum is not needed any more.
    pub(crate) fn reuse(&self, reduced: Reduced) {
        self.lock().flow.reuse(reduced);
    }

    /// The sum of that tensor is not wanted.
    pub(crate) fn discard(&self, tensor: TensorId) {
        self.lock().flow.discard(tensor);
    }

    /// Waits until that has ended, or the driver has, for so long at most; whether it has.
    fn wait_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        tensor: Option<TensorId>,
        timeout: Option<Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        let until = timeout.and_then(|timeout| StdInstant::now().checked_add(timeout));
        state.waiting.push(tensor);
        let ended = loop {
            if state.has_ended(tensor) || state.error.is_some() || state.told.is_some() {
                break true;
            }
            let left = until.map(|until| until.saturating_duration_since(StdInstant::now()));
            state = match left {
                Some(Duration::ZERO) => break false,
                Some(left) => {
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        };
        if let Some(place) = state.waiting.iter().position(|waiting| *waiting == tensor) {
            state.waiting.swap_remove(place);
        }
        (state, ended)
    }
}
