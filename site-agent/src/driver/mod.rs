//! One site between its owner and its connections: meets its neighbours, begins rounds, sends, asks,
//! measures, and lets a site that has restarted join.

mod arrivals;
mod ending;
mod error;
mod giving;
mod identity;
mod joining;
mod meeting;
mod plans;
mod rounds;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_sites::{Counters, Output as SiteOutput, Parcel, Policy, Sending, Site, SiteNo, Way};

use crate::counters::AgentCounters;
use crate::detour::detour;
use crate::gradient::ChunkSum;
use crate::incoming::Incoming;
use crate::lanes::{Lane, Lanes};
use crate::message::{Body, Report, SampleMessage, ask_message, chunk_message, encode};
use crate::setup::Setup;
use crate::state::TrainingState;
use crate::transfers::Giving;
use crate::wait::Watch;
pub use error::DriverError;

/// Samples of the links that wait for a report.
const MOST_SAMPLES: usize = 256;

/// While a round goes on, the scheduler is told what was measured this often.
const REPORT: Duration = Duration::from_millis(500);

/// The time between questions is doubled so often at most.
const MOST_DOUBLINGS: usize = 3;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Peer {
    /// A site.
    Site(SiteNo),
    /// The scheduler.
    Scheduler,
}

/// What the owner has to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this, and say whether it was delivered.
    Send {
        /// To whom.
        to: Peer,
        /// Its number, never used again.
        id: u64,
        /// The message.
        data: Bytes,
        /// What has more goes first on a connection.
        priority: i32,
    },
    /// The training program may compute the gradient of a round.
    Ready {
        /// Which.
        round: u32,
        /// What it has to load first: this site has restarted.
        training: Option<Bytes>,
    },
    /// The sum of a chunk of a round that was [begun](Driver::begin) without a gradient.
    Summed {
        /// Which round.
        round: u32,
        /// Which chunk.
        chunk: usize,
        /// Its values.
        values: Vec<f32>,
    },
    /// The sum of a round.
    Reduced {
        /// Which.
        round: u32,
        /// One value per parameter.
        sum: Vec<f32>,
    },
    /// The training was over when this site came back.
    Ended {
        /// How the training program's state was in the end.
        training: Bytes,
    },
    /// A site that has restarted wants the training program's state before this round.
    StateWanted {
        /// Which.
        round: u32,
    },
    /// A line for the log: something was refused.
    Warned(String),
    /// This site cannot go on.
    Failed(DriverError),
}

/// Where a site is in its life.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// It waits for its neighbours.
    Meeting,
    /// It has asked a neighbour for the state.
    Joining { asked: SiteNo, since: Duration },
    /// The training program computes.
    Ready { round: u32, join: Option<Arc<Policy>> },
    /// It has a gradient, and not the policy that the sites have agreed on.
    Lacks { version: u64, gradient: Vec<f32> },
    /// A round is under way.
    Reducing,
    /// It has all sums of the last round.
    Finished { training: TrainingState },
    /// It cannot go on.
    Over,
}

/// What a site warns of, once per peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Warning {
    Terms,
    Sender,
    Way,
    Plan,
    Link,
}

/// What a site that joins needs of a round.
#[derive(Debug, Clone)]
struct RoundStart {
    round: u32,
    policy: Arc<Policy>,
}

/// Where a neighbour said it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heard {
    /// None before its first round.
    round: Option<u32>,
    /// The policy of that round.
    version: u64,
    is_finished: bool,
}

/// A chunk that a link was given.
#[derive(Debug)]
struct Sent {
    next: SiteNo,
    parcel: Parcel<ChunkSum>,
    tag: i32,
}

