//! What a topology document says of training beyond what plans read: how long participants compute, their
//! batches, their pauses.

mod entries;
mod fabric;
mod jobs;

use inart_planner::topology::read_document;
use inart_planner::{Topology, TopologyError};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::network::Cluster;
use entries::Document;

/// Generous enough for ten thousand hosts, tight enough that a hostile document cannot take the machine.
const MAX_EVENTS: usize = 5_000_000;

/// What the parser says, for people who write topologies; and the fix.
fn in_our_words(problem: &str) -> (String, &'static str) {
    const EXAMPLE: &str = "topologies/ps16.yaml shows what a job that trains looks like";
    if problem.starts_with("invalid i64") {
        return ("a batch is no whole number of samples".to_owned(), "write it like `batch: 512`");
    }
    if problem.starts_with("invalid f") {
        return ("a number is wanted here".to_owned(), "write it like `compute: {mean: 700 ms, cv: 0.05}`");
    }
    (problem.to_owned(), EXAMPLE)
}

/// Just enough of a document to see whether its jobs say how long participants compute.
#[derive(Deserialize)]
struct Glance {
    #[serde(default)]
    jobs: Vec<GlanceJob>,
}

#[derive(Deserialize)]
struct GlanceJob {
    compute: Option<IgnoredAny>,
    computes: Option<IgnoredAny>,
}

impl Cluster {
    /// Returns whether a job of a topology document says how long participants compute.
    pub fn is_one(text: &str) -> bool {
        text.contains("compute")
            && read_document::<Glance>(text, MAX_EVENTS, in_our_words).is_ok_and(|glance| {
                glance.jobs.iter().any(|job| job.compute.is_some() || job.computes.is_some())
            })
    }

    /// Reads a topology document whose jobs say how long participants compute: YAML or JSON. Jobs that do not
    /// are left out, unless none does.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place in the document.
    pub fn from_yaml(text: &str) -> Result<Cluster, TopologyError> {
        let topology = Topology::from_yaml(text)?;
        jobs::build(&topology, read_document::<Document>(text, MAX_EVENTS, in_our_words)?)
    }
}
