//! Check of a stated lower bound on the time of a round, for the checker; the arithmetic is independent of
//! the planner's ([`crate::check()`]).
//!
//! Each site v gets a time y(v): data sent before y(v) from v does not count as known to others. Between a
//! site a with y = 0 and a site b with y = t, a direction (u, v) of rate r and delay d carries over from
//! before to after for at most y(v) - y(u) - d seconds. If the sum of r (y(v) - y(u) - d), where positive, is
//! below a gradient's bits, the sum is not known at b at t. The largest such t is a linear program.

use highs::{HighsModelStatus, RowProblem, Sense};

use inart_topologies::sites::{Overlay, SiteId};

/// Maximum number of sites for the check: with more, no bound is refused.
const MOST_SITES: usize = 16;

/// Whether some pair of these sites proves that no round of `bits` takes less than `seconds`, on the rates at
/// the start. True for too many sites.
pub(crate) fn exists(overlay: &Overlay, sites: &[SiteId], bits: f64, seconds: f64) -> bool {
    if !seconds.is_finite() {
        return false;
    }
    if seconds <= 0.0 || sites.len() > MOST_SITES {
        return true;
    }
    if seconds > one_after_another(overlay, sites, bits) {
        return false;
    }
    let mut pairs = sites.iter().flat_map(|&from| sites.iter().map(move |&to| (from, to)));
    pairs.any(|(from, to)| from != to && proves(overlay, sites, (from, to), bits, seconds))
}

/// Returns the seconds of a round that uses every direction between these sites once, in sequence. No lower
/// bound exceeds them. They also keep the program's coefficients in a range that the solver accepts, whatever
/// number a plan states.
fn one_after_another(overlay: &Overlay, sites: &[SiteId], bits: f64) -> f64 {
    let rates = overlay.rates_at(0.0);
    let between = overlay.arcs().filter(|&arc| {
        let (tail, head) = overlay.ends(arc);
        sites.contains(&tail) && sites.contains(&head)
    });
    between.map(|arc| bits / rates.of(arc) + overlay.delay_seconds(arc)).sum()
}

/// Whether one pair proves the bound. Times are in units of `seconds`, so that the solver's tolerances are
/// relative.
fn proves(
    overlay: &Overlay,
    sites: &[SiteId],
    (from, to): (SiteId, SiteId),
    bits: f64,
    seconds: f64,
) -> bool {
    const TOLERANCE: f64 = 1e-7;
    let rates = overlay.rates_at(0.0);
    let mut program = RowProblem::new();
    let mut times = vec![None; overlay.sites().len()];
    for &site in sites {
        // More than twice the required time is not needed.
        let most = if site == from { 0.0 } else { 2.0 };
        let worth = if site == to { 1.0 } else { 0.0 };
        times[site.index()] = Some(program.add_column(worth, 0.0..=most));
    }
    let mut carried = Vec::new();
    for arc in overlay.arcs() {
        let (tail, head) = overlay.ends(arc);
        let (Some(before), Some(after)) = (times[tail.index()], times[head.index()]) else { continue };
        let open = program.add_column(0.0, 0.0..);
        let delay = overlay.delay_seconds(arc) / seconds;
        program.add_row(..=delay, [(after, 1.0), (before, -1.0), (open, -1.0)]);
        carried.push((open, rates.of(arc) * seconds / bits));
    }
    program.add_row(..=1.0, carried);
    // If the solver gives no answer, the plan is not refused.
    let Ok(mut model) = program.try_optimise(Sense::Maximise) else { return true };
    model.make_quiet();
    model.set_threads(1.try_into().expect("1 is not 0"));
    let Ok(solved) = model.try_solve() else { return true };
    solved.status() != HighsModelStatus::Optimal || solved.objective_value() >= 1.0 - TOLERANCE
}
