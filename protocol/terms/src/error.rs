//! Lists that are not terms.

use crate::bounds::{MOST_NAME_BYTES, MOST_TERMS, MOST_VALUE_BYTES};

/// A reason to refuse a list of terms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TermsError {
    /// More terms than a hello may carry.
    #[error("{0} terms; send at most {MOST_TERMS}")]
    Many(usize),
    /// A name of no bytes, or of too many.
    #[error("a term's name has {0} bytes; give it 1 to {MOST_NAME_BYTES}")]
    Name(usize),
    /// A value of too many bytes.
    #[error("term {name}: the value has {bytes} bytes; send at most {MOST_VALUE_BYTES}")]
    Value {
        /// Term.
        name: String,
        /// Bytes of the value.
        bytes: usize,
    },
    /// A name or a value that no log can show on one line.
    #[error("term {0:?} has a control character; send printable text")]
    Control(String),
    /// A name that occurs twice.
    #[error("term {0} occurs twice; send each name once")]
    Twice(String),
    /// Bytes that are not a list of terms.
    #[error("{0} bytes are not a list of terms; send `repeated Term` as field 1")]
    Encoding(usize),
}
