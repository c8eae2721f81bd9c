//! A raw Ethernet interface, many frames per system call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use inart_wire::ETHER_TYPE;
use nix::errno::Errno;

use crate::interface::{self, Interface, NotSent, RECEIVE_BUFFER_BYTES};
use crate::port_error::PortError;
use crate::queue::Queue;
use crate::receiver::Receiver;
use crate::ring::Ring;
use crate::socket::{PacketSocket, SocketOptions, interface_index};
use crate::transport::{Transport, Wake};

/// An interface opened for INART frames; others never reach this process. The default port of hosts.
///
/// The interface may go down and up again: frames received meanwhile are missed, and sent frames are lost.
/// Only waits block, and sends for some tens of milliseconds.
pub struct BatchedPort {
    interface: Interface,
    socket: PacketSocket,
    outgoing: Queue,
    /// Made when the length of the job's frames is known.
    incoming: Incoming,
    /// The longest frame of the job.
    frame_bytes: usize,
}

/// Source of received frames.
enum Incoming {
    /// Buffers of this process, to which the kernel copies frames.
    Buffers(Receiver),
    /// Memory that the kernel shares.
    Shared(Ring),
}

impl BatchedPort {
    /// Frames handed over at once, and sent: the buffers of both stay in a core's nearest cache but one.
    const BATCH: usize = 64;

    /// Opens the interface of that name.
    ///
    /// # Errors
    /// [`PortError`] for an interface that does not exist or cannot be opened; root is needed.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let found = interface::find(name)?;
        let refused = |source: io::Error| interface::refused(name, source);
        let options = SocketOptions {
            ether_type: Some(ETHER_TYPE),
            receive_buffer_bytes: RECEIVE_BUFFER_BYTES,
            send_buffer_bytes: None,
            ..SocketOptions::EVERYTHING
        };
        let index = interface_index(name).map_err(refused)?;
        Ok(Self {
            interface: Interface::new(&found)?,
            socket: PacketSocket::open(index, &options).map_err(refused)?,
            outgoing: Queue::default(),
            incoming: Incoming::Buffers(Receiver::with_room(1, 1)),
            frame_bytes: 0,
        })
    }

    /// Sends the queued frames; frames that cannot be sent are lost.
    fn flush(&mut self) -> Result<(), PortError> {
        while !self.outgoing.is_empty() {
            let error = match self.outgoing.send(&self.socket) {
                Ok(_) => {
                    self.interface.note_sent();
                    continue;
                }
                Err(error) => error,
            };
            let decision = self.interface.note_not_sent(self.socket.as_fd(), errno_of(&error));
            match decision {
                Ok(NotSent::Again) => {}
                Ok(NotSent::Lost) => self.outgoing.drop_first(1),
                Ok(NotSent::AllLost) | Err(_) => self.outgoing.drop_first(usize::MAX),
            }
            decision?;
        }
        Ok(())
    }
}

fn errno_of(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw)
}

impl AsFd for BatchedPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Transport for BatchedPort {
    fn name(&self) -> &str {
        &self.interface.name
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.interface.check_frame_bytes(&self.socket, frame_bytes)?;
        let ring = Ring::map(&self.socket, RECEIVE_BUFFER_BYTES, frame_bytes);
        self.incoming = match ring {
            Ok(ring) => Incoming::Shared(ring),
            Err(error) => {
                tracing::info!(interface = self.interface.name, %error, "the kernel shares no memory");
                Incoming::Buffers(Receiver::with_room(Self::BATCH, frame_bytes))
            }
        };
        self.frame_bytes = frame_bytes;
        Ok(())
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        loop {
            while self.outgoing.len() < Self::BATCH && self.outgoing.write(self.frame_bytes, &mut *fill) {}
            let is_full = self.outgoing.len() == Self::BATCH;
            self.flush()?;
            if !is_full {
                return Ok(());
            }
        }
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        // One that was cut is longer than any frame of the job: the state machine counts it as none.
        let received = match &mut self.incoming {
            Incoming::Buffers(receiver) => receiver.receive(&self.socket).inspect(|count| {
                (0..*count).for_each(|n| take(receiver.frame(n).unwrap_or_default()));
            }),
            Incoming::Shared(ring) => {
                match ring.receive(Self::BATCH, |frame| take(frame.unwrap_or_default())) {
                    0 => self.socket.take_error().map(|()| 0),
                    count => Ok(count),
                }
            }
        };
        match received {
            Ok(0) => self.interface.note_not_received(Errno::EAGAIN)?,
            Ok(count) => {
                self.interface.note_carried();
                return Ok(count);
            }
            Err(error) => self.interface.note_not_received(errno_of(&error))?,
        }
        Ok(0)
    }

    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), PortError> {
        self.interface.wait(self.socket.as_fd(), timeout)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.interface.waker()
    }

    fn watch(&mut self, source: OwnedFd) -> bool {
        self.interface.watch(source);
        true
    }
}
