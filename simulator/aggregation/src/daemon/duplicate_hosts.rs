//! Second hosts with a name that is in use, and hosts that are interrupted while they wait for a view.

use inart_controller::membership::{Formation, Joining, Refusal, Reply};
use inart_wire::Incarnation;

use super::member::At;
use super::orders::{DuplicateState, Pending};
use crate::simulation::Simulation;

/// Interval at which a waiting host repeats its request.
const ASK_AGAIN_NANOS: u64 = 1_000_000_000;
/// Number of requests of a duplicate host, with the first one present, after which it must have been refused:
/// refusal takes three times two seconds.
const MOST_ASKS: u32 = 10;
/// Delay before an interrupted host that does not wait for a view yet is checked again, until the end.
const LOOK_AGAIN_NANOS: u64 = 50_000_000;
const LOOKS: u32 = 400;

impl Simulation<'_> {
    /// Schedules duplicate hosts, interruptions, and usage checks.
    pub(super) fn plan_mishaps(&mut self) {
        let Some(live) = self.options.live.as_ref() else { return };
        for (number, double) in live.doubles.iter().enumerate() {
            self.post_at(double.at.0, Pending::Double(number, None));
        }
        for (number, interrupt) in live.interrupts.iter().enumerate() {
            self.post_at(interrupt.at.0, Pending::Interrupt(number, LOOKS));
        }
        for at in &live.looks {
            self.post_at(at.0, Pending::CheckUsage);
        }
    }

    /// Returns the newest elastic job of that name, if it exists.
    fn elastic_named(&self, name: &str) -> Option<usize> {
        let is_it = |job: &super::state::LiveJob| !job.is_removed && job.instruction.assignment.name == name;
        self.daemon.jobs.iter().rposition(is_it).filter(|job| self.daemon.is_elastic(*job))
    }

    /// Sends a duplicate host's request for a view.
    pub(super) fn ask_as_double(&mut self, number: usize, doubling: Option<DuplicateState>) {
        let Some(double) = self.options.live.as_ref().and_then(|live| live.doubles.get(number)) else {
            return;
        };
        let doubling = match doubling {
            Some(doubling) => Some(doubling),
            None => self.elastic_named(&double.job).and_then(|job| {
                // The first one has to be known: otherwise the duplicate counts as the first.
                let meeting = self.daemon.jobs[job].meeting.as_ref()?;
                let is_known = meeting.membership.waits(&double.host) || self.is_there(job, &double.host)?;
                is_known.then(|| DuplicateState {
                    job,
                    incarnation: self.new_incarnation(),
                    asked: 0,
                    asked_with_first: 0,
                })
            }),
        };
        let Some(DuplicateState { job, incarnation, asked, asked_with_first }) = doubling else { return };
        if self.daemon.jobs[job].is_removed {
            return;
        }
        let is_there = self.is_there(job, &double.host);
        let is_worker = self.is_worker(job, &double.host);
        let (last, stop_point, must_load_state) = (None, None, is_worker);
        let joining =
            Joining { host: double.host.clone(), incarnation, last, stop_point, rounds: 0, must_load_state };
        let asked_with_first = if is_there.is_some() { asked_with_first + 1 } else { 0 };
        match self.join(job, joining) {
            Some(Err(Refusal::NameInUse { .. })) => self.wire.tally.doubles_refused += 1,
            Some(Ok(Reply::Waiting(_))) if double.asks.is_some_and(|asks| asked + 1 >= asks) => {
                self.wire.tally.joins_interrupted += 1;
                self.has_left(job, &double.host, incarnation);
            }
            Some(Ok(Reply::Waiting(_))) if asked_with_first > MOST_ASKS => {
                self.complain(
                    job,
                    format!(
                        "a second {} has asked {asked_with_first} times and was not refused",
                        double.host
                    ),
                );
            }
            Some(Ok(Reply::Waiting(_))) => {
                let next = DuplicateState { job, incarnation, asked: asked + 1, asked_with_first };
                self.post_at(self.wire.now + ASK_AGAIN_NANOS, Pending::Double(number, Some(next)));
            }
            Some(Ok(Reply::Admitted(_))) if is_there.is_some() => {
                self.complain(job, format!("a second {} has replaced the first one", double.host));
            }
            Some(Ok(Reply::Admitted(_))) => self.has_left(job, &double.host, incarnation),
            // The job is done.
            Some(Err(_)) | None => {}
        }
    }

    /// Returns whether a host of that name runs, if it runs or waits for a view.
    fn is_there(&self, job: usize, host: &str) -> Option<bool> {
        let hosts = &self.daemon.jobs[job].meeting.as_ref()?.hosts;
        let member = hosts.iter().find(|member| member.name == host)?;
        match &member.at {
            At::Running(_) => Some(true),
            At::Asking(_) => Some(false),
            At::Dead | At::Done | At::Ended => None,
        }
    }

    fn is_worker(&self, job: usize, host: &str) -> bool {
        let meeting = self.daemon.jobs[job].meeting.iter();
        meeting.flat_map(|meeting| &meeting.hosts).any(|member| member.name == host && member.is_worker)
    }

    /// Handles that a host leaves while it waits for a view.
    fn has_left(&mut self, job: usize, host: &str, incarnation: Incarnation) {
        if let Some(meeting) = &mut self.daemon.jobs[job].meeting {
            meeting.left.insert((host.to_owned(), incarnation.get()));
        }
        self.at_rendezvous(job, |membership, now| membership.leave(now, host, incarnation, 0, false));
    }

    /// A host is interrupted, if it waits for a view.
    pub(super) fn interrupt(&mut self, number: usize, looks: u32) {
        let Some(interrupt) = self.options.live.as_ref().and_then(|live| live.interrupts.get(number)) else {
            return;
        };
        let Some(job) = self.elastic_named(&interrupt.job) else { return };
        let hosts = self.daemon.jobs[job].meeting.iter().flat_map(|meeting| &meeting.hosts);
        let member = hosts.into_iter().find(|member| member.name == interrupt.host);
        let Some((id, incarnation, waits)) =
            member.map(|member| (member.process, member.incarnation, matches!(member.at, At::Asking(_))))
        else {
            return;
        };
        if !waits {
            if looks > 0 {
                let at = self.wire.now + LOOK_AGAIN_NANOS;
                self.post_at(at, Pending::Interrupt(number, looks - 1));
            }
            return;
        }
        self.wire.tally.joins_interrupted += 1;
        if let Some(member) = self.member_mut(id) {
            (member.at, member.token) = (At::Dead, member.token + 1);
        }
        self.has_left(job, &interrupt.host, incarnation);
        if let Some(again) = interrupt.again {
            self.post_at(self.wire.now + again.0, Pending::Revive(id));
        }
    }

    /// Checks that no view is formed with a host that has left.
    pub(super) fn check_formation(&mut self, job: usize, formation: &Formation) {
        let Some(meeting) = &self.daemon.jobs[job].meeting else { return };
        let mut all = formation.workers.iter().chain(&formation.servers);
        let left = all.find(|(host, incarnation)| meeting.left.contains(&(host.clone(), incarnation.get())));
        if let Some((host, _)) = left {
            let what = format!("a view is formed with {host}, which has left");
            self.complain(job, what);
        }
    }
}
