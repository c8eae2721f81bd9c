//! Graph of a job's sites and the rates between them at one moment.

use inart_protocol_sites::{SiteNo, Tree};

use inart_topologies::sites::{ArcId, Overlay, Rates, SiteId, SiteJob};

/// Links between the sites of one job.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// Sites of the job, ascending.
    pub members: Vec<SiteId>,
    /// Neighbors of each site with the direction that leads to them, by site, ascending.
    pub neighbors: Vec<Vec<(SiteId, ArcId)>>,
    rates: Rates,
    /// Delays by direction, in seconds.
    delays_s: Vec<f64>,
    back: Vec<ArcId>,
}

/// Parent of each site, by index.
pub(crate) type Parents = Vec<Option<SiteId>>;

impl Graph {
    /// Creates a graph. A link of rate 0 is down and omitted.
    pub fn new(overlay: &Overlay, job: &SiteJob, rates: &Rates) -> Graph {
        let mut neighbors = vec![Vec::new(); overlay.sites().len()];
        for arc in overlay.arcs() {
            let (from, to) = overlay.ends(arc);
            let is_up = rates.of(arc) > 0.0;
            if is_up && job.sites.contains(&from) && job.sites.contains(&to) {
                neighbors[from.index()].push((to, arc));
            }
        }
        neighbors.iter_mut().for_each(|list| list.sort_unstable());
        let back = overlay.arcs().map(|arc| ArcId(arc.0 ^ 1)).collect();
        let delays_s = overlay.arcs().map(|arc| overlay.delay_seconds(arc)).collect();
        Graph { members: job.sites.clone(), neighbors, rates: rates.clone(), delays_s, back }
    }

    /// Returns a site that is not reachable from the job's first one over links that are up in both
    /// directions.
    pub fn apart(&self) -> Option<SiteId> {
        let mut seen = vec![false; self.sites()];
        let mut open: Vec<SiteId> = self.members.first().copied().into_iter().collect();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at.index()], true) {
                continue;
            }
            open.extend(self.neighbors[at.index()].iter().map(|&(next, _)| next));
        }
        self.members.iter().copied().find(|at| !seen[at.index()])
    }

    /// Returns the number of sites of the whole network, the length of lists by site.
    pub fn sites(&self) -> usize {
        self.neighbors.len()
    }

    /// Returns the rate of a direction in bit/s.
    pub fn bps(&self, arc: ArcId) -> f64 {
        self.rates.of(arc)
    }

    /// Returns the propagation delay of a direction in seconds.
    pub fn delay_s(&self, arc: ArcId) -> f64 {
        self.delays_s[arc.index()]
    }

    /// Returns all directions between sites of the job that are up: from, to and the direction.
    pub fn arcs(&self) -> impl Iterator<Item = (SiteId, SiteId, ArcId)> {
        let of = |&from: &SiteId| self.neighbors[from.index()].iter().map(move |&(to, arc)| (from, to, arc));
        self.members.iter().flat_map(of)
    }

    /// Returns w(e) = 1/s of a direction, in seconds per Mbit (NETSTORM, Eq. 5).
    pub fn weight(&self, arc: ArcId) -> f64 {
        1.0 / (self.bps(arc) / 1e6)
    }

    /// Returns the other direction of a link.
    pub fn reverse(&self, arc: ArcId) -> ArcId {
        self.back[arc.index()]
    }

    /// Returns the direction from one site to a neighbor.
    pub fn arc(&self, from: SiteId, to: SiteId) -> Option<ArcId> {
        self.neighbors[from.index()].iter().find(|(next, _)| *next == to).map(|&(_, arc)| arc)
    }

    /// Creates a tree whose way down is the reverse of its way up.
    pub fn tree(root: SiteId, parents: &Parents) -> Tree {
        let up: Vec<_> = parents.iter().map(|parent| parent.map(number)).collect();
        Tree { root: number(root), down: up.clone(), up }
    }

    /// Returns w(T): the largest sum of weights from a site up to the root, in seconds per Mbit (NETSTORM,
    /// Eq. 6); `hops` gives the route of an edge.
    pub fn tree_weight(&self, tree: &Tree, hops: &dyn Fn(SiteId, SiteId) -> Vec<SiteId>) -> f64 {
        let mut largest = 0.0;
        for &leaf in &self.members {
            let (mut edges, mut at) = (Vec::new(), leaf);
            while let Some(parent) = tree.up[at.index()].map(site) {
                edges.push((at, parent));
                at = parent;
            }
            // From the root outwards, in the summation order of shortest paths.
            let ways = edges.iter().rev().map(|&(from, to)| self.route_weight(&hops(from, to)));
            largest = f64::max(largest, ways.fold(0.0, |sum, weight| sum + weight));
        }
        largest
    }

    /// Returns the sum of weights along a route, last hop first.
    pub fn route_weight(&self, route: &[SiteId]) -> f64 {
        let hops = route.windows(2).rev().filter_map(|hop| self.arc(hop[0], hop[1]));
        hops.fold(0.0, |sum, arc| sum + self.weight(arc))
    }
}

pub(crate) fn number(site: SiteId) -> SiteNo {
    SiteNo(site.0 as u16)
}

pub(crate) fn site(number: SiteNo) -> SiteId {
    SiteId(number.0.into())
}
