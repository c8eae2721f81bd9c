//! Warm start: repairs the active plan for a network that may have changed since.
//!
//! Valid parts stay: a flow whose nodes and links all exist, over an allowed path. The others are placed
//! again: a group whose switch is missing looks for another switch as a whole. The shares and the rate are
//! computed again. If that meets a bound that costs nothing to compute, planning ends; else local search
//! moves only flows on overloaded resources.

use std::collections::{BTreeMap, BTreeSet};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use crate::choices::Results;
use crate::model::{Arc, Model, NodeIx};
use crate::options::Options;
use crate::passes;
use crate::placement::{FlowTo, Placement};
use crate::plan::{Moved, Plan};
use crate::plan_error::PlanError;
use crate::results;
use crate::router::Router;
use crate::routes::{FAR, Path};
use crate::schemes::optimized::starts::{self, Best};
use crate::search::Search;

/// Steps of local search towards one target, and number of restarts from the running plan, before the repair
/// ends and the usual search continues.
const STEPS: usize = 400;
const ATTEMPTS: u64 = 8;

/// Usable part of the active plan: the flows and trunks that this network still carries.
pub(crate) struct Running<'p> {
    /// Flows by `[server][worker]`.
    pub flows: Vec<Vec<Option<FlowTo>>>,
    /// `[server]`, by aggregator.
    pub trunks: Vec<BTreeMap<NodeIx, Path>>,
    /// Usable part of the tree of results by `[server]`; empty if results do not count.
    results: Vec<Vec<Arc>>,
    /// x_s of the plan, over the remaining servers; all 0 if no server is left.
    shares: Vec<f64>,
    /// Ends of the flows, including those to be placed again: the groups' names.
    groups: Vec<Vec<Option<&'p str>>>,
}

impl<'p> Running<'p> {
    /// Reads the usable part of `plan`.
    pub fn read(router: &Router<'_>, plan: &'p Plan) -> Result<Self, PlanError> {
        let model = router.model;
        let foreign = |what: String| Err(PlanError::Foreign { job: model.job.name.clone(), what });
        let topology = model.topology.name();
        if plan.topology != topology {
            return foreign(format!("topology \"{}\", not \"{topology}\"", plan.topology));
        }
        if plan.job != model.job.name {
            return foreign(format!("job \"{}\"", plan.job));
        }
        let names: FxHashMap<&str, NodeIx> =
            (0..).zip(model.topology.nodes()).map(|(n, node)| (&*node.name, n)).collect();
        let position = |nodes: &[NodeIx]| -> FxHashMap<NodeIx, usize> {
            nodes.iter().enumerate().map(|(at, &node)| (node, at)).collect()
        };
        let (workers, servers) = (position(&model.workers), position(&model.servers));
        let find = |name: &str, among: &FxHashMap<NodeIx, usize>| among.get(names.get(name)?).copied();
        let mut running = Running {
            flows: vec![vec![None; model.workers.len()]; model.servers.len()],
            trunks: vec![BTreeMap::new(); model.servers.len()],
            results: Vec::new(),
            shares: vec![0.0; model.servers.len()],
            groups: vec![vec![None; model.workers.len()]; model.servers.len()],
        };
        for shard in &plan.shards {
            if let Some(s) = find(&shard.server, &servers).filter(|_| shard.share.is_finite()) {
                running.shares[s] = shard.share.max(0.0);
            }
        }
        let mut arcs = Vec::new();
        for flow in &plan.flows {
            let (Some(s), Some(w)) = (find(&flow.server, &servers), find(&flow.worker, &workers)) else {
                continue;
            };
            running.groups[s][w] = flow.aggregator.as_deref();
            let end = match &flow.aggregator {
                None => Some(model.servers[s]),
                Some(v) => names.get(&**v).copied().filter(|&v| adds_up(router, v, model.servers[s])),
            };
            running.flows[s][w] = end.and_then(|end| {
                let path = path(router, &names, &flow.path, (model.workers[w], end), &mut arcs)?;
                Some(FlowTo { end, path })
            });
        }
        for trunk in &plan.trunks {
            let (Some(s), Some(&v)) = (find(&trunk.server, &servers), names.get(&*trunk.aggregator)) else {
                continue;
            };
            if let Some(path) = path(router, &names, &trunk.path, (v, model.servers[s]), &mut arcs) {
                running.trunks[s].insert(v, path);
            }
        }
        if model.results == Results::Counted {
            running.results = vec![Vec::new(); model.servers.len()];
            for tree in &plan.results {
                if let Some(s) = find(&tree.server, &servers) {
                    let usable = |arc| router.detours() || router.trees.allows(s, arc);
                    running.results[s] = results::read(model, &names, model.servers[s], tree, usable);
                }
            }
        }
        Ok(running)
    }

