//! Hosts that ask for a run.

use std::time::Duration;

use inart_wire::{Epoch, Incarnation};

use super::run::{Link, Seat};
use super::{Attendance, Ending, Leaving, Membership, Phase};

/// What a host says that asks for a run. It asks again and again until it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Its name in the topology.
    pub host: String,
    /// Its life: another one for each process.
    pub life: Incarnation,
    /// The run that it was in last, if any.
    pub last: Option<Epoch>,
    /// The tensor before which it left that run, if all had agreed on it; else it left in the middle of one.
    pub boundary: Option<u32>,
    /// Of a worker, how many rounds are in the state that it holds.
    pub rounds: u64,
    /// Of a worker, whether it still has to load the state of another one.
    pub loading: bool,
}

/// The answer to a host that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Its run has begun.
    Seated(Seat),
    /// It is to ask again, within [`Timing::gone_after`](super::Timing::gone_after). This is what is waited
    /// for, in words.
    Waiting(String),
}

/// Why a host cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The job has no such host.
    #[error("job {job} has no host {host}: give one of {hosts}")]
    Stranger {
        /// The job.
        job: String,
        /// What was asked for.
        host: String,
        /// Those that it has.
        hosts: String,
    },
    /// A host must have a life to be told from itself after a restart.
    #[error("{host} tells incarnation 0, by which nobody can be told apart: give another one")]
    NoLife {
        /// The host.
        host: String,
    },
    /// There is another host of that name.
    #[error("another {host} of job {job} is there, and it answers: stop one of the two")]
    Taken {
        /// The job.
        job: String,
        /// The host.
        host: String,
    },
    /// The host contradicts itself.
    #[error("{host} has told {before} completed rounds before, and tells {now}: start it again")]
    Backwards {
        /// The host.
        host: String,
        /// What it said.
        before: u64,
        /// What it says.
        now: u64,
    },
    /// The job is done.
    #[error(
        "job {job} is done after {rounds} rounds: to run it again, start the controller with --new-epoch, and all hosts"
    )]
    Finished {
        /// The job.
        job: String,
        /// Its rounds.
        rounds: u64,
    },
}

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

    /// Another life of a host that is there waits until the first one is silent; for how long, if it has to.
    fn contend(&mut self, now: Duration, joining: &Joining) -> Result<Option<Reply>, Refusal> {
        let Joining { host, life, .. } = joining;
        let is_other = |other: Incarnation| other != *life;
        let waits = self.present.get(host).is_some_and(|there| {
            is_other(there.life) && now.saturating_sub(there.heard) < self.timing.gone_after
        });
        let member = self.run.as_ref().and_then(|run| run.member(host));
        let runs = member.is_some_and(|member| {
            let is_there = match member.link {
                Link::Connected => true,
                Link::NotYet => self.run.as_ref().is_some_and(|run| now < run.since + self.timing.gone_after),
                Link::Lost(since) => now < since + self.timing.gone_after,
                Link::Gone | Link::Done(_) => false,
            };
            is_other(member.life) && !member.has_left && is_there
        });
        if !waits && !runs {
            self.contenders.remove(host);
            return Ok(None);
        }
        let (contender, since) = self.contenders.entry(host.clone()).or_insert((*life, now));
        if *contender != *life {
            (*contender, *since) = (*life, now);
        }
        if now.saturating_sub(*since) >= 2 * self.timing.gone_after {
            self.contenders.remove(host);
            return Err(Refusal::Taken { job: self.roster.job.clone(), host: host.clone() });
        }
        Ok(Some(Reply::Waiting(format!("an earlier {host} was heard of a moment ago"))))
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
