//! Messages that a driver refuses: it counts them or fails, and rounds continue as without them.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_sites_agent::message::{Body, ChunkMessage, Hello, Report, decode, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Driver, Output, Peer, Setup, version};
use inart_topologies::sites::Overlay;

const NETWORK: &str = "name: two
nodes: [{name: a, kind: site}, {name: b, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

const A: Peer = Peer::Site(SiteNo(0));
const B: Peer = Peer::Site(SiteNo(1));

/// Two sites, and the messages between them.
struct Pair {
    setup: Arc<Setup>,
    sites: [Driver; 2],
    /// Messages to a that are held back.
    held: Vec<Bytes>,
    is_held: bool,
    /// Outputs of the sites, except messages to send.
    outputs: [Vec<Output>; 2],
    now: Duration,
}

fn setup(name: &str) -> Arc<Setup> {
    let overlay = Overlay::from_yaml(NETWORK).unwrap();
    let options = Options::new(Scheme::Optimized);
    Arc::new(Setup::new(&overlay, &overlay.jobs()[0], name, &options, AuxiliaryUse::default()).unwrap())
}

impl Pair {
    /// Both sites are ready for the first round.
    fn new() -> Self {
        let setups = ["a", "b"].map(setup);
        let mut pair = Pair {
            setup: setups[0].clone(),
            sites: setups.map(Driver::new),
            held: Vec::new(),
            is_held: false,
            outputs: [Vec::new(), Vec::new()],
            now: Duration::ZERO,
        };
        pair.sites[0].up(B, pair.now);
        pair.sites[1].up(A, pair.now);
        pair.exchange();
        // No scheduler connects.
        pair.now = Duration::from_secs(3);
        pair.sites.iter_mut().for_each(|site| site.tick(Duration::from_secs(3)));
        pair.exchange();
        // A scheduler that connects later sends its terms.
        let hello = Hello { terms: pair.setup.plan_terms.message(), ..Hello::default() };
        let hello = encode(Body::Hello(hello));
        pair.sites.iter_mut().for_each(|site| site.message(Peer::Scheduler, hello.clone(), pair.now));
        let ready = vec![Output::Ready { round: 1, training: None }];
        assert_eq!(pair.outputs, [ready.clone(), ready]);
        pair.outputs = Default::default();
        pair
    }

    /// Delivers messages until none is in flight.
    fn exchange(&mut self) {
        let mut is_moving = true;
        while std::mem::take(&mut is_moving) {
            for at in [0, 1] {
                while let Some(output) = self.sites[at].next_output() {
                    is_moving = true;
                    let Output::Send { id, data, .. } = output else {
                        self.outputs[at].push(output);
                        continue;
                    };
                    if at == 1 && self.is_held {
                        self.held.push(data);
                    } else {
                        self.sites[1 - at].message([A, B][at], data, self.now);
                    }
                    self.sites[at].delivered(id, self.now);
                }
            }
        }
    }

    fn deliver_to_a(&mut self, from: Peer, body: Body) {
        self.sites[0].message(from, encode(body), self.now);
    }

    fn offer_to_b(&mut self, policy: &TransmissionPolicy) {
        let offer = encode(Body::Offer(policy_message(policy)));
        self.sites[1].message(Peer::Scheduler, offer, self.now);
    }
}

/// Returns the hello of a site b that trains another job.
fn other_hello(setup: &Setup) -> Hello {
    let other = setup.clone().with_training([("seed", 9)]).unwrap();
    Hello { terms: other.terms.message(), ..Hello::default() }
}

#[test]
fn messages_outside_the_job_are_counted_and_dropped() {
    let mut pair = Pair::new();
    pair.sites[0].message(B, Bytes::from_static(b"\xff\xff\xff nothing"), pair.now);
    assert_eq!(pair.sites[0].counters().1.malformed, 1);
    pair.deliver_to_a(B, Body::Hello(other_hello(&pair.setup)));
    let warning = "b has seed 9, this site has no seed; b is refused: give all sites the same".to_owned();
    assert_eq!(pair.sites[0].next_output(), Some(Output::Warned(warning)));
    // Reports are for a scheduler, and a scheduler sends no chunks.
    pair.deliver_to_a(B, Body::Report(Report::default()));
    pair.deliver_to_a(Peer::Scheduler, Body::Chunk(ChunkMessage::default()));
    assert_eq!(pair.sites[0].counters().1.unknown_senders, 3);
    assert_eq!(pair.sites[0].next_output(), None);
}

#[test]
fn plans_that_are_older_or_of_another_job_are_counted_and_dropped() {
    let mut pair = Pair::new();
    let offer = |pair: &mut Pair, policy: &TransmissionPolicy| {
        pair.deliver_to_a(Peer::Scheduler, Body::Offer(policy_message(policy)));
        pair.sites[0].counters().1.refused_offers
    };
    let first = TransmissionPolicy::clone(&pair.setup.first_policy);
    let newer = TransmissionPolicy { version: version(7, &first), ..first };
    assert_eq!(offer(&mut pair, &newer), 0);
    pair.offer_to_b(&newer);
    for round in 1..3 {
        for at in [0, 1] {
            pair.sites[at].all_reduce(vec![1.0; 3], pair.now).unwrap();
        }
        pair.exchange();
        assert_eq!(pair.sites[0].round(), Some(round));
    }
    assert_eq!(pair.sites[0].policy_version(), newer.version, "all have it, and follow it");
    // Older, equal, and with more chunks or sites than the job has.
    let older = TransmissionPolicy { version: version(6, &newer), ..newer.clone() };
    let mut longer = TransmissionPolicy { chunk_trees: newer.chunk_trees.repeat(2), ..newer.clone() };
    longer.version = version(8, &longer);
    let mut wider = TransmissionPolicy { version: version(8, &newer), ..newer.clone() };
    wider.sites.push(SiteNo(2));
    for (policy, count) in [older, newer.clone(), longer, wider].iter().zip(1..) {
        assert_eq!(offer(&mut pair, policy), count, "version {}", policy.version);
    }
    // The first plan that is invalid and not only old causes a warning; later ones of its sender do not.
    let warning = "a plan of the scheduler was refused: it has 2 chunks, and this site's job has 1; give all sites and \
                   the scheduler the same document";
    assert_eq!(pair.sites[0].next_output(), Some(Output::Warned(warning.to_owned())));
    assert_eq!((pair.sites[0].next_output(), pair.sites[0].policy_version()), (None, newer.version));
}

#[test]
fn chunks_of_other_rounds_plans_and_lengths_are_counted_and_dropped() {
    let mut pair = Pair::new();
    pair.is_held = true;
    pair.sites[0].all_reduce(vec![1.0, 2.0, 3.0], pair.now).unwrap();
    pair.sites[1].all_reduce(vec![10.0, 20.0, 30.0], pair.now).unwrap();
    pair.exchange();
    let is_chunk = |data: &Bytes| match decode(data.clone()) {
        Ok(Body::Chunk(chunk)) => Some(chunk),
        _ => None,
    };
    let chunk = pair.held.iter().find_map(is_chunk).expect("b sends its chunk or the sum");
    let counted = |pair: &Pair| {
        let (site, agent) = pair.sites[0].counters();
        [site.late, site.ahead, site.other_policy, agent.impostors, site.repeated, agent.malformed]
    };
    assert_eq!((chunk.round, counted(&pair)), (1, [0; 6]));
    let with = |change: &dyn Fn(&mut ChunkMessage)| {
        let mut other = chunk.clone();
        change(&mut other);
        Body::Chunk(other)
    };
    // The first round has no values, so a chunk with values is invalid.
    for (body, counters) in [
        (with(&|chunk| chunk.round = 0), [0, 0, 0, 0, 0, 1]),
        (with(&|chunk| chunk.round = 3), [0, 1, 0, 0, 0, 1]),
        (with(&|chunk| chunk.version = 5), [0, 1, 1, 0, 0, 1]),
        (with(&|chunk| chunk.from = 9), [0, 1, 1, 1, 0, 1]),
        (with(&|chunk| chunk.chunk = 4), [0, 1, 1, 1, 0, 2]),
        (with(&|chunk| chunk.words.clear()), [0, 1, 1, 1, 0, 3]),
    ] {
        pair.deliver_to_a(B, body);
        assert_eq!(counted(&pair), counters);
    }
    pair.is_held = false;
    for data in std::mem::take(&mut pair.held) {
        pair.sites[0].message(B, data, pair.now);
    }
    pair.exchange();
    let sum = Output::Reduced { round: 1, sum: vec![11.0, 22.0, 33.0] };
    let warning =
        "b sent a chunk in the name of 9, whose messages do not pass through it; dropped".to_owned();
    assert_eq!(pair.outputs, [vec![Output::Warned(warning), sum.clone()], vec![sum]]);
    // Duplicates, in their round and in the next one.
    pair.deliver_to_a(B, with(&|_| {}));
    assert_eq!(counted(&pair), [0, 1, 1, 1, 1, 3]);
    pair.sites[0].all_reduce(vec![0.0; 3], pair.now).unwrap();
    pair.deliver_to_a(B, with(&|_| {}));
    assert_eq!(counted(&pair), [1, 1, 1, 1, 1, 3]);
}
