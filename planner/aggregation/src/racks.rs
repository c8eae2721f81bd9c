//! A bound from the racks' uplinks, for networks whose links bind.
//!
//! The traffic of a rack's workers leaves their switch T over its few uplinks, in whole flows: a flow that T
//! does not aggregate, and one sum per server that it does. So for every rack, with n_s workers aggregated at
//! T and k(s, e) units of shard s on uplink e: `sum_e k(s, e) >= m - n_s + [n_s > 0]`, sum_s F_s k(s, e) <=
//! B(e), sum_s F_s n_s <= C(T). The rest of the network is left out, so this bounds every plan, by any
//! routes. The F_s are common to all racks, which makes several racks together much tighter than each alone.
//!
//! If results count, those of a server on T alone leave over some uplink if a worker is elsewhere, and those
//! of a server elsewhere enter T over some link from another switch if a worker is on T alone: F_s each.

use good_lp::solvers::SolutionStatus;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, highs, variable};

use crate::bounds;
use crate::classes::{Class, classes};
use crate::model::{Model, NodeIx};

/// Binaries of all racks taken together at most: beyond, the proof takes seconds.
const BINARIES: usize = 48;
/// The integer programs are solved up to this relative gap, which is added to the bound.
const GAP: f64 = 2e-3;
const NODES: i32 = 1000;

/// An upper bound on every plan's rate, no higher than `bound`; stops tightening at `goal`, which some plan
/// reaches.
pub(crate) fn bound(
    model: &Model<'_>,
    equal: bool,
    goal: f64,
    bound: f64,
    time_left: &dyn Fn() -> f64,
) -> f64 {
    tighten(model, &bounds::alone(model), (equal, goal), bound, time_left)
}

/// Returns the bound for plans that aggregate each gradient at most twice: at any level, a sum that leaves a
/// rack is one unit.
pub(crate) fn two_levels(
    model: &Model<'_>,
    equal: bool,
    goal: f64,
    bound: f64,
    time_left: &dyn Fn() -> f64,
) -> f64 {
    let uplink = model.min_uplink_bps();
    let most: Vec<f64> = model.servers.iter().map(|&s| model.intake_bps(s).min(uplink)).collect();
    tighten(model, &most, (equal, goal), bound.min(egress(model)).max(goal), time_left)
}

/// The bound, given that no server can be sent more than `most`.
fn tighten(
    model: &Model<'_>,
    most: &[f64],
    (equal, goal): (bool, f64),
    bound: f64,
    time_left: &dyn Fn() -> f64,
) -> f64 {
    let all = classes(model);
    let mut racks: Vec<(f64, &Class)> = all
        .iter()
        .filter(|class| model.forwards(class.source))
        .map(|class| (egress_limit(model, class), class))
        .filter(|&(limit, _)| limit < 1.5 * bound)
        .collect();
    racks.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = bound;
    let mut binaries = 0;
    for count in 1..=racks.len() {
        let newest = racks[count - 1].1;
        let ways = uplinks(model, newest.source).len() + 1;
        binaries += model.servers.len() * newest.workers.len() * ways;
        if binaries > BINARIES || best <= goal * (1.0 + GAP) || time_left() <= 0.0 {
            break;
        }
        let together: Vec<&Class> = racks[..count].iter().map(|&(_, class)| class).collect();
        let Some(found) = solve(model, &together, most, equal, best, time_left()) else { break };
        // Less than some plan reaches is an error of the solver.
        if found * (1.0 + GAP) < goal * (1.0 - 1e-6) {
            break;
        }
        best = best.min(found * (1.0 + GAP)).max(goal);
    }
    best
}

/// The tightest rack's fractional limit, without an LP.
///
/// Returns a bound from racks without a server, which every shard has to leave: of the m flows of shard s, n
/// aggregated at T leave as one, so `m - n + [n > 0] >= m - (m - 1) / m n` units do. Weighted by F_s and
/// summed over s, with sum F_s n_s <= C(T), that is m f - (m - 1) / m C(T) <= the capacity of the uplinks. If
/// results count and all of them have to enter, f <= the capacity of the links into T, too.
pub(crate) fn egress(model: &Model<'_>) -> f64 {
    let serverless = |class: &&Class| {
        let has_server = model.arcs_out(class.source).iter().any(|&(_, next)| model.servers.contains(&next));
        model.forwards(class.source) && !has_server
    };
    let all = classes(model);
    let out = all.iter().filter(serverless).map(|class| egress_limit(model, class));
    let entered = |class: &&Class| {
        let enters = |&server: &NodeIx| matches!(crosses(model, server, class), Some(Crossing::In));
        model.counts_results() && model.forwards(class.source) && model.servers.iter().all(enters)
    };
    let back = all.iter().filter(entered).map(|class| downlinks(model, class.source).sum::<f64>());
    out.chain(back).fold(f64::INFINITY, f64::min)
}

