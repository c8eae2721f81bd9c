//! Drivers on links with a rate in virtual time: messages take time by their length, in sequence, by
//! priority.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_planner_sites::{AuxiliaryUse, Options, Scheme};
use inart_protocol_sites::SiteNo;
use inart_sites_agent::message::{Body, State, decode, encode};
use inart_sites_agent::{Driver, DriverError, Output, Peer, Setup, Wait};
use inart_topologies::sites::Overlay;
use inart_virtual::Timeline;

const TICK_S: f64 = 0.1;
const CONNECT_S: f64 = 0.1;
const DELAY_S: f64 = 0.01;

#[derive(Debug)]
enum Event {
    Tick,
    Connect(usize, usize),
    /// Departure of a message's last bit: the message arrives, and the next one leaves.
    Departed {
        from: usize,
        to: usize,
        connection: u64,
        id: u64,
        data: Bytes,
    },
    Delivered {
        at: usize,
        incarnation: u64,
        id: u64,
    },
    Computed {
        at: usize,
        incarnation: u64,
        round: u32,
    },
    Written {
        at: usize,
        incarnation: u64,
        round: u32,
    },
}

/// Messages that wait for a link, in sending order.
type Queue = BTreeMap<(Reverse<i32>, u64), (u64, Bytes)>;

/// Process of a site.
pub struct Process {
    pub driver: Driver,
    incarnation: u64,
    /// State that the program has loaded, or started with.
    pub state: Bytes,
    pub loads: u32,
    /// Sums by round.
    pub sums: BTreeMap<u32, Vec<f32>>,
    pub failed: Option<DriverError>,
    pub ended: Option<Bytes>,
    /// Reports of waits, with the virtual second of each.
    pub waits: Vec<(f64, Wait)>,
}

/// Change of messages in flight.
type Change = Box<dyn Fn(usize, usize, Bytes) -> Bytes>;

pub struct Net {
    pub setups: Vec<Arc<Setup>>,
    pub sites: Vec<Option<Process>>,
    links: BTreeMap<(usize, usize), (Queue, bool)>,
    open: BTreeMap<(usize, u64), usize>,
    /// Connections, each with a unique number.
    up: BTreeMap<(usize, usize), u64>,
    events: Timeline<Event, u64>,
    serial: u64,
    pub now: f64,
    bps: f64,
    /// State of the programs before every round.
    pub state: Bytes,
    pub compute_s: f64,
    pub write_s: f64,
    /// Site whose program computes forever.
    pub hangs: Option<usize>,
    pub change: Change,
    /// Bytes of parts of states by sender, and the longest message.
    pub state_bytes: BTreeMap<usize, u64>,
    pub longest: usize,
    /// Number of requests for its state by site.
    pub asked: BTreeMap<usize, u32>,
}

fn peer(site: usize) -> Peer {
    Peer::Site(SiteNo(site as u16))
}

pub fn body(data: &Bytes) -> Body {
    decode(data.clone()).unwrap()
}

/// Returns the part of a state in a message; `None` for other messages.
pub fn part(data: &Bytes) -> Option<State> {
    match body(data) {
        Body::State(state) => Some(state),
        _ => None,
    }
}

pub fn message(state: State) -> Bytes {
    encode(Body::State(state))
}

impl Net {
    /// Starts all sites of a network at 0 s. `change`: changes each site's setup.
    pub fn new(network: &str, bps: f64, state: Bytes, change: impl Fn(&mut Setup)) -> Self {
        let overlay = Overlay::from_yaml(network).unwrap();
        let options = Options::new(Scheme::Optimized);
        let setup = |name: &String| {
            let job = &overlay.jobs()[0];
            let mut setup = Setup::new(&overlay, job, name, &options, AuxiliaryUse::default()).unwrap();
            change(&mut setup);
            Arc::new(setup)
        };
        let setups: Vec<_> = overlay.sites().iter().map(setup).collect();
        let mut net = Net {
            sites: setups.iter().map(|_| None).collect(),
            setups,
            links: BTreeMap::new(),
            open: BTreeMap::new(),
            up: BTreeMap::new(),
            events: Timeline::new(),
            serial: 0,
            now: 0.0,
            bps,
            state,
            compute_s: 0.1,
            write_s: 0.0,
            hangs: None,
            change: Box::new(|_, _, data| data),
            state_bytes: BTreeMap::new(),
            longest: 0,
            asked: BTreeMap::new(),
        };
        net.after(TICK_S, Event::Tick);
        net
    }

