//! The moves of the local search.

use rand::Rng;

use super::Search;
use super::state::{Kind, Unit};
use crate::model::{NodeIx, Resource};
use crate::results;

/// Added to the price of a resource that a move has to avoid, if possible.
const AWAY: f64 = 1e9;
/// Added to the price of a host's further links for results, which the controller does not install.
const SECOND: f64 = 1e-2;
/// One of this many trees of results is rebuilt from its root.
const WHOLE: u32 = 4;

impl Search<'_, '_> {
    /// Moves something away from a resource.
    pub(super) fn relieve(&mut self, resource: Resource) {
        let count = self.state.crossing(resource);
        if count == 0 {
            return self.state.clear(resource);
        }
        let unit = self.state.nth_crossing(resource, self.rng.random_range(0..count));
        let s = self.state.shard(unit);
        match self.state.kind(unit) {
            Kind::Tree => self.regrow(s, resource),
            Kind::Flow => match self.rng.random_range(0..16) {
                0 => self.gather(s),
                _ => self.move_flow(unit, resource),
            },
            Kind::Trunk(at) => match self.rng.random_range(0..4) {
                0 if (resource as usize) < self.state.model.arcs() => self.reroute(s, at, resource),
                0 | 1 => self.move_group(s, at),
                2 => self.dissolve(s, at),
                _ => self.gather(s),
            },
        }
    }

    /// Takes a flow off, and the trunk of its group if it was the last.
    fn remove(&mut self, flow: Unit) {
        let (s, end) = (self.state.shard(flow), self.state.end(flow));
        self.state.take_off(flow);
        if let Some(at) = self.state.position(end).filter(|&at| self.state.takes(s, at) == 0) {
            self.state.take_off(self.state.trunk(s, at));
        }
    }

    /// Prices all paths from a worker.
    fn price_outward(&mut self, s: usize, w: usize) {
        let dag = self.router.dags.from(self.entries[w].0);
        dag.price(self.router.model, self.state.prices(s), &mut self.outward);
    }

    /// Prices all paths to a node.
    fn price_inward(&mut self, s: usize, to: NodeIx) {
        let dag = self.router.dags.to(to);
        dag.price(self.router.model, self.state.prices(s), &mut self.inward);
    }

    /// Puts a flow on the path last priced, and its group's trunk (if new) on the one from there to the
    /// server.
    fn put(&mut self, flow: Unit, end: NodeIx) {
        let s = self.state.shard(flow);
        let w = self.state.worker(flow);
        let (entry, first) = self.entries[w];
        self.path.clear();
        self.router.dags.from(entry).trace(self.router.model, &self.outward, end, &mut self.path);
        self.path.extend(first);
        self.path.reverse();
        self.state.put(flow, end, &self.path);
        if let Some(at) = self.state.position(end).filter(|&at| self.state.takes(s, at) == 1) {
            self.put_trunk(s, at);
        }
    }

    fn put_trunk(&mut self, s: usize, at: usize) {
        let (v, server) = (self.router.model.aggregators[at], self.router.model.servers[s]);
        self.path.clear();
        self.router.dags.to(server).trace(self.router.model, &self.inward, v, &mut self.path);
        self.state.put(self.state.trunk(s, at), server, &self.path);
    }

    /// Inserts a removed flow at the least cost; at `not` only without an alternative.
    fn insert(&mut self, flow: Unit, not: Option<usize>) {
        let model = self.router.model;
        let s = self.state.shard(flow);
        let w = self.state.worker(flow);
        let server = model.servers[s];
        self.price_outward(s, w);
        let own = self.state.prices(s)[model.own(server) as usize];
        let (mut best, mut end) = (self.outward.of(server) + own, server);
        let switches = model.aggregators.len();
        let start = self.rng.random_range(0..switches.max(1));
        let mut priced = false;
        for at in (start..switches).chain(0..start) {
            let v = model.aggregators[at];
            let open = self.state.takes(s, at) > 0;
            let mut cost = self.outward.of(v) + self.state.prices(s)[model.own(v) as usize];
            if !open {
                cost += own;
            }
            if cost >= best || not == Some(at) {
                continue;
            }
            if !open {
                if !priced {
                    self.price_inward(s, server);
                    priced = true;
                }
                cost += self.inward.of(v);
            }
            if cost < best {
                (best, end) = (cost, v);
            }
        }
        self.put(flow, end);
    }

    /// Takes a flow off a resource and puts it where it costs least.
    fn move_flow(&mut self, flow: Unit, away: Resource) {
        let s = self.state.shard(flow);
        self.remove(flow);
        self.state.surcharge(s, away, AWAY);
        self.insert(flow, None);
        self.state.reprice(away as usize);
    }

    /// Takes a trunk off a link.
    fn reroute(&mut self, s: usize, at: usize, away: Resource) {
        self.state.take_off(self.state.trunk(s, at));
        self.state.surcharge(s, away, AWAY);
        self.price_inward(s, self.router.model.servers[s]);
        self.put_trunk(s, at);
        self.state.reprice(away as usize);
    }

    /// Moves results away from a link: rebuilds the subtree below it, or (now and then) the whole tree.
    fn regrow(&mut self, s: usize, away: Resource) {
        let (router, tree) = (self.router, self.state.tree(s));
        let kept = match self.rng.random_range(0..WHOLE) {
            0 => Vec::new(),
            _ => results::without(router.model, self.state.path(tree), away),
        };
        self.state.take_off(tree);
        self.state.surcharge(s, away, AWAY);
        let prices = self.state.prices(s);
        let second = |arc| if router.trees.is_second(arc) { SECOND } else { 0.0 };
        let grown = router.trees.grow(s, &kept, |arc| prices[arc as usize] + second(arc));
        self.state.put_tree(s, &grown);
        self.state.reprice(away as usize);
    }

