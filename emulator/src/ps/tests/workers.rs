//! The audit of workers.

use inart_protocol_ps::{Applied as When, Batch, BatchRule, Blocking, Options, SyncModel};
use inart_ps_agent::{Checkpoint, InOrder};
use inart_training::{Config, Stepper};

use super::super::audit::check;
use super::super::records::Records;
use super::super::setting::Setting;
use super::record::{Run, STEP, setting};

const WORKERS: usize = 3;
const MODEL: u64 = 7;

fn stepper(rank: usize) -> Stepper {
    let config = Config { seed: 3, rank, workers: WORKERS, batch: 4 };
    Stepper::new(config, (STEP / WORKERS as f64) as f32).unwrap()
}

fn options() -> Options {
    let speeds = [4000.0, 2000.0, 1000.0];
    let batches = speeds.map(|speed| Batch::new(4, speed)).to_vec();
    Options { batches, tuning: Some(BatchRule::Proportional), patience: None }
}

fn run(sync_model: SyncModel) -> Run<InOrder<SyncModel>> {
    let mut steppers: Vec<_> = (0..WORKERS).map(stepper).collect();
    let server = InOrder::new(sync_model, options(), MODEL, steppers[0].first_model());
    let compute = move |who: usize, model: &[f32], iteration, batch| {
        steppers[who].update(model, iteration, batch).unwrap()
    };
    Run::new(server, WORKERS, Box::new(compute))
}

fn r2sp() -> SyncModel {
    SyncModel::r2sp(0.8, When::InTurn).unwrap()
}

fn restored(kept: Checkpoint) -> InOrder<SyncModel> {
    InOrder::restored(r2sp(), options(), MODEL, kept)
}

fn three() -> Setting {
    setting("workers", WORKERS, None)
}

/// Checks a record that one thing is falsified in.
fn refused(mut records: Records, change: impl FnOnce(&mut Records), expected: &str) {
    change(&mut records);
    let error = check(&three(), &records).expect_err(expected).to_string();
    assert!(error.contains(expected), "{expected}: {error}");
}

#[test]
fn records_of_right_runs_are_right() {
    let before = Blocking::BeforeCommit;
    let orders = [SyncModel::bsp(), SyncModel::asp(), SyncModel::ssp(2, before).unwrap(), r2sp()];
    for sync_model in orders.into_iter().chain([SyncModel::r2sp_tuned(When::InTurn)]) {
        let mut run = run(sync_model);
        run.until(if sync_model.name() == "bsp" { 4 } else { 11 });
        let checked = check(&three(), &run.end()).unwrap();
        assert!(checked.updates >= 11 && (checked.wasted_updates, checked.lost) == (0, 0), "{checked:?}");
        assert!(!checked.evaluations.is_empty());
    }
    let mut tuned = run(SyncModel::asp());
    tuned.until(6);
    let scales = tuned.end().applied.into_iter().flat_map(|applied| applied.event.updates);
    assert!(scales.into_iter().any(|update| update.scale > 1.5), "some count more than others");
}

#[test]
fn what_is_lost_doubled_or_not_what_it_has_to_be_is_named() {
    let records = || {
        let mut run = run(r2sp());
        run.until(8);
        run.end()
    };
    type Change = fn(&mut Records);
    let cases: [(Change, &str); 14] = [
        (|records| drop(records.applied.pop()), "s1: it has lost"),
        (|records| drop(records.applied.remove(2)), "s1: version 3 of its model is lacking"),
        (|records| drop(records.pushed.remove(4)), "it was not computed once and taken once"),
        (|records| drop(records.sent.pop_last()), "it was not computed once and taken once"),
        (|records| records.pushed.push(records.pushed[0].clone()), "was taken twice"),
        (
            |records| {
                let again = records.applied[2].updates[0].clone();
                records.applied[4].updates.push(again);
            },
            "s1: it has applied the update of",
        ),
        (|records| records.pushed[5].pushed = "x".into(), "is not what its model gives"),
        (
            |records| records.sent.last_entry().unwrap().get_mut()[0].sent = "x".into(),
            "is not what its model gives",
        ),
        (|records| records.sent.last_entry().unwrap().get_mut()[0].model = "x".into(), "what it pulled"),
        (|records| records.applied[5].updates[0].staleness += 1, "stale"),
        (|records| records.applied[5].updates[0].scale *= 2.0, "does not count"),
        (|records| records.applied[5].model = Some("x".into()), "s1: version 6 is not the sum"),
        (
            |records| {
                let again = records.sent[&(1, 0)][0].clone();
                records.sent.get_mut(&(1, 0)).unwrap().push(again);
            },
            "s1: it has not taken what w2 computed for iteration 0",
        ),
        (
            // The order of two versions' updates: each is bound to the model before it.
            |records| {
                let other = records.applied[6].updates.clone();
                records.applied[6].updates = std::mem::replace(&mut records.applied[7].updates, other);
            },
            "stale",
        ),
    ];
    check(&three(), &records()).unwrap();
    for (change, expected) in cases {
        refused(records(), change, expected);
    }
}

