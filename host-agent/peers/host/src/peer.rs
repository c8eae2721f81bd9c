//! The peer that a training program runs.

use std::sync::Arc;

use inart_connections::{Handle, Stopper, Transport, drive};
use inart_host_agent::status::{AnyStatus, StatusPublisher, StatusSocket};
use inart_peers_agent::{Peer, PeerProcess, Setup};

use crate::ending::Ending;
use crate::error::HostError;
use crate::interface::Interface;
use crate::job::{CopiedBy, Job};
use crate::names::{check_addresses, names};
use crate::options::HostOptions;
use crate::peer_side::{PeerSide, ThreadEvent};
use crate::training::Training;

/// Update of a round, for the machine.
type Update = Vec<f32>;

/// Ends a peer from another thread.
#[derive(Debug, Clone)]
pub struct PeerStopper(Stopper<Update>);

impl PeerStopper {
    /// Closes the peer's connections: the others log that it has stopped, and do not wait for it.
    pub fn stop(&self) {
        // A peer that has left need not stop.
        let _ = self.0.stop();
    }
}

/// A peer: its network side runs on a thread of its own.
#[derive(Debug)]
pub struct PeerHost {
    me: String,
    status: StatusPublisher,
    handle: Handle<Update, ThreadEvent>,
}

impl PeerHost {
    /// Listens, and starts to connect to all other peers and to the coordinators. `setup` is
    /// [`Job::setup`]'s.
    ///
    /// # Errors
    /// The setup is invalid; the address is not available, or certificates are invalid; a peer's address is
    /// missing, or an address belongs to no peer.
    pub fn open(job: &Job, setup: Setup, options: HostOptions) -> Result<Self, HostError> {
        Self::open_by(job, setup, None, options)
    }

    /// Creates a peer for copies by switches ([`CopiedBy::Switches`]): chunks and messages between peers are
    /// frames on an interface; only coordinators are connected.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and those of the interface; addresses of peers, which are not used here.
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
        let process = PeerProcess::new(peer, setup.me, job.peers().len());
        let wrong = |problem| HostError::Way { name: me.clone(), problem };
        let (process, copies) = match (job.copies(), interface) {
            (CopiedBy::Hosts, None) => {
                check_addresses(job.name(), job.peers(), &me, &options.peers)?;
                (process, None)
            }
            (CopiedBy::Hosts, Some(_)) => {
                return Err(wrong(
                    "the peer sends no frames, since hosts make the copies; leave the interface out",
                ));
            }
            (CopiedBy::Switches(_), None) => {
                return Err(wrong("the peer sends frames, which switches copy; name the interface to them"));
            }
            (CopiedBy::Switches(_), Some(_)) if !options.peers.is_empty() => {
                return Err(wrong("peers use frames, which switches copy; leave out their addresses"));
            }
            (CopiedBy::Switches(values), Some(interface)) => {
                let (framing, copies) = interface.framing(&setup, values);
                (process.by_frames(framing), Some(copies))
            }
        };
        let names = names(job.peers(), &me, &options.coordinators)?;
        let runtime = Handle::<Update, ThreadEvent>::runtime()?;
        let transport = {
            let _inside = runtime.enter();
            match copies {
                Some(copies) => Transport::copies(&names, options.quic(), &copies)?,
                None => Transport::quic(&names, options.quic())?,
            }
        };
        let status = StatusPublisher::default();
        let published = status.clone();
        let handle = Handle::start("peer", runtime, move |orders, events| async move {
            let mut side = PeerSide::new(names.clone(), events.clone(), published);
            let left = match drive(process, &names, transport, orders, &mut side).await {
                // The program has ended before the last round.
                Ok(_) if side.finished.is_none() => return,
                Ok((process, connections)) => {
                    let (peer, sender, receiver) = process.peer().counters();
                    let refused = process.peer().members().refused();
                    Ok(Ending { peer, sender, receiver, refused, connections: connections.quic })
                }
                Err(error) => Err(error),
            };
            let _ = events.send(ThreadEvent::Left(Box::new(left)));
        })?;
        Ok(Self { me, status, handle })
    }

    /// Returns the peer's name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes the peer's status through this socket.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        self.status.set(socket);
    }

    /// Returns a handle that ends the peer from another thread.
    pub fn stopper(&self) -> PeerStopper {
        PeerStopper(self.handle.stopper())
    }

    /// Trains until this peer and all others have ended the last round, or the others have failed.
    ///
    /// # Errors
    /// An update has another length, a NaN or an infinity; no coordinator admits the peer.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.handle.next(false)? {
                ThreadEvent::Compute(start) => {
                    let update = training.compute(&start);
                    // A peer that has ended meanwhile reports the reason next.
                    let _ = self.handle.command(update);
                }
                ThreadEvent::Received(update) => training.received(&update),
                ThreadEvent::Ended { outcome, rounds_with_previous_receivers } => {
                    training.ended(&outcome, rounds_with_previous_receivers)
                }
                ThreadEvent::Finished(start) => training.finish(&start),
                ThreadEvent::Left(left) => {
                    self.handle.join();
                    return *left;
                }
            }
        }
    }
}
