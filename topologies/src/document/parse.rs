//! Parses documents.

use serde_saphyr::NonFiniteFloatPolicy;

use super::entries::Document;
use super::words::{EXAMPLE, in_our_words, key_at};
use crate::error::{NetworkError, Result};

/// Generous enough for a fat-tree of 8,192 hosts, tight enough that a hostile document cannot take the
/// machine.
const MAX_EVENTS: usize = 20_000_000;

impl Document {
    /// Reads a document: YAML or JSON, with or without a byte order mark.
    ///
    /// # Errors
    /// Returns the first problem of the document, with its line.
    pub fn from_yaml(text: &str) -> Result<Document> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let options = serde_saphyr::options! {
            with_snippet: false,
            // NaN and infinity are refused with the node's or link's name, not by the parser.
            non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
            budget: serde_saphyr::budget! { max_events: MAX_EVENTS, max_nodes: MAX_EVENTS },
        };
        let document: Document = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let place = error.location().map(|location| (location.line(), location.column()));
            let message = error.to_string();
            let problem = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
            // The line has a place of its own.
            let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
            let key = place.and_then(|(line, column)| key_at(text, line, column));
            let (problem, fix) = in_our_words(problem, key);
            NetworkError::new(place.map(|(line, _)| line), "document", problem, fix)
        })?;
        match document.given().is_empty() {
            true => Err(NetworkError::new(None, "document", "it is empty", EXAMPLE)),
            false => Ok(document),
        }
    }
}
