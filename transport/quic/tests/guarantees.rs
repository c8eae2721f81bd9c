//! Guarantees of endpoints under faults: kills, slow consumers, wrong names, the end.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_quic::{Endpoint, Event, Events, OpenError};
use quinn::crypto::rustls::QuicClientConfig;
use tokio::runtime::{Builder, Runtime};

use crate::support::{Authority, TIMEOUT, find, is_up, next, pattern};

fn at(name: &str, endpoint: &Endpoint) -> BTreeMap<String, SocketAddr> {
    BTreeMap::from([(name.to_owned(), endpoint.address().unwrap())])
}

#[tokio::test]
async fn a_name_that_is_not_in_the_certificate_is_refused() {
    let mut options = Authority::found("one").options("a", &BTreeMap::new());
    options.name = "z".to_owned();
    let error = Endpoint::open(options).unwrap_err();
    assert!(matches!(&error, OpenError::NotInCertificate { name, names } if name == "z" && names == &["a"]));
    assert!(error.to_string().contains("not for z but for a;"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_whose_certificate_has_two_names_is_connected_by_the_one_asked_for() {
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let mut options = authority.options("c", &at("a", &a));
    options.tls = authority.identify_as("both", &["b", "c"]);
    let (c, _c_events) = Endpoint::open(options).unwrap();
    // Both names are known to the one that connects; the other leads nowhere.
    a.set_peer("b", "127.0.0.1:9".parse().unwrap());
    a.set_peer("c", c.address().unwrap());
    assert_eq!(find(&mut a_events, is_up).await, Event::Up { peer: "c".to_owned() });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sender_of_a_too_long_message_learns_the_reason_and_durations() {
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let mut options = authority.options("b", &at("a", &a));
    options.most_bytes = 1000;
    // On a socket that is there already.
    let (b, _b_events) = Endpoint::open_on(UdpSocket::bind("127.0.0.1:0").unwrap(), options).unwrap();
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    // A message that fits into the windows at once, and one that does not.
    for length in [1001, 30 << 20] {
        a.send("b", 1, pattern(length, 0), 0).unwrap();
        let Event::Failed { reason, .. } = next(&mut a_events).await else { panic!("not failed") };
        assert!(reason.contains("longer than the peer allows"), "{reason}");
    }
    a.send("b", 2, pattern(1000, 0), 0).unwrap();
    let Event::Acknowledged { bytes, started, ended, .. } = next(&mut a_events).await else {
        panic!("not acknowledged")
    };
    assert_eq!(bytes, 1000);
    assert!(started < ended);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_slow_consumer_does_not_take_is_not_read() {
    const MESSAGES: u64 = 40;
    const BYTES: u64 = 4 << 20;
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let mut options = authority.options("b", &at("a", &a));
    options.events = 2;
    let (b, mut b_events) = Endpoint::open(options).unwrap();
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    let data = pattern(BYTES as usize, 3);
    for id in 0..MESSAGES {
        a.send("b", id, data.clone(), 0).unwrap();
    }
    // Until reading has stopped.
    let mut read = 0;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = b.counters().read_bytes;
        if now > 0 && now == read {
            break;
        }
        read = now;
    }
    assert!(read < MESSAGES * BYTES / 2, "{read} bytes were read of {}", MESSAGES * BYTES);
    for _ in 0..MESSAGES {
        let event = find(&mut b_events, |event| matches!(event, Event::Received { .. })).await;
        assert!(matches!(event, Event::Received { data: received, .. } if received == data));
    }
    let mut acknowledged = BTreeSet::new();
    for _ in 0..MESSAGES {
        let Event::Acknowledged { id, .. } = next(&mut a_events).await else { panic!("not acknowledged") };
        assert!(acknowledged.insert(id));
    }
    assert_eq!(b.counters().read_bytes, MESSAGES * BYTES);
}

/// Returns an endpoint that can be killed: its runtime is dropped, so that it notifies no peer.
fn killable(
    authority: &Authority,
    name: &str,
    there: &BTreeMap<String, SocketAddr>,
    listen: Option<SocketAddr>,
) -> (Runtime, Endpoint, Events) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut options = authority.options(name, there);
    options.listen = listen.unwrap_or(options.listen);
    let inside = runtime.enter();
    let (endpoint, events) = loop {
        match Endpoint::open(options.clone()) {
            Ok(opened) => break opened,
            // The one before it has not released the address yet.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    drop(inside);
    (runtime, endpoint, events)
}

/// `victim` connects if its name is less than "m", and is connected to otherwise.
async fn kill_and_restart(victim: &str) {
    const MESSAGES: u64 = 40;
    let authority = Authority::found("one");
    let (m, mut m_events) = authority.open("m", &BTreeMap::new());
    let there = at("m", &m);
    let (runtime, killed, killed_events) = killable(&authority, victim, &there, None);
    let address = killed.address().unwrap();
    m.set_peer(victim, address);
    find(&mut m_events, is_up).await;
    // No consumer takes them, so that they are in flight when the endpoint is killed.
    let data = pattern(8 << 20, 5);
    for id in 0..MESSAGES {
        m.send(victim, id, data.clone(), 0).unwrap();
    }
    while killed.counters().read_bytes == 0 {
        tokio::task::yield_now().await;
    }
    runtime.shutdown_background();
    drop((killed, killed_events));
    let (runtime, _restarted, mut events) = killable(&authority, victim, &there, Some(address));
    let (mut ended, mut is_down, mut failed) = (BTreeSet::new(), false, 0);
    let mut is_up_again = false;
    while !(is_up_again && ended.len() == MESSAGES as usize) {
        match next(&mut m_events).await {
            Event::Down { .. } => is_down = true,
            Event::Up { .. } => is_up_again = is_down,
            Event::Failed { id, .. } => {
                failed += 1;
                assert!(ended.insert(id), "{id} ended twice");
            }
            Event::Acknowledged { id, .. } => assert!(ended.insert(id), "{id} ended twice"),
            other => panic!("{other:?}"),
        }
    }
    assert!(failed > 0);
    m.send(victim, MESSAGES, Bytes::from_static(b"again"), 0).unwrap();
    let received = find(&mut events, |event| matches!(event, Event::Received { .. })).await;
    assert!(matches!(received, Event::Received { data, .. } if data == b"again"[..]));
    find(&mut m_events, |event| matches!(event, Event::Acknowledged { id: MESSAGES, .. })).await;
    m.close().await;
    runtime.shutdown_background();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_connects_is_killed_and_restarts() {
    kill_and_restart("a").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_is_connected_to_is_killed_and_restarts() {
    kill_and_restart("z").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_closing_all_ends_are_reported_and_then_nothing() {
    const MESSAGES: u64 = 50;
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let (b, mut b_events) = authority.open("b", &at("a", &a));
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    let data = pattern(4 << 20, 0);
    for id in 0..MESSAGES {
        a.send("b", id, data.clone(), 0).unwrap();
    }
    a.close().await;
    // The handle is still there.
    let mut ended = BTreeSet::new();
    while let Some(event) = tokio::time::timeout(TIMEOUT, a_events.next()).await.unwrap() {
        if let Event::Failed { id, .. } | Event::Acknowledged { id, .. } = event {
            assert!(ended.insert(id), "{id} ended twice");
        }
    }
    assert_eq!(ended.len(), MESSAGES as usize);
    a.set_peer("b", b.address().unwrap());
    assert!(a.send("b", 99, Bytes::new(), 0).is_err());
    let down = find(&mut b_events, |event| matches!(event, Event::Down { .. })).await;
    let Event::Down { reason, .. } = down else { unreachable!() };
    // The packet with the reason may be lost; then a reset answers the next one to the closed address.
    assert!(reason.contains("the site ends") || reason == "reset by peer", "{reason}");
}

/// Returns a program that uses QUIC, has a certificate, and is not an endpoint.
async fn other_program(authority: &Authority, name: &str, to: SocketAddr) -> quinn::Connection {
    let tls = QuicClientConfig::try_from(authority.identify(name).client()).unwrap();
    let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let config = quinn::ClientConfig::new(Arc::new(tls));
    client.connect_with(config, to, "b").unwrap().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_does_not_say_what_its_connection_is_for_is_refused() {
    let authority = Authority::found("one");
    let nowhere = BTreeMap::from([("c".to_owned(), "127.0.0.1:9".parse().unwrap())]);
    let (b, mut events) = authority.open("b", &nowhere);
    let (label, wrong) = ([7_u8, 7, 7, 7, 7, 7, 7, 7, 0], [7_u8, 7, 7, 7, 7, 7, 7, 7, 2]);
    let connection = other_program(&authority, "c", b.address().unwrap()).await;
    let (mut send, _receive) = connection.open_bi().await.unwrap();
    send.write_all(&wrong).await.unwrap();
    let reason = tokio::time::timeout(TIMEOUT, connection.closed()).await.unwrap().to_string();
    assert!(reason.contains("the first message must be the role"), "{reason}");
    assert_eq!(b.counters().refused, 1);
    // One connection is not a pair, nor are two for the same side, or two of different pairs.
    let mut other_pair = label;
    (other_pair[0], other_pair[8]) = (8, 1);
    let mut open = Vec::new();
    for label in [label, label, other_pair] {
        let connection = other_program(&authority, "c", b.address().unwrap()).await;
        let (mut send, _receive) = connection.open_bi().await.unwrap();
        send.write_all(&label).await.unwrap();
        send.finish().unwrap();
        open.push(connection);
    }
    // Each waits for another of its pair, and ends without it.
    for connection in &open {
        tokio::time::timeout(TIMEOUT, connection.closed()).await.expect("it ends");
    }
    let nothing = tokio::time::timeout(Duration::from_millis(200), events.next()).await;
    assert!(nothing.is_err(), "{nothing:?}");
}
