//! Peers and coordinators on QUIC connections over the loopback interface: every update is compared word for
//! word at every receiver, every average with one computed in another way.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_peers_agent::{AdmissionError, Sync};
use inart_peers_host::{CHUNK_VALUES, HostError, Schedule};

use crate::support::{self, Recorded, World};

/// Several chunks, of which the last is shorter.
const VALUES: usize = 3 * CHUNK_VALUES + 1234;

fn schedule(sync: Sync, force_after: Option<u32>, rounds: u32) -> Schedule {
    Schedule { sync, force_after, rounds }
}

fn all(recorded: Vec<Result<Recorded, HostError>>) -> Vec<Recorded> {
    recorded.into_iter().map(Result::unwrap).collect()
}

#[test]
fn bulk_synchronous_peers_average_what_was_sent_to_them() {
    let world = World::new(5, 2, VALUES, schedule(Sync::Bsp, None, 6));
    let _coordinator = world.coordinator("c1");
    let peers = all(world.run_all());
    let seen = support::check(&peers, Some(Sync::Bsp));
    assert_eq!((seen.given_up, seen.lost_rounds), (0, 0));
    // Every update of every round reaches at least two peers.
    assert!(seen.received >= 5 * 6 * 2, "{seen:?}");
    assert_eq!(seen.averages, 5 * 6);
    for peer in &peers {
        let ending = peer.ending.unwrap();
        assert_eq!(ending.peer.malformed + ending.peer.unfit + ending.refused.malformed, 0, "{ending:?}");
        assert_eq!(ending.sender.given_up + ending.receiver.abandoned, 0, "{ending:?}");
    }
}

#[test]
fn with_all_receivers_the_weights_agree_bit_for_bit() {
    let world = World::new(4, 3, VALUES, schedule(Sync::Bsp, None, 4));
    let _coordinator = world.coordinator("c1");
    let peers = all(world.run_all());
    support::check(&peers, Some(Sync::Bsp));
    for round in 1..=4 {
        let first = &peers[0].averages[&round];
        assert_eq!(first.of.len(), 3);
        for peer in &peers {
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert!(bits(&peer.averages[&round].values) == bits(&first.values), "round {round}");
        }
    }
}

#[test]
fn stale_synchronous_peers_keep_their_distance_and_the_rule_of_k() {
    let (staleness, k, rounds) = (2, 3, 12);
    let world = World::new(4, 1, VALUES, schedule(Sync::Ssp { staleness }, Some(k), rounds));
    // One peer computes for longer than the others.
    let world = world.slow("p2", Duration::from_millis(40));
    let _coordinator = world.coordinator("c1");
    let peers = all(world.run_all());
    let seen = support::check(&peers, Some(Sync::Ssp { staleness }));
    assert!(seen.received > 0 && seen.averages == 4 * rounds as usize, "{seen:?}");
    // Every pair exchanges an update at least once in k + 1 rounds.
    for (from, peer) in peers.iter().enumerate() {
        for to in (0..4).filter(|&to| to != from) {
            let meets = (1..=rounds).filter(|round| peer.complete(*round).contains(&to));
            let rounds_to: Vec<u32> = [0].into_iter().chain(meets).chain([rounds + 1]).collect();
            let gaps = rounds_to.windows(2).map(|pair| pair[1] - pair[0]);
            let longest = gaps.max().unwrap();
            assert!(longest <= k + 1, "{from} to {to}: {rounds_to:?}");
        }
    }
}

#[test]
fn a_failed_peer_is_named_and_the_others_train_on() {
    let world = World::new(4, 3, VALUES, schedule(Sync::Bsp, None, 8)).with_short_timeouts();
    let _coordinator = world.coordinator("c1");
    // The program ends in the middle of round 3, as if the process were killed.
    let peers = world.dying("p4", 3).run_all();
    assert!(matches!(&peers[3], Ok(gone) if gone.ending.is_none()));
    let peers = all(peers);
    let seen = support::check(&peers, None);
    assert!(seen.averages >= 3 * 8 + 2, "{seen:?}");
    for peer in &peers[..3] {
        assert_eq!(peer.averages.len(), 8);
        assert_eq!(peer.ending.unwrap().peer.gone, 1);
        // The remaining peers average each other's updates to the last round.
        assert_eq!(peer.averages[&8].of.len(), 2);
        assert!(!peer.complete(8).contains(&3));
    }
}

#[test]
fn a_restarted_peer_takes_part_again() {
    let rounds = 60;
    let world = World::new(4, 3, 2000, schedule(Sync::Bsp, None, rounds)).with_short_timeouts();
    let world = world.slow("p1", Duration::from_millis(60));
    let _coordinator = world.coordinator("c1");
    let peers = all(world.dying("p4", 3).restarting("p4").run_all());
    support::check(&peers, None);
    // The second incarnation is the last entry.
    let again = &peers[4];
    let first = *again.sent.keys().next().unwrap();
    assert!(first >= 3, "the peer resumes where the others are, in round {first}");
    assert!(again.ending.is_some() && again.averages.contains_key(&rounds));
    // The peer starts with the model of the three others, not with the first weights.
    let adopted = &again.averages[&(first - 1)];
    assert!(adopted.without_own && !adopted.of.is_empty(), "{:?}", adopted.of);
    assert_eq!(again.averages.values().filter(|average| average.without_own).count(), 1);
    assert_eq!(peers[0].averages[&rounds].of.len(), 3, "the others average its updates");
}