    pub fn start_all(&mut self) {
        (0..self.sites.len()).for_each(|site| self.start(site));
    }

    pub fn start(&mut self, at: usize) {
        self.serial += 1;
        let driver = Driver::new(self.setups[at].clone());
        self.sites[at] = Some(Process {
            driver,
            incarnation: self.serial,
            state: Bytes::new(),
            loads: 0,
            sums: BTreeMap::new(),
            failed: None,
            ended: None,
            waits: Vec::new(),
        });
        for other in self.setups[at].neighbors[at].clone() {
            self.after(CONNECT_S, Event::Connect(at, other.index()));
        }
    }

    /// Kills a process and closes its connections.
    pub fn kill(&mut self, at: usize) {
        self.sites[at] = None;
        let all: Vec<_> = self.up.keys().copied().filter(|(a, b)| *a == at || *b == at).collect();
        for (a, b) in all {
            self.up.remove(&(a, b));
            let other = if a == at { b } else { a };
            self.links.remove(&(a, b));
            self.links.remove(&(b, a));
            let open: Vec<u64> =
                self.open.iter().filter(|(_, to)| **to == at).map(|((_, id), _)| *id).collect();
            let now = self.now();
            if let Some(site) = &mut self.sites[other] {
                site.driver.down(peer(at), now);
                for id in open {
                    if self.open.remove(&(other, id)).is_some() {
                        site.driver.failed(id, now);
                    }
                }
            }
            self.carry_out(other);
        }
    }

    /// Closes the connection of two sites and opens it again.
    pub fn cut(&mut self, a: usize, b: usize) {
        self.up.remove(&(a.min(b), a.max(b)));
        let now = self.now();
        for (me, other) in [(a, b), (b, a)] {
            self.links.remove(&(me, other));
            let open: Vec<u64> = self
                .open
                .iter()
                .filter(|((of, _), to)| (*of, **to) == (me, other))
                .map(|((_, id), _)| *id)
                .collect();
            for id in open {
                self.open.remove(&(me, id));
                self.driver(me, |driver| driver.failed(id, now));
            }
            self.driver(me, |driver| driver.down(peer(other), now));
        }
        self.after(CONNECT_S, Event::Connect(a, b));
    }

    pub fn site(&self, at: usize) -> &Process {
        self.sites[at].as_ref().unwrap()
    }

