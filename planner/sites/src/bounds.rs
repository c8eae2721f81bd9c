//! Lower bounds on the time of any schedule.

use crate::graph::Graph;
use inart_topologies::sites::SiteId;

/// Maximum number of sites for which every pair is examined.
const ALL_PAIRS: usize = 16;

/// Relative rounding error of a bound's arithmetic.
const ROUNDING: f64 = 1e-9;

/// Returns a lower bound on the time of a round by any schedule on these rates, in seconds.
///
/// If all other gradients are known, the sum at site b determines site a's gradient: a gradient's worth of
/// bits must get from a to b. The bound is the maximum over pairs of the shortest time in which the link
/// directions can carry this many bits, as fluid, with each direction's rate and delay ([`quickest_s`]).
pub(crate) fn round_seconds(graph: &Graph, gradient_bytes: u64) -> f64 {
    let bits = gradient_bytes as f64 * 8.0;
    let network = Network::new(graph);
    let seconds = pairs(&network).into_iter().map(|(from, to)| quickest_s(&network, bits, from, to));
    seconds.fold(0.0, f64::max) * (1.0 - ROUNDING)
}

/// Sites by position among the job's, and directions between them.
struct Network {
    sites: usize,
    arcs: Vec<Arc>,
}

#[derive(Clone, Copy)]
struct Arc {
    from: usize,
    to: usize,
    bps: f64,
    delay_s: f64,
}

impl Network {
    fn new(graph: &Graph) -> Self {
        let place = |site: SiteId| graph.members.iter().position(|&member| member == site);
        let arc = |(from, to, arc)| {
            let (from, to) = (place(from)?, place(to)?);
            Some(Arc { from, to, bps: graph.bps(arc), delay_s: graph.delay_s(arc) })
        };
        Network { sites: graph.members.len(), arcs: graph.arcs().filter_map(arc).collect() }
    }
}

/// Returns the pairs to examine. The narrowest cut is among the pairs of the first site. With many sites only
/// these are examined, and each site with the one that is farthest by delay.
fn pairs(network: &Network) -> Vec<(usize, usize)> {
    let sites = network.sites;
    if sites <= ALL_PAIRS {
        let others = |from| (0..sites).filter(move |&to| to != from).map(move |to| (from, to));
        return (0..sites).flat_map(others).collect();
    }
    let full: Vec<f64> = network.arcs.iter().map(|arc| arc.bps).collect();
    let farthest = |from: usize| {
        let away = Residual { network, ahead: full.clone(), back: vec![0.0; full.len()] }.nearest(from);
        let far = (0..sites).filter(|&to| to != from).max_by(|&a, &b| away[a].0.total_cmp(&away[b].0));
        far.map(|to| (from, to))
    };
    let first = (1..sites).flat_map(|other| [(0, other), (other, 0)]);
    first.chain((0..sites).filter_map(farthest)).collect()
}

/// Returns the shortest time in which `bits` get from one site to another: the minimum of (bits + sum of
/// delay times flow) / flow over all flows (Ford and Fulkerson 1958: repeating one flow over time is
/// optimal). Flows of least delay are found in sequence, by shortest augmenting paths.
fn quickest_s(network: &Network, bits: f64, from: usize, to: usize) -> f64 {
    let full: Vec<f64> = network.arcs.iter().map(|arc| arc.bps).collect();
    let mut residual = Residual { network, back: vec![0.0; full.len()], ahead: full };
    let (mut flow_bps, mut delayed_bits, mut best_s) = (0.0, 0.0, f64::INFINITY);
    // Delays of the paths do not fall, so a path that is no shorter than the time ends the search.
    for _ in 0..residual.most_paths() {
        let nearest = residual.nearest(from);
        let delay_s = nearest[to].0;
        if delay_s >= best_s || delay_s.is_infinite() {
            return best_s;
        }
        let more_bps = residual.augment(&nearest, from, to);
        flow_bps += more_bps;
        delayed_bits += more_bps * delay_s;
        best_s = best_s.min((bits + delayed_bits) / flow_bps);
    }
    // The search was cut short: the time is at least that of an endless flow by the last examined path.
    residual.nearest(from)[to].0.min(best_s)
}

/// Residual network of a flow: remaining capacity of each arc, and flow that can be reversed.
struct Residual<'n> {
    network: &'n Network,
    ahead: Vec<f64>,
    back: Vec<f64>,
}

/// Delay from the start, and the last step: an arc, and whether it is used against its direction.
type Reached = (f64, Option<(usize, bool)>);

impl Residual<'_> {
    fn most_paths(&self) -> usize {
        100 * (self.network.arcs.len() + 1)
    }

    /// Returns shortest paths by delay to all sites (Bellman and Ford: against a flow delays are negative).
    fn nearest(&self, from: usize) -> Vec<Reached> {
        let arcs = &self.network.arcs;
        let least = ROUNDING * 1e-3 * arcs.iter().map(|arc| arc.delay_s).fold(0.0, f64::max);
        let mut reached: Vec<Reached> = vec![(f64::INFINITY, None); self.network.sites];
        reached[from].0 = 0.0;
        for _ in 0..self.network.sites {
            let mut changed = false;
            for (at, arc) in arcs.iter().enumerate() {
                let steps = [
                    (arc.from, arc.to, arc.delay_s, self.ahead[at], false),
                    (arc.to, arc.from, -arc.delay_s, self.back[at], true),
                ];
                for (tail, head, delay_s, left, against) in steps {
                    let there = reached[tail].0 + delay_s;
                    if left > 0.0 && there < reached[head].0 - least && head != from {
                        reached[head] = (there, Some((at, against)));
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        reached
    }

    /// Adds as much flow as the path has room for. Returns the flow in bit/s.
    fn augment(&mut self, reached: &[Reached], from: usize, to: usize) -> f64 {
        let mut way = Vec::new();
        let mut at = to;
        while let Some((arc, against)) = reached[at].1.filter(|_| at != from) {
            // Rounding errors of delays may close a circle.
            if way.len() > self.network.sites {
                return 0.0;
            }
            way.push((arc, against));
            let arc = &self.network.arcs[arc];
            at = if against { arc.to } else { arc.from };
        }
        let room = |&(arc, against): &(usize, bool)| if against { self.back[arc] } else { self.ahead[arc] };
        let more = way.iter().map(room).fold(f64::INFINITY, f64::min);
        for (arc, against) in way {
            let bps = self.network.arcs[arc].bps;
            let (less, other) = match against {
                true => (&mut self.back[arc], &mut self.ahead[arc]),
                false => (&mut self.ahead[arc], &mut self.back[arc]),
            };
            // A rounding error is not room.
            *less = if *less - more > 1e-12 * bps { *less - more } else { 0.0 };
            *other += more;
        }
        more
    }
}
