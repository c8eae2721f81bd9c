//! Networks of all kinds that are right, and words to put into them.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// A document, and the words that edits put into it.
pub struct Example {
    pub document: Value,
    pub words: &'static [&'static str],
}

/// One of each kind.
pub static ALL: LazyLock<[Example; 5]> = LazyLock::new(|| {
    [
        Example {
            document: switched(),
            words: &[
                "name",
                "nodes",
                "links",
                "background",
                "jobs",
                "kind",
                "switch",
                "server",
                "worker",
                "aggregation_capacity",
                "ingress_capacity",
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
            ],
        },
        Example {
            document: sites(),
            words: &[
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
            ],
        },
        Example {
            document: peers(),
            words: &[
                "name",
                "nodes",
                "links",
                "traces",
                "jobs",
                "kind",
                "peer",
                "switch",
                "ends",
                "rate",
                "loss",
                "link",
                "every",
                "rates",
                "peers",
                "receivers",
                "update",
                "updates",
                "required",
                "waited",
                "compute",
                "mean",
                "p1",
                "s1",
                "1e400 Gbps",
                "-1 bps",
                "nan",
            ],
        },
        Example {
            document: training(),
            words: &[
                "name",
                "nodes",
                "links",
                "jobs",
                "kind",
                "worker",
                "switch",
                "server",
                "ends",
                "rate",
                "delay",
                "workers",
                "clients",
                "servers",
                "gradient",
                "compute",
                "default",
                "overrides",
                "mean",
                "cv",
                "speed",
                "batch",
                "batches",
                "pause",
                "w1",
            ],
        },
        Example {
            document: levels(),
            words: &[
                "name", "nodes", "links", "jobs", "kind", "site", "switch", "worker", "server", "ends",
                "rate", "workers", "servers", "sites", "n1", "n2", "w", "v", "nan", "7 KB",
            ],
        },
    ]
});

/// Returns a network of switches.
fn switched() -> Value {
    json!({
        "name": "t",
        "nodes": [
            {"name": "v", "kind": "switch", "aggregation_capacity": "6 Gbps"},
            {"name": "s", "kind": "server", "ingress_capacity": "4e9 bps"},
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
}

/// Returns a network of sites.
fn sites() -> Value {
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
}

/// Returns a network of peers.
fn peers() -> Value {
    json!({
        "name": "t",
        "nodes": [
            {"name": "s1", "kind": "switch"},
            {"name": "s2", "kind": "switch"},
            {"name": "p1", "kind": "peer"},
            {"name": "p2", "kind": "peer"},
            {"name": "p3", "kind": "peer"},
            {"name": "p4", "kind": "peer"},
        ],
        "links": [
            {"ends": ["p1", "s1"], "rate": ["38 Gbps", "54 Gbps"], "delay": "5 us", "loss": "0.02%"},
            {"ends": ["p2", "s1"], "rate": "20 Gbps"},
            {"ends": ["p3", "s2"], "rate": "6e10 bps", "loss": 0.001},
            {"ends": ["s2", "p4"], "rate": ["1e10 bps", "3e10 bps"]},
            {"ends": ["s1", "s2"], "rate": "100 Gbps"},
        ],
        "traces": [{"link": ["p1", "s1"], "every": "1 s", "rates": ["38 Gbps", "23 Gbps"]}],
        "jobs": [{
            "name": "j", "peers": ["p1", "p2", "p3", "p4"], "receivers": 2,
            "update": {"default": "200 MB", "overrides": {"p1": "60 MB"}}, "required_pairs": [["p1", "p3"]], "rounds_since_contact": [["p1", "p4", 3]],
            "compute": {"default": {"mean": "1 s", "cv": 0.57}, "overrides": {"p2": {"mean": "2 s"}}},
        }],
    })
}

/// Returns a network of switches, with jobs that train with a parameter server.
fn training() -> Value {
    json!({
        "name": "t",
        "nodes": [
            {"name": "v1", "kind": "switch"},
            {"name": "s1", "kind": "server"},
            {"name": "w1", "kind": "worker"},
            {"name": "w2", "kind": "worker"},
        ],
        "links": [
            {"ends": ["v1", "s1"], "rate": "4 Gbps"},
            {"ends": ["v1", "w1"], "rate": "1 Gbps", "delay": "1 ms"},
            {"ends": ["v1", "w2"], "rate": "1 Gbps"},
        ],
        "jobs": [{
            "name": "j", "workers": ["w1", "w2"], "servers": ["s1"], "gradient": "528 MB",
            "compute": {
                "default": {"mean": "700 ms", "cv": 0.05},
                "overrides": {"w1": {"mean": "1.2 s", "samples_per_second": 429}},
            },
            "batch": {"default": 512, "overrides": {"w2": 128}},
        }, {
            "name": "f", "clients": ["w1", "w2"], "servers": ["s1"], "gradient": "5 MB",
            "compute": {"mean": "7 s"}, "upload_delay": {"mean": "223 ms", "cv": 1.31},
        }],
    })
}

/// Returns a network of sites, with nodes inside one.
fn levels() -> Value {
    json!({
        "name": "t",
        "nodes": [
            {"name": "n1", "kind": "site"},
            {"name": "n2", "kind": "site"},
            {"name": "v", "kind": "switch", "aggregation_capacity": "1 Gbps", "site": "n1"},
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
}
