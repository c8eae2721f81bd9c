//! Links that are far too narrow for a job: LP solvers cannot distinguish them from rounding errors. They are
//! left out, and their possible traffic is added to the bound.

use crate::fractional::Fractional;
use crate::model::{Arc, Model, NodeIx};
use crate::router::Router;
use crate::routes::FAR;

/// Shares of a feasible rate of the job; links below one of them are left out, the next one if that does not
/// suffice.
pub(crate) const SHARES: [f64; 4] = [1e-6, 1e-5, 1e-4, 1e-3];

/// A job on its network without the links that are too narrow for it, and without the servers that only such
/// links reach.
pub(crate) struct Reduced<'a> {
    pub model: Model<'a>,
    /// x_s of the remaining servers, where shares are fixed.
    pub fixed: Option<Vec<f64>>,
    /// A rate near the optimum, bit/s.
    pub unit: f64,
    /// Indices of the remaining servers in the job.
    servers: Vec<usize>,
    /// Upper bound of the contribution of the left-out parts to the optimum, bit/s.
    missing_bps: f64,
}

/// Returns the network without links of less than `share` of a feasible rate of the job; `None` if no rate is
/// feasible.
pub(crate) fn without<'a>(router: &Router<'a>, fixed: Option<&[f64]>, share: f64) -> Option<Reduced<'a>> {
    let model = router.model;
    let widths: Vec<f64> = (0..model.servers.len()).map(|s| width_bps(router, s)).collect();
    let counts = |s: &usize| fixed.is_none_or(|shares| shares[*s] > 0.0);
    let used = || (0..widths.len()).filter(counts);
    // Every worker sends directly to one server, or to all at the given shares; results return.
    let widest = match fixed {
        None => widths.iter().copied().fold(0.0, f64::max),
        Some(shares) => used().map(|s| widths[s] / shares[s]).fold(f64::INFINITY, f64::min),
    };
    let rate_bps = widest / (model.workers.len() + 1) as f64;
    if !(rate_bps > 0.0 && rate_bps.is_finite()) {
        return None;
    }
    let mut capacity = model.capacity.clone();
    let mut left_out_bps = 0.0;
    for capacity in capacity[..model.arcs()].iter_mut().filter(|capacity| **capacity < share * rate_bps) {
        left_out_bps += *capacity;
        *capacity = 0.0;
    }
    // A cut of links no wider than the widest path bounds each server's rate, and no flow, sum or result
    // takes a link twice: no link carries more than this.
    let units = (2 * model.workers.len() + 1) * model.servers.len() * model.arcs();
    let most = units as f64 * widest;
    capacity.iter_mut().for_each(|capacity| *capacity = capacity.min(most));
    let mut reduced = model.with_capacity(capacity);
    let servers: Vec<usize> = used().filter(|&s| widths[s] >= share * rate_bps).collect();
    reduced.servers = servers.iter().map(|&s| model.servers[s]).collect();
    let fixed = fixed.map(|shares| servers.iter().map(|&s| shares[s]).collect::<Vec<f64>>());
    // Removing a flow from a link lowers one server's rate by that flow at most; the same holds for results.
    let least_share = fixed.iter().flatten().copied().fold(1.0, f64::min);
    let missing_bps = 2.0 * left_out_bps / least_share;
    Some(Reduced { model: reduced, fixed, unit: widest, servers, missing_bps })
}

impl Reduced<'_> {
    /// Converts a solution on the reduced network to the whole one: left-out servers receive nothing.
    pub fn widen(&self, whole: &Model<'_>, found: Fractional) -> Fractional {
        let nothing = |server: NodeIx| vec![vec![(server, 1.0)]; found.classes.len()];
        let mut sending = vec![0.0; whole.servers.len()];
        let mut ends: Vec<_> = whole.servers.iter().map(|&server| nothing(server)).collect();
        for ((&s, rate), of_server) in self.servers.iter().zip(&found.sending).zip(found.ends) {
            sending[s] = *rate;
            ends[s] = of_server;
        }
        Fractional { sending, ends, proven: found.proven + self.missing_bps, ..found }
    }
}

