//! Errors of frames.

use core::fmt;

use crate::field::VERSION;
use crate::{BitmapIndex, Contributors};

/// Reason why bytes are not an INART frame, or a frame cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The frame ends before its headers do.
    Truncated {
        /// Actual number of bytes.
        seen: usize,
    },
    /// The EtherType is another protocol's.
    EtherType {
        /// Actual EtherType.
        seen: u16,
    },
    /// Unsupported version of the header.
    Version {
        /// Actual version.
        seen: u8,
    },
    /// Frame length that matches no number of values per frame.
    FrameLength {
        /// Actual number of bytes.
        seen: usize,
    },
    /// The worker's bitmap index is out of range.
    Worker {
        /// Actual rank.
        seen: u16,
    },
    /// Length field above the number of values of the frame.
    Length {
        /// Value of the length field.
        seen: u16,
        /// Values in the frame.
        values: usize,
    },
    /// The contributors do not fit the kind of frame and its sender.
    Contributors {
        /// Actual contributors.
        seen: Contributors,
        /// Value of the worker field.
        worker: BitmapIndex,
    },
    /// A control frame has fewer words than a message takes.
    Message {
        /// Actual number of words.
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
        /// Given number of values.
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
