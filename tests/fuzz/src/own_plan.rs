//! Plans of a user's own on networks of sites and of peers, and plans of several jobs: any text is refused,
//! or read as choices that are completed to a plan that holds, or as a whole plan that the checker judges.

use std::sync::LazyLock;

use inart_planner_aggregation::{JobPlans, Options, Order, check_jobs, plan_jobs, schemes};
use inart_planner_peers::Multicast;
use inart_topologies::peers::Mesh;
use inart_topologies::sites::Overlay;
use inart_topologies::switched::Topology;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::edit::{EXTREMES, Values, edited, edited_with};

/// The gradient is short, so that no edit makes more than 3,000 chunks of it.
const SITES: &str = "
name: ring
nodes: [{name: n1, kind: site}, {name: n2, kind: site}, {name: n3, kind: site}, {name: n4, kind: site}]
links:
  - {ends: [n1, n2], rate: 8 Mbps}
  - {ends: [n2, n3], rate: [8 Mbps, 4 Mbps]}
  - {ends: [n1, n3], rate: 8 Mbps}
  - {ends: [n3, n4], rate: 8 Mbps}
jobs: [{name: job, gradient: 12 KB, chunk: 4 KB}]
";

const PEERS: &str = "
name: mesh
nodes:
  - {name: v, kind: switch}
  - {name: p1, kind: peer}
  - {name: p2, kind: peer}
  - {name: p3, kind: peer}
  - {name: p4, kind: peer}
links:
  - {ends: [p1, v], rate: 1 Gbps}
  - {ends: [p2, v], rate: [1 Gbps, 2 Gbps]}
  - {ends: [p3, v], rate: 500 Mbps}
  - {ends: [p4, v], rate: 1 Gbps}
jobs: [{name: job, peers: [p1, p2, p3, p4], receivers: 2, update: 1 MB, required_pairs: [[p1, p3]]}]
";

const GROUPS: &str = "
name: groups
nodes:
  - {name: v, kind: switch, aggregation_capacity: 2 Gbps}
  - {name: s, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [v, s], rate: 1 Gbps}
  - {ends: [v, w1], rate: 1 Gbps}
  - {ends: [v, w2], rate: 1 Gbps}
  - {ends: [v, w3], rate: 1 Gbps}
jobs:
  - {name: a, workers: [w1, w2], servers: [s]}
  - {name: b, workers: [w3], servers: [s]}
";

static OVERLAY: LazyLock<Overlay> =
    LazyLock::new(|| Overlay::from_yaml(SITES).expect("the network is right"));
static MESH: LazyLock<Mesh> = LazyLock::new(|| Mesh::from_yaml(PEERS).expect("the network is right"));

/// Choices of each system, and whole plans: the documents that an input edits.
static DOCUMENTS: LazyLock<[Value; 5]> = LazyLock::new(|| {
    let trees = json!({"trees": [
        {"root": "n2", "share": 0.5, "parents": {"n1": "n2", "n3": "n2", "n4": "n3"}},
        {"root": "n3", "share": 0.5, "parents": {"n1": "n3", "n2": "n3", "n4": "n3"},
            "broadcast": {"n1": "n2", "n2": "n3", "n4": "n3"}},
    ]});
    let task = |from: &str, to: [&str; 2]| json!({"from": from, "to": to});
    let tasks = json!({"tasks": [task("p1", ["p2", "p3"]), task("p2", ["p3", "p4"]),
        task("p3", ["p4", "p1"]), task("p4", ["p1", "p2"])]});
    let completed = sites(&trees.to_string()).expect("the trees are right");
    let whole_trees = serde_json::to_value(completed).expect("a plan is JSON");
    let completed = peers(&tasks.to_string()).expect("the tasks are right");
    let whole_tasks = serde_json::to_value(completed).expect("a plan is JSON");
    let topology = groups();
    let jobs: Vec<_> = topology.jobs().iter().collect();
    let plans = plan_jobs(&topology, &jobs, &Options::new(schemes::OPTIMIZED), Order::Together);
    let plans = plans.expect("they can be planned").to_json();
    [trees, tasks, whole_trees, whole_tasks, serde_json::from_str(&plans).expect("plans are JSON")]
});

