//! Raw Ethernet on one interface, in batches.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;

/// Frames per system call.
const BATCH: usize = 64;
/// Room for a frame of 1500 bytes of payload and its Ethernet and VLAN headers.
const FRAME_BYTES: usize = 1536;
/// Asked of the kernel for frames that wait to be read; it may give less.
const RECEIVE_BUFFER_BYTES: libc::c_int = 4 << 20;

/// A packet socket bound to one interface. It never blocks, and does not see what it sent itself.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
}

/// Frames received together.
pub struct Batch {
    buffers: Box<[[u8; FRAME_BYTES]; BATCH]>,
    lengths: [usize; BATCH],
    count: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self { buffers: Box::new([[0; FRAME_BYTES]; BATCH]), lengths: [0; BATCH], count: 0 }
    }
}

impl Batch {
    /// As many frames of zeros, at most a full batch, as are to be sent.
    pub fn of_zeros(frames: usize, bytes: usize) -> Self {
        let count = frames.min(BATCH);
        Self { lengths: [bytes.min(FRAME_BYTES); BATCH], count, ..Self::default() }
    }
}

impl PacketSocket {
    /// Opens the interface of that name in the calling thread's network namespace.
    pub fn open(interface: &str) -> io::Result<Self> {
        let index = nix::net::if_::if_nametoindex(interface)?;
        let protocol = (libc::ETH_P_ALL as u16).to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: socket returns an owned descriptor or -1. Protocol 0: nothing is received before bind.
        let fd = unsafe {
            match libc::socket(libc::AF_PACKET, kind, 0) {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        let socket = Self { fd };
        socket.set_option(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
        socket.set_option(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)?;
        // SAFETY: an all-zero sockaddr_ll is valid; bind reads as many bytes as it is told.
        unsafe {
            let mut address: libc::sockaddr_ll = std::mem::zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = protocol;
            address.sll_ifindex = index as libc::c_int;
            let length = size_of_val(&address) as libc::socklen_t;
            if libc::bind(socket.fd.as_raw_fd(), (&raw const address).cast(), length) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(socket)
    }

    fn set_option(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        let length = size_of_val(&value) as libc::socklen_t;
        // SAFETY: the option's value is a C int that lives through the call.
        match unsafe {
            libc::setsockopt(self.fd.as_raw_fd(), level, option, (&raw const value).cast(), length)
        } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Reads the frames that wait, at most a batch; how many there were.
    pub fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.count = 0;
        let mut parts = batch
            .buffers
            .each_mut()
            .map(|buffer| libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: FRAME_BYTES });
        let mut messages = parts.each_mut().map(message);
        // SAFETY: each message points to one iovec, and that to its own buffer; all live through the call.
        let count = unsafe {
            libc::recvmmsg(
                self.fd.as_raw_fd(),
                messages.as_mut_ptr(),
                BATCH as u32,
                libc::MSG_DONTWAIT as _,
                null_mut(),
            )
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
            *length = message.msg_len as usize;
        }
        Ok(batch.count)
    }

    /// Sends the frames of the batch that `keep` chooses, in order; how many the interface took.
    pub fn send(&self, batch: &mut Batch, mut keep: impl FnMut() -> bool) -> io::Result<usize> {
        let mut parts = [libc::iovec { iov_base: null_mut(), iov_len: 0 }; BATCH];
        let mut kept = 0;
        for (buffer, &length) in batch.buffers.iter_mut().zip(&batch.lengths[..batch.count]) {
            if keep() {
                parts[kept] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length };
                kept += 1;
            }
        }
        let mut messages = parts.each_mut().map(message);
        let mut sent = 0;
        while sent < kept {
            // SAFETY: as in `receive`; sendmmsg only reads the buffers.
            let count = unsafe {
                let (first, count) = (messages[sent..].as_mut_ptr(), (kept - sent) as u32);
                libc::sendmmsg(self.fd.as_raw_fd(), first, count, 0)
            };
            if count < 0 {
                let error = io::Error::last_os_error();
                return match error.raw_os_error() {
                    // The interface is full: the rest is lost, as on a full link.
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

fn message(part: &mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: an all-zero mmsghdr is valid: no name, no parts, no control data.
    let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
    message.msg_hdr.msg_iov = part;
    message.msg_hdr.msg_iovlen = 1;
    message
}
