//! Starts of the scheme `optimized`: group construction, R-InArt's roundings, conditional expectations in
//! place of its draws, and local search, until a proven bound is met or the time is up. Never worse than
//! R-InArt's best, because that is one of its starts.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{expectations, groups};
use crate::choices::Results;
use crate::fractional::{self, Fractional};
use crate::model::{Model, NodeIx};
use crate::options::Options;
use crate::passes;
use crate::phase1;
use crate::placement::{Placement, Rated, equal_shares};
use crate::router::Router;
use crate::schemes::inart::rounding;
use crate::search::Search;
use crate::sharing::Grouping;

/// R-InArt's roundings tried.
const ROUNDINGS: u64 = 30;
/// Sharpness values with which the method of conditional expectations weighs fuller resources; the best one
/// varies.
const SHARPNESS: [i32; 3] = [4, 8, 32];
/// Flows from which on a construction within 2 % of the bound is taken without trying more.
const LARGE: usize = 4000;
/// Flows times arcs up to which every other search makes detours; else every fourth does.
const SMALL: usize = 1500;
/// Search steps per target (those of large jobs take longer, so they get fewer), and consecutive missed
/// targets before a start is abandoned. Steps with detours take longer, so that on large networks there are
/// fewer of them.
const STEPS: usize = 8000;
const DETOURS: usize = 4;
const FLOW_STEPS: usize = 1_600_000;
const MISSES: usize = 3;
/// Steps of the search for capacity for a construction's results, and its target relative to the rate without
/// them.
const ROOM_STEPS: usize = 400;
const ROOM_PARTS: [f64; 2] = [1.0, 0.5];
/// First step from one target to the next.
const STEP: f64 = 0.015;
/// Starts of each kind that are searched from, and searches in all where no time is set.
const FRESH: usize = 2;
pub(super) const CLIMBS: u64 = 8;

/// The best placement so far.
#[derive(Debug, Clone)]
pub(crate) struct Best {
    pub placement: Placement,
    pub rated: Rated,
    /// The shares it was built for, if for any: a direction worth keeping in a search.
    aim: Option<Vec<f64>>,
}

impl Best {
    pub fn new(placement: Placement, rated: Rated) -> Self {
        Best { placement, rated, aim: None }
    }
}

/// Returns the shares that plans must have, if these are not chosen: those to be kept, or `equal` ones.
fn fixed_shares(model: &Model<'_>, equal: bool) -> Option<Vec<f64>> {
    model.kept.clone().or_else(|| equal.then(|| equal_shares(model.servers.len())))
}

/// Rates a placement: best shares, equal ones, or those to be kept.
pub(crate) fn rate(router: &Router<'_>, placement: &Placement, equal: bool) -> Rated {
    let counts = placement.counts(router.model);
    match fixed_shares(router.model, equal) {
        Some(shares) => Rated { rate: counts.rate(router.model, &shares, |_| true), shares },
        None => counts.best_shares(router.model),
    }
}

/// Returns whether a search may transfer rates from one server to another.
pub(crate) fn are_free(model: &Model<'_>, equal: bool) -> bool {
    !equal && model.kept.is_none()
}

/// Repairs a placement so that switches can distinguish all passes, and rates it.
pub(crate) fn clear(router: &Router<'_>, placement: Placement, equal: bool) -> Best {
    let rated = rate(router, &placement, equal);
    if !router.detours() {
        return Best::new(placement, rated);
    }
    match passes::untangled(router, &placement, &rated.shares) {
        None => Best::new(placement, rated),
        Some(repaired) => {
            let rated = rate(router, &repaired, equal);
            Best::new(repaired, rated)
        }
    }
}

/// Group constructions that need no LP, at the rates F_s that whole groups allow and at those of phase 1,
/// their sum at most `bound`; the best first. Ends early if one meets it.
pub(crate) fn constructed(router: &Router<'_>, equal: bool, bound: f64, parts: &[f64]) -> Vec<Best> {
    let model = router.model;
    let fixed = fixed_shares(model, equal);
    let phase1 = || phase1::split(model, fixed.as_deref()).sending;
    let mut built: Vec<Best> = Vec::new();
    let grouped = if model.kept.is_some() { None } else { Some(groups::sending(model, equal)) };
    for sending in grouped.into_iter().chain(std::iter::once_with(phase1)) {
        for &part in parts {
            let new = construct(router, &sending, equal, bound, part);
            if met(&new, bound) {
                return vec![new];
            }
            built.push(new);
        }
    }
    built.sort_by(|a, b| b.rated.rate.total_cmp(&a.rated.rate));
    built
}

