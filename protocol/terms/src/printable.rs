//! Texts of other processes, for one line of a log.

use crate::bounds::MOST_LINE_BYTES;

/// Returns a text of another process as one line of at most [`MOST_LINE_BYTES`]: control characters are
/// escaped, and a longer text is truncated.
pub fn one_line(text: &str) -> String {
    // Later text cannot be in the line.
    let start = text.get(..cut(text, MOST_LINE_BYTES + 4)).unwrap_or_default();
    printable(start, MOST_LINE_BYTES, || "...".to_owned())
}

/// Returns a text without control characters and of at most `most` bytes. A longer one is truncated, and ends
/// with `mark`.
pub(crate) fn printable(text: &str, most: usize, mark: impl FnOnce() -> String) -> String {
    let shown = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    let text: String = text.chars().map(shown).collect();
    if text.len() <= most {
        return text;
    }
    let mark = mark();
    format!("{}{mark}", &text[..cut(&text, most - mark.len())])
}

/// Returns the last position up to `at` where a text may be cut.
fn cut(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
