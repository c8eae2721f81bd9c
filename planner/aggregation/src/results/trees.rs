//! The trees of results that plans may have, and the cheapest of them.

use std::cell::OnceCell;

use super::fewest::Fewest;
use super::nearest;
use super::tree::Tree;
use crate::model::{Arc, Model, NodeIx};
use crate::routes::{FAR, Rule};

/// Trees that a plan may have: over switches with available capacity, with the fewest hops unless any path is
/// allowed.
pub(crate) struct Trees<'m> {
    model: &'m Model<'m>,
    rule: Rule,
    /// Paths with the fewest hops, by server.
    fewest: Vec<OnceCell<Fewest>>,
    /// Arcs between a host with several links and the network, except its first link.
    second: OnceCell<Box<[bool]>>,
}

impl<'m> Trees<'m> {
    pub fn new(model: &'m Model<'m>, rule: Rule) -> Self {
        let fewest = model.servers.iter().map(|_| OnceCell::new()).collect();
        Trees { model, rule, fewest, second: OnceCell::new() }
    }

    /// Returns whether an arc is one of a host's further links, which the controller does not install.
    pub fn is_second(&self, arc: Arc) -> bool {
        let second = self.second.get_or_init(|| {
            let model = self.model;
            let mut second = vec![false; model.arcs()];
            for &host in model.servers.iter().chain(&model.workers) {
                for &(arc, _) in model.arcs_built(host).iter().skip(1) {
                    second[arc as usize] = true;
                    second[arc as usize ^ 1] = true;
                }
            }
            second.into()
        });
        second[arc as usize]
    }

    /// Returns whether an arc may be in a tree of server `s`.
    pub fn allows(&self, s: usize, arc: Arc) -> bool {
        self.rule == Rule::Any || self.fewest(s).has(arc)
    }

    /// A worker that results of server `s` cannot reach.
    pub fn unreached(&self, s: usize) -> Option<NodeIx> {
        self.fewest(s).unreached
    }

    /// Returns the paths with the fewest hops from server `s`: in the network as built, if that is the rule;
    /// else over links with available capacity, and over the hosts' first links if these reach all workers.
    fn fewest(&self, s: usize) -> &Fewest {
        self.fewest[s].get_or_init(|| {
            let (model, root) = (self.model, self.model.servers[s]);
            let left = |node| model.arcs_out(node);
            if self.rule == Rule::Built {
                let (order, depths) = self.hops_from(root, |node| model.arcs_built(node), |_| true);
                return Fewest::new(model, &order, &depths, |_| true);
            }
            let (order, depths) = self.hops_from(root, left, |arc| !self.is_second(arc));
            let first = Fewest::new(model, &order, &depths, |arc| !self.is_second(arc));
            if first.unreached.is_none() {
                return first;
            }
            let (order, depths) = self.hops_from(root, left, |_| true);
            Fewest::new(model, &order, &depths, |_| true)
        })
    }

    /// Nodes by their hops from a root, itself first, and these hops.
    fn hops_from(
        &self,
        root: NodeIx,
        arcs: impl Fn(NodeIx) -> &'m [(Arc, NodeIx)],
        usable: impl Fn(Arc) -> bool,
    ) -> (Vec<NodeIx>, Vec<u16>) {
        let mut hops = vec![FAR; self.model.topology.nodes().len()];
        hops[root as usize] = 0;
        let mut order = vec![root];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            if node == root || self.model.forwards(node) {
                for &(arc, far) in arcs(node) {
                    if hops[far as usize] == FAR && usable(arc) {
                        hops[far as usize] = hops[node as usize] + 1;
                        order.push(far);
                    }
                }
            }
        }
        (order, hops)
    }

    /// Grows `kept` (a part of a tree of server `s`, parents before children) to a tree to all workers of the
    /// job, by arcs of low `cost` (never negative). The network must have such a tree: see
    /// [`Trees::unreached`].
    pub fn grow(&self, s: usize, kept: &[Arc], cost: impl Fn(Arc) -> f64) -> Tree {
        match self.rule {
            Rule::Any => nearest::grow(self.model, self.model.servers[s], kept, cost),
            _ => self.fewest(s).grow(self.model, kept, cost),
        }
    }
}
