//! Exact-sum jobs: the sum is the exact sum of the floats, rounded once, in the switches, under any faults;
//! foreign frames are in no sum.

use std::time::Duration;

use inart_protocol_aggregation::exact_sum::Digits;
use inart_protocol_aggregation::{
    Assignment, Failure, Instant, ServerCounters, ServerShard, Split, StateMachine,
};
use inart_wire::{AbortReason, Contributors, Exponent, Flags, FrameRepr, HeaderRepr, Kind};

use super::network::{Network, PEER_TIMEOUT, SERVER, assignment, host, kind_fate};
use super::oracle::check;
use super::trouble::{FaultRates, fate_in, rank};
use super::{chunk_count, run_round};

fn exact_job(workers: usize) -> Assignment {
    Assignment { exact_sums: true, ..assignment(workers, &[0.6, 0.4], 4) }
}

/// Floats of all sizes that cancel in part, subnormal numbers among them.
fn wild_gradient(rank: usize, round: usize, len: usize) -> Vec<f32> {
    let value = |index: usize| {
        let place = (index * 31 + round * 17) as u32;
        // Pairs of workers have like exponents and turned signs.
        let exponent = (place.wrapping_mul(0x9e37_79b9) >> 24) % 254 + (rank / 2 % 2) as u32;
        let fraction = (place + rank as u32).wrapping_mul(0x85eb_ca6b) >> 9;
        f32::from_bits((rank as u32 & 1) << 31 | exponent << 23 | fraction)
    };
    (0..len).map(value).collect()
}

fn wild_gradients(workers: usize, round: usize, len: usize) -> Vec<Vec<f32>> {
    (0..workers).map(|rank| wild_gradient(rank, round, len)).collect()
}

/// Runs a round whose sums are exact at every worker.
fn run_exact_round(network: &mut Network, gradients: &[Vec<f32>]) -> Vec<f32> {
    let sums = run_round(network, gradients);
    check(gradients, &sums, true);
    sums
}

#[test]
fn sums_are_exact_and_the_switch_makes_them() {
    let job = exact_job(4);
    let chunks = chunk_count(&Split::new(&job, 1000));
    assert_eq!(chunks, 500, "two values of twelve digits in each frame, and no maxima");
    let mut network = Network::new(job, 0b1111, kind_fate());
    for round in 0..3 {
        run_exact_round(&mut network, &wild_gradients(4, round, 1000));
    }
    assert_eq!((network.switch.added, network.switch.saturated), (3 * 4 * chunks, 0));
    for server in &network.servers {
        let counters = server.counters();
        assert_eq!((counters.partials, counters.gradients), (counters.chunks, 0));
        assert_eq!((counters.other_numbers, counters.requests_sent), (0, 0));
    }
}

/// Short tensors are exact in any other job, too. The shortest are digits, which switches sum; of longer ones
/// the server receives the floats.
#[test]
fn sums_of_short_tensors_are_exact() {
    for (len, chunks, in_switches) in [(1, 1, true), (64, 32, true), (65, 3, false), (256, 8, false)] {
        let job = assignment(4, &[0.6, 0.4], 4);
        let values = Split::new(&job, len).chunks().filter(|chunk| !chunk.values().is_empty()).count();
        assert_eq!(values, chunks, "{len} values");
        let mut network = Network::new(job, 0b1111, kind_fate());
        for round in 0..3 {
            run_exact_round(&mut network, &wild_gradients(4, round, len));
        }
        let sum = |count: fn(ServerCounters) -> u64| -> u64 {
            network.servers.iter().map(|server| count(server.counters())).sum()
        };
        let floats = if in_switches { 0 } else { 3 * 4 * chunks as u64 };
        assert_eq!(sum(|counters| counters.gradients), floats, "{len} values");
        // The second shard has no value, so its placeholder is summed as well.
        let summed = 1 + if in_switches { chunks as u64 } else { 0 };
        assert_eq!(network.switch.added as u64, 3 * 4 * summed, "{len} values");
        assert_eq!(sum(|counters| counters.overflows + counters.requests_sent), 0, "{len} values");
    }
}

