//! Many integers as the bytes that they are, little-endian: the auditor shares its processors with those whom
//! it audits, and a number at a time takes more time than the sum.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

const BYTES: usize = size_of::<i32>();

pub(super) fn serialize<S: Serializer>(numbers: &[i32], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = vec![0; BYTES * numbers.len()];
    for (bytes, number) in bytes.chunks_exact_mut(BYTES).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    serializer.serialize_bytes(&bytes)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i32>, D::Error> {
    deserializer.deserialize_bytes(Integers)
}

struct Integers;

impl Visitor<'_> for Integers {
    type Value = Vec<i32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bytes of 32-bit integers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let (numbers, rest) = bytes.as_chunks::<BYTES>();
        if !rest.is_empty() {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(numbers.iter().map(|number| i32::from_le_bytes(*number)).collect())
    }
}
