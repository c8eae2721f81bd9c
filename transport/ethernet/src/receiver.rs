//! Receives frames in batches: one system call for many frames.

use std::io;
use std::mem::size_of;

use crate::messages::Messages;
use crate::offload::{HEADER_BYTES, Header};
use crate::{BATCH, PacketSocket};

/// The largest frame that generic segmentation offload makes.
const MOST_FRAME_BYTES: usize = 1 << 16;
/// Room before a frame for the VLAN tag that the kernel took out of it.
pub(crate) const TAG_BYTES: usize = 4;
/// Length of destination and source, which precede a VLAN tag.
pub(crate) const ADDRESSES_BYTES: usize = 12;
const CONTROL_WORDS: usize = 8;
/// Start of a frame in its slot: behind the tag, or the header of its offloads.
const FRAME_AT: usize = 16;

/// Control data of the kernel for a frame, of linux/if_packet.h.
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

/// The newest received frames, and room for as many.
pub struct Receiver {
    /// One slot per frame, of `slot_bytes`.
    frames: Vec<u8>,
    slot_bytes: usize,
    /// Whether the frames of the last batch have a header of their offloads.
    has_header: bool,
    control: Vec<[u64; CONTROL_WORDS]>,
    messages: Messages,
}

impl Receiver {
    /// Room for a batch of any frames there are.
    pub fn allocate() -> Self {
        Self::with_room(BATCH, MOST_FRAME_BYTES)
    }

    /// Creates room for `frames` frames of up to `frame_bytes` bytes, both at least 1.
    pub fn with_room(frames: usize, frame_bytes: usize) -> Self {
        // Slots start at cache lines of their own, as far as the first does.
        let slot_bytes = (FRAME_AT + frame_bytes).next_multiple_of(64);
        Self {
            frames: vec![0; frames * slot_bytes],
            slot_bytes,
            has_header: false,
            control: vec![[0; CONTROL_WORDS]; frames],
            messages: Messages::allocate(frames),
        }
    }

    /// Receives queued frames, as far as there is room. Returns the number of frames.
    ///
    /// # Errors
    /// Returns the socket's error.
    pub fn receive(&mut self, socket: &PacketSocket) -> io::Result<usize> {
        self.has_header = socket.has_header();
        let start = FRAME_AT - if self.has_header { HEADER_BYTES } else { 0 };
        let slots = self.frames.chunks_exact_mut(self.slot_bytes).map(|slot| &mut slot[start..]);
        self.messages.receive(socket, slots.zip(self.control.iter_mut().map(|control| &mut control[..])))
    }

    /// Returns frame `n` of the last batch, with its VLAN tag restored; `None` if it was cut. Its checksum is
    /// complete if the socket finishes offloads, but a long frame is as received.
    pub fn frame(&mut self, n: usize) -> Option<&[u8]> {
        let length = self.finished(n)?;
        let tag = vlan_tag(&self.control[n], self.messages.control_bytes(n));
        let slot = &mut self.frames[n * self.slot_bytes..][..self.slot_bytes];
        match tag {
            Some(tag) if length >= ADDRESSES_BYTES => {
                let start = FRAME_AT - TAG_BYTES;
                slot.copy_within(FRAME_AT..FRAME_AT + ADDRESSES_BYTES, start);
                slot[start + ADDRESSES_BYTES..][..TAG_BYTES].copy_from_slice(&tag);
                Some(&slot[start..FRAME_AT + length])
            }
            _ => Some(&slot[FRAME_AT..FRAME_AT + length]),
        }
    }

    /// Hands frame `n` of the last batch to `each` as it would be on a cable: with its VLAN tag put back, and
    /// in parts if its sender left the cutting to its device. False if it was cut by the receiver.
    pub fn take(&mut self, n: usize, mut each: impl FnMut(&[u8])) -> bool {
        if let Some(header) = self.header(n) {
            let tag = vlan_tag(&self.control[n], self.messages.control_bytes(n));
            let (length, was_cut) = self.received(n);
            let frame = &self.frames[n * self.slot_bytes + FRAME_AT..][..length];
            if !was_cut && header.segment(frame, tag, &mut each) {
                return true;
            }
        }
        self.frame(n).map(each).is_some()
    }

    /// Returns the length of frame `n`, and whether it was cut.
    fn received(&self, n: usize) -> (usize, bool) {
        let (length, was_cut) = self.messages.received(n);
        match self.has_header {
            true => (length.saturating_sub(HEADER_BYTES), was_cut || length < HEADER_BYTES),
            false => (length, was_cut),
        }
    }

    /// Returns the offloads that the sender of frame `n` left to its device; `None` if the kernel reports
    /// none.
    fn header(&self, n: usize) -> Option<Header> {
        if !self.has_header {
            return None;
        }
        let bytes = &self.frames[n * self.slot_bytes + FRAME_AT - HEADER_BYTES..];
        bytes.first_chunk().and_then(Header::read)
    }

    /// Finishes the checksum of frame `n`; its length, if it was not cut.
    fn finished(&mut self, n: usize) -> Option<usize> {
        let (length, was_cut) = self.received(n);
        if was_cut {
            return None;
        }
        if let Some(header) = self.header(n) {
            let (before, frame) = self.frames[n * self.slot_bytes..].split_at_mut(FRAME_AT);
            header.fill_checksum(&mut frame[..length]);
            // No second time.
            before[FRAME_AT - HEADER_BYTES..].fill(0);
        }
        Some(length)
    }
}

/// Returns the tag that the kernel removed from a frame, from `filled` bytes of control messages.
fn vlan_tag(control: &[u64; CONTROL_WORDS], filled: usize) -> Option<[u8; TAG_BYTES]> {
    // SAFETY: it computes a number.
    let [header, whole] =
        [0, size_of::<AuxData>() as u32].map(|data| unsafe { libc::CMSG_LEN(data) } as usize);
    if filled < whole {
        return None;
    }
    // SAFETY: the buffer is longer than a cmsghdr, aligned for it, and any bits are one.
    let message = unsafe { control.as_ptr().cast::<libc::cmsghdr>().read() };
    if (message.cmsg_level, message.cmsg_type) != (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
        return None;
    }
    // SAFETY: the buffer holds an AuxData after the header (see below), and any bits are one.
    let data = unsafe { control.as_ptr().cast::<u8>().add(header).cast::<AuxData>().read_unaligned() };
    tag_of(data.status, data.vlan_tci, data.vlan_tpid)
}

/// Returns the tag of a frame with that status.
pub(crate) fn tag_of(status: u32, vlan_tci: u16, vlan_tpid: u16) -> Option<[u8; TAG_BYTES]> {
    if status & VLAN_VALID == 0 {
        return None;
    }
    let kind = if status & VLAN_TPID_VALID != 0 { vlan_tpid } else { ETHERTYPE_VLAN };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), vlan_tci.to_be_bytes());
    Some([a, b, c, d])
}

// SAFETY: it computes a number.
const _: () = assert!(unsafe { libc::CMSG_LEN(size_of::<AuxData>() as u32) } as usize <= 8 * CONTROL_WORDS);