#[test]
fn tensors_of_all_forms_follow_each_other() {
    let mut network = Network::new(assignment(4, &[0.6, 0.4], 4), 0b0111, kind_fate());
    for (round, len) in [256, 1, 900, 64, 65, 257, 255].into_iter().enumerate() {
        let gradients = wild_gradients(4, round, len);
        let sums = run_round(&mut network, &gradients);
        check(&gradients, &sums, false);
    }
    assert!(network.switch.added > 0);
}

#[test]
fn a_small_number_survives_large_ones_that_cancel() {
    let job = exact_job(3);
    for aggregated in [0b000, 0b111] {
        let mut network = Network::new(job.clone(), aggregated, kind_fate());
        let gradients = [vec![3e38, f32::MAX], vec![1e-45, f32::MAX], vec![-3e38, 1.0]];
        assert_eq!(run_exact_round(&mut network, &gradients), [1e-45, f32::INFINITY]);
    }
}

#[test]
fn the_bits_are_equal_under_loss_duplication_and_delay() {
    let faults =
        FaultRates { lost_percent: 10, duplicated_percent: 10, late_percent: 30, latest_micros: 3000 };
    let job = exact_job(5);
    for seed in 0..10 {
        let mut network = Network::new(job.clone(), 0b0011, fate_in(faults.clone(), seed));
        for round in 0..3 {
            let gradients = wild_gradients(5, round, [700, 200, 40][round]);
            let sum = run_exact_round(&mut network, &gradients);
            let mut calm = Network::new(job.clone(), 0, kind_fate());
            assert_eq!(sum, run_exact_round(&mut calm, &gradients));
        }
    }
}

#[test]
fn nan_and_infinities_have_no_sum_here_either() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut network = Network::new(exact_job(3), 0, kind_fate());
        let mut gradients = wild_gradients(3, 0, 300);
        gradients[1][77] = bad;
        let results = network.all_reduce(&gradients);
        assert!(matches!(&results[1], Err(Failure::NotFinite { index: 77, .. })), "{:?}", results[1]);
        assert!(results.iter().all(Result::is_err));
    }
}

/// A host with another setting ends the job at once with an error that names it, and is in no sum.
#[test]
fn a_host_with_another_setting_ends_the_job_by_name() {
    for exact in [true, false] {
        let job = Assignment { exact_sums: exact, ..assignment(3, &[1.0], 4) };
        let otherwise = Assignment { exact_sums: !exact, ..job.clone() };
        let mut network = Network::new(job, 0b0000, kind_fate());
        network.workers[1] =
            inart_protocol_aggregation::WorkerFlow::new(otherwise, rank(1), host(1), PEER_TIMEOUT).unwrap();
        for result in network.all_reduce(&wild_gradients(3, 0, 500)) {
            // Its tensor is as long as the others', its frames are not.
            let reason = AbortReason::Mismatch { seen: 500, expected: 500 };
            assert_eq!(result, Err(Failure::Aborted { culprit: rank(1), name: "w2".into(), reason }));
        }
        assert!(
            network.now.since(Instant::START) < Duration::from_secs(1),
            "at once, not by the peer timeout"
        );
        assert!(network.servers[0].counters().other_shapes > 0);
        assert_eq!(network.servers[0].counters().chunks, 0);
    }
}

/// The header of the first chunk's frame of the worker of rank 0.
fn first_gradient(job: &Assignment, exponent: Exponent, length: u16) -> HeaderRepr {
    HeaderRepr {
        kind: Kind::Gradient,
        flags: Flags::NONE,
        plan_version: job.plan_version,
        job: job.job,
        shard: 0.into(),
        worker: rank(0).bitmap_index(),
        sequence: 0.into(),
        contributors: Contributors::one(rank(0).bitmap_index()),
        exponent,
        length,
        incarnation: SERVER,
    }
}

