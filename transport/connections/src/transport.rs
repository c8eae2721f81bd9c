//! Transports of a process.

use std::time::{Duration, Instant};

use bytes::Bytes;
use inart_ethernet::PortError;
use inart_quic::Trouble;

use crate::copies::Copies;
use crate::counted::Connections;
use crate::error::Error;
use crate::event::Next;
use crate::frames::Frames;
use crate::machine::PeerNo;
use crate::names::Names;
use crate::options::{CopyOptions, FrameOptions, QuicOptions};
use crate::quic::Quic;

/// Transport of a process.
pub enum Transport {
    /// QUIC connections, across routed networks.
    Quic(Box<Quic>),
    /// Frames on an interface, inside one network.
    Frames(Box<Frames>),
    /// QUIC connections, and next to them frames on an interface that switches copy.
    Copies(Box<Copies>),
}

impl Transport {
    /// Opens QUIC connections to those of `names` that have an address. Must be called within a tokio
    /// runtime.
    ///
    /// # Errors
    /// The system refuses an address; certificates are unusable.
    pub fn quic(names: &Names, options: QuicOptions) -> Result<Self, Error> {
        Ok(Transport::Quic(Box::new(Quic::open(names, options)?)))
    }

    /// Opens connections by frames to all of `names`. Must be called within a tokio runtime. `place`: the
    /// position of a worker; `None` for the server. `rates_bps`: by number, the rate of frames in bit/s.
    ///
    /// # Errors
    /// The interface is unusable; a name has no address; an address is no host's, or two hosts'.
    pub fn frames(
        names: &Names,
        place: Option<u32>,
        rates_bps: &[Option<f64>],
        options: &FrameOptions,
    ) -> Result<Self, Error> {
        Ok(Transport::Frames(Box::new(Frames::open(place, &names.all, rates_bps, options)?)))
    }

    /// Opens QUIC connections, and next to them an interface for frames that switches copy. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// As for [`quic`](Self::quic), and the interface is unusable.
    pub fn copies(names: &Names, options: QuicOptions, copies: &CopyOptions) -> Result<Self, Error> {
        Ok(Transport::Copies(Box::new(Copies::open(Quic::open(names, options)?, copies)?)))
    }

    /// Sends a message. Returns whether it may have left; otherwise it has failed.
    pub(crate) fn send(&mut self, to: PeerNo, id: u64, data: Bytes, priority: i32) -> bool {
        match self {
            Transport::Quic(quic) => quic.send(to, id, data, priority),
            Transport::Frames(frames) => frames.send(to.index(), id, data, priority),
            Transport::Copies(copies) => copies.quic.send(to, id, data, priority),
        }
    }

    /// Sends a frame that switches copy, with the next [`flush`](Self::flush).
    pub(crate) fn copy(&mut self, frame: Bytes) {
        if let Transport::Copies(copies) = self {
            copies.push(frame);
        }
    }

    /// Sends the waiting frames.
    pub(crate) fn flush(&mut self) -> Result<(), PortError> {
        match self {
            Transport::Copies(copies) => copies.flush(),
            Transport::Quic(_) | Transport::Frames(_) => Ok(()),
        }
    }

    /// Hands over arrived copied frames; a limited number of them.
    pub(crate) fn take_copies(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), PortError> {
        match self {
            Transport::Copies(copies) => copies.receive(take),
            Transport::Quic(_) | Transport::Frames(_) => Ok(()),
        }
    }

    /// Waits for the next event, until a time. Cancel safe: no event is lost.
    pub(crate) async fn next(&mut self, until: Instant) -> Result<Next, Error> {
        match self {
            Transport::Quic(quic) => Ok(quic.next(until).await),
            Transport::Frames(frames) => frames.next(until).await,
            Transport::Copies(copies) => copies.next(until).await,
        }
    }

    /// Returns the least time between two looks at a machine.
    pub(crate) fn shortest(&self) -> Duration {
        match self {
            // Frames are paced one by one.
            Transport::Copies(_) => Duration::from_micros(20),
            Transport::Quic(_) | Transport::Frames(_) => Duration::from_micros(200),
        }
    }

    fn endpoint(&self) -> Option<&Quic> {
        match self {
            Transport::Quic(quic) => Some(quic),
            Transport::Frames(_) => None,
            Transport::Copies(copies) => Some(&copies.quic),
        }
    }

    /// Returns why there is no connection: the address, and the cause of the last failed attempt. `None`: the
    /// process is connected, or the cause is not known.
    pub fn trouble(&self, peer: PeerNo) -> Option<Trouble> {
        self.endpoint()?.trouble(peer)
    }

    /// Returns why there is no connection, in words.
    pub fn why_not(&self, peer: PeerNo) -> String {
        self.trouble(peer).map_or_else(|| "not connected yet".to_owned(), |trouble| trouble.to_string())
    }

    /// Closes all connections. Returns the counters.
    pub(crate) async fn close(self) -> Connections {
        match self {
            Transport::Quic(quic) => quic.close().await,
            Transport::Frames(frames) => frames.close().await,
            Transport::Copies(copies) => copies.quic.close().await,
        }
    }
}
