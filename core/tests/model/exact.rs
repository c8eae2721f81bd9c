//! Exact-sum jobs: the sum is the exact sum of the floats, rounded once, whatever becomes of the frames; and
//! what does not belong to such a job is in no sum.

use std::time::Duration;

use inart_core::audit::{Received, Sent, check_round};
use inart_core::policy::Lockstep;
use inart_core::{Assignment, Failure, Instant, ServerShard, Split, StateMachine};
use inart_wire::{AbortReason, Contributors, Exponent, Flags, FrameRepr, HeaderRepr, Kind};

use super::network::{Network, PEER_TIMEOUT, SERVER, assignment, host, kind_fate};
use super::trouble::{Weather, fate_in, rank};

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

/// A round whose sums the audit finds exact at every worker, who returns them.
fn run_exact_round(network: &mut Network, split: &Split, gradients: &[Vec<f32>]) -> Vec<f32> {
    let results: Vec<Vec<f32>> = network
        .all_reduce(gradients)
        .into_iter()
        .map(|result| result.expect("the round ends in a sum"))
        .collect();
    let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits() as i32).collect::<Vec<_>>();
    let exponents = vec![Exponent::FLOATS.get(); split.chunks().count()];
    let values: Vec<_> = gradients.iter().map(|gradient| bits(gradient)).collect();
    let sums: Vec<_> = results.iter().map(|result| bits(result)).collect();
    let sent: Vec<_> =
        values.iter().map(|values| Sent { worker: "w", values, exponents: &exponents }).collect();
    let received: Vec<_> = sums
        .iter()
        .enumerate()
        .map(|(rank, result)| Received { rank, worker: "w", result, exponents: &exponents })
        .collect();
    check_round(&Lockstep::default(), 0, &sent, &received, &split.chunks().collect::<Vec<_>>()).unwrap();
    for (rank, worker) in network.workers.iter().enumerate() {
        let record = worker.record().unwrap();
        assert_eq!((&record.sent, &record.result), (&values[rank], &sums[rank]));
        assert!(record.exponents.iter().chain(&record.result_exponents).all(|e| *e == Exponent::FLOATS));
    }
    results.into_iter().next().unwrap()
}

#[test]
fn sums_are_exact_and_no_switch_adds_any() {
    let job = exact_job(4);
    let split = Split::new(&job, 1000);
    // A switch that would add all of them.
    let mut network = Network::new(job, 0b1111, kind_fate());
    for round in 0..3 {
        run_exact_round(&mut network, &split, &wild_gradients(4, round, 1000));
    }
    assert_eq!(network.switch.added, 0);
    for server in &network.servers {
        let counters = server.counters();
        assert_eq!((counters.partials, counters.gradients), (0, 4 * counters.chunks));
        assert_eq!((counters.other_numbers, counters.requests_sent), (0, 0));
    }
}

#[test]
fn a_small_number_survives_large_ones_that_cancel() {
    let job = exact_job(3);
    let split = Split::new(&job, 2);
    let mut network = Network::new(job, 0, kind_fate());
    let gradients = [vec![3e38, f32::MAX], vec![1e-45, f32::MAX], vec![-3e38, 1.0]];
    assert_eq!(run_exact_round(&mut network, &split, &gradients), [1e-45, f32::INFINITY]);
}

#[test]
fn the_bits_are_the_same_whatever_is_lost_doubled_or_late() {
    let weather = Weather { lost_percent: 10, doubled_percent: 10, late_percent: 30, latest_micros: 3000 };
    let job = exact_job(5);
    let split = Split::new(&job, 700);
    for seed in 0..10 {
        let mut network = Network::new(job.clone(), 0b0011, fate_in(weather.clone(), seed));
        for round in 0..3 {
            let sum = run_exact_round(&mut network, &split, &wild_gradients(5, round, 700));
            let mut calm = Network::new(job.clone(), 0, kind_fate());
            assert_eq!(sum, run_exact_round(&mut calm, &split, &wild_gradients(5, round, 700)));
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

/// One host that was told otherwise ends the job by name at once, in no sum.
#[test]
fn a_host_that_takes_the_job_for_another_ends_it_by_name() {
    for exact in [true, false] {
        let told = Assignment { exact_sums: exact, ..assignment(3, &[1.0], 4) };
        let otherwise = Assignment { exact_sums: !exact, ..told.clone() };
        let mut network = Network::new(told, 0b0000, kind_fate());
        network.workers[1] = inart_core::WorkerFlow::new(otherwise, rank(1), host(1), PEER_TIMEOUT).unwrap();
        for result in network.all_reduce(&wild_gradients(3, 0, 500)) {
            let reason = AbortReason::OtherNumbers;
            assert_eq!(result, Err(Failure::Aborted { culprit: rank(1), name: "w2".into(), reason }));
        }
        assert!(
            network.now.since(Instant::START) < Duration::from_secs(1),
            "at once, not by the peer timeout"
        );
        assert!(network.servers[0].counters().other_numbers > 0);
        assert_eq!(network.servers[0].counters().chunks, 0);
    }
}

/// What a broken switch or a forger may send: refused, counted, and in no sum.
#[test]
fn only_finite_floats_by_bypass_are_added() {
    let job = Assignment { exact_sums: true, ..assignment(2, &[1.0], 4) };
    let mut server = ServerShard::new(job.clone(), 0.into(), SERVER, PEER_TIMEOUT).unwrap();
    let right = HeaderRepr {
        kind: Kind::Gradient,
        flags: Flags::BYPASS,
        epoch: job.epoch,
        job: job.job,
        shard: 0.into(),
        worker: rank(0).seat(),
        sequence: 0.into(),
        contributors: Contributors::one(rank(0).seat()),
        exponent: Exponent::FLOATS,
        length: 32,
        incarnation: SERVER,
    };
    let both = Contributors { bitmap: 0b11, ..right.contributors };
    let one = [1.0f32.to_bits() as i32; 32];
    let mut infinite = one;
    infinite[31] = f32::INFINITY.to_bits() as i32;
    let scaled = Exponent::from(-20);
    let mut send = |header: HeaderRepr, values: &[i32]| {
        let frame = FrameRepr {
            destination: job.shards[0].mac,
            source: job.workers[0].mac,
            values_per_packet: job.values_per_packet,
            header,
        };
        let mut bytes = [0; 2048];
        let length = frame.emit(values, &mut bytes).unwrap();
        server.handle_frame(Instant::START, &bytes[..length]);
        let counters = server.counters();
        (counters.other_numbers, counters.gradients + counters.partials)
    };
    assert_eq!(send(HeaderRepr { flags: Flags::NONE, ..right }, &one), (1, 0));
    assert_eq!(
        send(HeaderRepr { flags: Flags::BYPASS.with_if(Flags::OVERFLOW, true), ..right }, &one),
        (2, 0)
    );
    assert_eq!(send(HeaderRepr { kind: Kind::Partial, contributors: both, ..right }, &one), (3, 0));
    assert_eq!(
        send(HeaderRepr { kind: Kind::Partial, contributors: both, exponent: scaled, ..right }, &one),
        (4, 0)
    );
    assert_eq!(send(right, &infinite), (5, 0));
    assert_eq!(send(right, &one), (5, 1));
    assert_eq!(server.aborted(), None);
}
