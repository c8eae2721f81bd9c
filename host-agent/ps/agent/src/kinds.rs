//! Kinds of packets by their first byte, and errors in the other bytes.

/// Kind of a chunk.
pub(crate) const CHUNK: u8 = 1;
/// Kind of a message.
pub(crate) const MESSAGE: u8 = 2;

/// Error in a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Unknown kind.
    #[error("a packet of kind {0}: chunks are 1 and messages 2")]
    Kind(u8),
    /// Too few bytes.
    #[error("a packet of {bytes} bytes, and a chunk has at least {least}")]
    Short {
        /// Length of the packet.
        bytes: usize,
        /// Least length.
        least: usize,
    },
    /// Unreadable values.
    #[error("a chunk of format {format} with {bytes} bytes of values: 0 is float32, 1 is float16")]
    Values {
        /// Format of the values.
        format: u8,
        /// Bytes of the values.
        bytes: usize,
    },
    /// Unreadable message.
    #[error("a message that cannot be read: {0}")]
    Message(String),
}
