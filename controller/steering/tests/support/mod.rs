//! Network in virtual time, and the owner of its replanning.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use inart_planner_aggregation::{Options, Plan, plan_all, schemes};
use inart_steering::{Decision, LinkSeen, Observation, Outcome, ReplanThresholds, Steering, SwitchSeen};
use inart_topologies::switched::{LinkId, NodeId, NodeKind, Topology};

pub const STEP: Duration = Duration::from_millis(200);

/// Two leaves and two spines: two routes between workers and server.
pub fn network() -> Topology {
    let text = "{name: net, nodes: [{name: l1, kind: switch, aggregation_capacity: 8 Gbps}, {name: l2, kind: switch, aggregation_capacity: 8 Gbps},
        {name: p1, kind: switch}, {name: p2, kind: switch}, {name: s, kind: server, ingress_capacity: 4 Gbps},
        {name: w1, kind: worker}, {name: w2, kind: worker}],
        links: [{ends: [w1, l1], rate: 4 Gbps}, {ends: [w2, l1], rate: 4 Gbps}, {ends: [s, l2], rate: 4 Gbps},
        {ends: [l1, p1], rate: 4 Gbps}, {ends: [l1, p2], rate: 4 Gbps}, {ends: [p1, l2], rate: 4 Gbps},
        {ends: [p2, l2], rate: 4 Gbps}]}";
    Topology::from_yaml(text).unwrap()
}

pub fn node(topology: &Topology, name: &str) -> NodeId {
    topology.node_named(name).unwrap()
}

pub fn link(topology: &Topology, a: &str, b: &str) -> LinkId {
    topology.link_between(node(topology, a), node(topology, b)).unwrap()
}

/// Network in virtual time whose owner carries out every request.
pub struct Owner {
    pub topology: Topology,
    pub steering: Steering,
    pub now: Duration,
    pub active: Vec<Plan>,
    pub changes: usize,
    pub requests: usize,
}

impl Owner {
    pub fn new(topology: Topology, thresholds: ReplanThresholds) -> Self {
        let active = plan_all(&topology, &Options::new(schemes::OPTIMIZED)).unwrap();
        let steering = Steering::new(topology.clone(), active.clone(), thresholds);
        Owner { topology, steering, now: Duration::ZERO, active, changes: 0, requests: 0 }
    }

    /// All links up, with background traffic per direction; all switches healthy.
    pub fn all_up(&self, others: impl Fn(LinkId, bool) -> f64) -> Observation {
        let mut seen = Observation::unknown(&self.topology, STEP);
        for id in self.topology.link_ids() {
            for back in [false, true] {
                seen.record_link(id, back, LinkSeen::up(0.0, others(id, back)));
            }
        }
        let switches = self.topology.node_ids().filter(|&id| self.topology.node(id).kind == NodeKind::Switch);
        seen.switches = switches.map(|id| (id, SwitchSeen::up())).collect();
        seen
    }

    /// Simulates one interval.
    pub fn step(&mut self, seen: &Observation) -> Option<Decision> {
        self.now += STEP;
        let request = self.steering.observe(self.now, seen)?;
        self.requests += 1;
        let plans = request.plan(schemes::OPTIMIZED, &|| f64::INFINITY).map_err(|error| error.to_string());
        let answer = plans.as_ref().map(Vec::as_slice).map_err(Clone::clone);
        let decision = self.steering.answer(self.now, request.number, answer, STEP / 10).unwrap();
        if decision.is_change() {
            self.changes += 1;
            self.active = plans.unwrap();
            self.steering.done(self.now, Outcome::Done, self.active.clone());
        }
        Some(decision)
    }

    /// The spine that gradients pass.
    pub fn spine(&self) -> &'static str {
        let through = |name: &str| {
            self.active[0].flows.iter().any(|flow| flow.path.iter().any(|n| n == name))
                || self.active[0].trunks.iter().any(|trunk| trunk.path.iter().any(|n| n == name))
        };
        ["p1", "p2"].into_iter().find(|spine| through(spine)).unwrap()
    }
}
