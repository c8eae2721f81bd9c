//! Site as seen by a training loop.

use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_connections::{Handle, Names, Transport, drive};
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket, StatusWatch};
use inart_sites_agent::{Driver, Setup, SiteCommand, SiteProcess, most_bytes};
use inart_topologies::sites::Overlay;

use crate::ending::Ending;
use crate::error::HostError;
use crate::next::Next;
use crate::options::HostOptions;
use crate::site_side::{Inside, SiteEvent, SiteSide};
use crate::stopper::Stopper;
use crate::workers_inside::WorkersInside;

/// Minimum duration of a link sample.
const SAMPLE: Duration = Duration::from_millis(200);
/// Minimum buffer for one neighbor's messages, in bytes.
const HELD_BYTES: u64 = 256 << 20;

/// Result of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    /// Sum of the round; `None` if the site was left behind and must load the state in `next`.
    pub sum: Option<Vec<f32>>,
    /// Time when the gradient was passed in.
    pub began: Instant,
    /// Time when the sum was available.
    pub ended: Instant,
    /// Version of the plan of the round.
    pub version: u64,
    /// Next step of the training loop.
    pub next: Next,
}

/// A sum, and the version of its plan.
type Summed = (Vec<f32>, u64);

/// Site whose network side runs on a thread of its own.
pub struct SiteHost {
    me: String,
    status: StatusPublisher,
    inside: Inside,
    handle: Handle<SiteCommand, SiteEvent>,
}

impl fmt::Debug for SiteHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SiteHost").field("me", &self.me).finish_non_exhaustive()
    }
}

impl SiteHost {
    /// Listens, and starts to connect. `setup` belongs to one site of `overlay`.
    ///
    /// # Errors
    /// An unavailable address, or invalid certificates; a neighbor without an address; an address of a
    /// process that is not a neighbor.
    pub fn open(overlay: &Overlay, setup: Arc<Setup>, options: HostOptions) -> Result<Self, HostError> {
        let name = |site: inart_protocol_sites::SiteNo| overlay.sites()[site.index()].clone();
        let me = name(setup.me);
        let neighbors: Vec<String> = setup.my_neighbors().iter().copied().map(name).collect();
        if let Some(missing) = neighbors.iter().find(|name| !options.peers.contains_key(*name)) {
            return Err(HostError::NoAddress { name: missing.clone(), me });
        }
        if let Some(other) = options.peers.keys().find(|name| !neighbors.contains(name)) {
            return Err(HostError::NoNeighbor { name: other.clone(), me, known: neighbors.join(", ") });
        }
        let scheduler = options.scheduler.iter().map(|(name, _)| name);
        let all = overlay.sites().iter().chain(scheduler).cloned().collect();
        let names = Names { me: me.clone(), all };
        let most_bytes = most_bytes(&setup);
        let mut quic = options.quic(most_bytes);
        (quic.held_bytes, quic.sample) = (Some(most_bytes.saturating_mul(4).max(HELD_BYTES)), Some(SAMPLE));
        let runtime = Handle::<SiteCommand, SiteEvent>::runtime()?;
        let transport = {
            let _inside = runtime.enter();
            Transport::quic(&names, quic)?
        };
        let process = SiteProcess::new(Driver::new(setup), overlay.sites().len());
        let (status, inside) = (StatusPublisher::default(), Inside::default());
        let side = (status.clone(), inside.clone());
        let handle = Handle::start("site", runtime, move |orders, events| async move {
            let mut side = SiteSide::new(names.clone(), events.clone(), side.0, side.1);
            let news = match drive(process, &names, transport, orders, &mut side).await {
                // The training loop has exited.
                Ok((process, _)) if !process.has_finished() => return,
                Ok((process, connections)) => {
                    let (site, agent) = process.driver().counters();
                    SiteEvent::Exited(Ending { site, agent, connections: connections.quic })
                }
                Err(error) => SiteEvent::Failed(error),
            };
            let _ = events.send(news);
        })?;
        Ok(Self { me, status, inside, handle })
    }

