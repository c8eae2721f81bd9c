//! What a training loop calls.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_host_agent::status::{AnyStatus, StatusSocket, StatusWatch};
use inart_overlay::Overlay;
use inart_site_agent::{Setup, most_bytes};
use tokio::sync::mpsc::UnboundedSender;

use crate::error::HostError;
use crate::names::Names;
use crate::next::Next;
use crate::options::HostOptions;
use crate::site_loop::{Command, Ending, News, SiteLoop};
use crate::stopper::Stopper;
use crate::workers_inside::WorkersInside;

/// Whether the network thread is there is looked at this often.
const LOOK: Duration = Duration::from_millis(500);

/// How a round ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    /// The sum; none if the site was left behind and has to load what `next` says.
    pub sum: Option<Vec<f32>>,
    /// When the gradient was given, and when the sum was there.
    pub began: Instant,
    /// When the sum was there.
    pub ended: Instant,
    /// The version of the plan that the round followed.
    pub version: u64,
    /// What comes next.
    pub next: Next,
}

/// A sum, and the version of its plan.
type Summed = (Vec<f32>, u64);

/// A site: its network side runs on a thread of its own.
#[derive(Debug)]
pub struct SiteHost {
    me: String,
    /// None once it is dropped, so that the thread ends.
    commands: Option<UnboundedSender<Command>>,
    told: Sender<News>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl SiteHost {
    /// Listens, and begins to connect. `setup` is of one site of `overlay`.
    ///
    /// # Errors
    /// An address that cannot be had, or certificates; a neighbour whose address is missing; an address of
    /// who is no neighbour.
    pub fn open(overlay: &Overlay, setup: Arc<Setup>, options: HostOptions) -> Result<Self, HostError> {
        let scheduler = options.scheduler.as_ref().map(|(name, _)| name.clone());
        let names = Names::new(overlay, scheduler);
        let name = |site: inart_sites::SiteNo| names.sites[site.index()].clone();
        let me = name(setup.me);
        let neighbours: Vec<String> = setup.my_neighbours().iter().copied().map(name).collect();
        if let Some(missing) = neighbours.iter().find(|name| !options.peers.contains_key(*name)) {
            return Err(HostError::NoAddress { name: missing.clone(), me });
        }
        if let Some(other) = options.peers.keys().find(|name| !neighbours.contains(name)) {
            return Err(HostError::NoNeighbour { name: other.clone(), me, known: neighbours.join(", ") });
        }
        let (commands, taken) = tokio::sync::mpsc::unbounded_channel();
        let (told, news) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(HostError::Runtime)?;
        let mut quic = inart_quic::Options::new(options.listen, options.tls, me.clone(), options.peers);
        quic.peers.extend(options.scheduler);
        quic.congestion = options.congestion;
        quic.most_bytes = most_bytes(&setup);
        quic.held_bytes = quic.held_bytes.max(4 * quic.most_bytes);
        let (endpoint, events) = {
            let _inside = runtime.enter();
            inart_quic::Endpoint::open(quic)?
        };
        let site = SiteLoop::new(setup, names, endpoint, told.clone());
        let run = move || runtime.block_on(site.run(events, taken));
        let thread = std::thread::Builder::new().name("site".into()).spawn(run);
        let thread = Some(thread.map_err(HostError::Runtime)?);
        Ok(Self { me, commands: Some(commands), told, news, thread })
    }

    /// Waits until the site has met its neighbours.
    ///
    /// # Errors
    /// Neighbours of another job.
    pub fn start(&mut self) -> Result<Next, HostError> {
        self.wait(&|| Bytes::new()).map(|(_, next)| next)
    }

    /// Sums a gradient, one value per parameter, over all sites. `training`: what a site that has restarted
    /// has to load before this round; it is called only when one asks.
    ///
    /// # Errors
    /// A gradient of another length; a NaN or an infinity in the gradient of any site.
    pub fn all_reduce(
        &mut self,
        gradient: Vec<f32>,
        training: &dyn Fn() -> Bytes,
    ) -> Result<Reduced, HostError> {
        let began = Instant::now();
        self.command(Command::AllReduce(gradient))?;
        let (sum, next) = self.wait(training)?;
        let ended = Instant::now();
        let (sum, version) = sum.map_or((None, 0), |(sum, version)| (Some(sum), version));
        Ok(Reduced { sum, began, ended, version, next })
    }

    /// Ends the training here: stays until all neighbours have finished, too, or have gone. `training`: what
    /// a site that comes back later ends with.
    ///
    /// # Errors
    /// If the network thread has ended.
    pub fn finish(mut self, training: Bytes) -> Result<Ending, HostError> {
        self.command(Command::Finish(training.into()))?;
        loop {
            match self.next_news(false)? {
                News::Left(ending) => {
                    if let Some(thread) = self.thread.take() {
                        let _ = thread.join(); // a panic there has been printed already
                    }
                    return Ok(ending);
                }
                News::Failed(error) => return Err(error),
                _ => {}
            }
        }
    }

    /// Publishes through this socket what the site does.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        // A site that has ended does nothing.
        let _ = self.command(Command::Status(socket));
    }

