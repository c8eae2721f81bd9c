//! Continuation and end of views.

use std::time::Duration;

use inart_controller_api::Ending;

use super::Membership;
use super::phase::{Leaving, Phase};
use super::stop_point::StopPoint;
use super::timing::Timing;
use super::view::{Link, Member, View};

impl Membership {
    /// Checks an active view. Returns whether its phase changed.
    pub(super) fn run_on(&mut self, now: Duration) -> bool {
        if self.is_done(now) {
            return true;
        }
        let Some(view) = &self.view else { return false };
        if view.workers().all(|worker| matches!(worker.link, Link::Gone)) {
            self.begin_leaving(now, true);
            return true;
        }
        let timeout = view.since + self.timing.rejoin_timeout;
        if view.members.iter().any(|member| member.link == Link::NotYet) && now >= timeout {
            self.begin_leaving(now, true);
            return true;
        }
        // A worker that is done starts no more tensors, and the others will soon be done.
        let is_at_its_end = view.done().is_some();
        if (self.present.is_empty() && !self.is_ending) || is_at_its_end {
            return false;
        }
        self.phase = Phase::Bounded(StopPoint::new(now, self.timing.margin));
        self.send(Ending::Prepare);
        true
    }

    /// Returns whether the job is done: a worker of the view has done all its rounds, and no worker is left
    /// in the view.
    pub(super) fn is_done(&mut self, now: Duration) -> bool {
        let gone_after = self.timing.gone_after;
        let Some(view) = &self.view else { return false };
        // A member that never connected counts as timed out.
        let never_came = now >= view.since + self.timing.rejoin_timeout;
        let is_gone =
            |worker: &Member| worker.is_gone(now, gone_after) || worker.link == Link::NotYet && never_came;
        match view.done().filter(|_| view.workers().all(is_gone)) {
            Some(rounds) => self.finish(rounds),
            None => false,
        }
    }

    fn finish(&mut self, rounds: u64) -> bool {
        (self.phase, self.view, self.is_ending) = (Phase::Finished { rounds }, None, false);
        true
    }

    /// Returns whether all members of an ended view have rejoined or timed out.
    pub(super) fn collect(&mut self, now: Duration) -> bool {
        let Phase::Leaving(leaving) = self.phase.clone() else { return false };
        if self.missing(now, &leaving).next().is_some() {
            return false;
        }
        if !leaving.servers {
            self.phase = Phase::Leaving(Leaving { since: now, servers: true, ..leaving });
            self.send(Ending::Now);
            return true;
        }
        let is_worker = |host: &String| self.roster.workers.contains(host);
        if let Some(rounds) = self.view.as_ref().and_then(View::done)
            && !self.present.keys().any(is_worker)
        {
            return self.finish(rounds);
        }
        if let Some(view) = self.view.take() {
            self.before = view.workers().map(|worker| (worker.host.clone(), worker.incarnation)).collect();
        }
        self.is_ending = false;
        self.phase = Phase::Gathering { until: now };
        true
    }

    /// Returns the members that the job still waits for.
    pub(super) fn missing(&self, now: Duration, leaving: &Leaving) -> impl Iterator<Item = &Member> {
        let Leaving { since, is_broken, servers } = *leaving;
        let limit = since
            + match is_broken || servers {
                true => self.timing.rejoin_timeout,
                false => self.timing.hold_within,
            };
        let gone_after = self.timing.gone_after;
        let view_since = self.view.as_ref().map_or(Duration::ZERO, |view| view.since);
        let is_gone = move |member: &Member| match member.link {
            Link::Connected => false,
            Link::NotYet => now >= view_since + gone_after,
            Link::Lost(at) => now >= at + gone_after,
            Link::Gone | Link::Done(_) => true,
        };
        let members = self.view.iter().flat_map(|view| &view.members);
        members.filter(move |member| {
            member.is_worker() != servers
                && !self.present.contains_key(&member.host)
                && !is_gone(member)
                && now < limit
        })
    }

    /// Returns the time of the next [`tick`](Self::tick), if no event happens before.
    pub fn deadline(&self, now: Duration) -> Option<Duration> {
        let Timing { gone_after, rejoin_timeout, hold_within, .. } = self.timing;
        let lost = self.view.iter().flat_map(|view| &view.members).filter_map(|member| match member.link {
            Link::Lost(at) => Some(at + gone_after),
            _ => None,
        });
        let silent = self.present.values().map(|there| there.asked_at + gone_after);
        let began = self.view.iter().flat_map(|view| [view.since + gone_after, view.since + rejoin_timeout]);
        let phase: Vec<_> = match &self.phase {
            Phase::Gathering { until } => vec![*until],
            Phase::Bounded(stop_point) => {
                vec![stop_point.stage_since + rejoin_timeout, stop_point.since + hold_within]
            }
            Phase::Leaving(leaving) => vec![leaving.since + rejoin_timeout, leaving.since + hold_within],
            Phase::Forming(_) | Phase::Running | Phase::Finished { .. } => vec![],
        };
        let moments = lost.chain(silent).chain(began).chain(phase);
        moments.filter(|at| *at > now && *at < Duration::MAX).min()
    }
}
