//! The estimate of b(e), c(v) and b(s): what others use of every capacity, from what was seen of it.
//!
//! A rise is believed when two intervals in a row show it, and then at once: the estimate is the later of the
//! two, since traffic that has begun within the first shows there only in part. A fall is believed little by
//! little: the estimate comes down to the greater of the last two with a stated time constant. So one burst
//! moves nothing, and traffic that comes and goes counts as traffic.

use std::time::Duration;

use inart_topologies::switched::{BackgroundRates, NodeKind, Topology};

use crate::observation::Observation;

/// The part of a capacity that others are never believed to leave less of: a network that they fill carries
/// little, but there is a plan for it.
const LEFT: f64 = 0.05;

/// Of one capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Estimate {
    bps: f64,
    before: f64,
    /// When the intervals began that show more than is believed, or have just made it believed.
    rising: Option<Duration>,
}

impl Estimate {
    /// Takes what an interval showed that began at `since`.
    fn take(&mut self, since: Duration, seen_bps: f64, kept: f64) {
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

/// What others use of every capacity of one network. It is never less than the topology says: that is a
/// reservation.
#[derive(Debug, Clone)]
pub struct Background {
    time_constant: Duration,
    stated: BackgroundRates,
    links: Vec<[Estimate; 2]>,
    nodes: Vec<Estimate>,
}

impl Background {
    /// Nothing was seen yet. Of what others no longer use, 1/e is still counted after `time_constant`.
    pub fn new(topology: &Topology, time_constant: Duration) -> Self {
        Background {
            time_constant,
            stated: topology.background(),
            links: vec![Default::default(); topology.links().len()],
            nodes: vec![Estimate::default(); topology.nodes().len()],
        }
    }

    /// Takes note of an interval that ended at `now`. b(s) is what others send over the links into s.
    pub fn take(&mut self, now: Duration, topology: &Topology, seen: &Observation) {
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
                estimate.take(since, seen.others_bps, kept);
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
                self.nodes[id.index()].take(since, bps, kept);
            }
        }
    }

    /// Since when a direction of a link has shown that others use more of it, if it does.
    pub fn link_rising(&self, link: usize, back: bool) -> Option<Duration> {
        self.links.get(link)?[usize::from(back)].rising
    }

    /// The same of a node.
    pub fn node_rising(&self, node: usize) -> Option<Duration> {
        self.nodes.get(node)?.rising
    }

    /// The estimate, bit/s: at least what the topology states, and never all of a capacity unless the
    /// topology says so.
    pub fn rates(&self, topology: &Topology) -> BackgroundRates {
        let within = |estimate: &Estimate, stated: f64, capacity: f64| {
            estimate.bps.min((1.0 - LEFT) * capacity).max(stated)
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