    /// Names the workers whose gradients the site sums, by rank, with the status of their parameter server:
    /// both are in the site's own status and in its log.
    pub fn watch_inside(&self, workers: Vec<String>, status: StatusWatch) {
        // A site that has ended waits for nothing.
        let _ = self.command(Command::Inside(WorkersInside::new(workers, status)));
    }

    /// Returns a handle that stops this site from another thread.
    pub fn stopper(&self) -> Stopper {
        // A site that has ended has no commands; neither does a handle to nothing.
        let none = || tokio::sync::mpsc::unbounded_channel().0.downgrade();
        Stopper::new(self.commands.as_ref().map_or_else(none, UnboundedSender::downgrade))
    }

    /// Ends the job at all sites, since this one cannot take part. Returns when all neighbours have heard
    /// why, or are not there. `told`: which site, and what is wrong there.
    pub fn end(self, told: String) {
        // A network thread that has ended has told the others why.
        let _ = self.command(Command::End(told));
    }

    fn wait(&mut self, training: &dyn Fn() -> Bytes) -> Result<(Option<Summed>, Next), HostError> {
        loop {
            match self.next_news(false)? {
                News::Ready(next) => return Ok((None, next)),
                News::Reduced { round, sum, version } => {
                    let next = Next::Round { round: round.saturating_add(1), training: None };
                    return Ok((Some((sum, version)), next));
                }
                News::StateWanted { round } => {
                    // The digest is computed here, not on the thread that serves the connections.
                    let state = Command::State { round, training: training().into() };
                    self.command(state)?;
                }
                News::Failed(error) => return Err(error),
                News::Left(_) => return Err(HostError::Gone),
                News::Summed { .. } | News::Inside(_) | News::InsideEnded(_) => {}
            }
        }
    }

    /// The site's name.
    pub(crate) fn name(&self) -> &str {
        &self.me
    }

    /// What news are told by, besides the network thread.
    pub(crate) fn teller(&self) -> Sender<News> {
        self.told.clone()
    }

    pub(crate) fn command(&self, command: Command) -> Result<(), HostError> {
        let commands = self.commands.as_ref().ok_or(HostError::Gone)?;
        commands.send(command).map_err(|_| self.failure())
    }

    /// Why the network thread has ended, as far as it has said so.
    fn failure(&self) -> HostError {
        let failed = |news| if let News::Failed(error) = news { Some(error) } else { None };
        self.news.try_iter().find_map(failed).unwrap_or(HostError::Gone)
    }

    /// The next news. `others`: whether somebody besides the network thread will have some.
    pub(crate) fn next_news(&self, others: bool) -> Result<News, HostError> {
        loop {
            match self.news.recv_timeout(LOOK) {
                Ok(news) => return Ok(news),
                Err(_) if others || self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) => {}
                // What it told last may have come since.
                Err(_) => return self.news.try_recv().map_err(|_| HostError::Gone),
            }
        }
    }
}

impl Drop for SiteHost {
    /// Waits until others have heard why this site ends, if it cannot go on.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}
