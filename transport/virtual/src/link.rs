//! One direction of a link.

use std::collections::VecDeque;

/// Sharing of the rate of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Streams share it equally; a stream's own transfers follow each other.
    Fair,
    /// All transfers follow each other, in the order in which they were given.
    Fifo,
}

#[derive(Debug, Clone)]
pub struct Transfer<T> {
    pub item: T,
    pub bits: f64,
    /// Departure of its first bit; NaN while it waits.
    pub started_s: f64,
}

/// Transfers that follow each other. Streams without transfers are forgotten.
#[derive(Debug, Clone)]
struct Stream<K, T> {
    key: K,
    /// Queued transfers; the first one is in flight.
    queue: VecDeque<Transfer<T>>,
    /// The service at which the first one has left.
    ends_at: f64,
}

/// A link that serves all its streams equally: each has had `service` bits since the start, counted while it
/// had something to send (the virtual time of fair queueing).
#[derive(Debug, Clone)]
pub struct Link<K, T> {
    bps: f64,
    pub delay_s: f64,
    sharing: Sharing,
    streams: Vec<Stream<K, T>>,
    service: f64,
    /// Up to when `service` counts.
    at_s: f64,
}

impl<K: Clone + Eq, T> Link<K, T> {
    pub fn new(bps: f64, delay_s: f64, sharing: Sharing) -> Self {
        Link { bps, delay_s, sharing, streams: Vec::new(), service: 0.0, at_s: 0.0 }
    }

    /// Serves until a time; no transfer may end before it.
    pub fn advance(&mut self, now_s: f64) {
        if !self.streams.is_empty() {
            self.service += (now_s - self.at_s) * self.bps / self.streams.len() as f64;
        }
        self.at_s = now_s;
    }

    pub fn set_rate(&mut self, bps: f64) {
        self.bps = bps;
    }

    pub fn clear(&mut self) {
        self.streams.clear();
    }

    pub fn push(&mut self, key: K, bits: f64, item: T) {
        let mut transfer = Transfer { item, bits, started_s: f64::NAN };
        let fifo = self.sharing == Sharing::Fifo;
        let same = self.streams.iter_mut().find(|stream| fifo || stream.key == key);
        if let Some(stream) = same {
            stream.queue.push_back(transfer);
            return;
        }
        if self.streams.is_empty() {
            // Small numbers keep their digits.
            self.service = 0.0;
        }
        transfer.started_s = self.at_s;
        let ends_at = self.service + bits;
        self.streams.push(Stream { key, queue: VecDeque::from([transfer]), ends_at });
    }

    /// Returns when the next transfer will have left, if rates and streams do not change.
    pub fn next_end_s(&self) -> Option<f64> {
        let ends_at = self.streams.iter().map(|stream| stream.ends_at).min_by(f64::total_cmp)?;
        let left = (ends_at - self.service).max(0.0);
        Some(self.at_s + left * self.streams.len() as f64 / self.bps)
    }

    /// Returns the transfer that has left now; the next one of its stream starts.
    pub fn pop(&mut self) -> Option<Transfer<T>> {
        let ends = self.streams.iter().enumerate().map(|(at, stream)| (stream.ends_at, at));
        let (ends_at, at) = ends.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        // The rounding error is dropped.
        self.service = ends_at;
        let stream = &mut self.streams[at];
        let transfer = stream.queue.pop_front();
        match stream.queue.front_mut() {
            Some(next) => {
                next.started_s = self.at_s;
                stream.ends_at = ends_at + next.bits;
            }
            None => {
                self.streams.remove(at);
            }
        }
        transfer
    }
}
