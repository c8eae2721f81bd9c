//! Workers and a server on real interfaces (`support/mod.rs`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "skipping is not to be silent")]

use std::sync::{Arc, Barrier};
use std::thread;

use inart_host_agent::{BatchedPort, Error, Options, PortError, Server, Worker};
use inart_protocol_aggregation::Failure;
use inart_wire::{AbortReason, Rank};

use crate::support::{PEER_TIMEOUT, assignment, on_a_bridge, options};

/// Values of each gradient.
const LEN: usize = 5000;

/// A worker that waits for no longer than [`PEER_TIMEOUT`].
fn short_peer_timeout(rank: u16) -> Worker {
    let port = BatchedPort::open(&format!("w{rank}")).unwrap();
    Worker::with_options(assignment(), rank.try_into().unwrap(), port, options()).unwrap()
}

/// Runs two rounds, then one with a NaN at worker 0. Returns the sums and the failure. Both workers have
/// their sums before one of them aborts: otherwise the job would end for the other within its round.
fn work(rank: u16, summed: &Barrier) -> (Vec<Vec<f32>>, Error) {
    let mut worker = Worker::new(assignment(), Rank::try_from(rank).unwrap(), &format!("w{rank}")).unwrap();
    let mut gradient = vec![0.0f32; LEN];
    let mut sums = Vec::new();
    for round in 0..2u16 {
        for (index, value) in gradient.iter_mut().enumerate() {
            *value = f32::from(round + 1) * (index as f32 - f32::from(rank) / 4.0);
        }
        let stats = worker.all_reduce(&mut gradient).unwrap();
        assert_eq!((stats.round, stats.counters.results), (round.into(), (LEN.div_ceil(64) + 1) as u64));
        sums.push(gradient.clone());
    }
    summed.wait();
    gradient[5] = if rank == 0 { f32::NAN } else { 0.0 };
    (sums, worker.all_reduce(&mut gradient).unwrap_err())
}

#[test]
fn a_computing_worker_is_waited_for_and_a_failed_one_is_named() {
    on_a_bridge(|| {
        let server = thread::spawn(|| {
            let mut server = Server::new(assignment(), 0.into(), "s0", options()).unwrap();
            server.run().unwrap_err().to_string()
        });
        let slow = thread::spawn(|| {
            let mut worker = short_peer_timeout(1);
            for _ in 0..2 {
                thread::sleep(3 * PEER_TIMEOUT);
                worker.all_reduce(&mut [0.5; LEN]).unwrap();
            }
            // It leaves between rounds.
        });
        let mut worker = short_peer_timeout(0);
        let mut sum = [0.5; LEN];
        worker.all_reduce(&mut sum).unwrap();
        assert_eq!(sum, [1.0; LEN]);
        worker.all_reduce(&mut sum).unwrap();
        slow.join().unwrap();
        // This worker's program receives the error from its next round.
        thread::sleep(2 * PEER_TIMEOUT);
        let error = worker.all_reduce(&mut sum).unwrap_err();
        let expected = "the job was aborted: worker 1 (w1) is silent";
        assert_eq!(error.to_string(), expected);
        assert_eq!(server.join().unwrap(), expected);
    });
}

#[test]
fn events_while_a_worker_computes_are_reported_by_its_next_round() {
    on_a_bridge(|| {
        let server = thread::spawn(|| {
            Server::new(assignment(), 0.into(), "s0", options()).unwrap().run().unwrap_err();
        });
        let mut worker = short_peer_timeout(0);
        let mut culprit = short_peer_timeout(1);
        let failed = thread::spawn(move || culprit.all_reduce(&mut [f32::NAN; LEN]).unwrap_err());
        failed.join().unwrap();
        server.join().unwrap();
        // The server has failed: only the worker's own thread can have noticed.
        let error = worker.all_reduce(&mut [0.0; LEN]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the job was aborted: worker 1 (w1) has a gradient with a NaN or an infinity"
        );
    });
}

