//! Runs of clients whose models the test computes: pulled versions, updates in each version, and exclusions.
#![allow(clippy::unwrap_used)]

use inart_protocol_ps::{Arrival, GroupError, OutlierRule};
use inart_simulator_ps::{ClientEvent, ClientOptions, RunError, run_clients_judged};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

/// Returns eight clients, some slower than others.
fn job() -> Job {
    let nic = Nic { out_bps: 1.0, in_bps: 1.0 };
    let participant = |at: usize| Participant {
        name: format!("c{at}"),
        nic,
        delay_s: 0.01,
        compute: Time { mean_s: 1.0 + 0.3 * at as f64, cv: 0.1 },
        batch: 1,
        speed: 1.0,
    };
    Job {
        name: "eight".to_owned(),
        kind: Kind::Clients,
        participants: (0..8).map(participant).collect(),
        server: Nic { out_bps: 8.0, in_bps: 8.0 },
        bits: 0.5,
        pause: Time { mean_s: 0.1, cv: 1.0 },
    }
}

fn options(groups: usize) -> ClientOptions {
    ClientOptions {
        groups,
        fraction: 0.75,
        relaxation: 1.0,
        rounds: 12,
        seed: 4,
        patience_s: None,
        absences: Vec::new(),
        usage_s: None,
    }
}

/// Returns all events of a run in which the clients of `odd` are outliers.
fn events(groups: usize, rule: Option<OutlierRule>, odd: &[usize]) -> Vec<ClientEvent> {
    let mut events = Vec::new();
    run_clients_judged(&job(), &options(groups), rule, &mut |_, event| {
        events.push(event.clone());
        let ClientEvent::Aggregate { clients, .. } = event else { return Vec::new() };
        clients.into_iter().map(|client| (client, if odd.contains(&client) { -1.0 } else { 1.0 })).collect()
    })
    .unwrap();
    events
}

/// Versions count up by one, and a client pulls the current one. A client whose push was collected is in the
/// next version of its group, and has pulled since its last one.
#[test]
fn versions_are_reported_in_order() {
    for groups in [1, 2, 4] {
        let (mut version, mut collected, mut pulled) = (0, Vec::new(), vec![Some(0); 8]);
        for event in events(groups, None, &[]) {
            match event {
                ClientEvent::Pull { client, version: of } => {
                    assert_eq!(of, version);
                    pulled[client] = Some(of);
                }
                ClientEvent::Push { client, arrival, .. } => {
                    assert!(pulled[client].take().is_some_and(|of| of <= version), "{client}");
                    match arrival {
                        Arrival::Collected => collected.push(client),
                        other => assert_eq!(other, Arrival::Late),
                    }
                }
                ClientEvent::Aggregate { group, version: of, mut clients, .. } => {
                    assert_eq!(of, version + 1);
                    version = of;
                    let (mut own, others): (Vec<_>, Vec<_>) =
                        collected.into_iter().partition(|at| at % groups == group);
                    collected = others;
                    own.sort_unstable();
                    clients.sort_unstable();
                    assert_eq!(own, clients);
                }
                ClientEvent::LeftOut { .. } | ClientEvent::Gone { .. } => panic!("{event:?}"),
            }
        }
        assert!(version >= 12 * groups as u64, "{version}");
    }
}

/// An outlier in three rounds of its group is excluded: it is in no later version, and its pushes are
/// refused; the group continues without it.
#[test]
fn outliers_are_left_out_of_all_that_follows() {
    let all = events(2, Some(OutlierRule::default()), &[1, 4]);
    let mut judged = [0; 8];
    let mut out: Vec<usize> = Vec::new();
    for event in &all {
        match event {
            ClientEvent::Aggregate { clients, .. } => {
                assert!(clients.iter().all(|client| !out.contains(client)), "{clients:?} {out:?}");
                clients.iter().for_each(|client| judged[*client] += 1);
            }
            ClientEvent::LeftOut { client } => {
                assert_eq!(judged[*client], 3);
                out.push(*client);
            }
            ClientEvent::Push { client, arrival, .. } => {
                assert_eq!(*arrival == Arrival::Barred, out.contains(client), "{client} {arrival:?}");
            }
            ClientEvent::Pull { .. } | ClientEvent::Gone { .. } => {}
        }
    }
    out.sort_unstable();
    assert_eq!(out, [1, 4]);
    // Without a rule no client is excluded.
    let without = events(2, None, &[1, 4]);
    assert!(!without.iter().any(|event| matches!(event, ClientEvent::LeftOut { .. })));
    // Without a rule cosines have no effect.
    assert_eq!(without, events(2, None, &[]));
}

#[test]
fn rules_that_cannot_be_are_refused() {
    let run = |rule| run_clients_judged(&job(), &options(2), Some(rule), &mut |_, _| Vec::new()).unwrap_err();
    let rule = OutlierRule { rounds: 0, ..OutlierRule::default() };
    assert_eq!(run(rule), RunError::Groups(GroupError::Rounds));
}
