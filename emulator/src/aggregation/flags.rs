//! Numbered flags on vertical lines: a flag numbers its own line, or several neighbors together, and no other
//! line crosses it.

use crate::charts::svg::{TEXT, width_of};

/// Height of a row of flags, in pixels.
pub const ROW_HEIGHT: f64 = 24.0;
const GAP: f64 = 2.0;
/// Longest search for rows; two flags settle in two steps.
const MOST_STEPS: usize = 100;

/// A flag, and the lines under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// Positions of its lines, from left to right.
    pub lines: Vec<f64>,
    /// Number of rows of flags between this flag and the foot of its lines.
    pub row: usize,
    /// The number of its line, or the numbers: `3`, `5-8`.
    pub text: String,
}

impl Flag {
    fn of(lines: Vec<f64>, first: usize) -> Self {
        let last = first + lines.len() - 1;
        let text = if first == last { first.to_string() } else { format!("{first}-{last}") };
        Self { lines, row: 0, text }
    }

    /// Returns its left and right edge.
    pub fn span(&self) -> (f64, f64) {
        let (first, last) = (self.lines[0], self.lines[self.lines.len() - 1]);
        let middle = (first + last) / 2.0;
        let half = ((width_of(&self.text, TEXT) + 8.0) / 2.0).max((last - first) / 2.0 + 1.0);
        (middle - half, middle + half)
    }

    fn has_line_below(&self, other: &Flag) -> bool {
        let (left, right) = other.span();
        self.lines.iter().any(|x| (left - GAP..=right + GAP).contains(x))
    }

    fn is_beside(&self, other: &Flag) -> bool {
        let ((left, right), (from, to)) = (self.span(), other.span());
        from > right + GAP || left > to + GAP
    }
}

/// Returns the flags of lines at these positions, which ascend, numbered from 1.
pub fn flags(lines: impl Iterator<Item = f64>) -> Vec<Flag> {
    let mut flags: Vec<Flag> = (1..).zip(lines).map(|(number, x)| Flag::of(vec![x], number)).collect();
    // Two lines share a flag if each would cross the other's.
    let mut first = 1;
    let mut at = 0;
    while at + 1 < flags.len() {
        if flags[at].has_line_below(&flags[at + 1]) && flags[at + 1].has_line_below(&flags[at]) {
            let more = flags.remove(at + 1).lines;
            let lines = [flags[at].lines.clone(), more].concat();
            flags[at] = Flag::of(lines, first);
            // A longer text may reach the flag before.
            if at > 0 {
                at -= 1;
                first -= flags[at].lines.len();
            }
        } else {
            first += flags[at].lines.len();
            at += 1;
        }
    }
    for _ in 0..MOST_STEPS {
        if !settle(&mut flags) {
            break;
        }
    }
    flags
}

/// Moves up flags that collide with others; returns whether any moved.
fn settle(flags: &mut [Flag]) -> bool {
    let mut is_moved = false;
    for right in 1..flags.len() {
        for left in (0..right).rev() {
            let (one, other) = (&flags[left], &flags[right]);
            if one.is_beside(other) {
                continue;
            }
            // A flag with another's line below it must be the upper one.
            let (upper, lower) = if other.has_line_below(one) { (left, right) } else { (right, left) };
            let is_free = !one.has_line_below(other) && !other.has_line_below(one);
            let (above, below) = (flags[upper].row, flags[lower].row);
            if above == below || (!is_free && above < below) {
                flags[upper].row = below + 1;
                is_moved = true;
            }
        }
    }
    is_moved
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No flag covers another, and no line of another flag goes through it.
    fn check(lines: &[f64]) -> Vec<Flag> {
        let flags = flags(lines.iter().copied());
        assert_eq!(flags.iter().flat_map(|flag| flag.lines.clone()).collect::<Vec<_>>(), lines);
        for (at, flag) in flags.iter().enumerate() {
            let (left, right) = flag.span();
            assert!(flag.lines.iter().all(|x| left < *x && *x < right), "{flag:?}: away from its line");
            for other in flags[..at].iter().chain(&flags[at + 1..]) {
                let (from, to) = other.span();
                assert!(flag.row != other.row || from >= right || to <= left, "{flag:?} covers {other:?}");
                let is_through = other.lines.iter().any(|x| left < *x && *x < right);
                assert!(!is_through || other.row < flag.row, "lines of {other:?} go through {flag:?}");
            }
        }
        flags
    }

    #[test]
    fn every_flag_belongs_to_its_lines() {
        assert_eq!(check(&[120.0, 500.0]).iter().map(|flag| flag.row).max(), Some(0));
        let texts = |lines: &[f64]| check(lines).into_iter().map(|flag| flag.text).collect::<Vec<_>>();
        assert_eq!(texts(&[200.0, 200.5, 201.0, 300.0]), ["1-3", "4"]);
        assert_eq!(texts(&[200.0, 214.0, 228.0]), ["1", "2", "3"]);
        assert!(check(&[]).is_empty());
        // Lines as they fall, of a thousand seeds of a small generator.
        let mut state = 1u64;
        for count in (1..40).cycle().take(1000) {
            let mut lines: Vec<f64> = (0..count)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    120.0 + (state >> 33) as f64 % 1010.0
                })
                .collect();
            lines.sort_by(f64::total_cmp);
            check(&lines);
        }
    }
}
