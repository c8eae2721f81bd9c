//! Digests of data that is too long for a term.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 digest of `bytes` as 64 hexadecimal digits.
pub fn digest_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the SHA-256 digest of float32 values in little-endian order, such as a model's initial weights, as
/// 64 hexadecimal digits. Values differ if their bits do: 0.0 and -0.0 do.
pub fn digest_of_values(values: &[f32]) -> String {
    let mut digest = Sha256::new();
    let mut buffer = Vec::with_capacity(4096);
    for part in values.chunks(1024) {
        buffer.clear();
        buffer.extend(part.iter().flat_map(|value| value.to_le_bytes()));
        digest.update(&buffer);
    }
    hexadecimal(&digest.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
