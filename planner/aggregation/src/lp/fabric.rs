//! What one unit of a column does to the network: racks, paths, and the routes that were cheapest when the
//! column was made.

use std::rc::Rc;

use crate::classes::{Class, classes};
use crate::lp::dag::Dag;
use crate::model::{Arc, Model, NodeIx};
use crate::router::Router;
use crate::routes::FAR;
use crate::steiner::Steiner;

/// A way to send one unit of shard s from some racks.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Position of s among the servers.
    pub server: usize,
    /// Position among the aggregators of the switch that adds the racks up; `None` sends straight to s.
    pub switch: Option<usize>,
    /// Positions of the racks.
    pub racks: Vec<usize>,
    /// Which routing it takes.
    pub routing: usize,
}

/// How each node's flow to each destination is split over the arcs; by aggregator, then by server.
pub(crate) struct Routing {
    dags: Rc<[Dag]>,
    switches: usize,
    parts: Vec<Vec<f64>>,
}

impl Routing {
    pub fn to_switch(&self, v: usize) -> &Dag {
        &self.dags[v]
    }

    pub fn to_server(&self, s: usize) -> &Dag {
        &self.dags[self.switches + s]
    }
}

/// A job's racks and paths.
pub(crate) struct Fabric<'m> {
    pub model: &'m Model<'m>,
    pub racks: Vec<Class>,
    /// Workers of each rack.
    pub sizes: Vec<f64>,
    /// The shortest paths, by aggregator, then by server.
    dags: Rc<[Dag]>,
    /// Hops from rack to aggregator, `[aggregator][rack]`.
    hops: Vec<Vec<u16>>,
    /// What the results of every server have to reach; empty where they do not count.
    pub trees: Vec<Steiner<'m>>,
}

impl<'m> Fabric<'m> {
    pub fn new(router: &Router<'m>) -> Self {
        let (model, routes) = (router.model, &router.routes);
        let racks = classes(model);
        let sources = || racks.iter().map(|rack| rack.source);
        let switches = model.aggregators.iter().map(|&v| Dag::new(routes, v, sources()));
        let all = || sources().chain(model.aggregators.iter().copied());
        let servers = model.servers.iter().map(|&s| Dag::new(routes, s, all()));
        let dags = switches.chain(servers).collect();
        let hops =
            model.aggregators.iter().map(|&v| sources().map(|r| routes.hops(r, v)).collect()).collect();
        let sizes = racks.iter().map(|rack| rack.workers.len() as f64).collect();
        Fabric { model, racks, sizes, dags, hops, trees: Steiner::of_job(router) }
    }

    /// The routing over cheapest paths at these link prices, with what each position of each destination then
    /// pays. Of the shortest paths, or with `detours` of all there are.
    pub fn route(&self, price: &[f64], detours: bool) -> (Routing, Vec<Vec<f64>>) {
        let (dags, costs): (Rc<[Dag]>, Vec<Vec<f64>>) = if detours {
            let made = self.dags.iter().map(|dag| Dag::cheapest(self.model, dag.to, price));
            let (dags, costs): (Vec<Dag>, _) = made.unzip();
            (dags.into(), costs)
        } else {
            (self.dags.clone(), self.dags.iter().map(|dag| dag.costs(price)).collect())
        };
        let capacity = &self.model.capacity;
        let parts = dags.iter().zip(&costs).map(|(dag, costs)| dag.parts(price, costs, capacity)).collect();
        (Routing { dags, switches: self.model.aggregators.len(), parts }, costs)
    }

    /// What a column with weight `weight` puts on links: destination, arc and amount, one after the other.
    pub fn carry(
        &self,
        column: &Column,
        routing: &Routing,
        weight: f64,
        mut carry: impl FnMut(NodeIx, Arc, f64),
    ) {
        let mut push = |at: usize, amounts: &mut dyn Iterator<Item = (NodeIx, f64)>| {
            let dag = &routing.dags[at];
            let mut standing = vec![0.0; dag.len()];
            for (node, amount) in amounts {
                let position = dag.position(node).expect("invariant: columns only join what is connected");
                standing[position] += amount * weight;
            }
            dag.push(&routing.parts[at], &mut standing, |arc, amount| carry(dag.to, arc, amount));
        };
        let server = self.model.aggregators.len() + column.server;
        let mut racks = column.racks.iter().map(|&r| (self.racks[r].source, self.sizes[r]));
        match column.switch {
            None => push(server, &mut racks),
            Some(v) => {
                push(v, &mut racks);
                push(server, &mut std::iter::once((self.model.aggregators[v], 1.0)));
            }
        }
    }

    /// Columns to start from: every rack straight to every server, and at every switch the nearest racks,
    /// then twice as many and so on up to all that reach it.
    pub fn start(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        for server in 0..self.model.servers.len() {
            columns.extend((0..self.racks.len()).map(|r| Column {
                server,
                switch: None,
                racks: vec![r],
                routing: 0,
            }));
            for (v, hops) in self.hops.iter().enumerate() {
                if self.dags[self.model.aggregators.len() + server]
                    .position(self.model.aggregators[v])
                    .is_none()
                {
                    continue;
                }
                let mut levels: Vec<u16> = hops.iter().copied().filter(|&h| h != FAR).collect();
                levels.sort_unstable();
                levels.dedup();
                let mut most = 0;
                for (i, &level) in levels.iter().enumerate() {
                    let racks: Vec<usize> = (0..hops.len()).filter(|&r| hops[r] <= level).collect();
                    if racks.len() >= 2 * most || i + 1 == levels.len() {
                        most = racks.len();
                        columns.push(Column { server, switch: Some(v), racks, routing: 0 });
                    }
                }
            }
        }
        columns
    }
}
