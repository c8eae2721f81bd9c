//! Unexpected events at a server: each is counted, and no worker is stuck.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_protocol_ps::{
    Applied, Blocking, Options, Output, Overflow, PushOutcome, Refusal, Server, ServerError, Snapshot, Step,
    Store, SyncModel, SyncModelError, Worker, WorkerNo,
};

const NOW: Duration = Duration::ZERO;

fn r2sp() -> SyncModel {
    SyncModel::r2sp(0.0, Applied::InTurn).unwrap()
}

fn server(workers: u32, sync_model: SyncModel) -> Server<SyncModel> {
    let mut server = Server::new(sync_model, Options::fixed(workers as usize));
    (0..workers).for_each(|worker| server.join(WorkerNo(worker), NOW).unwrap());
    server
}

fn drain(server: &mut Server<SyncModel>) -> Vec<Output> {
    std::iter::from_fn(|| server.next_output()).collect()
}

fn applied(outputs: &[Output]) -> Vec<(u32, u64)> {
    let of = |output: &Output| match output {
        Output::Apply { updates, .. } => {
            updates.iter().map(|update| (update.worker.0, update.iteration)).collect()
        }
        _ => Vec::new(),
    };
    outputs.iter().flat_map(of).collect()
}

fn permitted(outputs: &[Output]) -> Vec<(u32, u64)> {
    let of = |output: &Output| match output {
        Output::Permit { worker, iteration, .. } => Some((worker.0, *iteration)),
        _ => None,
    };
    outputs.iter().filter_map(of).collect()
}

/// Lets all workers request and pull.
fn begin(server: &mut Server<SyncModel>, workers: u32) {
    (0..workers).for_each(|worker| server.request(WorkerNo(worker), NOW).unwrap());
    assert_eq!(permitted(&drain(server)).len(), workers as usize);
    (0..workers).for_each(|worker| {
        server.pull(WorkerNo(worker), NOW).unwrap();
    });
}

fn push(server: &mut Server<SyncModel>, worker: u32, iteration: u64) -> PushOutcome {
    server.push(WorkerNo(worker), iteration, Ok(()), NOW).unwrap()
}

#[test]
fn sync_models_with_wrong_numbers_are_refused() {
    let message = |error: SyncModelError| error.to_string();
    for r in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(message(SyncModel::r2sp(r, Applied::InTurn).unwrap_err()).contains("from 0 to 1"));
    }
    for fraction in [0.0, -1.0, 1.5, f64::NAN] {
        assert!(message(SyncModel::safa(fraction, 5).unwrap_err()).contains("above 0"));
    }
    assert_eq!(SyncModel::ssp(0, Blocking::BeforeCommit).unwrap_err(), SyncModelError::Bound);
    assert!(SyncModel::ssp(0, Blocking::AfterPush).is_ok());
}

#[test]
fn an_early_update_waits_for_its_turn() {
    let mut server = server(3, r2sp());
    begin(&mut server, 3);
    assert_eq!((push(&mut server, 2, 0), push(&mut server, 1, 0)), (PushOutcome::Held, PushOutcome::Held));
    assert!(applied(&drain(&mut server)).is_empty());
    push(&mut server, 0, 0);
    assert_eq!(applied(&drain(&mut server)), [(0, 0), (1, 0), (2, 0)]);
}

#[test]
fn a_duplicate_push_counts_once() {
    let mut server = server(2, r2sp());
    begin(&mut server, 2);
    push(&mut server, 1, 0);
    assert_eq!(push(&mut server, 1, 0), PushOutcome::Repeated, "while it is held");
    push(&mut server, 0, 0);
    assert_eq!(push(&mut server, 0, 0), PushOutcome::Repeated, "when it was applied");
    assert_eq!(applied(&drain(&mut server)), [(0, 0), (1, 0)]);
    assert_eq!(push(&mut server, 0, 1), PushOutcome::Unasked, "the next one was not requested");
    assert_eq!(push(&mut server, 0, 7), PushOutcome::Unasked);
    let counters = server.counters();
    assert_eq!((counters.applied, counters.repeated, counters.unasked), (2, 2, 2));
}

