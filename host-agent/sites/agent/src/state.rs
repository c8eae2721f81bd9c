//! State of a training program, as one site gives it to another that has restarted (docs/protocol/sites.md,
//! S19).

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

/// Length of a part of a state, in bytes.
pub const PART_BYTES: usize = 1 << 20;
/// Longest state of a training program, in bytes.
pub const MOST_STATE_BYTES: u64 = 64 << 30;
/// Length of a digest, in bytes.
pub(crate) const DIGEST_BYTES: usize = 32;

/// SHA-256 of a state.
pub(crate) type StateDigest = [u8; DIGEST_BYTES];

/// State of a training program with its SHA-256. Clones share the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainingState {
    bytes: Bytes,
    digest: StateDigest,
}

impl TrainingState {
    /// Computes the digest, which takes about a second per GB; not for the thread that serves connections.
    pub fn new(bytes: Bytes) -> Self {
        let digest = Sha256::digest(&bytes).into();
        TrainingState { bytes, digest }
    }

    /// Creates a state from bytes with their known digest.
    pub(crate) fn checked(bytes: Bytes, digest: StateDigest) -> Self {
        TrainingState { bytes, digest }
    }

    /// Returns the program's bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the SHA-256 of the bytes.
    pub(crate) fn digest(&self) -> &StateDigest {
        &self.digest
    }

    /// Returns the length in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the part that begins at an offset, at most [`PART_BYTES`] long; shares the bytes.
    pub(crate) fn part(&self, offset: u64) -> Bytes {
        let first = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        self.bytes.slice(first..self.bytes.len().min(first.saturating_add(PART_BYTES)))
    }
}

impl From<Bytes> for TrainingState {
    fn from(bytes: Bytes) -> Self {
        TrainingState::new(bytes)
    }
}
