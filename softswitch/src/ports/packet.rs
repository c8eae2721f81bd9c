//! Raw Ethernet on one interface, in batches: `recvmmsg` and `sendmmsg` on a packet socket.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

/// Frames per system call.
pub const BATCH: usize = 64;
/// Room for a frame of 1500 bytes of payload with its Ethernet and VLAN headers.
pub const FRAME_BYTES: usize = 1536;
/// Asked of the kernel for frames that wait to be read or sent; it may give less.
const BUFFER_BYTES: libc::c_int = 8 << 20;

/// A packet socket bound to one interface, promiscuous. It never blocks, and does not see what was sent from here.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
}

/// At most [`BATCH`] frames.
#[derive(Debug)]
pub struct Batch {
    buffers: Box<[[u8; FRAME_BYTES]]>,
    lengths: [usize; BATCH],
    count: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self { buffers: vec![[0; FRAME_BYTES]; BATCH].into(), lengths: [0; BATCH], count: 0 }
    }
}

impl Batch {
    /// The frames, in order.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.buffers.iter().zip(self.lengths).take(self.count).map(|(buffer, length)| &buffer[..length])
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there is room for no more.
    pub fn is_full(&self) -> bool {
        self.count == BATCH
    }

    /// Forgets all frames.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Keeps the frames that `keep` says yes to, asked once for each in order.
    pub fn retain(&mut self, mut keep: impl FnMut(&[u8]) -> bool) {
        let mut kept = 0;
        for index in 0..self.count {
            let length = self.lengths[index];
            if keep(&self.buffers[index][..length]) {
                self.buffers.swap(kept, index);
                self.lengths[kept] = length;
                kept += 1;
            }
        }
        self.count = kept;
    }

    /// Adds a frame; false when the batch is full or the frame longer than [`FRAME_BYTES`].
    pub fn push(&mut self, frame: &[u8]) -> bool {
        if self.is_full() || frame.len() > FRAME_BYTES {
            return false;
        }
        self.buffers[self.count][..frame.len()].copy_from_slice(frame);
        self.lengths[self.count] = frame.len();
        self.count += 1;
        true
    }
}

impl PacketSocket {
    /// Opens the interface of that name in the calling thread's network namespace.
    ///
    /// # Errors
    /// `NotFound` when there is no such interface, else what the system says.
    pub fn open(interface: &str) -> io::Result<Self> {
        let index = nix::net::if_::if_nametoindex(interface)
            .map_err(|_| io::Error::new(io::ErrorKind::NotFound, format!("no interface {interface}")))?;
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: socket returns an owned descriptor or -1. Protocol 0: nothing is received before bind.
        let fd = unsafe {
            match libc::socket(libc::AF_PACKET, kind, 0) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        let socket = Self { fd };
        socket.set_option(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1i32)?;
        // Larger buffers are a wish: without CAP_NET_ADMIN the defaults stay.
        let _ = socket.set_option(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER_BYTES);
        let _ = socket.set_option(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &BUFFER_BYTES);
        // SAFETY: an all-zero packet_mreq is valid.
        let mut promiscuous: libc::packet_mreq = unsafe { zeroed() };
        promiscuous.mr_ifindex = index as libc::c_int;
        promiscuous.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
        socket.set_option(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        // SAFETY: an all-zero sockaddr_ll is valid; bind reads as many bytes as it is told.
        unsafe {
            let mut address: libc::sockaddr_ll = zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
            address.sll_ifindex = index as libc::c_int;
            let length = size_of_val(&address) as libc::socklen_t;
            if libc::bind(socket.fd.as_raw_fd(), (&raw const address).cast(), length) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(socket)
    }

    fn set_option<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the value lives through the call, and its size is told.
        match unsafe {
            libc::setsockopt(self.fd.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length)
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Reads the frames that wait, at most a batch, in the place of what was in it; how many there were.
    /// A frame longer than [`FRAME_BYTES`] is cut off there.
    pub fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.count = 0;
        // SAFETY: all-zero iovec and mmsghdr are valid: no buffers, no name, no control data.
        let (mut parts, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) = unsafe { zeroed() };
        for ((part, message), buffer) in parts.iter_mut().zip(&mut messages).zip(batch.buffers.iter_mut()) {
            *part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: FRAME_BYTES };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: each message points to one part, and that to its own buffer; all live through the call.
        let count = unsafe {
            let fd = self.fd.as_raw_fd();
            libc::recvmmsg(fd, messages.as_mut_ptr(), BATCH as u32, libc::MSG_DONTWAIT as _, null_mut())
        };
        if count < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            };
        }
        batch.count = count as usize;
        for (length, message) in batch.lengths.iter_mut().zip(&messages[..batch.count]) {
            *length = (message.msg_len as usize).min(FRAME_BYTES);
        }
        Ok(batch.count)
    }

    /// Sends the frames in order; how many the interface took. The rest is lost, as on a full link.
    pub fn send(&self, batch: &Batch) -> io::Result<usize> {
        // SAFETY: as in `receive`.
        let (mut parts, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) = unsafe { zeroed() };
        for ((part, message), frame) in parts.iter_mut().zip(&mut messages).zip(batch.frames()) {
            *part = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
        }
        let mut sent = 0;
        while sent < batch.count {
            // SAFETY: as in `receive`; sendmmsg only reads the frames.
            let count = unsafe {
                let (first, count) = (messages[sent..].as_mut_ptr(), (batch.count - sent) as u32);
                libc::sendmmsg(self.fd.as_raw_fd(), first, count, 0)
            };
            if count < 0 {
                let error = io::Error::last_os_error();
                return match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::ENOBUFS) => Ok(sent),
                    Some(libc::EINTR) => continue,
                    _ => Err(error),
                };
            }
            sent += count as usize;
        }
        Ok(sent)
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
