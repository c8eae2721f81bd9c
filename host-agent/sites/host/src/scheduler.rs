//! The scheduler's process.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use inart_connections::WaitWatch;
use inart_host_agent::status::{AnyStatus, ProcessStatus, ProcessWait, StatusPublisher, StatusSocket};
use inart_overlay::{Overlay, PlanError};
use inart_quic::{Endpoint, Event, Events, URGENT, names_another_process};
use inart_site_agent::message::{Body, Hello, decode, encode};
use inart_site_agent::policy_message::policy_message;
use inart_site_agent::{Peer, Scheduler, Task};
use inart_sites::Policy;
use inart_terms::{Term, Terms};

use crate::error::HostError;
use crate::names::Names;
use crate::options::HostOptions;

/// Plans follow each other no faster. While a round goes on, each pause is twice the one before: sites hold
/// few offers, and agree on one that all of them hold.
const PAUSE: Duration = Duration::from_millis(300);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Longest message of a site: a report has at most 256 samples.
const MOST_BYTES: u64 = 1 << 20;
/// Bytes of messages of one site that wait.
const MOST_HELD_BYTES: u64 = 16 << 20;
/// Time between statuses.
const STATUS: Duration = Duration::from_millis(100);

/// A plan that was offered to all sites.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Its version.
    pub version: u64,
    /// How many trees it has.
    pub trees: usize,
}

/// A scheduler and its connections.
pub struct SchedulerHost {
    scheduler: Scheduler,
    names: Names,
    endpoint: Endpoint,
    events: Events,
    next_id: u64,
    pause: Duration,
    /// The newest round that a site told of.
    round: Option<u32>,
    /// Sites that have not finished and are not connected.
    missing: BTreeSet<String>,
    /// Sites that have all sums of their last round.
    finished: BTreeSet<String>,
    terms: Terms,
    /// Sites with the same terms, connected: plans are offered to them.
    agreeing: BTreeSet<String>,
    /// What was logged of which site, once.
    warned: BTreeSet<(String, &'static str)>,
    /// Sites with other terms, by the difference that was logged last. What they measure is dropped.
    differing: BTreeMap<String, String>,
    me: String,
    start: Instant,
    /// Plans that were offered.
    plans: u64,
    status: StatusPublisher,
    watch: WaitWatch<BTreeSet<String>>,
    /// Why it ends, if another process has its name.
    duplicate: Option<String>,
}

impl SchedulerHost {
    /// Listens, and begins to connect to all sites. `name`: its own, as in its certificate. To be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// An address that cannot be had, or certificates; terms that no hello can carry.
    pub fn open(
        overlay: &Overlay,
        scheduler: Scheduler,
        name: &str,
        options: HostOptions,
    ) -> Result<Self, HostError> {
        let names = Names::new(overlay, None);
        let mut quic = inart_quic::Options::new(options.listen, options.tls, name, options.peers);
        quic.congestion = options.congestion;
        (quic.most_bytes, quic.held_bytes) = (MOST_BYTES, MOST_HELD_BYTES);
        let missing = quic.peers.keys().cloned().collect();
        let (endpoint, events) = Endpoint::open(quic)?;
        let terms = scheduler.terms()?;
        let (agreeing, differing, warned) = Default::default();
        Ok(Self {
            scheduler,
            names,
            endpoint,
            events,
            next_id: 0,
            pause: PAUSE,
            round: None,
            missing,
            finished: BTreeSet::new(),
            terms,
            agreeing,
            warned,
            differing,
            me: name.to_owned(),
            start: Instant::now(),
            plans: 0,
            status: StatusPublisher::default(),
            watch: WaitWatch::default(),
            duplicate: None,
        })
    }

    /// Publishes through this socket what the scheduler does.
    #[must_use]
    pub fn with_status(mut self, socket: StatusSocket<AnyStatus>) -> Self {
        self.status.set(socket);
        self
    }