/// One site.
#[derive(Debug)]
pub struct Driver {
    setup: Arc<Setup>,
    site: Site<ChunkSum>,
    phase: Phase,
    sum: Vec<f32>,
    not_finite: Option<SiteNo>,
    /// Chunks of the round are given, and their sums told, one by one.
    is_by_chunk: bool,
    /// Messages that say that the job has ended, under way.
    farewells: BTreeSet<u64>,
    /// The last two rounds, the newest last.
    starts: VecDeque<RoundStart>,
    up: BTreeSet<Peer>,
    /// The rounds in which neighbours said they are.
    heard: BTreeMap<SiteNo, Heard>,
    giving: Giving,
    /// Beginning of another site's state.
    incoming: Option<Incoming>,
    /// Sites that were asked for that state.
    asked_for_state: BTreeSet<SiteNo>,
    watch: Watch,
    has_offer: bool,
    /// The scheduler has other terms: its plans are refused.
    is_scheduler_refused: bool,
    /// When links were down last, of those that have been down.
    down_at: BTreeMap<SiteNo, Duration>,
    /// Sites that were asked for chunks of this round.
    asked: BTreeSet<SiteNo>,
    /// Sites in whose name something was refused since their links were down last.
    refused_senders: BTreeSet<SiteNo>,
    warned: BTreeSet<(Peer, Warning)>,
    sending: BTreeMap<u64, Sent>,
    /// What failed on connections that are up.
    held_back: Vec<(SiteNo, Parcel<ChunkSum>)>,
    lanes: Lanes,
    next_id: u64,
    met_at: Option<Duration>,
    heard_at: Duration,
    attempt: usize,
    reported_at: Duration,
    samples: Vec<SampleMessage>,
    counters: AgentCounters,
    outputs: VecDeque<Output>,
}

impl Driver {
    /// A site that has no connection yet.
    pub fn new(setup: Arc<Setup>) -> Self {
        let (starts, up, heard, sending, lanes) = Default::default();
        let (giving, incoming, asked_for_state, watch) = Default::default();
        Driver {
            site: Site::new(setup.me, setup.sending),
            phase: Phase::Meeting,
            sum: vec![0.0; setup.values()],
            not_finite: None,
            is_by_chunk: false,
            farewells: BTreeSet::new(),
            starts,
            up,
            heard,
            giving,
            incoming,
            asked_for_state,
            watch,
            has_offer: false,
            is_scheduler_refused: false,
            down_at: BTreeMap::new(),
            asked: BTreeSet::new(),
            refused_senders: BTreeSet::new(),
            warned: BTreeSet::new(),
            sending,
            held_back: Vec::new(),
            lanes,
            next_id: 0,
            met_at: None,
            heard_at: Duration::ZERO,
            attempt: 0,
            reported_at: Duration::ZERO,
            samples: Vec::new(),
            counters: AgentCounters::default(),
            outputs: VecDeque::new(),
            setup,
        }
    }

    /// What is to be done next; `None` until something happens.
    pub fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// A connection is up. `now`: time since any fixed moment, the same for all calls.
    pub fn up(&mut self, peer: Peer, now: Duration) {
        self.up.insert(peer);
        self.say_hello(peer);
        if let Peer::Site(site) = peer {
            self.site.link_up(site);
            self.detour_all();
        }
        self.report();
        match self.phase {
            Phase::Reducing => self.ask(0),
            Phase::Lacks { .. } => self.want_policy(),
            _ => {}
        }
        self.go_on(now);
    }

    /// A connection has ended. What was not delivered is told by [`failed`](Self::failed).
    pub fn down(&mut self, peer: Peer, now: Duration) {
        self.up.remove(&peer);
        match peer {
            Peer::Site(site) => {
                self.heard.remove(&site);
                self.giving.down(site);
                self.down_at.insert(site, now);
                self.detour_all();
                self.send_again();
                // Its messages may have come by a detour before this site knew that the link is down.
                if self.refused_senders.remove(&site) && self.phase == Phase::Reducing {
                    self.ask(0);
                }
            }
            Peer::Scheduler => self.is_scheduler_refused = false,
        }
        self.report();
        self.go_on(now);
    }

    /// A message has been delivered.
    pub fn delivered(&mut self, id: u64, now: Duration) {
        self.farewells.remove(&id);
        self.part_delivered(id);
        if let Some(Sent { next, tag, .. }) = self.sending.remove(&id) {
            self.lanes.carried(next, tag);
            self.site.sent(next);
        }
        self.go_on(now);
    }

