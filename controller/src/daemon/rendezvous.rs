//! Rendezvous of elastic jobs in the daemon: messages of hosts are its events, and its orders go to hosts,
//! or to the task that installs plans.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use inart_controller_api::{Role, ViewMembership};
use inart_protocol_aggregation::Assignment;
use inart_wire::{Incarnation, JobId, PlanVersion, Rank};
use tokio::time::{sleep, timeout};

use super::change_log::Command;
use super::meeting::{Answered, EndingAnswer, Rendezvous};
use super::state::State;
use crate::api::proto;
use crate::membership::{
    Joining, Member, MemberRole, MemberState, Membership, MembershipStatus, Order, Refusal, Reply, Roster,
    Timing,
};
use crate::records::JobRecord;

/// Interval of checks of deadlines without events.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Time of the next check of all rendezvous. Events do not postpone it: a deadline that has passed is no
/// longer among the deadlines.
#[derive(Debug, Default)]
struct Ticks {
    /// Time on the clock of all rendezvous.
    due: Option<Duration>,
}

impl Ticks {
    /// Returns how long to wait for an event at `now`, with `next` as the next deadline; `None` if the
    /// check is due.
    fn wait(&mut self, now: Duration, next: Option<Duration>) -> Option<Duration> {
        let next = next.map_or(now + CHECK_INTERVAL, |at| at.min(now + CHECK_INTERVAL));
        let due = self.due.map_or(next, |due| due.min(next));
        self.due = Some(due).filter(|due| *due > now);
        self.due.map(|due| due - now)
    }
}

impl State {
    fn rendezvous(&self) -> MutexGuard<'_, Rendezvous> {
        self.elastic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers an elastic job with its roster. Hosts that have run under the active plan are members of
    /// its view.
    pub(super) fn attend(
        &self,
        job: JobId,
        roster: Roster,
        timing: Timing,
        record: Option<&JobRecord>,
        assignment: &Assignment,
    ) {
        let mut rendezvous = self.rendezvous();
        let now = rendezvous.started.elapsed();
        let mut membership = Membership::new(roster.clone(), timing);
        let members: Vec<_> = record.map(|record| members(record, assignment)).unwrap_or_default();
        if !members.is_empty() {
            tracing::info!(job = roster.job, members = members.len(), "view of elastic job resumed");
            membership.adopt(now, assignment.plan_version, members);
        }
        rendezvous.jobs.insert(job, membership);
        rendezvous.rosters.insert(job, roster);
    }

    /// Applies an event to a job's rendezvous and carries out its orders. Returns `None` for jobs that are
    /// not elastic.
    pub(super) fn at_rendezvous<T>(
        &self,
        job: JobId,
        act: impl FnOnce(&mut Membership, Duration) -> T,
    ) -> Option<T> {
        let mut rendezvous = self.rendezvous();
        let now = rendezvous.started.elapsed();
        let membership = rendezvous.jobs.get_mut(&job)?;
        let done = act(membership, now);
        let (orders, should_release) = (membership.orders(), membership.should_release());
        let was_ordered = !orders.is_empty();
        for order in orders {
            tracing::info!(job = membership.status().job, ?order, "rendezvous");
            match order {
                Order::Announce(ending) => self.send_ending(job, ending),
                Order::Form(formation) => {
                    // After the end of the daemon no task carries this out, and no host gets instructions.
                    let _ = self.commands.send(Command::Form { job, formation });
                }
            }
        }
        if should_release {
            let _ = self.commands.send(Command::Release { job });
        }
        drop(rendezvous);
        self.rendezvous_changed.notify_one();
        if was_ordered {
            self.met.notify_waiters();
        }
        Some(done)
    }

    /// Checks all rendezvous after deadlines and events, forever.
    pub(super) async fn watch_rendezvous(&self) -> Infallible {
        let mut ticks = Ticks::default();
        loop {
            let (jobs, wait) = {
                let rendezvous = self.rendezvous();
                let now = rendezvous.started.elapsed();
                let next = rendezvous.jobs.values().filter_map(|membership| membership.deadline(now)).min();
                (rendezvous.jobs.keys().copied().collect::<Vec<_>>(), ticks.wait(now, next))
            };
            if jobs.is_empty() {
                sleep(CHECK_INTERVAL).await;
                continue;
            }
            match wait {
                // An event may bring an earlier deadline, which is then used.
                Some(wait) => drop(timeout(wait, self.rendezvous_changed.notified()).await),
                None => {
                    for job in jobs {
                        self.at_rendezvous(job, Membership::tick);
                    }
                }
            }
        }
    }

