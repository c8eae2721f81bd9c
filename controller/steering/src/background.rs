//! Estimate of background traffic: b(e), c(v) and b(s), the use of every capacity by others, from
//! observations.
//!
//! Two intervals in a row that show a rise confirm it at once: the estimate is the later of the two, since
//! traffic that began within the first shows there only in part. A fall is smoothed: the estimate decays to
//! the greater of the last two values with a time constant. So a single burst changes nothing, and
//! intermittent traffic counts as traffic.

use std::time::Duration;

use inart_topologies::switched::{BackgroundRates, NodeKind, Topology};

use crate::observation::Observation;

/// Least part of a capacity that the estimate leaves to our jobs: a network full of other traffic carries
/// little, but a plan for it exists.
const LEAST_REMAINING: f64 = 0.05;

/// Estimate of one capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Estimate {
    bps: f64,
    before: f64,
    /// Start of the intervals that show more than the estimate, or that have just raised it.
    rising: Option<Duration>,
}

impl Estimate {
    /// Updates the estimate with an interval that began at `since`.
    fn update(&mut self, since: Duration, seen_bps: f64, kept: f64) {
        self.rising = (seen_bps > self.bps).then(|| self.rising.unwrap_or(since));
        let (low, high) = (seen_bps.min(self.before), seen_bps.max(self.before));
        if low > self.bps {
            self.bps = seen_bps;
        } else if high < self.bps {
            self.bps = high + (self.bps - high) * kept;
        }
        self.before = seen_bps;
    }
}

/// Estimated background traffic of every capacity of a network. The topology's own values are reservations:
/// estimates never fall below them.
#[derive(Debug, Clone)]
pub struct Background {
    time_constant: Duration,
    stated: BackgroundRates,
    links: Vec<[Estimate; 2]>,
    nodes: Vec<Estimate>,
}

impl Background {
    /// Creates estimates before any observation. 1/e of ended background traffic still counts after
    /// `time_constant`.
    pub fn new(topology: &Topology, time_constant: Duration) -> Self {
        Background {
            time_constant,
            stated: topology.background(),
            links: vec![Default::default(); topology.links().len()],
            nodes: vec![Estimate::default(); topology.nodes().len()],
        }
    }

    /// Updates the estimates with an interval that ended at `now`. b(s) is the background traffic on the
    /// links into s.
    pub fn update(&mut self, now: Duration, topology: &Topology, seen: &Observation) {
        let since = now.saturating_sub(seen.interval);
        let constant = self.time_constant.as_secs_f64();
        let kept = if constant > 0.0 { (-seen.interval.as_secs_f64() / constant).exp() } else { 0.0 };
        let mut into = vec![None; topology.nodes().len()];
        for ((estimates, seen), link) in self.links.iter_mut().zip(&seen.links).zip(topology.links()) {
            for (back, (estimate, seen)) in estimates.iter_mut().zip(seen).enumerate() {
                let Some(seen) = seen.filter(|seen| seen.is_up != Some(false) && is_rate(seen.others_bps))
                else {
                    continue;
                };
                estimate.update(since, seen.others_bps, kept);
                *into[link.ends[1 - back].index()].get_or_insert(0.0) += seen.others_bps;
            }
        }
        for (id, node) in topology.node_ids().zip(topology.nodes()) {
            let seen_bps = match node.kind {
                NodeKind::Switch => seen.switches.get(&id).map(|switch| switch.others_bps),
                NodeKind::Server => into[id.index()],
                NodeKind::Worker => None,
            };
            if let Some(bps) = seen_bps.filter(|bps| is_rate(*bps)) {
                self.nodes[id.index()].update(since, bps, kept);
            }
        }
    }

    /// Returns since when a direction of a link has shown more background traffic, if it has.
    pub fn link_rising(&self, link: usize, back: bool) -> Option<Duration> {
        self.links.get(link)?[usize::from(back)].rising
    }

    /// Returns since when a node has shown more background traffic, if it has.
    pub fn node_rising(&self, node: usize) -> Option<Duration> {
        self.nodes.get(node)?.rising
    }

    /// Returns the estimate, bit/s: at least the topology's values, and never a whole capacity unless the
    /// topology says so.
    pub fn rates(&self, topology: &Topology) -> BackgroundRates {
        let within = |estimate: &Estimate, stated: f64, capacity: f64| {
            estimate.bps.min((1.0 - LEAST_REMAINING) * capacity).max(stated)
        };
        let links = self.links.iter().zip(&self.stated.links).zip(topology.links());
        let nodes = self.nodes.iter().zip(&self.stated.nodes).zip(topology.nodes());
        BackgroundRates {
            links: links
                .map(|((of, stated), link)| {
                    [0, 1].map(|way| within(&of[way], stated[way], link.rates_bps[way]))
                })
                .collect(),
            nodes: nodes
                .map(|((of, &stated), node)| match node.kind {
                    NodeKind::Switch => within(of, stated, node.aggregation_bps),
                    NodeKind::Server => within(of, stated, node.ingress_bps.unwrap_or(f64::INFINITY)),
                    NodeKind::Worker => 0.0,
                })
                .collect(),
        }
    }
}

fn is_rate(bps: f64) -> bool {
    bps.is_finite() && bps >= 0.0
}
