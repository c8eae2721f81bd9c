//! The plan parser and the checker: any text is refused, or read as a plan that writes itself and reads back
//! the same, and that the checker judges.

use std::sync::LazyLock;

use inart_planner_aggregation::{Options, Plan, check, held_by_results, plan, schemes, sustainable_rate};
use inart_topologies::switched::Topology;
use serde_json::Value;

use crate::edit::{EXTREMES, Values, edited, edited_with};

/// Two workers on each of two switches, one of which adds up.
const TOPOLOGY: &str = "
name: t
nodes:
  - {name: v1, kind: switch, aggregation_capacity: 6 Gbps}
  - {name: v2, kind: switch}
  - {name: s, kind: server, ingress_capacity: 4 Gbps}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [w1, v1], rate: 6 Gbps}
  - {ends: [w2, v1], rate: 6 Gbps}
  - {ends: [w3, v2], rate: 6 Gbps}
  - {ends: [v1, v2], rate: 6 Gbps}
  - {ends: [v2, s], rate: 6 Gbps}
";

static PLANNED: LazyLock<(Topology, Value)> = LazyLock::new(|| {
    let topology = Topology::from_yaml(TOPOLOGY).expect("the topology is right");
    let plan =
        plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).expect("it can be planned");
    let document = serde_json::from_str(&plan.to_json()).expect("a plan is JSON");
    (topology, document)
});

const WORDS: [&str; 20] = [
    "scheme",
    "seed",
    "job",
    "rate_bps",
    "bounds",
    "lp_bps",
    "integral_bps",
    "shards",
    "flows",
    "trunks",
    "load",
    "share",
    "worker",
    "aggregator",
    "path",
    "levels",
    "v1",
    "w1",
    "s",
    "link v1->v2",
];

/// See the module. Of each second length the numbers are extremes.
pub fn run(bytes: &[u8]) {
    let (topology, document) = &*PLANNED;
    let values = Values { words: &WORDS, numbers: &EXTREMES };
    let text = match bytes.len() % 2 {
        0 => edited(document, &WORDS, bytes),
        _ => edited_with(document, values, bytes),
    };
    match Plan::from_json(&text) {
        Ok(plan) => {
            if let Err(violations) = check(topology, &plan) {
                assert!(!violations.is_empty());
                for violation in violations {
                    assert_eq!(violation.to_string().lines().count(), 1, "one line: {violation}");
                }
            }
            // Operations on a plan on a network that has changed.
            if let Ok(sustained) = sustainable_rate(topology, &plan) {
                assert_eq!(sustained.limit.lines().count().max(1), 1, "one line: {sustained:?}");
            }
            let _ = held_by_results(topology, &plan);
            let json = plan.to_json();
            assert_eq!(Plan::from_json(&json).ok().as_ref(), Some(&plan), "{text}\n{json}");
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    }
}
