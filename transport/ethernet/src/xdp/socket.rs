//! An AF_XDP socket and its memory.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::null;
use std::time::{Duration, Instant};

use xdp::libc::xdp::XDP_PACKET_HEADROOM;
use xdp::nic::NicIndex;
use xdp::slab::{HeapSlab, Slab};
use xdp::socket::{BindFlags, SocketError, XdpSocketBuilder};
use xdp::umem::{FrameSize, UmemCfgBuilder};
use xdp::{CompletionRing, RingConfigBuilder, RxRing, Umem, WakableFillRing, WakableRings, WakableTxRing};

use super::error::XdpError;
use super::program::Program;
use crate::BATCH;

/// Number of buffers for received frames, and for sent ones. The rings have the same number of places, so
/// none of them is ever full. Powers of two.
const INCOMING: usize = 4096;
const OUTGOING: usize = 1024;
/// Bytes of a piece; the kernel keeps the first of them for itself.
const PIECE_BYTES: usize = 4096;

/// The longest frame that a socket receives or sends: one piece of memory holds it.
pub const MOST_FRAME_BYTES: usize = PIECE_BYTES - XDP_PACKET_HEADROOM as usize;
/// The shortest that the kernel sends: an Ethernet header.
const LEAST_FRAME_BYTES: usize = 14;

/// Receives the frames of one EtherType that arrive on one queue of an interface, and sends frames there,
/// bypassing the interface's queueing discipline: no shaping applies. Tools like tcpdump do not see these
/// frames.
pub struct XdpSocket {
    // Dropped in this order: the kernel gets the frames again, then it forgets the memory, then that goes.
    program: Program,
    socket: xdp::socket::XdpSocket,
    filling: WakableFillRing,
    incoming: RxRing,
    outgoing: WakableTxRing,
    completed: CompletionRing,
    /// Received frames that were not passed on yet: empty between calls.
    received: HeapSlab,
    /// Frames that are not in the ring yet.
    written: HeapSlab,
    /// Frames in the ring, and in the kernel or the NIC.
    sending: usize,
    umem: Umem,
    is_zero_copy: bool,
}

// SAFETY: the frames in it point into its own memory, and neither the memory nor the rings belong to a
// thread.
unsafe impl Send for XdpSocket {}

/// Result of writing a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Frame queued to be sent.
    Frame,
    /// There was none.
    Nothing,
    /// There is no room: all memory for frames that go out is in use.
    NoRoom,
}

impl XdpSocket {
    /// Opens a socket on that queue, counted from 0, of interface number `index` in this thread's network
    /// namespace. No frame of that EtherType that arrives on the queue reaches the kernel while it is open.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses: the privileges for raw sockets, network administration and BPF
    /// are needed, and no other program may use XDP on the interface.
    pub fn open(index: libc::c_int, queue: u32, ether_type: u16) -> Result<Self, XdpError> {
        let program = Program::attach(index, ether_type, queue + 1)?;
        let memory = UmemCfgBuilder {
            frame_size: FrameSize::FourK,
            frame_count: (INCOMING + OUTGOING) as u32,
            ..UmemCfgBuilder::default()
        };
        let memory = memory.build().map_err(|error| io::Error::other(error.to_string()));
        let mut umem = memory.and_then(Umem::map).map_err(XdpError::of("mapping memory for frames"))?;
        let (socket, rings) = bind_when_free(&umem, index, queue, program.is_native())?;
        let WakableRings { fill_ring, rx_ring, completion_ring, tx_ring } = rings;
        let (mut filling, Some(incoming), Some(outgoing)) = (fill_ring, rx_ring, tx_ring) else {
            return Err(XdpError::of("making rings")(io::ErrorKind::Unsupported.into()));
        };
        // SAFETY: the memory is dropped after the socket.
        let filled = unsafe { filling.enqueue(&mut umem, INCOMING, false) };
        filled.map_err(XdpError::of("filling a ring"))?;
        // SAFETY: the descriptor is the socket's, which is valid through the calls.
        let borrowed = unsafe { BorrowedFd::borrow_raw(socket.raw_fd()) };
        let is_zero_copy = is_zero_copy(borrowed).map_err(XdpError::of("asking for its options"))?;
        program.redirect(queue, borrowed)?;
        Ok(Self {
            program,
            socket,
            filling,
            incoming,
            outgoing,
            completed: completion_ring,
            received: HeapSlab::with_capacity(BATCH),
            written: HeapSlab::with_capacity(OUTGOING),
            sending: 0,
            umem,
            is_zero_copy,
        })
    }

    /// Returns whether the program that redirects frames runs in the interface's driver.
    pub fn is_native(&self) -> bool {
        self.program.is_native()
    }

    /// Returns whether the NIC itself fills the memory and sends from it.
    pub fn is_zero_copy(&self) -> bool {
        self.is_zero_copy
    }

