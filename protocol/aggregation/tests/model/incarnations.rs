//! Restarts of hosts: the same plan run again, and a single host within a run.

use std::time::Duration;

use inart_protocol_aggregation::{Failure, Instant, ServerShard, Split, StateMachine, WorkerFlow};
use inart_wire::{AbortReason, Incarnation, MacAddr};
use proptest::prelude::*;

use super::network::{Network, PEER_TIMEOUT, SERVER, assignment, kind_fate};
use super::trouble::{FaultRates, fate_in, rank};
use super::{chunk_count, gradients, run_round, run_rounds};

/// Runs with other gradients per run.
fn run_of(generation: usize, network: &mut Network, len: usize) {
    for round in 0..3 {
        run_round(network, &gradients(network.workers.len(), 3 * generation + round, len));
    }
}

#[test]
fn the_same_plan_is_run_again_on_the_same_switch() {
    for len in [10, 300, 1000] {
        let job = assignment(4, &[0.6, 0.4], 4);
        let chunks = chunk_count(&Split::new(&job, len));
        let mut network = Network::new(job, 0b0111, kind_fate());
        for generation in 0..4 {
            network.run_again(generation);
            run_of(generation as usize, &mut network, len);
            let added = 3 * (generation as u64 + 1) * 3 * chunks;
            assert_eq!(network.switch.added, added, "each run is summed at the switch");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Frames of earlier runs arrive late in the next ones.
    #[test]
    fn frames_of_earlier_runs_change_no_bit(
        seed in any::<u64>(), late_percent in 0..60u32, window_log in 0..4u32, len in 1..400usize
    ) {
        let faults =
            FaultRates { lost_percent: 5, duplicated_percent: 30, late_percent, latest_micros: 200_000 };
        let job = assignment(3, &[0.3, 0.7], 1 << window_log);
        let peer_timeout = Duration::from_secs(250);
        let mut network = Network::with_peer_timeout(job, 0b011, fate_in(faults, seed), peer_timeout);
        for generation in 0..3 {
            network.run_again(generation);
            run_of(generation as usize, &mut network, len);
        }
    }
}

/// Checks that every live host ends with this failure, long before any peer timeout, and these servers as
/// well.
fn check_end(network: &mut Network, round: usize, failure: Failure, servers: &[usize]) {
    let start = network.now;
    let workers = network.workers.len();
    for result in network.all_reduce(&gradients(workers, round, 500)) {
        assert_eq!(result, Err(failure.clone()));
    }
    assert!(network.now.since(start) < PEER_TIMEOUT / 2, "{:?}", network.now.since(start));
    for (shard, server) in network.servers.iter().enumerate() {
        assert_eq!(server.failure(), servers.contains(&shard).then(|| failure.clone()), "shard {shard}");
    }
}

fn restarted(worker: usize) -> Failure {
    let (culprit, name) = (rank(worker), format!("w{}", worker + 1));
    Failure::Aborted { culprit, name, reason: AbortReason::WorkerRestarted }
}

fn server_restarted(shard: u16) -> Failure {
    Failure::ServerRestarted { shard: shard.into(), server: format!("s{}", shard + 1) }
}

#[test]
fn a_restarted_worker_ends_the_job_by_name() {
    for (workers, rounds) in [(1, 1), (3, 1), (3, 2)] {
        for worker in [0, workers - 1] {
            let job = assignment(workers, &[0.5, 0.5], 4);
            let mut network = Network::new(job, 0b001, kind_fate());
            for round in 0..rounds {
                run_round(&mut network, &gradients(workers, round, 500));
            }
            network.restart_worker(worker, 1);
            check_end(&mut network, rounds, restarted(worker), &[0, 1]);
            // Frames of its first incarnation, or a third one, change nothing.
            network.restart_worker(worker, 2);
            check_end(&mut network, rounds, restarted(worker), &[0, 1]);
        }
    }
}

/// Restarts at any moment within a round: also when only one server has bound the first incarnation.
#[test]
fn a_worker_that_was_restarted_within_a_round_ends_the_job_by_name() {
    for micros in (10..2000).step_by(35) {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b011, kind_fate());
        let all = gradients(3, 0, 500);
        network.late_start = Some((0, Duration::from_micros(micros)));
        network.start_round(&all);
        network.late_start = None;
        network.restart_worker(1, 1);
        for worker in [0, 1] {
            network.workers[worker].start_round(network.now, &all[worker]).unwrap();
        }
        network.run_until_idle();
        let ends: Vec<_> =
            network.workers.iter_mut().map(|worker| worker.finish_round(&mut [0.0; 500])).collect();
        // Before any server knew it, it may restart.
        match network.servers.iter().all(|server| server.failure().is_none()) {
            true => {
                assert!(ends.iter().all(Result::is_ok), "{ends:?}");
                super::check_sums(&network, &all);
            }
            false => assert!(ends.iter().all(|end| *end == Err(restarted(1))), "{micros} us: {ends:?}"),
        }
        assert!(network.now.since(Instant::START) < PEER_TIMEOUT / 2);
    }
}

#[test]
fn a_server_that_was_restarted_ends_the_job_by_name() {
    for rounds in [1, 2] {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b011, kind_fate());
        for round in 0..rounds {
            run_round(&mut network, &gradients(3, round, 500));
        }
        network.restart_server(1, 1);
        check_end(&mut network, rounds, server_restarted(1), &[0, 1]);
        assert!(network.servers[1].counters().other_runs > 0);
        // Another run is another thing.
        network.run_again(2);
        run_rounds(&mut network, 500);
    }
}

