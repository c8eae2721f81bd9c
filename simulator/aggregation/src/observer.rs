//! Network observations in virtual time, and the plans derived from them.

use inart_planner_aggregation::Plan;
use inart_steering::Steering;

use crate::watch::{Follow, Watched};

/// State of the observer.
pub(crate) struct Observer {
    /// Decision logic, if replanning is enabled.
    pub steering: Option<Steering>,
    pub seen: Watched,
    /// Active plans, and those of the active change.
    pub plans: Vec<Plan>,
    pub next: Vec<Plan>,
    /// Bytes sent until the end of the previous interval, by channel: ours and background.
    pub sent: Vec<[u64; 2]>,
}

impl Observer {
    /// Creates an observer of a network with these active plans.
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

    /// Returns all observations and decisions.
    pub fn seen(&self) -> Watched {
        let decisions = self.steering.iter().flat_map(Steering::decisions).cloned().collect();
        Watched { decisions, ..self.seen.clone() }
    }
}
