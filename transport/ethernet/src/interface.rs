//! A network interface that a host uses: the common part of its ports.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::net::if_::if_indextoname;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use pnet::datalink::{self, NetworkInterface};

use crate::port_error::PortError;
use crate::transport::Wake;

/// Buffer for frames that arrive while this process is not scheduled, in bytes of kernel memory.
pub(crate) const RECEIVE_BUFFER_BYTES: usize = 8 << 20;

/// An interface in use. It may go down and up again; its removal is an error.
pub(crate) struct Interface {
    pub(crate) name: String,
    /// The interface's number; one that is made later has another.
    index: u32,
    /// Ends a wait.
    waker: Arc<Waker>,
    /// Descriptors that also end a wait when they are readable.
    watched: Vec<OwnedFd>,
    /// Whether the interface was down when it was last checked.
    is_down: bool,
    /// Whether the last frame found no room, and waiting did not help.
    is_stalled: bool,
}

/// Returns the interface of that name, as the system lists it.
///
/// # Errors
/// Returns [`PortError`] if the interface does not exist, or is down.
pub(crate) fn find(name: &str) -> Result<NetworkInterface, PortError> {
    let interfaces = datalink::interfaces();
    let Some(interface) = interfaces.iter().find(|interface| interface.name == name) else {
        let names: Vec<_> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
        return Err(PortError::NoSuchInterface { name: name.into(), present: names.join(", ") });
    };
    match interface.is_up() {
        true => Ok(interface.clone()),
        false => Err(PortError::Down(name.into())),
    }
}

/// Returns the error of an interface that the system refuses to open.
pub(crate) fn refused(name: &str, source: io::Error) -> PortError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => PortError::Permission(name.into()),
        _ => PortError::System { name: name.into(), source },
    }
}

impl Interface {
    /// Longest wait of a frame for room: a slow interface sends some frames in this time, and it is short
    /// compared with the peer timeout.
    const LONGEST_STALL: Duration = Duration::from_millis(50);
    /// An interface that is down is checked this often: the kernel does not report its removal.
    const LOOK_INTERVAL: Duration = Duration::from_millis(250);

