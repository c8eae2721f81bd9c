//! Hosts that ask for a run.

use std::time::Duration;

use inart_controller_api::Ending;
use inart_wire::Incarnation;

use super::Membership;
use super::joining::{Joining, Refusal, Reply};
use super::phase::{Attendance, Contender, Leaving, Phase};
use super::run::Link;

impl Membership {
    /// A host asks for a run, for the first time or again.
    ///
    /// # Errors
    /// Why it cannot take part.
    pub fn join(&mut self, now: Duration, joining: Joining) -> Result<Reply, Refusal> {
        self.check(&joining)?;
        if let Some(wait) = self.contend(now, &joining)? {
            return Ok(wait);
        }
        if self.comes_too_late(&joining) {
            self.advance(now);
            return self.check(&joining).map(|()| Reply::Waiting(self.awaited()));
        }
        let Joining { host, life, last, boundary, rounds, loading } = joining;
        self.told.insert(host.clone(), (life, rounds));
        // It may not have heard the answer before.
        let number = self.run.as_ref().map(|run| run.number);
        let is_done =
            self.run.as_ref().and_then(|run| run.member(&host)).is_none_or(|member| member.has_left);
        if let Some(seat) = self.run.as_ref().and_then(|run| run.seat(&host, life))
            && !is_done
            && last != number
            && matches!(self.phase, Phase::Running | Phase::Bounded(_))
        {
            return Ok(Reply::Seated(seat));
        }
        let is_first = self.present.is_empty() && self.run.is_none();
        self.present.insert(host.clone(), Attendance { life, rounds, loading, heard: now });
        if let Phase::Gathering { until } = &mut self.phase
            && is_first
            && *until == Duration::MAX
        {
            *until = now + self.timing.gather_within;
        }
        self.left(now, &host, life, boundary);
        self.advance(now);
        Ok(match self.run.as_ref().and_then(|run| run.seat(&host, life)) {
            Some(seat) if matches!(self.phase, Phase::Running) => Reply::Seated(seat),
            _ => Reply::Waiting(self.awaited()),
        })
    }

    fn check(&self, joining: &Joining) -> Result<(), Refusal> {
        let (host, job) = (joining.host.clone(), self.roster.job.clone());
        if !self.roster.hosts().any(|listed| listed == host) {
            let hosts = self.roster.hosts().collect::<Vec<_>>().join(", ");
            return Err(Refusal::Stranger { job, host, hosts });
        }
        if joining.life == Incarnation::UNKNOWN {
            return Err(Refusal::NoLife { host });
        }
        if let Phase::Finished { rounds } = self.phase
            && self.roster.workers.contains(&host)
        {
            return Err(Refusal::Finished { job, rounds });
        }
        match self.told.get(&host) {
            Some((life, before)) if *life == joining.life && *before > joining.rounds => {
                Err(Refusal::Backwards { host, before: *before, now: joining.rounds })
            }
            _ => Ok(()),
        }
    }

    /// Whether it is a worker that was not in the run of which a worker has done all its rounds: there is
    /// nothing left for it to do, and it is refused once the others are done, too.
    fn comes_too_late(&self, joining: &Joining) -> bool {
        let Joining { host, life, .. } = joining;
        let is_in = |run: &super::Run| run.member(host).is_some_and(|member| member.life == *life);
        let run = self.run.as_ref().filter(|run| run.done().is_some());
        self.roster.workers.contains(host) && run.is_some_and(|run| !is_in(run))
    }

    /// Another life of a host that is there waits until the first one is silent; for how long, if it has to.
    fn contend(&mut self, now: Duration, joining: &Joining) -> Result<Option<Reply>, Refusal> {
        let Joining { host, life, .. } = joining;
        let gone_after = self.timing.gone_after;
        let there = self.present.get(host).filter(|there| there.life != *life);
        let asked = there.map(|there| there.heard).filter(|heard| now.saturating_sub(*heard) < gone_after);
        let run = self.run.as_ref();
        let member = run.and_then(|run| run.member(host)).filter(|member| member.life != *life);
        let link = member.filter(|member| !member.has_left).map(|member| member.link);
        let is_connected = link == Some(Link::Connected);
        let may_run = is_connected
            || match link {
                Some(Link::NotYet) => run.is_some_and(|run| now < run.since + gone_after),
                Some(Link::Lost(since)) => now < since + gone_after,
                _ => false,
            };
        if asked.is_none() && !may_run {
            // The record of another life stays while the first one asks: it is refused in time.
            self.forget_contender(host, *life);
            return Ok(None);
        }
        let fresh = Contender { life: *life, since: now, heard: now };
        let contender = self.contenders.entry(host.clone()).or_insert(fresh);
        if contender.life != *life {
            *contender = fresh;
        }
        contender.heard = now;
        let since = contender.since;
        // A process that stands still keeps its connection for two pings.
        let answers = asked.is_some_and(|asked| asked > since + gone_after) || is_connected;
        if answers && now.saturating_sub(since) >= 3 * gone_after {
            self.contenders.remove(host);
            return Err(Refusal::Taken { job: self.roster.job.clone(), host: host.clone() });
        }
        Ok(Some(Reply::Waiting(format!("an earlier {host} was active a moment ago"))))
    }

    /// That life of a host contends no more.
    pub(super) fn forget_contender(&mut self, host: &str, life: Incarnation) {
        if self.contenders.get(host).is_some_and(|contender| contender.life == life) {
            self.contenders.remove(host);
        }
    }

    /// A host that asks has left the run that it was in: at the boundary, or else the run is over for all.
    fn left(&mut self, now: Duration, host: &str, life: Incarnation, boundary: Option<u32>) {
        let Some(run) = &mut self.run else { return };
        let Some(member) = run.members.iter_mut().find(|member| member.host == host) else { return };
        if member.has_left || matches!(member.link, Link::Done(_)) {
            return;
        }
        member.has_left = true;
        let is_server = !member.is_worker();
        let boundary = boundary.filter(|_| member.life == life);
        if let (Phase::Running, Some(tensor)) = (&self.phase, boundary) {
            // It was agreed on with an earlier controller.
            self.tell(Ending::Agreed(tensor));
        }
        let is_orderly = boundary.is_some() || is_server && matches!(self.phase, Phase::Leaving(_));
        self.begin_leaving(now, !is_orderly);
    }

    /// The members of the run come back from now on; those that are in the middle of it are told to, if
    /// it is broken.
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
            self.tell(Ending::Now);
        }
    }
}
