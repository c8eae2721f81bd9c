//! Runs that go on, and runs that end.

use std::time::Duration;

use inart_controller_api::Ending;

use super::Membership;
use super::boundary::Boundary;
use super::phase::{Leaving, Phase};
use super::run::{Link, Member, Run};
use super::timing::Timing;

impl Membership {
    /// A run goes on: whether anything is to be done about it.
    pub(super) fn run_on(&mut self, now: Duration) -> bool {
        if self.is_done(now) {
            return true;
        }
        let Some(run) = &self.run else { return false };
        if run.workers().all(|worker| matches!(worker.link, Link::Gone)) {
            self.begin_leaving(now, true);
            return true;
        }
        let given_up = run.since + self.timing.regroup_within;
        if run.members.iter().any(|member| member.link == Link::NotYet) && now >= given_up {
            self.begin_leaving(now, true);
            return true;
        }
        // A worker that is done starts no more tensors, and the others are about to be.
        let is_at_its_end = run.done().is_some();
        if (self.present.is_empty() && !self.is_ending) || is_at_its_end {
            return false;
        }
        self.phase = Phase::Bounded(Boundary::new(now, self.timing.margin));
        self.tell(Ending::Prepare);
        true
    }

    /// Whether a worker of the run has done all its rounds, and nothing more comes of any of them: then the
    /// job is done.
    pub(super) fn is_done(&mut self, now: Duration) -> bool {
        let gone_after = self.timing.gone_after;
        let Some(run) = &self.run else { return false };
        // A member that never came is given up.
        let never_came = now >= run.since + self.timing.regroup_within;
        let is_gone =
            |worker: &Member| worker.is_gone(now, gone_after) || worker.link == Link::NotYet && never_came;
        match run.done().filter(|_| run.workers().all(is_gone)) {
            Some(rounds) => self.finish(rounds),
            None => false,
        }
    }

    fn finish(&mut self, rounds: u64) -> bool {
        (self.phase, self.run, self.is_ending) = (Phase::Finished { rounds }, None, false);
        true
    }

    /// A run has ended: whether all its members are there or given up.
    pub(super) fn come_back(&mut self, now: Duration) -> bool {
        let Phase::Leaving(leaving) = self.phase.clone() else { return false };
        if self.missing(now, &leaving).next().is_some() {
            return false;
        }
        if !leaving.servers {
            self.phase = Phase::Leaving(Leaving { since: now, servers: true, ..leaving });
            self.tell(Ending::Now);
            return true;
        }
        let is_worker = |host: &String| self.roster.workers.contains(host);
        if let Some(rounds) = self.run.as_ref().and_then(Run::done)
            && !self.present.keys().any(is_worker)
        {
            return self.finish(rounds);
        }
        if let Some(run) = self.run.take() {
            self.before = run.workers().map(|worker| (worker.host.clone(), worker.life)).collect();
        }
        self.is_ending = false;
        self.phase = Phase::Gathering { until: now };
        true
    }

    /// The members that are still waited for.
    pub(super) fn missing(&self, now: Duration, leaving: &Leaving) -> impl Iterator<Item = &Member> {
        let Leaving { since, is_broken, servers } = *leaving;
        let limit = since
            + match is_broken || servers {
                true => self.timing.regroup_within,
                false => self.timing.hold_within,
            };
        let gone_after = self.timing.gone_after;
        let run_since = self.run.as_ref().map_or(Duration::ZERO, |run| run.since);
        let is_gone = move |member: &Member| match member.link {
            Link::Connected => false,
            Link::NotYet => now >= run_since + gone_after,
            Link::Lost(at) => now >= at + gone_after,
            Link::Gone | Link::Done(_) => true,
        };
        let members = self.run.iter().flat_map(|run| &run.members);
        members.filter(move |member| {
            member.is_worker() != servers
                && !self.present.contains_key(&member.host)
                && !is_gone(member)
                && now < limit
        })
    }

    /// The next moment at which something is to be done, if nothing happens before: [`tick`](Self::tick)
    /// then.
    pub fn deadline(&self, now: Duration) -> Option<Duration> {
        let Timing { gone_after, regroup_within, hold_within, .. } = self.timing;
        let lost = self.run.iter().flat_map(|run| &run.members).filter_map(|member| match member.link {
            Link::Lost(at) => Some(at + gone_after),
            _ => None,
        });
        let silent = self.present.values().map(|there| there.heard + gone_after);
        let began = self.run.iter().flat_map(|run| [run.since + gone_after, run.since + regroup_within]);
        let phase: Vec<_> = match &self.phase {
            Phase::Gathering { until } => vec![*until],
            Phase::Bounded(boundary) => {
                vec![boundary.stage_since + regroup_within, boundary.since + hold_within]
            }
            Phase::Leaving(leaving) => vec![leaving.since + regroup_within, leaving.since + hold_within],
            Phase::Forming(_) | Phase::Running | Phase::Finished { .. } => vec![],
        };
        let moments = lost.chain(silent).chain(began).chain(phase);
        moments.filter(|at| *at > now && *at < Duration::MAX).min()
    }
}
