//! Reads topology documents.

use super::document::{Document, in_our_words};
use super::validate::build;
use super::{Topology, TopologyError};

/// Generous enough for a fat-tree of 8,192 hosts, tight enough that a hostile document cannot take the
/// machine.
const MAX_EVENTS: usize = 20_000_000;

impl Topology {
    /// Reads and validates a topology document: YAML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Topology, TopologyError> {
        let options = serde_saphyr::options! {
            with_snippet: false,
            // NaN and infinity are refused with the node's or link's name, not by the parser.
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::PassThrough,
            budget: serde_saphyr::budget! { max_events: MAX_EVENTS, max_nodes: MAX_EVENTS },
        };
        let document: Document = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let line = error.location().map(|location| location.line());
            let text = error.to_string();
            let problem = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            // The line is told apart.
            let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
            let (problem, fix) = in_our_words(problem);
            TopologyError::new(line, "document", problem, fix)
        })?;
        build(document)
    }
}
