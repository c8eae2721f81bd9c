//! A restarted peer without a model.

use std::time::Duration;

/// A peer without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Newcomer {
    pub(super) since: Duration,
    /// Rounds that the peer has skipped.
    pub(super) passed: usize,
}
