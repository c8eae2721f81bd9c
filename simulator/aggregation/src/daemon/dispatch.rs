//! Event dispatch in a run with changing jobs: messages and timers.

use rand::Rng;

use super::orders::{Command, Pending};
use crate::Error;
use crate::event_queue::{EventKind, ProcessId};
use crate::live::LiveChange;
use crate::simulation::{Node, Simulation};

/// Delay before a paused host is checked again.
const LOOK_AGAIN_NANOS: u64 = 5_000_000;

impl Simulation<'_> {
    /// Schedules the requests to the daemon.
    pub(crate) fn plan_live(&mut self) {
        let Some(live) = &self.options.live else { return };
        self.daemon.to_come = live.events.len();
        for (index, event) in live.events.iter().enumerate() {
            self.post_at(event.at.0, Pending::Event(index));
        }
        self.plan_mishaps();
    }

    pub(super) fn post_at(&mut self, at: u64, pending: Pending) {
        let daemon = &mut self.daemon;
        daemon.pending.push(Some(pending));
        let number = daemon.pending.len() as u32 - 1;
        self.wire.events.at(at.max(self.wire.now + 1), EventKind::Live(number));
    }

    /// A message that takes its time.
    pub(super) fn post(&mut self, pending: Pending) {
        let within = self.options.live.as_ref().map_or(0, |live| live.notify_within.0);
        self.post_within(within, pending);
    }

    pub(super) fn post_within(&mut self, within: u64, pending: Pending) {
        let after = self.daemon.rng.random_range(0..=within);
        self.post_at(self.wire.now + 1 + after, pending);
    }

    /// Returns whether the host of a process is paused.
    pub(super) fn is_still(&self, id: ProcessId) -> bool {
        let host = self.processes[id.0 as usize].host;
        matches!(&self.nodes[host], Node::Host(host) if host.paused > 0)
    }

    /// Handles a scheduled event.
    pub(crate) fn live(&mut self, number: u32) -> Result<(), Error> {
        let Some(pending) = self.daemon.pending[number as usize].take() else { return Ok(()) };
        match &pending {
            Pending::Ask(id, _) | Pending::Receive(id, _) | Pending::Computed(id, _)
                if self.is_still(*id) =>
            {
                self.post_at(self.wire.now + LOOK_AGAIN_NANOS, pending);
                return Ok(());
            }
            _ => {}
        }
        match pending {
            Pending::Event(index) => self.happen(index),
            Pending::Tick(job) => self.tick(job),
            Pending::Ask(id, token) => self.ask_for_run(id, token)?,
            Pending::Receive(id, incarnation) => self.on_instruction(id, incarnation),
            Pending::Answered(id, answered) => self.answered(id, answered),
            Pending::Stream { job, role, incarnation, opens } => self.stream(job, role, incarnation, opens),
            Pending::Leaves { job, host, incarnation, rounds } => {
                self.at_rendezvous(job, |membership, now| {
                    membership.leave(now, &host, incarnation, rounds, true)
                });
            }
            Pending::Computed(id, token) => self.computed(id, token),
            Pending::Lingered(id, token) => self.lingered(id, token),
            Pending::Planned(job, formation) => self.form(job, &formation)?,
            Pending::Proceed => {}
            Pending::Limit(work) => self.time_is_up(work)?,
            Pending::Double(number, doubling) => self.ask_as_double(number, doubling),
            Pending::Interrupt(number, looks) => self.interrupt(number, looks),
            Pending::Revive(id) => self.revive_member(id),
            Pending::CheckUsage => self.begin_usage_check(),
            Pending::EndUsageCheck => self.end_usage_check(),
        }
        self.proceed()
    }

    fn happen(&mut self, index: usize) {
        self.daemon.to_come -= 1;
        let Some(event) = self.options.live.as_ref().and_then(|live| live.events.get(index)) else { return };
        let (name, what) = (event.job.clone(), event.what);
        self.wire.log.note(self.wire.now, || format!("requested: {what:?} job {name}"));
        // The newest of that name, if it was submitted again.
        let found = self
            .daemon
            .jobs
            .iter()
            .rposition(|job| !job.is_removed && job.instruction.assignment.name == name);
        match (what, found) {
            (LiveChange::Submit, None) => self.daemon.queue.push_back(Command::Submit(name)),
            (LiveChange::Move, Some(job)) => self.daemon.queue.push_back(Command::Move(job, None)),
            (LiveChange::Delete, Some(job)) if self.daemon.is_elastic(job) => {
                self.daemon.queue.push_back(Command::Delete(job));
            }
            (LiveChange::Pause, Some(job)) => {
                self.wire.tally.pauses_of_jobs += u64::from(self.daemon.is_elastic(job));
                self.at_rendezvous(job, |membership, now| membership.pause(now));
                self.set_paused(job, true);
            }
            (LiveChange::Resume, Some(job)) => {
                self.at_rendezvous(job, |membership, now| membership.resume(now));
                self.set_paused(job, false);
            }
            _ => {}
        }
    }

    fn set_paused(&mut self, job: usize, is_paused: bool) {
        if let Some(meeting) = &mut self.daemon.jobs[job].meeting {
            meeting.is_paused = is_paused;
        }
    }
}