#[test]
fn without_a_coordinator_the_last_receivers_go_on() {
    let rounds = 20;
    let world = World::new(4, 2, VALUES, schedule(Sync::Bsp, None, rounds)).with_short_timeouts();
    let world = world.slow("p1", Duration::from_millis(20));
    let coordinator = world.coordinator("c1");
    let world = world.at_round("p1", 5, Box::new(move || drop(coordinator)));
    let peers = all(world.run_all());
    let seen = support::check(&peers, Some(Sync::Bsp));
    assert_eq!((seen.averages, seen.given_up), (4 * rounds as usize, 0));
    let last: Vec<_> = (10..=rounds).map(|round| peers[1].complete(round)).collect();
    assert!(last.windows(2).all(|pair| pair[0] == pair[1]), "{last:?}");
    assert!(peers.iter().all(|peer| peer.rounds_with_previous_receivers > 0));
}

#[test]
fn a_second_coordinator_takes_over_and_the_first_one_ends() {
    let world = World::new(4, 2, VALUES, schedule(Sync::Bsp, None, 30)).with_coordinators(&["c1", "c2"]);
    let world = world.slow("p1", Duration::from_millis(20));
    let first = world.coordinator("c1");
    let second = world.coordinator_at_round("p1", 5, "c2");
    let peers = all(world.run_all());
    let seen = support::check(&peers, Some(Sync::Bsp));
    assert_eq!((seen.averages, seen.given_up), (4 * 30, 0));
    assert!(matches!(first.ended(), Some(HostError::Superseded { name, .. }) if name == "c1"));
    assert!(second.lock().unwrap().take().unwrap().has_chosen());
}

#[test]
fn strangers_are_turned_away() {
    let world = World::new(4, 2, VALUES, schedule(Sync::Bsp, None, 6));
    let _coordinator = world.coordinator("c1");
    // One probe has a certificate of the same authority and is not in the job; one has p1's name and a
    // certificate of another authority. The lesser name connects.
    let (unknown, forged) = (world.unknown_probe("o1", "p4"), world.forged_probe("p1", "p4"));
    // The probes run while all train, and no peer ends before them: the others wait for p2.
    let (say, error) = std::sync::mpsc::channel();
    let probe = move || {
        let unknown = std::thread::spawn(|| unknown.was_let_in());
        say.send([forged.was_let_in(), unknown.join().unwrap()]).unwrap();
    };
    let peers = all(world.at_round("p2", 3, Box::new(probe)).run_all());
    support::check(&peers, Some(Sync::Bsp));
    let connections = peers[3].ending.unwrap().connections;
    assert!(connections.unknown_senders > 0 && connections.refused > 0, "{connections:?}");
    assert_eq!(error.recv().unwrap(), [false, false]);
}

#[test]
fn a_peer_that_cannot_take_part_reports_why() {
    // No coordinator admits the peer.
    let mut world = World::new(3, 1, 100, schedule(Sync::Bsp, None, 3)).with_short_timeouts();
    world.patience.meeting = Duration::from_secs(2);
    let error = world.run_one("p1").unwrap_err();
    assert!(
        matches!(&error, HostError::Rejected { error: AdmissionError::NoCoordinator { .. }, .. }),
        "{error}"
    );
    assert!(error.to_string().starts_with("peer p1: no coordinator has admitted peer 0 within"), "{error}");
    // The coordinator has another number of rounds.
    world.patience.meeting = Duration::from_secs(60);
    let other = world.with_schedule(schedule(Sync::Bsp, Some(2), 3));
    let _coordinator = other.coordinator("c1");
    let error = world.run_one("p1").unwrap_err();
    assert!(matches!(&error, HostError::Rejected { error: AdmissionError::OtherJob { .. }, .. }), "{error}");
}

#[test]
fn an_unusable_update_ends_its_peer_by_name() {
    let world = World::new(3, 2, 100, schedule(Sync::Bsp, None, 5)).with_short_timeouts();
    let _coordinator = world.coordinator("c1");
    let peers = world.spoiling("p2", 2).run_all();
    let error = peers[1].as_ref().unwrap_err().to_string();
    assert_eq!(
        error,
        "peer p2: value 7 of the update of peer 1 in round 2 is NaN; no other peer could use it"
    );
    assert!(peers[0].is_ok() && peers[2].is_ok());
}

#[test]
fn addresses_have_to_be_those_of_the_job() {
    let world = World::new(3, 1, 100, schedule(Sync::Bsp, None, 1));
    let error = |change: &dyn Fn(&mut inart_peers_host::HostOptions)| {
        let mut options = world.options("p1");
        change(&mut options);
        let setup = world.job.setup("p1", &world.patience).unwrap();
        inart_peers_host::PeerHost::open(&world.job, setup, options).unwrap_err().to_string()
    };
    let nowhere = "127.0.0.1:9".parse().unwrap();
    assert_eq!(
        error(&|options| _ = options.peers.remove("p2")),
        "peer p2 has no address at p1; give p2=HOST:PORT"
    );
    assert_eq!(
        error(&|options| _ = options.peers.insert("p7".into(), nowhere)),
        "p7 is not another peer of job job; name one of p2, p3"
    );
    assert_eq!(
        error(&|options| _ = options.coordinators.insert("p3".into(), nowhere)),
        "coordinator p3 has the name of a peer; give it another one"
    );
    let wrong = error(&|options| options.tls = world.identity("p2"));
    assert!(wrong.contains("the certificate is not for p1 but for p2"), "{wrong}");
    assert!(
        world.job.setup("p9", &world.patience).unwrap_err().to_string().contains("p9 is not a peer of job")
    );
}
