//! Messages of libraries that name flags of the command line: a library has settings, and only the command
//! knows their flags.

use super::Found;
use super::rules::FLAG;

/// Folders of programs: their messages name flags.
const PROGRAMS: [&str; 5] = ["cli/", "tests/", "examples/", "mininet/", "python/tests/"];

/// Returns where a library's sentence in a string names a flag. A word without blanks is an argument of a
/// program that the library runs.
pub fn named(file: &str, text: &str) -> Vec<Found> {
    let is_test = ["/tests/", "/benches/", "/examples/"].iter().any(|folder| file.contains(folder));
    if !file.ends_with(".rs") || is_test || PROGRAMS.iter().any(|folder| file.starts_with(folder)) {
        return Vec::new();
    }
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let flags = |(line, string): (usize, &str)| {
        let count = if string.contains(' ') { string.matches(flag_start()).count() } else { 0 };
        std::iter::repeat_n((FLAG, line), count)
    };
    strings(text).into_iter().flat_map(flags).collect()
}

/// Matches the first letter of each flag in a string.
fn flag_start() -> impl FnMut(char) -> bool {
    let mut before = [' '; 3];
    move |c| {
        let [blank, first, second] = before;
        before = [first, second, c];
        c.is_ascii_lowercase() && first == '-' && second == '-' && !blank.is_alphanumeric() && blank != '-'
    }
}

/// String literals with their lines, without comments.
fn strings(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if rest.starts_with('"') {
            let (mut escaped, mut end) = (false, rest.len());
            for (place, c) in rest.char_indices().skip(1) {
                if c == '"' && !escaped {
                    end = place + 1;
                    break;
                }
                escaped = c == '\\' && !escaped;
            }
            found.push((line, &rest[..end]));
            end
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        line += rest[..length].matches('\n').count();
        at += length;
    }
    found
}

#[test]
fn flags_in_sentences_of_libraries_are_found() {
    let text = "// \"give --no flag\"\nf(\"--arg\", '\"', \"give --one or `--two`; a -- b --\")\n\n\"--x y\"\n\
                #[cfg(test)]\nmod tests { \"give --three here\" }";
    assert_eq!(named("planner/src/lib.rs", text), [(FLAG, 2), (FLAG, 2), (FLAG, 4)]);
    assert_eq!(named("cli/src/main.rs", text), []);
    assert_eq!(named("planner/tests/main.rs", text), []);
}
