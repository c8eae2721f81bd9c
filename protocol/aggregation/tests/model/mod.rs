//! Invariants of docs/protocol/reliability.md on workers, servers and a switch on one virtual clock: every
//! sum is right bit for bit under loss, duplication, delay and reordering, and every round ends.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints what it found")]

mod bound;
mod drawn;
mod exact;
mod goodput;
mod hostile;
mod incarnations;
mod lengths;
mod network;
mod non_finite;
mod oracle;
mod plan_versions;
mod plans;
mod sizes;
mod switch;
mod tensors;
mod transcripts;
mod trouble;
mod waiting;

use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;
use inart_protocol_aggregation::{RoundRecord, ServerShard, Split};
use network::{Network, assignment, kind_fate};

/// Distinct values for each worker, round and index. Sizes differ from block to block and from round to
/// round, so that another block's scale, or another round's, makes another sum.
fn gradient(rank: usize, round: usize, len: usize) -> Vec<f32> {
    let value = |index: usize| {
        let hash = (rank * 7919 + round * 104_729 + index * 1_299_709) % 2003;
        let size = 2f32.powi(((index / 256 * 23 + round * 17) % 71) as i32 - 35);
        (hash as f32 - 1001.0) / 1001.0 * size
    };
    (0..len).map(value).collect()
}