/// A worker that claims one version, and has computed from another one.
#[test]
fn an_update_from_another_version_than_it_says_is_named() {
    let mut run = run(r2sp());
    run.until(8);
    let records = run.end();
    let pushed = records.pushed.iter().rposition(|pushed| pushed.base > 1).unwrap();
    let worker = records.pushed[pushed].worker.clone();
    let number = worker[1..].parse::<usize>().unwrap() - 1;
    let key = (number, records.pushed[pushed].iteration);
    let other = |records: &mut Records| {
        let (base, model) = (
            records.sent[&key][0].base - 1,
            records.applied[records.sent[&key][0].base as usize - 2].clone(),
        );
        let sent = &mut records.sent.get_mut(&key).unwrap()[0];
        // The digest of what was applied is of the model itself; what arrives is rounded, so none fits.
        (sent.base, sent.model) = (base, model.event.model.unwrap_or_default());
        records.pushed[pushed].base = base;
    };
    refused(records, other, "is not a version");
}

#[test]
fn who_was_killed_or_given_up_has_computed_in_vain() {
    let records = |is_killed: bool| {
        let mut run = run(r2sp());
        run.until(4).until_computing(1);
        if is_killed { run.kill(1) } else { run.give_up(1) }.until(12);
        run.end()
    };
    for is_killed in [true, false] {
        let checked = check(&three(), &records(is_killed)).unwrap();
        assert_eq!((checked.wasted_updates, checked.lost), (1, 0));
    }
    let why = "s1: it has not taken what w2 computed";
    refused(records(true), |records| records.killed.clear(), why);
    refused(records(false), |records| records.gone.clear(), why);
    refused(records(false), |records| records.gone[0].worker = "w3".into(), why);
    refused(records(true), |records| records.killed = [(1, 1)].into(), why);
    // Another update of the killed process than its last.
    refused(records(true), |records| records.pushed.retain(|pushed| pushed.worker != "w2"), "taken once");
}

#[test]
fn what_a_killed_server_had_not_kept_may_be_lost_and_nothing_else() {
    let records = |unreported| {
        let mut run = run(r2sp());
        run.until(7).kill_server(unreported, restored).until(14);
        run.end()
    };
    for unreported in [0, 1] {
        let records = records(unreported);
        let checked = check(&three(), &records).unwrap();
        assert_eq!(checked.updates + checked.lost, records.pushed.len() as u64, "{unreported}");
        assert!(checked.wasted_updates > 0, "{unreported}");
    }
    let kept = |records: &mut Records, change: fn(&mut Checkpoint)| {
        change(records.restarts[0].kept.as_mut().unwrap())
    };
    refused(
        records(0),
        |records| kept(records, |kept| kept.values[9] += 1.0),
        "what it has kept is not its version 7",
    );
    refused(records(1), |records| kept(records, |kept| kept.values[9] += 1.0), "is no sum of updates");
    refused(
        records(1),
        |records| kept(records, |kept| kept.version = 5),
        "it resumed from version 5, and had reported 6",
    );
    refused(records(0), |records| records.restarts[0].kept = None, "it resumed from version 0");
    refused(records(0), |records| records.restarts[0].at_ns = 1, "it has not taken what");
    // An update that was applied before the server was killed is applied again after it.
    let again = |records: &mut Records| {
        let mut update = records.applied[0].updates[0].clone();
        update.staleness = 0;
        records.applied.last_mut().unwrap().updates.push(update);
    };
    refused(records(0), again, "twice");
}

/// The server held at most one update of a worker when it was killed.
#[test]
fn a_killed_server_may_lose_the_last_push_of_a_worker_and_none_before() {
    let mut run = run(SyncModel::bsp());
    run.until(3);
    // Two of three have pushed for version 4.
    let pushed = run.records.pushed.len();
    run.until_pushed(pushed + 2);
    run.kill_server(0, |kept| InOrder::restored(SyncModel::bsp(), options(), MODEL, kept)).until(6);
    let records = run.end();
    let checked = check(&three(), &records).unwrap();
    assert_eq!(checked.lost, 2);
    refused(records, |records| records.restarts[0].kept.as_mut().unwrap().version += 1, "no sum of updates");
}
