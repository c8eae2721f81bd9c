//! The time between permissions.

use std::time::Duration;

use crate::order::Spacing;
use crate::part::{Part, nanoseconds};

/// r of the first rounds, if it is tuned: the paper's best value (Fig. 13).
const FIRST: Part = Part::percent(80);
/// How far r moves at a time.
const STEP: Part = Part::percent(10);
/// Over how many rounds a time is taken.
const ROUNDS: u64 = 4;

/// r, and how it moves: on in one direction while rounds get shorter, else back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pace {
    relaxation: Part,
    is_tuned: bool,
    is_growing: bool,
    /// Updates since, and when that was.
    since: (u64, Duration),
    /// What a round took before the last move.
    before: Option<Duration>,
}

impl Pace {
    pub fn new(spacing: Spacing) -> Self {
        let (relaxation, is_tuned) = match spacing {
            Spacing::None => (Part::NONE, false),
            Spacing::Fixed(part) => (part, false),
            Spacing::Tuned => (FIRST, true),
        };
        Pace { relaxation, is_tuned, is_growing: true, since: (0, Duration::ZERO), before: None }
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
        if !self.is_tuned {
            return;
        }
        self.since.0 += 1;
        if self.since.0 < ROUNDS * members.max(1) as u64 {
            return;
        }
        let took = now.saturating_sub(self.since.1);
        self.since = (0, now);
        if self.before.is_some_and(|before| took > before) {
            self.is_growing = !self.is_growing;
        }
        self.before = Some(took);
        self.relaxation = match self.is_growing {
            true => self.relaxation.plus(STEP),
            false => self.relaxation.minus(STEP),
        };
        // At an end there is one way only.
        self.is_growing &= self.relaxation < Part::WHOLE;
        self.is_growing |= self.relaxation == Part::NONE;
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
