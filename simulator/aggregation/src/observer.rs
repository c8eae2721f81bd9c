//! What an observer sees of the network in virtual time, and the plans that follow from it.

use inart_planner_aggregation::Plan;
use inart_steering::Steering;

use crate::watch::{Follow, Watched};

/// Where the observer is.
pub(crate) struct Observer {
    /// Decides, if plans follow what is seen.
    pub steering: Option<Steering>,
    pub seen: Watched,
    /// The plans in force, and those that a change under way leads to.
    pub plans: Vec<Plan>,
    pub next: Vec<Plan>,
    /// By channel: bytes sent by the end of the interval before, ours and others'.
    pub sent: Vec<[u64; 2]>,
}

impl Observer {
    /// One that has seen nothing of a network with those plans in force.
    pub fn new(
        follow: Option<&Follow>,
        topology: &inart_topologies::switched::Topology,
        plans: Vec<Plan>,
    ) -> Self {
        let steering =
            follow.map(|follow| Steering::new(topology.clone(), plans.clone(), follow.thresholds.clone()));
        let sent = vec![[0; 2]; 2 * topology.links().len()];
        Self { steering, seen: Watched::default(), plans, next: Vec::new(), sent }
    }

    /// All that was seen and decided.
    pub fn seen(&self) -> Watched {
        let decisions = self.steering.iter().flat_map(Steering::decisions).cloned().collect();
        Watched { decisions, ..self.seen.clone() }
    }
}