/// A refused update is dropped in its turn: those behind it proceed, and the model stays unchanged.
#[test]
fn a_refused_update_blocks_no_worker() {
    let mut server = server(3, r2sp());
    begin(&mut server, 3);
    let refusal = Refusal::NotFinite { at: 5 };
    push(&mut server, 1, 0);
    push(&mut server, 2, 0);
    assert_eq!(server.push(WorkerNo(0), 0, Err(refusal), NOW), Ok(PushOutcome::Held));
    let outputs = drain(&mut server);
    assert_eq!(outputs[0], Output::Discard { worker: WorkerNo(0), iteration: 0, refusal });
    assert_eq!(applied(&outputs), [(1, 0), (2, 0)]);
    assert_eq!((server.worker_states().version(), server.counters().not_finite), (2, 1));
    server.request(WorkerNo(0), NOW).unwrap();
    assert_eq!(permitted(&drain(&mut server)), [(0, 1)]);
    server.pull(WorkerNo(0), NOW).unwrap();
    let other = Refusal::OtherModel { model: 1, own: 2 };
    server.push(WorkerNo(0), 1, Err(other), NOW).unwrap();
    let length = Refusal::OtherLength { values: 1, own: 2 };
    for worker in [1, 2] {
        server.request(WorkerNo(worker), NOW).unwrap();
        server.pull(WorkerNo(worker), NOW).unwrap();
    }
    server.push(WorkerNo(1), 1, Err(length), NOW).unwrap();
    assert_eq!(server.counters().other_model, 2);
}

/// In a BSP round of refused updates, nothing is applied, and the next round starts.
#[test]
fn a_round_of_refused_updates_changes_nothing() {
    let mut server = server(2, SyncModel::bsp());
    begin(&mut server, 2);
    for worker in 0..2 {
        server.push(WorkerNo(worker), 0, Err(Refusal::NotFinite { at: 0 }), NOW).unwrap();
    }
    assert!(applied(&drain(&mut server)).is_empty() && server.worker_states().version() == 0);
    begin(&mut server, 2);
}

#[test]
fn calls_that_mean_nothing_are_named() {
    let mut server = server(2, r2sp());
    let stranger = server.request(WorkerNo(2), NOW).unwrap_err();
    assert_eq!(stranger, ServerError::Unknown { worker: 2, last: 1 });
    assert_eq!(server.pull(WorkerNo(0), NOW), Err(ServerError::NotPermitted(0)));
    assert_eq!(server.counters().not_permitted, 1);
    server.leave(WorkerNo(0), NOW).unwrap();
    assert_eq!(server.request(WorkerNo(0), NOW), Err(ServerError::Away(0)));
}

/// N changes: turns visit the members, and an update pushed before its worker left is applied.
#[test]
fn workers_come_and_go() {
    let mut server = server(3, r2sp());
    begin(&mut server, 3);
    push(&mut server, 2, 0);
    server.leave(WorkerNo(2), NOW).unwrap();
    server.leave(WorkerNo(1), NOW).unwrap();
    push(&mut server, 0, 0);
    assert_eq!(applied(&drain(&mut server)), [(0, 0), (2, 0)]);
    // One member.
    server.request(WorkerNo(0), NOW).unwrap();
    server.pull(WorkerNo(0), NOW).unwrap();
    push(&mut server, 0, 1);
    server.request(WorkerNo(0), NOW).unwrap();
    let outputs = drain(&mut server);
    assert_eq!((applied(&outputs), permitted(&outputs)), (vec![(0, 1)], vec![(0, 1), (0, 2)]));
    assert_eq!(push(&mut server, 1, 0), PushOutcome::Unasked);
    // The worker rejoins, and is not behind: SSP would wait for the iterations that it missed.
    server.join(WorkerNo(1), NOW).unwrap();
    assert_eq!(server.worker_states().worker_state(WorkerNo(1)).done(), 2);
    server.request(WorkerNo(1), NOW).unwrap();
    assert_eq!(permitted(&drain(&mut server)), [(1, 2)]);
}

#[test]
fn a_worker_that_never_pushes_times_out() {
    let patience = Some(Duration::from_secs(9));
    let mut server = Server::new(r2sp(), Options { patience, ..Options::fixed(2) });
    (0..2).for_each(|worker| server.join(WorkerNo(worker), NOW).unwrap());
    begin(&mut server, 2);
    server.push(WorkerNo(1), 0, Ok(()), Duration::from_secs(2)).unwrap();
    server.request(WorkerNo(1), Duration::from_secs(2)).unwrap();
    assert_eq!(server.wake_at(), Some(Duration::from_secs(9)));
    server.tick(Duration::from_secs(9));
    let outputs = drain(&mut server);
    assert_eq!(outputs[0], Output::Gone { worker: WorkerNo(0), silent: Duration::from_secs(9) });
    assert_eq!((applied(&outputs), permitted(&outputs)), (vec![(1, 0)], vec![(1, 1)]));
    assert_eq!(server.counters().silent, 1);
}