/// The fractional form of one rack's limit: m f <= uplinks + (m - 1) / m C(T).
fn egress_limit(model: &Model<'_>, class: &Class) -> f64 {
    let size = class.workers.len() as f64;
    let uplinks: f64 = uplinks(model, class.source).iter().map(|&(_, capacity)| capacity).sum();
    (uplinks + (size - 1.0) / size * model.capacity_of(model.own(class.source))) / size
}

/// Returns the links from a switch to other switches, with their capacities.
fn uplinks(model: &Model<'_>, switch: NodeIx) -> Vec<(NodeIx, f64)> {
    let arcs = model.arcs_out(switch).iter();
    arcs.filter(|&&(_, next)| model.forwards(next))
        .map(|&(arc, next)| (next, model.capacity_of(arc)))
        .collect()
}

/// Returns the capacities of the links from other switches to a switch.
fn downlinks(model: &Model<'_>, switch: NodeIx) -> impl Iterator<Item = f64> {
    let arcs = model.arcs_in(switch).iter().filter(|&&(_, from)| model.forwards(from));
    arcs.map(|&(arc, _)| model.capacity_of(arc))
}

/// Crossing of all results of a server between a rack's switch and other switches.
enum Crossing {
    Out,
    In,
}

/// Returns the crossing, or `None` if they may not have to cross.
fn crosses(model: &Model<'_>, server: NodeIx, rack: &Class) -> Option<Crossing> {
    let switch = rack.source;
    let inside = |worker: NodeIx| model.arcs_in(worker).iter().any(|&(_, from)| from == switch);
    let only_inside = |worker: NodeIx| model.arcs_in(worker).iter().all(|&(_, from)| from == switch);
    let is_here = |&(_, to): &(u32, NodeIx)| to == switch;
    if model.arcs_out(server).iter().all(is_here) {
        model.workers.iter().any(|&worker| !inside(worker)).then_some(Crossing::Out)
    } else if !model.arcs_out(server).iter().any(is_here) {
        model.workers.iter().any(|&worker| only_inside(worker)).then_some(Crossing::In)
    } else {
        None
    }
}

struct Program<'p> {
    variables: ProblemVariables,
    rows: Vec<good_lp::Constraint>,
    sending: Vec<Variable>,
    most: &'p [f64],
}

impl Program<'_> {
    /// `count` units of shard s in unary: their number, and their rate (F_s times the number), both at least.
    fn units(&mut self, s: usize, count: usize) -> (Expression, Expression, Option<Variable>) {
        let most = self.most[s];
        let chosen: Vec<Variable> = (0..count).map(|_| self.variables.add(variable().binary())).collect();
        let rates: Vec<Variable> =
            (0..count).map(|_| self.variables.add(variable().min(0.0).max(most))).collect();
        for (&b, &p) in chosen.iter().zip(&rates) {
            self.rows.push((p - self.sending[s] - most * b).geq(-most));
            self.rows.push((p - most * b).leq(0.0));
        }
        for pair in chosen.windows(2).chain(rates.windows(2)) {
            self.rows.push((pair[0] - pair[1]).geq(0.0));
        }
        (chosen.iter().sum(), rates.iter().sum(), chosen.first().copied())
    }

    /// Adds results that leave the rack over its uplinks, and results that enter it.
    fn add_results(&mut self, model: &Model<'_>, rack: &Class, leaving: &mut [Expression], unit: f64) {
        let links = uplinks(model, rack.source);
        let into: Vec<f64> = downlinks(model, rack.source).collect();
        let mut entering = vec![Expression::default(); into.len()];
        for (s, &server) in model.servers.iter().enumerate() {
            // At least one link carries all of F_s.
            let (limits, loads): (Vec<f64>, &mut [Expression]) = match crosses(model, server, rack) {
                Some(Crossing::Out) => (links.iter().map(|&(_, limit)| limit).collect(), &mut *leaving),
                Some(Crossing::In) => (into.clone(), &mut entering),
                None => continue,
            };
            let mut all = Expression::default();
            for (load, limit) in loads.iter_mut().zip(limits) {
                let (count, rate, _) = self.units(s, usize::from(limit > 0.0));
                *load += rate;
                all += count;
            }
            self.rows.push(all.geq(1.0));
        }
        for (load, limit) in entering.into_iter().zip(into) {
            self.rows.push(load.leq(limit / unit));
        }
    }
}

