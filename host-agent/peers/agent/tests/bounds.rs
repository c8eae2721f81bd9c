//! Peers and coordinators bound what they hold of received messages, and name differences and absent
//! processes.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use inart_peers_agent::{
    AdmissionError, Awaited, Body, Choice, Coordinator, CoordinatorOutput, CoordinatorSetup, Ended, Hello,
    Notice, Output, Peer, Roster, Schemes, Setup, Sync, Term, Terms, decode, encode,
};
use inart_planner_peers::{Multicast, Reading, Scheme};
use inart_protocol_peers::{
    Copies, Message, ReceiverOptions, SenderOptions, chunk_packet, message_packet, notice_packet,
};
use inart_topologies::peers::Ports;
use inart_wire::{Incarnation, Rank};

const INCARNATIONS: [u32; 3] = [11, 12, 13];
const ROUNDS: u32 = 200;
const LONG: Duration = Duration::from_secs(3600);
const ZERO: Duration = Duration::ZERO;

fn rank(number: usize) -> Rank {
    Rank::try_from(number).unwrap()
}

fn names() -> Vec<String> {
    ["job", "p1", "p2", "p3"].map(str::to_owned).to_vec()
}

fn setup(me: usize, sync: Sync, program: &[(&str, &str)]) -> Setup {
    let copies = Copies::Sender { window: 2, chunk_bytes: 8 };
    Setup {
        me: rank(me),
        incarnation: Incarnation::new(INCARNATIONS[me]),
        names: names(),
        program: Terms::new(program.iter().copied()).unwrap(),
        job: 3.into(),
        plan_version: 1.into(),
        update_values: vec![4; 3],
        chunk_values: 2,
        receivers: 2,
        sync,
        force_after: None,
        rounds: ROUNDS,
        sender: SenderOptions { patience: LONG, ..SenderOptions::new(copies) },
        receiver: ReceiverOptions::connections(),
        rate_bps: 1e6,
        choice_patience: LONG,
        peer_timeout: LONG,
        meeting_patience: LONG,
        round_patience: Duration::from_secs(10),
    }
}

fn coordinator(rounds: u32) -> Coordinator<Schemes> {
    let setup = CoordinatorSetup {
        job: 3.into(),
        names: names(),
        update_values: vec![4; 3],
        chunk_values: 2,
        update_bits: vec![128.0; 3],
        receivers: 2,
        sync: Sync::Bsp,
        force_after: None,
        multicast: Multicast::Hosts,
        rounds,
        ports: Ports { up_bps: vec![1e6; 3], down_bps: vec![1e6; 3] },
        gather: LONG,
        holder: 1,
    };
    Coordinator::new(setup, Schemes::new(Scheme::Optimized, Reading::default(), 1, "job"))
}

fn roster(ended: u32) -> bytes::Bytes {
    let term = Some(Term { number: 1, holder: 1 });
    encode(Body::Roster(Roster { term, incarnations: INCARNATIONS.to_vec(), ended: vec![ended; 3] }))
}

/// Returns a peer that takes part and computes its first update.
fn peer(me: usize, sync: Sync) -> Peer {
    let mut peer = Peer::new(Arc::new(setup(me, sync, &[]))).unwrap();
    peer.coordinator_up(ZERO);
    peer.coordinator(roster(0), ZERO);
    peer
}

/// Returns the first message of a peer to its coordinator.
fn hello(setup: Setup) -> bytes::Bytes {
    let mut peer = Peer::new(Arc::new(setup)).unwrap();
    peer.coordinator_up(ZERO);
    match peer.next_output() {
        Some(Output::Report(data)) => data,
        other => panic!("{other:?}"),
    }
}

/// Returns a coordinator's reason for refusing, if it refuses.
fn refusal(coordinator: &mut Coordinator<Schemes>) -> Option<String> {
    let mut why = None;
    while let Some(output) = coordinator.next_output() {
        if let CoordinatorOutput::Send { body: Body::OtherJob(other), .. } = output {
            why = Some(other.why);
        }
    }
    why
}

