//! Cost of loss.

use std::time::Duration;

use super::network::{Fate, Network, assignment};
use super::{gradients, run_round};

/// Each frame is lost on each link with this probability, by a generator with this seed.
pub fn lossy(loss: f64, seed: u64) -> Fate {
    let mut state = seed;
    Box::new(move |_| {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let roll = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        if roll < loss { vec![] } else { vec![Duration::ZERO] }
    })
}

/// Returns the duration in seconds of a round of 3000 chunks and their maxima.
fn seconds(workers: usize, aggregated: u64, window: u32, loss: f64) -> f64 {
    let len = 32 * 3000;
    let job = assignment(workers, &[1.0], window);
    let mut network = Network::new(job, aggregated, lossy(loss, 1));
    let start = network.now;
    run_round(&mut network, &gradients(workers, 0, len));
    network.now.since(start).as_secs_f64()
}

/// A chunk is delayed when any worker's frame of it is lost; still goodput falls little.
#[test]
fn one_percent_of_loss_costs_less_than_fifteen_percent_of_goodput() {
    for (workers, aggregated, window) in [(2, 0b11, 32), (4, 0b0011, 64), (8, 0xff, 64)] {
        let kept = seconds(workers, aggregated, window, 0.0) / seconds(workers, aggregated, window, 0.01);
        assert!(kept > 0.85, "{workers} workers, window {window}: {kept:.3} of the lossless goodput");
    }
}

/// Neither random loss nor waiting for peers may count as a full queue, at any loss.
#[test]
fn heavy_loss_lowers_no_rate() {
    let len = 32 * 3000;
    let job = assignment(8, &[1.0], 32);
    let mut network = Network::new(job, 0x0f, lossy(0.05, 1));
    run_round(&mut network, &gradients(8, 0, len));
    for worker in &network.workers {
        let flow = &worker.status(network.now).shards[0];
        assert_eq!(flow.rate_bps, flow.planned_rate_bps);
    }
}
