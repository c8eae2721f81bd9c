//! Known failures.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use inart_topologies::switched::{LinkId, NodeId, Topology};

use crate::observation::Observation;
use crate::thresholds::ReplanThresholds;

/// Maximum number of doublings of the time until a failed part is probed.
const LONGEST: u32 = 6;

/// Part of the network that can fail on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Link, in both directions.
    Link(LinkId),
    /// Switch with all its links.
    Switch(NodeId),
    /// Aggregation of a switch that still forwards.
    Sums(NodeId),
}

impl Part {
    /// Returns the name: `link a-b`, `switch v`, `aggregation of switch v`.
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

/// Failure of one part.
#[derive(Debug, Clone, Copy)]
struct Failure {
    /// Last observation of the failure.
    at: Duration,
    /// Since when the part is healthy, if it has recovered.
    healthy_since: Option<Duration>,
}

/// Failed parts, and recovered ones in their hold-down time.
#[derive(Debug, Clone, Default)]
pub struct Failures {
    parts: BTreeMap<Part, Failure>,
    /// Number of consecutive probes without a healthy observation, by part.
    tried: BTreeMap<Part, u32>,
    /// Last healthy observation, by part.
    last_seen_up: BTreeMap<Part, Duration>,
}

impl Failures {
    /// Notes an interval that ended at `now`. A part that is down has failed at once. It leaves the list
    /// when it has been healthy for `thresholds.hold_down`, or when it was not observed for long enough to
    /// be probed by use. Parts without an observation keep their state.
    pub fn note(
        &mut self,
        now: Duration,
        topology: &Topology,
        seen: &Observation,
        thresholds: &ReplanThresholds,
    ) {
        for (link, directions) in topology.link_ids().zip(&seen.links) {
            let states = || directions.iter().flatten().filter_map(|direction| direction.is_up);
            let state = states().reduce(|a, b| a && b);
            self.record(now, Part::Link(link), state, thresholds.hold_down);
        }
        for (&id, switch) in &seen.switches {
            self.record(now, Part::Switch(id), Some(switch.is_up), thresholds.hold_down);
            if switch.is_up {
                self.record(now, Part::Sums(id), Some(switch.aggregates), thresholds.hold_down);
            }
        }
        let tried = &self.tried;
        let probe_after = |part: &Part| {
            thresholds.probe_after.saturating_mul(1 << tried.get(part).copied().unwrap_or(0).min(LONGEST))
        };
        let is_old = |(part, failure): (&Part, &Failure)| {
            let waits =
                failure.healthy_since.is_none() && now.saturating_sub(failure.at) >= probe_after(part);
            waits.then_some(*part)
        };
        let probed: Vec<Part> = self.parts.iter().filter_map(is_old).collect();
        for part in probed {
            self.parts.remove(&part);
            *self.tried.entry(part).or_default() += 1;
        }
    }

    fn record(&mut self, now: Duration, part: Part, is_up: Option<bool>, hold_down: Duration) {
        match is_up {
            None => {}
            Some(false) => drop(self.parts.insert(part, Failure { at: now, healthy_since: None })),
            Some(true) => {
                self.last_seen_up.insert(part, now);
                self.tried.remove(&part);
                if let Some(failure) = self.parts.get_mut(&part) {
                    let since = *failure.healthy_since.get_or_insert(now);
                    if now.saturating_sub(since) >= hold_down {
                        self.parts.remove(&part);
                    }
                }
            }
        }
    }

    /// Returns the earliest of the parts' last healthy observations: the parts failed after that.
    pub fn last_healthy<'a>(&self, parts: impl Iterator<Item = &'a Part>) -> Option<Duration> {
        parts.filter_map(|part| self.last_seen_up.get(part).copied()).min()
    }

    /// Returns the parts that plans must avoid.
    pub fn parts(&self) -> BTreeSet<Part> {
        self.parts.keys().copied().collect()
    }

    /// Returns the topology without the failed parts.
    pub fn remaining(&self, topology: &Topology) -> Topology {
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
