//! Length limits of terms.

/// Most terms of a list.
pub const MOST_TERMS: usize = 64;
/// Most bytes of a term's name.
pub const MOST_NAME_BYTES: usize = 64;
/// Most bytes of a term's value.
pub const MOST_VALUE_BYTES: usize = 256;
/// Most bytes of a line that another process has sent.
pub const MOST_LINE_BYTES: usize = 1024;
/// Most bytes of an encoded list: each term has at most twelve bytes of tags and lengths.
pub(crate) const MOST_BYTES: usize = MOST_TERMS * (MOST_NAME_BYTES + MOST_VALUE_BYTES + 12);
