//! Several tensors in flight, of different lengths: equal bits under any loss, independent of which worker
//! waits.

use std::time::Duration;

use inart_protocol_aggregation::{Assignment, Failure, RoundRecord, TensorId};
use inart_wire::AbortReason;
use proptest::prelude::*;

use super::network::{Fate, Network, PEER_TIMEOUT, assignment, kind_fate};
use super::trouble::{FaultRates, fate_in, rank};
use super::{check_records, gradient, gradients};

/// Sums a stream of tensors, by tensor and worker: each worker starts the next as soon as it has fewer in
/// flight than its limit, which is its rank plus one, and `most` at most. Returns records by tensor, then by
/// worker.
pub fn run(network: &mut Network, stream: &[Vec<Vec<f32>>], most: usize) -> Vec<Vec<RoundRecord>> {
    let workers = network.workers.len();
    let mut open: Vec<Vec<(usize, TensorId)>> = vec![Vec::new(); workers];
    let mut started = vec![0; workers];
    let mut records = vec![vec![None; workers]; stream.len()];
    let end = network.now + 100 * PEER_TIMEOUT;
    while records.iter().flatten().any(Option::is_none) {
        for worker in 0..workers {
            while started[worker] < stream.len() && open[worker].len() < (worker + 1).min(most) {
                let (tensor, now) = (started[worker], network.now);
                let values = stream[tensor][worker].clone();
                open[worker].push((tensor, network.workers[worker].start(now, values).unwrap()));
                started[worker] += 1;
            }
        }
        network.transmit();
        network.step();
        assert!(network.now < end, "tensors do not end");
        for worker in 0..workers {
            let flow = &mut network.workers[worker];
            // The last worker takes them in any order, the others in that of their starts.
            let any = worker + 1 == workers;
            while let Some(place) = open[worker].iter().position(|(_, id)| flow.is_done(*id))
                && (any || place == 0)
            {
                let (tensor, id) = open[worker].remove(place);
                records[tensor][worker] = Some(flow.finish(id).unwrap().record());
            }
        }
    }
    records.into_iter().map(|records| records.into_iter().map(Option::unwrap).collect()).collect()
}

fn run_checked(job: &Assignment, lens: &[usize], most: usize, fate: Fate) -> Vec<Vec<RoundRecord>> {
    let workers = job.workers.len();
    let mut network =
        Network::with_peer_timeout(job.clone(), (1 << (workers - 1)) - 1, fate, 25 * PEER_TIMEOUT);
    let stream: Vec<_> =
        lens.iter().enumerate().map(|(tensor, len)| gradients(workers, tensor, *len)).collect();
    let records = run(&mut network, &stream, most);
    for (records, tensors) in records.iter().zip(&stream) {
        check_records(records, tensors, job.exact_sums);
    }
    records
}

/// Returns lengths of exact sums, of one shard's values, and of both shards'.
fn len() -> impl Strategy<Value = usize> {
    prop_oneof![0..40usize, 250..270usize, 300..900usize]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changes_a_bit(
        seed in any::<u64>(),
        iteration in prop::collection::vec(len(), 1..5),
        first in prop::collection::vec(len(), 0..4),
        window_log in 0..4u32,
        most in 1..6usize,
        lost_percent in 0..25u32,
        late_percent in 0..40u32,
    ) {
        let job = assignment(3, &[0.3, 0.7], 1 << window_log);
        // As a framework that cuts otherwise after the first iteration.
        let lens: Vec<_> = first.into_iter().chain(iteration.repeat(3)).collect();
        let reference = run_checked(&job, &lens, 1, kind_fate());
        let faults = FaultRates { lost_percent, duplicated_percent: 10, late_percent, latest_micros: 5_000 };
        let records = run_checked(&job, &lens, most, fate_in(faults, seed));
        prop_assert_eq!(records, reference);
    }
}

