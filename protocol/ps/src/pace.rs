//! The time between permissions.

use std::time::Duration;

use crate::order::Spacing;
use crate::part::{Part, nanoseconds};

/// First r of a tuned server, in tenths: the R²SP paper's best value (Fig. 13).
const FIRST: usize = 8;
/// The greatest r, in tenths.
const MOST: usize = 10;
/// Rounds after a change that are not counted, and those that are.
const ROUNDS: [u64; 2] = [1, 5];
/// Rounds at the start that are not counted: T is then that of workers that started together.
const START: u64 = 20;

/// r, and the duration of rounds with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pace {
    relaxation: Part,
    tuner: Option<Tuner>,
}

/// Tries a neighbor of r between two measurements of r itself, and adopts it if its rounds are shorter than
/// in both.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Tuner {
    /// r in tenths.
    at: usize,
    /// Neighbor that is being tried.
    tried: Option<usize>,
    is_upward: bool,
    /// Durations of rounds with r before, and with the neighbor.
    before: Option<Duration>,
    with: Option<Duration>,
    /// Updates that are not counted yet, counted updates, and the start of the count.
    skipped: u64,
    counted: u64,
    since: Duration,
}

impl Tuner {
    fn new() -> Self {
        Tuner {
            at: FIRST,
            tried: None,
            is_upward: true,
            before: None,
            with: None,
            skipped: 0,
            counted: 0,
            since: Duration::ZERO,
        }
    }

    /// Takes an applied update of one of `members` members. Returns r from now on.
    fn applied(&mut self, members: usize, now: Duration) -> Part {
        let members = members.max(1) as u64;
        let skipped = if self.before.is_none() { START } else { ROUNDS[0] };
        if self.skipped < skipped * members {
            self.skipped += 1;
            self.since = now;
        } else {
            self.counted += 1;
        }
        if self.counted >= ROUNDS[1] * members {
            self.timed(now.saturating_sub(self.since));
            (self.skipped, self.counted, self.since) = (0, 0, now);
        }
        Part::percent(10 * self.tried.unwrap_or(self.at) as u32)
    }

    fn timed(&mut self, took: Duration) {
        if self.tried.is_some() && self.with.is_none() {
            self.with = Some(took);
            // Measure r itself once more.
            self.tried = None;
            return;
        }
        if let (Some(before), Some(with)) = (self.before, self.with.take()) {
            if with < before.min(took) {
                self.at = self.neighbor();
                // The duration with r is known.
                self.before = Some(with);
                self.tried = Some(self.neighbor());
                return;
            }
            self.is_upward = !self.is_upward;
        }
        self.before = Some(took);
        self.tried = Some(self.neighbor());
    }

    /// Returns the next value in the direction; at an end, the direction reverses.
    fn neighbor(&mut self) -> usize {
        self.is_upward = (self.is_upward || self.at == 0) && self.at < MOST;
        if self.is_upward { self.at + 1 } else { self.at - 1 }
    }
}

impl Pace {
    pub fn new(spacing: Spacing) -> Self {
        let (relaxation, tuner) = match spacing {
            Spacing::None => (Part::NONE, None),
            Spacing::Fixed(part) => (part, None),
            Spacing::Tuned => (Part::percent(10 * FIRST as u32), Some(Tuner::new())),
        };
        Pace { relaxation, tuner }
    }

    /// Returns r.
    pub fn relaxation(&self) -> Part {
        self.relaxation
    }

    /// Returns the gap after a permission: r T/N, or zero before T is known.
    pub fn gap(&self, longest: Option<Duration>, members: usize) -> Duration {
        let each = longest.map_or(0, |longest| self.relaxation.of(longest).as_nanos());
        nanoseconds(each / members.max(1) as u128)
    }

    /// Takes an applied update of one of `members` members.
    pub fn applied(&mut self, members: usize, now: Duration) {
        if let Some(tuner) = &mut self.tuner {
            self.relaxation = tuner.applied(members, now);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tuned(round: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut pace = Pace::new(Spacing::Tuned);
        let (mut now, mut all) = (0.0, Vec::new());
        for _ in 0..4000 {
            now += round(pace.relaxation().as_f64()) / 4.0;
            pace.applied(4, Duration::from_secs_f64(now));
            all.push(pace.relaxation().as_f64());
        }
        all.split_off(2000)
    }

    #[test]
    fn the_tuner_stays_where_rounds_are_shortest() {
        let best = 0.5;
        let all = tuned(|r| 1.0 + (r - best) * (r - best));
        assert!(all.iter().all(|r| (r - best).abs() < 0.21), "{all:?}");
        // A valley's end.
        assert!(tuned(|r| 2.0 - r).iter().all(|r| *r > 0.75));
        assert!(tuned(|r| 1.0 + r).iter().all(|r| *r < 0.25));
    }

    #[test]
    fn the_gap_is_a_part_of_the_longest_time() {
        let pace = Pace::new(Spacing::Fixed(Part::new(0.8).unwrap()));
        assert_eq!(pace.gap(Some(Duration::from_secs(16)), 16), Duration::from_millis(800));
        assert_eq!(pace.gap(None, 16), Duration::ZERO);
        assert_eq!(Pace::new(Spacing::None).gap(Some(Duration::from_secs(1)), 2), Duration::ZERO);
    }
}
