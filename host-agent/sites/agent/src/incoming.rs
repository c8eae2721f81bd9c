//! A state that arrives in parts. Memory grows with the bytes that have arrived, not with the announced
//! length.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use inart_protocol_sites::TransmissionPolicy;
use sha2::{Digest as _, Sha256};

use crate::message::State;
use crate::state::{MOST_STATE_BYTES, PART_BYTES, StateDigest, TrainingState};

/// Parts that arrive before an earlier part are kept, up to this number.
const MOST_EARLY: usize = 16;

/// Result of adding a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// Bytes that cannot belong to the state.
    Malformed,
    /// Bytes that had arrived before, or that begin too far ahead.
    Nothing,
    /// New bytes; more are missing.
    Part,
    /// The last missing bytes; the digest is right.
    Whole,
    /// The last missing bytes; the digest is wrong.
    WrongDigest,
}

/// Beginning of a state.
#[derive(Debug)]
pub(crate) struct Incoming {
    round: u32,
    total: u64,
    digest: StateDigest,
    is_finished: bool,
    /// Policy of the round, which the first part brings.
    pub policy: Option<Arc<TransmissionPolicy>>,
    data: Vec<u8>,
    hash: Sha256,
    /// By offset.
    early: BTreeMap<u64, Bytes>,
}

impl Incoming {
    /// Begins the state that a part belongs to. `None`: the part announces more than [`MOST_STATE_BYTES`], or
    /// has no digest.
    pub fn new(part: &State) -> Option<Self> {
        let digest = StateDigest::try_from(&part.digest[..]).ok()?;
        let (round, total, is_finished) = (part.round, part.total, part.is_finished);
        (total <= MOST_STATE_BYTES).then(|| Incoming {
            round,
            total,
            digest,
            is_finished,
            policy: None,
            data: Vec::new(),
            hash: Sha256::new(),
            early: BTreeMap::new(),
        })
    }

    /// Whether a part belongs to this state.
    pub fn is_of(&self, part: &State) -> bool {
        (part.round, part.total, part.is_finished) == (self.round, self.total, self.is_finished)
            && part.digest[..] == self.digest
    }

    pub fn round(&self) -> u32 {
        self.round
    }

    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether the training is over, and this is the last state.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Bytes from the beginning that have arrived without a gap.
    pub fn received(&self) -> u64 {
        self.data.len() as u64
    }

    pub fn digest(&self) -> Bytes {
        Bytes::copy_from_slice(&self.digest)
    }

    /// Adds the bytes of a part.
    pub fn add(&mut self, offset: u64, part: Bytes) -> Added {
        let end = offset.checked_add(part.len() as u64).filter(|end| *end <= self.total);
        if end.is_none() || part.len() > PART_BYTES || part.is_empty() && self.total > 0 {
            return Added::Malformed;
        }
        if offset > self.received() {
            if self.early.len() >= MOST_EARLY || self.early.contains_key(&offset) {
                return Added::Nothing;
            }
            self.early.insert(offset, part);
            return Added::Part;
        }
        if !self.extend(offset, &part) && self.total > 0 {
            return Added::Nothing;
        }
        while let Some((offset, part)) = self.early.pop_first() {
            if offset > self.received() {
                self.early.insert(offset, part);
                break;
            }
            self.extend(offset, &part);
        }
        if self.received() < self.total {
            return Added::Part;
        }
        let digest: StateDigest = self.hash.finalize_reset().into();
        if digest == self.digest { Added::Whole } else { Added::WrongDigest }
    }

    /// Appends what is new of a part that begins no later than the gap; returns whether anything is.
    fn extend(&mut self, offset: u64, part: &Bytes) -> bool {
        let known = usize::try_from(self.received() - offset).unwrap_or(usize::MAX);
        let Some(new) = part.get(known..).filter(|new| !new.is_empty()) else { return false };
        self.data.extend_from_slice(new);
        self.hash.update(new);
        true
    }

    /// Returns the state, whose digest is right.
    pub fn into_state(self) -> TrainingState {
        TrainingState::checked(self.data.into(), self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(bytes: &[u8], total: u64) -> Incoming {
        let digest = Bytes::copy_from_slice(TrainingState::from(Bytes::copy_from_slice(bytes)).digest());
        let part = State { round: 3, total, digest, ..State::default() };
        Incoming::new(&part).unwrap_or_else(|| panic!("{total} bytes are allowed"))
    }

    #[test]
    fn memory_grows_with_the_received_bytes() {
        let mut state = begun(&[], MOST_STATE_BYTES);
        assert_eq!(state.data.capacity(), 0, "nothing has arrived");
        let part = Bytes::from(vec![1; PART_BYTES]);
        for at in 0..4 {
            assert_eq!(state.add(at * PART_BYTES as u64, part.clone()), Added::Part);
            assert!(state.data.capacity() <= 8 * PART_BYTES, "{} bytes are taken", state.data.capacity());
        }
        // Parts that begin far ahead are kept up to a number.
        let ahead = |at: u64| (100 + at) * PART_BYTES as u64;
        let kept = (0..1000).filter(|&at| state.add(ahead(at), part.clone()) == Added::Part).count();
        assert_eq!(kept, MOST_EARLY);
    }

    #[test]
    fn parts_in_any_order_and_twice_make_one_state() {
        let bytes: Vec<u8> = (0..100).collect();
        let part = |range: std::ops::Range<usize>| Bytes::copy_from_slice(&bytes[range]);
        let mut state = begun(&bytes, 100);
        assert_eq!(state.add(60, part(60..100)), Added::Part);
        assert_eq!(state.add(60, part(60..100)), Added::Nothing);
        assert_eq!(state.add(0, part(0..30)), Added::Part);
        assert_eq!(state.add(10, part(10..30)), Added::Nothing);
        assert_eq!(state.received(), 30);
        // From another site, whose parts are cut elsewhere.
        assert_eq!(state.add(20, part(20..61)), Added::Whole);
        assert_eq!(state.into_state().bytes()[..], bytes[..]);
        let mut state = begun(&bytes[1..], 100);
        assert_eq!(state.add(0, part(0..100)), Added::WrongDigest);
        let mut empty = begun(&[], 0);
        assert_eq!(empty.add(0, Bytes::new()), Added::Whole);
    }
}
