//! The entries of a document as they are written.

use inart_planner::units::{Rate, RatePair, Seconds, Size};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub name: Spanned<String>,
    pub nodes: Vec<Spanned<NodeEntry>>,
    pub links: Vec<Spanned<LinkEntry>>,
    #[serde(default)]
    pub traces: Vec<Spanned<TraceEntry>>,
    #[serde(default)]
    pub jobs: Vec<Spanned<JobEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeEntry {
    pub name: String,
    pub kind: String,
    /// The data centre that a node is in.
    pub site: Option<String>,
    pub aggregation: Option<IgnoredAny>,
    pub ingress: Option<IgnoredAny>,
    pub board: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEntry {
    pub ends: [String; 2],
    pub rate: RatePair<Rate>,
    pub delay: Option<Seconds>,
    pub loss: Option<Part>,
}

/// A part of a whole: `0.02%`, or 0.0002.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Part {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceEntry {
    pub link: [String; 2],
    pub every: Seconds,
    pub rates: Vec<Rate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    pub name: String,
    pub sites: Option<Vec<String>>,
    pub gradient: Option<Size>,
    pub tensors: Option<Vec<Size>>,
    pub chunk: Option<Size>,
    pub workers: Option<IgnoredAny>,
    pub servers: Option<IgnoredAny>,
    pub peers: Option<IgnoredAny>,
    pub clients: Option<IgnoredAny>,
}