/// Windows span tensors: a position that is free for one is free for the next. Scaled values wait only for
/// their maxima.
#[test]
fn chunks_of_several_tensors_fill_one_window() {
    for (lens, window, chunks, in_flight) in [
        ([4, 3, 2], 4, 2 + 2 + 1, 4),
        ([300, 300, 300], 4, 3 * (1 + 10), 1),
        ([300, 300, 300], 16, 3 * (1 + 10), 2),
        ([300, 10, 300], 16, (1 + 10) + 5 + (1 + 10), 1 + 5),
    ] {
        let mut network = Network::new(assignment(2, &[1.0], window), 0b11, kind_fate());
        for len in lens {
            let now = network.now;
            network.workers[0].start(now, gradient(0, 0, len)).unwrap();
        }
        network.run_until(network.now + Duration::from_millis(10));
        let status = network.workers[0].status(network.now);
        let flow = &status.shards[0];
        assert_eq!((status.round, flow.chunks, flow.in_flight), (Some(2), chunks, in_flight), "{lens:?}");
    }
}

/// Checks the culprit and its lengths, after all workers started these tensors at once.
fn check_blame(shares: &[f64], lens: [&[usize]; 3], culprit: usize, [seen, expected]: [u32; 2]) {
    let mut network = Network::new(assignment(3, shares, 4), 0b011, kind_fate());
    let now = network.now;
    for (worker, lens) in lens.into_iter().enumerate() {
        for (tensor, len) in lens.iter().enumerate() {
            network.workers[worker].start(now, gradient(worker, tensor, *len)).unwrap();
        }
    }
    network.run_until_idle();
    let reason = AbortReason::Mismatch { seen, expected };
    let failure = Failure::Aborted { culprit: rank(culprit), name: format!("w{}", culprit + 1), reason };
    for worker in &mut network.workers {
        assert_eq!(worker.finish_round(&mut []), Err(failure.clone()));
    }
    assert!(network.now.since(now) < Duration::from_secs(1), "at once, not by the peer timeout");
}

#[test]
fn a_tensor_of_another_length_is_named_wherever_it_comes() {
    for (right, wrong, [seen, expected]) in [
        ([64, 96, 10], [64, 97, 10], [97, 96]),
        ([64, 96, 10], [64, 96, 0], [0, 10]),
        ([200, 200, 200], [200, 200, 100], [100, 200]),
        // All in all the same, chunk by chunk.
        ([32, 64, 32], [64, 32, 32], [64, 32]),
        ([300, 700, 10], [300, 701, 10], [701, 700]),
        ([300, 300, 300], [300, 300, 256], [256, 300]),
        ([700, 300, 10], [300, 700, 10], [300, 700]),
    ] {
        for shares in [&[1.0][..], &[0.5, 0.5]] {
            check_blame(shares, [&right, &wrong, &right], 1, [seen, expected]);
        }
    }
}

/// Short tensors have no values in the second shard: those of the next tensor are not taken for them.
#[test]
fn a_shard_without_values_of_a_tensor_has_a_place_for_it() {
    check_blame(&[0.5, 0.5], [&[2, 2], &[1, 2], &[2, 2]], 1, [1, 2]);
    check_blame(&[0.5, 0.5], [&[0, 1], &[0, 1], &[1, 1]], 2, [1, 0]);
    check_blame(&[0.5, 0.5], [&[700, 700], &[256, 700], &[700, 700]], 1, [256, 700]);
    let job = assignment(3, &[0.5, 0.5], 4);
    run_checked(&job, &[1, 2, 0, 700, 1, 0, 0, 300, 3], 4, kind_fate());
}

/// Some sums are never taken; the others end, and more tensors fit.
#[test]
fn untaken_sums_are_forgotten() {
    let mut network = Network::new(assignment(2, &[1.0], 4), 0b11, kind_fate());
    for tensor in 0..2 * inart_protocol_aggregation::WorkerFlow::MOST_TENSORS {
        let now = network.now;
        for (rank, worker) in network.workers.iter_mut().enumerate() {
            let id = worker.start(now, gradient(rank, 0, 20)).unwrap();
            worker.discard(id);
            assert!(tensor < 100 || worker.has_room());
        }
        if tensor.is_multiple_of(100) {
            network.run_until_idle();
        }
    }
}
