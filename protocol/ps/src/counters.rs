//! Drop counters of a server, by reason.

use crate::store::Refusal;

/// Counts since the start; every drop is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Updates that were applied.
    pub applied: u64,
    /// Duplicate pushes.
    pub repeated: u64,
    /// Pushes without a permission: the worker had left, or the server was restarted.
    pub unasked: u64,
    /// Pulls without a permission.
    pub not_permitted: u64,
    /// Updates of another model, which were not applied.
    pub other_model: u64,
    /// Updates with a NaN or an infinity, which were not applied.
    pub not_finite: u64,
    /// Workers that timed out: they pushed nothing for too long.
    pub silent: u64,
    /// Permissions that were repeated because the worker requested again.
    pub said_again: u64,
}

impl Counters {
    pub(crate) fn refuse(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::OtherModel { .. } | Refusal::OtherLength { .. } => self.other_model += 1,
            Refusal::NotFinite { .. } => self.not_finite += 1,
        }
    }
}
