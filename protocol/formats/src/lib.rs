//! Formats of files that one version of inart writes and another one reads.
//!
//! Each kind of file has a [`Format`]: the numbers that this version reads, of which it writes the newest. A
//! document carries its number as the key [`FORMAT_KEY`], the first one. Pure: no I/O and no clock.

mod format;
mod without_format;

pub use format::{DocumentError, Format, FormatError, UNNUMBERED};
pub use without_format::FORMAT_KEY;