    /// F_s at a total of `rate`, in the plan's own shares.
    fn sending(&self, rate: f64) -> Vec<f64> {
        let total: f64 = self.shares.iter().sum();
        let part = |x: &f64| if total > 0.0 { x / total } else { 1.0 / self.shares.len() as f64 };
        self.shares.iter().map(|x| part(x) * rate).collect()
    }

    /// Returns the running placement if it is complete.
    fn whole(&self, model: &Model<'_>) -> Option<Placement> {
        let flows: Vec<Vec<FlowTo>> =
            self.flows.iter().map(|flows| flows.iter().cloned().collect()).collect::<Option<_>>()?;
        let mut trunks = self.trunks.clone();
        for ((flows, trunks), &server) in flows.iter().zip(&mut trunks).zip(&model.servers) {
            if flows.iter().any(|flow| flow.end != server && !trunks.contains_key(&flow.end)) {
                return None;
            }
            trunks.retain(|&v, _| flows.iter().any(|flow| flow.end == v));
        }
        let whole = |tree: &Vec<Arc>| results::is_whole(model, tree).then(|| tree.as_slice().into());
        let results = self.results.iter().map(whole).collect::<Option<_>>()?;
        Some(Placement { flows, trunks, results })
    }

    /// Returns the complete placement: the usable part, and the rest placed again.
    fn complete(&self, router: &Router<'_>, rate: f64) -> Placement {
        let model = router.model;
        if let Some(placement) = self.whole(model) {
            return placement;
        }
        let sending = self.sending(rate);
        let mut room: BTreeMap<NodeIx, f64> =
            model.aggregators.iter().map(|&v| (v, model.capacity_of(model.own(v)))).collect();
        for (flows, &rate) in self.flows.iter().zip(&sending) {
            for flow in flows.iter().flatten() {
                room.entry(flow.end).and_modify(|left| *left -= rate);
            }
        }
        let mut ends = Vec::with_capacity(model.servers.len());
        for (s, flows) in self.flows.iter().enumerate() {
            let server = model.servers[s];
            let mut of_server: Vec<Option<NodeIx>> =
                flows.iter().map(|flow| Some(flow.as_ref()?.end)).collect();
            let used: BTreeSet<NodeIx> = of_server.iter().copied().flatten().collect();
            let mut homeless: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (w, group) in self.groups[s].iter().enumerate().filter(|&(w, _)| flows[w].is_none()) {
                homeless.entry(group.unwrap_or_default()).or_default().push(w);
            }
            for (group, members) in homeless {
                // Direct or new flows are direct; a flow that lost only a link returns to its switch.
                let demand = members.len() as f64 * sending[s];
                let reaches =
                    |v: NodeIx| members.iter().all(|&w| router.reaches(model.workers[w], v, server));
                let old = model
                    .topology
                    .node_named(group)
                    .map(|id| id.0)
                    .filter(|v| room.contains_key(v) && reaches(*v));
                let nearest = || {
                    let open =
                        room.iter().filter(|&(v, &left)| !used.contains(v) && left >= demand && reaches(*v));
                    open.min_by_key(|&(&v, _)| {
                        let inward: u32 =
                            members.iter().map(|&w| u32::from(router.routes.hops(model.workers[w], v))).sum();
                        inward + u32::from(router.routes.hops(v, server))
                    })
                    .map(|(&v, _)| v)
                };
                let lost = !group.is_empty() && members.len() > 1;
                let end = old.or_else(|| if lost { nearest() } else { None }).unwrap_or(server);
                room.entry(end).and_modify(|left| *left -= demand);
                members.iter().for_each(|&w| of_server[w] = Some(end));
            }
            ends.push(of_server.into_iter().map(|end| end.unwrap_or(server)).collect());
        }
        router.place_around(&self.flows, &self.trunks, &self.results, &ends, &self.sending(1.0))
    }

    /// Returns the differences of `placement` to the running one.
    pub fn moved(&self, placement: &Placement) -> Moved {
        let flows = |(new, old): (&Vec<FlowTo>, &Vec<Option<FlowTo>>)| {
            new.iter().zip(old).filter(|&(new, old)| old.as_ref() != Some(new)).count()
        };
        let trunks = |(new, old): (&BTreeMap<NodeIx, Path>, &BTreeMap<NodeIx, Path>)| {
            new.iter().filter(|&(v, path)| old.get(v) != Some(path)).count()
        };
        Moved {
            flows: placement.flows.iter().zip(&self.flows).map(flows).sum(),
            trunks: placement.trunks.iter().zip(&self.trunks).map(trunks).sum(),
        }
    }
}

