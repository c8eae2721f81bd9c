//! Groups that take turns, and their ends when a process fails.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use std::time::Duration;

use support::{check_training, plain, train};

#[test]
fn two_groups_train_in_turn_at_two_servers() {
    check_training(plain, &[2, 1], 1, 5);
}

#[test]
fn three_groups_of_which_two_push_at_once() {
    check_training(plain, &[2, 1, 2], 2, 4);
}

#[test]
fn one_group_needs_no_turns() {
    let (workers, _) = train(plain, &[3], 1, Duration::from_secs(20), ([2; 2], &|_, _| 2));
    assert!(
        workers[0].iter().all(|worked| worked.as_ref().unwrap().0.iter().all(|turn| turn.ready.is_none()))
    );
    check_training(plain, &[3], 1, 4);
}

/// Longer than a busy machine delays a thread's answer.
const SHORT: Duration = Duration::from_secs(6);

/// The only worker of its group fails: no worker of the group waits for it, but the other group waits for its
/// turn.
#[test]
fn a_failed_group_ends_all_with_its_name() {
    let stops = |group, _| if group == 1 { 2 } else { 50 };
    let (workers, servers) = train(plain, &[2, 1], 1, SHORT, ([50; 2], &stops));
    for server in servers {
        let error = server.expect_err("the process ends").to_string();
        assert!(error.contains("w2"), "{error}");
    }
    for worker in &workers[0] {
        let error = worker.as_ref().expect_err("the process ends").to_string();
        assert!(error.contains("w2"), "{error}");
    }
}

/// One of two workers of a group fails.
#[test]
fn a_failed_worker_ends_all_with_its_name() {
    let stops = |group, rank| if (group, rank) == (0, 1) { 2 } else { 50 };
    let (workers, servers) = train(plain, &[2, 1], 1, SHORT, ([50; 2], &stops));
    for server in servers {
        let error = server.expect_err("the process ends").to_string();
        assert!(error.contains("w1"), "{error}");
    }
    for worker in [&workers[0][0], &workers[1][0]] {
        let error = worker.as_ref().expect_err("the process ends").to_string();
        assert!(error.contains("w1"), "{error}");
    }
}

/// One of two servers fails.
#[test]
fn a_failed_server_ends_all_with_its_name() {
    let (workers, servers) = train(plain, &[2, 1], 1, SHORT, ([50, 2], &|_, _| 50));
    assert!(servers[1].is_ok(), "the server has served its iterations");
    let error = servers[0].as_ref().expect_err("the process ends").to_string();
    assert!(error.contains("s1"), "{error}");
    for worker in workers.iter().flatten() {
        let error = worker.as_ref().expect_err("the process ends").to_string();
        assert!(error.contains("s1"), "{error}");
    }
}