/// The most that every worker can send to a server over one path, and get from it where results count, bit/s:
/// the narrowest link of the widest paths.
fn width_bps(router: &Router<'_>, s: usize) -> f64 {
    let model = router.model;
    let server = model.servers[s];
    let hops = router.routes.hops_to(server);
    let is_way = |arc: Arc| {
        let (from, to) = (hops[model.tail(arc) as usize], hops[model.head(arc) as usize]);
        router.detours() || from != FAR && to != FAR && from == to + 1
    };
    let there = widest(model, server, |node| model.arcs_in(node), |arc| model.tail(arc), is_way);
    let back = match model.counts_results() {
        true => widest(
            model,
            server,
            |node| model.arcs_out(node),
            |arc| model.head(arc),
            |arc| router.widest().trees.allows(s, arc),
        ),
        false => there.clone(),
    };
    let of_worker = |&worker: &NodeIx| there[worker as usize].min(back[worker as usize]);
    model.workers.iter().map(of_worker).fold(model.intake_bps(server), f64::min)
}

/// Returns by node the narrowest link of its widest path to or from a server, bit/s (Dijkstra).
fn widest<'m>(
    model: &'m Model<'_>,
    server: NodeIx,
    arcs: impl Fn(NodeIx) -> &'m [(Arc, NodeIx)],
    far_end: impl Fn(Arc) -> NodeIx,
    is_way: impl Fn(Arc) -> bool,
) -> Vec<f64> {
    let nodes = model.topology.nodes().len();
    let mut width = vec![0.0; nodes];
    let mut settled = vec![false; nodes];
    width[server as usize] = f64::INFINITY;
    loop {
        let open = (0..nodes).filter(|&node| !settled[node] && width[node] > 0.0);
        let Some(node) = open.max_by(|&a, &b| width[a].total_cmp(&width[b])) else { return width };
        settled[node] = true;
        if node != server as usize && !model.forwards(node as NodeIx) {
            continue;
        }
        for &(arc, _) in arcs(node as NodeIx).iter().filter(|&&(arc, _)| is_way(arc)) {
            let far = far_end(arc) as usize;
            width[far] = f64::max(width[far], f64::min(width[node], model.capacity_of(arc)));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::choices::{Paths, Results};
    use inart_topologies::switched::Topology;

    /// Two workers at v1, with a server there and one behind a link that is nearly full.
    fn two_servers(left_bps: u32) -> Topology {
        let text = format!(
            "name: narrow
nodes:
  - {{name: v0, kind: switch}}
  - {{name: v1, kind: switch}}
  - {{name: s0, kind: server}}
  - {{name: s1, kind: server}}
  - {{name: w2, kind: worker}}
  - {{name: w3, kind: worker}}
links:
  - {{ends: [v0, v1], rate: 1 Gbps}}
  - {{ends: [s0, v1], rate: 1 Gbps}}
  - {{ends: [s1, v0], rate: 1 Gbps}}
  - {{ends: [w2, v1], rate: 1 Gbps}}
  - {{ends: [w3, v1], rate: 1 Gbps}}
background: [{{link: [v1, v0], rate: {} bps}}]
jobs: [{{name: j}}]
",
            1_000_000_000 - left_bps
        );
        Topology::from_yaml(&text).unwrap()
    }

    /// The bound that is proven without the narrow link.
    fn proven(left_bps: u32, shares: Option<&[f64]>) -> f64 {
        let topology = two_servers(left_bps);
        let model = Model::new(&topology, &topology.jobs()[0], Results::Ignored);
        let router = Router::new(&model, Paths::Any);
        let reduced = without(&router, shares, SHARES[3]).unwrap();
        assert_eq!(reduced.servers, [0], "the link to s1 is left out");
        let on_reduced = Router::new(&reduced.model, Paths::Any);
        let time = || f64::INFINITY;
        let fixed = reduced.fixed.as_deref();
        let found = crate::lp::solve_from(reduced.unit, &on_reduced, fixed, &time).unwrap().unwrap();
        reduced.widen(&model, found).proven
    }

    /// No switch sums here: each worker sends half of 1 Gbps to s0, and half of the remaining rate to s1.
    #[test]
    fn the_bound_has_what_is_left_out() {
        for left_bps in [1, 1000, 100_000] {
            let optimum = 0.5e9 + f64::from(left_bps) / 2.0;
            let bound = proven(left_bps, None);
            assert!(bound >= optimum * (1.0 - 1e-12), "{left_bps}: {bound} below {optimum}");
            assert!(bound <= 0.5e9 * (1.0 + 1e-6) + 2.0 * f64::from(left_bps), "{left_bps}: {bound}");
        }
    }
}
