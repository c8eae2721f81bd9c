//! What the first byte of a packet says, and what may be wrong with the others.

/// A chunk follows.
pub(crate) const CHUNK: u8 = 1;
/// A message follows.
pub(crate) const MESSAGE: u8 = 2;

/// What is wrong with a packet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// It begins with no byte that is known.
    #[error("a packet of kind {0}: chunks are 1 and messages 2")]
    Kind(u8),
    /// It has too few bytes.
    #[error("a packet of {bytes} bytes, and a chunk has at least {least}")]
    Short {
        /// Its length.
        bytes: usize,
        /// The least.
        least: usize,
    },
    /// Its values cannot be read.
    #[error("a chunk of format {format} with {bytes} bytes of values: 0 is float32, 1 is float16")]
    Values {
        /// Its format.
        format: u8,
        /// Bytes of its values.
        bytes: usize,
    },
    /// Its message cannot be read.
    #[error("a message that cannot be read: {0}")]
    Message(String),
}