    /// Returns the number of an elastic job by its name (an empty name selects the only job), and the name
    /// of its host by name or position.
    pub(crate) fn elastic_host(&self, job: &str, host: &str) -> Option<Result<(JobId, String), String>> {
        let current = match self.current(job)? {
            Ok(current) => current,
            Err(why) => return Some(Err(why)),
        };
        let assignment = current.instruction.assignment;
        let rendezvous = self.rendezvous();
        Some(match rendezvous.rosters.get(&assignment.job) {
            Some(roster) => Ok((assignment.job, roster.host(host).unwrap_or(host).to_owned())),
            None => Err(format!(
                "job {} is not elastic: its hosts claim their roles; write `elastic: true` at the job in \
                 the topology, or \
                 start the host without that",
                assignment.name
            )),
        })
    }

    /// Returns whether a job is elastic.
    pub(crate) fn is_elastic(&self, job: JobId) -> bool {
        self.rendezvous().jobs.contains_key(&job)
    }

    /// Returns how often a host of an elastic job has left.
    pub(crate) fn leaves(&self, job: JobId, host: &str) -> u64 {
        self.rendezvous().jobs.get(&job).map_or(0, |membership| membership.leaves(host))
    }

    /// Handles a host's request for a view.
    ///
    /// `leaves` is how often the host had left when it asked. If it has left since, it no longer waits for an
    /// answer.
    pub(crate) fn join(
        &self,
        job: JobId,
        joining: Joining,
        leaves: u64,
    ) -> Option<Result<Answered, Refusal>> {
        let replied = self.at_rendezvous(job, |membership, now| {
            if membership.leaves(&joining.host) != leaves {
                return Ok(Reply::Waiting("this host has left the job".to_owned()));
            }
            let (waited, request) = (membership.waits(&joining.host), joining.clone());
            let replied = membership.join(now, joining);
            if !waited && membership.waits(&request.host) {
                let Joining { host, rounds, stop_point, .. } = request;
                let last = request.last.map(PlanVersion::get);
                tracing::info!(job = job.get(), host, last, stop_point, rounds, "host joined");
            }
            if let Err(why) = &replied {
                tracing::warn!(job = job.get(), "host refused: {why}");
            }
            replied
        })?;
        Some(replied.map(|reply| match reply {
            Reply::Waiting(why) => Answered::Waiting(why),
            Reply::Admitted(membership) => match self.assigned(job) {
                Some(assignment) => Answered::Admitted(membership_of(membership, assignment)),
                None => Answered::Waiting("the plans are not installed".to_owned()),
            },
        }))
    }

    /// Ends the view of an elastic job, by its name, at a stop point until it is resumed; or resumes it.
    /// Returns `None` before the plans are installed.
    pub(crate) fn set_paused(&self, job: &str, paused: bool) -> Option<Result<(), String>> {
        let assignment = match self.current(job)? {
            Ok(current) => current.instruction.assignment,
            Err(why) => return Some(Err(why)),
        };
        tracing::info!(job = assignment.name, paused, "requested");
        let done = self.at_rendezvous(assignment.job, |membership, now| match paused {
            true => membership.pause(now),
            false => membership.resume(now),
        });
        self.met.notify_waiters();
        Some(done.ok_or_else(|| {
            format!(
                "job {} is not elastic, and only elastic jobs can be paused; write `elastic: true` at the job in the topology",
                assignment.name
            )
        }))
    }

    /// Returns whether an elastic job is paused and has no view.
    pub(super) fn is_paused(&self, job: JobId) -> bool {
        self.rendezvous().jobs.get(&job).is_some_and(Membership::is_released)
    }

    /// Describes a member of an elastic job's view that is absent from it. Returns `None` if all are
    /// connected, or if the job is not elastic.
    pub(super) fn absent(&self, job: JobId) -> Option<String> {
        let members = self.rendezvous().jobs.get(&job)?.status().members;
        let is_absent =
            |state| matches!(state, MemberState::Disconnected | MemberState::Back | MemberState::Ended);
        let absent = members.into_iter().find(|(_, _, state)| is_absent(*state));
        absent.map(|(host, place, state)| format!("{host} ({place}) is {}", state.name()))
    }

    /// Removes the rendezvous of a job.
    pub(super) fn disband(&self, job: JobId) {
        let mut rendezvous = self.rendezvous();
        rendezvous.jobs.remove(&job);
        rendezvous.rosters.remove(&job);
        drop(rendezvous);
        self.met.notify_waiters();
    }

    /// Handles a host that leaves.
    pub(crate) fn leave(&self, job: JobId, host: &str, incarnation: Incarnation, rounds: u64, done: bool) {
        self.at_rendezvous(job, |membership, now| membership.leave(now, host, incarnation, rounds, done));
        self.met.notify_waiters();
    }

