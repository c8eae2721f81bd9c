//! The parser of networks with parameter servers: any text is refused, or read as a network whose numbers
//! make sense; small ones are run in virtual time, and the run ends.

use std::sync::LazyLock;

use inart_cluster::{Cluster, Kind, WorkerOptions, run_workers};
use inart_order::Policy;
use serde_json::{Value, json};

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
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
            "compute": {"mean": "700 ms", "cv": 0.05}, "computes": {"w1": {"mean": "1.2 s", "speed": 429}},
            "batch": 512, "batches": {"w2": 128},
        }, {
            "name": "f", "clients": ["w1", "w2"], "servers": ["s1"], "gradient": "5 MB",
            "compute": {"mean": "7 s"}, "pause": {"mean": "223 ms", "cv": 1.31},
        }],
    })
});

const WORDS: [&str; 24] = [
    "name", "nodes", "links", "jobs", "kind", "worker", "switch", "server", "ends", "rate", "delay",
    "workers", "clients", "servers", "gradient", "compute", "computes", "mean", "cv", "speed", "batch",
    "batches", "pause", "w1",
];

/// Runs the target.
pub fn run(data: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, data);
    let cluster = match Cluster::from_yaml(&text) {
        Ok(cluster) => cluster,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    };
    assert!(!cluster.jobs.is_empty());
    for job in &cluster.jobs {
        assert!(!job.participants.is_empty() && job.bits.is_finite());
        let times = job.participants.iter().map(|worker| worker.compute);
        assert!(times.chain([job.pause]).all(|time| time.mean_s.is_finite() && time.cv >= 0.0));
        assert!(job.participants.iter().all(|worker| worker.batch > 0 && worker.speed > 0.0));
        if job.kind == Kind::Workers && job.participants.len() <= 4 {
            let run = run_workers(job, &WorkerOptions::new(Policy::bsp(), 3));
            assert!(run.is_ok_and(|run| run.iteration_s.is_finite()), "{text}");
        }
    }
}
