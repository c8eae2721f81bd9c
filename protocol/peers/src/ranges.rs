//! Sets of chunk numbers, kept as ranges: missing chunks mostly are consecutive.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A set of numbers below 2^32.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    /// First number of a range, and the number after its last. Ranges neither overlap nor touch.
    runs: BTreeMap<u32, u32>,
    len: u32,
}

impl Ranges {
    /// Creates a set of one range.
    pub fn of(range: Range<u32>) -> Self {
        let mut set = Self::default();
        set.insert(range);
        set
    }

    /// Returns how many numbers the set has.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether the set has a number.
    pub fn contains(&self, number: u32) -> bool {
        self.run_of(number).is_some()
    }

    /// Adds a range. Returns how many of its numbers are new.
    pub fn insert(&mut self, range: Range<u32>) -> u32 {
        if range.is_empty() {
            return 0;
        }
        let (mut first, mut end, before) = (range.start, range.end, self.len);
        // From the last range that starts at or before the end, backwards while they overlap or touch.
        while let Some((&start, &stop)) = self.runs.range(..=end).next_back() {
            if stop < first {
                break;
            }
            self.runs.remove(&start);
            self.len -= stop - start;
            (first, end) = (first.min(start), end.max(stop));
        }
        self.runs.insert(first, end);
        self.len += end - first;
        self.len - before
    }

    /// Removes a number. Returns whether the set had it.
    pub fn remove(&mut self, number: u32) -> bool {
        let Some((start, end)) = self.run_of(number) else { return false };
        self.runs.remove(&start);
        if start < number {
            self.runs.insert(start, number);
        }
        if number + 1 < end {
            self.runs.insert(number + 1, end);
        }
        self.len -= 1;
        true
    }

    /// Returns the least number.
    pub fn first(&self) -> Option<u32> {
        self.runs.keys().next().copied()
    }

    /// Returns the ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.runs.iter().map(|(&start, &end)| start..end)
    }

    fn run_of(&self, number: u32) -> Option<(u32, u32)> {
        let (&start, &end) = self.runs.range(..=number).next_back()?;
        (number < end).then_some((start, end))
    }
}

/// Formats the set as `0-3,7`.
impl fmt::Display for Ranges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, run) in self.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match run.len() {
                1 => write!(f, "{comma}{}", run.start)?,
                _ => write!(f, "{comma}{}-{}", run.start, run.end - 1)?,
            }
        }
        Ok(())
    }
}
