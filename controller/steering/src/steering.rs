//! State machine of replanning: observations lead to plan requests, and plans to decisions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use inart_planner_aggregation::plan::Moved;
use inart_planner_aggregation::{Plan, Sustainable, sustainable_rates};
use inart_topologies::switched::{BackgroundRates, Job, NodeId, NodeKind, Topology};

use crate::background::Background;
use crate::congestion::Congestion;
use crate::decision::{Decision, JobRates, Outcome, Trigger, Verdict};
use crate::external_changes::ExternalChanges;
use crate::failures::{Failures, Part};
use crate::full_links::offered;
use crate::observation::{HostSeen, Observation};
use crate::plan_request::{PlanRequest, Shares};
use crate::thresholds::ReplanThresholds;

/// Number of decisions that are kept.
const HISTORY: usize = 100;
/// Relative difference below which rates are equal.
const SAME: f64 = 1e-3;
/// Least part of a capacity at which background traffic is listed.
const NAMED: f64 = 1e-3;
/// Period of the budget of changes.
const HOUR: Duration = Duration::from_secs(3600);

/// Network state that the active plans assume, or that was examined last.
#[derive(Debug, Clone, PartialEq)]
struct Assumptions {
    background: BackgroundRates,
    failed: BTreeSet<Part>,
}

/// Current activity.
#[derive(Debug)]
enum Stage {
    Watching,
    /// Open plan request.
    Asked(Box<PlanRequest>, Assumptions),
    /// Active change.
    Changing(Box<Change>),
}

/// Change that was decided on.
#[derive(Debug)]
struct Change {
    /// Time of the decision.
    since: Duration,
    /// Network state that the previous plans assumed.
    before: Assumptions,
    /// Plans to activate.
    plans: Vec<Plan>,
}

/// Reason of a plan request.
struct Reason {
    trigger: Trigger,
    shares: Shares,
    is_urgent: bool,
    since: Option<Duration>,
}

/// Watches one network, requests plans when that may be worth it, and decides on them. Time is a duration
/// since any fixed moment.
#[derive(Debug)]
pub struct Steering {
    topology: Topology,
    thresholds: ReplanThresholds,
    background: Background,
    failures: Failures,
    congestion: Congestion,
    active: Vec<Plan>,
    external_changes: ExternalChanges,
    assumptions: Assumptions,
    stage: Stage,
    asked: u64,
    /// Earliest time of the next request, except for failures.
    not_before: Duration,
    /// Earliest time of the next request for failures without a usable plan.
    retry_at: Option<Duration>,
    /// Time of the last change of shares.
    shares_at: Duration,
    /// Ends of changes within the last hour.
    changed: VecDeque<Duration>,
    decisions: VecDeque<Decision>,
}

impl Steering {
    /// Creates the state machine with active plans and without observations.
    pub fn new(topology: Topology, active: Vec<Plan>, thresholds: ReplanThresholds) -> Self {
        let assumptions = Assumptions { background: topology.background(), failed: BTreeSet::new() };
        let mut external_changes = ExternalChanges::default();
        external_changes.expect(&active);
        Steering {
            background: Background::new(&topology, thresholds.time_constant),
            failures: Failures::default(),
            congestion: Congestion::default(),
            active,
            external_changes,
            assumptions,
            stage: Stage::Watching,
            asked: 0,
            not_before: Duration::ZERO,
            retry_at: None,
            shares_at: Duration::ZERO,
            changed: VecDeque::new(),
            decisions: VecDeque::new(),
            topology,
            thresholds,
        }
    }

    /// Sets the jobs of the network; the watched ones are among them.
    pub fn set_jobs(&mut self, jobs: Vec<Job>) {
        self.topology = self.topology.with_jobs(jobs);
    }

    /// Sets plans that others activated: jobs started or ended, or changed their plans. Cancels an open
    /// request.
    pub fn set_active(&mut self, plans: Vec<Plan>) {
        if plans != self.active {
            self.external_changes.note(&plans);
            self.congestion.reset();
            (self.active, self.retry_at) = (plans, None);
            // The plans may use failed parts.
            self.assumptions.failed.clear();
            if matches!(self.stage, Stage::Asked(..)) {
                self.stage = Stage::Watching;
            }
        }
    }

