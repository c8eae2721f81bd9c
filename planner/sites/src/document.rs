//! The document of a network of sites as people write it (YAML, or JSON, which is YAML too), and back.

mod entries;
mod links;
mod validate;
mod write;

use inart_planner::TopologyError;
use inart_planner::topology::{has_kind, read_document};

use crate::network::Overlay;
use entries::Document;

/// Generous enough for any network that can be planned, tight enough that a hostile document cannot take the
/// machine.
const MAX_EVENTS: usize = 5_000_000;

/// What the parser says, for people who write networks; and the fix.
fn in_our_words(problem: &str) -> (String, &'static str) {
    const EXAMPLE: &str = "topologies/geo9.yaml shows what a network of sites looks like";
    if problem.contains("untagged enum Part") {
        return ("a link's loss is no part".to_owned(), "write it like `loss: 0.02%`");
    }
    if problem.contains("array of length 2") || problem.contains("tuple of size 2") {
        return ("two sites are to be named here".to_owned(), EXAMPLE);
    }
    (problem.to_owned(), EXAMPLE)
}

impl Overlay {
    /// Whether a document is a network of sites: one of its nodes is a site.
    pub fn is_one(text: &str) -> bool {
        has_kind(text, "site")
    }

    /// Reads and validates a document: YAML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Overlay, TopologyError> {
        validate::build(read_document::<Document>(text, MAX_EVENTS, in_our_words)?)
    }
}
