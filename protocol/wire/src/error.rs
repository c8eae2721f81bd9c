//! What can be wrong with a frame.

use core::fmt;

use crate::field::VERSION;
use crate::{BitmapIndex, Contributors};

/// Why bytes are not an INART frame, or a frame cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The frame ends before its headers do.
    Truncated {
        /// Bytes seen.
        seen: usize,
    },
    /// The EtherType is another protocol's.
    EtherType {
        /// EtherType seen.
        seen: u16,
    },
    /// The header has a version this crate does not speak.
    Version {
        /// Version seen.
        seen: u8,
    },
    /// The frame's length fits none of the values-per-packet choices.
    FrameLength {
        /// Bytes seen.
        seen: usize,
    },
    /// The worker's bitmap index is out of range.
    Worker {
        /// Rank seen.
        seen: u16,
    },
    /// More values are said to mean something than the frame holds.
    Length {
        /// Value of the length field.
        seen: u16,
        /// Values in the frame.
        values: usize,
    },
    /// The contributors do not fit the kind of frame and its sender.
    Contributors {
        /// Contributors seen.
        seen: Contributors,
        /// Value of the worker field.
        worker: BitmapIndex,
    },
    /// A control frame has fewer words than a message takes.
    Message {
        /// Words seen.
        seen: u16,
    },
    /// The buffer to write to is shorter than the frame.
    Buffer {
        /// Bytes in the buffer.
        seen: usize,
        /// Bytes of the frame.
        needed: usize,
    },
    /// The number of values given does not equal the header's length field.
    ValueCount {
        /// Values given.
        seen: usize,
        /// Value of the length field.
        length: u16,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { seen } => write!(f, "frame: {seen} bytes, the headers alone take 44"),
            Self::EtherType { seen } => write!(f, "EtherType: 0x{seen:04x}, INART has 0x88b5"),
            Self::Version { seen } => write!(f, "version: {seen}, this program supports {VERSION}"),
            Self::FrameLength { seen } => {
                write!(f, "frame: {seen} bytes, INART frames have 172, 300, 1068, 4140 or 8236")
            }
            Self::Worker { seen } => {
                write!(f, "worker: bitmap index {seen}, the highest is {}", BitmapIndex::MAX)
            }
            Self::Length { seen, values } => {
                write!(f, "length: {seen} values, the frame has room for {values}")
            }
            Self::Contributors { seen, worker } => {
                write!(f, "contributors: {seen}, which does not fit worker {worker}")
            }
            Self::Message { seen } => write!(f, "control message: {seen} words, a message takes 6"),
            Self::Buffer { seen, needed } => write!(f, "buffer: {seen} bytes, the frame takes {needed}"),
            Self::ValueCount { seen, length } => write!(f, "values: {seen} given, the header has {length}"),
        }
    }
}

impl core::error::Error for WireError {}
