//! Times of events, and of machines.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// A time in seconds as machines take it, to the nanosecond.
pub fn duration(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round() as u64)
}

/// A machine's time in seconds.
pub fn seconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e9
}

#[derive(Debug, Clone, Copy)]
struct Entry<T> {
    at_s: f64,
    order: u64,
    what: T,
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.order.cmp(&other.order))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

/// Events to come; those of one time in the order in which they were given.
#[derive(Debug)]
pub struct Timers<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    given: u64,
}

impl<T> Timers<T> {
    pub fn new() -> Self {
        Timers { heap: BinaryHeap::new(), given: 0 }
    }

    pub fn set(&mut self, at_s: f64, what: T) {
        self.heap.push(Reverse(Entry { at_s, order: self.given, what }));
        self.given += 1;
    }

    pub fn next_s(&self) -> Option<f64> {
        self.heap.peek().map(|Reverse(entry)| entry.at_s)
    }

    pub fn take(&mut self) -> Option<(f64, T)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at_s, entry.what))
    }
}
