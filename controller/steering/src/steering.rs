//! The state machine: from what is seen to questions, from answers to decisions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use inart_planner_aggregation::plan::Moved;
use inart_planner_aggregation::{Plan, Sustainable, sustainable_rates};
use inart_topologies::switched::{BackgroundRates, Job, NodeId, NodeKind, Topology};

use crate::background::Background;
use crate::by_others::ByOthers;
use crate::congestion::Congestion;
use crate::decision::{Decision, JobRates, Outcome, Trigger, Verdict};
use crate::failures::{Failures, Part};
use crate::full_links::offered;
use crate::observation::{HostSeen, Observation};
use crate::question::{Question, Shares};
use crate::thresholds::ReplanThresholds;

/// Decisions that are remembered.
const HISTORY: usize = 100;
/// Rates that differ by less than this part are the same.
const SAME: f64 = 1e-3;
/// Least part of a capacity at which others' use of it is named.
const NAMED: f64 = 1e-3;
/// The span of the budget.
const HOUR: Duration = Duration::from_secs(3600);

/// What the plans in force were made for, or looked at for last.
#[derive(Debug, Clone, PartialEq)]
struct MadeFor {
    background: BackgroundRates,
    failed: BTreeSet<Part>,
}

/// What goes on.
#[derive(Debug)]
enum Stage {
    Watching,
    /// The planner was asked.
    Asked(Box<Question>, MadeFor),
    /// A change is under way.
    Changing(Box<Change>),
}

/// A change that was decided on.
#[derive(Debug)]
struct Change {
    /// When.
    since: Duration,
    /// What the plans before were made for.
    before: MadeFor,
    /// Those that are to be in force.
    plans: Vec<Plan>,
}

/// Why to ask.
struct Reason {
    trigger: Trigger,
    shares: Shares,
    is_urgent: bool,
    since: Option<Duration>,
}

/// Watches one network, asks for plans when that may be worth it, and decides on them. Time is a duration
/// since any fixed moment.
#[derive(Debug)]
pub struct Steering {
    topology: Topology,
    thresholds: ReplanThresholds,
    background: Background,
    failures: Failures,
    congestion: Congestion,
    in_force: Vec<Plan>,
    by_others: ByOthers,
    made_for: MadeFor,
    stage: Stage,
    asked: u64,
    /// No question before this, but for what failed.
    not_before: Duration,
    /// Nor for what failed and could not be mended.
    again_at: Option<Duration>,
    /// When shares were planned last.
    shares_at: Duration,
    /// When changes ended, within the last hour.
    changed: VecDeque<Duration>,
    decisions: VecDeque<Decision>,
}

impl Steering {
    /// Plans in force on a network of which nothing was seen yet.
    pub fn new(topology: Topology, in_force: Vec<Plan>, thresholds: ReplanThresholds) -> Self {
        let made_for = MadeFor { background: topology.background(), failed: BTreeSet::new() };
        let mut by_others = ByOthers::default();
        by_others.expect(&in_force);
        Steering {
            background: Background::new(&topology, thresholds.time_constant),
            failures: Failures::default(),
            congestion: Congestion::default(),
            in_force,
            by_others,
            made_for,
            stage: Stage::Watching,
            asked: 0,
            not_before: Duration::ZERO,
            again_at: None,
            shares_at: Duration::ZERO,
            changed: VecDeque::new(),
            decisions: VecDeque::new(),
            topology,
            thresholds,
        }
    }

    /// The network has these jobs from now on; those that were watched are among them.
    pub fn know_jobs(&mut self, jobs: Vec<Job>) {
        self.topology = self.topology.with_jobs(jobs);
    }

    /// The plans in force are others, by somebody else's hand: jobs that came, went, or were moved. A
    /// question that is open is forgotten.
    pub fn in_force(&mut self, plans: Vec<Plan>) {
        if plans != self.in_force {
            self.by_others.see(&plans);
            self.congestion.begin_anew();
            (self.in_force, self.again_at) = (plans, None);
            // They may lead over what is known to have failed.
            self.made_for.failed.clear();
            if matches!(self.stage, Stage::Asked(..)) {
                self.stage = Stage::Watching;
            }
        }
    }