/// A server restarts while an update is in flight: the update is dropped, counted, and computed again.
#[test]
fn a_restarted_server_resumes_from_its_last_model() {
    let mut before = server(2, r2sp());
    begin(&mut before, 2);
    push(&mut before, 0, 0);
    push(&mut before, 1, 0);
    let snapshot = before.snapshot();
    assert_eq!(snapshot, Snapshot { version: 2, done: vec![1, 1], members: vec![true; 2] });
    before.request(WorkerNo(0), NOW).unwrap();
    before.pull(WorkerNo(0), NOW).unwrap();
    drop(before);
    let mut after = Server::restored(r2sp(), Options::fixed(2), &snapshot);
    (0..2).for_each(|worker| after.join(WorkerNo(worker), NOW).unwrap());
    assert_eq!(push(&mut after, 0, 0), PushOutcome::Repeated, "the update is in the model");
    assert_eq!(push(&mut after, 0, 1), PushOutcome::Unasked, "the restarted server does not know its pull");
    begin(&mut after, 2);
    assert_eq!(push(&mut after, 0, 1), PushOutcome::Held);
    assert_eq!((applied(&drain(&mut after)), after.worker_states().version()), (vec![(0, 1)], 3));
}

/// Workers resume at their own counts, in any order; only missed iterations of those that had left are not
/// awaited.
#[test]
fn workers_of_a_restarted_server_have_their_own_counts() {
    let snapshot = Snapshot { version: 12, done: vec![5, 3, 1, 4], members: vec![true, true, false, true] };
    let options = Options::fixed(4);
    let mut server = Server::restored(SyncModel::asp(), options, &snapshot);
    [2, 0, 1].into_iter().for_each(|worker| server.join(WorkerNo(worker), NOW).unwrap());
    let done = |server: &Server<SyncModel>| {
        [0, 1, 2, 3].map(|worker| server.worker_states().worker_state(WorkerNo(worker)).done())
    };
    assert_eq!(done(&server), [5, 3, 3, 4]);
    begin(&mut server, 3);
    for round in 0..3 {
        (0..3).for_each(|worker| {
            let next = server.worker_states().worker_state(WorkerNo(worker)).done();
            assert_eq!(push(&mut server, worker, next), PushOutcome::Held, "{round}");
        });
        begin(&mut server, 3);
    }
    // A worker that joins later starts at the least count of the others, as always.
    server.join(WorkerNo(3), NOW).unwrap();
    assert_eq!(done(&server), [8, 6, 6, 6]);
}

/// The host's part, with values: held updates are applied in turn, with their factor.
#[test]
fn a_store_follows_the_server() {
    let (mut server, mut store) = (server(2, r2sp()), Store::new(7, vec![0.0; 2]));
    begin(&mut server, 2);
    for (worker, values) in [(1, [10.0, 20.0]), (0, [1.0, f32::NAN])] {
        let checked = store.check(7, &values);
        assert_eq!(server.push(WorkerNo(worker), 0, checked, NOW), Ok(PushOutcome::Held));
        store.hold(WorkerNo(worker), values.to_vec());
    }
    for output in drain(&mut server) {
        match output {
            Output::Apply { updates, .. } => updates.iter().for_each(|update| {
                assert_eq!(store.apply(update.worker, 0.5 * update.scale() as f32), Ok(true));
            }),
            Output::Discard { worker, .. } => assert!(store.discard(worker)),
            _ => {}
        }
    }
    assert_eq!(store.values(), [5.0, 10.0]);
}

/// Both machines together, with lost messages: both make progress.
#[test]
fn a_worker_requests_again_after_a_lost_connection() {
    let mut server = server(1, r2sp());
    let mut worker = Worker::new();
    assert_eq!(worker.start(), [Step::Join, Step::Request]);
    server.request(WorkerNo(0), NOW).unwrap();
    // The permission is lost.
    drain(&mut server);
    assert_eq!(worker.reconnected(), Step::Request);
    server.request(WorkerNo(0), NOW).unwrap();
    assert_eq!((permitted(&drain(&mut server)), server.counters().said_again), (vec![(0, 0)], 1));
    assert_eq!(worker.permitted(0, 5), Some(Step::Pull { iteration: 0 }));
    assert_eq!(worker.permitted(0, 5), None);
    assert_eq!(worker.reconnected(), Step::Pull { iteration: 0 });
    server.pull(WorkerNo(0), NOW).unwrap();
    assert_eq!(worker.pulled(), Some(Step::Compute { iteration: 0, batch: 5 }));
    assert_eq!((worker.pulled(), worker.computed()), (None, Some(Step::Push { iteration: 0 })));
    // The answer to the push is lost: the worker pushes again.
    assert_eq!(push(&mut server, 0, 0), PushOutcome::Held);
    assert_eq!(worker.reconnected(), Step::Push { iteration: 0 });
    let taken = push(&mut server, 0, 0);
    assert_eq!((taken, worker.pushed(0, taken)), (PushOutcome::Repeated, Some(Step::Request)));
    assert_eq!(applied(&drain(&mut server)), [(0, 0)]);
}

