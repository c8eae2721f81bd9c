//! The entries as they are written. What the planner reads has been read before.

use std::collections::BTreeMap;

use inart_planner::units::Seconds;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Spanned;

#[derive(Deserialize)]
pub struct Document {
    #[serde(default)]
    pub jobs: Vec<Spanned<JobEntry>>,
}

#[derive(Deserialize)]
pub struct JobEntry {
    pub name: String,
    pub clients: Option<IgnoredAny>,
    pub compute: Option<ComputeEntry>,
    #[serde(default)]
    pub computes: BTreeMap<String, ComputeEntry>,
    pub batch: Option<i64>,
    #[serde(default)]
    pub batches: BTreeMap<String, i64>,
    pub pause: Option<PauseEntry>,
}

#[derive(Deserialize, Clone, Copy, Default)]
#[serde(deny_unknown_fields)]
pub struct ComputeEntry {
    pub mean: Option<Seconds>,
    pub cv: Option<f64>,
    pub speed: Option<f64>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct PauseEntry {
    pub mean: Option<Seconds>,
    pub cv: Option<f64>,
}