    /// Returns the jobs of the active plans with the hosts in them: of an elastic job, the connected ones.
    fn jobs(&self) -> Vec<Job> {
        let of_plan = |plan: &Plan| {
            let job = self.topology.job_named(&plan.job)?;
            let has = |id: &NodeId, names: &BTreeSet<&str>| names.contains(&*self.topology.node(*id).name);
            let workers: BTreeSet<&str> = plan.flows.iter().map(|flow| &*flow.worker).collect();
            let servers: BTreeSet<&str> = plan.shards.iter().map(|shard| &*shard.server).collect();
            Some(Job {
                workers: job.workers.iter().copied().filter(|id| has(id, &workers)).collect(),
                servers: job.servers.iter().copied().filter(|id| has(id, &servers)).collect(),
                ..job.clone()
            })
        };
        self.active.iter().filter_map(of_plan).collect()
    }

    /// Returns the estimated network, with the jobs of the active plans.
    pub fn network(&self) -> Topology {
        // Background first: its lists go by the links of the whole network.
        let loaded = self.topology.with_background(&self.background.rates(&self.topology));
        self.failures.remaining(&loaded.with_jobs(self.jobs()))
    }

    /// Returns the names of failed parts.
    pub fn failed(&self) -> Vec<String> {
        self.failures.parts().into_iter().map(|part| part.name(&self.topology)).collect()
    }

    /// Returns the failed parts.
    pub fn failed_parts(&self) -> BTreeSet<Part> {
        self.failures.parts()
    }

    /// Returns estimated background traffic of links, switches and servers: by resource, bit/s, where it is
    /// at least a thousandth of the capacity. Kernels of hosts send less than that on their own.
    pub fn background_by_name(&self) -> BTreeMap<String, f64> {
        let rates = self.background();
        let name = |id: NodeId| &*self.topology.node(id).name;
        let mut into = vec![0.0; self.topology.nodes().len()];
        let links = self.topology.links().iter().zip(&rates.links).flat_map(|(link, bps)| {
            let [a, b] = link.ends.map(name);
            let [there, back] = link.rates_bps;
            into[link.ends[0].index()] += back;
            into[link.ends[1].index()] += there;
            [(format!("link {a}->{b}"), bps[0], there), (format!("link {b}->{a}"), bps[1], back)]
        });
        let links: Vec<_> = links.collect();
        let nodes = self.topology.nodes().iter().zip(&rates.nodes).zip(into);
        let nodes = nodes.map(|((node, &bps), into)| {
            let capacity = match node.kind {
                NodeKind::Switch => node.aggregation_bps,
                NodeKind::Server => node.ingress_bps.unwrap_or(into),
                NodeKind::Worker => 0.0,
            };
            (format!("{} {}", node.kind, node.name), bps, capacity)
        });
        let used = links.into_iter().chain(nodes).filter(|&(_, bps, of)| bps > 0.0 && bps >= NAMED * of);
        used.map(|(resource, bps, _)| (resource, bps)).collect()
    }

    /// Returns the estimated background traffic.
    pub fn background(&self) -> BackgroundRates {
        self.background.rates(&self.topology)
    }