    /// A message has not been delivered. If the connection is down, the chunk takes another way now. If it is
    /// up, the connection may be about to end, and the chunk is sent again with the next
    /// [`tick`](Self::tick), or when the connection goes down: not at once, or it might fail again for ever.
    pub fn failed(&mut self, id: u64, now: Duration) {
        self.farewells.remove(&id);
        self.giving.failed(id);
        if let Some(Sent { next, parcel, .. }) = self.sending.remove(&id) {
            self.counters.failed += 1;
            match self.up.contains(&Peer::Site(next)) {
                _ if !self.setup.my_neighbours().contains(&next) => self.site.sent(next),
                true => self.held_back.push((next, parcel)),
                false => self.site.failed(next, parcel),
            }
        }
        self.go_on(now);
    }

    /// Sends again what failed on connections that were up.
    fn send_again(&mut self) {
        let held_back = std::mem::take(&mut self.held_back);
        held_back.into_iter().for_each(|(next, parcel)| self.site.failed(next, parcel));
    }

    /// What arrived from a neighbour took so long: a passive probe of the link (NETSTORM, Section V). The
    /// scheduler is told with the next report.
    pub fn measured(&mut self, from: SiteNo, bits: f64, seconds: f64) {
        self.samples.push(SampleMessage { from: from.0.into(), bits, seconds });
        // Without a scheduler they are of no use, and the last ones are the best.
        let surplus = self.samples.len().saturating_sub(MOST_SAMPLES);
        self.samples.drain(..surplus);
    }

    /// Time has passed: to be called a few times per second.
    pub fn tick(&mut self, now: Duration) {
        self.send_again();
        self.giving.tick();
        self.send_parts();
        self.watch(now);
        // Who is not answered asks less often: answers may wait on slow links.
        let patience = self.setup.quiet * (1 << self.attempt.min(MOST_DOUBLINGS));
        if matches!(self.phase, Phase::Lacks { .. }) && now.saturating_sub(self.heard_at) >= self.setup.quiet
        {
            (self.heard_at, self.attempt) = (now, self.attempt + 1);
            self.want_policy();
            self.go_on_without(now);
        }
        if self.phase == Phase::Reducing && now.saturating_sub(self.heard_at) >= patience {
            self.heard_at = now;
            // Whoever is in another round than this site, or in it by another policy, learns it.
            self.say_hello_to_all();
            self.ask(self.attempt);
            self.attempt += 1;
        }
        if !self.samples.is_empty() && now.saturating_sub(self.reported_at) >= REPORT {
            self.reported_at = now;
            self.report();
        }
        self.go_on(now);
    }

    /// The round that goes on, or went on last.
    pub fn round(&self) -> Option<u32> {
        self.site.round()
    }

    /// The version of the policy in force.
    pub fn policy_version(&self) -> u64 {
        self.site.policy_version()
    }

    /// What the site has dropped, passed on and answered, and what the driver has.
    pub fn counters(&self) -> (Counters, AgentCounters) {
        (self.site.counters(), self.counters)
    }

    /// Where it is and what it waits for, in words.
    pub fn told(&self) -> String {
        let phase = match &self.phase {
            Phase::Meeting => format!(
                "waits for its neighbours; {} of {} have said where they are",
                self.heard.len(),
                self.setup.my_neighbours().len()
            ),
            Phase::Joining { asked, .. } => format!("waits for the state of {}", self.setup.name(*asked)),
            Phase::Ready { round, .. } => format!("waits for the gradient of round {round}"),
            Phase::Lacks { .. } => "waits for the policy that the sites agreed on".to_owned(),
            Phase::Reducing => format!("is in round {}", self.site.round().unwrap_or(0)),
            Phase::Finished { .. } => "has finished".to_owned(),
            Phase::Over => "is over".to_owned(),
        };
        format!(
            "{phase}; policy {}, {} chunks under way, {:?}, {:?}",
            self.site.policy_version(),
            self.sending.len(),
            self.site.counters(),
            self.counters
        )
    }

    /// Whether there is a connection.
    pub fn is_up(&self, peer: Peer) -> bool {
        self.up.contains(&peer)
    }

    fn ask(&mut self, attempt: usize) {
        self.counters.asks += 1;
        let others: Vec<SiteNo> = self.heard.keys().copied().collect();
        self.site.ask(attempt, &others);
    }