/// Returns whether a node has aggregation capacity for flows for `server`.
fn adds_up(router: &Router<'_>, v: NodeIx, server: NodeIx) -> bool {
    let model = router.model;
    model.forwards(v) && model.capacity_of(model.own(v)) > 0.0 && router.routes.hops(v, server) != FAR
}

/// Returns a path by names as arcs (using a reused list); `None` unless it goes from `from` to `to`, every
/// link has capacity, and it passes no node twice; if plans use shortest paths, also unless it is one.
fn path(
    router: &Router<'_>,
    names: &FxHashMap<&str, NodeIx>,
    path: &[String],
    (from, to): (NodeIx, NodeIx),
    arcs: &mut Vec<Arc>,
) -> Option<Path> {
    let mut node = from;
    let (first, rest) = path.split_first()?;
    let shortest = usize::from(router.routes.hops(from, to));
    if names.get(&**first) != Some(&from) || !router.detours() && rest.len() != shortest {
        return None;
    }
    arcs.clear();
    for name in rest {
        let &next = names.get(&**name)?;
        arcs.push(router.model.arcs_out(node).iter().find(|&&(_, head)| head == next)?.0);
        node = next;
    }
    let through = arcs.split_last()?.1.iter().all(|&arc| router.model.forwards(router.model.head(arc)));
    // A shortest path passes no node twice.
    let once = |(at, name): (usize, &String)| !path[..at].contains(name);
    let simple = rest.len() == shortest || path.iter().enumerate().all(once);
    (node == to && through && simple).then(|| arcs.as_slice().into())
}

/// Returns the running plan's placement at its best shares; if that is below `bound`, repaired as far as a
/// short search from it gets, with the fewest moves. Never worse than the running plan.
pub(crate) fn start(router: &Router<'_>, options: &Options<'_>, running: &Running<'_>, bound: f64) -> Best {
    let best = starts::clear(router, running.complete(router, bound), options.equal_shares);
    if starts::met(&best, bound) {
        return best;
    }
    let sending = if options.equal_shares {
        vec![bound / running.shares.len() as f64; running.shares.len()]
    } else {
        running.sending(bound)
    };
    match towards(router, options, &best.placement, &sending) {
        Some(found) if found.rated.rate > best.rated.rate => found,
        _ => best,
    }
}

/// Moves overloaded flows at rates F_s until no resource is overloaded; `None` if a few steps do not suffice.
fn towards(router: &Router<'_>, options: &Options<'_>, from: &Placement, sending: &[f64]) -> Option<Best> {
    (0..ATTEMPTS).take_while(|_| !options.out_of_time()).find_map(|attempt| {
        let rng = ChaCha8Rng::seed_from_u64(options.seed.wrapping_add(attempt));
        let free = starts::are_free(router.model, options.equal_shares);
        let mut search = Search::new(router, from, sending.to_vec(), free, rng);
        let found = search.run(STEPS, &|| options.out_of_time());
        found.then(|| starts::clear(router, search.placement(), options.equal_shares))
    })
}

/// Returns the placement with the most unchanged flows, among those within `loss` (0 to 1) of `best`'s rate
/// that a repair of the running plan, and undoing unnecessary moves, can find. `searched`: `best` is not
/// itself such a repair.
pub(crate) fn stable(
    router: &Router<'_>,
    options: &Options<'_>,
    running: &Running<'_>,
    best: Best,
    (loss, searched): (f64, bool),
) -> Best {
    let moves = |found: &Best| {
        let moved = running.moved(&found.placement);
        moved.flows + moved.trunks
    };
    if moves(&best) == 0 {
        return best;
    }
    // A hair below, so that rounding errors do not cost a plan that is as good.
    let floor = best.rated.rate * (1.0 - loss) * (1.0 - 1e-9);
    let at_floor = |shares: &[f64]| -> Vec<f64> { shares.iter().map(|x| x * floor).collect() };
    let old = running.complete(router, best.rated.rate);
    let mut candidates = vec![starts::clear(router, old, options.equal_shares), best.clone()];
    if loss > 0.0 || searched {
        let mut shares = vec![best.rated.shares.clone()];
        let own = running.sending(1.0);
        if starts::are_free(router.model, options.equal_shares)
            && shares[0].iter().zip(&own).any(|(x, y)| (x - y).abs() > 1e-6)
        {
            shares.push(own);
        }
        let repaired: Vec<Best> = shares
            .iter()
            .filter_map(|x| towards(router, options, &candidates[0].placement, &at_floor(x)))
            .collect();
        candidates.extend(repaired);
    }
    let good = candidates.into_iter().filter(|found| found.rated.rate >= floor);
    let undone = good.map(|found| {
        let sending = at_floor(&found.rated.shares);
        let placement = undo(router.model, running, found.placement.clone(), &sending);
        let rated = starts::rate(router, &placement, options.equal_shares);
        // Paths restored one by one may combine so that switches cannot distinguish passes.
        let holds = rated.rate >= floor && (!router.detours() || passes::are_clear(router.model, &placement));
        if holds { Best::new(placement, rated) } else { found }
    });
    undone.min_by_key(|found| moves(found)).unwrap_or(best)
}

