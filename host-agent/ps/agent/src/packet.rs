//! Packets: a kind byte and its content.

use bytes::Bytes;
use prost::Message as _;

use crate::chunk::{Tag, read_chunk};
use crate::kinds::{CHUNK, MESSAGE, PacketError};
use crate::message::Message;

/// Content of a packet.
#[derive(Debug, Clone, PartialEq)]
pub enum Packet {
    /// A chunk of an update or a model.
    Chunk {
        /// Transfer of the chunk.
        tag: Tag,
        /// Number of the chunk, from 0.
        number: u32,
        /// Values of the chunk.
        values: Vec<f32>,
    },
    /// A message.
    Message(Message),
}

/// Reads a packet.
///
/// # Errors
/// The packet is invalid.
pub fn decode(data: &Bytes) -> Result<Packet, PacketError> {
    match data.first().copied() {
        Some(CHUNK) => {
            let (tag, number, values) = read_chunk(data)?;
            Ok(Packet::Chunk { tag, number, values })
        }
        Some(MESSAGE) => match Message::decode(data.slice(1..)) {
            Ok(message) => Ok(Packet::Message(message)),
            Err(error) => Err(PacketError::Message(error.to_string())),
        },
        kind => Err(PacketError::Kind(kind.unwrap_or(0))),
    }
}
