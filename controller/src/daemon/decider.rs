//! Watches the network, decides whether other plans are worth a change, and has that made.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use inart_planner::{Plan, Topology};
use inart_steering::{Decision, Outcome, Part, Question, Shares, Steering};
use inart_wire::{Epoch, JobId};
use tokio::time::MissedTickBehavior;

use super::sampler::Sampler;
use super::state::State;
use super::steered::{Asked, Steer};
use crate::api::proto::ChangeStage;
use crate::watching::{Late, Progress, Said, Watching};

/// Rates of a plan over the same routes that differ by less are not worth telling the hosts.
const SAME: f64 = 0.01;

/// The task that does so.
pub(super) struct Decider {
    pub topology: Topology,
    pub steer: Steer,
    pub watching: Watching,
    pub sampler: Sampler,
    pub state: Arc<State>,
}

/// The plans in force of the jobs that run, read again only when another epoch is in force.
#[derive(Default)]
struct InForce(BTreeMap<JobId, (Epoch, Plan)>);

impl InForce {
    fn read(&mut self, state: &State) -> Vec<Plan> {
        let running = state.followed();
        self.0.retain(|job, (epoch, _)| running.contains(&(*job, *epoch)));
        for (job, epoch) in running {
            if !self.0.contains_key(&job)
                && let Some(live) = state.record(job).and_then(|record| record.live().cloned())
                && live.epoch == epoch
            {
                self.0.insert(job, (epoch, live.plan));
            }
        }
        self.0.values().map(|(_, plan)| plan.clone()).collect()
    }
}