    /// Hands over the frames that are there, some tens of them at most, as they are in memory; how many.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8])) -> usize {
        // SAFETY: the frames are given back to the memory below, before it can go.
        let count = unsafe { self.incoming.recv(&self.umem, &mut self.received) };
        while let Some(frame) = self.received.pop_back() {
            take(&frame);
            self.umem.free_packet(frame);
        }
        // SAFETY: the memory is dropped after the socket. Without a wake-up this does not fail; a wait on the
        // socket wakes the driver.
        let _ = unsafe { self.filling.enqueue(&mut self.umem, count, false) };
        count
    }

    /// Has `fill` write a frame to the front of `room` bytes of the memory, which hold anything; it returns
    /// the frame's length, or `None` if there is no frame.
    ///
    /// # Panics
    /// If `room` is more than [`MOST_FRAME_BYTES`], or the frame longer than `room` or no Ethernet frame.
    pub fn write(&mut self, room: usize, fill: impl FnOnce(&mut [u8]) -> Option<usize>) -> Written {
        assert!(room <= MOST_FRAME_BYTES, "room for {room} bytes: {MOST_FRAME_BYTES} at most");
        if !self.has_room() {
            return Written::NoRoom;
        }
        // SAFETY: the frame returns to the memory, or goes into the ring, or stays next to the memory.
        let Some(mut frame) = (unsafe { self.umem.alloc() }) else { return Written::NoRoom };
        frame.adjust_tail(room as i32).expect("a new frame has room for the longest");
        let Some(length) = fill(&mut frame) else {
            self.umem.free_packet(frame);
            return Written::Nothing;
        };
        assert!((LEAST_FRAME_BYTES..=room).contains(&length), "a frame of {length} bytes in room for {room}");
        frame.adjust_tail(length as i32 - room as i32).expect("it is not longer than the room");
        let refused = self.written.push_front(frame);
        assert!(refused.is_none(), "as many frames as may go out have a place");
        Written::Frame
    }

    /// Frames that were written since the last [`send`](Self::send).
    pub fn written(&self) -> usize {
        self.written.len()
    }

    /// Returns whether another frame can be written: it may have to wait until others are sent.
    pub fn has_room(&mut self) -> bool {
        let is_full = |socket: &Self| socket.sending + socket.written.len() == OUTGOING;
        !is_full(self) || (self.reclaim() > 0 && !is_full(self))
    }

    /// Makes the kernel send the written frames, and those that it did not take before.
    ///
    /// # Errors
    /// Returns why the kernel did not take all frames: `EAGAIN` if the interface has no room. The remaining
    /// frames wait for the next call, or are sent during a poll of the socket.
    pub fn send(&mut self) -> io::Result<()> {
        // SAFETY: the memory is dropped after the socket.
        self.sending += unsafe { self.outgoing.send(&mut self.written, false) }?;
        // The kernel takes 32 frames at a time, and then returns `EAGAIN`, as if the interface had no room.
        let mut tries = self.sending.div_ceil(32);
        loop {
            let sent = self.wake();
            let progress = self.reclaim();
            match sent {
                Err(_) if progress > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && tries > 0 => tries -= 1,
                sent => return sent,
            }
        }
    }

    /// Wakes the sender; if frames are copied, that is this call.
    fn wake(&self) -> io::Result<()> {
        // SAFETY: a plain system call: there is no message and no address.
        let done = unsafe { libc::sendto(self.socket.raw_fd(), null(), 0, libc::MSG_DONTWAIT, null(), 0) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes back the memory of frames that were sent; of how many.
    fn reclaim(&mut self) -> usize {
        let sent = self.completed.dequeue(&mut self.umem, self.sending);
        self.sending -= sent;
        sent
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is the socket's, which this borrows.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// The kernel gives the queue of a closed socket back a little later, from a work queue.
const FREED_WITHIN: Duration = Duration::from_secs(1);

/// Calls [`bind`] when the previous socket of the queue is closed.
fn bind_when_free(
    umem: &Umem,
    index: libc::c_int,
    queue: u32,
    is_native: bool,
) -> Result<(xdp::socket::XdpSocket, WakableRings), XdpError> {
    let begun = Instant::now();
    loop {
        match bind(umem, index, queue, is_native) {
            Err(error) if error.is_taken() && begun.elapsed() < FREED_WITHIN => {
                std::thread::sleep(Duration::from_millis(5));
            }
            bound => return bound,
        }
    }
}

/// Makes a socket with that memory, and binds it to a queue of the interface: without copies where the driver
/// can do without, and runs the program.
fn bind(
    umem: &Umem,
    index: libc::c_int,
    queue: u32,
    is_native: bool,
) -> Result<(xdp::socket::XdpSocket, WakableRings), XdpError> {
    let rings = RingConfigBuilder {
        rx_count: INCOMING as u32,
        fill_count: INCOMING as u32,
        tx_count: OUTGOING as u32,
        completion_count: OUTGOING as u32,
    };
    let rings = rings.build().map_err(|error| io::Error::other(error.to_string()));
    let rings = rings.map_err(XdpError::of("making rings"))?;
    let mut builder =
        XdpSocketBuilder::new().map_err(|error| XdpError::of("making a socket")(io_error(error)))?;
    let (rings, mut flags): (_, BindFlags) = builder
        .build_wakable_rings(umem, rings)
        .map_err(|error| XdpError::of("sharing memory with the kernel")(io_error(error)))?;
    if !is_native {
        flags.force_copy();
    }
    let socket = builder.bind(NicIndex(index as u32), queue, flags);
    Ok((socket.map_err(|error| XdpError::of("binding a socket to the queue")(io_error(error)))?, rings))
}

fn io_error(error: SocketError) -> io::Error {
    match error {
        SocketError::SocketCreation(inner)
        | SocketError::Bind(inner)
        | SocketError::SetSockOpt { inner, .. }
        | SocketError::GetSockOpt { inner, .. }
        | SocketError::RingMap { inner, .. } => inner,
    }
}

/// Returns whether frames are not copied.
fn is_zero_copy(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let mut options = libc::xdp_options { flags: 0 };
    let mut length = size_of::<libc::xdp_options>() as libc::socklen_t;
    // SAFETY: the options and their length are valid through the call.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_OPTIONS,
            (&raw mut options).cast(),
            &raw mut length,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
}
