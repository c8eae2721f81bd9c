//! Messages in the name of another site.

use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::Scheme;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::Output;
use inart_sites_agent::message::{AskMessage, Body, ChunkMessage, State, StateWanted, encode};

use crate::hostile::world::{LINE, World, carry_out, setups, site};

/// a-b-c in a triangle, and d, which is only linked to c.
const TAIL: &str = "name: tail
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}, {name: d, kind: site}]
links:
  - {ends: [a, b], rate: 80 Mbps}
  - {ends: [b, c], rate: 80 Mbps}
  - {ends: [a, c], rate: 8 Mbps}
  - {ends: [c, d], rate: 80 Mbps}
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

/// c sends its sum twice, first in the name of a, before a has sent its own.
#[test]
fn a_site_that_impersonates_another_does_not_replace_its_gradient() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    assert_eq!(world.setups[0].first_policy.trees[0].root, SiteNo(1), "a and c send to b");
    world.before = Some(Box::new(|from, _, body| match body {
        Body::Chunk(chunk) if from == 2 && chunk.way == 0 => {
            vec![Body::Chunk(ChunkMessage { from: 0, ..chunk.clone() })]
        }
        _ => Vec::new(),
    }));
    world.order = vec![2, 1, 0];
    let sums = world.round(&[(2, 100.0), (1, 10.0), (0, 1.0)]);
    assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![vec![111.0; 3]; 3]);
    let counters = world.sites[1].counters().1;
    assert_eq!((counters.impostors, counters.malformed), (1, 0));
    let said = world.warnings(1);
    assert_eq!(said, ["c sent a chunk in the name of a, whose messages do not pass through it; dropped"]);
}

/// In the names of a tree's parent, and of a site that this one could have asked.
#[test]
fn a_sum_in_the_name_of_the_parent_is_dropped() {
    let mut world = World::ready(TAIL, Scheme::Mst);
    let policy = world.setups[0].first_policy.clone();
    let (up, root) = (&policy.trees[0].up, policy.trees[0].root);
    // A neighbor of its parent and of another site, so the other site may send false messages.
    let (me, parent) = (0..3u16)
        .find_map(|at| Some((at, up[usize::from(at)]?)))
        .expect("one of the triangle is not the root");
    let liar = (0..3u16).find(|at| *at != me && SiteNo(*at) != parent).unwrap();
    assert!(world.setups[usize::from(me)].are_linked(SiteNo(me), SiteNo(liar)), "{root:?}");
    let at = usize::from(me);
    world.sites[at].all_reduce(vec![1.0; 3], world.now).unwrap();
    let sum = ChunkMessage {
        round: 1,
        from: parent.0.into(),
        to: me.into(),
        way: 1,
        policies: vec![0],
        runs: Bytes::from_static(&[149, 1]),
        words: Bytes::from(vec![7, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0]),
        ..ChunkMessage::default()
    };
    world.deliver(at, site(liar), Body::Chunk(sum.clone()));
    assert_eq!((world.sites[at].counters().1.impostors, world.sums().len()), (1, 0));
    // An answer in its own name, without a request.
    let answer = ChunkMessage { from: liar.into(), way: 2, ..sum.clone() };
    world.deliver(at, site(liar), Body::Chunk(answer));
    assert_eq!(world.sites[at].counters().1.unasked, 1);
    world.exchange();
    assert_eq!(world.sums().len(), 0);
    // From the parent itself the chunk is the sum.
    world.deliver(at, site(parent.0), Body::Chunk(sum));
    world.exchange();
    assert_eq!(world.sums()[&at], [7.0; 3]);
}

/// One message of a neighbor must not keep a site busy forever.
#[test]
fn a_message_to_a_site_without_a_link_is_dropped_and_counted() {
    // To be forwarded to c, which is not a neighbor of a.
    let mut world = World::ready(LINE, Scheme::Optimized);
    let relay = ChunkMessage { round: 1, from: 1, to: 2, route: vec![2], ..ChunkMessage::default() };
    world.deliver(0, site(1), Body::Chunk(relay));
    let question = AskMessage { round: 1, from: 1, to: 2, route: vec![2], chunks: vec![0] };
    world.deliver(0, site(1), Body::Ask(question));
    assert_eq!(carry_out(&mut world.sites[0], &[1], world.now), (1, vec![]));
    assert_eq!(world.sites[0].counters().1.astray, 2);
    // A request in the name of c: an answer would go to c.
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.round(&[(0, 1.0), (1, 1.0), (2, 1.0)]);
    let question = AskMessage { round: 1, from: 2, to: 0, route: vec![], chunks: vec![0] };
    world.deliver(0, site(1), Body::Ask(question));
    assert_eq!(carry_out(&mut world.sites[0], &[1], world.now), (1, vec![]));
    assert_eq!(world.sites[0].counters().1.impostors, 1);
    // Routes with a cycle, through the site itself, and to an unknown site.
    for (from, to, route) in [(1, 0, vec![]), (0, 2, vec![1, 2]), (1, 2, vec![]), (1, 1, vec![1])] {
        let relay = ChunkMessage { round: 1, from, to, route, ..ChunkMessage::default() };
        world.deliver(0, site(1), Body::Chunk(relay));
        let (_, receivers) = carry_out(&mut world.sites[0], &[1], world.now);
        assert_eq!(receivers, [], "{from} to {to}");
    }
}

#[test]
fn a_process_that_is_not_a_neighbor_is_ignored() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.deliver(0, site(2), Body::StateWanted(StateWanted::default()));
    world.deliver_bytes(0, site(9), encode(Body::State(State::default())));
    assert_eq!((world.sites[0].counters().1.unknown_senders, world.sites[0].next_output()), (2, None));
}

