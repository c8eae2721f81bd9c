//! Sent parts: a window of them, evenly paced, and repeats of missing ones.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use crate::receiving::SPAN;
use crate::words::{Acknowledgement, Part};

/// Parts in flight at first, at least and at most. The window grows and shrinks as TCP Reno's.
const FIRST_WINDOW: f64 = 32.0;
const LEAST_WINDOW: f64 = 4.0;
const MOST_WINDOW: f64 = 512.0;
/// Number of later parts whose arrival marks a part as lost.
const REORDERED: u64 = 3;
/// Unused pacing time that later parts may use in a burst.
const CREDIT: Duration = Duration::from_millis(2);
/// Time without an acknowledgement after which parts in flight are repeated: before a round trip was
/// measured, and its limits.
const FIRST_TIMEOUT: Duration = Duration::from_millis(250);
const LEAST_TIMEOUT: Duration = Duration::from_millis(50);
const MOST_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
struct Out {
    id: u64,
    part: Part,
    /// Number of its transmission, of all.
    order: u64,
    sent_at: Duration,
    is_again: bool,
}

/// A packet of which parts have not left yet.
#[derive(Debug, Clone)]
struct Cut {
    id: u64,
    data: Bytes,
    place: u16,
    parts: u16,
}

/// Packets of one connection.
#[derive(Debug, Clone)]
pub struct Sending {
    room: usize,
    /// The time of a part.
    gap: Duration,
    waiting: BTreeMap<(Reverse<i32>, u64), (u64, Bytes)>,
    queued: u64,
    cut: Option<Cut>,
    next: u32,
    out: BTreeMap<u32, Out>,
    lost: BTreeSet<u32>,
    /// By packet: parts that are not known to be there.
    left: BTreeMap<u64, u16>,
    order: u64,
    newest: u64,
    window: f64,
    threshold: f64,
    /// Losses of transmissions before this one have narrowed the window.
    narrowed: u64,
    round_trip: Option<(f64, f64)>,
    patience: u32,
    progress_at: Duration,
    free_at: Duration,
    pub sent_again: u64,
}

impl Sending {
    /// `room`: bytes of a part; `gap`: the time between two.
    pub fn new(room: usize, gap: Duration) -> Self {
        Sending {
            room: room.max(1),
            gap,
            waiting: BTreeMap::new(),
            queued: 0,
            cut: None,
            next: 0,
            out: BTreeMap::new(),
            lost: BTreeSet::new(),
            left: BTreeMap::new(),
            order: 0,
            newest: 0,
            window: FIRST_WINDOW,
            threshold: MOST_WINDOW,
            narrowed: 0,
            round_trip: None,
            patience: 1,
            progress_at: Duration::ZERO,
            free_at: Duration::ZERO,
            sent_again: 0,
        }
    }

    /// Returns a packet is to leave; whether it is short enough.
    pub fn push(&mut self, id: u64, data: Bytes, priority: i32) -> bool {
        if data.len().div_ceil(self.room) > SPAN as usize {
            return false;
        }
        self.queued += 1;
        self.waiting.insert((Reverse(priority), self.queued), (id, data));
        true
    }

    /// Returns whether numbers of parts are used up.
    pub fn is_used_up(&self) -> bool {
        self.next > u32::MAX - 2 * SPAN
    }

    fn under_way(&self) -> usize {
        self.out.len() - self.lost.len()
    }

    fn may(&self) -> bool {
        let first = self.out.first_key_value().map_or(self.next, |(number, _)| *number);
        let is_new = (self.cut.is_some() || !self.waiting.is_empty()) && self.next - first < SPAN;
        (self.under_way() as f64) < self.window && (!self.lost.is_empty() || is_new)
    }

