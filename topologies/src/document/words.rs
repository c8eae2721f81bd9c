//! Problems of the parser, worded for authors of documents.

use super::checks::close;
use crate::renamed;
use crate::units;

/// Examples to look at.
pub(super) const EXAMPLE: &str =
    "topologies/fig1.yaml, geo9.yaml and mesh16.yaml show what each kind of network looks like";

/// Rewords a parser problem for authors of networks. Returns the problem and the fix. `key` is the key whose
/// value has the problem.
pub(super) fn in_our_words(problem: &str, key: Option<&str>) -> (String, String) {
    let of_key = |problem: &str| match key {
        Some(key) => format!("{key}: {problem}"),
        None => problem.to_owned(),
    };
    if let Some((problem, fix)) = of_yaml(problem) {
        return (problem.to_owned(), fix.to_owned());
    }
    if units::advises(problem) {
        return (of_key(problem), String::new());
    }
    if let Some(words) = unknown_key(problem) {
        return words;
    }
    if let Some((problem, fix)) = of_scalar(problem, key) {
        return (of_key(problem), fix.to_owned());
    }
    of_list(problem)
}

/// Problems of any YAML text.
fn of_yaml(problem: &str) -> Option<(&str, &'static str)> {
    if problem.starts_with("multiple YAML documents") {
        Some(("a second document begins here", "write one per file"))
    } else if problem.starts_with("duplicate mapping key") {
        Some((problem.split(", set ").next().unwrap_or(problem), "write it once"))
    } else if problem.starts_with("unexpected end of input") {
        Some(("it is empty, or ends too early", EXAMPLE))
    } else if problem.contains("unknown anchor") {
        Some((problem, EXAMPLE))
    } else if problem.contains("budget") || problem.contains("alias") {
        Some((problem, "write the entries out instead of repeating them by anchors and aliases"))
    } else {
        None
    }
}

/// Returns a key that no kind of network knows.
fn unknown_key(problem: &str) -> Option<(String, String)> {
    let (key, known) = renamed::unknown(problem)?;
    if let Some(words) = renamed::of_network(key, &known) {
        return Some(words);
    }
    let fix = match known.iter().find(|known| close(known, key)) {
        _ if key == "exact" => "write `sum: exact`".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys here are {}", known.join(", ")),
    };
    Some((format!("unknown key `{key}`"), fix))
}

/// Values of another type, where the parser names their own place.
fn of_scalar<'p>(problem: &'p str, key: Option<&str>) -> Option<(&'p str, &'static str)> {
    let whole = || match key {
        Some("mtu") => ("not a whole number of bytes", "write it like `mtu: 9000`"),
        Some("receivers") => ("not a whole number of receivers", "write it like `receivers: 5`"),
        Some("rounds_since_contact") => {
            ("not a whole number of rounds", "write it like `rounds_since_contact: [[p1, p7, 3]]`")
        }
        _ => ("not a whole number of samples", "write it like `batch: 512`"),
    };
    if problem.starts_with("invalid boolean") {
        Some(("neither true nor false", "write `elastic: true`, or leave it out"))
    } else if problem.starts_with("invalid i64") || problem.ends_with("expected i64") {
        Some(whole())
    } else if problem.starts_with("invalid f") {
        Some(("not a number", "write it like `cv: 0.05`"))
    } else if problem.starts_with("expected string scalar") {
        Some(("one value is expected here", EXAMPLE))
    } else if problem.starts_with("cannot deserialize null into string") {
        Some(("one value is expected here, and nothing stands here", EXAMPLE))
    } else if problem.starts_with("expected sequence start") {
        Some(("a list is expected here", "write it like `[a, b]`, or one entry per line, each after `- `"))
    } else if problem.starts_with("expected mapping start") || problem.contains("expected struct ") {
        Some(("names and values are expected here", EXAMPLE))
    } else {
        None
    }
}

/// Rewords problems of lists of another length, and all others: the parser does not always name their key.
fn of_list(problem: &str) -> (String, String) {
    let cut = problem.split(", expected").next().unwrap_or(problem);
    let (problem, fix) = if problem.contains("tuple of size 2") || problem.contains("array of length 2") {
        (cut, "name the two nodes, like `[a, b]`")
    } else if problem.contains("tuple of size 3") {
        (cut, "write two peers and a number of rounds, like `rounds_since_contact: [[p1, p7, 3]]`")
    } else if problem.contains("unknown variant") {
        (cut, "write `sum: exact`, or leave it out")
    } else {
        (problem, EXAMPLE)
    };
    (problem.to_owned(), fix.to_owned())
}

/// Returns the key whose value is at a position; lines and columns count from 1.
pub(super) fn key_at(text: &str, line: u64, column: u64) -> Option<&str> {
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let before = line[..at].rsplit_once(':')?.0.trim_end_matches('"');
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = before.char_indices().rev().take_while(|(_, c)| word(*c)).last().map(|(at, _)| at)?;
    Some(&before[start..])
}