#[test]
fn the_setting_that_differs_is_named_with_both_values() {
    let bsp = |program: &[(&str, &str)]| setup(1, Sync::Bsp, program);
    let own = setup(0, Sync::Bsp, &[("seed", "1"), ("first weights", "aa")]);
    for (other, named) in [
        (Setup { rounds: 40, ..bsp(&[]) }, "p2 has rounds 40, the coordinator has rounds 200"),
        (setup(1, Sync::Ssp { staleness: 3 }, &[]), "p2 has synchronization ssp with a staleness of 3"),
        (
            Setup { force_after: Some(4), ..bsp(&[]) },
            "p2 has rule of k 4, the coordinator has rule of k none",
        ),
        (bsp(&[("seed", "2"), ("first weights", "bb")]), "p2 has seed 2, p1 has seed 1"),
        (bsp(&[("seed", "1"), ("first weights", "bb")]), "p2 has first weights bb, p1 has first weights aa"),
    ] {
        let mut coordinator = coordinator(ROUNDS);
        coordinator.message(rank(0), hello(own.clone()), ZERO);
        assert_eq!(refusal(&mut coordinator), None);
        coordinator.message(rank(1), hello(other.clone()), ZERO);
        let why = refusal(&mut coordinator).unwrap();
        assert!(why.starts_with(named), "{why}");
        // The reason ends the peer.
        let mut peer = Peer::new(Arc::new(other)).unwrap();
        peer.coordinator_up(ZERO);
        let answer = inart_peers_agent::OtherJob { job: 0, why: why.clone() };
        peer.coordinator(encode(Body::OtherJob(answer)), ZERO);
        let ends = std::iter::from_fn(|| peer.next_output()).find_map(|output| match output {
            Output::Rejected(error) => Some(error.to_string()),
            _ => None,
        });
        assert!(ends.unwrap().starts_with(named));
    }
}

#[test]
fn numbers_of_messages_do_not_overflow() {
    let mut coordinator = coordinator(ROUNDS);
    let Ok(Body::Hello(own)) = decode(hello(setup(0, Sync::Bsp, &[]))) else { panic!("no hello") };
    for ended in [ROUNDS + 1, u32::MAX] {
        for from in 0..3 {
            let hello = Hello { ended, takes_part: true, waits: vec![u32::MAX; 3], ..own.clone() };
            coordinator.message(rank(from), encode(Body::Hello(hello)), ZERO);
        }
        let over = Ended { round: ended, ..Ended::default() };
        coordinator.message(rank(0), encode(Body::Ended(over)), ZERO);
    }
    assert_eq!(coordinator.counters().malformed, 8);
    let mut peer = peer(0, Sync::Bsp);
    for ended in [ROUNDS + 1, u32::MAX] {
        peer.coordinator(roster(ended), ZERO);
        let other = self::peer(1, Sync::Bsp);
        let words = Notice { ended, is_finished: true }.words();
        peer.packet(rank(1), &notice_packet(other.members(), &words), ZERO);
    }
    let counters = peer.counters().0;
    assert_eq!((counters.malformed, counters.unknown_notices, peer.round()), (2, 2, 1));
}

/// Peer 1 sends peer 0 complete updates of a hundred rounds.
fn hundred_updates(sync: Sync) -> Peer {
    let (mut peer, sender) = (peer(0, sync), peer(1, sync));
    for round in 1..=100 {
        for chunk in 0..2 {
            let words = [(round as f32).to_bits(); 2];
            peer.packet(rank(1), &chunk_packet(sender.members(), round, chunk, &words), ZERO);
        }
    }
    peer
}

#[test]
fn updates_that_cannot_be_averaged_are_not_held() {
    // In bulk synchronous rounds a sender is at most one round ahead, plus one for notices in flight.
    let counters = hundred_updates(Sync::Bsp).counters().0;
    assert_eq!((counters.ahead, counters.superseded), (98, 0));
    // In stale synchronous rounds only the newest update is averaged.
    let mut peer = hundred_updates(Sync::Ssp { staleness: 200 });
    assert_eq!((peer.counters().0.ahead, peer.counters().0.superseded), (0, 99));
    let term = Some(Term { number: 1, holder: 1 });
    let choice = Choice { term, serial: 1, round: 1, receivers: Vec::new(), rate_bps: 1e9 };
    peer.coordinator(encode(Body::Choice(choice)), ZERO);
    peer.computed(vec![0.0; 4], ZERO).unwrap();
    let starts = std::iter::from_fn(|| peer.next_output()).filter_map(|output| match output {
        Output::Compute(start) => start.average,
        _ => None,
    });
    let average = starts.last().unwrap();
    assert_eq!((average.values, average.of), (vec![50.0; 4], vec![(rank(1), 100)]));
}

/// A peer that has just met the others waits for updates of their round. It drops updates of older rounds.
#[test]
fn updates_of_rounds_that_are_over_are_not_held() {
    let mut peer = Peer::new(Arc::new(setup(0, Sync::Bsp, &[]))).unwrap();
    peer.coordinator_up(ZERO);
    peer.coordinator(roster(50), ZERO);
    assert!(matches!(peer.awaited(), Some(Awaited::Round { round: 51, .. })), "{:?}", peer.awaited());
    let sender = self::peer(1, Sync::Bsp);
    for round in 1..=40 {
        for chunk in 0..2 {
            peer.packet(rank(1), &chunk_packet(sender.members(), round, chunk, &[0; 2]), ZERO);
        }
    }
    assert_eq!(peer.counters().0.superseded, 40);
}

