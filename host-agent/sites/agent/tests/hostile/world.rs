//! Drivers that exchange messages without delay, and a sender whose messages may be changed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, Hello, decode, encode};
use inart_sites_agent::{Driver, Output, Peer, Setup};
use inart_topologies::sites::Overlay;

/// The line a-b-c: a and c have no link.
pub const LINE: &str = "name: line
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}, {ends: [b, c], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

pub fn site(n: u16) -> Peer {
    Peer::Site(SiteNo(n))
}

pub fn setups(network: &str, scheme: Scheme) -> Vec<Setup> {
    let overlay = Overlay::from_yaml(network).unwrap();
    let of = |name: &String| {
        Setup::new(&overlay, &overlay.jobs()[0], name, &Options::new(scheme), AuxiliaryUse::default())
            .unwrap()
    };
    overlay.sites().iter().map(of).collect()
}

/// Replacement of a message, by (from, to).
type Change = Box<dyn Fn(u16, u16, &Body) -> Vec<Body>>;

pub struct World {
    pub setups: Vec<Arc<Setup>>,
    pub sites: Vec<Driver>,
    /// Outputs of each site, except messages.
    pub outputs: Vec<Vec<Output>>,
    pub now: Duration,
    /// Sites whose messages are delivered first, in this order.
    pub order: Vec<usize>,
    /// Messages that are sent before a message.
    pub before: Option<Change>,
    /// Selects messages that stay in flight; by site and number.
    pub is_slow: fn(&Body) -> bool,
    pub under_way: Vec<(usize, u64, Body)>,
}

impl World {
    /// Connects the sites; no hello has arrived.
    pub fn connected(setups: Vec<Setup>) -> Self {
        let setups: Vec<_> = setups.into_iter().map(Arc::new).collect();
        let count = setups.len();
        let mut world = World {
            sites: setups.iter().cloned().map(Driver::new).collect(),
            setups,
            outputs: vec![Vec::new(); count],
            now: Duration::ZERO,
            order: (0..count).collect(),
            before: None,
            is_slow: |_| false,
            under_way: Vec::new(),
        };
        for at in 0..count {
            for &neighbor in world.setups[at].clone().my_neighbors() {
                world.sites[at].up(Peer::Site(neighbor), Duration::ZERO);
            }
        }
        world
    }

    /// Runs until all sites are ready for the first round, without a scheduler.
    pub fn ready(network: &str, scheme: Scheme) -> Self {
        let mut world = World::connected(setups(network, scheme));
        world.exchange();
        world.pass(3);
        assert!(world.outputs.iter().all(|outputs| matches!(outputs[..], [Output::Ready { round: 1, .. }])));
        world.outputs.iter_mut().for_each(Vec::clear);
        for at in 0..world.sites.len() {
            let terms = world.setups[at].plan_terms.message();
            world.deliver(at, Peer::Scheduler, Body::Hello(Hello { terms, ..Hello::default() }));
        }
        world
    }

    /// Advances time by `seconds` seconds.
    pub fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        let now = self.now;
        self.sites.iter_mut().for_each(|site| site.tick(now));
        self.exchange();
    }

    /// Delivers messages until none is in flight.
    pub fn exchange(&mut self) {
        let mut is_moving = true;
        while std::mem::take(&mut is_moving) {
            for at in self.order.clone() {
                let mut all: VecDeque<Output> = std::iter::from_fn(|| self.sites[at].next_output()).collect();
                while let Some(output) = all.pop_front() {
                    is_moving = true;
                    let Output::Send { to, id, data, .. } = output else {
                        self.outputs[at].push(output);
                        continue;
                    };
                    let Peer::Site(to) = to else { panic!("there is no scheduler") };
                    let body = decode(data.clone()).unwrap();
                    if (self.is_slow)(&body) {
                        self.under_way.push((at, id, body));
                        continue;
                    }
                    let more = self.before.as_ref().map(|change| change(at as u16, to.0, &body));
                    for body in more.into_iter().flatten() {
                        self.sites[to.index()].message(site(at as u16), encode(body), self.now);
                    }
                    self.sites[to.index()].message(site(at as u16), data, self.now);
                    self.sites[at].delivered(id, self.now);
                }
            }
        }
    }

    pub fn deliver(&mut self, to: usize, from: Peer, body: Body) {
        self.deliver_bytes(to, from, encode(body));
    }

    pub fn deliver_bytes(&mut self, to: usize, from: Peer, data: Bytes) {
        self.sites[to].message(from, data, self.now);
    }

    /// Runs a round in which every site passes three times its own value, and delivers all messages. Returns
    /// the sums by site.
    pub fn round(&mut self, values: &[(usize, f32)]) -> BTreeMap<usize, Vec<f32>> {
        for &(at, value) in values {
            let gradient = vec![value; self.setups[at].values()];
            self.sites[at].all_reduce(gradient, self.now).unwrap();
            self.exchange();
        }
        self.sums()
    }

    /// Returns the sums that sites have reported since the last call.
    pub fn sums(&mut self) -> BTreeMap<usize, Vec<f32>> {
        let mut sums = BTreeMap::new();
        for (at, outputs) in self.outputs.iter_mut().enumerate() {
            for output in std::mem::take(outputs) {
                match output {
                    Output::Reduced { sum, .. } => drop(sums.insert(at, sum)),
                    other => outputs.push(other),
                }
            }
        }
        sums
    }

    pub fn warnings(&self, at: usize) -> Vec<&str> {
        fn text(output: &Output) -> Option<&str> {
            match output {
                Output::Warned(text) => Some(text),
                _ => None,
            }
        }
        self.outputs[at].iter().filter_map(text).collect()
    }
}

/// Carries out outputs as a host does: a message for a process without a connection fails at once, in the
/// same loop. Returns the number of outputs, and the destinations of messages.
pub fn carry_out(driver: &mut Driver, neighbors: &[u16], now: Duration) -> (usize, Vec<Peer>) {
    const MOST_TURNS: usize = 10_000;
    let (mut turns, mut receivers) = (0, Vec::new());
    while let Some(output) = driver.next_output() {
        turns += 1;
        assert!(turns < MOST_TURNS, "a site that never has nothing to do");
        if let Output::Send { to, id, .. } = output {
            receivers.push(to);
            match to {
                Peer::Site(to) if !neighbors.contains(&to.0) => driver.failed(id, now),
                _ => driver.delivered(id, now),
            }
        }
    }
    (turns, receivers)
}
