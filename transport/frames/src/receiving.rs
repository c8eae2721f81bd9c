//! Received parts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use crate::words::{Acknowledgement, MOST_RANGES, Part};

/// Parts beyond the first one that lacks which are taken; a packet has no more.
pub const SPAN: u32 = 1024;
/// Number of parts that are acknowledged immediately; fewer after this time.
const BATCH: u32 = 16;
const DELAY: Duration = Duration::from_millis(5);

/// Result of a received part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    Repeated,
    Malformed,
}

#[derive(Debug, Clone)]
struct Packet {
    parts: Vec<Option<Bytes>>,
    left: usize,
}

/// Parts of one connection.
#[derive(Debug, Clone, Default)]
pub struct Receiving {
    /// All before are here.
    next: u32,
    above: BTreeSet<u32>,
    /// By the number of the first part: packets that are not whole.
    packets: BTreeMap<u32, Packet>,
    unsaid: u32,
    due: Option<Duration>,
}

impl Receiving {
    /// Returns a part has arrived; the packet, if it is whole.
    pub fn take(&mut self, part: Part, now: Duration) -> Result<Option<Bytes>, Dropped> {
        let Part { number, place, parts, data } = part;
        if number < self.next || self.above.contains(&number) {
            // The word that it is here was lost.
            self.due = Some(now);
            return Err(Dropped::Repeated);
        }
        let first = number.checked_sub(place.into()).ok_or(Dropped::Malformed)?;
        if number - self.next >= SPAN || u32::from(parts) > SPAN {
            return Err(Dropped::Malformed);
        }
        let count = usize::from(parts);
        if !self.packets.contains_key(&first) && !self.may_begin(first, parts.into()) {
            return Err(Dropped::Malformed);
        }
        let packet = self.packets.entry(first);
        let packet = packet.or_insert_with(|| Packet { parts: vec![None; count], left: count });
        let has_as_many = packet.parts.len() == count;
        match packet.parts.get_mut(usize::from(place)) {
            Some(free @ None) if packet.left > 0 && has_as_many => *free = Some(data),
            _ => return Err(Dropped::Malformed),
        }
        packet.left -= 1;
        let is_whole = packet.left == 0;
        self.note(number, now);
        if !is_whole {
            return Ok(None);
        }
        let whole = self.packets.remove(&first);
        let parts = whole.into_iter().flat_map(|packet| packet.parts).flatten();
        Ok(Some(
            parts
                .fold(BytesMut::new(), |mut all, part| {
                    all.extend_from_slice(&part);
                    all
                })
                .freeze(),
        ))
    }

    /// Returns whether a packet may have these numbers: none of them is another packet's or has arrived. So
    /// packets that never complete keep only parts within the span.
    fn may_begin(&self, first: u32, parts: u32) -> bool {
        let Some(end) = first.checked_add(parts) else { return false };
        let ends_before =
            |(start, packet): (&u32, &Packet)| *start as usize + packet.parts.len() <= first as usize;
        first >= self.next
            && self.packets.range(..first).next_back().is_none_or(ends_before)
            && self.packets.range(first..end).next().is_none()
            && self.above.range(first..end).next().is_none()
    }

    fn note(&mut self, number: u32, now: Duration) {
        self.above.insert(number);
        while self.above.remove(&self.next) {
            self.next += 1;
        }
        self.unsaid += 1;
        // Missing parts are requested immediately, by the ranges after them.
        let is_urgent = !self.above.is_empty() || self.unsaid >= BATCH;
        self.due = Some(if is_urgent { now } else { self.due.unwrap_or(now + DELAY) });
    }

    /// Returns when the next acknowledgement is due.
    pub fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Returns the parts that have arrived, if an acknowledgement is due.
    pub fn acknowledge(&mut self, now: Duration) -> Option<Acknowledgement> {
        self.due.filter(|due| now >= *due)?;
        (self.due, self.unsaid) = (None, 0);
        let mut above: Vec<(u32, u32)> = Vec::new();
        for &number in &self.above {
            let is_all = above.len() == MOST_RANGES;
            match above.last_mut() {
                Some((first, count)) if *first + *count == number => *count += 1,
                _ if is_all => break,
                _ => above.push((number, 1)),
            }
        }
        Some(Acknowledgement { next: self.next, above })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn part(number: u32, place: u16, parts: u16) -> Part {
        Part { number, place, parts, data: Bytes::from(vec![number as u8; 2]) }
    }

    #[test]
    fn parts_in_any_order_make_packets_and_gaps_are_said_at_once() {
        let (mut into, now) = (Receiving::default(), Duration::ZERO);
        assert_eq!(into.take(part(0, 0, 2), now), Ok(None));
        assert_eq!((into.due(), into.acknowledge(now)), (Some(DELAY), None));
        // Of the next packet, whose parts are 2 to 4.
        assert_eq!(into.take(part(4, 2, 3), now), Ok(None));
        assert_eq!(into.acknowledge(now), Some(Acknowledgement { next: 1, above: vec![(4, 1)] }));
        assert_eq!(into.take(part(4, 2, 3), now), Err(Dropped::Repeated));
        assert_eq!(into.take(part(1, 1, 2), now).unwrap().as_deref(), Some(&[0, 0, 1, 1][..]));
        assert_eq!(into.take(part(3, 1, 3), now), Ok(None));
        assert_eq!(into.take(part(2, 0, 3), now).unwrap().as_deref(), Some(&[2, 2, 3, 3, 4, 4][..]));
        assert_eq!(into.acknowledge(now), Some(Acknowledgement { next: 5, above: Vec::new() }));
        assert!(into.packets.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_no_part() {
        let (mut into, now) = (Receiving::default(), Duration::ZERO);
        assert_eq!(into.take(part(0, 1, 2), now), Err(Dropped::Malformed), "before the first");
        assert_eq!(into.take(part(SPAN, 0, 1), now), Err(Dropped::Malformed), "too far ahead");
        assert_eq!(into.take(part(0, 0, u16::MAX), now), Err(Dropped::Malformed), "too long");
        assert_eq!(into.take(part(0, 0, 2), now), Ok(None));
        assert_eq!(into.take(part(5, 5, 6), now), Err(Dropped::Malformed), "the packet has two parts");
        assert_eq!(into.take(part(1, 1, 3), now), Err(Dropped::Malformed), "the packet has two parts");
        assert_eq!(into.take(part(1, 0, 2), now), Err(Dropped::Malformed), "the number is another packet's");
        assert_eq!(into.take(part(3, 0, 1), now).unwrap().as_deref(), Some(&[3, 3][..]));
        assert_eq!(into.take(part(2, 0, 2), now), Err(Dropped::Malformed), "the second part was here");
    }

    #[test]
    fn packets_that_never_complete_do_not_accumulate() {
        let (mut into, now) = (Receiving::default(), Duration::ZERO);
        for number in 0..10_000 {
            let _ = into.take(part(number, 0, 2), now);
        }
        assert!(into.packets.len() <= SPAN as usize, "{} packets are kept", into.packets.len());
    }
}