/// Routes of a plan lead through other sites, which forward messages in the name of the origin.
#[test]
fn a_chunk_on_a_route_of_the_plan_is_taken() {
    for scheme in [Scheme::Star, Scheme::Bkt] {
        let mut world = World::ready(TAIL, scheme);
        let routes = &world.setups[0].first_policy.routes;
        assert!(
            routes.keys().any(|ends| *ends == (SiteNo(3), SiteNo(0)) || ends.0 == SiteNo(3)),
            "{routes:?}"
        );
        let sums = world.round(&[(0, 1.0), (1, 10.0), (2, 100.0), (3, 1000.0)]);
        assert_eq!(sums.into_values().collect::<Vec<_>>(), vec![vec![1111.0; 3]; 4], "{scheme}");
        for at in 0..4 {
            let counters = world.sites[at].counters().1;
            assert_eq!((counters.impostors, counters.astray, counters.asks), (0, 0, 0), "{scheme}");
        }
    }
}

/// While a link is down, both of its ends take a detour; a site that does not know of it yet asks when it
/// learns of it.
#[test]
fn a_chunk_on_a_detour_is_accepted_and_an_early_one_is_requested() {
    for is_known_at_both in [true, false] {
        let mut world = World::ready(TAIL, Scheme::Mst);
        let tree = world.setups[0].first_policy.trees[0].clone();
        // The tree's edge between a and b is cut; c is on the detour.
        let (child, parent) = if tree.up[0] == Some(SiteNo(1)) { (0, 1) } else { (1, 0) };
        assert_eq!(tree.up[child], Some(SiteNo(parent as u16)), "{tree:?}");
        world.sites[child].down(site(parent as u16), world.now);
        if is_known_at_both {
            world.sites[parent].down(site(child as u16), world.now);
        }
        let values = [(0, 1.0), (1, 10.0), (2, 100.0), (3, 1000.0)];
        let sums = world.round(&values);
        let refused = world.sites[parent].counters().1.impostors;
        if !is_known_at_both {
            assert_eq!((sums.len(), refused), (0, 1), "c may not speak for {child} yet");
            // Much less than the time without arrivals after which a site asks.
            world.now += Duration::from_millis(100);
            world.sites[parent].down(site(child as u16), world.now);
            world.exchange();
        }
        let sums: Vec<_> = sums.into_values().chain(world.sums().into_values()).collect();
        assert_eq!(sums, vec![vec![1111.0; 3]; 4], "{is_known_at_both}");
    }
}

/// A chunk may be on its detour when the link recovers, but only for a limited time.
#[test]
fn a_chunk_on_a_detour_is_taken_for_a_while_after_the_link_is_back() {
    for (seconds, refused) in [(1, 0), (61, 1)] {
        let mut world = World::ready(TAIL, Scheme::Mst);
        let tree = world.setups[0].first_policy.trees[0].clone();
        let (child, parent) = if tree.up[0] == Some(SiteNo(1)) { (0, 1) } else { (1, 0) };
        world.sites[child].down(site(parent as u16), world.now);
        world.sites[parent].down(site(child as u16), world.now);
        world.sites[parent].up(site(child as u16), world.now);
        world.now += Duration::from_secs(seconds);
        let sums = world.round(&[(0, 1.0), (1, 10.0), (2, 100.0), (3, 1000.0)]);
        assert_eq!(world.sites[parent].counters().1.impostors, refused, "{seconds} s");
        assert_eq!(sums.len(), if refused == 0 { 4 } else { 0 }, "{seconds} s");
    }
}

/// A question for one chunk a thousand times is answered once.
#[test]
fn a_question_that_names_a_chunk_often_is_answered_once() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.round(&[(0, 1.0), (1, 1.0), (2, 1.0)]);
    let question = AskMessage { round: 1, from: 0, to: 1, route: vec![], chunks: vec![0; 1000] };
    world.deliver(1, site(0), Body::Ask(question));
    assert_eq!(carry_out(&mut world.sites[1], &[0, 2], world.now).1, [site(0)]);
}

/// A site that was not asked for its state cannot send one.
#[test]
fn a_state_of_a_site_that_was_not_asked_is_dropped() {
    let all = setups(TAIL, Scheme::Mst);
    let mut world = World::connected(vec![all[0].clone()]);
    let hello = |round| {
        let terms = all[0].terms.message();
        Body::Hello(inart_sites_agent::message::Hello { round, terms, ..Default::default() })
    };
    world.deliver(0, site(1), hello(Some(4)));
    world.deliver(0, site(2), hello(Some(5)));
    let receivers = carry_out(&mut world.sites[0], &[1, 2], world.now).1;
    assert_eq!(receivers.last(), Some(&site(1)), "it asks who is in the earliest round");
    let ended = State { training: Bytes::from_static(b"mine"), is_finished: true, ..State::default() };
    world.deliver(0, site(2), Body::State(ended));
    assert_eq!(world.sites[0].counters().1.unasked, 1);
    // The sender learns that this site wants no more parts: it may still serve an earlier process.
    let sent = std::iter::from_fn(|| world.sites[0].next_output()).collect::<Vec<_>>();
    let [Output::Send { to, data, .. }] = &sent[..] else { panic!("{sent:?}") };
    let over = StateWanted { is_over: true, ..StateWanted::default() };
    assert_eq!((*to, data), (site(2), &encode(Body::StateWanted(over))));
}
