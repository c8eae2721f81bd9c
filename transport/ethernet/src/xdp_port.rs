//! A raw Ethernet interface through AF_XDP, which bypasses most of the kernel.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use inart_wire::ETHER_TYPE;
use nix::errno::Errno;

use crate::BATCH;
use crate::interface::{self, Interface, NotSent, RECEIVE_BUFFER_BYTES};
use crate::port_error::PortError;
use crate::receiver::Receiver;
use crate::socket::{PacketSocket, SocketOptions};
use crate::transport::{Transport, Wake};
use crate::xdp::{MOST_FRAME_BYTES, Written, XdpError, XdpSocket};

/// An interface opened for INART frames, for fast NICs: frames are written and read where the NIC's driver
/// finds and leaves them, without a copy if the driver supports that. Frames of other types go through the
/// kernel as before.
///
/// Sent frames bypass the interface's queueing discipline: `tc` neither shapes nor delays nor counts them. So
/// the port is not for interfaces on which a shaper emulates a slow link, or shares a link with other
/// traffic; the job's own pacing stays. Tools like tcpdump see neither sent nor received frames.
///
/// Frames are received on queue 0, where most NICs deliver frames other than IP. Frames of other queues
/// arrive through the kernel, later and at a higher cost, and a warning reports them.
///
/// A frame has up to 3840 bytes; longer jumbo frames are rejected. As with
/// [`BatchedPort`](crate::BatchedPort), the interface may go down and up again, and only waits block, and
/// sends for some tens of milliseconds. On veth, and if the driver has no XDP, the port works without a gain.
pub struct XdpPort {
    interface: Interface,
    socket: XdpSocket,
    /// Receives the frames of other queues, keeps the interface promiscuous, and notices when the interface
    /// goes down.
    others: PacketSocket,
    others_received: Receiver,
    /// Whether there were such frames: then they are looked for each time.
    has_others: bool,
    /// The longest frame of the job.
    frame_bytes: usize,
    /// Frames that are lost are written here.
    lost: Box<[u8]>,
    /// Whether the kernel has not taken all that was written.
    has_unsent: bool,
    /// Whether the last frame found no room, and waiting did not help.
    is_full: bool,
}

impl XdpPort {
    /// Longest wait of a frame for room, as in [`Interface`], and interval of the checks.
    const LONGEST_WAIT: Duration = Duration::from_millis(50);
    const LOOK_INTERVAL: Duration = Duration::from_micros(20);
    const QUEUE: u32 = 0;

