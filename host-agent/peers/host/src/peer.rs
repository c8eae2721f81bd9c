//! What a training program runs.

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
    /// Ends the peer's connections: the others say that it has stopped, and wait for it no longer.
    pub fn stop(&self) {
        // A peer that has left does not need it.
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
        let process = PeerProcess::new(peer, setup.me, job.peers().len());
        let wrong = |problem| HostError::Way { name: me.clone(), problem };
        let (process, copies) = match (job.copies(), interface) {
            (CopiedBy::Hosts, None) => {
                check_addresses(job.name(), job.peers(), &me, &options.peers)?;
                (process, None)
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
                // The program has gone before the last round.
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

    /// The peer's name.
    pub fn name(&self) -> &str {
        &self.me
    }

    /// Publishes through this socket what the peer does.
    pub fn publish(&self, socket: StatusSocket<AnyStatus>) {
        self.status.set(socket);
    }

    /// What ends it from another thread.
    pub fn stopper(&self) -> PeerStopper {
        PeerStopper(self.handle.stopper())
    }

    /// Trains until the last round is over here and at all other peers, or those have gone.
    ///
    /// # Errors
    /// An update of another length, or with a NaN or an infinity; nobody takes the peer in.
    pub fn run(mut self, training: &mut dyn Training) -> Result<Ending, HostError> {
        loop {
            match self.handle.next(false)? {
                ThreadEvent::Compute(start) => {
                    let update = training.compute(&start);
                    // A peer that has ended meanwhile says why next.
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