    pub fn driver(&mut self, at: usize, tell: impl FnOnce(&mut Driver)) {
        if let Some(site) = &mut self.sites[at] {
            tell(&mut site.driver);
        }
        self.carry_out(at);
    }

    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.now)
    }

    fn after(&mut self, seconds: f64, event: Event) {
        self.events.at(((self.now + seconds) * 1e9) as u64, event);
    }

    /// Runs until a condition is true; panics after `longest_s` virtual seconds.
    pub fn until(&mut self, longest_s: f64, mut is_true: impl FnMut(&Net) -> bool) {
        let end = self.now + longest_s;
        while !is_true(self) {
            assert!(self.now < end, "{}", self.phases());
            self.step();
        }
    }

    pub fn run(&mut self, seconds: f64) {
        let end = self.now + seconds;
        while self.now < end {
            self.step();
        }
    }

    fn phases(&self) -> String {
        let all = self.sites.iter().flatten().map(|site| site.driver.status_text());
        all.collect::<Vec<_>>().join("\n")
    }

    fn step(&mut self) {
        let (at, event) = self.events.take().unwrap();
        self.now = at as f64 * 1e-9;
        let now = self.now();
        match event {
            Event::Tick => {
                self.after(TICK_S, Event::Tick);
                for at in 0..self.sites.len() {
                    self.driver(at, |driver| driver.tick(now));
                }
            }
            Event::Connect(a, b) => self.connect(a.min(b), a.max(b)),
            Event::Departed { from, to, connection, id, data } => {
                if self.connection(from, to) == Some(connection) {
                    self.links.entry((from, to)).or_default().1 = false;
                    self.feed(from, to);
                    self.arrive(from, to, id, data);
                }
            }
            Event::Delivered { at, incarnation, id } => {
                if self.has_incarnation(at, incarnation) && self.open.remove(&(at, id)).is_some() {
                    self.driver(at, |driver| driver.delivered(id, now));
                }
            }
            Event::Computed { at, incarnation, round } => {
                if self.has_incarnation(at, incarnation) {
                    let gradient = vec![at as f32 + 1.0; self.setups[at].values()];
                    // A site that has ended accepts no messages.
                    self.driver(at, |driver| drop(driver.all_reduce(gradient, now)));
                }
                let _ = round;
            }
            Event::Written { at, incarnation, round } => {
                if self.has_incarnation(at, incarnation) {
                    let state = self.state.clone();
                    self.driver(at, |driver| driver.give_state(round, state, now));
                }
            }
        }
    }

    fn has_incarnation(&self, at: usize, incarnation: u64) -> bool {
        self.sites[at].as_ref().is_some_and(|site| site.incarnation == incarnation)
    }

    fn connection(&self, a: usize, b: usize) -> Option<u64> {
        self.up.get(&(a.min(b), a.max(b))).copied()
    }

    fn connect(&mut self, a: usize, b: usize) {
        let incarnations = self.sites[a].is_some() && self.sites[b].is_some();
        if !incarnations || self.up.contains_key(&(a, b)) {
            return;
        }
        self.serial += 1;
        self.up.insert((a, b), self.serial);
        let now = self.now();
        self.driver(a, |driver| driver.up(peer(b), now));
        self.driver(b, |driver| driver.up(peer(a), now));
    }

    fn send(&mut self, from: usize, to: usize, id: u64, data: Bytes, priority: i32) {
        if self.connection(from, to).is_none() {
            let now = self.now();
            return self.driver(from, |driver| driver.failed(id, now));
        }
        self.longest = self.longest.max(data.len());
        if let Some(state) = part(&data) {
            *self.state_bytes.entry(from).or_default() += state.training.len() as u64;
        }
        let data = (self.change)(from, to, data);
        self.open.insert((from, id), to);
        self.serial += 1;
        let turn = (Reverse(priority), self.serial);
        self.links.entry((from, to)).or_default().0.insert(turn, (id, data));
        self.feed(from, to);
    }

    fn feed(&mut self, from: usize, to: usize) {
        let Some(connection) = self.connection(from, to) else { return };
        let (queue, is_busy) = self.links.entry((from, to)).or_default();
        if *is_busy {
            return;
        }
        if let Some((_, (id, data))) = queue.pop_first() {
            *is_busy = true;
            let seconds = data.len() as f64 * 8.0 / self.bps;
            self.after(seconds, Event::Departed { from, to, connection, id, data });
        }
    }

    fn arrive(&mut self, from: usize, to: usize, id: u64, data: Bytes) {
        let now = self.now();
        let incarnation = self.sites[from].as_ref().map_or(0, |site| site.incarnation);
        self.driver(to, |driver| driver.message(peer(from), data, now));
        self.after(DELAY_S, Event::Delivered { at: from, incarnation, id });
    }

    fn carry_out(&mut self, at: usize) {
        loop {
            let now = self.now;
            let Some(site) = &mut self.sites[at] else { return };
            while let Some(report) = site.driver.next_waiting() {
                site.waits.push((now, report.wait));
            }
            let Some(output) = site.driver.next_output() else { return };
            let incarnation = site.incarnation;
            match output {
                Output::Send { to: Peer::Site(to), id, data, priority } => {
                    self.send(at, to.index(), id, data, priority);
                }
                Output::Send { to: Peer::Scheduler, .. } | Output::Summed { .. } => {}
                Output::Ready { round, training } => {
                    if let Some(state) = training {
                        (site.state, site.loads) = (state, site.loads + 1);
                    }
                    self.compute(at, incarnation, round);
                }
                Output::Reduced { round, sum } => {
                    site.sums.insert(round, sum);
                    self.compute(at, incarnation, round + 1);
                }
                Output::Ended { training } => site.ended = Some(training),
                Output::StateWanted { round } => {
                    *self.asked.entry(at).or_default() += 1;
                    self.after(self.write_s, Event::Written { at, incarnation, round });
                }
                Output::Failed(error) => site.failed = Some(error),
                Output::Warned(text) => panic!("site {at} warns: {text}"),
            }
        }
    }

    fn compute(&mut self, at: usize, incarnation: u64, round: u32) {
        if self.hangs != Some(at) {
            self.after(self.compute_s, Event::Computed { at, incarnation, round });
        }
    }
}
