//! Serialization of many floats as little-endian bytes: the auditor shares its processors with the audited
//! processes, and one number at a time takes more time than the sum.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

const BYTES: usize = size_of::<f32>();

pub(super) fn serialize<S: Serializer>(numbers: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = vec![0; BYTES * numbers.len()];
    for (bytes, number) in bytes.chunks_exact_mut(BYTES).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    serializer.serialize_bytes(&bytes)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    deserializer.deserialize_bytes(Floats)
}

struct Floats;

impl Visitor<'_> for Floats {
    type Value = Vec<f32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of 32-bit floats")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let (numbers, rest) = bytes.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Held(#[serde(with = "super")] Vec<f32>);

    #[test]
    fn floats_are_their_bytes_and_what_is_no_float_is_refused() {
        let held = Held(vec![1.0, -2.0, f32::from_bits(1)]);
        let message = postcard::to_allocvec(&held).unwrap();
        assert_eq!(message, [12, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 1, 0, 0, 0]);
        assert_eq!(postcard::from_bytes::<Held>(&message).unwrap(), held);
        assert!(postcard::from_bytes::<Held>(&[5, 1, 0, 0, 0, 2]).is_err());
        assert!(postcard::from_bytes::<Held>(&[8, 1, 0, 0, 0]).is_err());
    }
}