    /// Opens the interface.
    ///
    /// # Errors
    /// Returns an error if the system has no event descriptor left.
    pub(crate) fn new(found: &NetworkInterface) -> Result<Self, PortError> {
        let waker = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|errno| refused(&found.name, errno.into()))?;
        Ok(Self {
            name: found.name.clone(),
            index: found.index,
            waker: Arc::new(Waker(waker)),
            watched: Vec::new(),
            is_down: false,
            is_stalled: false,
        })
    }

    /// Sleeps until the socket is ready for that, something watched is readable, or the time is up. `waker`
    /// may end it, too.
    fn poll(
        &self,
        socket: BorrowedFd<'_>,
        what: PollFlags,
        waker: Option<&Waker>,
        timeout: Option<Duration>,
    ) -> Result<(), PortError> {
        let readable = self.watched.iter().map(AsFd::as_fd).chain(waker.map(|waker| waker.0.as_fd()));
        let mut fds = vec![PollFd::new(socket, what)];
        fds.extend(readable.map(|source| PollFd::new(source, PollFlags::POLLIN)));
        match ppoll(&mut fds, timeout.map(Into::into), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(self.system_error(errno)),
        }
    }

    /// Waits for a frame; not as long while the interface is down.
    pub(crate) fn wait(&self, socket: BorrowedFd<'_>, timeout: Option<Duration>) -> Result<(), PortError> {
        let look = self.is_down.then_some(Self::LOOK_INTERVAL);
        let timeout = timeout.into_iter().chain(look).min();
        self.poll(socket, PollFlags::POLLIN, Some(&self.waker), timeout)?;
        // The woken thread examines all sources.
        let _ = self.waker.0.read();
        Ok(())
    }

    /// The socket has carried a frame, or frames.
    pub(crate) fn note_carried(&mut self) {
        self.is_down = false;
    }

    /// Records that frames were sent.
    pub(crate) fn note_sent(&mut self) {
        (self.is_down, self.is_stalled) = (false, false);
    }

    /// Continues after an error in receiving, or after finding nothing; fails where the interface cannot be
    /// used any more.
    pub(crate) fn note_not_received(&mut self, errno: Errno) -> Result<(), PortError> {
        match errno {
            Errno::EAGAIN | Errno::EINTR if self.is_down => self.look(),
            Errno::EAGAIN | Errno::EINTR => Ok(()),
            // Reading the error has cleared it.
            errno => self.note_error(errno),
        }
    }

    /// Returns the reaction to a frame that was not sent. Without room, it waits for at most `LONGEST_STALL`,
    /// and not while a watched descriptor is readable; then, or while the interface is down, the frame is
    /// lost, as on any network.
    pub(crate) fn note_not_sent(
        &mut self,
        socket: BorrowedFd<'_>,
        errno: Errno,
    ) -> Result<NotSent, PortError> {
        match errno {
            Errno::EINTR => Ok(NotSent::Again),
            Errno::EAGAIN if !self.is_stalled => {
                self.poll(socket, PollFlags::POLLOUT, None, Some(Self::LONGEST_STALL))?;
                // Until a frame is sent.
                self.is_stalled = true;
                Ok(NotSent::Again)
            }
            Errno::EAGAIN => {
                tracing::debug!(interface = self.name, "the socket takes no more, frames lost");
                Ok(NotSent::AllLost)
            }
            Errno::ENOBUFS => {
                tracing::debug!(interface = self.name, "send queue full, frame lost");
                Ok(NotSent::Lost)
            }
            errno => {
                self.note_error(errno)?;
                Ok(NotSent::AllLost)
            }
        }
    }

    /// Continues if the interface is down; returns any other error.
    fn note_error(&mut self, errno: Errno) -> Result<(), PortError> {
        match errno {
            Errno::ENETDOWN => {
                if !self.is_down {
                    tracing::warn!(
                        interface = self.name,
                        "it went down; frames are lost until it is up again"
                    );
                }
                self.is_down = true;
                self.look()
            }
            Errno::ENXIO | Errno::ENODEV => Err(PortError::Removed(self.name.clone())),
            errno => Err(self.system_error(errno)),
        }
    }

    /// Checks that the interface still exists, in the network namespace of this thread.
    fn look(&self) -> Result<(), PortError> {
        let removed = match if_indextoname(self.index) {
            // Answer of nix 0.31 for a number without an interface.
            Ok(name) => name.is_empty(),
            Err(errno) => matches!(errno, Errno::ENXIO | Errno::ENODEV),
        };
        if removed { Err(PortError::Removed(self.name.clone())) } else { Ok(()) }
    }

    fn system_error(&self, errno: Errno) -> PortError {
        PortError::System { name: self.name.clone(), source: errno.into() }
    }

    pub(crate) fn waker(&self) -> Arc<dyn Wake> {
        Arc::clone(&self.waker) as Arc<dyn Wake>
    }

    /// Makes waits also end when `source` is readable.
    pub(crate) fn watch(&mut self, source: OwnedFd) {
        self.watched.push(source);
    }

    /// Rejects frames that are longer than the interface's MTU. `socket` is bound to it; this thread may be
    /// in another network namespace.
    pub(crate) fn check_frame_bytes(&self, socket: impl AsFd, frame_bytes: usize) -> Result<(), PortError> {
        let mtu = crate::mtu_at(socket, &self.name).map_err(|source| refused(&self.name, source))?;
        let needed = frame_bytes.saturating_sub(inart_wire::ETHERNET_BYTES);
        if needed <= mtu {
            return Ok(());
        }
        Err(PortError::SmallMtu { name: self.name.clone(), mtu, frame_bytes, needed })
    }
}

/// Reaction to a frame that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// Send it again, now.
    Again,
    /// Frame lost.
    Lost,
    /// Frame lost, and the next ones as well.
    AllLost,
}

/// Wakes a port.
struct Waker(EventFd);

impl Wake for Waker {
    fn wake(&self) {
        // It counts; that it cannot count further is as good.
        let _ = self.0.write(1);
    }
}
