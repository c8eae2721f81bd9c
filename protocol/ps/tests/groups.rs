//! Groups of clients: counted updates, waits and exclusions.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_protocol_ps::{
    Arrival, ClientNo, GroupError, GroupOptions, GroupOutput, GroupServer, OutlierRule, Part, Refusal,
};
use proptest::prelude::*;

fn options(clients: usize, groups: usize, fraction: f64) -> GroupOptions {
    GroupOptions {
        clients,
        groups,
        fraction: Part::new(fraction).unwrap(),
        relaxation: Part::WHOLE,
        patience: None,
        outliers: None,
    }
}

fn seconds(at: f64) -> Duration {
    Duration::from_secs_f64(at)
}

fn server(options: GroupOptions) -> GroupServer {
    let clients = options.clients as u32;
    let mut server = GroupServer::new(options, Duration::ZERO).unwrap();
    (0..clients).for_each(|client| server.join(ClientNo(client), Duration::ZERO));
    drain(&mut server);
    server
}

fn drain(server: &mut GroupServer) -> Vec<GroupOutput> {
    std::iter::from_fn(|| server.next_output()).collect()
}

fn aggregated(outputs: &[GroupOutput]) -> Vec<(usize, u64, Vec<u32>)> {
    let of = |output: &GroupOutput| match output {
        GroupOutput::Aggregate { group, round, clients, .. } => {
            Some((*group, *round, clients.iter().map(|client| client.0).collect()))
        }
        _ => None,
    };
    outputs.iter().filter_map(of).collect()
}

fn push(server: &mut GroupServer, client: u32, round: u64, at: f64) -> Arrival {
    server.push(ClientNo(client), round, Ok(()), seconds(at))
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let new = |options| GroupServer::new(options, Duration::ZERO).map(drop).unwrap_err();
    assert_eq!(new(options(4, 5, 1.0)), GroupError::Groups { groups: 5, clients: 4 });
    assert_eq!(new(options(4, 0, 1.0)), GroupError::Groups { groups: 0, clients: 4 });
    assert_eq!(new(options(4, 2, 0.0)), GroupError::Fraction);
    let with = |threshold, rounds| GroupOptions {
        outliers: Some(OutlierRule { threshold, rounds, ..OutlierRule::default() }),
        ..options(4, 2, 1.0)
    };
    assert_eq!(new(with(1.5, 3)), GroupError::Threshold(1.5));
    assert!(matches!(new(with(f64::NAN, 3)), GroupError::Threshold(_)));
    assert_eq!(new(with(0.5, 0)), GroupError::Rounds);
}

/// The R²SP paper's `frac_collected` is never reset, so its second round would start full.
#[test]
fn every_round_counts_from_nothing() {
    let mut server = server(GroupOptions { relaxation: Part::NONE, ..options(4, 1, 0.75) });
    for (round, at) in [(0, 10.0), (1, 20.0), (2, 30.0)] {
        assert_eq!(push(&mut server, 0, round, at), Arrival::Collected);
        assert_eq!(push(&mut server, 1, round, at), Arrival::Collected);
        server.tick(seconds(at + 9.0));
        assert!(aggregated(&drain(&mut server)).is_empty(), "two of four are not three");
        push(&mut server, 2, round, at + 9.0);
        server.tick(seconds(at + 9.9));
        assert_eq!(aggregated(&drain(&mut server)), [(0, round, vec![0, 1, 2])]);
    }
    // The fourth update arrives now, with the model of the first round.
    assert_eq!(push(&mut server, 3, 0, 40.0), Arrival::Late);
    assert_eq!(drain(&mut server), [GroupOutput::Answer { client: ClientNo(3), round: 3 }]);
    assert_eq!((server.counters().late, server.counters().aggregated), (1, 9));
}

#[test]
fn a_push_counts_once() {
    let mut server = server(options(2, 1, 1.0));
    assert_eq!(push(&mut server, 0, 0, 1.0), Arrival::Collected);
    assert_eq!(push(&mut server, 0, 0, 1.1), Arrival::Repeated);
    assert!(aggregated(&drain(&mut server)).is_empty());
    let nan = server.push(ClientNo(1), 0, Err(Refusal::NotFinite { at: 3 }), seconds(2.0));
    assert_eq!(nan, Arrival::Refused);
    assert_eq!(drain(&mut server), [GroupOutput::Answer { client: ClientNo(1), round: 0 }]);
    let other = Err(Refusal::OtherModel { model: 1, own: 2 });
    assert_eq!(server.push(ClientNo(1), 0, other, seconds(2.5)), Arrival::Refused);
    assert_eq!(push(&mut server, 1, 0, 3.0), Arrival::Collected);
    assert_eq!(aggregated(&drain(&mut server)), [(0, 0, vec![0, 1])]);
    let counted = server.counters();
    assert_eq!((counted.repeated, counted.not_finite, counted.other_model), (1, 1, 1));
    assert_eq!(push(&mut server, 9, 0, 4.0), Arrival::Barred);
}

