//! Errors of numbers and strings.

use core::fmt;

/// Number outside the range of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeError {
    /// Type of the number.
    pub what: &'static str,
    /// Number.
    pub seen: i64,
    /// Valid numbers.
    pub expected: &'static str,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: expected {}", self.what, self.seen, self.expected)
    }
}

impl core::error::Error for RangeError {}

/// String that does not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Type of the string.
    pub what: &'static str,
    /// Valid strings.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a {}: expected {}", self.what, self.expected)
    }
}

impl core::error::Error for ParseError {}