impl Decider {
    /// For good.
    pub async fn run(mut self) -> Infallible {
        let mut asked = self.state.steered.listen();
        let mut steering = Steering::new(self.topology.clone(), Vec::new(), self.steer.policy.clone());
        let (start, mut in_force, mut late) = (Instant::now(), InForce::default(), Late::default());
        let mut said = Said::default();
        let mut ticks = tokio::time::interval(self.steer.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                Some(Asked { shares, answer }) = asked.recv() => {
                    self.look_at_jobs(&mut steering, &mut in_force);
                    let decided = match self.command(&mut steering, start.elapsed(), shares) {
                        Ok(question) => {
                            let decided = self.decide(&mut steering, start, question, &mut in_force).await;
                            decided.ok_or_else(|| "the plans in force changed meanwhile: ask again".to_owned())
                        }
                        Err(why) => Err(why),
                    };
                    // Who asked may wait no longer.
                    let _ = answer.send(decided);
                    continue;
                }
            }
            let answers = self.sampler.sample().await;
            let now = start.elapsed();
            let Some(mut seen) = self.watching.see(now, answers) else { continue };
            seen.hosts = said.see(&self.topology, self.state.said_by_hosts());
            self.look_at_jobs(&mut steering, &mut in_force);
            let failed = steering.failed();
            let question = steering.observe(now, &seen);
            self.tell(&steering, &failed);
            self.name_the_late(now, &mut late);
            if let Some(question) = question {
                self.decide(&mut steering, start, question, &mut in_force).await;
            }
        }
    }

    /// Which jobs there are, and what is in force.
    fn look_at_jobs(&self, steering: &mut Steering, in_force: &mut InForce) {
        if let Some(jobs) = self.state.steered.take_jobs() {
            steering.know_jobs(jobs);
        }
        steering.in_force(in_force.read(&self.state));
    }

    /// The question of somebody who asked.
    fn command(&self, steering: &mut Steering, now: Duration, shares: Shares) -> Result<Question, String> {
        if shares == Shares::Free {
            return Err("shares stay while a job runs: ask for other routes only".to_owned());
        }
        let nothing =
            || "no host of any job follows this controller: there is nothing to plan again".to_owned();
        steering.command(now, shares).ok_or_else(nothing)
    }

    /// Tells what is believed of the network; the log hears what is new.
    fn tell(&self, steering: &Steering, before: &[String]) {
        let failed = steering.failed();
        for part in failed.iter().filter(|part| !before.contains(part)) {
            tracing::warn!("{part} has failed");
        }
        for part in before.iter().filter(|part| !failed.contains(part)) {
            tracing::info!("{part} is in order again, or tried again");
        }
        let gone = steering.failed_parts().into_iter().filter_map(|part| match part {
            Part::Switch(switch) => Some(self.topology.node(switch).name.clone()),
            Part::Link(_) | Part::Sums(_) => None,
        });
        let gone: BTreeSet<String> = gone.collect();
        let background = steering.background_by_name();
        self.state
            .steered
            .update(|seen| (seen.failed, seen.gone, seen.background) = (failed, gone, background));
    }

    /// Names workers that others wait for; the log hears of each once.
    fn name_the_late(&self, now: Duration, late: &mut Late) {
        let names = self.state.followed_names();
        let said = self.state.steered.reports().into_iter();
        let said =
            said.filter(|((_, role), _)| role.starts_with("worker-")).filter_map(|((job, role), said)| {
                let progress = Progress { started: said.started, ended: said.ended };
                Some(((names.get(&job)?.clone(), role), progress))
            });
        let named = late.see(now, &said.collect());
        let named: BTreeMap<String, String> =
            named.into_iter().map(|((job, role), why)| (format!("{role} of job {job}"), why)).collect();
        let before = self.state.steered.seen().late;
        for (who, why) in named.iter().filter(|(who, why)| before.get(*who) != Some(why)) {
            tracing::warn!("{who} is late: {why}");
        }
        self.state.steered.update(|seen| seen.late = named);
    }

    /// Has the planner answer, decides, and carries that out; what was decided and what became of it.
    async fn decide(
        &self,
        steering: &mut Steering,
        start: Instant,
        question: Question,
        in_force: &mut InForce,
    ) -> Option<Decision> {
        let number = question.number;
        tracing::info!(number, "the planner is asked: {}", question.trigger);
        let (scheme, within) = (self.steer.scheme, self.steer.plan_within);
        let begun = Instant::now();
        let planned = tokio::task::spawn_blocking(move || {
            let time_left = || within.as_secs_f64() - begun.elapsed().as_secs_f64();
            question.plan(scheme, &time_left).map_err(|error| error.to_string())
        });
        let plans = planned.await.unwrap_or_else(|error| Err(format!("the planner ended: {error}")));
        let answer = plans.as_ref().map(Vec::as_slice).map_err(Clone::clone);
        let decision = steering.answer(start.elapsed(), number, answer, begun.elapsed())?;
        if let (true, Ok(plans)) = (decision.is_change(), plans) {
            let outcome = self.change(&in_force.read(&self.state), plans).await;
            steering.done(start.elapsed(), outcome, in_force.read(&self.state));
        }
        let decisions: Vec<Decision> = steering.decisions().cloned().collect();
        let decided = decisions.last().cloned();
        match &decided {
            Some(decided) if decided.outcome == Some(Outcome::Done) => tracing::info!("{decided}"),
            Some(decided) => tracing::warn!("{decided}"),
            None => {}
        }
        self.state.steered.update(|seen| seen.decisions = decisions);
        decided
    }

    /// Moves the jobs to their new plans, where these differ.
    async fn change(&self, in_force: &[Plan], plans: Vec<Plan>) -> Outcome {
        let routes = |plan: &Plan| (plan.flows.clone(), plan.trunks.clone(), plan.results.clone());
        let is_same = |new: &Plan| {
            in_force.iter().any(|old| {
                old.job == new.job
                    && (new.rate_bps - old.rate_bps).abs() < SAME * old.rate_bps
                    && routes(old) == routes(new)
            })
        };
        let other: Vec<Plan> = plans.into_iter().filter(|plan| !is_same(plan)).collect();
        for plan in &other {
            let missing = self.state.not_following(&plan.job);
            if !missing.is_empty() {
                let reason = format!("job {}: {} does not follow", plan.job, missing.join(", "));
                return Outcome::Failed { reason };
            }
        }
        let numbers: Vec<u32> = other.into_iter().map(|plan| self.state.order_change(plan)).collect();
        let mut problems = Vec::new();
        for number in numbers {
            let ended = self.state.change_ended(number).await;
            if ended.stage() != ChangeStage::Done {
                problems.push(format!("change {number} of job {}: {}", ended.job, ended.problem));
            }
        }
        match problems.is_empty() {
            true => Outcome::Done,
            false => Outcome::Failed { reason: problems.join("; ") },
        }
    }
}
