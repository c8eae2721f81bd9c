//! Outgoing values, with a window of chunks in flight and a rate limit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::PAUSE;

use crate::chunk::{Precision, Tag, chunk_packet};
use crate::message::Span;

/// Chunking and limits of a transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow {
    /// Values per chunk.
    pub chunk_values: usize,
    /// Wire format.
    pub precision: Precision,
    /// Most chunks in flight.
    pub window: usize,
    /// Highest rate of packets, in bit/s; no limit unless set.
    pub rate_bps: Option<f64>,
}

/// An update or a model in transmission.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub tag: Tag,
    /// `None` once all chunks are acknowledged: an acknowledged version is not held.
    values: Option<Arc<Vec<f32>>>,
    chunks: u32,
    flow: Flow,
    waiting: BTreeSet<u32>,
    under_way: BTreeMap<u64, u32>,
    free_at: Duration,
    pub sent_again: u64,
}

impl Outgoing {
    /// Starts with all chunks.
    pub fn new(tag: Tag, values: Arc<Vec<f32>>, flow: Flow) -> Self {
        let chunks = values.len().div_ceil(flow.chunk_values) as u32;
        let (under_way, free_at) = (BTreeMap::new(), Duration::ZERO);
        let (waiting, values) = ((0..chunks).collect(), Some(values));
        Outgoing { tag, values, chunks, flow, waiting, under_way, free_at, sent_again: 0 }
    }

    /// Resumes on a new connection, with these chunks missing at the other side and none in flight.
    pub fn resume(&mut self, missing: &[Span]) {
        self.waiting = numbers(missing, self.chunks).collect();
        self.under_way.clear();
    }

    /// Stops at the end of the connection: chunks in flight may have arrived.
    pub fn stop(&mut self) {
        let under_way = std::mem::take(&mut self.under_way);
        self.waiting.extend(under_way.into_values());
    }

    /// Returns the next chunk, under the number `id`, if one may leave now.
    pub fn next(&mut self, id: u64, now: Duration) -> Option<Bytes> {
        if self.under_way.len() >= self.flow.window.max(1) || now < self.free_at {
            return None;
        }
        let values = self.values.as_ref()?;
        let number = self.waiting.pop_first()?;
        let first = number as usize * self.flow.chunk_values;
        let last = (first + self.flow.chunk_values).min(values.len());
        let data = chunk_packet(&self.tag, number, values.get(first..last)?, self.flow.precision);
        self.under_way.insert(id, number);
        if let Some(rate_bps) = self.flow.rate_bps {
            let takes = Duration::from_secs_f64((data.len() as f64 * 8.0 / rate_bps).min(3600.0));
            // Unused time beyond that of one chunk is lost.
            self.free_at = self.free_at.max(now.saturating_sub(takes)) + takes;
        }
        Some(data)
    }

    /// Takes the end of a chunk. Returns whether the number was one of these.
    pub fn ended(&mut self, id: u64, is_taken: bool, now: Duration) -> bool {
        let Some(number) = self.under_way.remove(&id) else { return false };
        if !is_taken {
            self.waiting.insert(number);
            self.sent_again += 1;
            self.free_at = self.free_at.max(now + PAUSE);
        }
        if self.is_done() {
            self.values = None;
        }
        true
    }

    /// Returns the held values; `None` once all are acknowledged.
    pub fn values(&self) -> Option<&Arc<Vec<f32>>> {
        self.values.as_ref()
    }

    /// Returns whether all chunks are acknowledged.
    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// Returns when a chunk that waits for the rate may leave.
    pub fn wake_at(&self) -> Option<Duration> {
        let may = !self.waiting.is_empty() && self.under_way.len() < self.flow.window.max(1);
        may.then_some(self.free_at)
    }
}

/// Returns the chunks of spans, each once: spans of another process may overlap.
fn numbers(spans: &[Span], chunks: u32) -> impl Iterator<Item = u32> {
    let mut spans: Vec<Span> = spans.to_vec();
    spans.sort_unstable_by_key(|span| span.first);
    let mut next = 0;
    spans.into_iter().flat_map(move |span| {
        let (first, end) = (span.first.max(next), span.first.saturating_add(span.count).min(chunks));
        next = next.max(end);
        first..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: Tag = Tag { worker_incarnation: 1, server_incarnation: 1, ticket: 1, version: 0 };

    fn outgoing(window: usize, rate_bps: Option<f64>) -> Outgoing {
        let flow = Flow { chunk_values: 2, precision: Precision::Single, window, rate_bps };
        Outgoing::new(TAG, Arc::new(vec![1.0; 7]), flow)
    }

    #[test]
    fn at_most_a_window_is_in_flight_and_failed_chunks_leave_again() {
        let (mut out, now) = (outgoing(2, None), Duration::ZERO);
        assert!(out.next(1, now).is_some() && out.next(2, now).is_some() && out.next(3, now).is_none());
        assert_eq!(out.wake_at(), None);
        assert!(out.ended(1, false, now) && !out.ended(1, false, now));
        assert_eq!(out.wake_at(), Some(PAUSE));
        let again = out.next(4, PAUSE).expect("the failed one");
        assert_eq!(again[29], 0, "chunk 0 again");
        assert_eq!(out.sent_again, 1);
    }

    #[test]
    fn chunks_leave_at_the_rate() {
        // A chunk has 30 + 8 bytes, which takes 1 s.
        let mut out = outgoing(9, Some(304.0));
        let mut left = Vec::new();
        for tenth in 0..40 {
            let now = Duration::from_millis(tenth * 100);
            left.extend(out.next(tenth, now).map(|_| tenth));
        }
        assert_eq!(left, [0, 10, 20, 30]);
    }

    #[test]
    fn spans_that_overlap_are_no_more_work() {
        let span = |first, count| Span { first, count };
        assert_eq!(numbers(&vec![span(0, u32::MAX); 1000], 10).count(), 10);
        let all = [span(7, 2), span(3, 2), span(4, 3), span(u32::MAX, u32::MAX), span(0, 0)];
        assert_eq!(numbers(&all, 9).collect::<Vec<_>>(), [3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn on_a_new_connection_only_missing_chunks_leave() {
        let (mut out, now) = (outgoing(9, None), Duration::ZERO);
        while out.next(out.under_way.len() as u64, now).is_some() {}
        out.stop();
        assert_eq!(out.waiting.len(), 4);
        out.resume(&[Span { first: 1, count: 1 }, Span { first: 3, count: u32::MAX }]);
        assert_eq!(out.waiting.iter().copied().collect::<Vec<_>>(), [1, 3]);
    }
}
