//! Watches the network, decides whether other plans are worth a change, and carries changes out. Long work
//! (planning, changes) runs concurrently with the observation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use inart_planner_aggregation::Plan;
use inart_steering::{Decision, Outcome, Part, PlanRequest, Steering};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::moving::move_jobs;
use super::sampler::Sampler;
use super::state::State;
use super::steered::{DecisionRequest, Steer};
use crate::watching::{Answers, HostReports, Progress, Stragglers, Watching};

/// Task that watches and decides.
pub(super) struct ReplanLoop {
    pub topology: Topology,
    pub steer: Steer,
    pub watching: Watching,
    pub sampler: Sampler,
    /// Requests for decisions.
    pub requests: mpsc::UnboundedReceiver<DecisionRequest>,
    pub state: Arc<State>,
}

/// Active plans of running jobs, read again only after a change of the plan version.
#[derive(Default)]
struct ActivePlans(BTreeMap<JobId, (PlanVersion, Plan)>);

impl ActivePlans {
    fn read(&mut self, state: &State) -> Vec<Plan> {
        let running = state.watched_jobs();
        self.0.retain(|job, (plan_version, _)| running.contains(&(*job, *plan_version)));
        for (job, plan_version) in running {
            if !self.0.contains_key(&job)
                && let Some(live) = state.record(job).and_then(|record| record.live().cloned())
                && live.plan_version == plan_version
            {
                self.0.insert(job, (plan_version, live.plan));
            }
        }
        self.0.values().map(|(_, plan)| plan.clone()).collect()
    }
}

/// Maximum number of clients that wait for a decision.
const WAITING: usize = 64;

/// Receiver of a requested decision.
type Answer = oneshot::Sender<Result<Decision, String>>;

/// Work that ended.
enum Done {
    /// Result of the planner.
    Planned { request: Box<PlanRequest>, plans: Result<Vec<Plan>, String>, took: Duration },
    /// End of a change.
    Changed(Outcome),
}

impl ReplanLoop {
    /// Runs forever.
    pub async fn run(self) -> Infallible {
        let ReplanLoop { topology, steer, watching, sampler, requests, state } = self;
        let (sender, samples) = mpsc::channel(1);
        let sampling = sample(sampler, steer.every, sender);
        let replanning = Replanning {
            steering: Steering::new(topology.clone(), Vec::new(), steer.thresholds.clone()),
            start: Instant::now(),
            active: ActivePlans::default(),
            stragglers: Stragglers::default(),
            reports: HostReports::default(),
            work: None,
            is_changing: false,
            answer: None,
            waiting: VecDeque::new(),
            topology,
            steer,
            watching,
            state,
        };
        tokio::select! {
            never = sampling => never,
            never = replanning.run(samples, requests) => never,
        }
    }
}

/// Reads the switches' counters periodically.
async fn sample(mut sampler: Sampler, every: Duration, samples: mpsc::Sender<Answers>) -> Infallible {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let answers = sampler.sample().await;
        if samples.send(answers).await.is_err() {
            pending::<()>().await;
        }
    }
}

/// State of the task.
struct Replanning {
    topology: Topology,
    steer: Steer,
    watching: Watching,
    state: Arc<State>,
    steering: Steering,
    /// Origin of times.
    start: Instant,
    active: ActivePlans,
    stragglers: Stragglers,
    /// Reports of hosts.
    reports: HostReports,
    /// Current work: the planner or a change.
    work: Option<LocalBoxFuture<'static, Done>>,
    /// Whether the current work is a change.
    is_changing: bool,
    /// Requester of the current work.
    answer: Option<Answer>,
    /// Queued requests.
    waiting: VecDeque<DecisionRequest>,
}

impl Replanning {
    async fn run(
        mut self,
        mut samples: mpsc::Receiver<Answers>,
        mut requests: mpsc::UnboundedReceiver<DecisionRequest>,
    ) -> Infallible {
        loop {
            let work = self.work.as_mut();
            let worked = async {
                match work {
                    Some(work) => work.await,
                    None => pending().await,
                }
            };
            tokio::select! {
                done = worked => self.take(done),
                Some(answers) = samples.recv() => self.watch(answers),
                Some(client) = requests.recv() => self.queue(client),
            }
            while self.work.is_none()
                && let Some(client) = self.waiting.pop_front()
            {
                self.command(client);
            }
        }
    }

    /// Queues a request, up to a maximum number.
    fn queue(&mut self, client: DecisionRequest) {
        self.waiting.retain(|other| !other.answer.is_closed());
        match self.waiting.len() < WAITING {
            true => self.waiting.push_back(client),
            false => drop(
                client
                    .answer
                    .send(Err(format!("{WAITING} requests for a decision are waiting; try again later"))),
            ),
        }
    }

    /// Handles counters of the switches.
    fn watch(&mut self, answers: Answers) {
        let now = self.start.elapsed();
        let Some(mut seen) = self.watching.observe(now, answers, &self.state.connected_hosts()) else {
            return;
        };
        seen.hosts = self.reports.observe(&self.topology, self.state.host_reports());
        self.update_jobs();
        let failed = self.steering.failed();
        let request = self.steering.observe(now, &seen);
        self.publish(&failed);
        self.publish_stragglers(now);
        if let Some(request) = request {
            self.ask(request, None);
        }
    }