    /// The jobs of the plans in force, with the hosts that these are for: of an elastic job, those that are
    /// there.
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
        self.in_force.iter().filter_map(of_plan).collect()
    }

    /// The network as it is believed to be, with the jobs of the plans in force.
    pub fn network(&self) -> Topology {
        // Background first: its lists go by the links of the whole network.
        let loaded = self.topology.with_background(&self.background.rates(&self.topology));
        self.failures.left_of(&loaded.with_jobs(self.jobs()))
    }

    /// What has failed, by name.
    pub fn failed(&self) -> Vec<String> {
        self.failures.parts().into_iter().map(|part| part.name(&self.topology)).collect()
    }

    /// What has failed.
    pub fn failed_parts(&self) -> BTreeSet<Part> {
        self.failures.parts()
    }

    /// What others use of links, switches and servers, as believed: by resource, bit/s, where it is at least
    /// a thousandth of the capacity. Hosts' kernels send less than that by themselves.
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

    /// What others use, as believed.
    pub fn background(&self) -> BackgroundRates {
        self.background.rates(&self.topology)
    }

    /// The decisions, oldest first; the last hundred.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> + ExactSizeIterator {
        self.decisions.iter()
    }

    /// Takes note of an interval that ended at `now`. A question is answered by [`Steering::answer`]; until
    /// then, and until a change has ended, there is no other.
    pub fn observe(&mut self, now: Duration, seen: &Observation) -> Option<Question> {
        self.background.take(now, &self.topology, &offered(&self.topology, &self.in_force, seen));
        self.failures.take(now, &self.topology, seen, &self.thresholds);
        self.congestion.take(now, seen, &self.thresholds);
        if !matches!(self.stage, Stage::Watching) || self.in_force.is_empty() {
            return None;
        }
        let network = self.network();
        let rates = self.rates(&network);
        let made_for = MadeFor { background: self.background(), failed: self.failures.parts() };
        let reason = self.reason(now, &rates, &made_for)?;
        match &reason.trigger {
            Trigger::Moved { .. } => self.by_others.asked(),
            Trigger::Congestion { .. } => self.congestion.asked(now + self.thresholds.forget_after),
            _ => {}
        }
        Some(self.ask(now, reason, (network, made_for)))
    }

    /// Asks at once, whatever the thresholds for questions say: somebody wants it. `None` while another
    /// question is open or a change under way, or if nothing is in force.
    pub fn command(&mut self, now: Duration, shares: Shares) -> Option<Question> {
        if !matches!(self.stage, Stage::Watching) || self.in_force.is_empty() {
            return None;
        }
        let made_for = MadeFor { background: self.background(), failed: self.failures.parts() };
        let reason = Reason { trigger: Trigger::Command, shares, is_urgent: false, since: None };
        Some(self.ask(now, reason, (self.network(), made_for)))
    }

    fn ask(&mut self, now: Duration, reason: Reason, (topology, made_for): (Topology, MadeFor)) -> Question {
        let Reason { trigger, shares, is_urgent, since } = reason;
        self.asked += 1;
        if shares == Shares::Free {
            self.shares_at = now;
        }
        let (number, plans) = (self.asked, self.in_force.clone());
        let question = Question { number, at: now, trigger, topology, plans, shares, is_urgent, since };
        self.stage = Stage::Asked(Box::new(question.clone()), made_for);
        question
    }

    /// Why to ask, if there is a reason.
    fn reason(&mut self, now: Duration, rates: &[Sustainable], made_for: &MadeFor) -> Option<Reason> {
        let names = |parts: &mut dyn Iterator<Item = &Part>| -> Vec<String> {
            parts.map(|part| part.name(&self.topology)).collect()
        };
        let lost: BTreeSet<Part> = made_for.failed.difference(&self.made_for.failed).copied().collect();
        let carries_nothing = rates.iter().any(|rate| rate.rate_bps <= 0.0);
        let again = self.again_at.is_some_and(|at| now >= at);
        if carries_nothing && (!lost.is_empty() || again) {
            let since = self.failures.last_in_order(lost.iter());
            let parts = if lost.is_empty() { &made_for.failed } else { &lost };
            let trigger = Trigger::Lost { parts: names(&mut parts.iter()) };
            return Some(Reason { trigger, shares: Shares::Kept, is_urgent: true, since });
        }
        let recent = self.changed.iter().filter(|&&at| now.saturating_sub(at) < HOUR).count();
        if now < self.not_before || recent >= self.thresholds.per_hour {
            return None;
        }
        let usual = |trigger, shares, since| Reason { trigger, shares, is_urgent: false, since };
        let back = names(&mut self.made_for.failed.difference(&made_for.failed));
        if !back.is_empty() {
            return Some(usual(Trigger::Back { parts: back }, Shares::Kept, None));
        }
        if let Some((trigger, shares, since)) = self.by_others.question(now, self.thresholds.settle) {
            return Some(usual(trigger, shares, Some(since)));
        }
        if let Some((trigger, since)) = self.differs(rates, &made_for.background) {
            return Some(usual(trigger, Shares::Kept, since));
        }
        if let Some((trigger, since)) = self.congested(now) {
            return Some(usual(trigger, Shares::Kept, Some(since)));
        }
        let due =
            self.thresholds.shares_every.is_some_and(|every| now.saturating_sub(self.shares_at) >= every);
        due.then(|| usual(Trigger::Schedule, Shares::Free, None))
    }

    /// The host of a plan in force that tells of congestion for longest.
    fn congested(&self, now: Duration) -> Option<(Trigger, Duration)> {
        let (id, since, seen) = self.congestion.longest(now, &self.thresholds)?;
        let host = self.topology.node(id).name.clone();
        let is_in = |plan: &&Plan| {
            plan.flows.iter().any(|flow| flow.worker == host)
                || plan.shards.iter().any(|shard| shard.server == host)
        };
        let jobs: Vec<String> = self.in_force.iter().filter(is_in).map(|plan| plan.job.clone()).collect();
        let HostSeen { retransmitted, marked, queueing, delivered, .. } = seen;
        let queueing_ms = queueing.map(|waits| waits.as_secs_f64() * 1e3);
        let trigger = Trigger::Congestion { host, jobs, retransmitted, marked, queueing_ms, delivered };
        Some((trigger, since))
    }

    /// The capacity of which others use most more, or less, than the plans were made for, as part of it; a
    /// rise only if a plan in force is slower for it.
    fn differs(&self, rates: &[Sustainable], now: &BackgroundRates) -> Option<(Trigger, Option<Duration>)> {
        let is_slower =
            rates.iter().zip(&self.in_force).any(|(rate, plan)| rate.rate_bps < plan.rate_bps * (1.0 - SAME));
        let planned = &self.made_for.background;
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

    /// What the plans in force carry on a network: no more than they state, since hosts send no faster.
    fn rates(&self, network: &Topology) -> Vec<Sustainable> {
        let unknown = |_| {
            let nothing = || Sustainable { rate_bps: 0.0, limit: "a plan of another network".to_owned() };
            self.in_force.iter().map(|_| nothing()).collect()
        };
        let mut rates = sustainable_rates(network, &self.in_force).unwrap_or_else(unknown);
        for (rate, plan) in rates.iter_mut().zip(&self.in_force) {
            if rate.rate_bps > plan.rate_bps * (1.0 - SAME) {
                *rate = Sustainable { rate_bps: plan.rate_bps.min(rate.rate_bps), limit: String::new() };
            }
        }
        rates
    }

    /// Hears the plans that were made, one per job in the order of the question's, and decides. `None` if
    /// that question is not open any more. A decision to change has to be carried out and ended by
    /// [`Steering::done`].
    pub fn answer(
        &mut self,
        now: Duration,
        number: u64,
        plans: Result<&[Plan], String>,
        planning: Duration,
    ) -> Option<Decision> {
        match std::mem::replace(&mut self.stage, Stage::Watching) {
            Stage::Asked(question, made_for) if question.number == number => {
                let decision = self.decide(&question, plans.clone(), planning);
                let before = std::mem::replace(&mut self.made_for, made_for);
                if decision.is_change() {
                    let plans = plans.map(<[Plan]>::to_vec).unwrap_or_default();
                    self.stage = Stage::Changing(Box::new(Change { since: now, before, plans }));
                }
                self.again_at = (question.is_urgent && !decision.is_change())
                    .then_some(now + self.thresholds.again_after);
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

    fn decide(&self, question: &Question, plans: Result<&[Plan], String>, planning: Duration) -> Decision {
        let rates = self.rates(&question.topology);
        let found = plans.and_then(|plans| match plans.len() == self.in_force.len() {
            true => Ok(plans),
            false => Err(format!("{} plans for {} jobs", plans.len(), self.in_force.len())),
        });
        let jobs = rates.iter().zip(&self.in_force).enumerate().map(|(at, (rate, plan))| {
            let new = found.as_ref().ok().map(|plans| &plans[at]);
            let moved = new.map_or(Moved { flows: 0, trunks: 0 }, |new| new.moved_from(plan));
            JobRates {
                job: plan.job.clone(),
                in_force_bps: rate.rate_bps,
                limit: rate.limit.clone(),
                new_bps: new.map(|new| new.rate_bps),
                moved: moved.flows,
                moved_trunks: moved.trunks,
                note: match question.shares == Shares::Free && !question.may_share(plan) {
                    true => "routes only: its shares stay while it runs, since it is not elastic".to_owned(),
                    false => String::new(),
                },
            }
        });
        let jobs: Vec<JobRates> = jobs.collect();
        let gain = gain(&jobs);
        let verdict = match &found {
            Err(why) => Verdict::Stay { reason: format!("no plan: {why}") },
            Ok(plans) => self.verdict(question, plans, &jobs, gain),
        };
        Decision {
            number: question.number,
            at_seconds: question.at.as_secs_f64(),
            trigger: question.trigger.clone(),
            jobs,
            gain: gain.filter(|gain| gain.is_finite()),
            verdict,
            noticed_ms: question.since.map(|since| question.at.saturating_sub(since).as_secs_f64() * 1e3),
            planning_ms: planning.as_secs_f64() * 1e3,
            outcome: None,
            change_ms: None,
        }
    }

    fn verdict(&self, question: &Question, plans: &[Plan], jobs: &[JobRates], gain: Option<f64>) -> Verdict {
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
        if plans.iter().zip(&self.in_force).all(is_same) {
            return stay("the active plan is the best found".to_owned());
        }
        let wanted = self.thresholds.gain;
        match gain {
            Some(gain) if gain < wanted && !question.is_urgent => stay(format!("the gain is below {wanted}")),
            None if !question.is_urgent => stay("nothing is gained".to_owned()),
            _ if self.thresholds.dry_run => stay("dry run: it would be".to_owned()),
            _ => Verdict::Change,
        }
    }

    /// The change that was decided on last has ended: the plans in force now, and what became of it.
    pub fn done(&mut self, now: Duration, outcome: Outcome, in_force: Vec<Plan>) {
        let Change { since, before, plans } = match std::mem::replace(&mut self.stage, Stage::Watching) {
            Stage::Changing(change) => *change,
            other => {
                self.stage = other;
                return self.in_force(in_force);
            }
        };
        let is_done = outcome == Outcome::Done;
        if let Some(decision) = self.decisions.back_mut() {
            decision.outcome = Some(outcome);
            decision.change_ms = Some(now.saturating_sub(since).as_secs_f64() * 1e3);
        }
        if is_done {
            self.by_others.expect(&plans);
        }
        self.by_others.expect(&in_force);
        self.congestion.begin_anew();
        self.in_force = in_force;
        if is_done {
            self.changed.retain(|&at| now.saturating_sub(at) < HOUR);
            self.changed.push_back(now);
            (self.not_before, self.again_at) = (now + self.thresholds.gap, None);
        } else {
            // It is a question again, but not at once.
            let later = now + self.thresholds.again_after;
            (self.not_before, self.again_at) = (later, Some(later));
            self.made_for = MadeFor { background: before.background, ..self.made_for.clone() };
        }
    }
}

/// By which factor the slowest job that differs gets faster: the max-min sense. `None` if none does; infinite
/// where it carries nothing now.
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
