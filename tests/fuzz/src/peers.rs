//! The parser of networks of peers: any text is refused, or read as a network that writes itself and reads
//! back the same; small ones are planned, the plan is checked, and a training on them ends.

use std::sync::LazyLock;

use inart_peers::{
    Draw, Mesh, Multicast, Options, Reading, Scheme, Sharing, SspOptions, check, plan, run_rounds, run_ssp,
};
use serde_json::{Value, json};

use crate::edit::edited;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
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
            "name": "j", "peers": ["p1", "p2", "p3", "p4"], "receivers": 2, "update": "200 MB",
            "updates": {"p1": "60 MB"}, "required": [["p1", "p3"]], "waited": [["p1", "p4", 3]],
            "compute": {"mean": "1 s", "cv": 0.57}, "computes": {"p2": {"mean": "2 s"}},
        }],
    })
});

const WORDS: [&str; 27] = [
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
];

/// Trainings are played for so many mean times to compute, and no longer than so many updates take.
const ROUNDS: f64 = 4.0;

/// See the module.
pub fn run(bytes: &[u8]) {
    let text = edited(&DOCUMENT, &WORDS, bytes);
    let mesh = match Mesh::from_yaml(&text) {
        Ok(mesh) => mesh,
        Err(error) => return assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    };
    let yaml = mesh.to_yaml();
    let read = Mesh::from_yaml(&yaml).unwrap_or_else(|error| panic!("{error}\n{text}\n{yaml}"));
    assert_eq!(read.to_yaml(), yaml, "{text}");
    let job = &mesh.jobs()[0];
    let scheme = Scheme::ALL[bytes.len() % Scheme::ALL.len()];
    let multicast =
        if bytes.first().is_some_and(|first| first % 2 == 0) { Multicast::Switch } else { Multicast::Hosts };
    let options = Options { force_after: Some(4), ..Options::new(scheme, multicast) };
    // The solver may give up where sizes differ by many orders; a plan has to hold.
    let Ok(plan) = plan(&mesh, job, &options) else { return };
    let wrong = check(&mesh, job, &plan);
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    let run = run_rounds(&mesh, job, &options, Draw::Random, Sharing::Fair, 1);
    assert!(run.is_ok_and(|run| run.seconds.is_finite()), "{text}");
    // As long as a few rounds, so that neither updates nor computing are repeated without end.
    let Some(shortest) = job.computes.iter().map(|compute| compute.mean_seconds).min_by(f64::total_cmp)
    else {
        return;
    };
    let duration_s = ROUNDS * shortest;
    let reading = Reading::default();
    let ssp = SspOptions {
        plan: options,
        reading,
        draw: Draw::Fixed,
        staleness: Some(2),
        sharing: Sharing::Split,
        duration_s,
    };
    let Ok(run) = run_ssp(&mesh, job, &ssp) else { return };
    assert!(run.max_gap <= 3 && run.longest_wait <= 4.max(longest(job)), "{run:?}\n{text}");
}

/// The longest wait that the document begins with.
fn longest(job: &inart_peers::PeerJob) -> u32 {
    job.waited.iter().map(|(.., rounds)| rounds.saturating_add(1)).max().unwrap_or(0)
}
