//! Construction: rates F_s that the switches' capacities allow, groups of floor(C / F_s) workers at separate
//! nearby switches, then groups of such sums (and of remaining workers) at further switches.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::tree::Tree;
use crate::bounds::whole;
use crate::model::Model;
use crate::router::Router;
use crate::routes::FAR;
use crate::schemes::optimized::groups::share_out;

/// Returns the rates F_s with the largest sum for which every server has enough separate switches, all
/// switches counted as equal to the median one.
pub(super) fn sending(model: &Model<'_>, equal: bool) -> Vec<f64> {
    let mut capacities: Vec<f64> =
        model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
    capacities.sort_by(f64::total_cmp);
    let capacity = capacities.get(capacities.len() / 2).copied().unwrap_or(0.0);
    let choices: Vec<Vec<(usize, f64)>> = model
        .servers
        .iter()
        .map(|&server| steps(model, model.intake_bps(server), capacity, capacities.len()))
        .collect();
    share_out(&choices, capacities.len(), equal)
}

/// Returns for every useful number of switches (0 first) the best rate of one server: (switches, F). A switch
/// that aggregates floor(C / F) units removes floor(C / F) - 1 from the server's intake.
fn steps(model: &Model<'_>, intake: f64, capacity: f64, switches: usize) -> Vec<(usize, f64)> {
    let workers = model.workers.len();
    let top = model.min_uplink_bps().min(intake);
    let mut steps: Vec<(usize, f64)> = vec![(0, (intake / workers as f64).min(top))];
    let limits = (1..=workers).flat_map(|n| [capacity / n as f64, intake / n as f64]);
    for rate in limits.chain([top]).filter(|&rate| rate > 0.0 && rate <= top) {
        let (received, size) = (whole(intake, rate) as usize, whole(capacity, rate) as usize);
        let excess = workers.saturating_sub(received);
        // After groups of workers, and groups of the rest, no further aggregation is possible.
        let once = if size < 2 { workers } else { workers / size + workers % size };
        if size >= 2 && received >= once.div_ceil(size) && excess.div_ceil(size - 1) <= switches {
            steps.push((excess.div_ceil(size - 1), rate));
        }
    }
    steps.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut most = 0.0;
    steps.retain(|&(_, rate)| {
        let gains = rate > most;
        most = rate.max(most);
        gains
    });
    steps
}

/// Units of a shard's tree that can still be aggregated.
struct Loose {
    workers: Vec<usize>,
    /// Switches that aggregate workers only.
    sums: Vec<usize>,
    /// Number of units that the server still has to lose.
    excess: usize,
    /// Switches in use, as positions in the model's aggregators.
    used: Vec<usize>,
}

/// A placement for rates F_s: groups as large as their switch allows, as few as the server needs, the rest
/// direct.
pub(super) fn tree<'r, 'm>(router: &'r Router<'m>, sending: &[f64]) -> Tree<'r, 'm> {
    let model = router.model;
    // The only random choice here is between two equal paths.
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut tree = Tree::empty(router, sending.to_vec());
    let mut room: Vec<f64> = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
    let workers = model.workers.len();
    let mut loose: Vec<Loose> = Vec::new();
    for (s, &server) in model.servers.iter().enumerate() {
        (0..workers).for_each(|w| tree.send(s, w, server, &mut rng));
        let excess = workers.saturating_sub(whole(model.intake_bps(server), sending[s]) as usize);
        loose.push(Loose { workers: (0..workers).collect(), sums: Vec::new(), excess, used: Vec::new() });
    }
    // The neediest server picks next, so scarce switches are shared out evenly.
    while let Some(s) = (0..sending.len()).filter(|&s| loose[s].excess > 0).max_by_key(|&s| loose[s].excess) {
        let first = nearest(&tree, router, sending[s], s, &loose[s], &room, false);
        let of_server = &mut loose[s];
        // A group of few workers wastes a switch that sums could join.
        let full = first.as_ref().is_some_and(|(at, units)| {
            units.len() > of_server.excess || units.len() == whole(room[*at], sending[s]) as usize
        });
        let found = if full { first } else { nearest(&tree, router, sending[s], s, of_server, &room, true) };
        let Some((at, units)) = found else {
            of_server.excess = 0;
            continue;
        };
        room[at] -= units.len() as f64 * sending[s];
        of_server.excess = of_server.excess.saturating_sub(units.len() - 1);
        tree.add_up(s, model.aggregators[at], &units, &mut rng);
        of_server.workers.retain(|unit| !units.contains(unit));
        of_server.sums.retain(|unit| !units.contains(unit));
        of_server.used.push(at);
        if units.iter().all(|&unit| unit < workers) {
            of_server.sums.push(workers + at);
        }
    }
    tree.grow_results();
    tree
}

/// Returns the largest group that any switch can still aggregate, at the switch with the fewest hops to it
/// and to the server. `sums`: of sums as well as workers.
fn nearest(
    tree: &Tree<'_, '_>,
    router: &Router<'_>,
    sending: f64,
    s: usize,
    loose: &Loose,
    room: &[f64],
    sums: bool,
) -> Option<(usize, Vec<usize>)> {
    let server = router.model.servers[s];
    let pool = || loose.workers.iter().chain(loose.sums.iter().filter(|_| sums)).copied();
    let most = pool().count().min(loose.excess + 1);
    let mut best: Option<(u32, usize, Vec<usize>)> = None;
    for (at, &v) in router.model.aggregators.iter().enumerate() {
        let size = (whole(room[at], sending) as usize).min(most);
        let behind = best.as_ref().is_some_and(|(_, _, units)| units.len() > size);
        if size < 2 || behind || loose.used.contains(&at) || router.routes.hops(v, server) == FAR {
            continue;
        }
        let hops = router.routes.hops_to(v);
        let mut near: Vec<(u16, usize)> =
            pool().map(|unit| (hops[tree.source(unit) as usize], unit)).collect();
        near.select_nth_unstable(size - 1);
        near.truncate(size);
        if near.iter().any(|&(hops, _)| hops == FAR) {
            continue;
        }
        let onward = u32::from(router.routes.hops(v, server));
        let total = near.iter().map(|&(h, _)| u32::from(h)).sum::<u32>() + onward;
        if best.as_ref().is_none_or(|(least, _, units)| size > units.len() || total < *least) {
            best = Some((total, at, near.into_iter().map(|(_, unit)| unit).collect()));
        }
    }
    best.map(|(_, at, units)| (at, units))
}