    /// Returns a part that leaves now, if one does.
    pub fn next(&mut self, now: Duration) -> Option<Part> {
        if now < self.free_at || !self.may() {
            return None;
        }
        if self.under_way() == 0 {
            self.progress_at = now;
        }
        self.free_at = self.free_at.max(now.saturating_sub(CREDIT)) + self.gap;
        self.order += 1;
        if let Some(number) = self.lost.pop_first() {
            let out = self.out.get_mut(&number)?;
            (out.order, out.sent_at, out.is_again) = (self.order, now, true);
            self.sent_again += 1;
            return Some(out.part.clone());
        }
        let mut cut = self.cut.take().or_else(|| self.begin())?;
        let from = usize::from(cut.place) * self.room;
        let data = cut.data.slice(from..(from + self.room).min(cut.data.len()));
        let part = Part { number: self.next, place: cut.place, parts: cut.parts, data };
        self.next += 1;
        let out = Out { id: cut.id, part: part.clone(), order: self.order, sent_at: now, is_again: false };
        self.out.insert(part.number, out);
        cut.place += 1;
        self.cut = (cut.place < cut.parts).then_some(cut);
        Some(part)
    }

    fn begin(&mut self) -> Option<Cut> {
        let (_, (id, data)) = self.waiting.pop_first()?;
        let parts = data.len().div_ceil(self.room).max(1) as u16;
        self.left.insert(id, parts);
        Some(Cut { id, data, place: 0, parts })
    }

    /// Handles an acknowledgement. Returns the packets that are complete at the other side. `None`: the
    /// numbers were never sent.
    pub fn taken(&mut self, taken: &Acknowledgement, now: Duration) -> Option<Vec<u64>> {
        let is_sent = |first: u32, count: u32| first.checked_add(count).is_some_and(|end| end <= self.next);
        if taken.next > self.next || !taken.above.iter().all(|(first, count)| is_sent(*first, *count)) {
            return None;
        }
        let spans = taken.above.iter().map(|(first, count)| *first..first + count);
        let there: Vec<u32> = std::iter::once(0..taken.next)
            .chain(spans)
            .flat_map(|span| self.out.range(span).map(|(number, _)| *number).collect::<Vec<_>>())
            .collect();
        let mut whole = Vec::new();
        for number in there {
            let Some(out) = self.out.remove(&number) else { continue };
            self.lost.remove(&number);
            self.newest = self.newest.max(out.order);
            if !out.is_again {
                self.measured(now.saturating_sub(out.sent_at).as_secs_f64());
            }
            let grows = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.window = (self.window + grows).min(MOST_WINDOW);
            (self.progress_at, self.patience) = (now, 1);
            if let Some(left) = self.left.get_mut(&out.id) {
                *left -= 1;
                if *left == 0 {
                    self.left.remove(&out.id);
                    whole.push(out.id);
                }
            }
        }
        self.find_lost();
        Some(whole)
    }

    fn find_lost(&mut self) {
        let newest = self.newest;
        let is_lost = |out: &Out| out.order + REORDERED < newest;
        let found = self.out.iter().filter(|(number, out)| is_lost(out) && !self.lost.contains(number));
        let found: Vec<(u32, u64)> = found.map(|(number, out)| (*number, out.order)).collect();
        for (number, order) in found {
            self.lost.insert(number);
            // Once for all parts that were in flight then.
            if order > self.narrowed {
                self.narrow(self.window / 2.0);
            }
        }
    }

    fn narrow(&mut self, to: f64) {
        self.threshold = (self.window / 2.0).max(LEAST_WINDOW);
        self.window = to.max(LEAST_WINDOW);
        self.narrowed = self.order;
    }

    /// Updates the round-trip time with a sample in seconds (RFC 6298).
    fn measured(&mut self, seconds: f64) {
        self.round_trip = Some(match self.round_trip {
            None => (seconds, seconds / 2.0),
            Some((mean, spread)) => {
                (mean * 0.875 + seconds * 0.125, spread * 0.75 + (mean - seconds).abs() * 0.25)
            }
        });
    }

    fn timeout(&self) -> Duration {
        let of = |(mean, spread): (f64, f64)| Duration::from_secs_f64(mean + 4.0 * spread);
        let measured = self.round_trip.map_or(FIRST_TIMEOUT, of).max(LEAST_TIMEOUT);
        (measured * self.patience).min(MOST_TIMEOUT)
    }