    /// Updates the jobs and active plans. During the task's own change, the end of the change does that.
    fn update_jobs(&mut self) {
        if let Some(jobs) = self.state.steered.take_jobs() {
            self.steering.set_jobs(jobs);
        }
        if !self.is_changing {
            self.steering.set_active(self.active.read(&self.state));
        }
    }

    /// Handles a request, unless the requester has stopped waiting.
    fn command(&mut self, DecisionRequest { shares, answer }: DecisionRequest) {
        if answer.is_closed() {
            return;
        }
        self.update_jobs();
        match self.steering.command(self.start.elapsed(), shares) {
            Some(request) => self.ask(request, Some(answer)),
            None => {
                let nothing = "no host watches this controller: nothing to replan";
                // The requester may wait no longer.
                let _ = answer.send(Err(nothing.to_owned()));
            }
        }
    }

    /// Starts the planner, in place of an earlier plan request.
    fn ask(&mut self, request: PlanRequest, answer: Option<Answer>) {
        tracing::info!(number = request.number, "planning: {}", request.trigger);
        self.cancel_request();
        self.answer = answer;
        let (scheme, within) = (self.steer.scheme, self.steer.plan_within);
        let begun = Instant::now();
        let request = Box::new(request);
        let planned_for = request.clone();
        let planned = tokio::task::spawn_blocking(move || {
            let time_left = || within.as_secs_f64() - begun.elapsed().as_secs_f64();
            planned_for.plan(scheme, &time_left).map_err(|error| error.to_string())
        });
        let work = async move {
            let plans = planned.await.unwrap_or_else(|error| Err(format!("the planner ended: {error}")));
            Done::Planned { request, plans, took: begun.elapsed() }
        };
        self.work = Some(work.boxed_local());
    }

    /// Handles the end of the current work.
    fn take(&mut self, done: Done) {
        (self.work, self.is_changing) = (None, false);
        let now = self.start.elapsed();
        match done {
            Done::Planned { request, plans, took } => {
                let answer = plans.as_ref().map(Vec::as_slice).map_err(Clone::clone);
                let Some(decision) = self.steering.answer(now, request.number, answer, took) else {
                    return self.cancel_request();
                };
                match plans {
                    Ok(plans) if decision.is_change() => {
                        let active = self.active.read(&self.state);
                        let is_coordinated = request.is_coordinated(&decision);
                        let change = move_jobs(self.state.clone(), active, plans, is_coordinated);
                        self.work = Some(change.map(Done::Changed).boxed_local());
                        self.is_changing = true;
                    }
                    _ => self.publish_decision(),
                }
            }
            Done::Changed(outcome) => {
                self.steering.done(now, outcome, self.active.read(&self.state));
                self.publish_decision();
            }
        }
    }

    /// Cancels the current request.
    fn cancel_request(&mut self) {
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Err("the active plans changed meanwhile: try again".to_owned()));
        }
    }

    /// Publishes the last decision and its outcome: to the log, the status, and the requester.
    fn publish_decision(&mut self) {
        let decisions: Vec<Decision> = self.steering.decisions().cloned().collect();
        let Some(decided) = decisions.last().cloned() else { return };
        match decided.outcome == Some(Outcome::Done) {
            true => tracing::info!("{decided}"),
            false => tracing::warn!("{decided}"),
        }
        self.state.steered.update(|seen| seen.decisions = decisions);
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Ok(decided));
        }
    }

    /// Publishes the estimate of the network, and logs changes.
    fn publish(&self, before: &[String]) {
        let failed = self.steering.failed();
        for part in failed.iter().filter(|part| !before.contains(part)) {
            tracing::warn!("{part} has failed");
        }
        for part in before.iter().filter(|part| !failed.contains(part)) {
            tracing::info!("{part} recovered or is being retried");
        }
        let failed_switches = self.steering.failed_parts().into_iter().filter_map(|part| match part {
            Part::Switch(switch) => Some(self.topology.node(switch).name.clone()),
            Part::Link(_) | Part::Sums(_) => None,
        });
        let failed_switches: BTreeSet<String> = failed_switches.collect();
        let background = self.steering.background_by_name();
        self.state.steered.update(|seen| {
            (seen.failed, seen.failed_switches, seen.background) = (failed, failed_switches, background)
        });
    }

    /// Publishes stragglers; logs each once.
    fn publish_stragglers(&mut self, now: Duration) {
        let names = self.state.watched_names();
        let reports = self.state.steered.reports().into_iter();
        let reports = reports.filter(|((_, role), _)| role.starts_with("worker-")).filter_map(
            |((job, role), report)| {
                let progress = Progress { started: report.started, ended: report.ended };
                Some(((names.get(&job)?.clone(), role), progress))
            },
        );
        let named = self.stragglers.update(now, &reports.collect());
        let named: BTreeMap<String, String> =
            named.into_iter().map(|((job, role), why)| (format!("{role} of job {job}"), why)).collect();
        let before = self.state.steered.seen().stragglers;
        for (who, why) in named.iter().filter(|(who, why)| before.get(*who) != Some(why)) {
            tracing::warn!("{who} is a straggler: {why}");
        }
        self.state.steered.update(|seen| seen.stragglers = named);
    }
}
