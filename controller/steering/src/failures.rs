//! What is known to have failed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_topologies::switched::{LinkId, NodeId, Topology};

use crate::observation::Observation;
use crate::thresholds::ReplanThresholds;

/// Doublings of the time until a part is tried again.
const LONGEST: u32 = 6;

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

/// What is known of a part that has failed.
#[derive(Debug, Clone, Copy)]
struct Failure {
    /// When it was last seen to have failed.
    at: Duration,
    /// Since when it is seen in order again, if it is.
    in_order: Option<Duration>,
}

/// What has failed, and what is in order again but not trusted yet.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    parts: BTreeMap<Part, Failure>,
    /// Parts that were tried again without being seen in order: how often in a row.
    tried: BTreeMap<Part, u32>,
    /// When parts were seen in order last.
    good: BTreeMap<Part, Duration>,
}

impl Failures {
    /// Takes note of an interval that ended at `now`. What is down has failed at once; it is out of the list
    /// when it has been in order for `policy.back_after`, or when nothing was seen of it for long enough to
    /// try again. What is not known of stays as it was.
    pub fn take(
        &mut self,
        now: Duration,
        topology: &Topology,
        seen: &Observation,
        thresholds: &ReplanThresholds,
    ) {
        for (link, directions) in topology.link_ids().zip(&seen.links) {
            let states = || directions.iter().flatten().filter_map(|direction| direction.is_up);
            let state = states().reduce(|a, b| a && b);
            self.note(now, Part::Link(link), state, thresholds.back_after);
        }
        for (&id, switch) in &seen.switches {
            self.note(now, Part::Switch(id), Some(switch.is_up), thresholds.back_after);
            if switch.is_up {
                self.note(now, Part::Sums(id), Some(switch.aggregates), thresholds.back_after);
            }
        }
        let tried = &self.tried;
        let forget_after = |part: &Part| {
            thresholds.forget_after.saturating_mul(1 << tried.get(part).copied().unwrap_or(0).min(LONGEST))
        };
        let is_old = |(part, failure): (&Part, &Failure)| {
            let waits = failure.in_order.is_none() && now.saturating_sub(failure.at) >= forget_after(part);
            waits.then_some(*part)
        };
        let again: Vec<Part> = self.parts.iter().filter_map(is_old).collect();
        for part in again {
            self.parts.remove(&part);
            *self.tried.entry(part).or_default() += 1;
        }
    }

    fn note(&mut self, now: Duration, part: Part, is_up: Option<bool>, back_after: Duration) {
        match is_up {
            None => {}
            Some(false) => drop(self.parts.insert(part, Failure { at: now, in_order: None })),
            Some(true) => {
                self.good.insert(part, now);
                self.tried.remove(&part);
                if let Some(failure) = self.parts.get_mut(&part) {
                    let since = *failure.in_order.get_or_insert(now);
                    if now.saturating_sub(since) >= back_after {
                        self.parts.remove(&part);
                    }
                }
            }
        }
    }

    /// When the first of these was seen in order last: they failed after that.
    pub fn last_in_order<'a>(&self, parts: impl Iterator<Item = &'a Part>) -> Option<Duration> {
        parts.filter_map(|part| self.good.get(part).copied()).min()
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
