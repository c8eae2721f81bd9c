//! Frames on an interface that switches copy, next to QUIC connections.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;
use inart_ethernet::PortError;

use crate::error::Error;
use crate::event::Next;
use crate::options::CopyOptions;
use crate::port::Port;
use crate::quic::Quic;

/// An interface for frames that switches copy, and QUIC connections.
pub struct Copies {
    pub quic: Quic,
    port: Port,
    waiting: VecDeque<Bytes>,
}

impl Copies {
    pub fn open(quic: Quic, options: &CopyOptions) -> Result<Self, Error> {
        let port = Port::of_length(&options.interface, options.frame_bytes)?;
        Ok(Copies { quic, port, waiting: VecDeque::new() })
    }

    /// Sends a frame with the next flush.
    pub fn push(&mut self, frame: Bytes) {
        self.waiting.push_back(frame);
    }

    /// Sends the frames that wait.
    pub fn flush(&mut self) -> Result<(), PortError> {
        let Copies { port, waiting, .. } = self;
        if waiting.is_empty() {
            return Ok(());
        }
        port.transmit(&mut |buffer| {
            let frame = waiting.pop_front()?;
            buffer.get_mut(..frame.len())?.copy_from_slice(&frame);
            Some(frame.len())
        })
    }

    /// Hands over arrived frames; a limited number of them.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<(), PortError> {
        self.port.receive(take)
    }

    /// Waits for an event, for frames, or until that time.
    pub async fn next(&mut self, until: Instant) -> Result<Next, Error> {
        tokio::select! {
            next = self.quic.next_event() => Ok(next),
            there = self.port.readable() => there.map(|()| Next::Copies).map_err(Error::from),
            due = self.port.sleep_until(until) => due.map(|()| Next::Due).map_err(Error::from),
        }
    }
}
