//! The time between permissions.

use std::time::Duration;

use crate::order::Spacing;
use crate::part::{Part, nanoseconds};

/// r of the first rounds, if it is tuned, in tenths: the paper's best value (Fig. 13).
const FIRST: usize = 8;
/// The greatest r, in tenths.
const MOST: usize = 10;
/// Over how many rounds a time is taken.
const ROUNDS: u64 = 4;
/// Every so many times a neighbour of the best r is tried again.
const AGAIN: u64 = 4;

/// r, and what rounds took with it: it goes to the neighbour with which they are shorter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pace {
    relaxation: Part,
    tuner: Option<Tuner>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Tuner {
    /// r in tenths.
    at: usize,
    /// By r in tenths, what rounds took with it, averaged.
    took: [Option<Duration>; MOST + 1],
    /// Updates since, and when that was.
    since: (u64, Duration),
    /// How often a time was taken.
    times: u64,
}

impl Tuner {
    fn new() -> Self {
        Tuner { at: FIRST, took: [None; MOST + 1], since: (0, Duration::ZERO), times: 0 }
    }

    /// An update of one of so many members was applied; r from now on.
    fn applied(&mut self, members: usize, now: Duration) -> Part {
        self.since.0 += 1;
        if self.since.0 >= ROUNDS * members.max(1) as u64 {
            let took = now.saturating_sub(self.since.1);
            self.since = (0, now);
            self.times += 1;
            // Half of it is new: what was before holds another state of the network.
            let before = self.took[self.at].unwrap_or(took);
            self.took[self.at] = Some((before + took) / 2);
            self.at = self.next();
        }
        Part::percent(10 * self.at as u32)
    }

    fn next(&self) -> usize {
        let around = self.at.saturating_sub(1)..=(self.at + 1).min(MOST);
        if let Some(untried) = around.clone().find(|r| self.took[*r].is_none()) {
            return untried;
        }
        let best = around.clone().min_by_key(|r| self.took[*r]).unwrap_or(self.at);
        let is_settled = best == self.at && self.times.is_multiple_of(AGAIN);
        let others = around.filter(|r| is_settled && *r != best);
        let nth = (self.times / AGAIN) as usize;
        others.clone().nth(nth % others.count().max(1)).unwrap_or(best)
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

    /// r.
    pub fn relaxation(&self) -> Part {
        self.relaxation
    }

    /// The gap after a permission: r T/N, nothing before T is known.
    pub fn gap(&self, longest: Option<Duration>, members: usize) -> Duration {
        let each = longest.map_or(0, |longest| self.relaxation.of(longest).as_nanos());
        nanoseconds(each / members.max(1) as u128)
    }

    /// An update of one of so many members was applied.
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
        for _ in 0..400 {
            now += round(pace.relaxation().as_f64()) / 4.0;
            pace.applied(4, Duration::from_secs_f64(now));
            all.push(pace.relaxation().as_f64());
        }
        all.split_off(200)
    }

    #[test]
    fn it_stays_where_rounds_are_shortest() {
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
