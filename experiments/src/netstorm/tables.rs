//! Tables I and II of the NETSTORM paper: words.

use inart_planner_sites::{AuxiliaryUse, Scheme, longest_chunk};

use crate::comparison::{ComparisonPanel, ComparisonRow, Entry};
use crate::published::{PublishedEntry, PublishedValue};
use crate::trials::StudyError;

use super::job::{Job, Network};
use super::networks::draw;

fn row(x: &str, paper: &str, here: impl Into<String>, optimized: impl Into<String>) -> ComparisonRow {
    ComparisonRow {
        x: x.to_owned(),
        paper: Some(PublishedEntry { entry: PublishedValue::Words(paper.to_owned()), source: "text" }),
        here: Some(Entry::Words(here.into())),
        optimized: Some(Entry::Words(optimized.into())),
    }
}

/// Returns Table I: options of users.
pub fn options() -> ComparisonPanel {
    let rows = vec![
        row(
            "ENABLE_AWARENESS",
            "whether to enable network awareness",
            "knowledge: passive, or static, uniform, oracle",
            "the same",
        ),
        row(
            "ENABLE_AUX_PATH",
            "whether to use auxiliary paths",
            "auxiliary: node-disjoint, or edge-disjoint, none",
            "none: its trees use the links",
        ),
        row(
            "UPDATE_RATE",
            "threshold to distinguish significant changes",
            "none: every measurement counts",
            "none: every measurement counts",
        ),
    ];
    ComparisonPanel {
        key: "options",
        title: "options and their settings here".to_owned(),
        quantity: "Options of users",
        unit: "",
        axis: "option",
        rows,
    }
}

/// Returns Table II: settings of the runs here.
///
/// # Errors
/// A network that cannot be drawn.
pub fn settings() -> Result<ComparisonPanel, StudyError> {
    let overlay = draw(Network::Dynamic, Job::Equal, 1)?;
    let sites = overlay.sites().len().to_string();
    let longest = |scheme| overlay.jobs().first().map_or(0, |job| longest_chunk(job, scheme) / 4);
    let AuxiliaryUse { busy_bound, queue_length, .. } = AuxiliaryUse::default();
    let rows = vec![
        row("NUM_NODES", "9", &*sites, &*sites),
        row("NUM_ROOT_SERVERS", "9", &*sites, "as many as the packing needs"),
        row(
            "CHUNK_SIZE, parameters",
            "1 million",
            longest(Scheme::Netstorm).to_string(),
            longest(Scheme::Optimized).to_string(),
        ),
        row("PRIMARY_BUSY_BOUND", "2", busy_bound.to_string(), "none: no auxiliary paths"),
        row("AUXILIARY_QUEUE_LENGTH", "1", queue_length.to_string(), "none: no auxiliary paths"),
        row("PROBE_CHUNK_SIZE", "2 millions", "every chunk is a probe", "every chunk is a probe"),
        row("PROBE_CHUNK_NUM", "4", "4", "4"),
        row("UPDATE_TIME", "5 s", "before every round", "before every round"),
        row("rates", "20 to 155 Mbps, every 3 minutes", "the same", "the same"),
        row("latency", "30 ms", "30 ms", "30 ms"),
        row("packet loss", "0.02 %", "none", "none"),
    ];
    Ok(ComparisonPanel {
        key: "settings",
        title: "dynamic network".to_owned(),
        quantity: "Settings",
        unit: "",
        axis: "setting",
        rows,
    })
}
