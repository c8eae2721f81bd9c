//! Trials with jobs that are parts of a larger one, drawn apart.

use inart_topologies::faults::Faults;
use inart_topologies::faults::quantity::Span;
use inart_topologies::switched::{Job, Topology};
use rand::Rng;

use super::more::{PEER_TIMEOUT, span, stream};
use crate::onward::Onward;
use crate::options::Options;

/// Longest time that sums spend in the larger job, in a trial.
const LONGEST: Span = Span(30_000_000_000);
/// Longest time with background traffic or with an observer.
const LONGEST_WATCHED: Span = Span(200_000_000);

/// Turns some trials into trials of jobs that forward their sums; in some of them the larger job is aborted.
pub(super) fn hand_on(options: &mut Options, faults: &Faults, topology: &Topology, window: u32, seed: u64) {
    let mut rng = stream(seed, 14);
    if !rng.random_bool(0.25) || options.live.is_some() {
        return;
    }
    let is_part = |_: &&Job| rng.random_bool(0.8);
    let jobs: Vec<_> = topology.jobs().iter().filter(is_part).map(|job| job.name.clone()).collect();
    if jobs.is_empty() {
        return;
    }
    let is_watched = !faults.background.is_empty() || !options.others.is_empty() || options.watch.is_some();
    let longest = if is_watched { LONGEST_WATCHED } else { LONGEST };
    let rounds = u64::from(options.rounds * options.runs);
    // A gradient cut into tensors needs up to one more frame per tensor.
    let frames = (options.gradient_values as u64).div_ceil(2) + u64::from(options.tensors);
    let waits = rounds * (1 + frames / u64::from(window));
    let most = Span((longest.0 / waits).min(3 * PEER_TIMEOUT.as_nanos() as u64));
    let within = if rng.random_bool(0.3) { most } else { span(&mut rng, Span(1_000), most) };
    let ends = (options.runs == 1 && rng.random_bool(0.2))
        .then(|| span(&mut rng, Span(10_000), Span(within.0.saturating_mul(waits) + 5_000_000)));
    options.onward = Some(Onward { jobs, others: rng.random_range(1..=3), within, ends });
}