    /// Returns the last hundred decisions, oldest first.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> + ExactSizeIterator {
        self.decisions.iter()
    }

    /// Notes an interval that ended at `now`. Returns a plan request, to be answered by
    /// [`Steering::answer`]. No other request is made before the answer, or before the end of the change.
    pub fn observe(&mut self, now: Duration, seen: &Observation) -> Option<PlanRequest> {
        self.background.update(now, &self.topology, &offered(&self.topology, &self.active, seen));
        self.failures.note(now, &self.topology, seen, &self.thresholds);
        self.congestion.note(now, seen, &self.thresholds);
        if !matches!(self.stage, Stage::Watching) || self.active.is_empty() {
            return None;
        }
        let network = self.network();
        let rates = self.rates(&network);
        let assumptions = Assumptions { background: self.background(), failed: self.failures.parts() };
        let reason = self.reason(now, &rates, &assumptions)?;
        match &reason.trigger {
            Trigger::Moved { .. } => self.external_changes.clear(),
            Trigger::Congestion { .. } => self.congestion.suppress(now + self.thresholds.probe_after),
            _ => {}
        }
        Some(self.ask(now, reason, (network, assumptions)))
    }

    /// Requests plans at once, regardless of thresholds. Returns `None` while a request or a change is
    /// active, or without active plans.
    pub fn command(&mut self, now: Duration, shares: Shares) -> Option<PlanRequest> {
        if !matches!(self.stage, Stage::Watching) || self.active.is_empty() {
            return None;
        }
        let assumptions = Assumptions { background: self.background(), failed: self.failures.parts() };
        let reason = Reason { trigger: Trigger::Command, shares, is_urgent: false, since: None };
        Some(self.ask(now, reason, (self.network(), assumptions)))
    }

    fn ask(
        &mut self,
        now: Duration,
        reason: Reason,
        (topology, assumptions): (Topology, Assumptions),
    ) -> PlanRequest {
        let Reason { trigger, shares, is_urgent, since } = reason;
        self.asked += 1;
        if shares == Shares::Free {
            self.shares_at = now;
        }
        let (number, plans) = (self.asked, self.active.clone());
        let request = PlanRequest { number, at: now, trigger, topology, plans, shares, is_urgent, since };
        self.stage = Stage::Asked(Box::new(request.clone()), assumptions);
        request
    }

    /// Returns a reason for a request, if there is one.
    fn reason(&mut self, now: Duration, rates: &[Sustainable], assumptions: &Assumptions) -> Option<Reason> {
        let names = |parts: &mut dyn Iterator<Item = &Part>| -> Vec<String> {
            parts.map(|part| part.name(&self.topology)).collect()
        };
        let lost: BTreeSet<Part> = assumptions.failed.difference(&self.assumptions.failed).copied().collect();
        let carries_nothing = rates.iter().any(|rate| rate.rate_bps <= 0.0);
        let again = self.retry_at.is_some_and(|at| now >= at);
        if carries_nothing && (!lost.is_empty() || again) {
            let since = self.failures.last_healthy(lost.iter());
            let parts = if lost.is_empty() { &assumptions.failed } else { &lost };
            let trigger = Trigger::Lost { parts: names(&mut parts.iter()) };
            return Some(Reason { trigger, shares: Shares::Kept, is_urgent: true, since });
        }
        let recent = self.changed.iter().filter(|&&at| now.saturating_sub(at) < HOUR).count();
        if now < self.not_before || recent >= self.thresholds.per_hour {
            return None;
        }
        let usual = |trigger, shares, since| Reason { trigger, shares, is_urgent: false, since };
        let back = names(&mut self.assumptions.failed.difference(&assumptions.failed));
        if !back.is_empty() {
            return Some(usual(Trigger::Back { parts: back }, Shares::Kept, None));
        }
        if let Some((trigger, shares, since)) = self.external_changes.trigger(now, self.thresholds.settle) {
            return Some(usual(trigger, shares, Some(since)));
        }
        if let Some((trigger, since)) = self.differs(rates, &assumptions.background) {
            return Some(usual(trigger, Shares::Kept, since));
        }
        if let Some((trigger, since)) = self.congested(now) {
            return Some(usual(trigger, Shares::Kept, Some(since)));
        }
        let due =
            self.thresholds.shares_every.is_some_and(|every| now.saturating_sub(self.shares_at) >= every);
        due.then(|| usual(Trigger::Schedule, Shares::Free, None))
    }

    /// Returns the host of an active plan that has reported congestion for longest.
    fn congested(&self, now: Duration) -> Option<(Trigger, Duration)> {
        let (id, since, seen) = self.congestion.longest(now, &self.thresholds)?;
        let host = self.topology.node(id).name.clone();
        let is_in = |plan: &&Plan| {
            plan.flows.iter().any(|flow| flow.worker == host)
                || plan.shards.iter().any(|shard| shard.server == host)
        };
        let jobs: Vec<String> = self.active.iter().filter(is_in).map(|plan| plan.job.clone()).collect();
        let HostSeen { retransmitted, marked, queueing, delivered, .. } = seen;
        let queueing_ms = queueing.map(|waits| waits.as_secs_f64() * 1e3);
        let trigger = Trigger::Congestion { host, jobs, retransmitted, marked, queueing_ms, delivered };
        Some((trigger, since))
    }

    /// Returns the capacity whose background traffic differs most, relative to the capacity, from the
    /// plans' assumption; a rise only if it makes an active plan slower.
    fn differs(&self, rates: &[Sustainable], now: &BackgroundRates) -> Option<(Trigger, Option<Duration>)> {
        let is_slower =
            rates.iter().zip(&self.active).any(|(rate, plan)| rate.rate_bps < plan.rate_bps * (1.0 - SAME));
        let planned = &self.assumptions.background;
        let name = |id| &*self.topology.node(id).name;
        let links = self.topology.links().iter().enumerate().flat_map(|(at, link)| {
            let [a, b] = link.ends.map(name);
            [(0, a, b), (1, b, a)].map(|(way, from, to)| {
                let resource = move || format!("link {from}->{to}");
                let since = self.background.link_rising(at, way == 1);
                (resource, now.links[at][way], planned.links[at][way], link.rates_bps[way], since)
            })
        });
        let links = links
            .map(|(resource, now, planned, capacity, since)| (resource(), now, planned, capacity, since));
        let nodes = self.topology.nodes().iter().enumerate().filter_map(|(at, node)| {
            let capacity = match node.kind {
                NodeKind::Switch => node.aggregation_bps,
                NodeKind::Server => node.ingress_bps?,
                NodeKind::Worker => return None,
            };
            let since = self.background.node_rising(at);
            Some((format!("{} {}", node.kind, node.name), now.nodes[at], planned.nodes[at], capacity, since))
        });
        links
            .chain(nodes)
            .filter(|&(_, now, planned, capacity, _)| {
                let part = (now - planned) / capacity;
                part.abs() > self.thresholds.hysteresis && (part < 0.0 || is_slower)
            })
            .max_by(|a, b| ((a.1 - a.2).abs() / a.3).total_cmp(&((b.1 - b.2).abs() / b.3)))
            .map(|(resource, now_bps, planned_bps, capacity_bps, since)| {
                (Trigger::Background { resource, now_bps, planned_bps, capacity_bps }, since)
            })
    }

    /// Returns the rates that active plans carry on a network: at most the planned ones, since hosts send
    /// no faster.
    fn rates(&self, network: &Topology) -> Vec<Sustainable> {
        let unknown = |_| {
            let nothing = || Sustainable { rate_bps: 0.0, limit: "a plan of another network".to_owned() };
            self.active.iter().map(|_| nothing()).collect()
        };
        let mut rates = sustainable_rates(network, &self.active).unwrap_or_else(unknown);
        for (rate, plan) in rates.iter_mut().zip(&self.active) {
            if rate.rate_bps > plan.rate_bps * (1.0 - SAME) {
                *rate = Sustainable { rate_bps: plan.rate_bps.min(rate.rate_bps), limit: String::new() };
            }
        }
        rates
    }

    /// Decides on plans for a request, one per job in the order of the request's. Returns `None` if the
    /// request is no longer open. A decision to change must be carried out and ended by [`Steering::done`].
    pub fn answer(
        &mut self,
        now: Duration,
        number: u64,
        plans: Result<&[Plan], String>,
        planning: Duration,
    ) -> Option<Decision> {
        match std::mem::replace(&mut self.stage, Stage::Watching) {
            Stage::Asked(request, assumptions) if request.number == number => {
                let decision = self.decide(&request, plans.clone(), planning);
                let before = std::mem::replace(&mut self.assumptions, assumptions);
                if decision.is_change() {
                    let plans = plans.map(<[Plan]>::to_vec).unwrap_or_default();
                    self.stage = Stage::Changing(Box::new(Change { since: now, before, plans }));
                }
                self.retry_at =
                    (request.is_urgent && !decision.is_change()).then_some(now + self.thresholds.retry_after);
                if self.decisions.len() == HISTORY {
                    self.decisions.pop_front();
                }
                self.decisions.push_back(decision.clone());
                Some(decision)
            }
            other => {
                self.stage = other;
                None
            }
        }
    }

    fn decide(&self, request: &PlanRequest, plans: Result<&[Plan], String>, planning: Duration) -> Decision {
        let rates = self.rates(&request.topology);
        let found = plans.and_then(|plans| match plans.len() == self.active.len() {
            true => Ok(plans),
            false => Err(format!("{} plans for {} jobs", plans.len(), self.active.len())),
        });
        let jobs = rates.iter().zip(&self.active).enumerate().map(|(at, (rate, plan))| {
            let new = found.as_ref().ok().map(|plans| &plans[at]);
            let moved = new.map_or(Moved { flows: 0, trunks: 0 }, |new| new.moved_from(plan));
            JobRates {
                job: plan.job.clone(),
                in_force_bps: rate.rate_bps,
                limit: rate.limit.clone(),
                new_bps: new.map(|new| new.rate_bps),
                moved: moved.flows,
                moved_trunks: moved.trunks,
                note: match request.shares == Shares::Free && !request.may_share(plan) {
                    true => "routes only: its shares stay while it runs, since it is not elastic".to_owned(),
                    false => String::new(),
                },
            }
        });
        let jobs: Vec<JobRates> = jobs.collect();
        let gain = gain(&jobs);
        let verdict = match &found {
            Err(why) => Verdict::Stay { reason: format!("no plan: {why}") },
            Ok(plans) => self.verdict(request, plans, &jobs, gain),
        };
        Decision {
            number: request.number,
            at_seconds: request.at.as_secs_f64(),
            trigger: request.trigger.clone(),
            jobs,
            gain: gain.filter(|gain| gain.is_finite()),
            verdict,
            noticed_ms: request.since.map(|since| request.at.saturating_sub(since).as_secs_f64() * 1e3),
            planning_ms: planning.as_secs_f64() * 1e3,
            outcome: None,
            change_ms: None,
        }
    }

    fn verdict(
        &self,
        request: &PlanRequest,
        plans: &[Plan],
        jobs: &[JobRates],
        gain: Option<f64>,
    ) -> Verdict {
        let stay = |reason: String| Verdict::Stay { reason };
        let carries = |job: &JobRates| job.new_bps.is_some_and(|bps| bps.is_finite() && bps > 0.0);
        if let Some(job) = jobs.iter().find(|job| !carries(job)) {
            return stay(format!("the new plan carries nothing of job {}", job.job));
        }
        let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone(), plan.results.clone());
        let is_same = |(new, old): (&Plan, &Plan)| {
            new.rate_bps <= old.rate_bps * (1.0 + SAME)
                && new.shards == old.shards
                && routes(new) == routes(old)
        };
        if plans.iter().zip(&self.active).all(is_same) {
            return stay("the active plan is the best found".to_owned());
        }
        let wanted = self.thresholds.gain;
        match gain {
            Some(gain) if gain < wanted && !request.is_urgent => stay(format!("the gain is below {wanted}")),
            None if !request.is_urgent => stay("no gain".to_owned()),
            _ if self.thresholds.dry_run => stay("dry run: would change".to_owned()),
            _ => Verdict::Change,
        }
    }

    /// Ends the change that was decided on last: the plans that are active now, and the outcome.
    pub fn done(&mut self, now: Duration, outcome: Outcome, active: Vec<Plan>) {
        let Change { since, before, plans } = match std::mem::replace(&mut self.stage, Stage::Watching) {
            Stage::Changing(change) => *change,
            other => {
                self.stage = other;
                return self.set_active(active);
            }
        };
        let is_done = outcome == Outcome::Done;
        if let Some(decision) = self.decisions.back_mut() {
            decision.outcome = Some(outcome);
            decision.change_ms = Some(now.saturating_sub(since).as_secs_f64() * 1e3);
        }
        if is_done {
            self.external_changes.expect(&plans);
        }
        self.external_changes.expect(&active);
        self.congestion.reset();
        self.active = active;
        if is_done {
            self.changed.retain(|&at| now.saturating_sub(at) < HOUR);
            self.changed.push_back(now);
            (self.not_before, self.retry_at) = (now + self.thresholds.gap, None);
        } else {
            // Requested again, but not at once.
            let later = now + self.thresholds.retry_after;
            (self.not_before, self.retry_at) = (later, Some(later));
            self.assumptions = Assumptions { background: before.background, ..self.assumptions.clone() };
        }
    }
}

/// Returns the speed-up of the slowest job that differs (max-min); `None` if none does; infinite where the
/// job carries nothing now.
fn gain(jobs: &[JobRates]) -> Option<f64> {
    let sorted = |rate: &dyn Fn(&JobRates) -> Option<f64>| -> Option<Vec<f64>> {
        let mut rates: Vec<f64> = jobs.iter().map(rate).collect::<Option<_>>()?;
        rates.sort_by(f64::total_cmp);
        Some(rates)
    };
    let (now, new) = (sorted(&|job| Some(job.in_force_bps))?, sorted(&|job| job.new_bps)?);
    let differs = |(now, new): &(f64, f64)| (now - new).abs() > SAME * now.abs();
    now.into_iter().zip(new).find(differs).map(|(now, new)| if now > 0.0 { new / now } else { f64::INFINITY })
}
