//! Scheduler as a process: chooses when to plan, and which sites to offer plans to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo, Seen, Work};
use inart_planner_sites::PlanError;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_terms::{Term, Terms, TermsError};

use crate::message::{Body, Hello, decode, encode};
use crate::policy_message::policy_message;
use crate::scheduler::Scheduler;

/// Least time between plans. While a round is active, each pause is twice the previous one: sites hold few
/// offers, and agree on one that all of them hold.
const PAUSE: Duration = Duration::from_millis(300);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Messages of a scheduler overtake those of sites.
const URGENT: i32 = i32::MAX;

/// Event of a scheduler for its host.
#[derive(Debug, Clone, PartialEq)]
pub enum SchedulerNews {
    /// Plan offered to all sites with the same terms.
    Offered(Arc<TransmissionPolicy>),
    /// Line for the log.
    Warned(String),
}

/// Scheduler as a process. Peer numbers are site numbers.
#[derive(Debug)]
pub struct SchedulerProcess {
    scheduler: Scheduler,
    next_id: u64,
    /// Least time between plans.
    least_pause: Duration,
    /// Time until the next plan after the one that is being computed.
    pause: Duration,
    /// Earliest time of the next plan.
    plan_at: Option<Duration>,
    is_planning: bool,
    /// Newest round that a site has reported.
    round: Option<u32>,
    /// Sites that have not finished and are not connected.
    missing: BTreeSet<SiteNo>,
    /// Sites that have all sums of their last round.
    finished: BTreeSet<SiteNo>,
    terms: Terms,
    /// Connected sites with the same terms: plans are offered to them.
    agreeing: BTreeSet<SiteNo>,
    /// Warnings that were logged for each site, once.
    warned: BTreeSet<(SiteNo, &'static str)>,
    /// Sites with other terms, by the difference that was logged last. Their samples are dropped.
    differing: BTreeMap<SiteNo, String>,
    outputs: VecDeque<Output<SchedulerNews, Result<TransmissionPolicy, PlanError>>>,
    is_over: bool,
}

impl SchedulerProcess {
    /// Creates a process without connections. `sites`: the sites that it waits for.
    ///
    /// # Errors
    /// Terms that do not fit in a hello.
    pub fn new(scheduler: Scheduler, sites: impl IntoIterator<Item = SiteNo>) -> Result<Self, TermsError> {
        let terms = scheduler.terms()?;
        let (finished, agreeing, warned, differing) = Default::default();
        Ok(SchedulerProcess {
            scheduler,
            next_id: 0,
            least_pause: PAUSE,
            pause: PAUSE,
            plan_at: None,
            is_planning: false,
            round: None,
            missing: sites.into_iter().collect(),
            finished,
            terms,
            agreeing,
            warned,
            differing,
            outputs: VecDeque::new(),
            is_over: false,
        })
    }

    /// Sets the least time between two plans; 300 ms by default.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        (self.least_pause, self.pause) = (pause, pause);
        self
    }

    /// Returns the scheduler.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Returns the sites that have not finished and are not connected.
    pub fn missing(&self) -> &BTreeSet<SiteNo> {
        &self.missing
    }

    fn send(&mut self, site: SiteNo, body: Body) {
        self.next_id += 1;
        let (to, id) = (PeerNo(site.0.into()), self.next_id);
        self.outputs.push_back(Output::Send { to, id, data: encode(body), priority: URGENT });
    }

    fn log(&mut self, text: String) {
        self.outputs.push_back(Output::Report(SchedulerNews::Warned(text)));
    }

    /// Logs a problem with messages of a site, once: a site may send more of them than a log can hold.
    fn warn(&mut self, site: SiteNo, what: &'static str) {
        if self.warned.insert((site, what)) {
            self.log(format!("{}: {what}", self.scheduler.name(site)));
        }
    }

    fn message(&mut self, site: SiteNo, body: Body) {
        match body {
            Body::Report(_) if self.differing.contains_key(&site) => {}
            Body::Report(report) => {
                if report.round > self.round {
                    (self.round, self.pause) = (report.round, self.least_pause);
                }
                let before = self.scheduler.strange_samples();
                self.scheduler.report(site, &report);
                if self.scheduler.strange_samples() > before {
                    let text = "samples were dropped: of links that are not in the network, or no rates";
                    self.warn(site, text);
                }
            }
            Body::Hello(hello) => {
                match hello.is_finished {
                    true => drop(self.finished.insert(site)),
                    false => drop(self.finished.remove(&site)),
                }
                self.hello(site, hello.terms);
            }
            Body::PolicyWanted(_) => self.offer_newest(site),
            _ => self.warn(site, "dropped a message that is not for a scheduler"),
        }
    }