    fn timeout_at(&self) -> Option<Duration> {
        (self.under_way() > 0).then(|| self.progress_at + self.timeout())
    }

    /// Advances time.
    pub fn tick(&mut self, now: Duration) {
        if self.timeout_at().is_some_and(|at| now >= at) {
            self.lost.extend(self.out.keys().copied());
            self.narrow(LEAST_WINDOW);
            self.progress_at = now;
            self.patience = (self.patience * 2).min(64);
        }
    }

    /// Returns the time of the next action.
    pub fn wake_at(&self) -> Option<Duration> {
        let leaves = self.may().then_some(self.free_at);
        [leaves, self.timeout_at()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn all(out: &mut Sending, now: Duration) -> Vec<(u32, u16, u16)> {
        std::iter::from_fn(|| out.next(now)).map(|part| (part.number, part.place, part.parts)).collect()
    }

    #[test]
    fn packets_leave_in_parts_and_the_urgent_ones_first() {
        let mut out = Sending::new(4, NOW);
        assert!(out.push(1, Bytes::from_static(b"abcdefghi"), 0));
        assert!(out.push(2, Bytes::from_static(b"x"), 9));
        assert_eq!(all(&mut out, NOW), [(0, 0, 1), (1, 0, 3), (2, 1, 3), (3, 2, 3)]);
        let taken = |next| Acknowledgement { next, above: Vec::new() };
        assert_eq!(out.taken(&taken(3), NOW).unwrap(), [2]);
        assert_eq!(out.taken(&taken(4), NOW).unwrap(), [1]);
        assert_eq!(out.taken(&taken(5), NOW), None, "it was never sent");
        assert_eq!(out.taken(&Acknowledgement { next: 4, above: vec![(u32::MAX, 2)] }, NOW), None);
        assert!(!out.push(3, Bytes::from(vec![0; 4 * SPAN as usize + 1]), 0), "longer than any packet");
    }

    #[test]
    fn what_lacks_leaves_again_and_once_narrows_the_window() {
        let mut out = Sending::new(4, NOW);
        assert!(out.push(1, Bytes::from(vec![0; 40]), 0));
        assert_eq!(all(&mut out, NOW).len(), 10);
        out.taken(&Acknowledgement { next: 1, above: vec![(3, 2)] }, NOW).unwrap();
        assert_eq!(all(&mut out, NOW), [], "three later ones are not here yet");
        let before = out.window;
        out.taken(&Acknowledgement { next: 1, above: vec![(3, 4)] }, NOW).unwrap();
        assert_eq!(all(&mut out, NOW), [(1, 1, 10), (2, 2, 10)]);
        assert!(out.window < before && out.window > before / 2.0 - 1.0, "once: {}", out.window);
        assert_eq!(out.sent_again, 2);
    }

    #[test]
    fn when_nothing_is_heard_all_leave_again_ever_later() {
        let mut out = Sending::new(4, NOW);
        assert!(out.push(1, Bytes::from(vec![0; 8]), 0));
        assert_eq!(all(&mut out, NOW).len(), 2);
        let mut times = Vec::new();
        for _ in 0..3 {
            let at = out.wake_at().unwrap();
            out.tick(at);
            assert_eq!(all(&mut out, at).len(), 2);
            times.push(at.as_millis());
        }
        assert_eq!(times, [250, 750, 1750]);
    }

    #[test]
    fn parts_are_a_gap_apart() {
        let gap = Duration::from_millis(10);
        let mut out = Sending::new(4, gap);
        assert!(out.push(1, Bytes::from(vec![0; 400]), 0));
        let second = Duration::from_secs(1);
        assert_eq!(all(&mut out, second).len(), 1);
        assert_eq!(out.wake_at(), Some(second + gap - CREDIT));
        let left = (0..100).filter(|at| out.next(second + Duration::from_millis(*at)).is_some()).count();
        assert_eq!(left, 10);
    }
}