#[test]
fn nonexistent_rounds_are_dropped() {
    for sync in [Sync::Bsp, Sync::Ssp { staleness: 3 }] {
        let (mut peer, sender) = (peer(0, sync), peer(1, sync));
        while peer.next_output().is_some() {}
        for (round, chunk) in [(ROUNDS + 1, 0), (u32::MAX, 0), (u32::MAX, 1)] {
            peer.packet(rank(1), &chunk_packet(sender.members(), round, chunk, &[0; 2]), ZERO);
        }
        let (members, to) = (sender.members(), rank(0));
        let poll = message_packet(members, to, &Message::Poll { round: u32::MAX });
        peer.packet(rank(1), &poll, ZERO);
        assert_eq!((peer.counters().0.ahead, peer.next_output()), (4, None));
        // The sender's update of its first round arrives nevertheless.
        for chunk in 0..2 {
            peer.packet(rank(1), &chunk_packet(members, 1, chunk, &[0; 2]), ZERO);
        }
        assert!(
            std::iter::from_fn(|| peer.next_output()).any(|output| matches!(output, Output::Received(_)))
        );
    }
}

/// One peer starts update after update: the list of their names is bounded.
#[test]
fn updates_that_do_not_come_whole_are_named_up_to_a_number() {
    let sync = Sync::Ssp { staleness: 3 };
    let many = Setup { rounds: 1_000_000, ..setup(0, sync, &[]) };
    let mut peer = Peer::new(Arc::new(many)).unwrap();
    peer.coordinator_up(ZERO);
    peer.coordinator(roster(0), ZERO);
    let sender = self::peer(1, sync);
    for round in 1..=5000 {
        peer.packet(rank(1), &chunk_packet(sender.members(), round, 0, &[0; 2]), ZERO);
    }
    let term = Some(Term { number: 1, holder: 1 });
    let choice = Choice { term, serial: 1, round: 1, receivers: Vec::new(), rate_bps: 1e9 };
    peer.coordinator(encode(Body::Choice(choice)), ZERO);
    peer.computed(vec![0.0; 4], ZERO).unwrap();
    let starts = std::iter::from_fn(|| peer.next_output()).filter_map(|output| match output {
        Output::Compute(start) => Some(start.lacking),
        _ => None,
    });
    let lacking = starts.last().unwrap();
    assert_eq!((lacking.len(), lacking[0], peer.counters().0.unnamed), (1024, (rank(1), 1), 3975));
}

#[test]
fn a_peer_with_a_hanging_program_is_named_and_times_out() {
    let mut peer = peer(0, Sync::Bsp);
    let term = Some(Term { number: 1, holder: 1 });
    let choice = Choice { term, serial: 1, round: 1, receivers: Vec::new(), rate_bps: 1e9 };
    peer.coordinator(encode(Body::Choice(choice)), ZERO);
    assert_eq!(peer.awaited(), None, "the program computes");
    peer.computed(vec![0.0; 4], ZERO).unwrap();
    // Both others show signs of life, and only one has ended the round.
    let other = self::peer(1, Sync::Bsp);
    let words = Notice { ended: 1, is_finished: false }.words();
    peer.packet(rank(1), &notice_packet(other.members(), &words), ZERO);
    assert_eq!(peer.awaited(), Some(Awaited::Round { round: 1, peers: vec![rank(2)] }));
    let end = Duration::from_secs(10);
    assert!(peer.wake_at().unwrap() <= end);
    peer.tick(end);
    let error = std::iter::from_fn(|| peer.next_output()).find_map(|output| match output {
        Output::Rejected(error) => Some(error),
        _ => None,
    });
    let error = error.expect("the peer ends");
    assert!(matches!(&error, AdmissionError::Others { round: 1, .. }), "{error}");
    assert!(error.to_string().contains("p3, in round 1"), "{error}");
}

#[test]
fn a_coordinator_is_over_when_all_that_take_part_have_ended() {
    let mut coordinator = coordinator(2);
    for from in 0..3 {
        let setup = Setup { rounds: 2, ..setup(from, Sync::Bsp, &[]) };
        coordinator.message(rank(from), hello(setup), ZERO);
    }
    let mut is_over = |from: usize, round: u32| {
        let ended = Ended { round, ..Ended::default() };
        coordinator.message(rank(from), encode(Body::Ended(ended)), ZERO);
        std::iter::from_fn(|| coordinator.next_output()).any(|output| output == CoordinatorOutput::Over)
    };
    let all = [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2)];
    assert!(all.into_iter().all(|(from, round)| !is_over(from, round)));
    assert!(is_over(2, 2));
}
