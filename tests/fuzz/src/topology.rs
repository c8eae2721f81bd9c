//! The topology parser: any text is refused, or read as a topology that writes itself and reads back the
//! same.

use std::sync::LazyLock;

use inart_planner::Topology;
use serde_json::{Value, json};

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "name": "t",
        "nodes": [
            {"name": "v", "kind": "switch", "aggregation": "6 Gbps"},
            {"name": "s", "kind": "server", "ingress": "4e9 bps"},
            {"name": "w1", "kind": "worker"},
            {"name": "w2", "kind": "worker"},
        ],
        "links": [
            {"ends": ["w1", "v"], "rate": "6 Gbps", "delay": "10 us"},
            {"ends": ["w2", "v"], "rate": "20 Mbps"},
            {"ends": ["v", "s"], "rate": "6e9 bps", "delay": 0},
        ],
        "background": [{"link": ["w1", "v"], "rate": "1 Gbps"}, {"node": "v", "rate": "500 kbps"}],
        "jobs": [{"name": "j", "workers": ["w1", "w2"], "servers": ["s"], "gradient": "548 MB"}],
    })
});

const WORDS: [&str; 24] = [
    "name",
    "nodes",
    "links",
    "background",
    "jobs",
    "kind",
    "switch",
    "server",
    "worker",
    "aggregation",
    "ingress",
    "ends",
    "rate",
    "delay",
    "link",
    "node",
    "gradient",
    "v",
    "w1",
    "1e400 Gbps",
    "-1 bps",
    "nan",
    "3 ms",
    "7 KB",
];

/// See the module.
pub fn run(bytes: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, bytes);
    match Topology::from_yaml(&text) {
        Ok(topology) => {
            let yaml = topology.to_yaml();
            // One of the two forms, for speed.
            let again = if bytes.len().is_multiple_of(2) { &yaml } else { &topology.to_json() };
            let read = Topology::from_yaml(again).unwrap_or_else(|error| panic!("{error}\n{text}\n{again}"));
            assert_eq!(read.to_yaml(), yaml, "{text}\n{again}");
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    }
}
