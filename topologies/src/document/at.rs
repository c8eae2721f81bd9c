//! Values with their lines.

use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

/// A value and the line that it stands on.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct At<T> {
    /// The line, from 1; 0 for a value that was not read.
    pub line: u64,
    /// The value.
    pub value: T,
}

impl<T> At<T> {
    /// Creates a value that was not read.
    pub fn new(value: T) -> Self {
        At { line: 0, value }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::deserialize(deserializer).map(|read| At { line: read.referenced.line(), value: read.value })
    }
}