fn construct(router: &Router<'_>, sending: &[f64], equal: bool, bound: f64, part: f64) -> Best {
    let total: f64 = sending.iter().sum();
    let shares: Vec<f64> = sending.iter().map(|f| f / total).collect();
    let sending: Vec<f64> = shares.iter().map(|x| x * total.min(bound) * part).collect();
    let ends = groups::construct(router, &sending);
    built(router, &ends, shares, equal, bound)
}

/// The placement of flows that end at `ends`, built for these shares.
fn built(router: &Router<'_>, ends: &[Vec<NodeIx>], shares: Vec<f64>, equal: bool, bound: f64) -> Best {
    let built = clear(router, router.place_weighted(ends, &shares), equal);
    let best = if met(&built, bound) { built } else { make_room_for_results(router, built, equal, bound) };
    Best { aim: Some(shares), ..best }
}

/// Improves a placement that results make slower, by a short search for capacity for them.
fn make_room_for_results(router: &Router<'_>, mut best: Best, equal: bool, bound: f64) -> Best {
    let model = router.model;
    if model.results == Results::Ignored {
        return best;
    }
    let without = rate(router, &Placement { results: Vec::new(), ..best.placement.clone() }, equal);
    let flows = model.workers.len() * model.servers.len();
    for part in ROOM_PARTS {
        let (low, high) = (best.rated.rate, without.rate.min(bound));
        if high <= low * (1.0 + 1e-9) {
            break;
        }
        let rate = low + part * (high - low);
        let sending = without.shares.iter().map(|x| x * rate).collect();
        let mut search = Search::new(
            router,
            &best.placement,
            sending,
            are_free(model, equal),
            ChaCha8Rng::seed_from_u64(0),
        );
        if search.run(ROOM_STEPS.min(FLOW_STEPS / flows), &|| false) {
            let found = clear(router, search.placement(), equal);
            if found.rated.rate > low {
                best = found;
            }
            break;
        }
    }
    best
}

/// The construction for rates and shared switches that were found to be the best where links are out of the
/// account.
pub(crate) fn shared(router: &Router<'_>, grouping: &Grouping) -> Best {
    let total: f64 = grouping.sending.iter().sum();
    let shares: Vec<f64> = grouping.sending.iter().map(|f| f / total).collect();
    let ends = groups::construct_around(router, &grouping.sending, &grouping.shared);
    built(router, &ends, shares, false, total)
}

/// Placements to start from, the best first; ends early if one meets `bound`. R-InArt's roundings of
/// `fractional` (absent if the time did not suffice) are among them, those of seeds from 0 and from the seed
/// of `options` on.
pub(crate) fn starts(
    router: &Router<'_>,
    options: &Options<'_>,
    fractional: Option<&Fractional>,
    bound: f64,
) -> Vec<Best> {
    let equal = options.equal_shares;
    let model = router.model;
    let direct: Vec<Vec<u32>> = model.servers.iter().map(|&s| vec![s; model.workers.len()]).collect();
    let flows = model.workers.len() * model.servers.len();
    let mut starts: Vec<Best> = Vec::new();
    let add = |placement: Placement, starts: &mut Vec<Best>| starts.push(clear(router, placement, equal));
    add(router.place(&direct), &mut starts);
    let near_bound = groups::sending(model, equal);
    for sending in std::iter::once(&near_bound).chain(fractional.map(|solution| &solution.sending)) {
        for slack in [1.0, 0.9, 0.75, 0.6] {
            let built = construct(router, sending, equal, bound, slack);
            let near = if flows > LARGE { 0.98 } else { 1.0 - 1e-9 };
            if built.rated.rate >= near * bound {
                return vec![built];
            }
            starts.push(built);
        }
    }
    if router.detours() {
        let wide = router.widest();
        add(wide.place(&direct), &mut starts);
        starts.extend([1.0, 0.75].map(|slack| construct(wide, &near_bound, equal, bound, slack)));
    }
    // Constructions near the bound are out of any rounding's reach.
    if flows > LARGE && starts.iter().any(|start| start.rated.rate >= 0.9 * bound) {
        starts.sort_by(|a, b| b.rated.rate.total_cmp(&a.rated.rate));
        return starts;
    }
    let (solution, fixed) = (fractional.cloned(), equal.then(|| equal_shares(model.servers.len())));
    let solution = solution.unwrap_or_else(|| fractional::guess(model, fixed.as_deref()));
    let shares: Vec<f64> = solution.sending.iter().map(|f| f / solution.rate).collect();
    for sharpness in SHARPNESS.into_iter().take_while(|_| !options.out_of_time()) {
        add(router.place_weighted(&expectations::decide(router, &solution, sharpness), &shares), &mut starts);
    }
    if let Some(fractional) = fractional {
        for seed in (0..ROUNDINGS + 2).chain(options.seed..options.seed.saturating_add(ROUNDINGS)) {
            add(rounding::with_seed(router, fractional, seed), &mut starts);
        }
    }
    starts.sort_by(|a, b| b.rated.rate.total_cmp(&a.rated.rate));
    starts
}