/// Restores running flows, and then trees of results, whole groups first, as long as every resource carries
/// them at rates F_s.
fn undo(model: &Model<'_>, running: &Running<'_>, mut placement: Placement, sending: &[f64]) -> Placement {
    let mut load = vec![0.0; model.capacity.len()];
    sending.iter().enumerate().for_each(|(s, &rate)| shift(model, &placement, s, rate, &mut load));
    for (s, &rate) in sending.iter().enumerate() {
        let mut groups: BTreeMap<NodeIx, Vec<usize>> = BTreeMap::new();
        for (w, old) in running.flows[s].iter().enumerate() {
            if let Some(old) = old.as_ref().filter(|old| placement.flows[s][w] != **old) {
                groups.entry(old.end).or_default().push(w);
            }
        }
        // A second pass, since restored flows may have freed capacity.
        for _ in 0..2 {
            for (&v, members) in &groups {
                if !put_back(model, running, &mut placement, (s, v), members, rate, &mut load) {
                    for w in members {
                        put_back(
                            model,
                            running,
                            &mut placement,
                            (s, v),
                            std::slice::from_ref(w),
                            rate,
                            &mut load,
                        );
                    }
                }
            }
            for &v in running.trunks[s].keys() {
                put_back(model, running, &mut placement, (s, v), &[], rate, &mut load);
            }
        }
        if let Some(old) = running.results.get(s).filter(|tree| results::is_whole(model, tree)) {
            let new = std::mem::replace(&mut placement.results[s], old.as_slice().into());
            new.iter().for_each(|&arc| load[arc as usize] -= rate);
            old.iter().for_each(|&arc| load[arc as usize] += rate);
            if !fits(model, &load) {
                old.iter().for_each(|&arc| load[arc as usize] -= rate);
                new.iter().for_each(|&arc| load[arc as usize] += rate);
                placement.results[s] = new;
            }
        }
    }
    placement
}

fn fits(model: &Model<'_>, load: &[f64]) -> bool {
    load.iter().zip(&model.capacity).all(|(used, capacity)| *used <= capacity * (1.0 + 1e-9))
}

/// Restores `members` of the group of server `s` at `v`, and its trunk. Returns whether that overloads
/// nothing.
fn put_back(
    model: &Model<'_>,
    running: &Running<'_>,
    placement: &mut Placement,
    (s, v): (usize, NodeIx),
    members: &[usize],
    rate: f64,
    load: &mut [f64],
) -> bool {
    let (flows, trunks) = (placement.flows[s].clone(), placement.trunks[s].clone());
    shift(model, placement, s, -rate, load);
    for &w in members {
        if let Some(old) = &running.flows[s][w] {
            placement.flows[s][w] = old.clone();
        }
    }
    let used: BTreeSet<NodeIx> = placement.flows[s].iter().map(|flow| flow.end).collect();
    let mut complete = true;
    placement.trunks[s].retain(|v, _| used.contains(v));
    if v != model.servers[s] && used.contains(&v) {
        match running.trunks[s].get(&v) {
            Some(path) => drop(placement.trunks[s].insert(v, path.clone())),
            None => complete = placement.trunks[s].contains_key(&v),
        }
    }
    shift(model, placement, s, rate, load);
    if complete && fits(model, load) {
        return true;
    }
    shift(model, placement, s, -rate, load);
    placement.flows[s] = flows;
    placement.trunks[s] = trunks;
    shift(model, placement, s, rate, load);
    false
}

/// Adds the load of one server's shard at F_s = `rate`.
fn shift(model: &Model<'_>, placement: &Placement, s: usize, rate: f64, load: &mut [f64]) {
    for flow in &placement.flows[s] {
        load[model.own(flow.end) as usize] += rate;
        flow.path.iter().for_each(|&arc| load[arc as usize] += rate);
    }
    for path in placement.trunks[s].values() {
        load[model.own(model.servers[s]) as usize] += rate;
        path.iter().for_each(|&arc| load[arc as usize] += rate);
    }
    if let Some(tree) = placement.results.get(s) {
        tree.iter().for_each(|&arc| load[arc as usize] += rate);
    }
}
