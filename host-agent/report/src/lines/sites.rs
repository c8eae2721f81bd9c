//! Lines of sites.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The end of a round of a site. Times are in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SiteRound {
    /// The round, from 1.
    pub round: u32,
    /// Start of the round.
    pub began_ns: u64,
    /// Time when the site had all chunks of all its workers; `None` for a site without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_ns: Option<u64>,
    /// Time when the site had the sum.
    pub ended_ns: u64,
    /// The version of the plan.
    pub version: u64,
    /// SHA-256 of the sum's bits, in hexadecimal.
    pub sum: String,
}

/// The end of a site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteEnd {
    /// Share of test images that the trained model classifies correctly; `None` without training.
    pub accuracy: Option<f64>,
    /// Chunks that the site forwarded for others.
    pub relayed: u64,
    /// Requests for missing chunks.
    pub asks: u64,
    /// Messages that were sent again.
    pub failed: u64,
    /// Messages that the site dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Gradients that switches summed; `None` for a site without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summed_in_switches: Option<u64>,
}
