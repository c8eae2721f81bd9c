//! Openings of documentation comments: of items in Rust and `.proto` files, and docstrings in Python.

use super::Found;
use super::rules::OPENINGS;

/// Returns the openings of a file that need the text around them.
pub fn openings(file: &str, text: &str) -> Vec<Found> {
    let starts = match file.rsplit('.').next() {
        Some("rs") => comments(text, &["///", "//!"]),
        Some("proto") => comments(text, &["//"]),
        Some("py" | "pyi") => docstrings(text),
        _ => Vec::new(),
    };
    let of = |(line, start): (usize, &str)| {
        let is_opening = |opening: &&str| {
            let rest = start.strip_prefix(opening);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let found = OPENINGS.iter().find(|(opening, _)| is_opening(opening));
        found.map(|(_, word)| (*word, line))
    };
    starts.into_iter().filter_map(of).collect()
}

/// First lines of comments that begin with one of these marks.
fn comments<'t>(text: &'t str, marks: &[&str]) -> Vec<(usize, &'t str)> {
    let (mut before, mut found) = (None, Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim_start();
        let mark = marks.iter().find(|mark| content.starts_with(**mark));
        if let Some(mark) = mark
            && before != Some(mark)
        {
            found.push((line, content[mark.len()..].trim_start()));
        }
        before = mark;
    }
    found
}

/// First lines of strings in three quotes that begin a line.
fn docstrings(text: &str) -> Vec<(usize, &str)> {
    const MARK: &str = "\"\"\"";
    let (mut is_open, mut found) = (false, Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let start = content.trim_start().trim_start_matches('r');
        if let Some(rest) = start.strip_prefix(MARK)
            && !is_open
        {
            found.push((line, rest.trim_start()));
        }
        is_open ^= content.matches(MARK).count() % 2 == 1;
    }
    found
}

#[test]
fn openings_are_those_of_the_first_line() {
    let rust = "//! The same as before.\n//! It is not.\n\n/// Of a link.\n///\n/// What it is.\nfn f() {}\n\
                    /// Its name.\n    x: u8, // What\n    /// Italic, Offers.\n    /// It\n";
    assert_eq!(openings("a.rs", rust), [("docs: The same", 1), ("docs: Of", 4), ("docs: Its", 8)]);
    let python =
        "\"\"\"What a worker joins with.\"\"\"\ndef f():\n    \"\"\"Returns.\n\n    Its sum.\n    \"\"\"\n";
    assert_eq!(openings("a.py", python), [("docs: What", 1)]);
    assert_eq!(openings("a.proto", "// Which it is.\n// That.\nmessage A {}\n"), [("docs: Which", 1)]);
    assert_eq!(openings("a.md", "/// It is text.\n"), []);
}
