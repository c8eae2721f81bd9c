//! Being there while the program computes.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use inart_core::{Machine, WorkerFlow};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::Error;
use crate::agent::Agent;
use crate::status::HostStatus;

/// A worker's agent, and what went wrong with it while nobody looked.
pub(crate) struct Kept {
    pub agent: Agent<WorkerFlow>,
    pub error: Option<Error>,
}

impl Kept {
    /// Tells those who ask what the worker is doing; at once if it `matters`, else now and then.
    pub(crate) fn publish(&mut self, matters: bool) {
        self.agent.publish(matters, |flow, now| HostStatus::Worker(flow.status(now)));
    }

    /// Lets a worker that was told to stop give the job up.
    pub(crate) fn heed_stop(&mut self) -> Result<(), Error> {
        if self.agent.is_stopped()? {
            self.agent.machine.stop(self.agent.now());
        }
        Ok(())
    }

    /// Does what is to be done now, without waiting; returns how long nothing will be unless something comes.
    fn attend(&mut self) -> Result<Option<Duration>, Error> {
        self.agent.take_in()?;
        self.heed_stop()?;
        self.agent.transmit()?;
        self.publish(false);
        Ok(self.agent.machine.next_deadline().map(|at| at.since(self.agent.now())))
    }
}

/// A thread that drives a worker's state machine while no round does. It holds the agent for moments only, and a round holds it from
/// beginning to end.
pub(crate) struct Keeper {
    kept: Arc<Mutex<Kept>>,
    end: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(crate) fn start(agent: Agent<WorkerFlow>) -> Result<Self, Error> {
        let wakers = agent.wakers()?;
        let end = EventFd::from_flags(EfdFlags::EFD_CLOEXEC);
        let end = Arc::new(end.map_err(|errno| agent.io_error(errno.into()))?);
        let kept = Arc::new(Mutex::new(Kept { agent, error: None }));
        let (held, told) = (Arc::clone(&kept), Arc::clone(&end));
        let thread = thread::Builder::new().name("keeper".into()).spawn(move || {
            if let Err(error) = keep(&held, &wakers, &told) {
                lock(&held).error = Some(error);
            }
        });
        let thread = thread.map_err(|source| lock(&kept).agent.io_error(source))?;
        Ok(Self { kept, end, thread: Some(thread) })
    }

    /// The agent; the thread waits until it is given back.
    pub(crate) fn hold(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // A new event descriptor has room for one event.
        let _ = self.end.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Attends to the agent whenever it has something to do, until `end` is told.
fn keep(kept: &Mutex<Kept>, wakers: &[OwnedFd], end: &EventFd) -> Result<(), Error> {
    let sources = wakers.iter().map(AsFd::as_fd).chain([end.as_fd()]);
    let mut sources: Vec<_> = sources.map(|source| PollFd::new(source, PollFlags::POLLIN)).collect();
    while !sources.last().and_then(PollFd::any).unwrap_or(false) {
        let timeout = lock(kept).attend()?;
        match ppoll(&mut sources, timeout.map(Into::into), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(lock(kept).agent.io_error(errno.into())),
        }
    }
    Ok(())
}