    /// Opens the interface of that name, in this thread's network namespace.
    ///
    /// # Errors
    /// [`PortError`] for an interface that does not exist or cannot be opened: the privileges of root are
    /// needed, nothing else may use XDP there, and Linux has to be 5.18 or later.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let found = interface::find(name)?;
        let refused = |source: io::Error| interface::refused(name, source);
        let index = found.index as i32;
        let socket = XdpSocket::open(index, Self::QUEUE, ETHER_TYPE);
        let socket = socket.map_err(|error| not_opened(name, error))?;
        tracing::info!(
            interface = name,
            native = socket.is_native(),
            zero_copy = socket.is_zero_copy(),
            "AF_XDP is open"
        );
        let options = SocketOptions {
            ether_type: Some(ETHER_TYPE),
            receive_buffer_bytes: RECEIVE_BUFFER_BYTES,
            send_buffer_bytes: None,
            ..SocketOptions::EVERYTHING
        };
        let others = PacketSocket::open(index, &options).map_err(refused)?;
        let mut interface = Interface::new(&found)?;
        interface.watch(others.as_fd().try_clone_to_owned().map_err(refused)?);
        Ok(Self {
            interface,
            socket,
            others,
            others_received: Receiver::with_room(1, 1),
            has_others: false,
            frame_bytes: 0,
            lost: Box::default(),
            has_unsent: false,
            is_full: false,
        })
    }

    /// Sends the written frames. Returns whether the kernel took all of them. Remaining frames are sent
    /// later, or lost with the interface.
    fn flush(&mut self) -> Result<bool, PortError> {
        self.has_unsent = true;
        while let Err(error) = self.socket.send() {
            let errno = match error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw) {
                Errno::EBUSY | Errno::ENOBUFS | Errno::ENOMEM => Errno::EAGAIN,
                // Drivers also return this error while they set up their queues again.
                Errno::ENXIO => Errno::ENETDOWN,
                errno => errno,
            };
            match self.interface.note_not_sent(self.socket.as_fd(), errno)? {
                NotSent::Again => {}
                NotSent::Lost | NotSent::AllLost => return Ok(false),
            }
        }
        self.has_unsent = false;
        self.interface.note_sent();
        Ok(true)
    }

    /// Waits briefly for space in the transmit ring. Returns whether it has space.
    fn wait_for_room(&mut self) -> Result<bool, PortError> {
        // Only once, until there was room again.
        let longest = if self.is_full { Duration::ZERO } else { Self::LONGEST_WAIT };
        let start = Instant::now();
        self.is_full = false;
        while self.flush()? {
            if self.socket.has_room() {
                return Ok(true);
            }
            if start.elapsed() >= longest {
                break;
            }
            thread::sleep(Self::LOOK_INTERVAL);
        }
        self.is_full = true;
        Ok(self.socket.has_room())
    }

    /// Takes the frames that arrived through the kernel. Returns their number.
    fn receive_others(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let count = match self.others_received.receive(&self.others) {
            Ok(count) => count,
            Err(error) => {
                let errno = error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw);
                self.interface.note_not_received(errno)?;
                return Ok(0);
            }
        };
        // One that was cut is longer than any frame of the job: the state machine counts it as none.
        (0..count).for_each(|n| take(self.others_received.frame(n).unwrap_or_default()));
        if count > 0 && !self.has_others {
            self.has_others = true;
            tracing::warn!(
                "interface {0}: frames come at other receive queues than 0, or with VLAN tags, and so by way of \
                 the kernel; where it has several queues, `ethtool -L {0} combined 1` makes them one",
                self.interface.name
            );
        }
        Ok(count)
    }
}

fn not_opened(name: &str, error: XdpError) -> PortError {
    if error.is_permission() {
        return PortError::XdpPermission(name.into());
    }
    if error.is_taken() {
        return PortError::XdpTaken(name.into());
    }
    PortError::Xdp { name: name.into(), source: error }
}

impl AsFd for XdpPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Transport for XdpPort {
    fn name(&self) -> &str {
        &self.interface.name
    }

    fn prepare(&mut self, frame_bytes: usize) -> Result<(), PortError> {
        if frame_bytes > MOST_FRAME_BYTES {
            let name = self.interface.name.clone();
            return Err(PortError::XdpFrame { name, frame_bytes, most: MOST_FRAME_BYTES });
        }
        self.interface.check_frame_bytes(&self.others, frame_bytes)?;
        self.others_received = Receiver::with_room(BATCH, frame_bytes);
        self.lost = vec![0; frame_bytes].into();
        self.frame_bytes = frame_bytes;
        Ok(())
    }

    fn transmit(&mut self, fill: &mut dyn FnMut(&mut [u8]) -> Option<usize>) -> Result<(), PortError> {
        loop {
            match self.socket.write(self.frame_bytes, &mut *fill) {
                Written::Frame if self.socket.written() < BATCH => {}
                Written::Frame => _ = self.flush()?,
                Written::Nothing => {
                    if self.has_unsent || self.socket.written() > 0 {
                        self.flush()?;
                    }
                    return Ok(());
                }
                Written::NoRoom => {
                    if !self.wait_for_room()? {
                        tracing::debug!(interface = self.interface.name, "no room, frames lost");
                        while fill(&mut self.lost).is_some() {}
                        return Ok(());
                    }
                }
            }
        }
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<usize, PortError> {
        let mut count = self.socket.receive(&mut *take);
        if count == 0 || self.has_others {
            count += self.receive_others(take)?;
        }
        match count {
            0 => self.interface.note_not_received(Errno::EAGAIN)?,
            _ => self.interface.note_carried(),
        }
        Ok(count)
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
