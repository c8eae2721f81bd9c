//! Gradients of different lengths: never summed, and the one that is odd is named everywhere.

use std::time::Duration;

use inart_protocol_aggregation::{Failure, Instant};
use inart_wire::AbortReason;

use super::network::{Network, assignment, kind_fate};
use super::trouble::{FaultRates, fate_in, rank};
use super::{gradient, gradients, run_round, run_rounds};

/// Checks that every host learns at once that the worker of that rank has `seen` values instead of
/// `expected`.
fn check_blame(network: &mut Network, gradients: &[Vec<f32>], culprit: usize, [seen, expected]: [usize; 2]) {
    let start = network.now;
    let reason = AbortReason::Mismatch { seen: seen as u32, expected: expected as u32 };
    let name = format!("w{}", culprit + 1);
    for result in network.all_reduce(gradients) {
        assert_eq!(result, Err(Failure::Aborted { culprit: rank(culprit), name: name.clone(), reason }));
    }
    assert!(network.now.since(start) < Duration::from_secs(1), "at once, not by the peer timeout");
    for server in &network.servers {
        assert_eq!(server.aborted(), Some((reason, rank(culprit))));
    }
}

/// Pairs of one worker's length and that of the others: equally many chunks, one chunk more or less, a shard
/// without chunks, no chunk.
const LENGTHS: [(usize, usize); 10] = [
    (490, 500),
    (300, 700),
    (64, 96),
    (96, 64),
    (1, 500),
    (500, 1),
    (0, 500),
    (500, 0),
    // One is exact, the other is not.
    (256, 257),
    (257, 256),
];

#[test]
fn everybody_learns_that_lengths_differ() {
    for workers in [2, 3, 6] {
        for odd in [0, workers - 1] {
            for (len, others) in LENGTHS {
                for (shares, aggregated) in
                    [(&[1.0][..], 0), (&[1.0], (1 << workers) - 1), (&[0.5, 0.5], 0b11), (&[0.5, 0.5], 0)]
                {
                    let mut network = Network::new(assignment(workers, shares, 4), aggregated, kind_fate());
                    let length = |rank| if rank == odd { len } else { others };
                    let gradients: Vec<_> =
                        (0..workers).map(|rank| gradient(rank, 0, length(rank))).collect();
                    // With two workers no length is odd: the first counts as right.
                    let (culprit, right) = if workers == 2 { (1, 0) } else { (odd, 1 - odd.min(1)) };
                    check_blame(&mut network, &gradients, culprit, [length(culprit), length(right)]);
                }
            }
        }
    }
}

/// Later tensors may have other lengths, but equal ones at all workers.
#[test]
fn all_hosts_learn_which_later_tensor_has_another_length() {
    for (len, others) in LENGTHS {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b011, kind_fate());
        run_round(&mut network, &gradients(3, 0, 500));
        let lengths = [others, len, others];
        let gradients: Vec<_> = (0..3).map(|rank| gradient(rank, 1, lengths[rank])).collect();
        check_blame(&mut network, &gradients, 1, [len, others]);
    }
}

#[test]
fn gradients_without_values_at_everybody_are_a_job() {
    for workers in [1, 3] {
        let job = assignment(workers, &[0.5, 0.5], 4);
        for len in [0, 1] {
            run_rounds(&mut Network::new(job.clone(), 0b11, kind_fate()), len);
        }
    }
}

#[test]
fn a_round_without_values_waits_for_late_workers() {
    let mut network = Network::new(assignment(3, &[1.0], 4), 0, kind_fate());
    network.late_start = Some((2, Duration::from_secs(60)));
    for result in network.all_reduce(&[vec![], vec![], vec![]]) {
        assert_eq!(result, Ok(vec![]));
    }
    assert!(network.now.since(Instant::START) >= Duration::from_secs(60));
}

/// Workers that wait for a worker's length wait no longer than for its chunks.
#[test]
fn a_round_without_values_ends_when_a_worker_fails() {
    let mut network = Network::new(assignment(3, &[1.0], 4), 0, kind_fate());
    let start = |rank: usize| (rank, Duration::from_millis(100));
    network.late_start = Some(start(2));
    // It joins before it crashes, but reports no length.
    network.start_round(&[vec![], vec![], vec![]]);
    network.late_start = None;
    network.dead_workers.push(2);
    network.run_until_idle();
    for rank in [0, 1] {
        let failure = network.workers[rank].finish_round(&mut []).unwrap_err().to_string();
        assert_eq!(failure, "the job was aborted: worker 2 (w3) is silent");
    }
    assert!(network.now.since(Instant::START) < 2 * super::network::PEER_TIMEOUT);
}

/// The crashed workers have not reported a length; the others have, and do not wait forever.
#[test]
fn a_worker_that_never_comes_does_not_hide_that_lengths_differ() {
    let mut network = Network::new(assignment(4, &[1.0], 4), 0, kind_fate());
    network.dead_workers.push(3);
    let mut gradients = gradients(4, 0, 500);
    gradients[0].truncate(64);
    let reason = AbortReason::Mismatch { seen: 64, expected: 500 };
    for result in network.all_reduce(&gradients) {
        assert_eq!(result, Err(Failure::Aborted { culprit: rank(0), name: "w1".into(), reason }));
    }
    assert!(network.now.since(Instant::START) < 2 * super::network::PEER_TIMEOUT);
}

#[test]
fn no_fault_lets_gradients_of_different_lengths_sum() {
    let faults =
        FaultRates { lost_percent: 20, duplicated_percent: 10, late_percent: 30, latest_micros: 20_000 };
    for seed in 0..20 {
        for odd in 0..3 {
            let job = assignment(3, &[0.5, 0.5], 4);
            let mut network = Network::new(job, 0b111, fate_in(faults.clone(), seed));
            let mut gradients = gradients(3, 0, 500);
            gradients[odd].truncate([490, 64, 0][seed as usize % 3]);
            for result in network.all_reduce(&gradients) {
                match result {
                    Err(Failure::Aborted { culprit, reason: AbortReason::Mismatch { .. }, .. }) => {
                        assert_eq!(culprit, rank(odd));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}
