//! Parses documents: one set of options and one form of errors for all kinds of network.

use serde::de::DeserializeOwned;
use serde_saphyr::NonFiniteFloatPolicy;

use super::error::TopologyError;
use crate::units;

/// Reads a YAML or JSON document of at most `max_events` events. `in_our_words` takes a problem as the parser
/// states it, and returns the problem and its fix for people who write such documents.
///
/// # Errors
/// The first thing that is wrong, with its line.
pub fn read_document<T: DeserializeOwned>(
    text: &str,
    max_events: usize,
    in_our_words: impl Fn(&str) -> (String, &'static str),
) -> Result<T, TopologyError> {
    // NaN and infinity are refused with the node's or link's name, not by the parser.
    read(text, max_events, NonFiniteFloatPolicy::PassThrough, in_our_words)
}

/// Reads a document whose fields another reader parses later. NaN and infinity become text, as JSON values
/// cannot hold them.
///
/// # Errors
/// As [`read_document`].
pub fn read_fields<T: DeserializeOwned>(
    text: &str,
    max_events: usize,
    in_our_words: impl Fn(&str) -> (String, &'static str),
) -> Result<T, TopologyError> {
    read(text, max_events, NonFiniteFloatPolicy::AsString, in_our_words)
}

fn read<T: DeserializeOwned>(
    text: &str,
    max_events: usize,
    non_finite: NonFiniteFloatPolicy,
    in_our_words: impl Fn(&str) -> (String, &'static str),
) -> Result<T, TopologyError> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        non_finite_float_policy: non_finite,
        budget: serde_saphyr::budget! { max_events: max_events, max_nodes: max_events },
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map(|location| (location.line(), location.column()));
        let message = error.to_string();
        let problem = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
        // The line is told apart.
        let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
        let line = place.map(|(line, _)| line);
        if let Some((problem, fix)) = of_any_document(problem) {
            return TopologyError::new(line, "document", problem, fix);
        }
        if !units::advises(problem) {
            let (problem, fix) = in_our_words(plain(problem));
            return TopologyError::new(line, "document", problem, fix);
        }
        let key = place.and_then(|(line, column)| key_at(text, line, column));
        let problem = key.map_or_else(|| problem.to_owned(), |key| format!("{key}: {problem}"));
        TopologyError::new(line, "document", problem, "")
    })
}

/// Problems that documents of every kind can have, with their fixes.
fn of_any_document(problem: &str) -> Option<(&str, &'static str)> {
    if problem.starts_with("multiple YAML documents") {
        Some(("a second document begins here", "write one per file"))
    } else if problem.starts_with("duplicate mapping key") {
        Some((problem.split(", set ").next().unwrap_or(problem), "write it once"))
    } else {
        None
    }
}

/// Returns the parser's message in plain words.
fn plain(problem: &str) -> &str {
    if problem.starts_with("unexpected end of input") {
        "it is empty, or ends too early"
    } else if problem.starts_with("expected mapping start") {
        "names and values are expected here"
    } else {
        problem
    }
}

/// The key whose value stands at a place; lines and columns count from 1.
fn key_at(text: &str, line: u64, column: u64) -> Option<&str> {
    let line = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(column).ok()?.checked_sub(1)?;
    let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let before = line[..at].rsplit_once(':')?.0.trim_end_matches('"');
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let start = before.char_indices().rev().take_while(|(_, c)| word(*c)).last().map(|(at, _)| at)?;
    Some(&before[start..])
}
