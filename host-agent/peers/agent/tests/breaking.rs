//! A peer whose connection to another one breaks.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use inart_peers_agent::Terms;
use inart_peers_agent::{Body, Choice, Output, Peer, Roster, Setup, Sync, Term, encode};
use inart_protocol_peers::{Copies, Outcome, ReceiverOptions, SenderOptions, notice_packet};
use inart_wire::{Incarnation, Rank};

const INCARNATIONS: [u32; 3] = [11, 12, 13];
const TIMEOUT: Duration = Duration::from_secs(3600);

fn rank(number: usize) -> Rank {
    Rank::try_from(number).unwrap()
}

fn setup(me: usize) -> Arc<Setup> {
    Arc::new(Setup {
        program: Terms::default(),
        round_patience: Duration::MAX,
        me: rank(me),
        incarnation: Incarnation::new(INCARNATIONS[me]),
        names: Vec::new(),
        job: 3.into(),
        plan_version: 1.into(),
        update_values: vec![4; 3],
        chunk_values: 2,
        receivers: 2,
        sync: Sync::Bsp,
        force_after: None,
        rounds: 5,
        sender: SenderOptions {
            patience: TIMEOUT,
            ..SenderOptions::new(Copies::Sender { window: 2, chunk_bytes: 8 })
        },
        receiver: ReceiverOptions::connections(),
        rate_bps: 1e6,
        choice_patience: TIMEOUT,
        peer_timeout: TIMEOUT,
        meeting_patience: TIMEOUT,
    })
}

fn roster() -> bytes::Bytes {
    let term = Some(Term { number: 1, holder: 1 });
    encode(Body::Roster(Roster { term, incarnations: INCARNATIONS.to_vec(), ended: vec![0; 3] }))
}

/// Returns peer 0 while it sends its first update to both others.
fn sending() -> Peer {
    let mut peer = Peer::new(setup(0)).unwrap();
    peer.coordinator_up(Duration::ZERO);
    peer.coordinator(roster(), Duration::ZERO);
    let term = Some(Term { number: 1, holder: 1 });
    let choice = Choice { term, serial: 1, round: 1, receivers: vec![1, 2], rate_bps: 1e9 };
    peer.coordinator(encode(Body::Choice(choice)), Duration::ZERO);
    peer.computed(vec![1.0; 4], Duration::ZERO).unwrap();
    assert!(peer.next_transmission(Duration::ZERO).is_some());
    peer
}

/// Lets at most a minute pass. Returns how the peer's multicast ended, and when.
fn outcome(peer: &mut Peer, mut now: Duration) -> Option<(Outcome, Duration)> {
    let end = now + Duration::from_secs(60);
    while now < end {
        while let Some(output) = peer.next_output() {
            if let Output::Ended { outcome, .. } = output {
                return Some((outcome, now));
            }
        }
        now = peer.wake_at().unwrap_or(end).max(now + Duration::from_millis(1));
        peer.tick(now);
    }
    None
}

#[test]
fn a_peer_that_stays_silent_has_failed_long_before_the_timeout() {
    let mut peer = sending();
    let broke = Duration::from_secs(10);
    peer.broken(rank(2), broke);
    peer.broken(rank(1), broke);
    let (outcome, at) = outcome(&mut peer, broke).expect("the multicast ends without the failed peer");
    assert_eq!(outcome.given_up.iter().collect::<Vec<_>>(), [rank(1), rank(2)]);
    assert!(at <= broke + Duration::from_secs(1), "{at:?}");
    assert_eq!(peer.counters().0.gone, 2);
}

#[test]
fn a_peer_that_reconnects_has_not_failed() {
    let mut peer = sending();
    let broke = Duration::from_secs(10);
    peer.broken(rank(2), broke);
    let mut other = Peer::new(setup(2)).unwrap();
    other.coordinator_up(Duration::ZERO);
    other.coordinator(roster(), Duration::ZERO);
    while let Some(output) = other.next_output() {
        if let Output::Notify { notice, .. } = output {
            let bytes = notice_packet(other.members(), &notice.words());
            peer.packet(rank(2), &bytes, broke + Duration::from_millis(400));
        }
    }
    assert_eq!(outcome(&mut peer, broke), None);
    assert_eq!(peer.counters().0.gone, 0);
}

#[test]
fn a_peer_without_waiters_may_break_any_number_of_times() {
    let mut peer = sending();
    let broke = Duration::from_secs(10);
    (0..3).for_each(|_| peer.broken(rank(2), broke));
    peer.broken(rank(2000), broke);
    assert_eq!(outcome(&mut peer, broke), None, "peer 1 is there");
    assert_eq!(peer.counters().0.gone, 1);
    peer.broken(rank(2), broke + Duration::from_secs(70));
    peer.tick(broke + Duration::from_secs(80));
    assert_eq!(peer.counters().0.gone, 1);
}
