//! The invariants of docs/protocol.md on workers, servers and a switch on one virtual clock: every sum is right bit
//! for bit whatever is lost, doubled, late or out of order, and every round ends.

mod network;
mod switch;

use std::time::Duration;

use inart_core::{Split, quantise};
use network::{Network, assignment, kind_fate};

/// Distinct values for each worker, round and index, of a size that grows slowly.
fn gradient(rank: usize, round: usize, len: usize) -> Vec<f32> {
    let value = |index: usize| {
        let hash = (rank * 7919 + round * 104_729 + index * 1_299_709) % 2003;
        (hash as f32 - 1001.0) / 1001.0 * 1.5f32.powi(round as i32)
    };
    (0..len).map(value).collect()
}

fn gradients(workers: usize, round: usize, len: usize) -> Vec<Vec<f32>> {
    (0..workers).map(|rank| gradient(rank, round, len)).collect()
}

/// Every worker got the same bits, and they are the sum of what the workers put in.
fn check_sums(network: &Network, split: &Split) {
    let records: Vec<_> = network.workers.iter().map(|worker| worker.record().unwrap()).collect();
    for record in &records {
        assert_eq!(record.exponents, records[0].exponents, "workers scale alike");
        assert_eq!(record.result, records[0].result, "workers get the same sum");
        assert_eq!(record.result_exponents, records[0].result_exponents);
    }
    for (chunk, values) in split.chunks().enumerate() {
        let sum = |index| records.iter().map(|record| i64::from(record.quantised[index])).sum();
        let mut sums: Vec<i64> = values.clone().map(sum).collect();
        let exponent = quantise::fit_sums(&mut sums, records[0].exponents[chunk]);
        let result: Vec<i64> = records[0].result[values].iter().map(|value| i64::from(*value)).collect();
        assert_eq!(result, sums, "chunk {chunk}");
        assert_eq!(records[0].result_exponents[chunk], exponent, "chunk {chunk}");
    }
}

/// Three rounds with all gradients; panics unless every sum is right.
fn run_rounds(network: &mut Network, split: &Split, workers: usize, len: usize) {
    for round in 0..3 {
        for result in network.all_reduce(&gradients(workers, round, len)) {
            result.unwrap();
        }
        check_sums(network, split);
    }
}

#[test]
fn sums_are_right_and_the_switch_takes_work_off_the_servers() {
    let job = assignment(4, &[0.6, 0.4], 4);
    let split = Split::new(&job, 1000);
    let mut network = Network::new(job, 0b0111, kind_fate());
    run_rounds(&mut network, &split, 4, 1000);
    let chunks = 3 * split.chunks().count() as u64;
    assert_eq!(network.switch.added, 3 * chunks, "three of four workers are summed at the switch");
    let received: u64 = network.servers.iter().map(|server| server.counters().frames_received).sum();
    assert_eq!(received, 2 * chunks, "a partial and the fourth worker's gradient for each chunk");
    assert!(network.workers.iter().all(|worker| worker.counters().retransmissions == 0));
}

#[test]
fn each_frame_lost_doubled_or_late_in_turn() {
    let job = assignment(3, &[0.5, 0.5], 2);
    let split = Split::new(&job, 200);
    let mut kind = Network::new(job.clone(), 0b011, kind_fate());
    run_rounds(&mut kind, &split, 3, 200);
    for victim in 0..kind.frames {
        let (ms, zero) = (Duration::from_millis, Duration::ZERO);
        for fate in [vec![], vec![zero, zero], vec![zero, ms(7)], vec![ms(1)], vec![ms(300)]] {
            let fate = Box::new(move |frame| if frame == victim { fate.clone() } else { vec![zero] });
            let mut network = Network::new(job.clone(), 0b011, fate);
            run_rounds(&mut network, &split, 3, 200);
            for (worker, reference) in network.workers.iter().zip(&kind.workers) {
                assert_eq!(worker.record(), reference.record(), "the same bits as without trouble");
            }
        }
    }
}
