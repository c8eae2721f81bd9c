//! The arguments of `recvmmsg` and `sendmmsg`.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd};

use crate::PacketSocket;

/// One header and one vector per frame.
pub(crate) struct Messages {
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the pointers in it are set right before each system call, to memory that the caller holds through
// the call. They are not dereferenced between calls.
unsafe impl Send for Messages {}

impl Messages {
    /// Creates room for `frames` frames.
    pub(crate) fn allocate(frames: usize) -> Self {
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Self {
            vectors: vec![vector; frames],
            // SAFETY: all fields of mmsghdr may be zero.
            headers: vec![unsafe { zeroed() }; frames],
        }
    }

    /// Sets message `n` to these bytes; the kernel's control data goes to `control`, if given.
    fn set(&mut self, n: usize, bytes: &mut [u8], control: Option<&mut [u64]>) {
        self.vectors[n] = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let header = &mut self.headers[n].msg_hdr;
        header.msg_iov = &raw mut self.vectors[n];
        header.msg_iovlen = 1;
        if let Some(control) = control {
            header.msg_control = control.as_mut_ptr().cast();
            header.msg_controllen = size_of_val(control) as _;
        }
    }

    /// Sends frames of these lengths, which follow each other in `bytes`; how many the kernel took, at least
    /// one.
    ///
    /// # Errors
    /// Returns why the first was not taken.
    pub(crate) fn send(
        &mut self,
        socket: &PacketSocket,
        mut bytes: &mut [u8],
        lengths: &[usize],
    ) -> io::Result<usize> {
        let count = lengths.len().min(self.headers.len());
        for (n, &length) in lengths[..count].iter().enumerate() {
            let (frame, rest) = bytes.split_at_mut(length);
            self.set(n, frame, None);
            bytes = rest;
        }
        // SAFETY: the first `count` headers point to vectors of frames, which are borrowed for the call.
        let done = unsafe {
            libc::sendmmsg(
                socket.sender().as_raw_fd(),
                self.headers.as_mut_ptr(),
                count as u32,
                libc::MSG_DONTWAIT,
            )
        };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }

    /// Receives into buffers, each with room for the kernel's control data. Returns the number of frames, 0
    /// if none is queued.
    ///
    /// # Errors
    /// Returns the socket's error.
    pub(crate) fn receive<'a>(
        &mut self,
        socket: &PacketSocket,
        buffers: impl Iterator<Item = (&'a mut [u8], &'a mut [u64])>,
    ) -> io::Result<usize> {
        let mut count = 0;
        for (n, (buffer, control)) in buffers.take(self.headers.len()).enumerate() {
            self.set(n, buffer, Some(control));
            count = n + 1;
        }
        // SAFETY: the first `count` headers point to vectors and control buffers, each of its own, which are
        // borrowed for the call.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                self.headers.as_mut_ptr(),
                count as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        usize::try_from(received).or_else(|_| match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            error => Err(error),
        })
    }

    /// Returns the length of message `n` as received, and whether it was longer than its buffer.
    pub(crate) fn received(&self, n: usize) -> (usize, bool) {
        let header = &self.headers[n];
        (header.msg_len as usize, header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0)
    }

    /// Returns how much of the control buffer the kernel has filled for message `n`, in bytes.
    pub(crate) fn control_bytes(&self, n: usize) -> usize {
        self.headers[n].msg_hdr.msg_controllen
    }
}
