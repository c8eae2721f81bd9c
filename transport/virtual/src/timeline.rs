//! Pending events, by time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// A time in seconds, ordered as [`f64::total_cmp`] orders: for models that compute times in floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl Eq for Seconds {}

impl PartialOrd for Seconds {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Seconds {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(Debug, Clone)]
struct Entry<E, T> {
    at: T,
    /// Of two events at one time, the first added one happens first.
    serial: u64,
    event: E,
}

impl<E, T: Ord> Ord for Entry<E, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at).then(self.serial.cmp(&other.serial))
    }
}

impl<E, T: Ord> PartialOrd for Entry<E, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E, T: Ord> PartialEq for Entry<E, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E, T: Ord> Eq for Entry<E, T> {}

/// Pending events of type `E`, each at a time of type `T`. Events of one time happen in the order of their
/// addition.
#[derive(Debug, Clone)]
pub struct Timeline<E, T = Duration> {
    heap: BinaryHeap<Reverse<Entry<E, T>>>,
    given: u64,
}

impl<E, T: Ord> Default for Timeline<E, T> {
    fn default() -> Self {
        Timeline { heap: BinaryHeap::new(), given: 0 }
    }
}

impl<E, T: Copy + Ord> Timeline<E, T> {
    /// Creates a timeline without events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event at a time.
    pub fn at(&mut self, at: T, event: E) {
        self.heap.push(Reverse(Entry { at, serial: self.given, event }));
        self.given += 1;
    }

    /// Returns the time of the next event; `None` without events.
    pub fn next_at(&self) -> Option<T> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next event, with its time.
    pub fn take(&mut self) -> Option<(T, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Returns the pending events, in no particular order.
    pub fn events(&self) -> impl Iterator<Item = &E> {
        self.heap.iter().map(|Reverse(entry)| &entry.event)
    }

    /// Returns whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
