//! States that are requested, sent and received in an unusual order.

use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::Scheme;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_sites_agent::message::{AskMessage, Body, Hello, State, StateWanted, decode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Output, TrainingState, Wait, version};
use sha2::{Digest, Sha256};

use crate::hostile::world::{LINE, World, setups, site};

const MIB: usize = 1 << 20;
const TRIANGLE: &str = "name: triangle
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}, {ends: [b, c], rate: 8 Mbps}, {ends: [a, c], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

fn hello(world: &World, round: u32) -> Hello {
    Hello { round: Some(round), terms: world.setups[0].terms.message(), ..Hello::default() }
}

/// Returns the messages that a site has sent since the last call.
fn sent(world: &mut World, at: usize) -> Vec<(SiteNo, u64, Body)> {
    let outputs = std::iter::from_fn(|| world.sites[at].next_output());
    outputs
        .filter_map(|output| match output {
            Output::Send { to: inart_sites_agent::Peer::Site(to), id, data, .. } => {
                Some((to, id, decode(data).unwrap()))
            }
            _ => None,
        })
        .collect()
}

/// Two sites in round 1; b is requesting the state of a, whose parts are in flight.
fn giving() -> World {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.is_slow = |body| matches!(body, Body::State(_));
    world.sites[0].all_reduce(vec![1.0; 3], world.now).unwrap();
    world.deliver(0, site(1), Body::StateWanted(StateWanted::default()));
    world.exchange();
    let state = TrainingState::new(vec![7; 3 * MIB].into());
    world.sites[0].give_state(1, state, world.now);
    world.exchange();
    assert_eq!((world.under_way.len(), world.sites[0].is_giving()), (3, true));
    world
}

/// A site that was being sent a state trains with the state of another site.
#[test]
fn a_state_that_is_too_old_is_not_sent_on() {
    let mut world = giving();
    let rest = [(1, 10.0), (2, 100.0)];
    assert_eq!(world.round(&rest).len(), 3);
    assert_eq!(world.round(&[(0, 1.0), rest[0], rest[1]]).len(), 3);
    assert!(world.sites[0].is_giving(), "sites may be in the round after the state's");
    assert_eq!(world.round(&[(0, 1.0), rest[0], rest[1]]).len(), 3);
    assert!(!world.sites[0].is_giving());
}

/// A part that a connection did not accept is sent again with the next tick, not at once; no other part is.
#[test]
fn a_part_that_is_lost_is_sent_again() {
    let mut world = giving();
    let offset = |body: &Body| match body {
        Body::State(part) => part.offset,
        other => panic!("{other:?}"),
    };
    let (at, id, lost) = world.under_way.remove(1);
    world.sites[at].failed(id, world.now);
    world.exchange();
    assert_eq!(world.under_way.len(), 2, "not at once, or it might fail again for ever");
    world.pass(1);
    assert_eq!(world.under_way.len(), 3);
    assert_eq!(offset(&world.under_way[2].2), offset(&lost));
    for (at, id, _) in std::mem::take(&mut world.under_way) {
        world.sites[at].delivered(id, world.now);
    }
    assert!(!world.sites[0].is_giving());
}

/// Returns a part of the state of c, with its digest.
fn part(world: &World, fill: u8) -> State {
    let state = vec![fill; 2 * MIB];
    State {
        round: 4,
        policy: Some(policy_message(&world.setups[0].first_policy)),
        training: Bytes::copy_from_slice(&state[..MIB]),
        total: state.len() as u64,
        digest: Bytes::copy_from_slice(&Sha256::digest(&state)),
        ..State::default()
    }
}

/// A site asks c after b has sent nothing for a while. Later parts from b belong to another state.
#[test]
fn a_late_part_of_another_state_does_not_replace_received_parts() {
    let mut world = World::connected(vec![setups(TRIANGLE, Scheme::Optimized).remove(0)]);
    for from in [1, 2] {
        let hello = hello(&world, 4);
        world.deliver(0, site(from), Body::Hello(hello));
    }
    world.now = Duration::from_secs(11);
    world.sites[0].tick(world.now);
    let asked = sent(&mut world, 0).into_iter().filter(|(_, _, body)| matches!(body, Body::StateWanted(_)));
    assert_eq!(asked.map(|(to, ..)| to).collect::<Vec<_>>(), [SiteNo(1), SiteNo(2)]);
    let (of_c, of_b) = (part(&world, 1), part(&world, 2));
    world.deliver(0, site(2), Body::State(of_c));
    world.deliver(0, site(1), Body::State(of_b));
    let [(to, _, Body::StateWanted(over))] = &sent(&mut world, 0)[..] else { panic!("one message") };
    assert_eq!((*to, over.is_over), (SiteNo(1), true));
    // Only the rest of c's state is missing.
    let rest = State { offset: MIB as u64, policy: None, ..part(&world, 1) };
    let waits = world.sites[0].waiting(world.now).unwrap().wait;
    assert_eq!(waits, Wait::State { of: SiteNo(2), received: MIB as u64, total: Some(2 * MIB as u64) });
    world.deliver(0, site(2), Body::State(rest));
    let loaded = std::iter::from_fn(|| world.sites[0].next_output());
    assert!(loaded.into_iter().any(|output| matches!(output, Output::Ready { round: 4, training: Some(_) })));
}

/// c is in the round of a state that a holds, by a newer plan: a accepts c's state, and restarts the round. A
/// site that then receives the state that a holds starts by that plan, too.
#[test]
fn a_state_has_the_plan_by_which_its_round_was_restarted() {
    let mut world = World::ready(TRIANGLE, Scheme::Optimized);
    let first = TransmissionPolicy::clone(&world.setups[0].first_policy);
    let newer = TransmissionPolicy { version: version(7, &first), ..first.clone() };
    let give = |world: &mut World| {
        world.deliver(0, site(1), Body::StateWanted(StateWanted::default()));
        let mut all = sent(world, 0);
        if all.iter().all(|(_, _, body)| !matches!(body, Body::State(_))) {
            world.sites[0].give_state(1, TrainingState::new(vec![7; 9].into()), world.now);
            all = sent(world, 0);
        }
        for (_, id, _) in &all {
            world.sites[0].delivered(*id, world.now);
        }
        let state = all.into_iter().find_map(|(to, _, body)| match body {
            Body::State(state) if to == SiteNo(1) => state.policy,
            _ => None,
        });
        state.expect("b is given the state").version
    };
    world.sites[0].all_reduce(vec![1.0; 3], world.now).unwrap();
    sent(&mut world, 0);
    assert_eq!(give(&mut world), first.version);
    let ahead = Hello { version: newer.version, ..hello(&world, 1) };
    world.deliver(0, site(2), Body::Hello(ahead));
    let of_c = State {
        round: 1,
        policy: Some(policy_message(&newer)),
        training: Bytes::from_static(&[7; 9]),
        total: 9,
        digest: Bytes::copy_from_slice(&Sha256::digest([7; 9])),
        ..State::default()
    };
    world.deliver(0, site(2), Body::State(of_c));
    world.sites[0].all_reduce(vec![1.0; 3], world.now).unwrap();
    assert_eq!(world.sites[0].policy_version(), newer.version, "a has begun the round again");
    sent(&mut world, 0);
    assert_eq!(give(&mut world), newer.version);
}

/// b has the final state of a training but no sums of its last round, and c requests these sums.
#[test]
fn a_site_that_finished_with_another_state_reports_that_it_has_no_sums() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.sites[1].all_reduce(vec![1.0; 3], world.now).unwrap();
    let hello = Hello { is_finished: true, cannot_answer: Some(1), ..hello(&world, 2) };
    world.deliver(1, site(0), Body::Hello(hello));
    let digest = Bytes::copy_from_slice(&Sha256::digest(b""));
    let last = State { round: 3, is_finished: true, digest, ..State::default() };
    world.deliver(1, site(0), Body::State(last));
    sent(&mut world, 1);
    let question = AskMessage { round: 1, from: 2, to: 1, chunks: vec![0], ..AskMessage::default() };
    world.deliver(1, site(2), Body::Ask(question));
    let [(to, _, Body::Hello(answer))] = &sent(&mut world, 1)[..] else { panic!("one message") };
    assert_eq!((*to, answer.cannot_answer, answer.is_finished), (SiteNo(2), Some(1), true));
}

/// A site that passes its chunks one by one waits for its own program, and does not end the job for this
/// wait: other sites do.
#[test]
fn a_site_whose_own_chunks_are_late_does_not_end_the_job() {
    let mut world = World::ready(LINE, Scheme::Optimized);
    world.sites[1].begin(world.now).unwrap();
    for at in [0, 2] {
        world.sites[at].all_reduce(vec![1.0; 3], world.now).unwrap();
    }
    world.exchange();
    let long = world.now + 2 * world.setups[1].patience;
    world.sites[1].tick(long);
    let waits = world.sites[1].waiting(long).unwrap().wait;
    assert_eq!(waits, Wait::Program { round: 1 });
    let ends =
        std::iter::from_fn(|| world.sites[1].next_output()).any(|one| matches!(one, Output::Failed(_)));
    assert!(!ends);
}
