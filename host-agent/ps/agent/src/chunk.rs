//! Chunks of an update or of a model, as packets.

use bytes::{BufMut, Bytes, BytesMut};
use half::f16;

use crate::kinds::{CHUNK, PacketError};

/// Bytes before a chunk's values.
const HEADER_BYTES: usize = 1 + 1 + 4 + 4 + 8 + 8 + 4;

/// Wire format of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Float32: every bit.
    Single,
    /// Float16, rounded to nearest, ties to even. A chunk with a finite value outside float16's range travels
    /// as float32.
    Half,
}

/// Transfer that a chunk belongs to: a push or a pull of one permission, between one incarnation of each
/// side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The worker's incarnation.
    pub worker_incarnation: u32,
    /// The server's incarnation.
    pub server_incarnation: u32,
    /// The permission.
    pub ticket: u64,
    /// Version of the model that is pulled, or that an update was computed from.
    pub version: u64,
}

/// Returns the values as they arrive at the other side.
pub fn as_received(values: &[f32], chunk_values: usize, precision: Precision) -> Vec<f32> {
    let mut values = values.to_vec();
    if precision == Precision::Half {
        for chunk in values.chunks_mut(chunk_values.max(1)) {
            if fits(chunk) {
                chunk.iter_mut().for_each(|value| *value = f16::from_f32(*value).to_f32());
            }
        }
    }
    values
}

/// Returns whether float16 covers all finite values.
fn fits(values: &[f32]) -> bool {
    values.iter().all(|value| !value.is_finite() || f16::from_f32(*value).is_finite())
}

/// Encodes a chunk, by its number, as a packet.
pub fn chunk_packet(tag: &Tag, number: u32, values: &[f32], precision: Precision) -> Bytes {
    let is_half = precision == Precision::Half && fits(values);
    let width = if is_half { 2 } else { 4 };
    let mut out = BytesMut::with_capacity(HEADER_BYTES + width * values.len());
    out.put_u8(CHUNK);
    out.put_u8(u8::from(is_half));
    out.put_u32(tag.worker_incarnation);
    out.put_u32(tag.server_incarnation);
    out.put_u64(tag.ticket);
    out.put_u64(tag.version);
    out.put_u32(number);
    match is_half {
        true => values.iter().for_each(|value| out.put_u16_le(f16::from_f32(*value).to_bits())),
        false => values.iter().for_each(|value| out.put_u32_le(value.to_bits())),
    }
    out.freeze()
}

/// Decodes a chunk's packet.
pub(crate) fn read_chunk(data: &[u8]) -> Result<(Tag, u32, Vec<f32>), PacketError> {
    let short = PacketError::Short { bytes: data.len(), least: HEADER_BYTES };
    let (header, values) = data.split_at_checked(HEADER_BYTES).ok_or(short)?;
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let long = |at: usize| u64::from(word(at)) << 32 | u64::from(word(at + 4));
    let tag =
        Tag { worker_incarnation: word(2), server_incarnation: word(6), ticket: long(10), version: long(18) };
    let values: Vec<f32> = match (header[1], values.len()) {
        (1, bytes) if bytes % 2 == 0 => values
            .chunks_exact(2)
            .map(|two| f16::from_bits(u16::from_le_bytes([two[0], two[1]])).to_f32())
            .collect(),
        (0, bytes) if bytes % 4 == 0 => values
            .chunks_exact(4)
            .map(|four| f32::from_bits(u32::from_le_bytes([four[0], four[1], four[2], four[3]])))
            .collect(),
        (format, bytes) => return Err(PacketError::Values { format, bytes }),
    };
    Ok((tag, word(26), values))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TAG: Tag = Tag { worker_incarnation: 7, server_incarnation: 8, ticket: 1 << 40, version: 3 };

    #[test]
    fn single_precision_keeps_every_bit() {
        let values = [1.0f32, -0.0, f32::MIN_POSITIVE / 2.0, f32::from_bits(0x7fc0_1234), 1e38];
        let packet = chunk_packet(&TAG, 9, &values, Precision::Single);
        assert_eq!(packet.len(), 30 + 20);
        let (tag, number, back) = read_chunk(&packet).unwrap();
        assert_eq!((tag, number), (TAG, 9));
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&values));
    }

    #[test]
    fn half_precision_rounds_and_larger_values_travel_as_float32() {
        // Ties to even: 2049 is between 2048 and 2050.
        let values = [2049.0f32, 2051.0, 0.1, -65504.0];
        let packet = chunk_packet(&TAG, 0, &values, Precision::Half);
        assert_eq!(packet.len(), 30 + 8);
        let (_, _, back) = read_chunk(&packet).unwrap();
        assert_eq!(back[..2], [2048.0, 2052.0]);
        assert!((back[2] - 0.1).abs() < 5e-5 && back[3] == -65504.0);
        let far = [1.5f32, 1e5];
        assert_eq!(read_chunk(&chunk_packet(&TAG, 0, &far, Precision::Half)).unwrap().2, far);
        // Chunk by chunk, as they arrive.
        let all = [2049.0, 0.1, 2049.0, 1e5];
        assert_eq!(as_received(&all, 2, Precision::Half)[2..], [2049.0, 1e5]);
        assert_eq!(as_received(&all, 2, Precision::Half)[0], 2048.0);
        assert_eq!(as_received(&all, 2, Precision::Single), all);
    }

    #[test]
    fn packets_of_other_lengths_are_refused() {
        let packet = chunk_packet(&TAG, 0, &[1.0], Precision::Single);
        assert!(matches!(read_chunk(&packet[..29]), Err(PacketError::Short { bytes: 29, .. })));
        assert!(matches!(read_chunk(&packet[..33]), Err(PacketError::Values { format: 0, bytes: 3 })));
        let mut other = packet.to_vec();
        other[1] = 2;
        assert!(matches!(read_chunk(&other), Err(PacketError::Values { format: 2, bytes: 4 })));
    }
}
