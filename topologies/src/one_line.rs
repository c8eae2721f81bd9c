//! Messages of one line.

/// Names and marks of a document may hold line breaks, which parsers quote as they are: they are shown
/// escaped.
pub fn one_line(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}
