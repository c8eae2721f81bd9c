//! What is known to have failed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_planner::{LinkId, NodeId, Topology};

use crate::observation::Observation;

/// A part of the network that can fail by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A link, in both directions.
    Link(LinkId),
    /// A switch with all its links.
    Switch(NodeId),
    /// What a switch adds up; it still forwards.
    Sums(NodeId),
}

impl Part {
    /// Its name: `link a-b`, `switch v`, `aggregation of switch v`.
    pub fn name(self, topology: &Topology) -> String {
        match self {
            Part::Link(link) => {
                let [a, b] = topology.link(link).ends.map(|end| &*topology.node(end).name);
                format!("link {a}-{b}")
            }
            Part::Switch(switch) => format!("switch {}", topology.node(switch).name),
            Part::Sums(switch) => format!("aggregation of switch {}", topology.node(switch).name),
        }
    }
}

/// What has failed, and what is in order again but not trusted yet.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    /// By part: since when it is seen in order again, if it is.
    parts: BTreeMap<Part, Option<Duration>>,
}

impl Failures {
    /// Takes note of an interval that ended at `now`. What is down has failed at once; it is out of the list
    /// when it has been in order for `back_after`. What is not known of stays as it was.
    pub fn take(&mut self, now: Duration, topology: &Topology, seen: &Observation, back_after: Duration) {
        for (link, directions) in topology.link_ids().zip(&seen.links) {
            let is_down = directions.iter().flatten().any(|direction| !direction.is_up);
            let is_up = directions.iter().any(Option::is_some) && !is_down;
            self.note(now, Part::Link(link), (is_down, is_up), back_after);
        }
        for (&id, switch) in &seen.switches {
            self.note(now, Part::Switch(id), (!switch.is_up, switch.is_up), back_after);
            if switch.is_up {
                self.note(now, Part::Sums(id), (!switch.aggregates, switch.aggregates), back_after);
            }
        }
    }

    fn note(&mut self, now: Duration, part: Part, (is_down, is_up): (bool, bool), back_after: Duration) {
        if is_down {
            self.parts.insert(part, None);
        } else if is_up && let Some(since) = self.parts.get_mut(&part) {
            let since = *since.get_or_insert(now);
            if now.saturating_sub(since) >= back_after {
                self.parts.remove(&part);
            }
        }
    }

    /// What plans are made without.
    pub fn parts(&self) -> BTreeSet<Part> {
        self.parts.keys().copied().collect()
    }

    /// The network without all that.
    pub fn left_of(&self, topology: &Topology) -> Topology {
        let (mut links, mut switches, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for part in self.parts.keys() {
            match *part {
                Part::Link(link) => links.push(link),
                Part::Switch(switch) => switches.push(switch),
                Part::Sums(switch) => sums.push(switch),
            }
        }
        topology.without_sums(&sums).without(&links, &switches)
    }
}
