//! Reads topology documents.

use super::document::{Document, in_our_words};
use super::parse::read_document;
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
        let words = |problem: &str| {
            let (problem, fix) = in_our_words(problem);
            (problem.to_owned(), fix)
        };
        build(read_document::<Document>(text, MAX_EVENTS, words)?)
    }
}
