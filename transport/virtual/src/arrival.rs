//! Transfers that have left and not arrived.

use std::cmp::Ordering;

use crate::link::Transfer;

/// A transfer on its way; the greatest is the one that arrives first.
#[derive(Debug, Clone)]
pub struct Arrival<T> {
    pub at_s: f64,
    /// Those that left earlier come first.
    pub order: u64,
    pub link: usize,
    pub transfer: Transfer<T>,
}

impl<T> Ord for Arrival<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_s.total_cmp(&self.at_s).then(other.order.cmp(&self.order))
    }
}

impl<T> PartialOrd for Arrival<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Arrival<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Arrival<T> {}