const WORDS: [&str; 24] = [
    "topology",
    "job",
    "chunk_bytes",
    "trees",
    "root",
    "share",
    "parents",
    "broadcast",
    "auxiliary",
    "predicted_s",
    "tasks",
    "from",
    "to",
    "multicast",
    "force_after",
    "seconds",
    "plans",
    "order",
    "min_rate_bps",
    "n1",
    "p1",
    "hosts",
    "in-turn",
    "a\nb",
];

fn groups() -> Topology {
    Topology::from_yaml(GROUPS).expect("the network is right")
}

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

/// Completes a user's choices of a plan of sites.
fn sites(text: &str) -> Option<inart_planner_sites::Plan> {
    let (overlay, job) = (&*OVERLAY, &OVERLAY.jobs()[0]);
    let own = read::<inart_planner_sites::OwnPlan>(text)?;
    let plan = inart_planner_sites::complete(overlay, job, &own, inart_planner_sites::Scheme::Own).ok()?;
    assert_eq!(inart_planner_sites::check(overlay, job, &plan), Vec::<String>::new(), "{text}");
    let rates = overlay.rates_at(0.0);
    let predicted_s = inart_planner_sites::predicted_seconds(overlay, job, &rates, &plan);
    let is_near = |seconds: f64| (seconds - plan.predicted_s).abs() <= 1e-6 * plan.predicted_s;
    assert!(predicted_s.is_ok_and(is_near), "{text}");
    Some(plan)
}

/// Completes a user's choices of a plan of peers.
fn peers(text: &str) -> Option<inart_planner_peers::Plan> {
    let (mesh, job) = (&*MESH, &MESH.jobs()[0]);
    let own = read::<inart_planner_peers::OwnPlan>(text)?;
    let plan = inart_planner_peers::complete(mesh, job, &own, Multicast::Hosts).ok()?;
    assert_eq!(inart_planner_peers::check(mesh, job, &plan), Vec::<String>::new(), "{text}");
    Some(plan)
}

/// Runs the target: a byte for the kind of plan, then edits as in `edited`. From 128 on, numbers are
/// extremes.
pub fn run(data: &[u8]) {
    let (kind, bytes) = data.split_first().map_or((0, data), |(kind, bytes)| (*kind, bytes));
    let (document, values) =
        (&DOCUMENTS[usize::from(kind) % 5], Values { words: &WORDS, numbers: &EXTREMES });
    let text = match kind < 128 {
        true => edited(document, &WORDS, bytes),
        false => edited_with(document, values, bytes),
    };
    match kind % 5 {
        0 => drop(sites(&text)),
        1 => drop(peers(&text)),
        2 => {
            let (overlay, job) = (&*OVERLAY, &OVERLAY.jobs()[0]);
            let Some(plan) = read::<inart_planner_sites::Plan>(&text) else { return };
            if inart_planner_sites::check(overlay, job, &plan).is_empty() {
                let rates = overlay.rates_at(0.0);
                let predicted_s = inart_planner_sites::predicted_seconds(overlay, job, &rates, &plan);
                assert!(predicted_s.is_ok_and(f64::is_finite), "{text}");
            }
        }
        3 => {
            let (mesh, job) = (&*MESH, &MESH.jobs()[0]);
            let Some(plan) = read::<inart_planner_peers::Plan>(&text) else { return };
            if inart_planner_peers::check(mesh, job, &plan).is_empty() {
                let own =
                    read::<inart_planner_peers::OwnPlan>(&text).expect("a plan has all that a user chooses");
                assert!(inart_planner_peers::receivers(mesh, job, &own).is_ok(), "{text}");
            }
        }
        _ => match JobPlans::from_json(&text) {
            Ok(plans) => {
                for violation in check_jobs(&groups(), &plans).err().unwrap_or_default() {
                    assert_eq!(violation.to_string().lines().count(), 1, "one line: {violation}");
                }
                assert_eq!(JobPlans::from_json(&plans.to_json()).ok(), Some(plans), "{text}");
            }
            Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
        },
    }
}