/// Some workers are in the run of the server's first incarnation, and one that starts now would be in that of
/// the second.
#[test]
fn a_restarted_server_keeps_no_late_worker_waiting() {
    for micros in [0, 10, 50, 200, 10_000] {
        let job = assignment(3, &[1.0], 4);
        let mut network = Network::new(job, 0b011, kind_fate());
        let all = gradients(3, 0, 500);
        network.late_start = Some((2, Duration::from_millis(1)));
        network.start_round(&all);
        network.restart_server(0, 1);
        network.run_until(network.now + Duration::from_micros(micros));
        network.restart_worker(2, 1);
        network.workers[2].start_round(network.now, &all[2]).unwrap();
        network.run_until_idle();
        for worker in &mut network.workers {
            assert_eq!(worker.finish_round(&mut [0.0; 500]), Err(server_restarted(0)));
        }
        assert!(network.now.since(Instant::START) < PEER_TIMEOUT / 2);
    }
}

/// A live worker of an earlier run ends; the run of the bound workers continues.
#[test]
fn messages_of_another_run_end_no_run() {
    let job = assignment(3, &[1.0], 4);
    let mut network = Network::new(job, 0b011, kind_fate());
    run_round(&mut network, &gradients(3, 0, 500));
    let mut stale = network.workers[1].clone();
    network.run_again(1);
    run_round(&mut network, &gradients(3, 1, 500));
    let mut buffer = [0; 2048];
    for _ in 0..100 {
        network.now = network.now + Duration::from_millis(50);
        while let Some(length) = stale.poll_transmit(network.now, &mut buffer) {
            network.servers[0].handle_frame(network.now, &buffer[..length]);
        }
        while let Some(length) = network.servers[0].poll_transmit(network.now, &mut buffer) {
            stale.handle_frame(network.now, &buffer[..length]);
        }
    }
    assert_eq!(stale.finish_round(&mut [0.0; 500]), Err(server_restarted(0)));
    assert!(stale.is_idle(), "it knows that it has been heard");
    assert!(network.servers[0].counters().other_runs > 0 && network.servers[0].aborted().is_none());
    run_round(&mut network, &gradients(3, 2, 500));
}

