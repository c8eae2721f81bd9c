//! Receives and sends frames in batches: one system call for many frames.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};

use super::socket::PacketSocket;

/// Frames per system call.
const BATCH: usize = 64;
/// Room for a frame; the largest that generic segmentation offload makes.
const FRAME_BYTES: usize = 1 << 16;
/// Room before a frame for the VLAN tag that the kernel took out of it.
const TAG_BYTES: usize = 4;
const STRIDE: usize = FRAME_BYTES + TAG_BYTES;
const CONTROL_BYTES: usize = 64;

/// What the kernel says beside a frame, of linux/if_packet.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct AuxData {
    status: u32,
    len: u32,
    snaplen: u32,
    mac: u16,
    net: u16,
    vlan_tci: u16,
    vlan_tpid: u16,
}

const VLAN_VALID: u32 = 1 << 4;
const VLAN_TPID_VALID: u32 = 1 << 6;
const ETHERTYPE_VLAN: u16 = 0x8100;

/// Buffers for one call of `recvmmsg`.
pub struct Receiver {
    frames: Vec<u8>,
    control: Vec<[u64; CONTROL_BYTES / 8]>,
    vectors: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

impl Receiver {
    /// Buffers for a full batch.
    pub fn allocate() -> Receiver {
        let mut receiver = Receiver {
            frames: vec![0; BATCH * STRIDE],
            control: vec![[0; CONTROL_BYTES / 8]; BATCH],
            vectors: Vec::with_capacity(BATCH),
            // SAFETY: all fields of mmsghdr may be zero.
            headers: vec![unsafe { zeroed() }; BATCH],
        };
        // The heap buffers pointed into are never resized; they move with the receiver without moving
        // themselves.
        for frame in receiver.frames.chunks_exact_mut(STRIDE) {
            let base = frame[TAG_BYTES..].as_mut_ptr().cast();
            receiver.vectors.push(libc::iovec { iov_base: base, iov_len: FRAME_BYTES });
        }
        receiver
    }

    /// Receives what is there, up to a batch; the number of frames.
    ///
    /// # Errors
    /// What the socket reports.
    pub fn receive(&mut self, socket: &PacketSocket) -> io::Result<usize> {
        let slots = self.headers.iter_mut().zip(&mut self.vectors).zip(&mut self.control);
        for ((header, vector), control) in slots {
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_control = control.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = CONTROL_BYTES as _;
        }
        let fd = socket.as_fd().as_raw_fd();
        // SAFETY: each header points to a vector and a control buffer of its own, all owned by `self`.
        let count = unsafe {
            libc::recvmmsg(
                fd,
                self.headers.as_mut_ptr(),
                BATCH as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        match count {
            count if count >= 0 => Ok(count as usize),
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
                error => Err(error),
            },
        }
    }

    /// Frame `n` of the last batch, with its VLAN tag put back; `None` if it was cut.
    pub fn frame(&mut self, n: usize) -> Option<&[u8]> {
        let header = &self.headers[n];
        if header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 {
            return None;
        }
        let length = header.msg_len as usize;
        let tag = vlan_tag(&header.msg_hdr);
        let slot = &mut self.frames[n * STRIDE..(n + 1) * STRIDE];
        match tag {
            Some(tag) if length >= 12 => {
                slot.copy_within(TAG_BYTES..TAG_BYTES + 12, 0);
                slot[12..16].copy_from_slice(&tag);
                Some(&slot[..length + TAG_BYTES])
            }
            _ => Some(&slot[TAG_BYTES..TAG_BYTES + length]),
        }
    }
}

fn vlan_tag(header: &libc::msghdr) -> Option<[u8; 4]> {
    // SAFETY: the kernel filled the control buffer of this header with whole messages.
    let message = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() }?;
    if (message.cmsg_level, message.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // SAFETY: a PACKET_AUXDATA message carries an AuxData, perhaps not aligned.
    let data = unsafe { libc::CMSG_DATA(message).cast::<AuxData>().read_unaligned() };
    if data.status & VLAN_VALID == 0 {
        return None;
    }
    let kind = if data.status & VLAN_TPID_VALID != 0 { data.vlan_tpid } else { ETHERTYPE_VLAN };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), data.vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}

/// Frames that wait to be sent through one port.
#[derive(Default)]
pub struct Queue {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
}

/// What became of a queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    /// Taken by the interface.
    pub frames: u64,
    /// Refused: a full queue, an interface that is down, a frame that is too long.
    pub refused: u64,
}

impl Queue {
    /// Adds a frame at the end.
    pub fn push(&mut self, frame: &[u8]) {
        self.bytes.extend_from_slice(frame);
        self.lengths.push(frame.len());
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Sends everything. A frame the kernel refuses is dropped and counted; the others go on.
    pub fn flush(&mut self, socket: &PacketSocket) -> Sent {
        let mut sent = Sent::default();
        let (mut first, mut start) = (0, 0);
        while first < self.lengths.len() {
            let lengths = &self.lengths[first..self.lengths.len().min(first + BATCH)];
            let done = send(socket, &mut self.bytes[start..], lengths);
            // Nothing sent: the first frame is the one refused.
            let passed = if done == 0 {
                sent.refused += 1;
                1
            } else {
                sent.frames += done as u64;
                done
            };
            start += lengths[..passed].iter().sum::<usize>();
            first += passed;
        }
        self.bytes.clear();
        self.lengths.clear();
        sent
    }
}

/// One call of `sendmmsg`; the number of frames sent.
fn send(socket: &PacketSocket, bytes: &mut [u8], lengths: &[usize]) -> usize {
    // SAFETY: all fields of these structures may be zero.
    let (mut vectors, mut headers): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) =
        unsafe { (zeroed(), zeroed()) };
    let mut rest = bytes;
    for ((vector, header), &length) in vectors.iter_mut().zip(&mut headers).zip(lengths) {
        let (frame, after) = rest.split_at_mut(length);
        rest = after;
        *vector = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: length };
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
    }
    let count = lengths.len().min(BATCH) as u32;
    // SAFETY: the first `count` headers point to vectors of frames that live through the call.
    let done = unsafe {
        libc::sendmmsg(socket.as_fd().as_raw_fd(), headers.as_mut_ptr(), count, libc::MSG_DONTWAIT)
    };
    usize::try_from(done).unwrap_or(0)
}

const _: () = assert!(size_of::<AuxData>() + size_of::<libc::cmsghdr>() <= CONTROL_BYTES);
