//! The audit of workers.

use inart_protocol_ps::{Applied as When, Batch, BatchRule, Blocking, Options, SyncModel};
use inart_ps_agent::{InOrder, Kept};
use inart_training::{Config, Stepper};

use super::super::audit::check;
use super::super::said::Said;
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

fn restored(kept: Kept) -> InOrder<SyncModel> {
    InOrder::restored(r2sp(), options(), MODEL, kept)
}

fn three() -> Setting {
    setting("workers", WORKERS, None)
}

/// Checks a record that one thing is falsified in.
fn refused(mut said: Said, change: impl FnOnce(&mut Said), expected: &str) {
    change(&mut said);
    let error = check(&three(), &said).expect_err(expected).to_string();
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
    let said = || {
        let mut run = run(r2sp());
        run.until(8);
        run.end()
    };
    type Change = fn(&mut Said);
    let cases: [(Change, &str); 14] = [
        (|said| drop(said.applied.pop()), "s1: it has lost"),
        (|said| drop(said.applied.remove(2)), "s1: version 3 of its model is lacking"),
        (|said| drop(said.pushed.remove(4)), "it was not computed once and taken once"),
        (|said| drop(said.sent.pop_last()), "it was not computed once and taken once"),
        (|said| said.pushed.push(said.pushed[0].clone()), "was taken twice"),
        (
            |said| {
                let again = said.applied[2].updates[0].clone();
                said.applied[4].updates.push(again);
            },
            "s1: it has applied the update of",
        ),
        (|said| said.pushed[5].pushed = "x".into(), "is not what its model gives"),
        (
            |said| said.sent.last_entry().unwrap().get_mut()[0].sent = "x".into(),
            "is not what its model gives",
        ),
        (|said| said.sent.last_entry().unwrap().get_mut()[0].model = "x".into(), "what it pulled"),
        (|said| said.applied[5].updates[0].staleness += 1, "stale"),
        (|said| said.applied[5].updates[0].scale *= 2.0, "does not count"),
        (|said| said.applied[5].model = Some("x".into()), "s1: version 6 is not the sum"),
        (
            |said| {
                let again = said.sent[&(1, 0)][0].clone();
                said.sent.get_mut(&(1, 0)).unwrap().push(again);
            },
            "s1: it has not taken what w2 computed for iteration 0",
        ),
        (
            // The order of two versions' updates: each is bound to the model before it.
            |said| {
                let other = said.applied[6].updates.clone();
                said.applied[6].updates = std::mem::replace(&mut said.applied[7].updates, other);
            },
            "stale",
        ),
    ];
    check(&three(), &said()).unwrap();
    for (change, expected) in cases {
        refused(said(), change, expected);
    }
}

/// A worker that claims one version, and has computed from another one.
#[test]
fn an_update_from_another_version_than_it_says_is_named() {
    let mut run = run(r2sp());
    run.until(8);
    let said = run.end();
    let pushed = said.pushed.iter().rposition(|pushed| pushed.base > 1).unwrap();
    let worker = said.pushed[pushed].worker.clone();
    let number = worker[1..].parse::<usize>().unwrap() - 1;
    let key = (number, said.pushed[pushed].iteration);
    let other = |said: &mut Said| {
        let (base, model) =
            (said.sent[&key][0].base - 1, said.applied[said.sent[&key][0].base as usize - 2].clone());
        let sent = &mut said.sent.get_mut(&key).unwrap()[0];
        // The digest of what was applied is of the model itself; what arrives is rounded, so none fits.
        (sent.base, sent.model) = (base, model.event.model.unwrap_or_default());
        said.pushed[pushed].base = base;
    };
    refused(said, other, "is not a version");
}

#[test]
fn who_was_killed_or_given_up_has_computed_in_vain() {
    let said = |is_killed: bool| {
        let mut run = run(r2sp());
        run.until(4).until_computing(1);
        if is_killed { run.kill(1) } else { run.give_up(1) }.until(12);
        run.end()
    };
    for is_killed in [true, false] {
        let checked = check(&three(), &said(is_killed)).unwrap();
        assert_eq!((checked.wasted_updates, checked.lost), (1, 0));
    }
    let why = "s1: it has not taken what w2 computed";
    refused(said(true), |said| said.killed.clear(), why);
    refused(said(false), |said| said.gone.clear(), why);
    refused(said(false), |said| said.gone[0].worker = "w3".into(), why);
    refused(said(true), |said| said.killed = [(1, 1)].into(), why);
    // Another update of the killed process than its last.
    refused(said(true), |said| said.pushed.retain(|pushed| pushed.worker != "w2"), "taken once");
}

#[test]
fn what_a_killed_server_had_not_kept_may_be_lost_and_nothing_else() {
    let said = |untold| {
        let mut run = run(r2sp());
        run.until(7).kill_server(untold, restored).until(14);
        run.end()
    };
    for untold in [0, 1] {
        let said = said(untold);
        let checked = check(&three(), &said).unwrap();
        assert_eq!(checked.updates + checked.lost, said.pushed.len() as u64, "{untold}");
        assert!(checked.wasted_updates > 0, "{untold}");
    }
    let kept = |said: &mut Said, change: fn(&mut Kept)| change(said.restarts[0].kept.as_mut().unwrap());
    refused(
        said(0),
        |said| kept(said, |kept| kept.values[9] += 1.0),
        "what it has kept is not its version 7",
    );
    refused(said(1), |said| kept(said, |kept| kept.values[9] += 1.0), "is no sum of updates");
    refused(
        said(1),
        |said| kept(said, |kept| kept.version = 5),
        "it resumed from version 5, and had reported 6",
    );
    refused(said(0), |said| said.restarts[0].kept = None, "it resumed from version 0");
    refused(said(0), |said| said.restarts[0].at_ns = 1, "it has not taken what");
    // An update that was applied before the server was killed is applied again after it.
    let again = |said: &mut Said| {
        let mut update = said.applied[0].updates[0].clone();
        update.staleness = 0;
        said.applied.last_mut().unwrap().updates.push(update);
    };
    refused(said(0), again, "twice");
}

/// The server held at most one update of a worker when it was killed.
#[test]
fn a_killed_server_may_lose_the_last_push_of_a_worker_and_none_before() {
    let mut run = run(SyncModel::bsp());
    run.until(3);
    // Two of three have pushed for version 4.
    let pushed = run.said.pushed.len();
    run.until_pushed(pushed + 2);
    run.kill_server(0, |kept| InOrder::restored(SyncModel::bsp(), options(), MODEL, kept)).until(6);
    let said = run.end();
    let checked = check(&three(), &said).unwrap();
    assert_eq!(checked.lost, 2);
    refused(said, |said| said.restarts[0].kept.as_mut().unwrap().version += 1, "no sum of updates");
}