    /// Tells the scheduler what was measured, and which neighbours are gone.
    fn report(&mut self) {
        if !self.up.contains(&Peer::Scheduler) {
            return;
        }
        let gone = self.gone();
        let report = Report {
            round: self.site.round(),
            version: self.site.policy_version(),
            samples: std::mem::take(&mut self.samples),
            down: gone.iter().map(|site| site.0.into()).collect(),
        };
        self.send(Peer::Scheduler, Body::Report(report), i32::MAX);
    }

    /// Neighbours without a connection.
    fn gone(&self) -> Vec<SiteNo> {
        let neighbours = self.setup.my_neighbours().iter().copied();
        neighbours.filter(|&site| !self.up.contains(&Peer::Site(site))).collect()
    }

    /// Finds the ways around all links that are down.
    fn detour_all(&mut self) {
        let gone = self.gone();
        for &site in &gone {
            let way = detour(&self.setup.neighbours, self.setup.me, site, &gone);
            self.site.link_down(site, way);
        }
    }

    /// Sends a message, and returns its number. What is for a site without a link is dropped, counted, and
    /// warned of once: there is no connection to send it on.
    fn send(&mut self, to: Peer, body: Body, priority: i32) -> Option<u64> {
        if let Peer::Site(site) = to
            && !self.setup.my_neighbours().contains(&site)
        {
            self.counters.astray += 1;
            let name = self.setup.name(site);
            self.warn(
                to,
                Warning::Link,
                format!("a message for {name}, to which there is no link, was dropped"),
            );
            return None;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.outputs.push_back(Output::Send { to, id, data: encode(body), priority });
        Some(id)
    }

    fn warn(&mut self, of: Peer, warning: Warning, text: String) {
        if self.warned.insert((of, warning)) {
            self.outputs.push_back(Output::Warned(text));
        }
    }

    /// Does what the site wants, and what is due.
    fn go_on(&mut self, now: Duration) {
        self.take_outputs();
        if let Phase::Reducing | Phase::Lacks { .. } = self.phase {
            self.follow(now);
        }
        match &self.phase {
            Phase::Meeting => self.meet(now),
            Phase::Joining { asked, since } => self.wait_for_state(*asked, *since, now),
            Phase::Reducing if self.site.is_complete() => self.end_round(),
            Phase::Reducing | Phase::Ready { .. } | Phase::Finished { .. } => self.give_wanted_states(),
            Phase::Lacks { .. } | Phase::Over => {}
        }
        self.take_outputs();
    }

    fn take_outputs(&mut self) {
        while let Some(output) = self.site.next_output() {
            match output {
                SiteOutput::Send { next, parcel } => {
                    let tag = self.tag(next, &parcel);
                    let body = Body::Chunk(chunk_message(&parcel));
                    match self.send(Peer::Site(next), body, -tag) {
                        Some(id) => drop(self.sending.insert(id, Sent { next, parcel, tag })),
                        None => self.site.sent(next),
                    }
                }
                SiteOutput::Ask { next, ask } => {
                    if ask.from == self.setup.me {
                        self.asked.insert(ask.to);
                    }
                    self.send(Peer::Site(next), Body::Ask(ask_message(&ask)), i32::MAX);
                }
                SiteOutput::Complete { chunk, data } => self.complete(chunk, data),
            }
        }
    }

    /// What has a lesser tag goes first. In order, tags follow chunks' numbers; otherwise lanes share the
    /// link.
    fn tag(&mut self, next: SiteNo, parcel: &Parcel<ChunkSum>) -> i32 {
        if let Sending::InOrder { .. } = self.setup.sending {
            let before = i64::from(parcel.round) * self.setup.chunk_values.len() as i64;
            let turn = 2 * (before + i64::from(parcel.chunk.0)) + i64::from(parcel.way == Way::Push);
            return i32::try_from(turn).unwrap_or(i32::MAX);
        }
        let tree = self.site.policy().chunk_trees.get(parcel.chunk.0 as usize).map_or(0, |tree| tree.0);
        let Parcel { from, to, way, path, .. } = *parcel;
        self.lanes.tag(next, Lane { tree, from, to, way, path })
    }
}