#[test]
fn two_workers_and_a_server_on_a_bridge() {
    on_a_bridge(|| {
        let server = thread::spawn(|| {
            let mut server = Server::new(assignment(), 0.into(), "s0", Options::default()).unwrap();
            let end = server.run().unwrap_err();
            (end.to_string(), server.counters())
        });
        let summed = Arc::new(Barrier::new(2));
        let start = |rank| {
            let summed = Arc::clone(&summed);
            thread::spawn(move || work(rank, &summed))
        };
        let workers: Vec<_> = (0..2).map(start).collect();
        let [(sums, culprit), (same, other)] =
            workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>().try_into().unwrap();

        assert_eq!(sums, same, "the same bits at both workers");
        for (round, sum) in sums.iter().enumerate() {
            for (index, value) in sum.iter().enumerate() {
                // Multiples of a quarter below 2^23: exact at the scale of any block.
                let right = (round + 1) as f32 * (2.0 * index as f32 - 0.25);
                assert_eq!(*value, right);
            }
        }
        assert!(matches!(culprit, Error::Failure(Failure::NotFinite { index: 5, .. })), "{culprit}");
        let Error::Failure(Failure::Aborted { reason: AbortReason::NotFinite, name, .. }) = other else {
            panic!("{other}")
        };
        assert_eq!(name, "w0");
        let (end, counters) = server.join().unwrap();
        assert_eq!(end, "the job was aborted: worker 0 (w0) has a gradient with a NaN or an infinity");
        assert_eq!(counters.chunks, 2 * (LEN.div_ceil(64) + 1) as u64);
        assert_eq!((counters.malformed, counters.overlaps, counters.other_shapes), (0, 0, 0));
    });
}

/// Returns the error of a worker's rounds, at the latest after some peer timeouts.
fn last_error(mut worker: Worker, mut gradient: Vec<f32>) -> String {
    loop {
        if let Err(error) = worker.all_reduce(&mut gradient) {
            return error.to_string();
        }
    }
}

#[test]
fn a_restarted_worker_ends_all_with_its_name() {
    on_a_bridge(|| {
        let server = thread::spawn(|| {
            Server::new(assignment(), 0.into(), "s0", options()).unwrap().run().unwrap_err().to_string()
        });
        let peer = thread::spawn(|| last_error(short_peer_timeout(0), vec![0.5; LEN]));
        let mut worker = short_peer_timeout(1);
        worker.all_reduce(&mut [0.5; LEN]).unwrap();
        drop(worker);
        // In the same process, within the peer timeout; its peer waits for it in a round.
        let restarted = last_error(short_peer_timeout(1), vec![0.5; LEN]);
        let expected =
            "the job was aborted: worker 1 (w1) was restarted, or runs twice; start each worker once";
        assert_eq!([restarted, peer.join().unwrap(), server.join().unwrap()], [expected; 3]);
    });
}

#[test]
fn an_empty_gradient_at_one_worker_ends_both() {
    on_a_bridge(|| {
        let server = thread::spawn(|| {
            Server::new(assignment(), 0.into(), "s0", options()).unwrap().run().unwrap_err().to_string()
        });
        let full = thread::spawn(|| last_error(short_peer_timeout(0), vec![0.5; LEN]));
        let empty = short_peer_timeout(1).all_reduce(&mut []).unwrap_err().to_string();
        let expected = "the job was aborted: worker 1 (w1) has a gradient of 0 values, others have 5000";
        assert_eq!([empty, full.join().unwrap(), server.join().unwrap()], [expected; 3]);
    });
}

#[test]
fn missing_interfaces_are_named() {
    let error = Worker::new(assignment(), Rank::try_from(0u16).unwrap(), "nowhere0").err().unwrap();
    assert!(matches!(&error, Error::Port(PortError::NoSuchInterface { .. })), "{error}");
    assert!(error.to_string().starts_with("interface nowhere0 does not exist; name one of lo"));
}

#[test]
fn assignments_are_checked_first() {
    let error = Worker::new(assignment(), Rank::try_from(2u16).unwrap(), "nowhere0").err().unwrap();
    assert_eq!(error.to_string(), "assignment: rank 2: the job bridge has ranks 0 to 1");
}
