//! Views of elastic jobs next to other jobs: planned with the capacity that these leave, or else with a
//! fair part.
#![allow(clippy::unwrap_used, reason = "tests")]

use inart_controller::membership::Formation;
use inart_controller::plan_view;
use inart_planner_aggregation::{Options, Plan, plan, schemes};
use inart_topologies::switched::{Job, Topology};
use inart_wire::Incarnation;

fn topology() -> Topology {
    let yaml = "{name: n, nodes: [{name: v, kind: switch, aggregation_capacity: 400 Mbps}, {name: s, kind: server, ingress_capacity: 100 Mbps},
      {name: a, kind: worker}, {name: b, kind: worker}, {name: c, kind: worker}],
      links: [{ends: [a, v], rate: 1 Gbps}, {ends: [b, v], rate: 1 Gbps}, {ends: [c, v], rate: 1 Gbps},
      {ends: [s, v], rate: 1 Gbps}],
      jobs: [{name: one, workers: [a, b], servers: [s]}, {name: two, workers: [b, c], servers: [s], elastic: true}]}";
    Topology::from_yaml(yaml).unwrap()
}

/// Returns a job's plan as if it were alone.
fn alone(topology: &Topology, job: usize) -> Plan {
    let job: &Job = &topology.jobs()[job];
    let topology = topology.with_jobs(vec![job.clone()]);
    plan(&topology, job, &Options { time_left: &|| 0.0, ..Options::new(schemes::OPTIMIZED) }).unwrap()
}

fn of(host: &str) -> Formation {
    let named = |name: &str| (name.to_owned(), Incarnation::new(1));
    Formation { workers: vec![named(host)], servers: vec![named("s")] }
}

#[test]
fn a_view_gets_its_fair_rate_where_others_use_all_capacity() {
    let topology = topology();
    let [one, two] = [0, 1].map(|job| alone(&topology, job));
    let (plan, others) = plan_view(&topology, std::slice::from_ref(&one), &two, &of("c"), &|| 0.0).unwrap();
    assert!((plan.rate_bps - 50e6).abs() < 1e3, "{}", plan.rate_bps);
    assert_eq!(others.len(), 1);
    assert!(others[0].rate_bps < one.rate_bps * 0.6, "{} of {}", others[0].rate_bps, one.rate_bps);
    assert!(plan.flows.iter().all(|flow| flow.worker == "c"), "for the connected hosts");
}

#[test]
fn a_view_uses_only_capacity_that_others_leave() {
    let topology = topology();
    let [one, two] = [0, 1].map(|job| alone(&topology, job));
    let one = Plan { rate_bps: 30e6, load: Vec::new(), ..one };
    let (plan, others) = plan_view(&topology, std::slice::from_ref(&one), &two, &of("c"), &|| 0.0).unwrap();
    assert!(others.is_empty());
    assert!(plan.rate_bps > 0.0);
}
