//! The entries of a document as they are written.

use std::collections::BTreeMap;

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
    pub site: Option<IgnoredAny>,
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
    pub peers: Option<Vec<String>>,
    pub receivers: Option<i64>,
    pub update: Option<Size>,
    #[serde(default)]
    pub updates: BTreeMap<String, Size>,
    #[serde(default)]
    pub required: Vec<[String; 2]>,
    #[serde(default)]
    pub waited: Vec<(String, String, i64)>,
    pub compute: Option<ComputeEntry>,
    #[serde(default)]
    pub computes: BTreeMap<String, ComputeEntry>,
    pub workers: Option<IgnoredAny>,
    pub servers: Option<IgnoredAny>,
    pub sites: Option<IgnoredAny>,
    pub clients: Option<IgnoredAny>,
    pub gradient: Option<IgnoredAny>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct ComputeEntry {
    pub mean: Option<Seconds>,
    pub cv: Option<f64>,
}