/// Workers that all restart find the server of the previous run.
#[test]
fn no_run_goes_on_with_other_workers() {
    let job = assignment(3, &[1.0], 4);
    let mut network = Network::new(job, 0b011, kind_fate());
    run_round(&mut network, &gradients(3, 0, 500));
    (0..3).for_each(|worker| network.restart_worker(worker, 1));
    check_end(&mut network, 1, restarted(0), &[0]);
}

#[test]
fn incarnations_are_distinguished_under_loss() {
    let faults =
        FaultRates { lost_percent: 20, duplicated_percent: 20, late_percent: 30, latest_micros: 50_000 };
    for seed in 0..30 {
        let job = assignment(3, &[0.5, 0.5], 4);
        let mut network = Network::new(job, 0b011, fate_in(faults.clone(), seed));
        run_round(&mut network, &gradients(3, 0, 500));
        let failure = match seed % 2 {
            0 => {
                network.restart_worker(1, 1);
                restarted(1)
            }
            _ => {
                network.restart_server(1, 1);
                server_restarted(1)
            }
        };
        let start = network.now;
        for result in network.all_reduce(&gradients(3, 1, 500)) {
            assert_eq!(result, Err(failure.clone()), "seed {seed}");
        }
        assert!(network.now.since(start) < 2 * PEER_TIMEOUT);
    }
}

/// No worker of the previous run is in the new one, which is notified all the same: its workers do not wait
/// for them for dozens of peer timeouts.
#[test]
fn an_aborting_worker_notifies_a_server_that_was_restarted_meanwhile() {
    for micros in [0, 10, 50, 200, 10_000] {
        let job = assignment(3, &[1.0], 4);
        let mut network = Network::new(job, 0b011, kind_fate());
        let all = gradients(3, 0, 500);
        network.late_start = Some((2, Duration::from_millis(1)));
        network.start_round(&all);
        network.run_until(network.now + Duration::from_millis(50));
        for worker in [0, 1] {
            network.workers[worker].stop(network.now);
        }
        network.restart_server(0, 1);
        network.run_until(network.now + Duration::from_micros(micros));
        network.restart_worker(2, 1);
        network.workers[2].start_round(network.now, &all[2]).unwrap();
        network.run_until_idle();
        let end = network.workers[2].finish_round(&mut [0.0; 500]);
        assert!(
            matches!(end, Err(Failure::Aborted { reason: AbortReason::Stopped, .. })),
            "{micros} us: {end:?}"
        );
        assert!(network.now.since(Instant::START) < PEER_TIMEOUT, "{micros} us: {:?}", network.now);
    }
}

/// Runs a job in which a second server of shard 0 starts after `micros`, and lets the workers end. Returns
/// the failures of the first server, the second one and that of the other shard. A mutant of the workers
/// sends no abort in the `forgotten` run.
fn ends_of_twins(micros: u64, faults: FaultRates, seed: u64, forgotten: Option<u32>) -> [Option<Failure>; 3] {
    let job = assignment(3, &[0.5, 0.5], 4);
    let mut network = Network::new(job, 0b011, fate_in(faults, seed));
    network.forgotten = forgotten.map(|generation| Incarnation::new(SERVER.get() + generation));
    run_round(&mut network, &gradients(3, 0, 500));
    let all = gradients(3, 1, 500);
    network.start_round(&all);
    network.run_until(network.now + Duration::from_micros(micros));
    network.start_twin(0, 1);
    // A program sums until an error ends it.
    for round in 2.. {
        network.run_until_idle();
        let ends = network.workers.iter_mut().map(|worker| worker.finish_round(&mut [0.0; 500]));
        let ends: Vec<_> = ends.collect();
        if ends.iter().any(Result::is_err) {
            let failure = server_restarted(0);
            assert!(
                ends.iter().all(|end| *end == Err(failure.clone())),
                "seed {seed}, {micros} us: {ends:?}"
            );
            break;
        }
        assert!(network.now.since(Instant::START) < PEER_TIMEOUT, "keep-alives meet the second server");
        network.start_round(&gradients(3, round, 500));
    }
    network.run_until(network.now + Duration::from_secs(1));
    [&network.servers[0], &network.twins[0].1, &network.servers[1]].map(ServerShard::failure)
}

