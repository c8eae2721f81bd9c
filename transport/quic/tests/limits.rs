//! Memory that one peer can make another one use: counted by the peer, as bytes of messages that were neither
//! refused nor slowed down.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use inart_quic::{Endpoint, Event, Events, URGENT};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{Connection, RecvStream, SendStream, WriteError};

use crate::support::{Authority, TIMEOUT, find, is_up, next, pattern};

const MIB: usize = 1 << 20;

/// Returns a program that connects as an endpoint does, and sends arbitrary data. `b`: the endpoint's name.
async fn connect(authority: &Authority, name: &str, to: SocketAddr) -> (quinn::Endpoint, Vec<Connection>) {
    let client = program(authority, name);
    let connections = pair_of(&client, to, 7).await;
    (client, connections)
}

fn program(authority: &Authority, name: &str) -> quinn::Endpoint {
    let tls = authority.identify(name);
    let tls = QuicClientConfig::try_from(tls.client()).unwrap();
    let mut client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    client.set_default_client_config(quinn::ClientConfig::new(Arc::new(tls)));
    client
}

/// Connects to endpoint b: a pair of connections of that number, by process 5.
async fn pair_of(client: &quinn::Endpoint, to: SocketAddr, pair: u8) -> Vec<Connection> {
    let mut connections = Vec::new();
    for sent_by in [0, 1] {
        let connection = client.connect(to, "b").unwrap().await.unwrap();
        let (mut send, mut answers) = connection.open_bi().await.unwrap();
        // The pair, the direction, the process.
        let label = [&[pair; 8][..], &[sent_by], &[5; 8]].concat();
        send.write_all(&label).await.unwrap();
        send.finish().unwrap();
        answers.read_exact(&mut [0; 8]).await.unwrap();
        connections.push(connection);
    }
    connections
}

/// A process that connects again, though its first connections answer, is not another process of its name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_replaces_its_own_connections() {
    let authority = Authority::found("one");
    let (b, mut events) = open(&authority);
    let client = program(&authority, "a");
    let first = pair_of(&client, b.address().unwrap(), 1).await;
    find(&mut events, is_up).await;
    // Its process answers the question of b.
    let answering = first[1].clone();
    tokio::spawn(async move {
        while let Ok((mut answers, _)) = answering.accept_bi().await {
            let _ = answers.write_all(&[1]).await;
            let _ = answers.finish();
        }
    });
    let second = pair_of(&client, b.address().unwrap(), 2).await;
    let Event::Down { reason, .. } = next(&mut events).await else { panic!("the first pair is replaced") };
    assert_eq!(reason, "a newer connection has replaced it");
    assert!(is_up(&next(&mut events).await));
    let closed = tokio::time::timeout(TIMEOUT, first[0].closed()).await.unwrap().to_string();
    assert!(closed.contains("replaced by a newer connection"), "{closed}");
    // The second pair is in use.
    b.send("a", 1, pattern(100, 1), 0).unwrap();
    let arrives = tokio::time::timeout(TIMEOUT, second[1].accept_bi()).await.unwrap();
    assert!(arrives.is_ok());
}

/// Endpoint b, with messages of at most 4 MiB and 16 MiB of unfinished ones.
fn open(authority: &Authority) -> (Endpoint, Events) {
    let nowhere = BTreeMap::from([("a".to_owned(), "127.0.0.1:9".parse().unwrap())]);
    let mut options = authority.options("b", &nowhere);
    (options.most_bytes, options.held_bytes) = (4 << 20, 16 << 20);
    Endpoint::open(options).unwrap()
}