/// Returns the best rate that these racks allow; `None` if the search aborts.
fn solve(
    model: &Model<'_>,
    racks: &[&Class],
    most: &[f64],
    equal: bool,
    top: f64,
    seconds: f64,
) -> Option<f64> {
    let unit = top;
    let at =
        |server: NodeIx, rack: &Class| model.arcs_out(rack.source).iter().any(|&(_, next)| next == server);
    // Over a link that is full in one direction a server may only send to the rack.
    let sends = |server: NodeIx, rack: &Class| {
        model.counts_results() && model.arcs_out(server).iter().any(|&(_, next)| next == rack.source)
    };
    let near = |server: NodeIx| racks.iter().any(|rack| at(server, rack) || sends(server, rack));
    let local: Vec<bool> = model.servers.iter().map(|&s| near(s)).collect();
    // Servers elsewhere are interchangeable for these racks: order their rates, under a common limit.
    let elsewhere =
        most.iter().zip(&local).filter(|(_, local)| !**local).map(|(f, _)| *f).fold(0.0, f64::max);
    let most: Vec<f64> = most
        .iter()
        .zip(&local)
        .map(|(&f, &local)| if local { f } else { elsewhere }.min(top) / unit)
        .collect();
    let mut variables = ProblemVariables::new();
    let sending: Vec<Variable> = most.iter().map(|&u| variables.add(variable().min(0.0).max(u))).collect();
    let mut program = Program { variables, rows: Vec::new(), sending, most: &most };
    let total: Expression = program.sending.iter().sum();
    program.rows.push(total.clone().leq(1.0));
    let remote: Vec<Variable> =
        program.sending.iter().zip(&local).filter(|(_, local)| !**local).map(|(&f, _)| f).collect();
    program.rows.extend(remote.windows(2).map(|pair| (pair[0] - pair[1]).geq(0.0)));
    if equal {
        let all = program.sending.clone();
        program.rows.extend(all.windows(2).map(|pair| (pair[0] - pair[1]).eq(0.0)));
    }
    for rack in racks {
        let links = uplinks(model, rack.source);
        let capacity = model.capacity_of(model.own(rack.source));
        let size = rack.workers.len();
        let mut on_link = vec![Expression::default(); links.len()];
        let mut added_up = Expression::default();
        for (s, &server) in model.servers.iter().enumerate() {
            if at(server, rack) {
                continue;
            }
            let (added, added_rate, any) = program.units(s, if capacity > 0.0 { size } else { 0 });
            added_up += added_rate.clone();
            let (mut leaving, mut leaving_rate) = (Expression::default(), Expression::default());
            for (link, &(_, limit)) in on_link.iter_mut().zip(&links) {
                let (count, rate, _) = program.units(s, if limit > 0.0 { size } else { 0 });
                *link += rate.clone();
                leaving += count;
                leaving_rate += rate;
            }
            let one = any.map_or(Expression::default(), Expression::from);
            program.rows.push((leaving + added.clone() - one).geq(size as f64));
            // The same in rates, with the fractional loss that is certain: a sum of n carries at least 1/n of
            // them.
            let kept = (size as f64 - 1.0) / size as f64;
            program.rows.push((leaving_rate + kept * added_rate - size as f64 * program.sending[s]).geq(0.0));
        }
        program.rows.push(added_up.leq(capacity / unit));
        if model.counts_results() {
            program.add_results(model, rack, &mut on_link, unit);
        }
        for (link, (_, limit)) in on_link.into_iter().zip(links) {
            program.rows.push(link.leq(limit / unit));
        }
    }
    let mut problem = program
        .variables
        .maximise(total)
        .using(highs)
        .set_threads(1)
        .set_option("mip_rel_gap", GAP)
        .set_option("mip_max_nodes", NODES);
    if seconds.is_finite() {
        problem = problem.set_time_limit(seconds);
    }
    for row in program.rows {
        problem.add_constraint(row);
    }
    let solution =
        problem.solve().ok().filter(|found| !matches!(found.status(), SolutionStatus::TimeLimit))?;
    Some(program.sending.iter().map(|&f| solution.value(f)).sum::<f64>() * unit)
}
