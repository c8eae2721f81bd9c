//! What can be wrong with a number or a string.

use core::fmt;

/// A number outside the range of the type it was to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeError {
    /// What the number was to be.
    pub what: &'static str,
    /// The number.
    pub seen: i64,
    /// What would have been right.
    pub expected: &'static str,
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: expected {}", self.what, self.seen, self.expected)
    }
}

impl core::error::Error for RangeError {}

/// A string that does not read as the type it was to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What the string was to be.
    pub what: &'static str,
    /// What would have been right.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a {}: expected {}", self.what, self.expected)
    }
}

impl core::error::Error for ParseError {}
