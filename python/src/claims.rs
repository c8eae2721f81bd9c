//! Memory that sums of a worker are to be written to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::errors::Trouble;

/// Memory that sums in flight will be written to: end by start, without overlaps.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<BTreeMap<usize, usize>>);

/// A part of the memory, until it is dropped.
pub(crate) struct Claim {
    claims: Arc<Claims>,
    start: usize,
    /// The process that has claimed it. In a fork of it the lock may be held for ever.
    process: u32,
}

impl Claims {
    /// Claims `bytes` bytes at the address `start`. Two sums in one array would overwrite each other, and the
    /// second would start with values that differ from worker to worker.
    ///
    /// # Errors
    /// Returns an error if a sum in flight has a part of it.
    pub(crate) fn claim(self: &Arc<Self>, start: usize, bytes: usize) -> Result<Claim, Trouble> {
        let end = start.saturating_add(bytes);
        let mut parts = self.lock();
        if parts.range(..end).next_back().is_some_and(|(_, other)| *other > start) {
            return Err(Trouble::new(
                "TensorInUseError",
                "the array is being summed already, or a part of it is: wait for that sum first",
            ));
        }
        parts.insert(start, end);
        Ok(Claim { claims: Arc::clone(self), start, process: std::process::id() })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            self.claims.lock().remove(&self.start);
        }
    }
}
