//! Driver of one site, between its owner and its connections: exchanges hellos with neighbors, starts rounds,
//! sends and requests chunks, measures links, and lets restarted sites join.

mod arrivals;
mod connections;
mod ending;
mod error;
mod farewell;
mod final_report;
mod giving;
mod identity;
mod joining;
mod meeting;
mod output;
mod passing;
mod phase;
mod plans;
mod rounds;
mod sending;
mod waiting;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use inart_protocol_sites::{ChunkTransfer, Counters, Site, SiteNo, TransmissionPolicy};

use crate::counters::AgentCounters;
use crate::gradient::ChunkSum;
use crate::incoming::Incoming;
use crate::lanes::Lanes;
use crate::message::{Body, Report, SampleMessage};
use crate::setup::Setup;
use crate::transfers::Giving;
use crate::wait::Watch;
pub use error::DriverError;
use final_report::FinalReport;
pub use output::{Output, Peer};
use phase::{Heard, Passing, Phase, RoundStart, SchedulerTerms, Sent, Warning};

/// Maximum number of link samples that wait for a report.
const MOST_SAMPLES: usize = 256;

/// Time between reports to the scheduler while a round is active.
const REPORT: Duration = Duration::from_millis(500);

/// Maximum number of times that the interval between requests is doubled.
const MOST_DOUBLINGS: usize = 3;

/// State machine of one site.
#[derive(Debug)]
pub struct Driver {
    setup: Arc<Setup>,
    site: Site<ChunkSum>,
    phase: Phase,
    sum: Vec<f32>,
    not_finite: Option<SiteNo>,
    /// Whether chunks of the round are passed in, and their sums passed out, one by one.
    is_by_chunk: bool,
    /// Reports in flight that the job has ended, by message number.
    farewells: BTreeSet<u64>,
    final_report: FinalReport,
    /// The last two rounds, newest last.
    starts: VecDeque<RoundStart>,
    up: BTreeSet<Peer>,
    /// Last reported positions of neighbors.
    heard: BTreeMap<SiteNo, Heard>,
    giving: Giving,
    /// Beginning of another site's state.
    incoming: Option<Incoming>,
    /// Sites that were asked for that state.
    asked_for_state: BTreeSet<SiteNo>,
    watch: Watch,
    has_offer: bool,
    scheduler_terms: SchedulerTerms,
    /// The newest plan that arrived before the scheduler's hello: each message is a stream of its own.
    early_offer: Option<TransmissionPolicy>,
    /// Time of the last failure of each link that has failed.
    down_at: BTreeMap<SiteNo, Duration>,
    /// Sites that were asked for chunks of this round.
    asked: BTreeSet<SiteNo>,
    /// Sites with a refused message in their name since their link last failed.
    refused_senders: BTreeSet<SiteNo>,
    warned: BTreeSet<(Peer, Warning)>,
    sending: BTreeMap<u64, Sent>,
    /// Chunks that failed on connections that are up.
    held_back: Vec<(SiteNo, ChunkTransfer<ChunkSum>)>,
    /// Messages that wait for links that have not been up yet.
    for_links: BTreeMap<SiteNo, Vec<Passing>>,
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
    /// Creates a site without connections.
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
            final_report: FinalReport::default(),
            starts,
            up,
            heard,
            giving,
            incoming,
            asked_for_state,
            watch,
            has_offer: false,
            scheduler_terms: SchedulerTerms::default(),
            early_offer: None,
            down_at: BTreeMap::new(),
            asked: BTreeSet::new(),
            refused_senders: BTreeSet::new(),
            warned: BTreeSet::new(),
            sending,
            held_back: Vec::new(),
            for_links: BTreeMap::new(),
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

    /// Returns the next action; `None` until an event occurs.
    pub fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Records the transfer time of data from a neighbor: a passive probe of the link (NETSTORM, Section V).
    /// The next report to the scheduler includes the sample.
    pub fn measured(&mut self, from: SiteNo, bits: f64, seconds: f64) {
        self.samples.push(SampleMessage { from: from.0.into(), bits, seconds });
        // Without a scheduler the samples are unused, and the newest are the most useful.
        let surplus = self.samples.len().saturating_sub(MOST_SAMPLES);
        self.samples.drain(..surplus);
    }

    /// Advances time; must be called a few times per second.
    pub fn tick(&mut self, now: Duration) {
        self.send_again();
        self.giving.tick();
        self.send_parts();
        self.watch(now);
        // A site without answers asks less often: answers may wait on slow links.
        let patience = self.setup.quiet * (1 << self.attempt.min(MOST_DOUBLINGS));
        if matches!(self.phase, Phase::Lacks { .. }) && now.saturating_sub(self.heard_at) >= self.setup.quiet
        {
            (self.heard_at, self.attempt) = (now, self.attempt + 1);
            self.want_policy();
            self.go_on_without(now);
        }
        if self.phase == Phase::Reducing && now.saturating_sub(self.heard_at) >= patience {
            self.heard_at = now;
            // Sites in another round than this site, or in this round by another policy, are sent a hello.
            self.say_hello_to_all();
            self.ask(self.attempt);
            self.attempt += 1;
        }
        if !self.samples.is_empty() && now.saturating_sub(self.reported_at) >= REPORT {
            self.reported_at = now;
            self.report();
        }
        self.go_on(now);
        self.send_final_report();
    }

    /// Returns the current round, or the last one if no round is active.
    pub fn round(&self) -> Option<u32> {
        self.site.round()
    }

    /// Returns the version of the active policy.
    pub fn policy_version(&self) -> u64 {
        self.site.policy_version()
    }

    /// Returns the plan that the site follows.
    pub fn policy(&self) -> &inart_protocol_sites::TransmissionPolicy {
        self.site.policy()
    }

    /// Returns the counters of the site and of the driver.
    pub fn counters(&self) -> (Counters, AgentCounters) {
        (self.site.counters(), self.counters)
    }

    /// Describes the phase of the site and the sites it waits for.
    pub fn status_text(&self) -> String {
        let phase = match &self.phase {
            Phase::Meeting => format!(
                "waits for its neighbors; {} of {} have sent their state",
                self.heard.len(),
                self.setup.my_neighbors().len()
            ),
            Phase::Joining { asked, .. } => format!("waits for the state of {}", self.setup.name(*asked)),
            Phase::Ready { round, .. } => format!("waits for the gradient of round {round}"),
            Phase::Lacks { .. } => "waits for the policy that the sites agreed on".to_owned(),
            Phase::Reducing => format!("is in round {}", self.site.round().unwrap_or(0)),
            Phase::Finished { .. } => "has finished".to_owned(),
            Phase::Over => "is over".to_owned(),
        };
        format!(
            "{phase}; policy {}, {} chunks in flight, {:?}, {:?}",
            self.site.policy_version(),
            self.sending.len(),
            self.site.counters(),
            self.counters
        )
    }

    /// Whether a peer is connected.
    pub fn is_up(&self, peer: Peer) -> bool {
        self.up.contains(&peer)
    }

    fn ask(&mut self, attempt: usize) {
        self.counters.asks += 1;
        let others: Vec<SiteNo> = self.heard.keys().copied().collect();
        self.site.ask(attempt, &others);
    }

    /// Reports measurements and disconnected neighbors to the scheduler.
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

    /// Performs the actions of the site that are pending.
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
}
