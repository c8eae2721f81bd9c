//! Networks of switches: small ones are planned, and the plan is checked.

use inart_planner_aggregation::{Options, check, plan, schemes};
use inart_topologies::switched::Topology;

/// More nodes and jobs are not planned: an input is to take milliseconds.
const MOST_NODES: usize = 8;

pub fn run(topology: &Topology, text: &str, bytes: &[u8]) {
    if topology.nodes().len() > MOST_NODES {
        return;
    }
    let options = Options::new(schemes::ALL[bytes.len() % schemes::ALL.len()]);
    match plan(topology, &topology.jobs()[0], &options) {
        Ok(plan) => {
            let wrong = check(topology, &plan).err().unwrap_or_default();
            assert!(wrong.is_empty(), "{wrong:?}\n{text}");
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "one line: {error}"),
    }
}
