//! The rendezvous of an elastic job: the controller's side.

use std::time::Duration;

use inart_controller::membership::{Formation, Joining, Membership, Order, Refusal, Reply};
use inart_wire::Incarnation;
use rand::Rng;

use super::orders::{Command, Pending};
use crate::simulation::Simulation;

impl Simulation<'_> {
    fn time(&self) -> Duration {
        Duration::from_nanos(self.wire.now)
    }

    /// Calls a function on a rendezvous, and carries out the orders that result.
    pub(super) fn at_rendezvous<T>(
        &mut self,
        job: usize,
        act: impl FnOnce(&mut Membership, Duration) -> T,
    ) -> Option<T> {
        let now = self.time();
        let meeting = self.daemon.jobs[job].meeting.as_mut()?;
        let done = act(&mut meeting.membership, now);
        let (orders, rounds) = (meeting.membership.orders(), meeting.membership.finished());
        if rounds.is_some() && !std::mem::replace(&mut meeting.is_done, true) {
            self.running -= 1;
            self.jobs[job].ended_at = Some(self.wire.now);
            self.daemon.queue.push_back(Command::Delete(job));
        }
        for order in orders {
            self.wire.log.note(self.wire.now, || format!("rendezvous: {order:?}"));
            match order {
                Order::Announce(ending) => {
                    self.daemon.jobs[job].instruction.ending = ending;
                    self.instruct_job(job);
                }
                Order::Form(formation) => {
                    self.check_formation(job, &formation);
                    self.daemon.queue.push_back(Command::Form(job, formation));
                }
            }
        }
        self.plan_tick(job);
        Some(done)
    }

    fn plan_tick(&mut self, job: usize) {
        let now = self.time();
        let Some(meeting) = &mut self.daemon.jobs[job].meeting else { return };
        let Some(at) = meeting.membership.deadline(now) else { return };
        let at = at.as_nanos() as u64;
        if meeting.tick_at.is_none_or(|planned| planned > at) {
            meeting.tick_at = Some(at);
            self.post_at(at, Pending::Tick(job));
        }
    }

    pub(super) fn tick(&mut self, job: usize) {
        let now = self.wire.now;
        let Some(meeting) = &mut self.daemon.jobs[job].meeting else { return };
        // Another one was planned for an earlier moment.
        if meeting.tick_at.is_none_or(|at| at > now) || meeting.is_done {
            return;
        }
        meeting.tick_at = None;
        self.at_rendezvous(job, Membership::tick);
    }

    /// Handles a host's request for a view.
    pub(super) fn join(&mut self, job: usize, joining: Joining) -> Option<Result<Reply, Refusal>> {
        self.at_rendezvous(job, |membership, now| membership.join(now, joining))
    }

    /// Handles that a host's connection opens or closes.
    pub(super) fn stream(&mut self, job: usize, role: String, incarnation: Incarnation, opens: bool) {
        let Some(meeting) = &mut self.daemon.jobs[job].meeting else { return };
        let count = meeting.streams.entry((role.clone(), incarnation.get())).or_insert(0);
        *count = if opens { *count + 1 } else { count.saturating_sub(1) };
        let open = *count;
        self.at_rendezvous(job, |membership, now| {
            let Some(host) = membership.host_in(&role).map(str::to_owned) else { return };
            match (opens, open) {
                (true, _) => membership.connected(now, &host, incarnation),
                (false, 0) => membership.disconnected(now, &host, incarnation),
                (false, _) => {}
            }
        });
    }

    /// Plans a view for the connected hosts.
    pub(super) fn plan_formation(&mut self, job: usize, formation: Formation) {
        let within = self.options.live.as_ref().map_or(0, |live| live.plans_within.0);
        let after = self.daemon.rng.random_range(0..=within);
        self.post_at(self.wire.now + 1 + after, Pending::Planned(job, formation));
    }
}
