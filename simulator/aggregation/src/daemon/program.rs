//! Hosts of elastic jobs: the equivalent of `inart_elastic`'s threads and sockets, in virtual time.

use inart_controller::membership::{Joining, MemberRole, Refusal, Reply, ViewMembership};
use inart_elastic::{Gate, LeaveReason, NewestState, digits};
use inart_protocol_aggregation::{Failure, Instant};
use inart_wire::{PlanVersion, Rank, ShardId};

use super::audit::{What, digest};
use super::member::{Activity, At, Member, Running, Sum};
use super::orders::Pending;
use crate::Error;
use crate::event_queue::ProcessId;
use crate::host::{Process, Role};
use crate::simulation::Simulation;

/// Longest time until a waiting host repeats its request.
const ASK_AGAIN_NANOS: u64 = 1_000_000_000;
/// Time for which a server's host reports an aborted view to workers.
const LINGER_NANOS: u64 = 2_000_000_000;

impl Simulation<'_> {
    pub(super) fn member(&self, id: ProcessId) -> Option<&Member> {
        let job = self.daemon.jobs.get(self.processes[id.0 as usize].job)?;
        job.meeting.as_ref()?.hosts.iter().find(|member| member.process == id)
    }

    pub(super) fn member_mut(&mut self, id: ProcessId) -> Option<&mut Member> {
        let job = self.processes[id.0 as usize].job;
        self.daemon.jobs.get_mut(job)?.member_mut(id)
    }

    fn running_mut(&mut self, id: ProcessId) -> Option<&mut Running> {
        match &mut self.member_mut(id)?.at {
            At::Running(running) => Some(running),
            _ => None,
        }
    }

    /// Returns whether it is a worker with a tensor in flight.
    fn is_summing(&self, id: ProcessId) -> bool {
        let running = self.member(id).map(|member| &member.at);
        matches!(running, Some(At::Running(running)) if matches!(running.activity, Activity::Summing(_)))
    }

    /// Schedules a host's next request for a view.
    pub(super) fn plan_ask(&mut self, id: ProcessId, within: u64) {
        let Some(member) = self.member_mut(id) else { return };
        member.token += 1;
        let token = member.token;
        self.post_within(within, Pending::Ask(id, token));
    }

    /// Asks for a view and handles the answer.
    pub(super) fn ask_for_run(&mut self, id: ProcessId, token: u32) -> Result<(), Error> {
        let job = self.processes[id.0 as usize].job;
        let is_removed = self.daemon.jobs[job].is_removed;
        let Some(member) = self.member_mut(id).filter(|member| member.token == token) else { return Ok(()) };
        let At::Asking(last) = &member.at else { return Ok(()) };
        if is_removed {
            member.at = At::Ended;
            return Ok(());
        }
        let stop_point = last.as_ref().and_then(|(_, left)| match left {
            LeaveReason::StopPoint(tensor) => Some(*tensor),
            LeaveReason::Ordered | LeaveReason::Aborted(_) => None,
        });
        let joining = Joining {
            host: member.name.clone(),
            incarnation: member.incarnation,
            last: last.as_ref().map(|(view, _)| *view),
            stop_point,
            rounds: if member.is_worker { member.progress.rounds() } else { 0 },
            must_load_state: member.is_worker && member.progress.must_load_state(),
        };
        match self.join(job, joining) {
            None | Some(Ok(Reply::Waiting(_))) => self.plan_ask(id, ASK_AGAIN_NANOS),
            Some(Ok(Reply::Admitted(membership))) => self.begin_view(id, &membership)?,
            Some(Err(Refusal::Finished { .. })) => {
                let Some(member) = self.member_mut(id) else { return Ok(()) };
                member.at = At::Dead;
            }
            Some(Err(refusal)) => self.complain(job, format!("a host is refused: {refusal}")),
        }
        Ok(())
    }

    /// Records a violation.
    pub(super) fn complain(&mut self, job: usize, what: String) {
        let name = &self.assignments[job].name;
        self.wire.log.note(self.wire.now, || format!("job {name}: {what}"));
        self.daemon.problem.get_or_insert_with(|| format!("job {name}: {what}"));
    }

    /// Starts a host's view.
    fn begin_view(&mut self, id: ProcessId, membership: &ViewMembership) -> Result<(), Error> {
        let Process { job, host, .. } = self.processes[id.0 as usize];
        let (instruction, timeout) = (self.daemon.jobs[job].instruction.clone(), self.options.peer_timeout);
        let Some(member) = self.member_mut(id) else { return Ok(()) };
        let (incarnation, place) = (member.incarnation, membership.place);
        let has_more = member.is_worker
            && !member.progress.must_load_state()
            && member.progress.rounds() > membership.rounds;
        let last = match std::mem::replace(&mut member.at, At::Ended) {
            At::Asking(last) => last,
            _ => None,
        };
        let newest = Rank::try_from(membership.newest as u16).map_err(|_| Error::Ranks)?;
        let newest_state =
            NewestState { newest, rounds: membership.rounds, must_load_state: membership.must_load_state };
        let sum = match last {
            Some((_, left)) => match member.progress.enter_next_view(newest_state, left) {
                true => Sum::Load,
                false => Sum::Gradient,
            },
            None => {
                member.progress.begin(newest_state);
                Sum::Load
            }
        };
        let running = Running {
            view: instruction.view,
            plan_version: membership.view,
            gate: Gate::default(),
            place,
            newest: membership.newest,
            activity: Activity::Else,
            started: 0,
            what: None,
            lingers: false,
        };
        member.at = At::Running(Box::new(running));
        self.processes[id.0 as usize] = match place {
            MemberRole::Worker(rank) => {
                let rank = Rank::try_from(rank as u16).map_err(|_| Error::Ranks)?;
                Process::worker(
                    &instruction.assignment,
                    job,
                    host,
                    rank,
                    incarnation,
                    (timeout, self.handling()),
                )?
            }
            MemberRole::Server(shard) => {
                let shard = ShardId::from(shard as u16);
                Process::server(&instruction.assignment, job, host, shard, incarnation, (timeout, false))?
            }
        };
        if has_more {
            self.complain(job, format!("a worker has more rounds than the newest: {membership:?}"));
        }
        self.post(Pending::Stream { job, role: place.to_string(), incarnation, opens: true });
        self.post(Pending::Receive(id, incarnation));
        if matches!(place, MemberRole::Worker(_)) {
            if sum == Sum::Load {
                self.begin_load(id);
            }
            self.sum(id, sum);
        }
        self.pump(id);
        Ok(())
    }

    /// The program takes notice, and is about to load the newest state.
    fn begin_load(&mut self, id: ProcessId) {
        let Some(member) = self.member_mut(id) else { return };
        member.progress.take_notice();
        member.progress.begin_load();
    }

    /// A worker starts its next tensor, if it may.
    fn sum(&mut self, id: ProcessId, sum: Sum) {
        let now = Instant::from_nanos(self.wire.now);
        let Some(member) = self.member_mut(id) else { return };
        if sum == Sum::Gradient {
            member.progress.settle();
        }
        let (rounds, state) = (member.progress.rounds(), digest(&member.state));
        let At::Running(running) = &mut member.at else { return };
        match running.gate.start() {
            Err(left) => return self.leave_run(id, left),
            Ok(false) => {
                running.activity = Activity::AtGate(sum);
                return;
            }
            Ok(true) => {}
        }
        let MemberRole::Worker(rank) = running.place else { return };
        running.activity = Activity::Summing(sum);
        running.started += 1;
        let newest = running.newest;
        let what = match sum {
            Sum::Gradient => What::Gradient { rounds, state },
            Sum::Load => What::Load { newest, rounds: 0 },
        };
        let (view, state) = (running.view, member.state.clone());
        let job = self.processes[id.0 as usize].job;
        let mut values = Vec::new();
        match sum {
            Sum::Gradient => self.jobs[job].rounds.write_gradient(rounds as u32, rank, &mut values),
            Sum::Load => {
                match rank == newest {
                    true => digits::write(&state, &mut values),
                    false => values.resize(digits::PER_FLOAT * state.len(), 0.0),
                }
                if rank == newest
                    && let Some(audit) = self.audit_mut(job, view)
                {
                    audit.newest_state = Some(digest(&state));
                }
            }
        }
        if let Some(running) = self.running_mut(id) {
            running.what = Some((what, digest(&values)));
        }
        if let Role::Worker(worker) = &mut self.processes[id.0 as usize].role {
            worker.start_round(now, &values, 1, &format!("{what:?}"));
        }
    }

    /// Lets a worker that waits at the gate check whether it may continue.
    pub(super) fn go_on_at_gate(&mut self, id: ProcessId) {
        if let Some(Running { activity: Activity::AtGate(sum), .. }) = self.running_mut(id) {
            let sum = *sum;
            self.sum(id, sum);
            self.pump(id);
        }
    }

    /// Polls a process of an elastic job after it has sent all frames. Returns whether there is more to do.
    pub(crate) fn look_at_member(&mut self, id: ProcessId) -> bool {
        let is_summing = self.is_summing(id);
        let process = &mut self.processes[id.0 as usize];
        let job = process.job;
        match &mut process.role {
            Role::Server(server, _) => {
                if let Some(failure) = server.failure() {
                    self.linger(id, &failure);
                }
                false
            }
            Role::Worker(worker) if worker.flow.is_idle() && is_summing => {
                let values = self.options.gradient_values;
                let mut sum = std::mem::take(&mut self.floats);
                let ended = worker.finish_tensor(&mut sum);
                let more = match ended {
                    Ok(record) => self.has_summed(id, job, record, &sum),
                    Err(failure) => {
                        self.has_failed(id, &failure);
                        false
                    }
                };
                self.floats = sum;
                self.floats.resize(values, 0.0);
                more
            }
            _ => false,
        }
    }

    /// Handles the aborted view of a server, which reports it to workers for a while.
    fn linger(&mut self, id: ProcessId, failure: &Failure) {
        let Some(running) = self.running_mut(id) else { return };
        if std::mem::replace(&mut running.lingers, true) {
            return;
        }
        self.check_culprit(id, failure);
        let Some(token) = self.member(id).map(|member| member.token) else { return };
        self.post_at(self.wire.now + LINGER_NANOS, Pending::Lingered(id, token));
    }

    /// Handles that a worker's tensor was summed. Returns whether the worker continues at once.
    fn has_summed(
        &mut self,
        id: ProcessId,
        job: usize,
        record: inart_protocol_aggregation::RoundRecord,
        sum: &[f32],
    ) -> bool {
        self.note_part(id, record, true);
        let Some(member) = self.member_mut(id) else { return false };
        let At::Running(running) = &mut member.at else { return false };
        let (activity, view, newest) = (running.activity, running.view, running.newest);
        running.activity = Activity::Else;
        match activity {
            Activity::Summing(Sum::Load) => {
                let Some(member) = self.member_mut(id) else { return false };
                let mut state = std::mem::take(&mut member.state);
                digits::read(sum, &mut state);
                let loaded = digest(&state);
                member.state = state;
                if let Ok(rank) = Rank::try_from(newest as u16) {
                    member.progress.loaded(rank);
                }
                self.wire.tally.loads += 1;
                if self.audit_mut(job, view).is_some_and(|audit| audit.newest_state != Some(loaded)) {
                    self.complain(job, "a state was loaded that is not the newest worker's".to_owned());
                }
            }
            Activity::Summing(Sum::Gradient) => {
                member.progress.summed();
                for (weight, sum) in member.state.iter_mut().zip(sum) {
                    *weight = *weight * 0.5 + *sum;
                }
            }
            Activity::Else | Activity::AtGate(_) => return false,
        }
        self.next_round(id, job);
        false
    }

    /// Starts a worker's next round, or ends its program after the last one.
    fn next_round(&mut self, id: ProcessId, job: usize) {
        let goal = self.rounds_of_elastic();
        let Some(member) = self.member_mut(id) else { return };
        let (rounds, incarnation, host) = (member.progress.rounds(), member.incarnation, member.name.clone());
        if rounds >= goal {
            self.end_part(id);
            if let Some(member) = self.member_mut(id) {
                member.at = At::Done;
            }
            self.post(Pending::Leaves { job, host, incarnation, rounds });
            return;
        }
        member.token += 1;
        let token = member.token;
        let longest = self.options.live.as_ref().map_or(0, |live| live.computes.0);
        self.post_within(longest, Pending::Computed(id, token));
    }

    /// Rounds that elastic jobs do.
    fn rounds_of_elastic(&self) -> u64 {
        8 * u64::from(self.options.rounds)
    }

    /// A worker has computed its gradient.
    pub(super) fn computed(&mut self, id: ProcessId, token: u32) {
        if self.member(id).is_some_and(|member| member.token == token) {
            self.sum(id, Sum::Gradient);
            self.pump(id);
        }
    }

    /// Lets a server leave an aborted view.
    pub(super) fn lingered(&mut self, id: ProcessId, token: u32) {
        if self.member(id).is_some_and(|member| member.token == token) {
            self.leave_run(id, LeaveReason::Aborted(String::new()));
        }
    }

    /// A worker's run was aborted.
    fn has_failed(&mut self, id: ProcessId, failure: &Failure) {
        self.check_culprit(id, failure);
        let Some(Running { place: MemberRole::Worker(rank), .. }) = self.running_mut(id) else { return };
        let own = Rank::try_from(*rank as u16);
        match own.ok().and_then(|own| LeaveReason::because_of(failure, own)) {
            Some(left) => self.leave_run(id, left),
            None => {
                let job = self.processes[id.0 as usize].job;
                self.complain(job, format!("a program ends: {failure}"));
            }
        }
    }

    /// Lets a host leave its view and ask for the next one.
    pub(super) fn leave_run(&mut self, id: ProcessId, left: LeaveReason) {
        self.wire.tally.stop_points += u64::from(matches!(left, LeaveReason::StopPoint(_)));
        let name = |member: &Member| format!("{} leaves its view: {left}", member.name);
        if let Some(note) = self.member(id).map(name) {
            self.wire.log.note(self.wire.now, || note);
        }
        let Some(plan_version) = self.end_part(id) else { return };
        if let Some(member) = self.member_mut(id) {
            member.at = At::Asking(Some((plan_version, left)));
        }
        let within = self.options.live.as_ref().map_or(0, |live| live.notify_within.0);
        self.plan_ask(id, within);
    }

    /// Ends a host's part in its view. Returns the view's number.
    fn end_part(&mut self, id: ProcessId) -> Option<PlanVersion> {
        if let Role::Worker(worker) = &self.processes[id.0 as usize].role
            && self.is_summing(id)
            && let Some(record) = worker.record()
        {
            self.note_part(id, record, false);
        }
        let member = self.member_mut(id)?;
        let incarnation = member.incarnation;
        let At::Running(running) = &member.at else { return None };
        let (plan_version, role) = (running.plan_version, running.place.to_string());
        let process = &mut self.processes[id.0 as usize];
        (process.role, process.wake_at) = (Role::Absent, None);
        let job = process.job;
        self.post(Pending::Stream { job, role, incarnation, opens: false });
        Some(plan_version)
    }

    /// Records a worker's contribution to its tensor and its result.
    fn note_part(&mut self, id: ProcessId, record: inart_protocol_aggregation::RoundRecord, has_ended: bool) {
        let job = self.processes[id.0 as usize].job;
        let Some(Running { view, place: MemberRole::Worker(rank), started, what: Some(what), .. }) =
            self.running_mut(id)
        else {
            return;
        };
        let (view, rank, tensor, what) = (*view, *rank, *started, *what);
        let Some(audit) = self.audit_mut(job, view) else { return };
        if let Err(problem) = audit.add(tensor, rank, what, record, has_ended) {
            self.jobs[job].wrong.get_or_insert(problem);
        }
    }

    /// The processes of elastic jobs on a host are killed.
    pub(crate) fn kill_member(&mut self, id: ProcessId) {
        if self.member(id).is_none_or(|member| !member.incarnations()) {
            return;
        }
        self.end_part(id);
        self.wire.tally.member_crashes += 1;
        if let Some(member) = self.member_mut(id) {
            (member.at, member.token) = (At::Dead, member.token + 1);
        }
    }

    /// Restarts the process.
    pub(crate) fn revive_member(&mut self, id: ProcessId) {
        let incarnation = self.new_incarnation();
        let Some(member) = self.member_mut(id).filter(|member| !member.incarnations()) else { return };
        member.begin_incarnation(incarnation);
        self.wire.tally.member_restarts += 1;
        let within = self.options.live.as_ref().map_or(0, |live| live.notify_within.0);
        self.plan_ask(id, within);
    }

    /// Checks that a failure names a host that can be its cause: one that was killed, may have been
    /// disconnected, or is not in the view any more.
    fn check_culprit(&mut self, id: ProcessId, failure: &Failure) {
        let job = self.processes[id.0 as usize].job;
        let Some(view) = self.running_mut(id).map(|running| running.view) else { return };
        let named = match failure {
            Failure::ServerSilent { server, .. }
            | Failure::ServerLost { server, .. }
            | Failure::ServerRestarted { server, .. } => server,
            Failure::Aborted { name, .. }
            | Failure::OtherTensors { name, .. }
            | Failure::OtherAddress { name, .. } => name,
            Failure::NotFinite { .. } | Failure::Elsewhere { .. } => return,
        };
        let is_in = |member: &Member| {
            member.name == *named && matches!(&member.at, At::Running(running) if running.view == view)
        };
        let is_member = self.daemon.jobs[job].meeting.iter().flat_map(|meeting| &meeting.hosts).any(is_in);
        if is_member && !self.expected_aborts.covers(named) {
            self.complain(job, format!("a view was abandoned without a reason: {failure}"));
        }
    }
}
