//! A restarted site loads another one's state of any length, on links with a rate in virtual time
//! (docs/protocol/sites.md, S19).
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, Hello, State, encode};
use inart_sites_agent::{Driver, DriverError, MOST_STATE_BYTES, Output, Peer};
use std::time::Duration;

use crate::links::{Net, message, part};

const TRIANGLE: &str = "name: triangle
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}, {ends: [b, c], rate: 8 Mbps}, {ends: [a, c], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";
const MIB: usize = 1 << 20;
/// Less than the longest message that the endpoint of a site with short chunks accepts.
const MESSAGE: usize = 2 * MIB;

fn bytes(length: usize) -> Bytes {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// Runs three sites in their first rounds; c is killed and restarted.
fn restarted(state: Bytes, mbps: f64) -> Net {
    let mut net = Net::new(TRIANGLE, mbps * 1e6, state, |_| {});
    net.start_all();
    net.until(10.0, |net| net.sites.iter().flatten().all(|site| site.sums.len() >= 2));
    net.kill(2);
    net.start(2);
    net
}

fn has_loaded(net: &Net) -> bool {
    net.site(2).loads > 0
}

/// All sites complete one more round, and all sums are those of 1, 2 and 3.
fn completes_a_round(net: &mut Net) {
    let next = net.sites.iter().flatten().filter_map(|site| site.driver.round()).max().unwrap() + 1;
    net.until(30.0, |net| net.sites.iter().flatten().all(|site| site.sums.contains_key(&next)));
    for site in net.sites.iter().flatten() {
        assert!(site.sums.values().all(|sum| sum == &[6.0; 3]), "{:?}", site.sums);
    }
}

#[test]
fn a_state_above_64_mib_that_takes_longer_than_the_wait_is_sent_once() {
    // 70 MiB at 20 Mbps: 29 s, and a site waits 10 s for new parts.
    let state = bytes(70 * MIB + 5);
    let mut net = restarted(state.clone(), 20.0);
    let began = net.now;
    net.until(60.0, has_loaded);
    let seconds = net.now - began;
    assert!((29.0..33.0).contains(&seconds), "{seconds} s");
    assert!(net.site(2).state == state, "the bytes are those of the program");
    let sent: u64 = net.state_bytes.values().sum();
    assert_eq!(sent, state.len() as u64, "each byte leaves once");
    assert!(net.longest <= MESSAGE, "a message of {} bytes", net.longest);
    completes_a_round(&mut net);
}

#[test]
fn parts_that_take_longer_than_the_wait_arrive_all_the_same() {
    // 1 MiB at 0.5 Mbps: 17 s.
    let state = bytes(3 * MIB);
    let mut net = restarted(state.clone(), 0.5);
    net.until(200.0, has_loaded);
    assert!(net.site(2).state == state);
    let sent: u64 = net.state_bytes.values().sum();
    assert!(sent <= 2 * state.len() as u64, "{sent} bytes of two givers");
    completes_a_round(&mut net);
}

#[test]
fn another_site_gives_the_rest_when_the_giver_dies_half_way() {
    let state = bytes(40 * MIB);
    let mut net = restarted(state.clone(), 20.0);
    net.until(60.0, |net| net.state_bytes.values().sum::<u64>() > 20 << 20);
    let (&giver, &given) = net.state_bytes.iter().max_by_key(|(_, bytes)| **bytes).unwrap();
    net.kill(giver);
    net.until(60.0, has_loaded);
    assert!(net.site(2).state == state);
    let other = net.state_bytes[&(1 - giver)];
    let most = state.len() as u64 - given + (10 << 20);
    assert!(other <= most, "{other} bytes of the other one after {given} of the first");
    net.start(giver);
    completes_a_round(&mut net);
}

#[test]
fn a_connection_that_ends_does_not_begin_the_state_again() {
    let state = bytes(40 * MIB);
    let mut net = Net::new(PAIR, 20e6, state.clone(), |_| {});
    net.start_all();
    net.until(10.0, |net| net.sites.iter().flatten().all(|site| site.sums.len() >= 2));
    net.kill(1);
    net.start(1);
    net.until(60.0, |net| net.state_bytes.values().sum::<u64>() > 20 << 20);
    net.cut(0, 1);
    net.until(60.0, |net| net.site(1).loads > 0);
    assert!(net.site(1).state == state);
    let sent = net.state_bytes[&0];
    assert!(sent < (50 << 20), "{sent} bytes");
    assert_eq!(net.asked[&0], 1, "the program wrote its state once");
}

const PAIR: &str = "name: pair
nodes: [{name: a, kind: site}, {name: b, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

#[test]
fn a_program_that_writes_slowly_is_asked_once() {
    let state = bytes(100);
    let mut net = Net::new(TRIANGLE, 8e6, state.clone(), |_| {});
    net.write_s = 25.0;
    net.start_all();
    net.until(10.0, |net| net.sites.iter().flatten().all(|site| site.sums.len() >= 2));
    net.kill(2);
    net.start(2);
    net.until(120.0, has_loaded);
    assert!(net.asked.values().all(|&times| times == 1), "{:?}", net.asked);
    completes_a_round(&mut net);
}

#[test]
fn a_state_that_differs_from_its_digest_is_not_loaded() {
    let state = bytes(3 * MIB);
    // The first sender's memory is faulty: one bit of its second part.
    let faulty = |_: usize, _: usize, data: Bytes| match part(&data) {
        Some(state) if state.offset == MIB as u64 => {
            let mut training = state.training.to_vec();
            training[77] ^= 4;
            message(State { training: training.into(), ..state })
        }
        _ => data,
    };
    let mut net = restarted(state.clone(), 100.0);
    let first = std::cell::Cell::new(None);
    net.change = Box::new(move |from, to, data| match part(&data) {
        Some(_) if first.get().is_none_or(|first| first == from) => {
            first.set(Some(from));
            faulty(from, to, data)
        }
        _ => data,
    });
    net.until(60.0, has_loaded);
    assert!(net.site(2).state == state);
    assert_eq!(net.site(2).driver.counters().1.wrong_states, 1);
    completes_a_round(&mut net);
    // All senders are faulty.
    let mut net = restarted(state, 100.0);
    net.change = Box::new(faulty);
    net.until(120.0, |net| net.site(2).failed.is_some());
    let error = net.site(2).failed.clone().unwrap();
    assert!(matches!(error, DriverError::WrongState { .. }), "{error}");
    assert_eq!(net.site(2).loads, 0);
}

#[test]
fn states_without_an_end_are_refused_before_memory_is_taken() {
    let net = Net::new(PAIR, 8e6, Bytes::new(), |_| {});
    let (a, now) = (Peer::Site(SiteNo(0)), Duration::ZERO);
    let mut site = Driver::new(net.setups[1].clone());
    site.up(a, now);
    let hello = Hello { terms: net.setups[1].terms.message(), round: Some(9), ..Hello::default() };
    site.message(a, encode(Body::Hello(hello)), now);
    let asks = |site: &mut Driver| {
        let outputs = std::iter::from_fn(|| site.next_output());
        let body = |output| match output {
            Output::Send { data, .. } => Some(crate::links::body(&data)),
            _ => None,
        };
        outputs.filter_map(body).filter(|body| matches!(body, Body::StateWanted(_))).count()
    };
    assert_eq!(asks(&mut site), 1);
    let part = State {
        round: 9,
        is_finished: true,
        total: MOST_STATE_BYTES + 1,
        digest: Bytes::from_static(&[7; 32]),
        training: Bytes::from_static(&[1]),
        ..State::default()
    };
    site.message(a, message(part.clone()), now);
    site.message(a, message(State { total: 9, digest: Bytes::new(), ..part.clone() }), now);
    site.message(a, message(State { total: 9, offset: 9, ..part.clone() }), now);
    site.message(a, message(State { total: 9, offset: u64::MAX, ..part.clone() }), now);
    site.message(a, message(State { total: 9, training: Bytes::new(), ..part }), now);
    assert_eq!(site.counters().1.malformed, 5);
}