/// Returns whether it reaches the bound, up to rounding errors.
pub(crate) fn met(best: &Best, bound: f64) -> bool {
    best.rated.rate >= bound * (1.0 - 1e-9)
}

/// Local search from the best starts, each in the direction it was built for or of its best shares, then
/// again and again from the best placement; until `bound` is met or the time is up (without a limit, for
/// `CLIMBS`).
pub(crate) fn improve(router: &Router<'_>, options: &Options<'_>, starts: Vec<Best>, bound: f64) -> Best {
    let climbs = match (options.time_left)().is_finite() {
        true => u64::MAX,
        false if router.detours() && is_small(router) => 2 * CLIMBS,
        false => CLIMBS,
    };
    improve_in(climbs, router, options, starts, bound)
}

/// Improves like [`improve`], with a limited number of climbs, independent of the time.
pub(crate) fn improve_in(
    climbs: u64,
    router: &Router<'_>,
    options: &Options<'_>,
    starts: Vec<Best>,
    bound: f64,
) -> Best {
    let mut best = starts[0].clone();
    let model = router.model;
    if model.workers.len() * model.servers.len() > LARGE {
        return best;
    }
    let built = starts.iter().filter(|start| start.aim.is_some()).take(FRESH);
    let mut fresh = built.chain(starts.iter().filter(|start| start.aim.is_none()).take(FRESH));
    for n in 0..climbs {
        if met(&best, bound) || options.out_of_time() {
            break;
        }
        let rng = ChaCha8Rng::seed_from_u64(options.seed.wrapping_add(n));
        let detours = if is_small(router) { n % 2 == 0 } else { n % 4 == 3 };
        let router = if detours { router.widest() } else { router };
        let found = match fresh.next() {
            Some(start) => climb(router, options, start, best.rated.rate, bound, rng),
            None => climb(router, options, &best, best.rated.rate, bound, rng),
        };
        if found.rated.rate > best.rated.rate {
            best = found;
        }
    }
    best
}

/// Returns whether steps of the search are quick, with detours or without.
fn is_small(router: &Router<'_>) -> bool {
    let model = router.model;
    model.workers.len() * model.servers.len() * model.arcs() <= SMALL
}

/// Raises the target as long as the search reaches it; in smaller steps once it does not.
fn climb(
    router: &Router<'_>,
    options: &Options<'_>,
    start: &Best,
    at_least: f64,
    bound: f64,
    rng: ChaCha8Rng,
) -> Best {
    let mut best = start.clone();
    let (mut step, mut misses) = (STEP, 0);
    let goal = |best: &Best, step: f64| -> Vec<f64> {
        let rate = (best.rated.rate.max(at_least) * (1.0 + step)).min(bound);
        let shares = best.aim.as_ref().unwrap_or(&best.rated.shares);
        shares.iter().map(|x| x * rate).collect()
    };
    let flows = router.model.workers.len() * router.model.servers.len();
    let fewer = if router.makes_detours() && !is_small(router) { DETOURS } else { 1 };
    let steps = STEPS.min(FLOW_STEPS / flows) / fewer;
    let free = are_free(router.model, options.equal_shares);
    let mut search = Search::new(router, &best.placement, goal(&best, step), free, rng);
    while misses < MISSES && !met(&best, bound) && !options.out_of_time() {
        let risen = search
            .run(steps, &|| options.out_of_time())
            .then(|| clear(router, search.placement(), options.equal_shares))
            .filter(|found| found.rated.rate > best.rated.rate);
        if let Some(risen) = risen {
            best = risen;
            misses = 0;
        } else {
            misses += 1;
            step = (step * 0.5_f64).max(0.002);
        }
        search.seek(goal(&best, step));
    }
    best
}
