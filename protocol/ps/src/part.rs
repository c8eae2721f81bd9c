//! Fractions of a whole.

use std::fmt;
use std::time::Duration;

/// A fraction from 0 to 1, in millionths: counts derived from it are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part(u32);

const WHOLE: u32 = 1_000_000;

impl Part {
    /// Zero.
    pub const NONE: Part = Part(0);
    /// One.
    pub const WHOLE: Part = Part(WHOLE);

    /// Returns the nearest millionth; `None` outside 0 to 1.
    pub fn new(part: f64) -> Option<Part> {
        (0.0..=1.0).contains(&part).then(|| Part((part * f64::from(WHOLE)).round() as u32))
    }

    /// Returns hundredths as a fraction; at most one.
    pub const fn percent(hundredths: u32) -> Part {
        Part(if hundredths < 100 { hundredths * (WHOLE / 100) } else { WHOLE })
    }

    /// Returns a number from 0 to 1.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Returns this fraction of a time, rounded down to nanoseconds.
    pub fn of(self, time: Duration) -> Duration {
        nanoseconds(time.as_nanos() * u128::from(self.0) / u128::from(WHOLE))
    }

    /// Returns the least number of `count` things that is at least this fraction of them.
    pub fn at_least_of(self, count: usize) -> usize {
        (count as u128 * u128::from(self.0)).div_ceil(u128::from(WHOLE)) as usize
    }

    /// Returns the greatest number of `count` things that is at most this fraction of them.
    pub fn at_most_of(self, count: usize) -> usize {
        (count as u128 * u128::from(self.0) / u128::from(WHOLE)) as usize
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}

/// Returns a duration of `count` nanoseconds; at most 584 years.
pub(crate) fn nanoseconds(count: u128) -> Duration {
    Duration::from_nanos(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Returns an exponential moving average in which the newest value weighs a tenth (Section V).
pub(crate) fn average(before: Option<Duration>, newest: Duration) -> Duration {
    match before {
        Some(before) => nanoseconds((before.as_nanos() * 9 + newest.as_nanos()) / 10),
        None => newest,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn counts_are_exact_where_floats_are_not() {
        // 0.07 * 100 is 7.000000000000001.
        assert_eq!(Part::new(0.07).unwrap().at_least_of(100), 7);
        assert_eq!(Part::new(0.75).unwrap().at_least_of(16), 12);
        assert_eq!(Part::new(0.75).unwrap().at_least_of(15), 12);
        assert_eq!(Part::percent(50).at_most_of(7), 3);
    }

    #[test]
    fn invalid_parts_are_refused() {
        for wrong in [-0.01, 1.01, f64::NAN, f64::INFINITY] {
            assert_eq!(Part::new(wrong), None);
        }
        assert_eq!((Part::new(0.0), Part::new(1.0)), (Some(Part::NONE), Some(Part::WHOLE)));
    }

    #[test]
    fn the_newest_value_weighs_a_tenth() {
        let seconds = Duration::from_secs;
        assert_eq!(average(None, seconds(3)), seconds(3));
        assert_eq!(average(Some(seconds(10)), seconds(20)), seconds(11));
    }
}
