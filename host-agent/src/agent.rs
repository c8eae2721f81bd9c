//! The loop that both kinds of host run.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant as StdInstant};

use inart_core::{DEFAULT_PATIENCE, Instant, Machine};
use inart_wire::Incarnation;
use rand::Rng;

use crate::port::Port;
use crate::status::{HostStatus, StatusSocket};
use crate::{Error, StopSignal};

/// How a host agent runs.
#[derive(Debug)]
pub struct Options {
    /// How long a peer that is waited for may be silent before the job is given up.
    pub patience: Duration,
    /// Ends the agent when it is received.
    pub stop: Option<StopSignal>,
    /// Tells whoever asks what the agent is doing.
    pub status: Option<StatusSocket>,
    /// Names this host's life: the same plan may be run again by others. Not 0; drawn at random by default.
    pub incarnation: Incarnation,
}

impl Default for Options {
    fn default() -> Self {
        let incarnation = Incarnation::new(rand::rng().random_range(1..=u32::MAX));
        Self { patience: DEFAULT_PATIENCE, stop: None, status: None, incarnation }
    }
}

/// A port, a clock and a state machine.
pub(crate) struct Agent<M> {
    pub(crate) machine: M,
    port: Port,
    stop: Option<StopSignal>,
    pub(crate) status: Option<StatusSocket>,
    start: StdInstant,
    buffer: [u8; 2048],
}

impl<M: Machine> Agent<M> {
    /// Frames taken in before the state machine is asked what it wants to send.
    const RECEIVE_BATCH: usize = 32;

    pub(crate) fn new(machine: M, port: Port, stop: Option<StopSignal>) -> Self {
        Self { machine, port, stop, status: None, start: StdInstant::now(), buffer: [0; 2048] }
    }

    /// Time for the state machine: since the agent's start.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Tells those who ask what the agent is doing; at once if it `matters`, else now and then.
    pub(crate) fn publish(&mut self, matters: bool, status: impl FnOnce(&M, Instant) -> HostStatus) {
        let now = self.now();
        if let Some(socket) = self.status.as_mut().filter(|socket| matters || socket.is_due()) {
            socket.take(status(&self.machine, now));
        }
    }

    /// Whether the agent was told to stop.
    pub(crate) fn is_stopped(&mut self) -> Result<bool, Error> {
        let stopped = self.stop.as_mut().map_or(Ok(false), StopSignal::is_received);
        stopped.map_err(|source| self.io_error(source))
    }

    /// Sends everything that is due.
    pub(crate) fn transmit(&mut self) -> Result<(), Error> {
        while let Some(length) = self.machine.poll_transmit(self.now(), &mut self.buffer) {
            self.port.send(&self.buffer[..length], self.stop.as_ref())?;
        }
        Ok(())
    }

    /// Waits until something happens, at most until `until`, and takes in what came.
    pub(crate) fn receive(&mut self, until: Option<Instant>) -> Result<(), Error> {
        let wake_at = self.machine.next_deadline().into_iter().chain(until).min();
        let timeout = wake_at.map(|at| at.since(self.now()));
        self.port.wait(self.stop.as_ref(), timeout)?;
        self.take_in()
    }

    /// Takes in what came.
    pub(crate) fn take_in(&mut self) -> Result<(), Error> {
        for _ in 0..Self::RECEIVE_BATCH {
            let now = self.now();
            match self.port.receive()? {
                Some(frame) => self.machine.handle_frame(now, frame),
                None => break,
            }
        }
        Ok(())
    }

    /// What becomes readable when `take_in` or `is_stopped` have something to do, to wait for it elsewhere.
    pub(crate) fn wakers(&self) -> Result<Vec<OwnedFd>, Error> {
        let sources = [Some(self.port.as_fd()), self.stop.as_ref().map(AsFd::as_fd)].into_iter().flatten();
        let copies = sources.map(|source| source.try_clone_to_owned()).collect::<io::Result<_>>();
        copies.map_err(|source| self.io_error(source))
    }

    /// What the operating system said, and where.
    pub(crate) fn io_error(&self, source: io::Error) -> Error {
        Error::Io { interface: self.port.name().into(), source }
    }
}
