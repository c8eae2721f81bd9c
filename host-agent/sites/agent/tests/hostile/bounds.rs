//! Limits of the memory and log lines that a neighbor can cause at a site.

use bytes::Bytes;
use inart_planner_sites::Scheme;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, ChunkMessage, Ended, transfer};
use inart_sites_agent::{DriverError, Output, Peer};

use crate::hostile::world::{LINE, World, setups, site};

/// a, b and c in a row, and d next to c.
const ROW: &str = "name: row
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}, {name: d, kind: site}]
links:
  - {ends: [a, b], rate: 80 Mbps}
  - {ends: [b, c], rate: 80 Mbps}
  - {ends: [c, d], rate: 80 Mbps}
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

/// Returns a chunk that a plan routes through a site, and that site.
fn on_a_route(world: &World) -> (usize, Peer, ChunkMessage) {
    let policy = &world.setups[0].first_policy;
    let way = policy.routes.values().find(|way| way.len() > 2).expect("a route of several hops");
    let chunk = ChunkMessage {
        round: 1,
        version: policy.version,
        from: way[0].0.into(),
        to: way[way.len() - 1].0.into(),
        route: way[2..].iter().map(|site| site.0.into()).collect(),
        runs: Bytes::from_static(&[149, 1]),
        words: Bytes::from_static(&[7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]),
        ..ChunkMessage::default()
    };
    (way[1].index(), site(way[0].0), chunk)
}

/// Returns the number of undelivered chunks that a site has given to its links.
fn given(world: &mut World, at: usize) -> usize {
    let outputs = std::iter::from_fn(|| world.sites[at].next_output());
    outputs.filter(|output| matches!(output, Output::Send { .. })).count()
}

/// The link to the next hop is slow, and the neighbor sends chunks of unknown rounds and plans.
#[test]
fn chunks_for_others_do_not_pile_up_without_end() {
    let mut world = World::ready(ROW, Scheme::Star);
    let (at, from, chunk) = on_a_route(&world);
    for round in 1..=1000 {
        let version = u64::from(round);
        world.deliver(at, from, Body::Chunk(ChunkMessage { round, version, ..chunk.clone() }));
    }
    let most = 4 * world.setups.len();
    assert_eq!(given(&mut world, at), most);
    let counters = world.sites[at].counters().1;
    assert_eq!((counters.crowded, counters.astray, counters.impostors), (1000 - most as u64, 0, 0));
}

#[test]
fn chunks_for_others_are_those_of_the_job() {
    let mut world = World::ready(ROW, Scheme::Star);
    let (at, from, chunk) = on_a_route(&world);
    for wrong in [
        ChunkMessage { chunk: 1, ..chunk.clone() },
        ChunkMessage { chunk: u32::MAX, ..chunk.clone() },
        ChunkMessage { words: Bytes::from(vec![0; 1 << 20]), ..chunk.clone() },
        ChunkMessage { runs: Bytes::new(), ..chunk.clone() },
        ChunkMessage { policies: vec![1; 65], ..chunk.clone() },
    ] {
        world.deliver(at, from, Body::Chunk(wrong));
    }
    assert_eq!((world.sites[at].counters().1.malformed, given(&mut world, at)), (5, 0));
    world.deliver(at, from, Body::Chunk(chunk));
    assert_eq!(given(&mut world, at), 1);
}

/// Versions of two children are compared with each other: a million of each would take hours.
#[test]
fn a_chunk_that_names_too_many_versions_or_sites_is_malformed() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    let chunk = ChunkMessage {
        round: 1,
        from: 0,
        to: 1,
        runs: Bytes::from_static(&[149, 1]),
        words: Bytes::from(vec![0; 12]),
        ..ChunkMessage::default()
    };
    for (wrong, text) in [
        (
            ChunkMessage { policies: vec![0; 1 << 20], ..chunk.clone() },
            Some("the number of versions is 1048576, which is not allowed; at most 64"),
        ),
        (ChunkMessage { route: vec![1; 1 << 16], ..chunk.clone() }, None),
    ] {
        assert_eq!(transfer(wrong.clone()).err().map(|error| error.to_string()).as_deref(), text);
        world.deliver(1, site(0), Body::Chunk(wrong));
    }
    assert_eq!(world.sites[1].counters().1.malformed, 2);
    world.deliver(1, site(0), Body::Chunk(ChunkMessage { policies: vec![0; 64], ..chunk }));
    assert_eq!((world.sites[1].counters().1.malformed, world.sites[1].counters().0.early), (2, 1));
}

#[test]
fn the_reason_of_another_site_is_one_line() {
    let mut world = World::connected(setups(LINE, Scheme::Optimized));
    let reason = format!("site a:\u{1b}[2J\n{}", "x".repeat(1 << 20));
    world.deliver(0, site(1), Body::Ended(Ended { reason, is_before_start: false }));
    let said = std::iter::from_fn(|| world.sites[0].next_output()).find_map(|output| match output {
        Output::Failed(DriverError::Elsewhere { reason }) => Some(reason),
        _ => None,
    });
    let said = said.unwrap();
    assert!(said.starts_with("site a:\\u{1b}[2J\\nxxx") && said.len() <= 1024, "{} bytes", said.len());
    assert_eq!(world.setups[0].me, SiteNo(0));
}