    fn publish(&mut self) {
        if !self.status.is_due() {
            return;
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let waits = self.missing.iter().map(|site| {
            let why = self.endpoint.why_not(site);
            ProcessWait { on: site.clone(), why, seconds, disconnected: true }
        });
        let status = ProcessStatus {
            name: self.me.clone(),
            role: "scheduler".to_owned(),
            progress: self.plans,
            waits: waits.collect(),
            ..ProcessStatus::default()
        };
        self.status.take(status);
    }

    /// Serves sites for ever; calls `told` for every plan that is offered.
    ///
    /// # Errors
    /// Another process of its name is connected to a site, and answers.
    pub async fn run(mut self, mut told: impl FnMut(Offered)) -> Result<(), HostError> {
        let (planned, mut plans) = tokio::sync::mpsc::unbounded_channel();
        let mut is_planning = false;
        let mut pause = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let mut statuses = tokio::time::interval(STATUS);
        loop {
            if let Some(reason) = self.duplicate.take() {
                self.endpoint.close().await;
                return Err(HostError::Duplicate { name: self.me, reason });
            }
            self.publish();
            self.report_missing();
            let may_plan = !is_planning && pause.is_elapsed();
            if may_plan && let Some(task) = self.scheduler.task() {
                is_planning = true;
                pause.as_mut().reset(tokio::time::Instant::now() + self.pause);
                self.pause = (2 * self.pause).min(LONGEST_PAUSE);
                plan(task, planned.clone());
            }
            tokio::select! {
                () = &mut pause, if !pause.is_elapsed() => {}
                _ = statuses.tick() => {}
                event = self.events.next() => match event {
                    Some(event) => self.event(event),
                    None => return Ok(()),
                },
                Some(made) = plans.recv() => {
                    is_planning = false;
                    self.planned(made, &mut told);
                }
            }
        }
    }

    /// Logs the sites that are not connected.
    fn report_missing(&mut self) {
        let waits = Some(&self.missing).filter(|missing| !missing.is_empty());
        let Some(waited) = self.watch.due(waits.cloned(), true) else { return };
        let all = self.missing.iter().map(|site| crate::missing::in_words(&self.endpoint, site));
        tracing::warn!("waiting for {} (for {} s)", all.collect::<Vec<_>>().join("; "), waited.as_secs());
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Up { peer } => {
                tracing::info!("{peer} is connected");
                self.missing.remove(&peer);
                let hello = Hello { terms: self.terms.message(), ..Hello::default() };
                self.send(&peer, Body::Hello(hello));
            }
            Event::Down { reason, .. } if names_another_process(&reason) => {
                self.duplicate.get_or_insert(reason);
            }
            Event::Down { peer, reason } => {
                self.agreeing.remove(&peer);
                match self.finished.contains(&peer) {
                    true => tracing::debug!("the connection to {peer} has ended: {reason}"),
                    false => {
                        tracing::warn!("the connection to {peer} has ended: {reason}");
                        self.missing.insert(peer);
                    }
                }
            }
            Event::Received { peer, data, .. } => match (self.names.peer(&peer), decode(data)) {
                (Some(Peer::Site(_)), Ok(Body::Report(_))) if self.differing.contains_key(&peer) => {}
                (Some(Peer::Site(site)), Ok(Body::Report(report))) => {
                    if report.round > self.round {
                        (self.round, self.pause) = (report.round, PAUSE);
                    }
                    let before = self.scheduler.strange_samples();
                    self.scheduler.report(site, &report);
                    let strange = self.scheduler.strange_samples() - before;
                    if strange > 0 {
                        let text = "samples were dropped: of links that are not in the network, or no rates";
                        self.warn(&peer, text);
                    }
                }
                (_, Ok(Body::Hello(hello))) => {
                    match hello.is_finished {
                        true => drop(self.finished.insert(peer.clone())),
                        false => drop(self.finished.remove(&peer)),
                    }
                    self.hello(&peer, hello.terms);
                }
                (_, Ok(Body::PolicyWanted(_))) => self.offer_newest(&peer),
                _ => self.warn(&peer, "a message is none for a scheduler"),
            },
            Event::Stranger { address, names } => {
                tracing::warn!("{} at {address} is no site of the network", names.join(" or "));
            }
            Event::Acknowledged { .. } | Event::Failed { .. } => {}
        }
    }

    fn planned(&mut self, made: Result<Policy, PlanError>, told: &mut impl FnMut(Offered)) {
        let policy = match made {
            Ok(policy) => policy,
            Err(error) => return tracing::warn!("the last plan goes on: {error}"),
        };
        let Some(policy) = self.scheduler.planned(policy) else { return };
        tracing::debug!("bit/s by direction: {:?}", self.scheduler.believed().0);
        self.plans += 1;
        told(Offered { version: policy.version, trees: policy.trees.len() });
        for site in self.agreeing.clone() {
            self.send(&site, Body::Offer(policy_message(&policy)));
        }
    }

    /// A site has said what it trains. With other terms it is offered nothing, and its reports are dropped.
    fn hello(&mut self, site: &str, terms: Vec<Term>) {
        let Ok(terms) = Terms::from_message(terms) else {
            return self.warn(site, "a hello has no terms; start it with the same version of this program");
        };
        let Some(difference) = self.terms.differs(&terms) else {
            self.differing.remove(site);
            self.agreeing.insert(site.to_owned());
            return self.offer_newest(site);
        };
        self.agreeing.remove(site);
        let difference = difference.between(site, "this scheduler");
        if self.differing.insert(site.to_owned(), difference.clone()).as_ref() != Some(&difference) {
            tracing::warn!(
                "{difference}; {site} is offered no plans: give both the same document and scheme"
            );
        }
    }

    /// Logs what is wrong with messages of a site, once: a site may send more of them than a log can hold.
    fn warn(&mut self, site: &str, what: &'static str) {
        if self.warned.insert((site.to_owned(), what)) {
            tracing::warn!("{site}: {what}");
        }
    }

    fn offer_newest(&mut self, site: &str) {
        if let Some(policy) = self.scheduler.offered().filter(|_| self.agreeing.contains(site)).cloned() {
            self.send(site, Body::Offer(policy_message(&policy)));
        }
    }

    fn send(&mut self, site: &str, body: Body) {
        self.next_id += 1;
        if let Err(error) = self.endpoint.send(site, self.next_id, encode(body), URGENT) {
            tracing::error!("a message was not sent: {error}");
        }
    }
}

/// Plans on a thread of its own; connections go on.
fn plan(task: Task, planned: tokio::sync::mpsc::UnboundedSender<Result<Policy, PlanError>>) {
    tokio::task::spawn_blocking(move || {
        let _ = planned.send(task.plan()); // nobody waits for it when the scheduler ends
    });
}
