//! Load of receivers that are drawn at random.

use inart_planner_peers::{Multicast, Pairs, PlanError, Problem, Scheme, SplitMix64, Waits, select};
use inart_topologies::peers::Ports;

/// Returns the probability that a peer receives exactly `receivers` updates, if each other peer chooses this
/// number of receivers at random (Eq. 1).
pub fn balanced(peers: usize, receivers: usize) -> f64 {
    let others = (peers - 1) as f64;
    let part = receivers as f64 / others;
    if receivers == peers - 1 {
        return 1.0;
    }
    // As a sum of logarithms: the binomial coefficient alone does not fit a float for all n.
    let choose: f64 =
        (1..=receivers).map(|at| ((others - receivers as f64 + at as f64) / at as f64).ln()).sum();
    let missing = others - receivers as f64;
    (choose + receivers as f64 * part.ln() + missing * (1.0 - part).ln()).exp()
}

/// Returns the share of peers that receive exactly as many updates as they send, on equal ports.
///
/// # Errors
/// A scheme without a selection.
pub fn share(peers: usize, receivers: usize, scheme: Scheme, seed: u64) -> Result<f64, PlanError> {
    let problem = Problem {
        ports: Ports { up_bps: vec![1.0; peers], down_bps: vec![1.0; peers] },
        bits: vec![1.0; peers],
        receivers,
        required: Pairs::none(peers),
        waited: Waits::none(peers),
        multicast: Multicast::Switch,
    };
    let chosen = select(&problem, scheme, true, &mut SplitMix64::new(seed), "fig1")?;
    let mut received = vec![0usize; peers];
    chosen.iter().for_each(|(_, to)| received[to] += 1);
    Ok(received.iter().filter(|count| **count == receivers).count() as f64 / peers as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a reference computation.
    #[test]
    fn the_probability_falls_and_rises() {
        for (receivers, chance) in [
            (1, 0.36880647963990487),
            (17, 0.10067712678251003),
            (18, 0.09813695128665083),
            (181, 0.09813695128664973),
            (182, 0.10067712678251087),
        ] {
            let is = balanced(200, receivers);
            assert!((is - chance).abs() < 1e-12, "{receivers}: {is}");
        }
        let least = (1..199).map(|p| balanced(200, p)).fold(1.0, f64::min);
        assert!((least - 0.05649023671184538).abs() < 1e-12);
        let low: Vec<usize> = (1..=199).filter(|&p| balanced(200, p) < 0.1).collect();
        assert_eq!((low.first(), low.last(), low.len()), (Some(&18), Some(&181), 164));
        assert_eq!(balanced(200, 199), 1.0);
    }
}
