//! How a process reaches the others: what servers and workers see of it.

mod addresses;
mod event;
mod frames;
mod port;
mod quic;

use std::time::Instant;

use bytes::Bytes;

use crate::connections::Connections;
use crate::error::HostError;
use crate::options::HostOptions;
pub(crate) use event::{Event, Next};
use frames::Frames;
use quic::Quic;

/// How a process reaches the others.
pub(crate) enum Transport {
    /// By QUIC connections, across routed networks.
    Quic(Box<Quic>),
    /// By frames on an interface, inside one network.
    Frames(Box<Frames>),
}

impl Transport {
    /// Begins to connect to these, which are told apart by their place. To be called within a tokio runtime.
    /// `rates_bps`: at which rate packets leave to each of them, if the transport paces; no limit for those
    /// without one.
    ///
    /// # Errors
    /// An address or an interface that cannot be had; one of these that has no address, or somebody else that
    /// has one.
    pub fn open(
        me: Seat<'_>,
        others: &[String],
        rates_bps: &[Option<f64>],
        options: HostOptions,
    ) -> Result<Self, HostError> {
        match options {
            HostOptions::Quic(options) => {
                Ok(Transport::Quic(Box::new(Quic::open(me.name, others, *options)?)))
            }
            HostOptions::Frames(options) => {
                Ok(Transport::Frames(Box::new(Frames::open(me.place, others, rates_bps, &options)?)))
            }
        }
    }

    /// Sends a packet; whether it may have left. Otherwise it has failed.
    pub fn send(&mut self, to: usize, id: u64, data: Bytes, priority: i32) -> bool {
        match self {
            Transport::Quic(quic) => quic.send(to, id, data, priority),
            Transport::Frames(frames) => frames.send(to, id, data, priority),
        }
    }

    /// What happens next, until then. What was waited for in vain is not lost.
    ///
    /// # Errors
    /// The interface cannot be used any more.
    pub async fn next(&mut self, until: Instant) -> Result<Next, HostError> {
        match self {
            Transport::Quic(quic) => Ok(quic.next(until).await),
            Transport::Frames(frames) => frames.next(until).await,
        }
    }

    /// Why there is no connection, as far as that is known.
    pub fn trouble(&self, peer: usize) -> Option<String> {
        match self {
            Transport::Quic(quic) => quic.trouble(peer),
            Transport::Frames(_) => None,
        }
    }

    /// Ends all connections: what was counted.
    pub async fn close(self) -> Connections {
        match self {
            Transport::Quic(quic) => quic.close().await,
            Transport::Frames(frames) => frames.close().await,
        }
    }
}

/// Who a process is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat<'a> {
    /// Its name.
    pub name: &'a str,
    /// A worker's place in the job; none of the server.
    pub place: Option<u32>,
}

/// Who keeps to rates: frames are paced one by one, repairs with them; where a transport has its own way to
/// follow the network, as QUIC has, chunks leave it evenly.
#[derive(Debug, PartialEq)]
pub(crate) struct Paced {
    /// Rates of packets, for the agent.
    pub by_agent: Vec<Option<f64>>,
    /// Rates of frames, for the transport.
    pub by_transport: Vec<Option<f64>>,
}

impl Paced {
    /// Rates to others, in bit/s.
    pub fn by(options: &HostOptions, rates_bps: Vec<Option<f64>>) -> Self {
        let none = vec![None; rates_bps.len()];
        match options {
            HostOptions::Quic(_) => Paced { by_agent: rates_bps, by_transport: none },
            HostOptions::Frames(_) => Paced { by_agent: none, by_transport: rates_bps },
        }
    }
}
