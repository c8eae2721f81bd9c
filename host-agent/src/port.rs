//! A raw Ethernet interface that carries INART frames.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use inart_wire::ETHER_TYPE;
use nix::errno::Errno;
use nix::net::if_::if_indextoname;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, recv, send, setsockopt, socket, sockopt,
};
use pnet::datalink::{self, ChannelType, Config};

use crate::error::Error;
use crate::port_error::PortError;
use crate::transport::{Transport, Wake};

/// An interface opened for INART frames; others never reach this process.
///
/// It may go down and come up again: nothing is received meanwhile, and what is sent is lost. Nothing blocks
/// but waiting, and sending for `LONGEST_STALL`.
pub struct Port {
    name: String,
    /// The interface's number; one that is made later has another.
    index: u32,
    /// A raw socket that is bound to the interface and to INART's EtherType.
    socket: OwnedFd,
    /// Ends a wait.
    waker: Arc<Waker>,
    /// What ends a wait, too, when it is readable.
    watched: Vec<OwnedFd>,
    buffer: Box<[u8]>,
    /// Whether the interface was down when it was last checked.
    down: bool,
    /// Whether the last frame found no room, and waiting did not help.
    stalled: bool,
}

impl Port {
    /// Room for the frames that come while this process is not scheduled, in bytes of kernel memory.
    const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
    /// Longer than any INART frame, so that a longer frame shows its length.
    const READ_BUFFER_BYTES: usize = 16 << 10;
    /// How long a frame may wait for room: a slow interface sends some frames in this time, and it is short
    /// beside the peer timeout.
    const LONGEST_STALL: Duration = Duration::from_millis(50);
    /// An interface that is down is checked this often: the kernel does not report its removal.
    const LOOK_INTERVAL: Duration = Duration::from_millis(250);

    /// Opens the interface of that name.
    ///
    /// # Errors
    /// [`PortError`] for an interface that does not exist or cannot be opened; root is needed.
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
            _ => PortError::System { name: name.into(), source },
        };
        // A raw socket that pnet binds to one EtherType: the kernel sorts out everything else, our own
        // sending too.
        let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
            .map_err(|errno| refused(errno.into()))?;
        // Without the privilege for more than the system's limit, the limit has to do.
        if setsockopt(&socket, sockopt::RcvBufForce, &Self::RECEIVE_BUFFER_BYTES).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &Self::RECEIVE_BUFFER_BYTES)
                .map_err(|errno| refused(errno.into()))?;
        }
        let config = Config {
            channel_type: ChannelType::Layer3(ETHER_TYPE),
            socket_fd: Some(socket.try_clone().map_err(refused)?.into_raw_fd()),
            ..Config::default()
        };
        // Its own channel waits for room for ever and takes an interface that was down for one that is
        // broken: frames are sent and received below.
        datalink::channel(interface, config).map_err(refused)?;
        let buffer = vec![0; Self::READ_BUFFER_BYTES].into();
        let waker = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
        let waker = Arc::new(Waker(waker.map_err(|errno| refused(errno.into()))?));
        Ok(Self {
            name: name.into(),
            index: interface.index,
            socket,
            waker,
            watched: Vec::new(),
            buffer,
            down: false,
            stalled: false,
        })
    }

    fn try_send(&self, frame: &[u8]) -> Result<usize, Errno> {
        send(self.socket.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT)
    }

    /// Sleeps until the socket is ready for that, something watched is readable, or the time is up. `waker`
    /// may end it, too.
    fn poll(
        &self,
        what: PollFlags,
        waker: Option<&Waker>,
        timeout: Option<Duration>,
    ) -> Result<(), PortError> {
        let readable = self.watched.iter().map(AsFd::as_fd).chain(waker.map(|waker| waker.0.as_fd()));
        let mut fds = vec![PollFd::new(self.socket.as_fd(), what)];
        fds.extend(readable.map(|source| PollFd::new(source, PollFlags::POLLIN)));
        match ppoll(&mut fds, timeout.map(Into::into), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(self.refused(errno)),
        }
    }

    /// Continues after an error that says that the interface is down; fails with any other.
    fn note_error(&mut self, errno: Errno) -> Result<(), PortError> {
        match errno {
            Errno::ENETDOWN => {
                if !self.down {
                    tracing::warn!(
                        interface = self.name,
                        "it went down; frames are lost until it is up again"
                    );
                }
                self.down = true;
                self.look()
            }
            Errno::ENXIO | Errno::ENODEV => Err(PortError::Removed(self.name.clone())),
            errno => Err(self.refused(errno)),
        }
    }

    /// Checks that the interface still exists, in the network namespace of this thread.
    fn look(&self) -> Result<(), PortError> {
        let removed = match if_indextoname(self.index) {
            // What nix 0.31 answers for a number that no interface has.
            Ok(name) => name.is_empty(),
            Err(errno) => matches!(errno, Errno::ENXIO | Errno::ENODEV),
        };
        if removed { Err(PortError::Removed(self.name.clone())) } else { Ok(()) }
    }

    fn refused(&self, errno: Errno) -> PortError {
        PortError::System { name: self.name.clone(), source: errno.into() }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Transport for Port {
    fn name(&self) -> &str {
        &self.name
    }

    /// Sends a frame. One that finds no room waits for `LONGEST_STALL` at most and not when what is watched
    /// is readable; without room then, or while the interface is down, it is lost, as on any network.
    fn send(&mut self, frame: &[u8]) -> Result<(), Error> {
        let mut sent = self.try_send(frame);
        if sent == Err(Errno::EAGAIN) && !self.stalled {
            self.poll(PollFlags::POLLOUT, None, Some(Self::LONGEST_STALL))?;
            sent = self.try_send(frame);
        }
        self.stalled = sent == Err(Errno::EAGAIN);
        match sent {
            Ok(_) => self.down = false,
            Err(Errno::EAGAIN | Errno::ENOBUFS) => {
                tracing::debug!(interface = self.name, "send queue full, frame lost");
            }
            Err(Errno::EINTR) => {}
            Err(errno) => self.note_error(errno)?,
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<&[u8]>, Error> {
        match recv(self.socket.as_raw_fd(), &mut self.buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(length) => {
                self.down = false;
                return Ok(Some(&self.buffer[..length]));
            }
            Err(Errno::EAGAIN | Errno::EINTR) if self.down => self.look()?,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            // Reading the error has cleared it.
            Err(errno) => self.note_error(errno)?,
        }
        Ok(None)
    }

    /// Waits not as long while the interface is down.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        let look = self.down.then_some(Self::LOOK_INTERVAL);
        self.poll(PollFlags::POLLIN, Some(&self.waker), timeout.into_iter().chain(look).min())?;
        // Who was woken looks at everything.
        let _ = self.waker.0.read();
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.waker) as Arc<dyn Wake>
    }

    fn watch(&mut self, source: OwnedFd) -> bool {
        self.watched.push(source);
        true
    }
}

/// Wakes a port.
struct Waker(EventFd);

impl Wake for Waker {
    fn wake(&self) {
        // It counts; that it cannot count further is as good.
        let _ = self.0.write(1);
    }
}
