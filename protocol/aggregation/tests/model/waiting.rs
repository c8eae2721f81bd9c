//! A waiting worker names the host it waits for, even if a switch has its values and the server has none.

use std::time::Duration;

use super::network::{Network, assignment, kind_fate};
use super::{check_sums, gradients, run_round};

/// Lengths of digits, of floats and of scaled values.
const LENGTHS: [usize; 3] = [20, 100, 700];

fn waiting(network: &Network, rank: usize) -> Option<String> {
    network.workers[rank].waiting().map(|waiting| waiting.to_string())
}

#[test]
fn a_worker_that_has_not_joined_is_named() {
    for (aggregated, len) in [(0, 700), (0b1111, 20), (0b1111, 700)] {
        let mut network = Network::new(assignment(4, &[0.5, 0.5], 4), aggregated, kind_fate());
        network.dead_workers.push(1);
        network.start_round(&gradients(4, 0, len));
        network.run_until(network.now + Duration::from_secs(1));
        for rank in [0, 2, 3] {
            let named = "tensor 0: worker 1 (w2) has not joined";
            assert_eq!(waiting(&network, rank).as_deref(), Some(named), "{len} values");
        }
        network.dead_workers.push(3);
        network.restart_worker(3, 0);
        network.run_again(1);
        network.start_round(&gradients(4, 0, len));
        network.run_until(network.now + Duration::from_secs(1));
        let named = "tensor 0: worker 1 (w2) and 1 other have not joined";
        assert_eq!(waiting(&network, 2).as_deref(), Some(named), "{len} values");
    }
}

#[test]
fn a_server_that_has_not_answered_is_named() {
    let mut network = Network::new(assignment(2, &[0.5, 0.5], 4), 0b11, kind_fate());
    network.dead_servers.push(1);
    network.start_round(&gradients(2, 0, 700));
    network.run_until(network.now + Duration::from_secs(1));
    let named = "tensor 0: parameter server s2 (shard 1) has not answered";
    assert_eq!(waiting(&network, 0).as_deref(), Some(named));
}

/// A server's job has ended when its workers are silent and no sum is in flight.
#[test]
fn a_server_knows_how_long_its_workers_have_been_silent() {
    let mut network = Network::new(assignment(3, &[1.0], 4), 0b111, kind_fate());
    let silent = |network: &Network| network.servers[0].silent_for(network.now);
    network.dead_workers = vec![0, 1, 2];
    network.run_until(network.now + Duration::from_secs(100));
    assert_eq!(silent(&network), None, "they may be starting");
    assert_eq!(network.servers[0].never_heard().count(), 3);
    network.dead_workers.clear();
    run_round(&mut network, &gradients(3, 0, 700));
    network.run_until(network.now + Duration::from_secs(100));
    assert!(silent(&network).unwrap() < Duration::from_secs(2), "they compute");
    assert_eq!(network.servers[0].never_heard().count(), 0);
    // Two have sent their values, and the third crashes: that is not the end.
    network.switch.forget();
    network.dead_workers = vec![2];
    network.start_round(&gradients(3, 1, 700));
    network.run_until(network.now + Duration::from_secs(5));
    assert_eq!(silent(&network), None);
    let mut network = Network::new(assignment(3, &[1.0], 4), 0, kind_fate());
    run_round(&mut network, &gradients(3, 0, 20));
    network.dead_workers = vec![0, 1, 2];
    network.run_until(network.now + Duration::from_secs(100));
    assert!(silent(&network).unwrap() >= Duration::from_secs(90));
}

/// One worker runs one round less than the others: their agents answer, and no frame is missing.
#[test]
fn a_worker_that_has_not_started_the_tensor_is_named_until_it_has() {
    for aggregated in [0, 0b0011, 0b1111] {
        for len in LENGTHS {
            let mut network = Network::new(assignment(4, &[1.0], 4), aggregated, kind_fate());
            run_round(&mut network, &gradients(4, 0, len));
            assert_eq!(waiting(&network, 0), None);
            let next = gradients(4, 1, len);
            for rank in [0, 3] {
                network.workers[rank].start_round(network.now, &next[rank]).unwrap();
            }
            network.run_until(network.now + Duration::from_secs(4));
            let named = "tensor 1: worker 1 (w2) and 1 other have not started it";
            assert_eq!(waiting(&network, 0).as_deref(), Some(named), "{len} values");
            assert_eq!((waiting(&network, 3).as_deref(), waiting(&network, 1)), (Some(named), None));
            network.workers[1].start_round(network.now, &next[1]).unwrap();
            network.run_until(network.now + Duration::from_secs(4));
            let named = "tensor 1: worker 2 (w3) has not started it";
            assert_eq!(waiting(&network, 1).as_deref(), Some(named), "{len} values");
            network.workers[2].start_round(network.now, &next[2]).unwrap();
            network.run_until_idle();
            check_sums(&network, &next);
            assert!((0..4).all(|rank| waiting(&network, rank).is_none()));
        }
    }
}
