//! Throughput of one connection over the loopback interface, in bytes per second.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example for people to read")]

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::time::Instant;

use bytes::Bytes;
use inart_quic::Event;
use support::Authority;

const MESSAGES: u64 = 256;
const BYTES: usize = 4 << 20;
const UNDER_WAY: u64 = 16;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let authority = Authority::found("throughput");
    let (a, mut a_events) = authority.open("a", &BTreeMap::new());
    let peers = BTreeMap::from([("a".to_owned(), a.address().unwrap())]);
    let (b, mut b_events) = authority.open("b", &peers);
    a.set_peer("b", b.address().unwrap());
    while !matches!(a_events.next().await, Some(Event::Up { .. })) {}
    let taker = tokio::spawn(async move { while b_events.next().await.is_some() {} });
    let data = Bytes::from(vec![7u8; BYTES]);
    let began = Instant::now();
    let (mut sent, mut taken) = (0, 0);
    while taken < MESSAGES {
        while sent < MESSAGES && sent - taken < UNDER_WAY {
            a.send("b", sent, data.clone(), 0).unwrap();
            sent += 1;
        }
        match a_events.next().await.unwrap() {
            Event::Acknowledged { .. } => taken += 1,
            other => panic!("{other:?}"),
        }
    }
    let megabytes = (MESSAGES as usize * BYTES) as f64 / 1e6;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{megabytes:.0} MB in {seconds:.2} s: {:.0} MB/s, both sides on one thread",
        megabytes / seconds
    );
    a.close().await;
    b.close().await;
    taker.abort();
}