    /// Waits for the hellos of all neighbors.
    ///
    /// # Errors
    /// Neighbors with another job.
    pub fn start(&mut self) -> Result<Next, HostError> {
        self.wait(&|| Bytes::new()).map(|(_, next)| next)
    }

    /// Sums a gradient, one value per parameter, over all sites. `training` returns the state that a
    /// restarted site must load before this round; it is called only when a site requests the state.
    ///
    /// # Errors
    /// A gradient of the wrong length; a NaN or an infinity in the gradient of any site.
    pub fn all_reduce(
        &mut self,
        gradient: Vec<f32>,
        training: &dyn Fn() -> Bytes,
    ) -> Result<Reduced, HostError> {
        let began = Instant::now();
        self.command(SiteCommand::AllReduce(gradient))?;
        let (sum, next) = self.wait(training)?;
        let ended = Instant::now();
        let (sum, version) = sum.map_or((None, 0), |(sum, version)| (Some(sum), version));
        Ok(Reduced { sum, began, ended, version, next })
    }

    /// Ends the training here: stays connected until all neighbors have finished or disconnected. `training`:
    /// final state for a site that rejoins later.
    ///
    /// # Errors
    /// An ended network thread.
    pub fn finish(mut self, training: Bytes) -> Result<Ending, HostError> {
        self.command(SiteCommand::Finish(training.into()))?;
        loop {
            match self.next_event(false)? {
                SiteEvent::Exited(ending) => {
                    self.handle.join();
                    return Ok(ending);
                }
                SiteEvent::Failed(error) => return Err(error),
                _ => {}
            }
        }
    }

    /// Publishes the site's status on this socket.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        self.status.set(socket);
    }

    /// Sets the workers whose gradients the site sums, by rank, and the status of their parameter server. The
    /// site's status and log include both.
    pub fn watch_inside(&self, workers: Vec<String>, status: StatusWatch) {
        let inside = WorkersInside::new(workers, status);
        *self.inside.lock().unwrap_or_else(PoisonError::into_inner) = Some(inside);
    }

    /// Returns a handle that stops this site from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.handle.stopper())
    }

    /// Ends the job at all sites, because this one cannot take part. Returns when all connected neighbors
    /// have the reason. `reason` names the site and the cause.
    pub fn end(self, reason: String) {
        // A network thread that has ended has already reported the reason.
        let _ = self.command(SiteCommand::End(reason));
    }

    fn wait(&mut self, training: &dyn Fn() -> Bytes) -> Result<(Option<Summed>, Next), HostError> {
        loop {
            match self.next_event(false)? {
                SiteEvent::Ready(next) => return Ok((None, next)),
                SiteEvent::Reduced { round, sum, version } => {
                    let next = Next::Round { round: round.saturating_add(1), training: None };
                    return Ok((Some((sum, version)), next));
                }
                SiteEvent::StateWanted { round } => {
                    // The digest is computed here, not on the thread that serves the connections.
                    let state = SiteCommand::State { round, training: training().into() };
                    self.command(state)?;
                }
                SiteEvent::Failed(error) => return Err(error),
                SiteEvent::Exited(_) => return Err(inart_connections::Error::Gone.into()),
                SiteEvent::Summed { .. } | SiteEvent::Inside(_) | SiteEvent::InsideEnded(_) => {}
            }
        }
    }

    /// Returns the site's name.
    pub(crate) fn name(&self) -> &str {
        &self.me
    }

    /// Returns a sender of events for other threads.
    pub(crate) fn event_sender(&self) -> Sender<SiteEvent> {
        self.handle.sender()
    }

    pub(crate) fn command(&self, command: SiteCommand) -> Result<(), HostError> {
        self.handle.command(command).map_err(|error| self.failure(error))
    }

    /// Returns why the network thread has ended, as far as it has reported it.
    fn failure(&self, error: inart_connections::Error) -> HostError {
        let failed = |news| if let SiteEvent::Failed(error) = news { Some(error) } else { None };
        self.handle.arrived().find_map(failed).unwrap_or_else(|| error.into())
    }

    /// Returns the next event. `others`: whether another thread also sends events.
    pub(crate) fn next_event(&self, others: bool) -> Result<SiteEvent, HostError> {
        Ok(self.handle.next(others)?)
    }
}
