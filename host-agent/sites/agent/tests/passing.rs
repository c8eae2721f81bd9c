//! Forwarding by a site whose link to the next hop has not come up yet.

use std::sync::Arc;
use std::time::Duration;

use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{AskMessage, Body, ChunkMessage, decode, encode};
use inart_sites_agent::{Driver, Output, Peer, Setup};
use inart_topologies::sites::Overlay;

const LINE: &str = "name: line
nodes: [{name: a, kind: site}, {name: m, kind: site}, {name: b, kind: site}]
links: [{ends: [a, m], rate: 8 Mbps}, {ends: [m, b], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

const A: Peer = Peer::Site(SiteNo(0));
const B: Peer = Peer::Site(SiteNo(2));
const NOW: Duration = Duration::from_secs(1);

/// Creates the site in the middle; its link to b is up.
fn middle() -> Driver {
    let overlay = Overlay::from_yaml(LINE).unwrap();
    let options = Options::new(Scheme::Star);
    let setup = Setup::new(&overlay, &overlay.jobs()[0], "m", &options, AuxiliaryUse::default()).unwrap();
    let mut driver = Driver::new(Arc::new(setup));
    driver.up(B, NOW);
    driver
}

/// Returns the numbers of chunks and requests that are sent to a.
fn sent_to_a(driver: &mut Driver) -> (usize, usize) {
    let mut sent = (0, 0);
    while let Some(output) = driver.next_output() {
        let Output::Send { to: A, data, .. } = output else { continue };
        match decode(data).unwrap() {
            Body::Chunk(chunk) if chunk.route.is_empty() => sent.0 += 1,
            Body::Ask(ask) if ask.route.is_empty() => sent.1 += 1,
            _ => {}
        }
    }
    sent
}

fn send_both(driver: &mut Driver) {
    let chunk = ChunkMessage { from: 2, to: 0, route: vec![0], ..ChunkMessage::default() };
    let ask = AskMessage { from: 2, to: 0, route: vec![0], chunks: vec![0], ..AskMessage::default() };
    driver.message(B, encode(Body::Chunk(chunk)), NOW);
    driver.message(B, encode(Body::Ask(ask)), NOW);
}

#[test]
fn messages_before_the_link_is_up_wait_and_later_losses_are_requested() {
    let mut driver = middle();
    send_both(&mut driver);
    assert_eq!(sent_to_a(&mut driver), (0, 0));
    driver.up(A, NOW);
    assert_eq!(sent_to_a(&mut driver), (1, 1));
    // Messages lost on a link that has been up are requested by a.
    driver.down(A, NOW);
    send_both(&mut driver);
    sent_to_a(&mut driver);
    driver.up(A, NOW);
    assert_eq!(sent_to_a(&mut driver), (0, 0));
}

#[test]
fn no_more_waits_for_a_link_than_it_may_hold() {
    let mut driver = middle();
    for _ in 0..100 {
        send_both(&mut driver);
    }
    assert_eq!(driver.counters().1.crowded, 188, "one chunk of three sites: 12 messages wait");
    driver.up(A, NOW);
    assert_eq!(sent_to_a(&mut driver), (6, 6));
}
