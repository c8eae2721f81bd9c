//! What no schedule can beat.

use crate::graph::Graph;
use inart_topologies::sites::SiteId;

/// The most sites of which every pair is looked at.
const ALL_PAIRS: usize = 16;

/// Of a bound, what rounding errors of its arithmetic may be.
const ROUNDING: f64 = 1e-9;

/// A lower bound on the time of a round by any schedule on these rates, in seconds.
///
/// With all other gradients known, the sum at site b tells site a's gradient: a gradient's worth of bits has
/// to get from a to b. The bound is the longest of the shortest times in which a pair's link directions can
/// carry that many bits, as fluid, with each direction's rate and delay ([`quickest_s`]).
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

/// The pairs to look at. The narrowest cut is among the pairs of the first site; of many sites only these,
/// and each site with the one that is farthest by delay.
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

/// The shortest time in which `bits` get from one site to another: the least of (bits + sum of delay
/// times flow) / flow over all flows (Ford and Fulkerson 1958: repeating one flow over time is the best there
/// is). Those of least delay are found one after the other, by shortest augmenting paths.
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
    // The search was cut short: the time is at least that of an endless flow by the path looked at last.
    residual.nearest(from)[to].0.min(best_s)
}

/// What is left of a network beside a flow: of each arc ahead, and back against the flow.
struct Residual<'n> {
    network: &'n Network,
    ahead: Vec<f64>,
    back: Vec<f64>,
}

/// The delay from the start, and the last step: an arc, and whether it is taken against its direction.
type Reached = (f64, Option<(usize, bool)>);

impl Residual<'_> {
    fn most_paths(&self) -> usize {
        100 * (self.network.arcs.len() + 1)
    }

    /// Shortest ways by delay to all sites (Bellman and Ford: against a flow delays are negative).
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

    /// Adds as much flow as the way found has room for. Returns it in bit/s.
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
            // A rounding error is no room.
            *less = if *less - more > 1e-12 * bps { *less - more } else { 0.0 };
            *other += more;
        }
        more
    }
}
