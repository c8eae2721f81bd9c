//! The parser of networks of both levels: any text is refused in one line, or read as sites with insides that
//! each have one job.

use std::sync::LazyLock;

use inart_hierarchy::Hierarchy;
use serde_json::{Value, json};

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "name": "t",
        "nodes": [
            {"name": "n1", "kind": "site"},
            {"name": "n2", "kind": "site"},
            {"name": "v", "kind": "switch", "aggregation": "1 Gbps", "site": "n1"},
            {"name": "w", "kind": "worker", "site": "n1"},
        ],
        "links": [
            {"ends": ["n1", "n2"], "rate": "20 Mbps"},
            {"ends": ["w", "v"], "rate": "1 Gbps"},
            {"ends": ["v", "n1"], "rate": "1 Gbps"},
        ],
        "jobs": [
            {"name": "j", "sites": ["n1", "n2"], "gradient": "40 MB"},
            {"name": "i", "workers": ["w"], "servers": ["n1"]},
        ],
    })
});

const WORDS: [&str; 20] = [
    "name", "nodes", "links", "jobs", "kind", "site", "switch", "worker", "server", "ends", "rate",
    "workers", "servers", "sites", "n1", "n2", "w", "v", "nan", "7 KB",
];

/// See the module.
pub fn run(bytes: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, bytes);
    match Hierarchy::from_yaml(&text) {
        Ok(hierarchy) => {
            for inside in &hierarchy.insides {
                assert!(hierarchy.overlay.site_named(&inside.site).is_some(), "{text}");
                assert_eq!(inside.topology.jobs().len(), 1, "{text}");
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    }
}
