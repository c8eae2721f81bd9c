//! Beyond the InArt paper: a gradient may be aggregated twice. The sum of one switch is sent to a second one,
//! which adds it to others like the gradient of a single worker.
//!
//! In the terms of Eq. (1), a trunk that ends at switch u loads C(u) and the links to u with F_s instead of
//! the server, and the server receives one unit per trunk that ends at it. So a plan's rate, and the best
//! shares of a placement, follow from the counts n(s, r) as for one level. The number of useful switches per
//! gradient changes: with one level a server receives at least W / floor(C / F_s) units, with two W / floor(C
//! / F_s)^2.

mod bound;
mod construct;
mod results;
mod tree;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) use bound::bound;

use crate::model::Model;
use crate::options::Options;
use crate::passes;
use crate::placement::{Placement, Rated};
use crate::router::Router;
use crate::schemes::atp;
use crate::schemes::optimized::starts;
use tree::Tree;

/// Search steps per target, for jobs of up to `FLOWS` flows (larger ones get fewer), and consecutive missed
/// targets before a start is abandoned.
const STEPS: usize = 3000;
const FLOWS: usize = 200;
const MISSES: usize = 4;
/// Searches from the best placement, after those from every start.
const AGAIN: u64 = 4;
/// Flows from which on constructions are not searched any more.
const LARGE: usize = 4000;
/// Parts of the rates that the switches' capacities allow which are tried: links may allow less.
const PARTS: [f64; 5] = [1.0, 0.95, 0.85, 0.7, 0.55];

/// A placement and its rating.
type Rating = (Placement, Rated);

/// Start of a search, and the shares to keep meanwhile, if any.
struct Start<'r, 'm> {
    tree: Tree<'r, 'm>,
    rated: Rated,
    aim: Option<Vec<f64>>,
}

/// The best placement of at most two levels that is found from `best` (of one level) and from constructions;
/// never worse than `best`. Stops at `bound`, or when the time is up.
pub(crate) fn improve(router: &Router<'_>, options: &Options<'_>, best: Rating, bound: f64) -> Rating {
    let mut best = best;
    let mut starts = starts(router, options, &best, bound);
    starts.sort_by(|a, b| b.rated.rate.total_cmp(&a.rated.rate));
    for (n, start) in starts.into_iter().enumerate() {
        if start.rated.rate > best.1.rate
            && let Some(placement) =
                passes::apart(router, options, start.tree.placement(), &start.rated.shares)
        {
            let rated = starts::rate(router, &placement, options.equal_shares);
            if rated.rate > best.1.rate {
                best = (placement, rated);
            }
        }
        if met(&best.1, bound) || options.out_of_time() {
            break;
        }
        if flows(router.model) <= LARGE {
            let rng = ChaCha8Rng::seed_from_u64(options.seed.wrapping_add(n as u64));
            best = climb(router, options, start, best, bound, rng);
        }
    }
    for n in 0..if flows(router.model) <= LARGE { AGAIN } else { 0 } {
        if met(&best.1, bound) || options.out_of_time() {
            break;
        }
        let sending = best.1.shares.iter().map(|x| x * best.1.rate).collect();
        let start = Start { tree: Tree::new(router, &best.0, sending), rated: best.1.clone(), aim: None };
        let rng = ChaCha8Rng::seed_from_u64(options.seed.wrapping_sub(1 + n));
        // Every other time with detours.
        let router = if n % 2 == 0 { router.widest() } else { router };
        best = climb(router, options, start, best, bound, rng);
    }
    best
}

fn met(rated: &Rated, bound: f64) -> bool {
    rated.rate >= bound * (1.0 - 1e-9)
}

fn starts<'r, 'm>(
    router: &'r Router<'m>,
    options: &Options<'_>,
    best: &Rating,
    bound: f64,
) -> Vec<Start<'r, 'm>> {
    let equal = options.equal_shares;
    let mut starts = Vec::new();
    let mut add = |tree: Tree<'r, 'm>, aim: Option<Vec<f64>>| {
        let rated = starts::rate(router, &tree.placement(), equal);
        starts.push(Start { tree, rated, aim });
    };
    let ideal = construct::sending(router.model, equal);
    let total: f64 = ideal.iter().sum();
    let shares: Vec<f64> = ideal.iter().map(|f| f / total).collect();
    for part in PARTS {
        let rate = total.min(bound) * part;
        let sending: Vec<f64> = shares.iter().map(|x| x * rate).collect();
        add(construct::tree(router, &sending), Some(shares.clone()));
    }
    let at = |rated: &Rated| -> Vec<f64> { rated.shares.iter().map(|x| x * rated.rate).collect() };
    add(Tree::new(router, &best.0, at(&best.1)), None);
    let atp = atp::place(router, false);
    let rated = starts::rate(router, &atp, equal);
    add(Tree::new(router, &atp, at(&rated)), None);
    starts
}

/// Raises the target as long as the search reaches it; in smaller steps once it does not.
fn climb(
    router: &Router<'_>,
    options: &Options<'_>,
    start: Start<'_, '_>,
    mut best: Rating,
    bound: f64,
    mut rng: ChaCha8Rng,
) -> Rating {
    let Start { mut tree, mut rated, aim } = start;
    let steps = STEPS.min(STEPS * FLOWS / flows(router.model));
    let (mut step, mut misses) = (0.04, 0);
    while misses < MISSES && !met(&best.1, bound) && !options.out_of_time() {
        let rate = (rated.rate.max(best.1.rate) * (1.0 + step)).min(bound);
        tree.seek(aim.as_ref().unwrap_or(&rated.shares).iter().map(|x| x * rate).collect());
        if tree.run(steps, &mut rng, &|| options.out_of_time()) {
            let placement = tree.placement();
            rated = starts::rate(router, &placement, options.equal_shares);
            if rated.rate > best.1.rate
                && let Some(apart) = passes::apart(router, options, placement.clone(), &rated.shares)
            {
                if apart != placement {
                    rated = starts::rate(router, &apart, options.equal_shares);
                    tree = Tree::new(
                        router,
                        &apart,
                        Vec::from_iter(rated.shares.iter().map(|x| x * rated.rate)),
                    );
                }
                if rated.rate > best.1.rate {
                    best = (apart, rated.clone());
                    misses = 0;
                    continue;
                }
            }
        }
        misses += 1;
        step = (step * 0.5_f64).max(0.002);
    }
    best
}

fn flows(model: &Model<'_>) -> usize {
    model.workers.len() * model.servers.len()
}
