//! Interrupts for waits of the worker's thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Interrupts for waits of the thread.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// The worker leaves the job.
    is_stopped: AtomicBool,
    /// Numbers of the newest call, of the active call, and of the call to end.
    made: AtomicU64,
    under_way: AtomicU64,
    interrupted: AtomicU64,
}

impl Orders {
    /// The worker is to leave the job.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Returns the number of a new call, from 1.
    pub(super) fn number_call(&self) -> u64 {
        1 + self.made.fetch_add(1, Ordering::AcqRel)
    }

    /// Records that the thread starts the call of that number.
    pub(super) fn begin(&self, number: u64) {
        self.under_way.store(number, Ordering::Release);
    }

    /// The thread has ended its call.
    pub(super) fn end(&self) {
        self.under_way.store(0, Ordering::Release);
    }

    /// The call of that number is to end.
    pub(super) fn interrupt(&self, number: u64) {
        self.interrupted.store(number, Ordering::Release);
    }

    /// Returns whether the active call must end.
    pub(super) fn is_interrupted(&self) -> bool {
        let under_way = self.under_way.load(Ordering::Acquire);
        under_way > 0 && self.interrupted.load(Ordering::Acquire) == under_way
    }
}