    fn members(&self, s: usize, v: NodeIx) -> Vec<Unit> {
        let flows = (0..self.router.model.workers.len()).map(|w| self.state.flow(s, w));
        flows.filter(|&flow| self.state.end(flow) == v).collect()
    }

    /// Moves all workers of a group elsewhere, one by one.
    fn dissolve(&mut self, s: usize, at: usize) {
        let members = self.members(s, self.router.model.aggregators[at]);
        self.attempt(s, members, |search, members| {
            members.iter().for_each(|&flow| search.insert(flow, Some(at)));
        });
    }

    /// Moves a whole group to the cheapest unused switch (of a random half of them).
    fn move_group(&mut self, s: usize, at: usize) {
        let model = self.router.model;
        let members = self.members(s, model.aggregators[at]);
        self.attempt(s, members, |search, members| {
            let switches = model.aggregators.len();
            search.price_inward(s, model.servers[s]);
            let rate = members.len() as f64 * search.state.sending[s];
            let mut total: Vec<f64> = (0..switches)
                .map(|to| {
                    let v = model.aggregators[to];
                    let open = to == at || search.state.takes(s, to) > 0 || search.rng.random_bool(0.5);
                    if open {
                        f64::INFINITY
                    } else {
                        search.inward.of(v) + search.state.cost(model.own(v), rate)
                    }
                })
                .collect();
            let mut last = None;
            for &flow in members {
                let w = search.state.worker(flow);
                if last != Some(search.entries[w].0) {
                    search.price_outward(s, w);
                    last = Some(search.entries[w].0);
                }
                for (sum, &v) in total.iter_mut().zip(&model.aggregators) {
                    *sum += search.outward.of(v);
                }
            }
            let best = (0..switches).min_by(|&a, &b| total[a].total_cmp(&total[b]));
            match best.filter(|&to| total[to].is_finite()) {
                Some(to) => search.send_all(s, members, model.aggregators[to]),
                None => members.iter().for_each(|&flow| search.insert(flow, None)),
            }
        });
    }

    /// Puts flows that are off at one end.
    fn send_all(&mut self, s: usize, flows: &[Unit], end: NodeIx) {
        for &flow in flows {
            let w = self.state.worker(flow);
            self.price_outward(s, w);
            self.price_inward(s, self.router.model.servers[s]);
            self.put(flow, end);
        }
    }

    /// Makes an unused switch aggregate those flows whose move relieves most.
    fn gather(&mut self, s: usize) {
        let model = self.router.model;
        let rate = self.state.sending[s];
        let room = |at: usize| {
            let own = model.own(model.aggregators[at]);
            (model.capacity_of(own) - self.state.load[own as usize]) / rate
        };
        let free: Vec<usize> = (0..model.aggregators.len())
            .filter(|&at| self.state.takes(s, at) == 0 && room(at) >= 2.0)
            .collect();
        if free.is_empty() {
            return;
        }
        let at = free[self.rng.random_range(0..free.len())];
        let (v, most) = (model.aggregators[at], room(at));
        self.price_inward(s, model.servers[s]);
        let trunk = self.inward.of(v);
        if !trunk.is_finite() {
            return;
        }
        self.price_inward(s, v);
        let mut gains: Vec<(f64, Unit)> = (0..model.workers.len())
            .map(|w| {
                let flow = self.state.flow(s, w);
                let own = model.own(self.state.end(flow));
                let arcs = &self.state.path(flow)[usize::from(self.entries[w].1.is_some())..];
                let relief: f64 = arcs.iter().chain(&[own]).map(|&r| -self.state.cost(r, -rate)).sum();
                (relief - self.inward.of(self.entries[w].0), flow)
            })
            .filter(|&(gain, _)| gain > 0.0)
            .collect();
        gains.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        gains.truncate(most as usize);
        if gains.len() < 2 {
            return;
        }
        let members = gains.into_iter().map(|(_, flow)| flow).collect();
        self.attempt(s, members, |search, members| search.send_all(s, members, v));
    }

    /// Takes flows off and has `change` put them back; kept only if that does not raise the energy (now and
    /// then by a little).
    fn attempt(&mut self, s: usize, flows: Vec<Unit>, change: impl FnOnce(&mut Self, &[Unit])) {
        let before = self.state.energy();
        self.journal.clear();
        let mut ends: Vec<NodeIx> = Vec::new();
        for &flow in &flows {
            let end = self.state.end(flow);
            self.journal.push((flow, end, self.state.path(flow).into()));
            if let Some(at) = self.state.position(end).filter(|_| !ends.contains(&end)) {
                ends.push(end);
                let trunk = self.state.trunk(s, at);
                self.journal.push((trunk, self.state.end(trunk), self.state.path(trunk).into()));
            }
        }
        flows.iter().for_each(|&flow| self.remove(flow));
        change(self, &flows);
        if self.state.energy() <= before || self.rng.random_bool(0.02) {
            return;
        }
        flows.iter().for_each(|&flow| self.remove(flow));
        let journal = std::mem::take(&mut self.journal);
        for (unit, end, path) in &journal {
            // A trunk that other flows still use did not move.
            if matches!(self.state.kind(*unit), Kind::Flow) || self.state.end(*unit) != *end {
                self.state.put(*unit, *end, path);
            }
        }
        self.journal = journal;
    }
}
