//! What a scheme can ask of the job and the network that it is given.

use crate::bounds::closed_form;
use crate::draft::Draft;
use crate::model::{Model, NodeIx};
use crate::options::{Options, Problem};
use crate::plan::Bounds;
use crate::racks;
use crate::solve::relax_if_possible;
use inart_topologies::switched::{Job, NodeId, Topology};

impl<'a> Problem<'a> {
    /// The network.
    pub fn topology(&self) -> &'a Topology {
        self.router.model.topology
    }

    /// The job.
    pub fn job(&self) -> &'a Job {
        self.router.model.job
    }

    /// How to plan.
    pub fn options(&self) -> &'a Options<'a> {
        self.options
    }

    /// What is left of a link from one end to the other, in bit/s; `None` if there is no such link.
    /// Background traffic and other jobs are taken off.
    pub fn link_bps(&self, from: NodeId, to: NodeId) -> Option<f64> {
        self.arc(from, to).map(|arc| self.router.model.capacity_of(arc))
    }

    /// What is left of a switch's aggregation or a server's ingress, in bit/s: 0 for a switch that only
    /// forwards; infinite where nothing limits it.
    pub fn node_bps(&self, node: NodeId) -> f64 {
        let model = self.router.model;
        model.capacity_of(model.own(node.0))
    }

    /// Hops from one node to another on the shortest path that there is; `None` if there is none.
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let hops = self.router.routes.hops(from.0, to.0);
        (hops != crate::routes::FAR).then_some(hops.into())
    }

    /// The path from one node to another with the least sum of `cost` (never negative) of its links, among
    /// those with the fewest hops, both ends included; `None` if there is none.
    pub fn path(
        &self,
        from: NodeId,
        to: NodeId,
        cost: impl Fn(NodeId, NodeId) -> f64,
    ) -> Option<Vec<NodeId>> {
        let model = self.router.model;
        let ends = |arc| (NodeId(model.tail(arc)), NodeId(model.head(arc)));
        let path = self.router.routes.cheapest(from.0, to.0, |arc| {
            let (from, to) = ends(arc);
            cost(from, to)
        })?;
        Some(std::iter::once(from).chain(path.iter().map(|&arc| ends(arc).1)).collect())
    }

    /// Bounds on every plan that adds each gradient up at most once, over the paths that [`Options::paths`]
    /// allows.
    ///
    /// Without the LP's where its solver gave up: the others hold all the same.
    pub fn bounds(&self) -> Bounds {
        let model = self.router.model;
        let relaxation = relax_if_possible(self.router, None, self.options.time_left);
        let lp_bps = relaxation.map(|relaxation| relaxation.proven);
        let integral_bps = closed_form(model, self.options.equal_shares)
            .min(racks::egress(model))
            .min(lp_bps.unwrap_or(f64::INFINITY));
        Bounds { lp_bps, integral_bps, two_levels_bps: None }
    }

    /// A plan to be made from routes.
    pub fn draft(&self) -> Draft<'a> {
        Draft::new(*self)
    }

    /// The arc from one node to another.
    pub(crate) fn arc(&self, from: NodeId, to: NodeId) -> Option<crate::model::Arc> {
        let model: &Model<'_> = self.router.model;
        let arcs: &[(_, NodeIx)] = model.arcs_built(from.0);
        arcs.iter().find(|&&(_, head)| head == to.0).map(|&(arc, _)| arc)
    }
}
