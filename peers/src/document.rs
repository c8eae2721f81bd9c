//! The document of a network of peers as people write it (YAML, or JSON, which is YAML too), and back.

mod entries;
mod fabric;
mod jobs;
mod links;
mod nodes;
mod validate;
mod write;

use inart_planner::TopologyError;
use serde::Deserialize;

use crate::network::Mesh;
use entries::Document;

/// Generous enough for any network that can be planned, tight enough that a hostile document cannot take the
/// machine.
const MAX_EVENTS: usize = 5_000_000;

/// Just enough of a document to see what kind of network it is.
#[derive(Deserialize)]
struct Glance {
    nodes: Vec<GlanceNode>,
}

#[derive(Deserialize)]
struct GlanceNode {
    kind: String,
}

/// What the parser says, for people who write networks; and the fix.
fn in_our_words(problem: &str) -> (String, &'static str) {
    const EXAMPLE: &str = "topologies/mesh16.yaml shows what a network of peers looks like";
    if problem.contains("OneOrTwo") {
        let fix = "write `rate: 10 Gbps`, or `rate: [10 Gbps, 8 Gbps]`, first end to second and back";
        return ("a link's rate is neither one rate nor a list of two".to_owned(), fix);
    }
    if problem.contains("untagged enum Part") {
        return ("a link's loss is no part".to_owned(), "write it like `loss: 0.02%`");
    }
    if problem.contains("array of length 2") || problem.contains("tuple of size 2") {
        return ("two names are wanted here".to_owned(), EXAMPLE);
    }
    if problem.contains("tuple of size 3") {
        let fix = "write it like `waited: [[p1, p7, 3]]`";
        return ("two peers and a number of rounds are wanted here".to_owned(), fix);
    }
    (problem.to_owned(), if problem.contains("write it like") { "" } else { EXAMPLE })
}

impl Mesh {
    /// Whether a document is a network of peers: one of its nodes is a peer, and none is a site. Documents
    /// that cannot be read are none.
    pub fn is_one(text: &str) -> bool {
        let has = |glance: &Glance, kind: &str| glance.nodes.iter().any(|node| node.kind == kind);
        text.contains("peer")
            && serde_saphyr::from_str::<Glance>(text)
                .is_ok_and(|glance| has(&glance, "peer") && !has(&glance, "site"))
    }

    /// Reads and validates a document: YAML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Mesh, TopologyError> {
        let options = serde_saphyr::options! {
            with_snippet: false,
            // NaN and infinity are refused with the link's name, not by the parser.
            non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::PassThrough,
            budget: serde_saphyr::budget! { max_events: MAX_EVENTS, max_nodes: MAX_EVENTS },
        };
        let document: Document = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let line = error.location().map(|location| location.line());
            let text = error.to_string();
            let problem = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
            let (problem, fix) = in_our_words(problem);
            TopologyError::new(line, "document", problem, fix)
        })?;
        validate::build(document)
    }
}