/// Opens a message of 4 MiB and sends all but its last byte. `None`: it was refused.
async fn leave_open(connection: &Connection, block: &[u8]) -> Option<(SendStream, RecvStream)> {
    let (mut send, receive) = connection.open_bi().await.unwrap();
    send.write_all(&(4u64 << 20).to_be_bytes()).await.unwrap();
    for part in block.chunks(MIB / 4) {
        match send.write_all(part).await {
            Ok(()) => {}
            Err(WriteError::Stopped(_)) => return None,
            Err(other) => panic!("{other}"),
        }
    }
    Some((send, receive))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_do_not_end_take_no_more_than_the_stated_memory() {
    let authority = Authority::found("one");
    let (b, mut events) = open(&authority);
    let (_client, connections) = connect(&authority, "a", b.address().unwrap()).await;
    find(&mut events, is_up).await;
    let block = pattern(4 * MIB - 1, 1);
    let mut kept = Vec::new();
    for _ in 0..30 {
        kept.extend(leave_open(&connections[0], &block).await);
    }
    // Written data may be in flight; then it is refused or read.
    let mut last = u64::MAX;
    while last != b.counters().read_bytes {
        last = b.counters().read_bytes;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let mut held = Vec::new();
    for (send, receive) in kept {
        let stopped = tokio::time::timeout(Duration::from_millis(20), send.stopped()).await;
        if stopped.is_err() {
            held.push((send, receive));
        }
    }
    let bytes = held.len() * 4 * MIB;
    assert!(bytes <= 20 * MIB, "{} MiB of unfinished messages are kept", bytes / MIB);
    assert_eq!(b.counters().too_many as usize, 30 - held.len());
    // The limit is reached to the byte. The oldest message was never refused, and messages go on when it
    // ends.
    let left = 16 * MIB - held.len() * block.len();
    let (mut filler, _answer) = connections[0].open_bi().await.unwrap();
    filler.write_all(&(4u64 << 20).to_be_bytes()).await.unwrap();
    filler.write_all(&vec![0; left]).await.unwrap();
    while b.counters().read_bytes < last + left as u64 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (mut send, mut receive) = held.remove(0);
    send.write_all(&[9]).await.unwrap();
    send.finish().unwrap();
    let mut answer = [0];
    tokio::time::timeout(TIMEOUT, receive.read_exact(&mut answer)).await.unwrap().unwrap();
    let Event::Received { data, .. } = next(&mut events).await else { panic!("not received") };
    assert!(data[..block.len()] == block[..]);
}

/// A peer that asks and takes no answers is sent few of them; other messages continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_takes_no_urgent_messages_is_sent_few() {
    const MOST: usize = 256;
    let authority = Authority::found("one");
    let (b, mut events) = open(&authority);
    let (_client, _connections) = connect(&authority, "a", b.address().unwrap()).await;
    find(&mut events, is_up).await;
    for id in 0..1000 {
        b.send("a", id, pattern(100, 1), URGENT).unwrap();
    }
    b.send("a", 1000, pattern(100, 1), 0).unwrap();
    for refused in MOST as u64..1000 {
        let event = next(&mut events).await;
        let Event::Failed { id, reason, .. } = event else { panic!("{event:?}") };
        assert_eq!((id, &*reason), (refused, "the peer takes no messages"));
    }
    // The others are in flight until the end.
    b.close().await;
    let mut left = 0;
    while let Some(event) = tokio::time::timeout(TIMEOUT, events.next()).await.unwrap() {
        left += usize::from(matches!(event, Event::Failed { .. }));
    }
    assert_eq!(left, MOST + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_messages_that_wait_for_the_consumer_take_no_more_than_the_stated_memory() {
    const MESSAGES: u64 = 40;
    let authority = Authority::found("one");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let mut options = authority.options("b", &BTreeMap::from([("a".to_owned(), a.address().unwrap())]));
    (options.most_bytes, options.held_bytes) = (4 << 20, 16 << 20);
    let (b, mut b_events) = Endpoint::open(options).unwrap();
    a.set_peer("b", b.address().unwrap());
    find(&mut a_events, is_up).await;
    let data = pattern(4 * MIB, 3);
    // One after the other, so that few are unfinished at a time.
    for id in 0..MESSAGES {
        a.send("b", id, data.clone(), -(id as i32)).unwrap();
    }
    let mut last = u64::MAX;
    while last != b.counters().read_bytes || last == 0 {
        last = b.counters().read_bytes;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let most = (16 + 4 + 16) << 20;
    assert!(last <= most, "{} MiB were read and not taken", last >> 20);
    // All arrive once they are taken.
    let (mut received, mut again) = (0, Vec::new());
    while received < MESSAGES {
        tokio::select! {
            event = next(&mut b_events) => received += u64::from(matches!(event, Event::Received { .. })),
            event = next(&mut a_events) => match event {
                Event::Failed { id, .. } => again.push(id),
                Event::Acknowledged { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        for id in again.drain(..) {
            a.send("b", MESSAGES + id, data.clone(), -(id as i32)).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cause_of_a_missing_connection_is_named() {
    let (ours, theirs) = (Authority::found("ours"), Authority::found("theirs"));
    let (b, _events) = ours.open("b", &BTreeMap::new());
    let nowhere: SocketAddr = "127.0.0.1:9".parse().unwrap();
    let peers = BTreeMap::from([("b".to_owned(), b.address().unwrap()), ("c".to_owned(), nowhere)]);
    let (a, _a_events) = theirs.open("a", &peers);
    b.set_peer("a", a.address().unwrap());
    assert!(a.trouble("d").is_none());
    assert_eq!(a.trouble("c").unwrap().address, nowhere);
    let cause = |endpoint: &Endpoint, peer: &str| endpoint.trouble(peer).unwrap().cause;
    let both = async {
        while cause(&a, "b").is_none() || cause(&b, "a").is_none() || cause(&a, "c").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, both).await.unwrap();
    let said = cause(&a, "b").unwrap();
    assert!(said.contains("its certificate is of another authority"), "{said}");
    let said = cause(&b, "a").unwrap();
    assert!(said.contains("certificate is of another authority"), "{said}");
    assert_eq!(cause(&a, "c").unwrap(), "no answer");
}
