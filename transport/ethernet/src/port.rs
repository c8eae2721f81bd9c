//! The portable port: a raw Ethernet interface through pnet, one system call per frame.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use inart_wire::ETHER_TYPE;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socket, sockopt,
};
use pnet::datalink::{self, ChannelType, Config};

use crate::interface::{self, Interface, NotSent, RECEIVE_BUFFER_BYTES};
use crate::port_error::PortError;
use crate::transport::{Transport, Wake};

/// An interface opened for INART frames; others never reach this process.
///
/// The interface may go down and up again: frames received meanwhile are missed, and sent frames are lost.
/// Only waits block, and sends for some tens of milliseconds. [`BatchedPort`](crate::BatchedPort) does the
/// same with fewer system calls.
pub struct Port {
    interface: Interface,
    /// A raw socket that is bound to the interface and to INART's EtherType.
    socket: OwnedFd,
    /// The frame to be sent.
    outgoing: Box<[u8]>,
    /// Buffer for a received frame; longer than any frame of the job, so that a longer one shows its length.
    incoming: Box<[u8]>,
}

impl Port {
    /// Frames handed over at once.
    const RECEIVE_BATCH: usize = 32;

    /// Opens the interface of that name.
    ///
    /// # Errors
    /// [`PortError`] for an interface that does not exist or cannot be opened; root is needed.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let found = interface::find(name)?;
        let refused = |source: io::Error| interface::refused(name, source);
        // A raw socket that pnet binds to one EtherType: the kernel sorts out everything else, our own
        // sending too.
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
            .map_err(|errno| refused(errno.into()))?;
        // Without the privilege for more than the system's limit, the limit has to do.
        if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER_BYTES).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER_BYTES)
                .map_err(|errno| refused(errno.into()))?;
        }
        let config = Config {
            channel_type: ChannelType::Layer3(ETHER_TYPE),
            socket_fd: Some(socket.try_clone().map_err(refused)?.into_raw_fd()),
            ..Config::default()
        };
        // Its own channel waits for room for ever and takes an interface that was down for one that is
        // broken: frames are sent and received below.
        datalink::channel(&found, config).map_err(refused)?;
        let interface = Interface::new(&found)?;
        Ok(Self { interface, socket, outgoing: Box::default(), incoming: Box::default() })
    }

    fn send(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        let frame = &self.outgoing[..frame_bytes];
        loop {
            match send(self.socket.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT) {
                Ok(_) => {
                    self.interface.note_sent();
                    return Ok(());
                }
                Err(errno) => match self.interface.note_not_sent(self.socket.as_fd(), errno)? {
                    NotSent::Again => {}
                    NotSent::Lost | NotSent::AllLost => return Ok(()),
                },
            }
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Transport for Port {
    fn name(&self) -> &str {
        &self.interface.name
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        self.interface.check_frame_bytes(&self.socket, frame_bytes)?;
        self.outgoing = vec![0; frame_bytes].into();
        self.incoming = vec![0; frame_bytes + 1].into();
        Ok(())
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        while let Some(frame_bytes) = fill(&mut self.outgoing) {
            self.send(frame_bytes)?;
        }
        Ok(())
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        for count in 0..Self::RECEIVE_BATCH {
            match recv(self.socket.as_raw_fd(), &mut self.incoming, MsgFlags::MSG_DONTWAIT) {
                Ok(length) => {
                    self.interface.note_carried();
                    take(&self.incoming[..length]);
                }
                Err(errno) => {
                    self.interface.note_not_received(errno)?;
                    return Ok(count);
                }
            }
        }
        Ok(Self::RECEIVE_BATCH)
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
