//! The audit of clients in groups.

use std::collections::BTreeSet;

use inart_protocol_ps::{GroupOptions, fraction_of, relaxation_of};
use inart_ps_agent::{InGroups, Kept};
use inart_training::{Client, Config, Local};

use super::super::audit::Checked;
use super::super::audit_groups::check;
use super::super::said::Said;
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

fn restored(kept: Kept) -> InGroups {
    InGroups::restored(options(1.0), vec![4; CLIENTS], 7, kept).unwrap()
}

fn checked(said: &Said) -> Result<Checked, Error> {
    let clients = Clients { local: LOCAL, opposite: BTreeSet::new() };
    check(&setting("clients", CLIENTS, Some(clients.clone())), &clients, GROUPS, said)
}

fn refused(mut said: Said, change: impl FnOnce(&mut Said), expected: &str) {
    change(&mut said);
    let error = checked(&said).expect_err(expected).to_string();
    assert!(error.contains(expected), "{expected}: {error}");
}

#[test]
fn what_is_lost_doubled_or_not_what_it_has_to_be_is_named() {
    let said = || {
        let mut run = run(1.0);
        run.until(6);
        run.end()
    };
    let all = checked(&said()).unwrap();
    assert!(all.updates >= 15 && (all.wasted_updates, all.lost) == (0, 0), "{all:?}");
    type Change = fn(&mut Said);
    let cases: [(Change, &str); 12] = [
        (|said| drop(said.applied.pop()), "s1: it has lost"),
        (|said| drop(said.applied.remove(2)), "s1: version 3 of its model is lacking"),
        (|said| drop(said.applied[3].updates.pop()), "is not merged of its clients' models"),
        (|said| drop(said.pushed.remove(4)), "was not trained once and taken once"),
        (|said| said.pushed.push(said.pushed[0].clone()), "was taken twice"),
        (
            |said| {
                let again = said.applied[2].updates[0].clone();
                said.applied[2].updates.push(again);
            },
            "s1: it has merged the model of",
        ),
        (|said| said.pushed[5].pushed = "x".into(), "is not what its images give"),
        (|said| said.sent.last_entry().unwrap().get_mut()[0].model = "x".into(), "is not a version"),
        (|said| said.applied[4].updates[0].staleness += 1, "stale"),
        (|said| said.applied[4].model = Some("x".into()), "s1: version 5 is not merged"),
        (
            // A client of the other group in a group's round.
            |said| {
                let other = said.applied[3].updates[0].clone();
                said.applied[2].updates.push(other);
            },
            "",
        ),
        (
            |said| {
                let (key, copies) = said.sent.first_key_value().unwrap();
                let (key, mut again) = (*key, copies[0].clone());
                again.began_ns += 1;
                said.sent.get_mut(&key).unwrap().push(again);
            },
            "it has not taken what w1 trained in round 0",
        ),
    ];
    for (change, expected) in cases {
        refused(said(), change, expected);
    }
}

/// Groups take turns: two groups' rounds may have one number, but never one version.
#[test]
fn a_model_of_another_groups_round_is_named() {
    let mut run = run(1.0);
    run.until(6);
    let said = run.end();
    let of = |group: usize| {
        move |applied: &&super::super::said::Applied| {
            applied.updates[0].worker[1..].parse::<usize>().unwrap() % GROUPS == (group + 1) % GROUPS
        }
    };
    let first = said.applied.iter().find(of(0)).unwrap().applied as usize - 1;
    let second = said.applied.iter().find(of(1)).unwrap().applied as usize - 1;
    // A client of the group that comes second joins the round of the first.
    let (at, into) = if first < second { (second, first) } else { (first, second) };
    let moved = said.applied[at].updates[0].clone();
    let change = move |said: &mut Said| {
        let mut moved = moved;
        let pushed = said
            .pushed
            .iter()
            .find(|pushed| pushed.worker == moved.worker && pushed.iteration == moved.iteration);
        moved.staleness = into as u64 - pushed.unwrap().base;
        said.applied[at].updates.remove(0);
        said.applied[into].updates.push(moved);
    };
    refused(said, change, "is not of its group's round");
}

#[test]
fn who_comes_late_trains_in_vain_and_nobody_else() {
    let said = || {
        let mut run = run(0.5);
        run.until(8);
        run.end()
    };
    let right = said();
    let all = checked(&right).unwrap();
    assert!(all.wasted_updates > 0 && all.lost == 0, "{all:?}");
    // In the last round of its group, a model that is not there is lost.
    let last = right.pushed.last().unwrap().clone();
    refused(
        said(),
        |said| {
            let place = said.pushed.iter().position(|pushed| pushed.at_ns == last.at_ns).unwrap();
            said.pushed.remove(place);
        },
        "taken once",
    );
}

#[test]
fn who_was_killed_or_given_up_has_trained_in_vain() {
    for is_killed in [true, false] {
        let said = || {
            let mut run = run(1.0);
            run.until(3).until_computing(0);
            if is_killed { run.kill(0) } else { run.give_up(0) }.until(8);
            run.end()
        };
        let all = checked(&said()).unwrap();
        assert_eq!((all.wasted_updates, all.lost), (1, 0), "{is_killed}");
        let clear = |said: &mut Said| {
            said.killed.clear();
            said.gone.clear();
        };
        refused(said(), clear, "s1: it has not taken what w1 trained");
    }
}

#[test]
fn a_killed_server_goes_on_from_a_version_that_is_merged_again() {
    let said = |untold| {
        let mut run = run(1.0);
        run.until(5).kill_server(untold, restored).until(10);
        run.end()
    };
    for untold in [0, 1] {
        let all = checked(&said(untold)).unwrap();
        assert!(all.wasted_updates > 0, "{untold}: {all:?}");
    }
    let value = |said: &mut Said| said.restarts[0].kept.as_mut().unwrap().values[9] += 1.0;
    refused(said(0), value, "what it has kept is not its version 5");
    refused(said(1), value, "is not merged of models");
    refused(said(0), |said| said.restarts[0].kept = None, "it resumed from version 0");
}
