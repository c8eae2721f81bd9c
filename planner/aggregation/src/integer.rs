//! Use of the integer program ([`program`]) for a known plan: finds a better one, or proves that none exists.

use crate::options::Options;
use crate::passes;
use crate::placement::Placement;
use crate::plan::Bounds;
use crate::router::Router;
use crate::schemes::optimal::program::{self, Answer, Effort, SAME};
use crate::schemes::optimized::starts::{self, Best};

/// Effort of a proof for the scheme `optimized`.
const PROOF: Effort = Effort { binaries: 120, nodes: 2000 };
/// Relative search margin of the integer program below the best known rate: enough to find that plan again.
pub(crate) const SLACK: f64 = 1e-4;

/// Asks the integer program for the best plan, where that is quick; whether the first of the `starts` is then
/// proven to be it.
pub(crate) fn settle(
    router: &Router<'_>,
    options: &Options<'_>,
    starts: &mut Vec<Best>,
    bounds: &mut Bounds,
) -> bool {
    if starts::met(&starts[0], bounds.integral_bps) || options.out_of_time() {
        return false;
    }
    let Some((found, most)) = ask(router.widest(), options, &starts[0]) else { return false };
    if found.rated.rate > starts[0].rated.rate {
        starts.insert(0, found);
    }
    let Some(most) = most else { return false };
    bounds.integral_bps = bounds.integral_bps.min(most.max(starts[0].rated.rate));
    true
}

/// Returns the best plan over a router's paths by the integer program, or `best` if it finds no better one;
/// and a bound that no plan over those paths exceeds (bit/s), if proven. `None` if the program aborts, or
/// finds no plan as good as `best`.
pub(crate) fn ask(router: &Router<'_>, options: &Options<'_>, best: &Best) -> Option<(Best, Option<f64>)> {
    let (equal, known) = (options.equal_shares, best.rated.rate);
    let at_least = known * (1.0 - SLACK);
    let asked = |clear: bool| program::solve(router, equal, at_least, clear, PROOF, options.time_left);
    let Answer::Best { placement, proven } = asked(false) else { return None };
    let most = proven_rate(router, &placement, equal, (known, proven));
    // Rounding errors of the solver may cost a little; the known plan is then kept.
    let better = |found: Best| if found.rated.rate > known { found } else { best.clone() };
    let is_clear = passes::are_clear(router.model, &placement);
    let repaired = better(starts::clear(router, placement, equal));
    if is_clear || most.is_some_and(|most| most <= repaired.rated.rate) {
        return Some((repaired, most));
    }
    Some((distinguishable(router, asked(true), equal, repaired), most))
}

/// Returns the rate of the program's best placement, if it is proven that no rate is above it, and the plan
/// of rate `known` does not refute that.
pub(crate) fn proven_rate(
    router: &Router<'_>,
    placement: &Placement,
    equal: bool,
    (known, proven): (f64, bool),
) -> Option<f64> {
    let rate = starts::rate(router, placement, equal).rate;
    (proven && rate >= known * (1.0 - SAME)).then_some(rate.max(known))
}

/// Returns the better one of a plan and the program's answer over plans whose passes switches can
/// distinguish.
pub(crate) fn distinguishable(router: &Router<'_>, answer: Answer, equal: bool, repaired: Best) -> Best {
    let Answer::Best { placement, .. } = answer else { return repaired };
    let found = starts::clear(router, placement, equal);
    if found.rated.rate > repaired.rated.rate { found } else { repaired }
}
