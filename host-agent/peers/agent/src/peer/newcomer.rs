//! A peer that has begun anew, and has no model yet.

use std::time::Duration;

/// A peer without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Newcomer {
    pub(super) since: Duration,
    /// Rounds that it has passed over.
    pub(super) passed: usize,
}
