//! Handling of join requests.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::Membership;
use super::joining::{Joining, Refusal, Reply};
use super::phase::{Attendance, Contender, Leaving, Phase};
use super::view::Link;

impl Membership {
    /// Handles a join request, the first or a repeated one.
    ///
    /// # Errors
    /// A host that cannot join.
    pub fn join(&mut self, now: Duration, joining: Joining) -> Result<Reply, Refusal> {
        self.check(&joining)?;
        if let Some(wait) = self.contend(now, &joining)? {
            return Ok(wait);
        }
        if self.joins_too_late(&joining) {
            self.advance(now);
            return self.check(&joining).map(|()| Reply::Waiting(self.awaited()));
        }
        let Joining { host, incarnation, last, stop_point, rounds, must_load_state } = joining;
        self.reported.insert(host.clone(), (incarnation, rounds));
        // The host may have missed the previous answer.
        let number = self.view.as_ref().map(|view| view.number);
        let is_done =
            self.view.as_ref().and_then(|view| view.member(&host)).is_none_or(|member| member.has_left);
        if let Some(membership) = self.view.as_ref().and_then(|view| view.membership(&host, incarnation))
            && !is_done
            && last != number
            && matches!(self.phase, Phase::Running | Phase::Bounded(_))
        {
            return Ok(Reply::Admitted(membership));
        }
        let is_first = self.present.is_empty() && self.view.is_none();
        self.present.insert(host.clone(), Attendance { incarnation, rounds, must_load_state, asked_at: now });
        if let Phase::Gathering { until } = &mut self.phase
            && is_first
            && *until == Duration::MAX
        {
            *until = now + self.timing.gather_within;
        }
        self.on_left(now, &host, incarnation, stop_point);
        self.advance(now);
        Ok(match self.view.as_ref().and_then(|view| view.membership(&host, incarnation)) {
            Some(membership) if matches!(self.phase, Phase::Running) => Reply::Admitted(membership),
            _ => Reply::Waiting(self.awaited()),
        })
    }

    fn check(&self, joining: &Joining) -> Result<(), Refusal> {
        let (host, job) = (joining.host.clone(), self.roster.job.clone());
        if !self.roster.hosts().any(|listed| listed == host) {
            let hosts = self.roster.hosts().collect::<Vec<_>>().join(", ");
            return Err(Refusal::UnknownHost { job, host, hosts });
        }
        if joining.incarnation == Incarnation::UNKNOWN {
            return Err(Refusal::NoIncarnation { host });
        }
        if let Phase::Finished { rounds } = self.phase
            && self.roster.workers.contains(&host)
        {
            return Err(Refusal::Finished { job, rounds });
        }
        match self.reported.get(&host) {
            Some((incarnation, before))
                if *incarnation == joining.incarnation && *before > joining.rounds =>
            {
                Err(Refusal::Backwards { host, before: *before, now: joining.rounds })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the host is a worker outside of a view in which a worker has done all its rounds: no
    /// rounds are left for it, and it is refused once the other workers are done, too.
    fn joins_too_late(&self, joining: &Joining) -> bool {
        let Joining { host, incarnation, .. } = joining;
        let is_in =
            |view: &super::View| view.member(host).is_some_and(|member| member.incarnation == *incarnation);
        let view = self.view.as_ref().filter(|view| view.done().is_some());
        self.roster.workers.contains(host) && view.is_some_and(|view| !is_in(view))
    }

    /// Lets another incarnation of a connected host wait until the first one is silent. Returns the answer
    /// if it must wait.
    fn contend(&mut self, now: Duration, joining: &Joining) -> Result<Option<Reply>, Refusal> {
        let Joining { host, incarnation, .. } = joining;
        let gone_after = self.timing.gone_after;
        let there = self.present.get(host).filter(|there| there.incarnation != *incarnation);
        let asked =
            there.map(|there| there.asked_at).filter(|asked_at| now.saturating_sub(*asked_at) < gone_after);
        let view = self.view.as_ref();
        let member =
            view.and_then(|view| view.member(host)).filter(|member| member.incarnation != *incarnation);
        let link = member.filter(|member| !member.has_left).map(|member| member.link);
        let is_connected = link == Some(Link::Connected);
        let may_view = is_connected
            || match link {
                Some(Link::NotYet) => view.is_some_and(|view| now < view.since + gone_after),
                Some(Link::Lost(since)) => now < since + gone_after,
                _ => false,
            };
        if asked.is_none() && !may_view {
            // The record of another incarnation stays while the first one asks: it is refused in time.
            self.forget_contender(host, *incarnation);
            return Ok(None);
        }
        let fresh = Contender { incarnation: *incarnation, since: now, asked_at: now };
        let contender = self.contenders.entry(host.clone()).or_insert(fresh);
        if contender.incarnation != *incarnation {
            *contender = fresh;
        }
        contender.asked_at = now;
        let since = contender.since;
        // A stopped process keeps its connection for two pings.
        let answers = asked.is_some_and(|asked| asked > since + gone_after) || is_connected;
        if answers && now.saturating_sub(since) >= 3 * gone_after {
            self.contenders.remove(host);
            return Err(Refusal::NameInUse { job: self.roster.job.clone(), host: host.clone() });
        }
        Ok(Some(Reply::Waiting(format!("an earlier {host} was active a moment ago"))))
    }

    /// Removes that incarnation from the contenders of a host.
    pub(super) fn forget_contender(&mut self, host: &str, incarnation: Incarnation) {
        if self.contenders.get(host).is_some_and(|contender| contender.incarnation == incarnation) {
            self.contenders.remove(host);
        }
    }

    /// Handles a host that has left its view: at the stop point, or else the view ends for all.
    fn on_left(&mut self, now: Duration, host: &str, incarnation: Incarnation, stop_point: Option<u32>) {
        let Some(view) = &mut self.view else { return };
        let Some(member) = view.members.iter_mut().find(|member| member.host == host) else { return };
        if member.has_left || matches!(member.link, Link::Done(_)) {
            return;
        }
        member.has_left = true;
        let is_server = !member.is_worker();
        let stop_point = stop_point.filter(|_| member.incarnation == incarnation);
        if let (Phase::Running, Some(tensor)) = (&self.phase, stop_point) {
            // The stop point was agreed on with an earlier controller.
            self.send(Ending::Agreed(tensor));
        }
        let is_orderly = stop_point.is_some() || is_server && matches!(self.phase, Phase::Leaving(_));
        self.begin_leaving(now, !is_orderly);
    }

    /// Starts to collect the members of the view; if it is broken, members are sent an immediate end.
    pub(super) fn begin_leaving(&mut self, now: Duration, is_broken: bool) {
        match &mut self.phase {
            Phase::Running | Phase::Bounded(_) => {
                self.phase = Phase::Leaving(Leaving { since: now, is_broken, servers: false });
            }
            Phase::Leaving(leaving) if is_broken && !leaving.is_broken => {
                (leaving.is_broken, leaving.since) = (true, now);
            }
            _ => return,
        }
        if is_broken {
            self.send(Ending::Now);
        }
    }
}
