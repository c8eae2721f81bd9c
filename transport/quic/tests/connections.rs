//! Endpoints on the loopback interface.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use inart_quic::{Endpoint, Event, Events, SendError, names_another_process};

use crate::support::{Authority, TIMEOUT, find, is_up, next, pattern};

/// Returns two endpoints that know each other.
async fn pair(authority: &Authority) -> [(Endpoint, Events); 2] {
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let peers = BTreeMap::from([("a".to_owned(), a.address().unwrap())]);
    let (b, mut b_events) = authority.open("b", &peers);
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    find(&mut b_events, is_up).await;
    [(a, a_events), (b, b_events)]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_all_lengths_arrive_whole_both_ways_and_end_once() {
    let lengths = [0, 1, 7, 1199, 1200, 65_536, 1 << 20, 8 << 20];
    let [(a, mut a_events), (b, mut b_events)] = pair(&Authority::found("one")).await;
    for (id, length) in (0..).zip(lengths) {
        a.send("b", id, pattern(length, 1), id as i32).unwrap();
        b.send("a", id, pattern(length, 2), -(id as i32)).unwrap();
    }
    for (events, seed) in [(&mut a_events, 2), (&mut b_events, 1)] {
        let (mut received, mut acknowledged) = (Vec::new(), Vec::new());
        while received.len() + acknowledged.len() < 2 * lengths.len() {
            match next(events).await {
                Event::Received { data, started, ended, .. } => {
                    assert!(data == pattern(data.len(), seed), "{} bytes differ", data.len());
                    assert!(started <= ended);
                    received.push(data.len());
                }
                Event::Acknowledged { id, .. } => acknowledged.push(id),
                other => panic!("{other:?}"),
            }
        }
        received.sort_unstable();
        acknowledged.sort_unstable();
        assert_eq!(received, lengths);
        assert_eq!(acknowledged, (0..lengths.len() as u64).collect::<Vec<_>>());
    }
    assert_eq!((a.counters().sent, a.counters().received, a.counters().failed), (8, 8, 0));
    assert!(a.rtt("b").is_some() && a.rtt("c").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_turned_away_and_counted() {
    let (ours, theirs) = (Authority::found("ours"), Authority::found("theirs"));
    let (b, mut b_events) = ours.open("b", &BTreeMap::new());
    let there = BTreeMap::from([("b".to_owned(), b.address().unwrap())]);
    // Of the authority, but of a name that is not known.
    let (unknown, _unknown_events) = ours.open("a", &there);
    let event = find(&mut b_events, |event| matches!(event, Event::Stranger { .. })).await;
    let Event::Stranger { names, .. } = event else { unreachable!() };
    assert_eq!(names, ["a"]);
    unknown.close().await;
    // Of another authority, with a name that is known.
    b.set_peer("a", "127.0.0.1:9".parse().unwrap());
    let (other, mut other_events) = theirs.open("a", &there);
    tokio::time::timeout(TIMEOUT, async {
        while b.counters().refused == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .unwrap();
    other.send("b", 1, Bytes::from_static(b"x"), 0).unwrap();
    assert!(matches!(next(&mut other_events).await, Event::Failed { id: 1, .. }));
    assert!(b.counters().unknown_senders >= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_long_is_refused_on_both_sides() {
    let authority = Authority::found("one");
    let mut options = authority.options("a", &BTreeMap::new());
    options.most_bytes = 1000;
    let (a, mut a_events) = Endpoint::open(options).unwrap();
    let (b, mut b_events) = authority.open("b", &BTreeMap::from([("a".to_owned(), a.address().unwrap())]));
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    find(&mut b_events, is_up).await;
    let refused = a.send("b", 1, pattern(1001, 0), 0);
    assert_eq!(refused, Err(SendError::TooLong { bytes: 1001, most: 1000 }));
    assert_eq!(a.send("c", 1, Bytes::new(), 0), Err(SendError::UnknownPeer { name: "c".to_owned() }));
    b.send("a", 7, pattern(1001, 0), 0).unwrap();
    assert!(matches!(next(&mut b_events).await, Event::Failed { id: 7, .. }));
    assert_eq!(a.counters().too_long, 1);
    // The connection goes on.
    b.send("a", 8, pattern(1000, 0), 0).unwrap();
    assert!(matches!(next(&mut b_events).await, Event::Acknowledged { id: 8, .. }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_ends_and_restarts_is_connected_again() {
    let authority = Authority::found("one");
    let [(a, mut a_events), (b, b_events)] = pair(&authority).await;
    let address = b.address().unwrap();
    b.close().await;
    drop(b_events);
    find(&mut a_events, |event| matches!(event, Event::Down { .. })).await;
    a.send("b", 5, pattern(100, 0), 0).unwrap();
    assert!(matches!(next(&mut a_events).await, Event::Failed { id: 5, .. }));
    drop(b);
    // Its socket is closed when its last task has ended.
    let peers = BTreeMap::from([("a".to_owned(), a.address().unwrap())]);
    let mut options = authority.options("b", &peers);
    options.listen = address;
    let (_b, mut b_events) = loop {
        match Endpoint::open(options.clone()) {
            Ok(opened) => break opened,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    find(&mut a_events, is_up).await;
    a.send("b", 6, pattern(100, 3), 0).unwrap();
    find(&mut a_events, |event| matches!(event, Event::Acknowledged { id: 6, .. })).await;
    let received = find(&mut b_events, |event| matches!(event, Event::Received { .. })).await;
    assert!(matches!(received, Event::Received { data, .. } if data == pattern(100, 3)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_consumer_slows_the_sender_and_loses_nothing() {
    const MESSAGES: u64 = 300;
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let mut options = authority.options("b", &BTreeMap::from([("a".to_owned(), a.address().unwrap())]));
    options.events = 2;
    let (b, mut b_events) = Endpoint::open(options).unwrap();
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    find(&mut b_events, is_up).await;
    for id in 0..MESSAGES {
        a.send("b", id, pattern(200_000, id as usize), 0).unwrap();
    }
    // Without a consumer, only as many messages are acknowledged as have room.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(a.counters().sent <= 2, "{} acknowledged", a.counters().sent);
    let mut sizes = 0;
    for _ in 0..MESSAGES {
        let event = find(&mut b_events, |event| matches!(event, Event::Received { .. })).await;
        let Event::Received { data, .. } = event else { unreachable!() };
        sizes += data.len();
    }
    assert_eq!(sizes, MESSAGES as usize * 200_000);
    for _ in 0..MESSAGES {
        find(&mut a_events, |event| matches!(event, Event::Acknowledged { .. })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_fails_messages_in_flight_and_ends_the_events() {
    let authority = Authority::found("one");
    let [(a, mut a_events), (b, _b_events)] = pair(&authority).await;
    for id in 0..50 {
        a.send("b", id, pattern(4 << 20, 0), 0).unwrap();
    }
    a.close().await;
    let mut ended = std::collections::BTreeSet::new();
    while ended.len() < 50 {
        match next(&mut a_events).await {
            Event::Failed { id, .. } | Event::Acknowledged { id, .. } => assert!(ended.insert(id)),
            _ => {}
        }
    }
    drop(b);
}

/// Starts a second process called `name`, at an address of its own, while the first is connected to `other`
/// and answers. Returns the reason that the second receives, while the first one stays connected.
async fn second(name: &str, other: &str) -> String {
    let authority = Authority::found("one");
    let (there, mut events) = authority.open(other, &BTreeMap::new());
    let peers = BTreeMap::from([(other.to_owned(), there.address().unwrap())]);
    let (first, mut first_events) = authority.open(name, &peers);
    there.set_peer(name, first.address().unwrap());
    find(&mut events, is_up).await;
    find(&mut first_events, is_up).await;
    let (_second, mut second_events) = authority.open(name, &peers);
    let event = find(&mut second_events, |event| matches!(event, Event::Down { .. })).await;
    // The first one is connected as before.
    first.send(other, 5, pattern(100, 0), 0).unwrap();
    find(&mut first_events, |event| matches!(event, Event::Acknowledged { id: 5, .. })).await;
    let Event::Down { reason, .. } = event else { unreachable!() };
    reason
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_of_one_name_is_refused_whether_it_dials_or_is_dialled() {
    for (name, other) in [("a", "b"), ("b", "a")] {
        let reason = second(name, other).await;
        assert!(names_another_process(&reason), "{reason}");
        let named = format!("{name} already runs (connected from 127.0.0.1:");
        assert!(reason.contains(&named) && reason.contains("stop one of the two"), "{reason}");
    }
}

/// The process ends without a message, as after kill -9: its connections exist until they are silent for too
/// long, and nothing answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_starts_again_replaces_one_that_does_not_answer() {
    let authority = Authority::found("one");
    let (b, mut b_events) = authority.open("b", &BTreeMap::new());
    let peers = BTreeMap::from([("b".to_owned(), b.address().unwrap())]);
    let dead = authority.options("a", &peers);
    b.set_peer("a", "127.0.0.1:9".parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (up, is_connected) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let (_dead, mut events) = Endpoint::open(dead).unwrap();
        find(&mut events, is_up).await;
        up.send(()).unwrap();
        std::future::pending::<()>().await;
    });
    find(&mut b_events, is_up).await;
    is_connected.recv_timeout(TIMEOUT).unwrap();
    // Its threads end; nothing is sent any more.
    runtime.shutdown_background();
    let (again, mut again_events) = authority.open("a", &peers);
    find(&mut again_events, is_up).await;
    again.send("b", 1, pattern(10, 0), 0).unwrap();
    find(&mut again_events, |event| matches!(event, Event::Acknowledged { id: 1, .. })).await;
    let received = find(&mut b_events, |event| matches!(event, Event::Received { .. })).await;
    assert!(matches!(received, Event::Received { data, .. } if data == pattern(10, 0)));
}
