//! Queries of a scheme on its job and network.

use crate::bounds::closed_form;
use crate::draft::Draft;
use crate::model::{Model, NodeIx};
use crate::options::{Options, Problem};
use crate::plan::Bounds;
use crate::racks;
use crate::solve::relax_if_possible;
use inart_topologies::switched::{Job, NodeId, Topology};

impl<'a> Problem<'a> {
    /// Returns the network.
    pub fn topology(&self) -> &'a Topology {
        self.router.model.topology
    }

    /// Returns the job.
    pub fn job(&self) -> &'a Job {
        self.router.model.job
    }

    /// Returns the planning options.
    pub fn options(&self) -> &'a Options<'a> {
        self.options
    }

    /// Returns the available capacity of a link from one end to the other, in bit/s, without background
    /// traffic and other jobs; `None` if no such link exists.
    pub fn link_bps(&self, from: NodeId, to: NodeId) -> Option<f64> {
        self.arc(from, to).map(|arc| self.router.model.capacity_of(arc))
    }

    /// Returns the available aggregation of a switch or ingress of a server, in bit/s: 0 for a switch that
    /// only forwards; infinite if unlimited.
    pub fn node_bps(&self, node: NodeId) -> f64 {
        let model = self.router.model;
        model.capacity_of(model.own(node.0))
    }

    /// Returns the number of hops of the shortest path from one node to another; `None` without a path.
    pub fn hops(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let hops = self.router.routes.hops(from.0, to.0);
        (hops != crate::routes::FAR).then_some(hops.into())
    }

    /// Returns the path from one node to another with the least sum of `cost` (never negative) of its links,
    /// among those with the fewest hops, both ends included; `None` without a path.
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

    /// Returns bounds on every plan that aggregates each gradient at most once, over the paths that
    /// [`Options::paths`] allows.
    ///
    /// If the LP solver fails, its bound is missing; the others still hold.
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