#[test]
fn updates_held_before_commit_are_applied_once_all_have_left() {
    let mut server = server(2, SyncModel::ssp(1, Blocking::BeforeCommit).unwrap());
    begin(&mut server, 2);
    push(&mut server, 0, 0);
    server.request(WorkerNo(0), NOW).unwrap();
    server.pull(WorkerNo(0), NOW).unwrap();
    push(&mut server, 0, 1);
    assert_eq!(applied(&drain(&mut server)), [(0, 0)], "worker 0 is ahead by its bound");
    // While worker 1 takes part it may catch up.
    server.leave(WorkerNo(0), NOW).unwrap();
    assert_eq!(applied(&drain(&mut server)), []);
    server.leave(WorkerNo(1), NOW).unwrap();
    assert_eq!(applied(&drain(&mut server)), [(0, 1)]);
    assert_eq!(server.counters().applied, 2);
}

#[test]
fn finite_updates_do_not_make_the_model_infinite() {
    // 3e38 + 3e38 and 3e38 * 2 are beyond the largest float32, 3.4e38.
    for (factor, updates) in [(1.0, 2), (2.0, 1)] {
        let mut store = Store::new(7, vec![1.0, 0.0]);
        for update in 1..=updates {
            store.hold(WorkerNo(3), vec![1.0, 3e38]);
            let applied = store.apply(WorkerNo(3), factor);
            match update == updates {
                true => assert_eq!(applied, Err(Overflow { worker: WorkerNo(3), at: 1 })),
                false => assert_eq!(applied, Ok(true)),
            }
        }
        assert_eq!(store.values()[0], updates as f32, "the model stays as it was before the update");
        assert!(!store.discard(WorkerNo(3)));
    }
}

/// A worker that timed out pulls with a void permission, and gets the same iteration again.
#[test]
fn a_worker_with_a_refused_pull_requests_again() {
    let mut server = server(1, r2sp());
    let mut worker = Worker::new();
    worker.start();
    server.request(WorkerNo(0), NOW).unwrap();
    assert_eq!(permitted(&drain(&mut server)), [(0, 0)]);
    assert_eq!(worker.permitted(0, 5), Some(Step::Pull { iteration: 0 }));
    server.leave(WorkerNo(0), NOW).unwrap();
    assert_eq!(server.pull(WorkerNo(0), NOW), Err(ServerError::NotPermitted(0)));
    assert_eq!(worker.not_permitted(7), None, "another pull");
    assert_eq!(worker.not_permitted(0), Some(Step::Request));
    assert_eq!(worker.not_permitted(0), None, "twice");
    server.join(WorkerNo(0), NOW).unwrap();
    server.request(WorkerNo(0), NOW).unwrap();
    assert_eq!(permitted(&drain(&mut server)), [(0, 0)]);
    assert_eq!(worker.permitted(0, 5), Some(Step::Pull { iteration: 0 }));
    assert_eq!(server.pull(WorkerNo(0), NOW), Ok(0));
}

/// Under SAFA an update waits for a lagging worker. Its worker leaves meanwhile, and rejoins behind the
/// others: the update keeps its number, and the worker resumes where the others are.
#[test]
fn a_held_update_keeps_its_number_when_its_worker_rejoins() {
    let (waits, lags, other) = (WorkerNo(0), WorkerNo(1), WorkerNo(2));
    let mut server = server(3, SyncModel::safa(0.1, 0).unwrap());
    (0..3).for_each(|worker| server.request(WorkerNo(worker), NOW).unwrap());
    for worker in [lags, other] {
        assert_eq!(server.pull(worker, NOW).map(|_| push(&mut server, worker.0, 0)), Ok(PushOutcome::Held));
        server.request(worker, NOW).unwrap();
        // One lags behind from here on: it has pulled the first version, and the other makes the second.
        assert_eq!(server.pull(worker, NOW), Ok(1 + u64::from(worker == other)));
    }
    server.pull(waits, NOW).unwrap();
    assert_eq!(applied(&drain(&mut server)), [(1, 0), (2, 0)]);
    push(&mut server, 0, 0);
    server.leave(waits, NOW).unwrap();
    server.join(waits, NOW).unwrap();
    assert_eq!(push(&mut server, 0, 0), PushOutcome::Repeated, "the update is held");
    assert_eq!(server.worker_states().least_done(), 1, "missed iterations are not awaited");
    server.request(waits, NOW).unwrap();
    assert!(drain(&mut server).is_empty(), "the update still waits for the lagging worker");
    push(&mut server, 1, 1);
    let outputs = drain(&mut server);
    assert_eq!(applied(&outputs), [(0, 0), (1, 1)]);
    assert_eq!(permitted(&outputs), [(0, 1)]);
}
