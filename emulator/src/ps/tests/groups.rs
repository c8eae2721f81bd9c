//! The audit of clients in groups.

use std::collections::BTreeSet;

use inart_protocol_ps::{GroupOptions, fraction_of, relaxation_of};
use inart_ps_agent::{Checkpoint, InGroups};
use inart_training::{Client, Config, Local};

use super::super::audit::Checked;
use super::super::audit_groups::check;
use super::super::records::Records;
use super::super::setting::Clients;
use super::record::{Run, setting};
use crate::error::Error;

const CLIENTS: usize = 5;
const GROUPS: usize = 2;
const LOCAL: Local = Local { shards: 3, steps: 2, step: 0.2 };

fn options(fraction: f64) -> GroupOptions {
    GroupOptions {
        clients: CLIENTS,
        groups: GROUPS,
        fraction: fraction_of(fraction).unwrap(),
        relaxation: relaxation_of(0.5).unwrap(),
        patience: None,
        outliers: None,
    }
}

fn run(fraction: f64) -> Run<InGroups> {
    let client = |rank| Client::new(Config { seed: 3, rank, workers: CLIENTS, batch: 4 }, LOCAL).unwrap();
    let mut clients: Vec<_> = (0..CLIENTS).map(client).collect();
    let server = InGroups::new(options(fraction), vec![4; CLIENTS], 7, clients[0].first_model()).unwrap();
    let compute = move |who: usize, model: &[f32], round, _| clients[who].train(model, round);
    Run::new(server, CLIENTS, Box::new(compute))
}

fn restored(kept: Checkpoint) -> InGroups {
    InGroups::restored(options(1.0), vec![4; CLIENTS], 7, kept).unwrap()
}

fn checked(records: &Records) -> Result<Checked, Error> {
    let clients = Clients { local: LOCAL, opposite: BTreeSet::new() };
    check(&setting("clients", CLIENTS, Some(clients.clone())), &clients, GROUPS, records)
}

fn refused(mut records: Records, change: impl FnOnce(&mut Records), expected: &str) {
    change(&mut records);
    let error = checked(&records).expect_err(expected).to_string();
    assert!(error.contains(expected), "{expected}: {error}");
}

#[test]
fn what_is_lost_doubled_or_not_what_it_has_to_be_is_named() {
    let records = || {
        let mut run = run(1.0);
        run.until(6);
        run.end()
    };
    let all = checked(&records()).unwrap();
    assert!(all.updates >= 15 && (all.wasted_updates, all.lost) == (0, 0), "{all:?}");
    type Change = fn(&mut Records);
    let cases: [(Change, &str); 12] = [
        (|records| drop(records.applied.pop()), "s1: it has lost"),
        (|records| drop(records.applied.remove(2)), "s1: version 3 of its model is lacking"),
        (|records| drop(records.applied[3].updates.pop()), "is not merged of its clients' models"),
        (|records| drop(records.pushed.remove(4)), "was not trained once and taken once"),
        (|records| records.pushed.push(records.pushed[0].clone()), "was taken twice"),
        (
            |records| {
                let again = records.applied[2].updates[0].clone();
                records.applied[2].updates.push(again);
            },
            "s1: it has merged the model of",
        ),
        (|records| records.pushed[5].pushed = "x".into(), "is not what its images give"),
        (|records| records.sent.last_entry().unwrap().get_mut()[0].model = "x".into(), "is not a version"),
        (|records| records.applied[4].updates[0].staleness += 1, "stale"),
        (|records| records.applied[4].model = Some("x".into()), "s1: version 5 is not merged"),
        (
            // A client of the other group in a group's round.
            |records| {
                let other = records.applied[3].updates[0].clone();
                records.applied[2].updates.push(other);
            },
            "",
        ),
        (
            |records| {
                let (key, copies) = records.sent.first_key_value().unwrap();
                let (key, mut again) = (*key, copies[0].clone());
                again.began_ns += 1;
                records.sent.get_mut(&key).unwrap().push(again);
            },
            "it has not taken what w1 trained in round 0",
        ),
    ];
    for (change, expected) in cases {
        refused(records(), change, expected);
    }
}

/// Groups take turns: two groups' rounds may have one number, but never one version.
#[test]
fn a_model_of_another_groups_round_is_named() {
    let mut run = run(1.0);
    run.until(6);
    let records = run.end();
    let of = |group: usize| {
        move |applied: &&super::super::records::Applied| {
            applied.updates[0].worker[1..].parse::<usize>().unwrap() % GROUPS == (group + 1) % GROUPS
        }
    };
    let first = records.applied.iter().find(of(0)).unwrap().applied as usize - 1;
    let second = records.applied.iter().find(of(1)).unwrap().applied as usize - 1;
    // A client of the group that comes second joins the round of the first.
    let (at, into) = if first < second { (second, first) } else { (first, second) };
    let moved = records.applied[at].updates[0].clone();
    let change = move |records: &mut Records| {
        let mut moved = moved;
        let pushed = records
            .pushed
            .iter()
            .find(|pushed| pushed.worker == moved.worker && pushed.iteration == moved.iteration);
        moved.staleness = into as u64 - pushed.unwrap().base;
        records.applied[at].updates.remove(0);
        records.applied[into].updates.push(moved);
    };
    refused(records, change, "is not of its group's round");
}

#[test]
fn a_late_client_trains_in_vain_and_no_other() {
    let records = || {
        let mut run = run(0.5);
        run.until(8);
        run.end()
    };
    let right = records();
    let all = checked(&right).unwrap();
    assert!(all.wasted_updates > 0 && all.lost == 0, "{all:?}");
    // A model that is missing in the last round of its group is lost.
    let last = right.pushed.last().unwrap().clone();
    refused(
        records(),
        |records| {
            let place = records.pushed.iter().position(|pushed| pushed.at_ns == last.at_ns).unwrap();
            records.pushed.remove(place);
        },
        "taken once",
    );
}

#[test]
fn who_was_killed_or_given_up_has_trained_in_vain() {
    for is_killed in [true, false] {
        let records = || {
            let mut run = run(1.0);
            run.until(3).until_computing(0);
            if is_killed { run.kill(0) } else { run.give_up(0) }.until(8);
            run.end()
        };
        let all = checked(&records()).unwrap();
        assert_eq!((all.wasted_updates, all.lost), (1, 0), "{is_killed}");
        let clear = |records: &mut Records| {
            records.killed.clear();
            records.gone.clear();
        };
        refused(records(), clear, "s1: it has not taken what w1 trained");
    }
}

#[test]
fn a_killed_server_goes_on_from_a_version_that_is_merged_again() {
    let records = |unreported| {
        let mut run = run(1.0);
        run.until(5).kill_server(unreported, restored).until(10);
        run.end()
    };
    for unreported in [0, 1] {
        let all = checked(&records(unreported)).unwrap();
        assert!(all.wasted_updates > 0, "{unreported}: {all:?}");
    }
    let value = |records: &mut Records| records.restarts[0].kept.as_mut().unwrap().values[9] += 1.0;
    refused(records(0), value, "what it has kept is not its version 5");
    refused(records(1), value, "is not merged of models");
    refused(records(0), |records| records.restarts[0].kept = None, "it resumed from version 0");
}