#[test]
fn two_servers_of_one_shard_both_hear_that_the_job_ends() {
    let faults = |lost_percent| FaultRates {
        lost_percent,
        duplicated_percent: 20,
        late_percent: 30,
        latest_micros: 5_000,
    };
    for (seed, micros) in (0..60).zip([0, 10, 50, 200, 1000, 10_000].into_iter().cycle()) {
        for lost in [0, 15] {
            let ends = ends_of_twins(micros, faults(lost), seed, None);
            let expected = [0; 3].map(|shard| Some(server_restarted(shard)));
            assert_eq!(ends, expected, "seed {seed}, {micros} us, {lost} % lost");
        }
    }
    // A mutant that forgets one of the two runs fails.
    for (forgotten, server) in [(0, 0), (1, 1)] {
        let ends = ends_of_twins(50, faults(0), 1, Some(forgotten));
        assert_eq!(ends[server], None, "run {forgotten}");
    }
}

/// Servers of more and more runs answer: the worker ends all the same.
#[test]
fn a_worker_ends_however_many_servers_answer() {
    let job = assignment(2, &[1.0], 4);
    let mut network = Network::new(job, 0b011, kind_fate());
    run_round(&mut network, &gradients(2, 0, 500));
    network.dead_workers.push(1);
    network.workers[0].stop(network.now);
    let mut buffer = [0; 2048];
    let mut sent = 0;
    for generation in 1..1000 {
        network.restart_server(0, generation);
        network.now = network.now + Duration::from_millis(50);
        while let Some(length) = network.workers[0].poll_transmit(network.now, &mut buffer) {
            sent += 1;
            network.servers[0].handle_frame(network.now, &buffer[..length]);
        }
        while let Some(length) = network.servers[0].poll_transmit(network.now, &mut buffer) {
            network.workers[0].handle_frame(network.now, &buffer[..length]);
        }
    }
    assert!(network.workers[0].is_idle() && (10..=40).contains(&sent), "{sent} messages");
}

/// A process with a worker's name at another address, by another plan, ends with an error that names it, and
/// the job continues.
#[test]
fn a_second_worker_at_another_address_is_refused_alone() {
    let job = assignment(3, &[0.5, 0.5], 4);
    let mut network = Network::new(job.clone(), 0b011, kind_fate());
    run_round(&mut network, &gradients(3, 0, 500));
    let mut other = job;
    other.workers[1].mac = MacAddr([2, 0, 0, 9, 0, 9]);
    let mut second = WorkerFlow::new(other, rank(1), Incarnation::new(0x900), PEER_TIMEOUT).unwrap();
    second.start_round(network.now, &[1.0; 500]).unwrap();
    let mut buffer = [0; 2048];
    for _ in 0..3 {
        while let Some(length) = second.poll_transmit(network.now, &mut buffer) {
            network.servers.iter_mut().for_each(|server| server.handle_frame(network.now, &buffer[..length]));
        }
        for server in &mut network.servers {
            while let Some(length) = server.poll_transmit(network.now, &mut buffer) {
                second.handle_frame(network.now, &buffer[..length]);
            }
        }
        network.now = network.now + Duration::from_millis(60);
    }
    let expected = "worker 1 (w2) is 02:00:00:01:00:01 in the parameter servers' assignment, and 02:00:00:09:00:09 in \
                this one: it runs twice, or has another plan; start each worker once, and all hosts by one plan";
    assert_eq!(second.finish_round(&mut [0.0; 500]).unwrap_err().to_string(), expected);
    assert!(second.is_idle(), "it has heard so from all servers");
    assert!(network.servers.iter().all(|server| server.counters().foreign > 0));
    run_rounds(&mut network, 500);
}
