//! What a training program runs.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use inart_host_agent::status::{AnyStatus, StatusSocket};
use inart_peer_agent::{Peer, Setup};
use tokio::sync::mpsc::UnboundedSender;

use crate::ending::Ending;
use crate::error::HostError;
use crate::frames::{Frames, Interface};
use crate::job::{CopiedBy, Job};
use crate::names::Names;
use crate::options::HostOptions;
use crate::peer_loop::{Command, News, PeerLoop};
use crate::training::Training;
use crate::way::Way;

/// Whether the network thread is there is looked at this often.
const LOOK: Duration = Duration::from_millis(500);

/// Ends a peer from another thread.
#[derive(Debug, Clone)]
pub struct PeerStopper(Option<UnboundedSender<Command>>);

impl PeerStopper {
    /// Ends the peer's connections: the others say that it has stopped, and wait for it no longer.
    pub fn stop(&self) {
        // A peer that has left does not need it.
        let _ = self.0.as_ref().map(|commands| commands.send(Command::Stop));
    }
}

/// A peer: its network side runs on a thread of its own.
#[derive(Debug)]
pub struct PeerHost {
    me: String,
    /// None once it is dropped, so that the thread ends.
    commands: Option<UnboundedSender<Command>>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl PeerHost {
    /// Listens, and begins to connect to all other peers and to the coordinators. `setup` is
    /// [`Job::setup`]'s.
    ///
    /// # Errors
    /// A setup that cannot be; an address that cannot be had, or certificates; a peer whose address is
    /// missing, an address of who is none.
    pub fn open(job: &Job, setup: Setup, options: HostOptions) -> Result<Self, HostError> {
        Self::open_by(job, setup, None, options)
    }

    /// The same where switches make the copies ([`CopiedBy::Switches`]): chunks, and what peers tell each
    /// other, go by frames on an interface, and connections to coordinators only.
    ///
    /// # Errors
    /// As [`open`](Self::open), and the interface's; addresses of peers, which have none here.
    pub fn open_on(
        job: &Job,
        setup: Setup,
        interface: &Interface,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        Self::open_by(job, setup, Some(interface), options)
    }

    fn open_by(
        job: &Job,
        setup: Setup,
        interface: Option<&Interface>,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        let me = job.peers().get(setup.me.index()).cloned().unwrap_or_default();
        let setup = Arc::new(setup);
        let peer = Peer::new(setup.clone())?;
        let wrong = |problem| HostError::Way { name: me.clone(), problem };
        let names = match (job.copies(), interface) {
            (CopiedBy::Hosts, None) => {
                Names::new(job.name(), job.peers(), &me, &options.peers, &options.coordinators)?
            }
            (CopiedBy::Hosts, Some(_)) => {
                return Err(wrong(
                    "it sends no frames, since hosts make the copies; leave the interface out",
                ));
            }
            (CopiedBy::Switches(_), None) => {
                return Err(wrong("it sends frames, which switches copy; name the interface to them"));
            }
            (CopiedBy::Switches(_), Some(_)) if !options.peers.is_empty() => {
                return Err(wrong("peers speak by frames, which switches copy; leave out where they are"));
            }
            (CopiedBy::Switches(_), Some(_)) => {
                Names::without_addresses(job.peers(), &me, &options.coordinators)?
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(HostError::Runtime)?;
        let mut quic = inart_quic::Options::new(options.listen, options.tls, me.clone(), options.peers);
        quic.peers.extend(options.coordinators);
        quic.congestion = options.congestion;
        quic.most_bytes = crate::options::MOST_BYTES;
        let (endpoint, events, way) = {
            let _inside = runtime.enter();
            let way = match (job.copies(), interface) {
                (CopiedBy::Switches(values), Some(interface)) => {
                    Way::Frames(Box::new(Frames::open(interface, &setup, values)?))
                }
                _ => Way::Connections,
            };
            let (endpoint, events) = inart_quic::Endpoint::open(quic)?;
            (endpoint, events, way)
        };
        let (commands, taken) = tokio::sync::mpsc::unbounded_channel();
        let (told, news) = mpsc::channel();
        let network = PeerLoop::new(me.clone(), setup, peer, names, endpoint, way, told);
        let run = move || runtime.block_on(network.run(events, taken));
        let thread = std::thread::Builder::new().name("peer".into()).spawn(run);
        let thread = Some(thread.map_err(HostError::Runtime)?);
        Ok(Self { me, commands: Some(commands), news, thread })
    }

    /// The peer's name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes through this socket what the peer does.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        // A peer that has ended does nothing.
        let _ = self.commands.as_ref().map(|commands| commands.send(Command::Status(socket)));
    }

    /// What ends it from another thread.
    pub fn stopper(&self) -> PeerStopper {
        PeerStopper(self.commands.clone())
    }

    /// Trains until the last round is over here and at all other peers, or those have gone.
    ///
    /// # Errors
    /// An update of another length, or with a NaN or an infinity; nobody takes the peer in.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.next_news()? {
                News::Compute(start) => {
                    let update = training.compute(&start);
                    let commands = self.commands.as_ref().ok_or(HostError::Gone)?;
                    commands.send(Command::Computed(update)).map_err(|_| HostError::Gone)?;
                }
                News::Received(update) => training.received(&update),
                News::Ended { outcome, without_choice } => training.ended(&outcome, without_choice),
                News::Finished(start) => training.finish(&start),
                News::Failed(error) => return Err(error),
                News::Left(ending) => {
                    if let Some(thread) = self.thread.take() {
                        let _ = thread.join(); // a panic there has been printed already
                    }
                    return Ok(*ending);
                }
            }
        }
    }

    fn next_news(&self) -> Result<News, HostError> {
        loop {
            match self.news.recv_timeout(LOOK) {
                Ok(news) => return Ok(news),
                Err(_) if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) => {}
                // What it told last may have come since.
                Err(_) => return self.news.try_recv().map_err(|_| HostError::Gone),
            }
        }
    }
}

impl Drop for PeerHost {
    /// The others see that the connections end.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}
