//! Fingerprints of short data, for processes that trust each other.

/// Fingerprint of no data, and the multiplier.
const FIRST: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// Returns the FNV-1a fingerprint of bytes, or of words that are taken one at a time.
pub fn fingerprint(words: impl IntoIterator<Item = u64>) -> u64 {
    extended_fingerprint(FIRST, words)
}

/// Returns the fingerprint of the data of `so_far` followed by these words.
pub fn extended_fingerprint(so_far: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(so_far, |hash, word| (hash ^ word).wrapping_mul(PRIME))
}
