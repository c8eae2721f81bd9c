//! Common part of both kinds of host: a state machine, a clock and a transport.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as StdInstant};

use inart_ethernet::{Transport, Wake};
use inart_protocol_aggregation::{DEFAULT_PEER_TIMEOUT, Instant, NonFinite, StateMachine};
use inart_wire::Incarnation;
use rand::Rng;

use crate::error::Error;
use crate::migration::{Migrator, Moves, Orders};
use crate::status::{HostStatus, StatusSocket};
use crate::stop::StopSignal;

/// Settings of a host agent.
#[derive(Debug)]
pub struct Options {
    /// Longest silence of a peer that the host waits for, before the job is aborted.
    pub peer_timeout: Duration,
    /// Ends the agent when it is received.
    pub stop: Option<StopSignal>,
    /// Socket that answers status queries.
    pub status: Option<StatusSocket>,
    /// Handling of a worker's tensors that have a NaN or an infinity.
    pub non_finite: NonFinite,
    /// Incarnation of this host: the same plan may be run again by others. Not 0; random by default.
    pub incarnation: Incarnation,
}

impl Default for Options {
    fn default() -> Self {
        let incarnation = Incarnation::new(rand::rng().random_range(1..=u32::MAX));
        let non_finite = NonFinite::default();
        Self { peer_timeout: DEFAULT_PEER_TIMEOUT, stop: None, status: None, non_finite, incarnation }
    }
}

/// Time for state machines: since the host's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(StdInstant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(StdInstant::now())
    }

    pub(crate) fn now(self) -> Instant {
        Instant::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Stops a host, from any thread.
#[derive(Clone)]
pub struct Stopper {
    stop_requested: Arc<AtomicBool>,
    wake: Arc<dyn Wake>,
}

impl Stopper {
    /// The host stops soon.
    pub fn stop(&self) {
        self.stop_requested.store(true, Ordering::Release);
        self.wake.wake();
    }
}

/// Transport, stop signals, migration orders and status socket of a host.
pub(crate) struct Agent {
    transport: Box<dyn Transport>,
    pub(crate) clock: Clock,
    /// When it last read frames.
    read_at: Instant,
    stop: Option<StopSignal>,
    stop_requested: Arc<AtomicBool>,
    orders: Orders,
    status: Option<StatusSocket>,
    /// Whether waits end with a stop signal.
    is_watched: bool,
    /// Whether received frames may still be queued.
    may_have_more: bool,
}

impl Agent {
    /// Time without reading frames after which the process is taken to have been stopped.
    const STANDSTILL: Duration = Duration::from_millis(200);
    /// Interval of polling for a stop signal if the signal does not end waits.
    const POLL_INTERVAL: Duration = Duration::from_millis(50);
    /// Shortest sleep: a sleeping thread is woken some 50 us late (the kernel's timer slack), which at 10
    /// Gbit/s is the time of a whole window of frames.
    const SHORTEST_SLEEP: Duration = Duration::from_micros(10);

    /// Creates the agent of a host whose job's frames have up to `frame_bytes` bytes.
    pub(crate) fn new(
        mut transport: Box<dyn Transport>,
        frame_bytes: usize,
        options: Options,
    ) -> Result<Self, Error> {
        let Options { stop, status, .. } = options;
        transport.prepare(frame_bytes)?;
        let mut is_watched = true;
        if let Some(stop) = &stop {
            let source = stop.as_fd().try_clone_to_owned();
            is_watched = transport.watch(source.map_err(|source| Error::io(transport.name(), source))?);
        }
        let clock = Clock::start();
        Ok(Self {
            transport,
            read_at: clock.now(),
            clock,
            stop,
            stop_requested: Arc::default(),
            orders: Orders::new(),
            status,
            is_watched,
            may_have_more: true,
        })
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        self.transport.as_ref()
    }

    /// Updates the status for the socket: at once if it `matters`, else now and then.
    pub(crate) fn publish(&mut self, matters: bool, status: impl FnOnce(Instant) -> HostStatus) {
        let now = self.clock.now();
        if let Some(socket) = self.status.as_mut().filter(|socket| matters || socket.is_due()) {
            socket.take(status(now));
        }
    }

    /// Returns whether the agent was asked to stop.
    pub(crate) fn is_stopped(&mut self) -> Result<bool, Error> {
        let stopped = self.stop.as_mut().map_or(Ok(false), StopSignal::is_received);
        let stopped = stopped.map_err(|source| self.io_error(source))?;
        Ok(stopped || self.stop_requested.load(Ordering::Acquire))
    }

    /// Returns a handle that stops it.
    pub(crate) fn stopper(&self) -> Stopper {
        Stopper { stop_requested: Arc::clone(&self.stop_requested), wake: self.transport.waker() }
    }

    /// Returns a handle that migrates it to another plan.
    pub(crate) fn migrator(&self) -> Migrator {
        self.orders.migrator(self.transport.waker())
    }

    /// Carries out migration orders. Returns whether there were any.
    pub(crate) fn carry_out_moves(&mut self, host: &mut impl Moves) -> bool {
        self.orders.carry_out(self.clock.now(), host)
    }

    /// Rejects further migration orders.
    pub(crate) fn end_moves(&mut self) {
        self.orders.close();
    }

    /// Sends everything that is due now. A process that was stopped since it last read frames reads those
    /// that have arrived meanwhile first: otherwise it would take its own standstill for the silence of a
    /// peer.
    pub(crate) fn transmit(&mut self, state_machine: &mut dyn StateMachine) -> Result<(), Error> {
        let now = self.clock.now();
        if now.since(self.read_at) > Self::STANDSTILL {
            self.may_have_more = true;
            return Ok(());
        }
        Ok(self.transport.transmit(&mut |room| state_machine.poll_transmit(now, room))?)
    }

    /// Sends one frame, if the transport has room for it.
    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<(), Error> {
        let mut frame = Some(frame);
        Ok(self.transport.transmit(&mut |room| {
            let frame = frame.take()?;
            room.get_mut(..frame.len())?.copy_from_slice(frame);
            Some(frame.len())
        })?)
    }

    /// Waits for an event, at most until `until`.
    pub(crate) fn wait(&mut self, until: Option<Instant>) -> Result<(), Error> {
        if self.may_have_more {
            return Ok(());
        }
        let timeout = until.map(|at| at.since(self.clock.now()));
        if timeout.is_some_and(|timeout| timeout < Self::SHORTEST_SLEEP) {
            self.may_have_more = true;
            return Ok(());
        }
        let interval = (!self.is_watched).then_some(Self::POLL_INTERVAL);
        self.may_have_more = true;
        Ok(self.transport.wait(timeout.into_iter().chain(interval).min())?)
    }

    /// Processes received frames, a batch at most: then the state machine may send.
    pub(crate) fn take_in(&mut self, state_machine: &mut dyn StateMachine) -> Result<(), Error> {
        let now = self.clock.now();
        self.read_at = now;
        let count = self.transport.receive(&mut |frame| state_machine.handle_frame(now, frame))?;
        // While frames arrive, polling takes less time than waiting.
        self.may_have_more = count > 0;
        Ok(())
    }

    /// Creates an error from the operating system's error and the interface.
    pub(crate) fn io_error(&self, source: io::Error) -> Error {
        Error::io(self.transport.name(), source)
    }
}
