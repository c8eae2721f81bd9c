//! Watches the network, decides whether other plans are worth a change, and has that made. What takes long
//! (the planner, a change) goes on beside the watch.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use inart_planner_aggregation::Plan;
use inart_steering::{Decision, Outcome, Part, Question, Steering};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, PlanVersion};
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::moving::move_jobs;
use super::sampler::Sampler;
use super::state::State;
use super::steered::{Asked, Steer};
use crate::watching::{Answers, Late, Progress, Said, Watching};

/// The task that does so.
pub(super) struct Decider {
    pub topology: Topology,
    pub steer: Steer,
    pub watching: Watching,
    pub sampler: Sampler,
    /// Who wants a decision.
    pub asked: mpsc::UnboundedReceiver<Asked>,
    pub state: Arc<State>,
}

/// The plans in force of the jobs that run, read again only when another plan version is in force.
#[derive(Default)]
struct InForce(BTreeMap<JobId, (PlanVersion, Plan)>);

impl InForce {
    fn read(&mut self, state: &State) -> Vec<Plan> {
        let running = state.followed();
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

/// Clients that may wait for a decision.
const WAITING: usize = 64;

/// Who asked for a decision, and waits for it.
type Answer = oneshot::Sender<Result<Decision, String>>;

/// What has come to an end beside the watch.
enum Done {
    /// The planner has answered a question.
    Planned { question: Box<Question>, plans: Result<Vec<Plan>, String>, took: Duration },
    /// A change has ended.
    Changed(Outcome),
}

impl Decider {
    /// For good.
    pub async fn run(self) -> Infallible {
        let Decider { topology, steer, watching, sampler, asked, state } = self;
        let (sender, samples) = mpsc::channel(1);
        let sampling = sample(sampler, steer.every, sender);
        let deciding = Deciding {
            steering: Steering::new(topology.clone(), Vec::new(), steer.thresholds.clone()),
            start: Instant::now(),
            in_force: InForce::default(),
            late: Late::default(),
            said: Said::default(),
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
            never = deciding.run(samples, asked) => never,
        }
    }
}

/// Reads the switches' counters again and again.
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

/// What is known, and what goes on.
struct Deciding {
    topology: Topology,
    steer: Steer,
    watching: Watching,
    state: Arc<State>,
    steering: Steering,
    /// From when times are counted.
    start: Instant,
    in_force: InForce,
    late: Late,
    /// What hosts have told.
    said: Said,
    /// The planner or a change, one of them at a time.
    work: Option<LocalBoxFuture<'static, Done>>,
    /// Whether it is a change.
    is_changing: bool,
    /// Who asked for what goes on.
    answer: Option<Answer>,
    /// Those who are to have their turn.
    waiting: VecDeque<Asked>,
}

impl Deciding {
    async fn run(
        mut self,
        mut samples: mpsc::Receiver<Answers>,
        mut asked: mpsc::UnboundedReceiver<Asked>,
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
                Some(asked) = asked.recv() => self.queue(asked),
            }
            while self.work.is_none()
                && let Some(asked) = self.waiting.pop_front()
            {
                self.command(asked);
            }
        }
    }

    /// Lets somebody wait for a turn, unless many do.
    fn queue(&mut self, asked: Asked) {
        self.waiting.retain(|other| !other.answer.is_closed());
        match self.waiting.len() < WAITING {
            true => self.waiting.push_back(asked),
            false => {
                drop(asked.answer.send(Err(format!("{WAITING} others wait for a decision: ask again later"))))
            }
        }
    }

    /// Takes note of what the switches have counted.
    fn watch(&mut self, answers: Answers) {
        let now = self.start.elapsed();
        let Some(mut seen) = self.watching.see(now, answers, &self.state.connected_hosts()) else { return };
        seen.hosts = self.said.see(&self.topology, self.state.said_by_hosts());
        self.look_at_jobs();
        let failed = self.steering.failed();
        let question = self.steering.observe(now, &seen);
        self.tell(&failed);
        self.name_the_late(now);
        if let Some(question) = question {
            self.ask(question, None);
        }
    }

    /// Which jobs there are, and what is in force. While a change of its own is under way, its end tells.
    fn look_at_jobs(&mut self) {
        if let Some(jobs) = self.state.steered.take_jobs() {
            self.steering.know_jobs(jobs);
        }
        if !self.is_changing {
            self.steering.in_force(self.in_force.read(&self.state));
        }
    }