    /// Handles the terms of a site. With other terms, the site is offered no plans, and its reports are
    /// dropped.
    fn hello(&mut self, site: SiteNo, terms: Vec<Term>) {
        let Ok(terms) = Terms::from_message(terms) else {
            return self.warn(site, "a hello has no terms; start it with the same version of this program");
        };
        let Some(difference) = self.terms.differs(&terms) else {
            self.differing.remove(&site);
            self.agreeing.insert(site);
            return self.offer_newest(site);
        };
        self.agreeing.remove(&site);
        let name = self.scheduler.name(site).to_owned();
        let difference = difference.between(&name, "this scheduler");
        if self.differing.insert(site, difference.clone()).as_ref() != Some(&difference) {
            self.log(format!(
                "{difference}; {name} is offered no plans: give both the same document and scheme"
            ));
        }
    }

    fn offer_newest(&mut self, site: SiteNo) {
        if let Some(policy) = self.scheduler.offered().filter(|_| self.agreeing.contains(&site)).cloned() {
            self.send(site, Body::Offer(policy_message(&policy)));
        }
    }

    /// Returns the work for a new plan, if one may be computed now and is useful.
    fn plan(&mut self, now: Duration) -> Option<Work<Result<TransmissionPolicy, PlanError>>> {
        if self.is_planning || self.plan_at.is_some_and(|at| now < at) {
            return None;
        }
        self.plan_at = None;
        let task = self.scheduler.task()?;
        self.is_planning = true;
        self.plan_at = Some(now + self.pause);
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        Some(Work::new(move || task.plan()))
    }
}

fn site(number: PeerNo) -> Option<SiteNo> {
    u16::try_from(number.0).ok().map(SiteNo)
}

impl Machine for SchedulerProcess {
    type Command = Infallible;
    type Report = SchedulerNews;
    type Done = Result<TransmissionPolicy, PlanError>;

    fn up(&mut self, peer: PeerNo, _now: Duration) {
        let Some(site) = site(peer) else { return };
        self.missing.remove(&site);
        let hello = Hello { terms: self.terms.message(), ..Hello::default() };
        self.send(site, Body::Hello(hello));
    }

    fn down(&mut self, peer: PeerNo, _now: Duration) {
        let Some(site) = site(peer) else { return };
        self.agreeing.remove(&site);
        if !self.finished.contains(&site) {
            self.missing.insert(site);
        }
    }

    fn received(&mut self, from: PeerNo, data: &Bytes, _seen: Option<Seen>, _now: Duration) {
        let Some(site) = site(from) else { return };
        match decode(data.clone()) {
            Ok(body) => self.message(site, body),
            Err(_) => self.warn(site, "dropped a message that is not for a scheduler"),
        }
    }

    fn ended(&mut self, _id: u64, _is_taken: bool, _now: Duration) {}

    fn command(&mut self, command: Infallible, _now: Duration) {
        match command {}
    }

    fn done(&mut self, made: Result<TransmissionPolicy, PlanError>, _now: Duration) {
        self.is_planning = false;
        let policy = match made {
            Ok(policy) => policy,
            Err(error) => return self.log(format!("the last plan stays: {error}")),
        };
        let Some(policy) = self.scheduler.planned(policy) else { return };
        self.outputs.push_back(Output::Report(SchedulerNews::Offered(policy.clone())));
        for site in self.agreeing.clone() {
            self.send(site, Body::Offer(policy_message(&policy)));
        }
    }

    fn stop(&mut self, _why: &str, _now: Duration) {
        self.outputs.clear();
        self.is_over = true;
    }

    fn tick(&mut self, _now: Duration) {}

    fn wake_at(&self) -> Option<Duration> {
        self.plan_at.filter(|_| !self.is_planning)
    }

    fn next(
        &mut self,
        now: Duration,
    ) -> Option<Output<SchedulerNews, Result<TransmissionPolicy, PlanError>>> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        if std::mem::take(&mut self.is_over) {
            return Some(Output::Over);
        }
        self.plan(now).map(Output::Work)
    }

    fn may_end(&self, peer: PeerNo) -> bool {
        site(peer).is_some_and(|site| self.finished.contains(&site))
    }
}