/// A frame of that worker.
fn bytes(job: &Assignment, header: HeaderRepr, values: &[i32]) -> Vec<u8> {
    let frame = FrameRepr {
        destination: job.shards[0].mac,
        source: job.workers[0].mac,
        values_per_frame: job.values_per_frame,
        header,
    };
    let mut bytes = vec![0; 2048];
    let length = frame.emit(values, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

/// A switch cannot sum floats: a partial that contains some is in no sum, and its workers are asked for
/// theirs.
#[test]
fn floats_that_a_switch_has_summed_are_in_no_sum() {
    let job = assignment(2, &[1.0], 4);
    let mut server = ServerShard::new(job.clone(), 0.into(), SERVER, PEER_TIMEOUT).unwrap();
    let floats: Vec<i32> = (0..32).map(|index| (index as f32).to_bits() as i32).collect();
    let right = first_gradient(&job, Exponent::FLOATS, 32);
    let everybody = Contributors { bitmap: 0b11, ..right.contributors };
    let partial = HeaderRepr { kind: Kind::Partial, contributors: everybody, ..right };
    server.handle_frame(Instant::START, &bytes(&job, partial, &floats));
    let counters = server.counters();
    assert_eq!((counters.partials, counters.overflows, counters.chunks), (0, 1, 0));
    assert_eq!(counters.requests_sent, 0, "requests are sent when they are polled");
    server.handle_frame(Instant::START, &bytes(&job, right, &floats));
    assert_eq!(server.counters().gradients, 1);
    assert_eq!(server.aborted(), None);
}

/// Frames of a broken switch are refused, counted, and in no sum. Invalid values of a worker end the job.
#[test]
fn only_digits_that_leave_room_for_the_others_are_added() {
    let job = Assignment { exact_sums: true, ..assignment(2, &[1.0], 4) };
    let mut server = ServerShard::new(job.clone(), 0.into(), SERVER, PEER_TIMEOUT).unwrap();
    let right = first_gradient(&job, Exponent::DIGITS, 24);
    let partial = HeaderRepr {
        kind: Kind::Partial,
        contributors: Contributors { bitmap: 0b11, ..right.contributors },
        ..right
    };
    let mut one = Vec::new();
    [f32::MAX, -f32::MAX].into_iter().for_each(|value| Digits::for_workers(2).write(value, &mut one));
    assert_eq!(one.len(), 24);
    // A digit of two workers has 30 bits.
    let largest = (1 << 30) - 1;
    let with = |value: i32| [&one[..23], &[value]].concat();
    let mut send = |header: HeaderRepr, values: &[i32]| {
        server.handle_frame(Instant::START, &bytes(&job, header, values));
        let counters = server.counters();
        let added = counters.gradients + counters.partials;
        ((counters.overflows, counters.other_shapes, counters.other_numbers, added), server.aborted())
    };
    let first = HeaderRepr { sequence: 1.into(), ..right };
    assert_eq!(send(first, &with(largest)), ((0, 0, 0, 1), None));
    assert_eq!(send(partial, &with(2 * largest + 1)), ((1, 0, 0, 1), None));
    assert_eq!(send(partial, &with(-2 * largest - 1)), ((2, 0, 0, 1), None));
    let saturated = Flags::NONE.with_if(Flags::OVERFLOW, true);
    assert_eq!(send(HeaderRepr { flags: saturated, ..partial }, &one), ((3, 0, 0, 1), None));
    let scaled = Exponent::from(-20);
    assert_eq!(send(HeaderRepr { exponent: scaled, ..partial }, &one), ((3, 1, 0, 1), None));
    let end = Some((AbortReason::OtherNumbers, rank(0)));
    assert_eq!(send(right, &with(-largest - 1)), ((3, 1, 1, 1), end));
}