    /// Somebody asks, who may have given up meanwhile.
    fn command(&mut self, Asked { shares, answer }: Asked) {
        if answer.is_closed() {
            return;
        }
        self.look_at_jobs();
        match self.steering.command(self.start.elapsed(), shares) {
            Some(question) => self.ask(question, Some(answer)),
            None => {
                let nothing = "no host of any job follows this controller: there is nothing to plan again";
                // Who asked may wait no longer.
                let _ = answer.send(Err(nothing.to_owned()));
            }
        }
    }

    /// Has the planner answer, in place of what it was asked before.
    fn ask(&mut self, question: Question, answer: Option<Answer>) {
        tracing::info!(number = question.number, "planning: {}", question.trigger);
        self.forget_answer();
        self.answer = answer;
        let (scheme, within) = (self.steer.scheme, self.steer.plan_within);
        let begun = Instant::now();
        let question = Box::new(question);
        let asked = question.clone();
        let planned = tokio::task::spawn_blocking(move || {
            let time_left = || within.as_secs_f64() - begun.elapsed().as_secs_f64();
            asked.plan(scheme, &time_left).map_err(|error| error.to_string())
        });
        let work = async move {
            let plans = planned.await.unwrap_or_else(|error| Err(format!("the planner ended: {error}")));
            Done::Planned { question, plans, took: begun.elapsed() }
        };
        self.work = Some(work.boxed_local());
    }

    /// What went on has ended.
    fn take(&mut self, done: Done) {
        (self.work, self.is_changing) = (None, false);
        let now = self.start.elapsed();
        match done {
            Done::Planned { question, plans, took } => {
                let answer = plans.as_ref().map(Vec::as_slice).map_err(Clone::clone);
                let Some(decision) = self.steering.answer(now, question.number, answer, took) else {
                    return self.forget_answer();
                };
                match plans {
                    Ok(plans) if decision.is_change() => {
                        let in_force = self.in_force.read(&self.state);
                        let is_led = question.is_led(&decision);
                        let change = move_jobs(self.state.clone(), in_force, plans, is_led);
                        self.work = Some(change.map(Done::Changed).boxed_local());
                        self.is_changing = true;
                    }
                    _ => self.tell_decision(),
                }
            }
            Done::Changed(outcome) => {
                self.steering.done(now, outcome, self.in_force.read(&self.state));
                self.tell_decision();
            }
        }
    }

    /// The question is not open any more.
    fn forget_answer(&mut self) {
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(Err("the active plans changed meanwhile: try again".to_owned()));
        }
    }

    /// What was decided last, and what came of it: for the log, for who asks, and for who asked.
    fn tell_decision(&mut self) {
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

    /// Tells what is believed of the network; the log hears what is new.
    fn tell(&self, before: &[String]) {
        let failed = self.steering.failed();
        for part in failed.iter().filter(|part| !before.contains(part)) {
            tracing::warn!("{part} has failed");
        }
        for part in before.iter().filter(|part| !failed.contains(part)) {
            tracing::info!("{part} recovered or is being retried");
        }
        let gone = self.steering.failed_parts().into_iter().filter_map(|part| match part {
            Part::Switch(switch) => Some(self.topology.node(switch).name.clone()),
            Part::Link(_) | Part::Sums(_) => None,
        });
        let gone: BTreeSet<String> = gone.collect();
        let background = self.steering.background_by_name();
        self.state
            .steered
            .update(|seen| (seen.failed, seen.gone, seen.background) = (failed, gone, background));
    }

    /// Names workers that others wait for; the log hears of each once.
    fn name_the_late(&mut self, now: Duration) {
        let names = self.state.followed_names();
        let said = self.state.steered.reports().into_iter();
        let said =
            said.filter(|((_, role), _)| role.starts_with("worker-")).filter_map(|((job, role), said)| {
                let progress = Progress { started: said.started, ended: said.ended };
                Some(((names.get(&job)?.clone(), role), progress))
            });
        let named = self.late.see(now, &said.collect());
        let named: BTreeMap<String, String> =
            named.into_iter().map(|((job, role), why)| (format!("{role} of job {job}"), why)).collect();
        let before = self.state.steered.seen().late;
        for (who, why) in named.iter().filter(|(who, why)| before.get(*who) != Some(why)) {
            tracing::warn!("{who} is late: {why}");
        }
        self.state.steered.update(|seen| seen.late = named);
    }
}
