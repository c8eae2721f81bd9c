//! A checked view of a frame's bytes.

use crate::field::*;
use crate::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Group, Incarnation, JobId, Kind, MacAddr,
    PlanVersion, ShardId, ValuesPerFrame, WireError,
};

/// View of bytes that are an INART frame: valid EtherType, version, length and ranges.
///
/// The header may still be inconsistent with its kind; [`HeaderRepr::parse`](crate::HeaderRepr::parse) checks
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Frame<T> {
    /// Checks the bytes of a whole Ethernet frame (without the frame check sequence).
    ///
    /// # Errors
    /// [`WireError`] for a size, EtherType, version, worker or length that no frame has.
    pub fn new_checked(buffer: T) -> Result<Self, WireError> {
        let bytes = buffer.as_ref();
        let seen = bytes.len();
        if seen < VALUES {
            return Err(WireError::Truncated { seen });
        }
        let frame = Self { buffer };
        let ether_type = frame.u16(TYPE);
        if ether_type != ETHER_TYPE {
            return Err(WireError::EtherType { seen: ether_type });
        }
        let version = frame.bytes()[VERSION_KIND] >> 4;
        if version != VERSION {
            return Err(WireError::Version { seen: version });
        }
        let values = ValuesPerFrame::of_frame(seen).ok_or(WireError::FrameLength { seen })?.get();
        let worker = frame.u16(WORKER);
        if worker > BitmapIndex::MAX.get() {
            return Err(WireError::Worker { seen: worker });
        }
        let length = frame.u16(LENGTH);
        if usize::from(length) > values {
            return Err(WireError::Length { seen: length, values });
        }
        Ok(frame)
    }

    /// The bytes viewed.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Returns the Ethernet destination.
    pub fn destination(&self) -> MacAddr {
        MacAddr(self.array(DESTINATION.start))
    }

    /// Returns the Ethernet source.
    pub fn source(&self) -> MacAddr {
        MacAddr(self.array(SOURCE.start))
    }

    /// Returns the kind of the frame.
    pub fn kind(&self) -> Kind {
        Kind::from_code(self.bytes()[VERSION_KIND])
    }

    /// Returns the flags.
    pub fn flags(&self) -> Flags {
        Flags(self.bytes()[FLAGS])
    }

    /// The plan that steers it.
    pub fn plan_version(&self) -> PlanVersion {
        self.u16(PLAN_VERSION).into()
    }

    /// Returns the job.
    pub fn job(&self) -> JobId {
        self.u16(JOB).into()
    }

    /// Returns the shard.
    pub fn shard(&self) -> ShardId {
        self.u16(SHARD).into()
    }

    /// Returns the bitmap index of the sender, or of the worker whose frame completed it.
    pub fn worker(&self) -> BitmapIndex {
        self.u16(WORKER).try_into().expect("new_checked saw a bitmap index in range")
    }

    /// Returns the chunk.
    pub fn sequence(&self) -> ChunkSeq {
        u32::from_be_bytes(self.array(SEQUENCE.start)).into()
    }

    /// Returns the contributors.
    pub fn contributors(&self) -> Contributors {
        Contributors {
            bitmap: u64::from_be_bytes(self.array(CONTRIBUTORS.start)),
            group: Group(self.bytes()[GROUP]),
        }
    }

    /// Returns the exponent: number format and scale of the values.
    pub fn exponent(&self) -> Exponent {
        i8::from_be_bytes(self.array(EXPONENT)).into()
    }

    /// Returns the number of used values.
    pub fn length(&self) -> u16 {
        self.u16(LENGTH)
    }

    /// Returns the run of the plan version that it belongs to.
    pub fn incarnation(&self) -> Incarnation {
        u32::from_be_bytes(self.array(INCARNATION.start)).into()
    }

    /// Number of values, meaningful or padding.
    pub fn values_per_frame(&self) -> ValuesPerFrame {
        ValuesPerFrame::of_frame(self.bytes().len()).expect("new_checked saw one of the frame lengths")
    }

    /// All N values, the padding included.
    pub fn values(&self) -> impl ExactSizeIterator<Item = i32> {
        self.lanes().iter().map(|lane| i32::from_be_bytes(*lane))
    }

    /// Returns the values at these indices.
    ///
    /// # Panics
    /// If the range ends beyond N.
    pub fn values_at(&self, places: core::ops::Range<usize>) -> impl ExactSizeIterator<Item = i32> {
        self.lanes()[places].iter().map(|lane| i32::from_be_bytes(*lane))
    }

    /// Adds each value to the sum at its index, for all sums, if all of these values are from `-most` to
    /// `most`. Returns whether they are. Sums wrap around.
    pub fn add_values_to(&self, sums: &mut [i32], most: i32) -> bool {
        // v is in the range if v + most is in 0..=2 most, as unsigned numbers. Vector instructions compare
        // signed ones, so the least number replaces 0.
        let (to_least, greatest) = (most.wrapping_add(i32::MIN), most.wrapping_mul(2).wrapping_add(i32::MIN));
        let mut beyond = 0;
        for (sum, lane) in sums.iter_mut().zip(self.lanes()) {
            let value = i32::from_be_bytes(*lane);
            beyond |= -i32::from(value.wrapping_add(to_least) > greatest);
            *sum = sum.wrapping_add(value);
        }
        if beyond != 0 {
            for (sum, lane) in sums.iter_mut().zip(self.lanes()) {
                *sum = sum.wrapping_sub(i32::from_be_bytes(*lane));
            }
        }
        beyond == 0
    }

    /// Raises each of `maxima` to the value at its index.
    pub fn raise_to_values(&self, maxima: &mut [i32]) {
        for (maximum, lane) in maxima.iter_mut().zip(self.lanes()) {
            *maximum = i32::from_be_bytes(*lane).max(*maximum);
        }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.as_ref()
    }

    fn lanes(&self) -> &[[u8; 4]] {
        self.bytes()[VALUES..].as_chunks().0
    }

    fn array<const N: usize>(&self, start: usize) -> [u8; N] {
        self.bytes()[start..start + N].try_into().expect("N bytes are N bytes")
    }

    fn u16(&self, field: core::ops::Range<usize>) -> u16 {
        u16::from_be_bytes(self.array(field.start))
    }
}