/// Groups of one are R²SP: in turn, T/M apart.
#[test]
fn groups_meet_the_server_in_turn_at_even_gaps() {
    let mut server = server(options(4, 4, 1.0));
    // All have arrived at 8 s; T is 8 s.
    (0..4).rev().for_each(|client| {
        push(&mut server, client, 0, 8.0);
    });
    let mut times = Vec::new();
    let mut now = Duration::from_secs(8);
    loop {
        times.extend(aggregated(&drain(&mut server)).into_iter().map(|(group, ..)| (group, now)));
        let Some(at) = server.wake_at() else { break };
        now = at;
        server.tick(now);
    }
    let even: Vec<_> = [8, 10, 12, 14].map(Duration::from_secs).into_iter().enumerate().collect();
    assert_eq!(times, even);
}

#[test]
fn a_group_that_lost_everybody_is_passed_over() {
    let mut server = server(GroupOptions { relaxation: Part::NONE, ..options(4, 2, 1.0) });
    server.leave(ClientNo(0), seconds(1.0));
    server.leave(ClientNo(2), seconds(1.0));
    for round in 0..3 {
        push(&mut server, 1, round, 2.0);
        push(&mut server, 3, round, 2.0);
        assert_eq!(aggregated(&drain(&mut server)), [(1, round, vec![1, 3])]);
    }
    // One rejoins: after the other group, which has the turn, its own has the turn again.
    server.join(ClientNo(2), seconds(3.0));
    assert_eq!(drain(&mut server), [GroupOutput::Answer { client: ClientNo(2), round: 0 }]);
    let both = |server: &mut GroupServer, round| {
        push(server, 1, round, 4.0);
        push(server, 3, round, 4.0);
        aggregated(&drain(server))
    };
    assert_eq!(both(&mut server, 3), [(1, 3, vec![1, 3])]);
    assert!(both(&mut server, 4).is_empty());
    push(&mut server, 2, 0, 5.0);
    assert_eq!(aggregated(&drain(&mut server)), [(0, 0, vec![2]), (1, 4, vec![1, 3])]);
}

#[test]
fn a_silent_client_times_out_and_may_return() {
    let patience = Some(Duration::from_secs(5));
    let mut server = server(GroupOptions { patience, relaxation: Part::NONE, ..options(2, 1, 1.0) });
    push(&mut server, 0, 0, 1.0);
    assert_eq!(server.wake_at(), Some(Duration::from_secs(5)));
    server.tick(Duration::from_secs(5));
    let outputs = drain(&mut server);
    assert_eq!(outputs[0], GroupOutput::Gone { client: ClientNo(1) });
    assert_eq!(aggregated(&outputs), [(0, 0, vec![0])]);
    assert_eq!(push(&mut server, 1, 0, 6.0), Arrival::Barred);
    server.join(ClientNo(1), seconds(6.0));
    assert_eq!(drain(&mut server), [GroupOutput::Answer { client: ClientNo(1), round: 1 }]);
    assert_eq!((server.size(0), server.counters().silent), (2, 1));
}

fn judged(server: &mut GroupServer, cosines: &[f64]) -> Vec<u32> {
    let all: Vec<_> = (0..).map(ClientNo).zip(cosines.iter().copied()).collect();
    server.judge(0, &all, Duration::ZERO).into_iter().map(|client| client.0).collect()
}

#[test]
fn an_outlier_is_left_out_after_three_rounds_running() {
    let outliers = Some(OutlierRule::default());
    let mut server = server(GroupOptions { outliers, ..options(4, 1, 1.0) });
    let usual = [0.9, 0.8, 0.1, 0.9];
    assert!(judged(&mut server, &usual).is_empty() && judged(&mut server, &usual).is_empty());
    // One similar update resets the count.
    assert!(judged(&mut server, &[0.9, 0.8, 0.6, 0.9]).is_empty());
    assert!(judged(&mut server, &usual).is_empty() && judged(&mut server, &usual).is_empty());
    assert_eq!(judged(&mut server, &usual), [2]);
    assert_eq!((server.size(0), push(&mut server, 2, 0, 1.0)), (3, Arrival::Barred));
    server.join(ClientNo(2), seconds(2.0));
    assert!(drain(&mut server).is_empty(), "the outlier stays excluded");
}

