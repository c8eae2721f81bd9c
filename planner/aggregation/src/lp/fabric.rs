//! Effect of one unit of a column on the network: racks, paths, and the cheapest routes at the column's
//! creation.

use std::rc::Rc;

use crate::classes::{Class, classes};
use crate::lp::dag::Dag;
use crate::model::{Arc, Model, NodeIx};
use crate::router::Router;
use crate::routes::FAR;
use crate::steiner::Steiner;

/// A method to send one unit of shard s from some racks.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Position of s among the servers.
    pub server: usize,
    /// Index of the aggregator that sums the racks; `None` sends directly to s.
    pub switch: Option<usize>,
    /// Positions of the racks.
    pub racks: Vec<usize>,
    /// Index of its routing.
    pub routing: usize,
}

/// Split of each node's flow to each destination over the arcs; by aggregator, then by server.
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
    /// Steiner problem of every server's results; empty if they do not count.
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

    /// Returns the routing over cheapest paths at these link prices, with the costs of each index of each
    /// destination. Uses the shortest paths, or with `detours` all paths.
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

    /// Calls back for the load of a column with weight `weight` on links: destination, arc and amount, one
    /// after the other.
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

    /// Returns the initial columns: every rack directly to every server, and at every switch the nearest
    /// racks, then twice as many and so on up to all that reach it.
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
