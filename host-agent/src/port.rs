//! A raw Ethernet interface that carries INART frames.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::time::Duration;

use inart_wire::ETHER_TYPE;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use pnet::datalink::{self, Channel, ChannelType, Config, DataLinkReceiver, DataLinkSender};

use crate::StopSignal;

/// Why an interface cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// There is none of that name.
    #[error("interface {name}: there is none of that name here; there are {present}")]
    NoSuchInterface {
        /// The name asked for.
        name: String,
        /// Names of those that exist.
        present: String,
    },
    /// It is down.
    #[error("interface {0}: it is down; bring it up with `ip link set {0} up`")]
    Down(String),
    /// Raw sockets are not for everybody.
    #[error("interface {0}: raw Ethernet needs root, or the capability CAP_NET_RAW")]
    Permission(String),
    /// The operating system refuses.
    #[error("interface {name}: {source}")]
    Open {
        /// The interface.
        name: String,
        /// What the system says.
        source: io::Error,
    },
}

/// An interface opened for INART frames; others never reach this process.
pub struct Port {
    name: String,
    sender: Box<dyn DataLinkSender>,
    receiver: Box<dyn DataLinkReceiver>,
    /// The same socket as theirs, to wait on.
    socket: OwnedFd,
}

impl Port {
    /// Room for the frames that come while this process is not scheduled, in bytes of kernel memory.
    const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
    /// Longer than any INART frame, so that a longer frame shows its length.
    const READ_BUFFER_BYTES: usize = 2048;

    /// Opens the interface of that name.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let interfaces = datalink::interfaces();
        let Some(interface) = interfaces.iter().find(|interface| interface.name == name) else {
            let names: Vec<_> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
            return Err(PortError::NoSuchInterface { name: name.into(), present: names.join(", ") });
        };
        if !interface.is_up() {
            return Err(PortError::Down(name.into()));
        }
        let refused = |source: io::Error| match source.kind() {
            io::ErrorKind::PermissionDenied => PortError::Permission(name.into()),
            _ => PortError::Open { name: name.into(), source },
        };
        // A raw socket that pnet binds to one EtherType: the kernel sorts out everything else, our own sending too.
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
            .map_err(|errno| refused(errno.into()))?;
        // Without the privilege for more than the system's limit, the limit has to do.
        if setsockopt(&socket, sockopt::RcvBufForce, &Self::RECEIVE_BUFFER_BYTES).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &Self::RECEIVE_BUFFER_BYTES)
                .map_err(|errno| refused(errno.into()))?;
        }
        let config = Config {
            channel_type: ChannelType::Layer3(ETHER_TYPE),
            read_timeout: Some(Duration::ZERO),
            read_buffer_size: Self::READ_BUFFER_BYTES,
            socket_fd: Some(socket.try_clone().map_err(refused)?.into_raw_fd()),
            ..Config::default()
        };
        match datalink::channel(interface, config).map_err(refused)? {
            Channel::Ethernet(sender, receiver) => Ok(Self { name: name.into(), sender, receiver, socket }),
            _ => Err(refused(io::Error::other("pnet opens no Ethernet channel on it"))),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a frame. One that the queue has no room for is lost, as on any network.
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        match self.sender.send_to(frame, None) {
            Some(Err(error)) if is_full(&error) => {
                tracing::debug!(interface = self.name, "send queue full, frame lost");
                Ok(())
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Some(result) => result,
            None => Err(io::Error::other("the frame is longer than pnet's buffer")),
        }
    }

    /// The next frame that is there already.
    pub(crate) fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
        match self.receiver.next() {
            Ok(frame) => Ok(Some(frame)),
            Err(error) if matches!(error.kind(), TimedOut | WouldBlock | Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sleeps until a frame is there, a stop signal comes, or the time is up.
    pub(crate) fn wait(&self, stop: Option<&StopSignal>, timeout: Option<Duration>) -> io::Result<()> {
        let fds = [Some(self.socket.as_fd()), stop.map(AsFd::as_fd)];
        let mut fds: Vec<_> =
            fds.into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match ppoll(&mut fds, timeout.map(Into::into), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Whether the interface's queue has no room.
fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(Errno::ENOBUFS as i32)
}