fn gradients(workers: usize, round: usize, len: usize) -> Vec<Vec<f32>> {
    (0..workers).map(|rank| gradient(rank, round, len)).collect()
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Gradients and partials that a server received.
fn contributions(server: &ServerShard) -> u64 {
    server.counters().frames_received - server.counters().keepalives
}

/// Returns the number of frames of a tensor, including one for each shard without values.
fn chunk_count(split: &Split) -> u64 {
    let empty = split.shards().iter().filter(|values| values.is_empty()).count();
    (split.chunks().count() + empty) as u64
}

/// Checks that every worker received the sum of the programs' inputs, bit for bit.
fn check_sums(network: &Network, gradients: &[Vec<f32>]) {
    let records: Vec<_> = network.workers.iter().map(|worker| worker.record().unwrap()).collect();
    check_records(&records, gradients, network.has_exact_sums());
}

/// Checks the records of one sum, by worker.
fn check_records(records: &[RoundRecord], gradients: &[Vec<f32>], exact: bool) {
    assert_eq!(records.len(), gradients.len());
    for (record, gradient) in records.iter().zip(gradients) {
        assert_eq!(bits(&record.sent), bits(gradient), "the record holds the program's input");
        assert_eq!(bits(&record.result), bits(&records[0].result), "workers get the same sum");
    }
    let sent: Vec<_> = gradients.iter().map(|values| Sent { worker: "w", values }).collect();
    let received = records.iter().enumerate();
    let received: Vec<_> =
        received.map(|(rank, record)| Received { rank, worker: "w", result: &record.result }).collect();
    check_round(&Lockstep, 0, &sent, &received, exact).unwrap();
}

/// Runs one round; panics unless every sum is right.
fn run_round(network: &mut Network, gradients: &[Vec<f32>]) -> Vec<f32> {
    let results: Result<Vec<_>, _> = network.all_reduce(gradients).into_iter().collect();
    let mut results = results.unwrap_or_else(|failure| panic!("a round that should end in a sum: {failure}"));
    check_sums(network, gradients);
    for (worker, result) in network.workers.iter().zip(&results) {
        assert_eq!(
            bits(&worker.record().unwrap().result),
            bits(result),
            "the program's result equals the record"
        );
    }
    results.remove(0)
}

/// Runs three rounds.
fn run_rounds(network: &mut Network, len: usize) {
    for round in 0..3 {
        run_round(network, &gradients(network.workers.len(), round, len));
    }
}

#[test]
fn sums_are_right_and_the_switch_takes_work_off_the_servers() {
    let job = assignment(4, &[0.6, 0.4], 4);
    let split = Split::new(&job, 1000);
    let mut network = Network::new(job, 0b0111, kind_fate());
    run_rounds(&mut network, 1000);
    let chunks = 3 * chunk_count(&split);
    assert_eq!(network.switch.added, 3 * chunks, "three of four workers are summed at the switch");
    let received: u64 = network.servers.iter().map(contributions).sum();
    assert_eq!(received, 2 * chunks, "a partial and the fourth worker's gradient for each chunk");
    let in_network: u64 = network.servers.iter().map(|server| server.counters().summed_in_network).sum();
    assert_eq!(in_network, 3 * chunks);
    assert!(network.workers.iter().all(|worker| worker.counters().retransmissions == 0));
}

#[test]
fn sums_are_right_with_no_and_with_all_workers_at_the_switch() {
    for aggregated in [0b0000, 0b1111] {
        let job = assignment(4, &[1.0], 8);
        for len in [40, 1000] {
            run_rounds(&mut Network::new(job.clone(), aggregated, kind_fate()), len);
        }
    }
}

#[test]
fn empty_gradients_shards_without_values_and_single_workers_are_jobs_too() {
    let job = assignment(1, &[0.0, 1.0], 1);
    for len in [0, 40, 700] {
        run_rounds(&mut Network::new(job.clone(), 0, kind_fate()), len);
    }
}

#[test]
fn a_job_of_more_workers_than_a_bitmap_has_bits() {
    for len in [20, 300] {
        let mut network = Network::new(assignment(70, &[1.0], 4), 0xff, kind_fate());
        run_rounds(&mut network, len);
    }
}

#[test]
fn bitmap_indices_let_one_sum_hold_workers_whose_ranks_are_far_apart() {
    let mut job = assignment(70, &[0.5, 0.5], 4);
    // In shard 0 every tenth worker has a bitmap index in block 0, the others from bitmap index 64 on; shard
    // 1 uses ranks.
    let (mut first, mut others) = (0..64u16, 64u16..);
    let mut bitmap_index = |rank: usize| if rank.is_multiple_of(10) { first.next() } else { others.next() };
    job.shards[0].bitmap_indices =
        (0..70).map(|rank| bitmap_index(rank).unwrap().try_into().unwrap()).collect();
    let split = Split::new(&job, 600);
    let mut network = Network::new(job, 0x7f, kind_fate());
    run_rounds(&mut network, 600);
    let chunks = 3 * split.chunk_count(0.into()) as u64;
    assert_eq!(network.servers[0].counters().summed_in_network, 7 * chunks);
    assert_eq!(contributions(&network.servers[0]), (70 - 7 + 1) * chunks);
}

#[test]
fn bitmap_indices_do_not_change_who_is_to_blame() {
    let mut job = assignment(3, &[1.0], 4);
    job.shards[0].bitmap_indices =
        [130u16, 64, 2].into_iter().map(|bitmap_index| bitmap_index.try_into().unwrap()).collect();
    let mut network = Network::new(job, 0, kind_fate());
    network.dead_workers.push(1);
    for outcome in network.all_reduce(&gradients(3, 0, 100)) {
        let failure = outcome.unwrap_err().to_string();
        assert!(failure.contains("w2"), "{failure}");
    }
}

/// No scaled value is sent before the maxima of all workers have returned.
#[test]
fn values_wait_for_the_maxima() {
    let mut network = Network::new(assignment(3, &[1.0], 4), 0b111, kind_fate());
    network.late_start = Some((1, std::time::Duration::from_millis(10)));
    network.start_round(&gradients(3, 0, 500));
    assert_eq!(network.workers[0].status(network.now).shards[0].in_flight, 1);
    assert_eq!(network.switch.added, 2, "maxima of the two started workers");
    network.workers[1].start_round(network.now, &gradient(1, 0, 500)).unwrap();
    network.run_until_idle();
    check_sums(&network, &gradients(3, 0, 500));
}

#[test]
fn status_names_the_awaited_worker() {
    let mut network = Network::new(assignment(3, &[1.0], 4), 0b0000, kind_fate());
    run_round(&mut network, &gradients(3, 0, 20));
    let done = network.workers[0].status(network.now);
    assert_eq!((done.round, done.in_round, done.shards[0].in_flight), (Some(0), false, 0));
    assert_eq!((done.shards[0].oldest, network.servers[0].status(network.now).oldest), (None, None));

    network.late_start = Some((1, std::time::Duration::from_millis(10)));
    network.start_round(&gradients(3, 1, 20));
    let waiting = network.workers[0].status(network.now);
    let pending = waiting.shards[0].oldest.unwrap();
    assert_eq!((waiting.round, waiting.in_round, waiting.shards[0].in_flight), (Some(1), true, 4));
    assert_eq!((pending.chunk, pending.sequence.get()), (0, 10));
    let server = network.servers[0].status(network.now);
    let open = server.oldest.unwrap();
    assert_eq!((server.completed, server.in_flight, open.sequence), (10, 4, pending.sequence));
    let missing: Vec<_> =
        open.missing.iter().map(|worker| (worker.rank.get(), worker.name.as_str())).collect();
    assert_eq!(missing, [(1, "w2")]);
    // It sends notes between rounds, too.
    assert!(open.missing[0].heard_seconds.is_some() && server.heard_seconds.iter().all(Option::is_some));
    assert_eq!(
        serde_json::from_str::<inart_protocol_aggregation::ServerStatus>(
            &serde_json::to_string(&network.servers[0].status(network.now)).unwrap()
        )
        .unwrap()
        .in_flight,
        4
    );
}