/// Near convergence the updates of all are noise: the R²SP paper's rule empties groups.
#[test]
fn rounds_in_which_most_look_like_outliers_do_not_count() {
    let outliers = Some(OutlierRule { rounds: 1, ..OutlierRule::default() });
    let mut server = server(GroupOptions { outliers, ..options(4, 1, 1.0) });
    for _ in 0..5 {
        assert!(judged(&mut server, &[0.4, 0.3, 0.1, 0.9]).is_empty());
    }
    assert_eq!((server.size(0), server.counters().rounds_unscored), (4, 5));
}

proptest! {
    /// Whatever the cosines, at least half of a group stays.
    #[test]
    fn a_blacklist_never_empties_a_group(
        clients in 1u32..9,
        rounds in prop::collection::vec(prop::collection::vec(-1.0f64..1.0, 9), 1..30),
    ) {
        let outliers = Some(OutlierRule { rounds: 1, threshold: 0.5, ..OutlierRule::default() });
        let mut server = server(GroupOptions { outliers, ..options(clients as usize, 1, 1.0) });
        for cosines in rounds {
            judged(&mut server, &cosines[..clients as usize]);
            prop_assert!(server.size(0) >= (clients as usize).div_ceil(2));
        }
    }

    /// In any order of pushes, an update is in one aggregation at most, and that of its own round.
    #[test]
    fn no_update_is_aggregated_twice(
        steps in prop::collection::vec((0u32..9, 0u32..4, 0u64..3), 1..200),
        groups in 1usize..4,
        fraction in 0.1f64..1.0,
    ) {
        let mut server = server(options(9, groups, fraction));
        let mut last_round = [0u64; 9];
        let mut in_round = std::collections::BTreeSet::new();
        let mut accepted = std::collections::BTreeSet::new();
        for (at, (client, what, back)) in steps.into_iter().enumerate() {
            let now = at as f64;
            match what {
                0 => server.leave(ClientNo(client), seconds(now)),
                1 => server.join(ClientNo(client), seconds(now)),
                _ => {
                    let round = last_round[client as usize].saturating_sub(back);
                    if push(&mut server, client, round, now) == Arrival::Collected {
                        prop_assert!(accepted.insert((client, round)));
                    }
                }
            }
            server.tick(seconds(now));
            for output in drain(&mut server) {
                match output {
                    GroupOutput::Aggregate { round, clients, .. } => {
                        for client in clients {
                            prop_assert!(accepted.contains(&(client.0, round)));
                            prop_assert!(in_round.insert((client.0, round)), "twice");
                        }
                    }
                    GroupOutput::Answer { client, round } => last_round[client.index()] = round,
                    GroupOutput::Gone { .. } => prop_assert!(false, "no client times out here"),
                }
            }
        }
        prop_assert_eq!(server.counters().aggregated, in_round.len() as u64);
        // An accepted update outside all aggregations is in an open round.
        for (client, round) in accepted.difference(&in_round) {
            prop_assert_eq!(server.round(*client as usize % groups), Some(*round));
        }
    }
}

#[test]
fn collected_updates_are_aggregated_once_all_have_left() {
    let mut server = server(options(4, 2, 1.0));
    (0..4).for_each(|client| assert_eq!(push(&mut server, client, 0, 10.0), Arrival::Collected));
    assert_eq!(aggregated(&drain(&mut server)), [(0, 0, vec![0, 2])]);
    // Group 1 is full, and its gap has not passed and never will, since the time does not advance.
    (0..4).for_each(|client| server.leave(ClientNo(client), seconds(10.0)));
    assert_eq!(aggregated(&drain(&mut server)), [(1, 0, vec![1, 3])]);
}

#[test]
fn a_client_that_restarts_within_a_round_is_answered_with_the_others() {
    let mut server = server(options(2, 1, 1.0));
    push(&mut server, 0, 0, 1.0);
    server.join(ClientNo(0), seconds(2.0));
    assert_eq!(push(&mut server, 0, 0, 3.0), Arrival::Repeated);
    drain(&mut server);
    push(&mut server, 1, 0, 4.0);
    let answered = |output: &GroupOutput| matches!(output, GroupOutput::Answer { .. });
    assert_eq!(drain(&mut server).iter().filter(|output| answered(output)).count(), 2);
}
