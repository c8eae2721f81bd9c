//! Words of other processes, before they are logged.

/// Longest text of another process, in characters.
const MOST: usize = 200;

/// Returns the text on one line, without control characters, and not long.
pub(crate) fn plain(text: &str) -> String {
    text.chars().take(MOST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
