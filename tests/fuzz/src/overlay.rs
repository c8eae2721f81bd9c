//! The parser of networks of sites: any text is refused, or read as a network that writes itself and reads
//! back the same; small ones are planned, and the plan is checked.

use std::sync::LazyLock;

use inart_overlay::{Options, Overlay, Scheme, check, plan};
use serde_json::{Value, json};

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "name": "t",
        "nodes": [
            {"name": "n1", "kind": "site"},
            {"name": "n2", "kind": "site"},
            {"name": "n3", "kind": "site"},
        ],
        "links": [
            {"ends": ["n1", "n2"], "rate": ["38 Mbps", "54 Mbps"], "delay": "30 ms", "loss": "0.02%"},
            {"ends": ["n2", "n3"], "rate": "20 Mbps"},
            {"ends": ["n3", "n1"], "rate": "6e7 bps", "loss": 0.001},
        ],
        "traces": [{"link": ["n1", "n2"], "every": "180 s", "rates": ["38 Mbps", "23 Mbps"]}],
        "jobs": [{"name": "j", "sites": ["n1", "n2", "n3"], "gradient": "40 MB", "chunk": "4 MB"}],
    })
});

const WORDS: [&str; 22] = [
    "name",
    "nodes",
    "links",
    "traces",
    "jobs",
    "kind",
    "site",
    "ends",
    "rate",
    "delay",
    "loss",
    "link",
    "every",
    "rates",
    "sites",
    "tensors",
    "n1",
    "1e400 Gbps",
    "-1 bps",
    "nan",
    "7 KB",
    "100%",
];

/// Longer gradients are not planned: rounds are played chunk by chunk.
const MOST_CHUNKS: u64 = 100;

/// See the module.
pub fn run(bytes: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, bytes);
    let overlay = match Overlay::from_yaml(&text) {
        Ok(overlay) => overlay,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    };
    let yaml = overlay.to_yaml();
    let read = Overlay::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}\n{text}\n{yaml}"));
    assert_eq!(read.to_yaml(), yaml, "{text}");
    let job = &overlay.jobs()[0];
    let scheme = Scheme::ALL[bytes.len() % Scheme::ALL.len()];
    if job.tensors_bytes.iter().map(|bytes| bytes.div_ceil(job.chunk_bytes)).sum::<u64>() > MOST_CHUNKS {
        return;
    }
    // The solver may give up where rates differ by many orders; a plan has to hold.
    if let Ok(plan) = plan(&overlay, job, &overlay.rates_at(0.0), &Options::new(scheme)) {
        let wrong = check(&overlay, job, &plan);
        assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    }
}
