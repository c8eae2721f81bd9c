//! A scheme of this test alone: its plan, of sums of sums of sums, is installed on switches, where frames
//! follow it.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;
use crate::toy;

use inart_controller::{PortMap, Records};
use inart_planner_aggregation::{Options, check, plan};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};
use support::walker::{Walker, check_mac, check_own_slots};
use support::{controller, fig1, job, now};

/// Three switches in a row, each with two workers.
const ROW: &str = "
name: row
nodes: [{name: a, kind: switch, aggregation_capacity: 9 Gbps},
  {name: b, kind: switch, aggregation_capacity: 9 Gbps},
  {name: c, kind: switch, aggregation_capacity: 9 Gbps}, {name: s, kind: server},
  {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}, {name: w4, kind: worker}]
links: [{ends: [w1, a], rate: 1 Gbps}, {ends: [w2, a], rate: 1 Gbps}, {ends: [w3, b], rate: 1 Gbps},
  {ends: [w4, c], rate: 1 Gbps}, {ends: [a, b], rate: 1 Gbps}, {ends: [b, c], rate: 1 Gbps},
  {ends: [s, c], rate: 1 Gbps}]
";

#[test]
fn a_plan_of_a_scheme_that_no_crate_knows_is_pushed() {
    for (topology, levels) in [(fig1(), 2), (Topology::from_yaml(ROW).unwrap(), 3)] {
        let plan = plan(&topology, &topology.jobs()[0], &Options::new(&toy::Meeting)).unwrap();
        assert_eq!((check(&topology, &plan), plan.levels), (Ok(()), levels));
        let mut controller = controller(&topology, Records::default());
        let held = now(controller.install(&[job(1, &plan)])).unwrap().desired;
        let ports = PortMap::new(&topology).unwrap();
        let walker = Walker::new(&topology, &held, &ports, &plan, JobId::from(1), PlanVersion::from(1));
        assert_eq!(walker.check(), Ok(()));
        assert_eq!((check_own_slots(&held), check_mac(&held, &ports)), (Ok(()), Ok(())));
    }
}
