//! Receives frames in memory that the kernel shares (`PACKET_MMAP`): without a system call, without a copy.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::PacketSocket;
use crate::receiver::{ADDRESSES_BYTES, TAG_BYTES, tag_of};

/// Bytes of a block of slots, each of which is one piece of the machine's memory.
const BLOCK_BYTES: usize = 1 << 16;
/// Start of the bytes after the Ethernet header in a slot, as the kernel lays it out for headers of version
/// 2.
const PAYLOAD_AT: usize = libc::TPACKET_ALIGNMENT * TPACKET2_ALIGNED.div_ceil(libc::TPACKET_ALIGNMENT);
const TPACKET2_ALIGNED: usize = HEADER_BYTES + size_of::<libc::sockaddr_ll>() + 16;
const HEADER_BYTES: usize = size_of::<libc::tpacket2_hdr>();

/// Slots for frames, filled by the kernel one after the other. Frames that find no free slot are lost.
pub struct Ring {
    memory: NonNull<u8>,
    bytes: usize,
    slot_bytes: usize,
    slots: usize,
    /// The slot that is filled next.
    next: usize,
}

// SAFETY: the memory is this ring's alone in this process; the kernel and one thread take turns at each slot,
// by the slot's status.
unsafe impl Send for Ring {}

impl Ring {
    /// Makes the socket receive into `bytes` bytes of slots, for frames of up to `frame_bytes` bytes. Frames
    /// queued at the socket are lost; later frames are received only through the ring.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses: it has no memory, or no rings.
    pub fn map(socket: &PacketSocket, bytes: usize, frame_bytes: usize) -> io::Result<Self> {
        let slot_bytes = (PAYLOAD_AT + frame_bytes).next_multiple_of(libc::TPACKET_ALIGNMENT);
        let blocks = bytes.div_ceil(BLOCK_BYTES).max(1);
        let slots = blocks * (BLOCK_BYTES / slot_bytes);
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: slot_bytes as u32,
            tp_frame_nr: slots as u32,
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let bytes = blocks * BLOCK_BYTES;
        let (access, fd) = (libc::PROT_READ | libc::PROT_WRITE, socket.as_fd().as_raw_fd());
        // SAFETY: a new mapping, wherever there is room; nothing else is touched.
        let memory = unsafe { libc::mmap(null_mut(), bytes, access, libc::MAP_SHARED, fd, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Self { memory, bytes, slot_bytes, slots, next: 0 })
    }

    /// Hands over the frames that are there, `most` at most, with their VLAN tags put back; `None` for one
    /// that was cut. Returns how many there were.
    pub fn receive(&mut self, most: usize, mut take: impl FnMut(Option<&[u8]>)) -> usize {
        for count in 0..most {
            let per_block = BLOCK_BYTES / self.slot_bytes;
            let at = self.next / per_block * BLOCK_BYTES + self.next % per_block * self.slot_bytes;
            // SAFETY: the slot is within the mapping, and starts at a multiple of 16 bytes.
            let slot = unsafe { self.memory.add(at) };
            // SAFETY: a slot starts with its status, which the kernel and this thread change atomically.
            let status = unsafe { AtomicU32::from_ptr(slot.as_ptr().cast()) };
            let said = status.load(Ordering::Acquire);
            if said & libc::TP_STATUS_USER == 0 {
                return count;
            }
            // SAFETY: by its status the slot, whose header the kernel has filled in, is this thread's until
            // it is released below.
            let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
            // SAFETY: as above; the slot is longer than its header.
            let rest = unsafe {
                std::slice::from_raw_parts_mut(
                    slot.add(HEADER_BYTES).as_ptr(),
                    self.slot_bytes - HEADER_BYTES,
                )
            };
            take(frame(&header, rest));
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % self.slots;
        }
        most
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` and is used no more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

/// Returns the frame in a slot; `rest` is the slot after the header; `None` if the frame was cut.
fn frame<'a>(header: &libc::tpacket2_hdr, rest: &'a mut [u8]) -> Option<&'a [u8]> {
    let from = usize::from(header.tp_mac).checked_sub(HEADER_BYTES)?;
    let length = header.tp_snaplen as usize;
    if header.tp_len != header.tp_snaplen {
        return None;
    }
    match tag_of(header.tp_status, header.tp_vlan_tci, header.tp_vlan_tpid) {
        Some(tag) if length >= ADDRESSES_BYTES && from >= TAG_BYTES => {
            let frame = rest.get_mut(from - TAG_BYTES..from + length)?;
            frame.copy_within(TAG_BYTES..TAG_BYTES + ADDRESSES_BYTES, 0);
            frame[ADDRESSES_BYTES..][..TAG_BYTES].copy_from_slice(&tag);
            Some(frame)
        }
        _ => rest.get(from..from + length),
    }
}