    /// Reports that a view was installed, or why not.
    pub(super) fn formed(&self, job: JobId, outcome: Result<PlanVersion, String>) {
        self.at_rendezvous(job, |membership, now| membership.formed(now, outcome));
        self.met.notify_waiters();
    }

    /// Notes that a member's instruction stream was opened or closed.
    pub(crate) fn stream(&self, job: JobId, role: &str, incarnation: Incarnation, opens: bool) {
        let open = {
            let mut rendezvous = self.rendezvous();
            let count = rendezvous.streams.entry((job, role.to_owned(), incarnation.get())).or_insert(0);
            *count = if opens { *count + 1 } else { count.saturating_sub(1) };
            let open = *count;
            rendezvous.streams.retain(|_, count| *count > 0);
            open
        };
        self.at_rendezvous(job, |membership, now| {
            let Some(host) = membership.host_in(role).map(str::to_owned) else { return };
            match (opens, open) {
                (true, _) => membership.connected(now, &host, incarnation),
                (false, 0) => membership.disconnected(now, &host, incarnation),
                (false, _) => {}
            }
        });
    }

    /// Returns the jobs and roles of hosts that have a connection to the daemon.
    pub(super) fn open_streams(&self) -> BTreeSet<(JobId, String)> {
        self.rendezvous().streams.keys().map(|(job, role, _)| (*job, role.clone())).collect()
    }

    /// Handles a member's answer to an ending of its view.
    pub(super) fn on_ending_answer(
        &self,
        job: JobId,
        role: &str,
        incarnation: Incarnation,
        said: EndingAnswer,
    ) {
        self.at_rendezvous(job, |membership, now| {
            if let Some(host) = membership.host_in(role).map(str::to_owned) {
                membership.answered(now, &host, incarnation, said.ending, said.started, said.is_holding);
            }
        });
    }

    /// Returns all rendezvous for the API.
    pub(super) fn all_rendezvous(&self) -> BTreeMap<JobId, proto::Rendezvous> {
        self.rendezvous()
            .jobs
            .iter()
            .map(|(job, membership)| (*job, status_of(membership.status())))
            .collect()
    }
}

/// Converts a job's rendezvous for the API.
fn status_of(MembershipStatus { view, phase, members, waiting, .. }: MembershipStatus) -> proto::Rendezvous {
    let member = |(host, place, state): (String, MemberRole, MemberState)| proto::Member {
        host,
        role: place.to_string(),
        state: state.name().to_owned(),
    };
    proto::Rendezvous {
        view: view.map(|view| view.get().into()),
        phase,
        members: members.into_iter().map(member).collect(),
        waiting,
    }
}

/// Returns the hosts that have run under the active plan, from the records.
fn members(record: &JobRecord, assignment: &Assignment) -> Vec<Member> {
    let workers = assignment.workers.iter().map(|worker| &worker.name).enumerate();
    let workers = workers.map(|(rank, name)| (name, MemberRole::Worker(rank)));
    let servers = assignment.shards.iter().map(|shard| &shard.server).enumerate();
    let servers = servers.map(|(shard, name)| (name, MemberRole::Server(shard)));
    let member = |(name, place): (&String, MemberRole)| {
        let incarnation = record.claimed.incarnation(&place.to_string())?;
        Some(Member::new(name.clone(), incarnation, place))
    };
    workers.chain(servers).filter_map(member).collect()
}

fn membership_of(membership: crate::membership::ViewMembership, assignment: Assignment) -> ViewMembership {
    let rank = |rank: usize| Rank::try_from(rank).expect("a view has no more workers than there are ranks");
    let role = match membership.place {
        MemberRole::Worker(worker) => Role::Worker(rank(worker)),
        MemberRole::Server(shard) => {
            Role::Server(u16::try_from(shard).expect("a view has no more servers than shard numbers").into())
        }
    };
    ViewMembership {
        assignment,
        view: membership.view,
        role,
        newest: rank(membership.newest),
        rounds: membership.rounds,
        must_load_state: membership.must_load_state,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins of many hosts can be less than a timer's millisecond apart.
    #[test]
    fn events_do_not_put_off_a_tick() {
        let (mut ticks, mut looked) = (Ticks::default(), vec![]);
        let deadline = Duration::from_micros(2500);
        for at in (0..1200).map(Duration::from_millis) {
            let next = Some(deadline).filter(|deadline| *deadline > at);
            if ticks.wait(at, next).is_none() {
                looked.push(at);
            }
        }
        let at = |ms| Duration::from_millis(ms);
        assert_eq!(looked, [at(3), at(504), at(1005)]);
    }
}
