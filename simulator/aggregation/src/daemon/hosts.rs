//! Instructions to hosts, and their answers.

use inart_controller::membership::Ending;
use inart_elastic::LeaveReason;
use inart_protocol_aggregation::{Assignment, Instant};
use inart_wire::{Incarnation, PlanVersion};

use super::member::At;
use super::orders::{Answered, Pending};
use crate::event_queue::ProcessId;
use crate::host::Role;
use crate::simulation::Simulation;

impl Simulation<'_> {
    /// The processes of a job.
    pub(super) fn processes_of(&self, job: usize) -> Vec<ProcessId> {
        let ids = (0..self.processes.len() as u32).map(ProcessId);
        ids.filter(|id| self.processes[id.0 as usize].job == job).collect()
    }

    /// Sends the new instruction to all hosts of a job, each after a random delay.
    pub(super) fn instruct_job(&mut self, job: usize) {
        self.daemon.jobs[job].instruction.version += 1;
        for id in self.processes_of(job) {
            let incarnation = self.incarnation_of(id);
            self.post(Pending::Receive(id, incarnation));
        }
    }

    /// Sends the current instruction to a restarted host of a static job.
    pub(crate) fn instruct_restarted(&mut self, id: ProcessId) {
        if self.options.live.is_some() {
            let incarnation = self.incarnation_of(id);
            self.post(Pending::Receive(id, incarnation));
        }
    }

    /// Returns the incarnation of a host of an elastic job. Others have only one.
    fn incarnation_of(&self, id: ProcessId) -> Incarnation {
        self.member(id).map_or(Incarnation::UNKNOWN, |member| member.incarnation)
    }

    /// Handles an instruction at a host.
    pub(super) fn on_instruction(&mut self, id: ProcessId, incarnation: Incarnation) {
        let job = self.processes[id.0 as usize].job;
        let instruction = self.daemon.jobs[job].instruction.clone();
        let is_removed = self.daemon.jobs[job].is_removed;
        let mut answered = Answered {
            incarnation,
            view: instruction.view,
            version: instruction.version,
            ending: instruction.ending,
            started: 0,
            holds: true,
            moved: Ok(()),
        };
        if self.daemon.is_elastic(job) {
            let Some(member) = self.member_mut(id).filter(|member| member.incarnation == incarnation) else {
                return;
            };
            let At::Running(running) = &mut member.at else { return };
            let is_given_up = is_removed || running.view != instruction.view;
            let held = running.gate.set_ending(if is_given_up { Ending::Now } else { instruction.ending });
            (answered.started, answered.holds) = (held.started, held.is_holding);
            let is_over = running.gate.is_over();
            if is_over {
                self.is_ordered_to_leave(id);
            }
            if is_given_up {
                return;
            }
            if !is_over {
                answered.moved = self.move_process(id, &instruction.assignment, instruction.previous);
                self.go_on_at_gate(id);
            }
        } else {
            let has_ended = match &self.processes[id.0 as usize].role {
                Role::Worker(worker) => worker.end.is_some(),
                Role::Server(..) => false,
                Role::Gone(_) | Role::Absent => return,
            };
            if !has_ended {
                answered.moved = self.move_process(id, &instruction.assignment, instruction.previous);
            }
        }
        self.post(Pending::Answered(id, answered));
    }

    /// Handles that the controller ends a host's view: a computing worker leaves after its computation.
    fn is_ordered_to_leave(&mut self, id: ProcessId) {
        let Some(At::Running(running)) = self.member(id).map(|member| &member.at) else { return };
        if !running.computes() {
            self.leave_run(id, LeaveReason::Ordered);
        }
    }

    /// Does what `inart_host_agent::Migrator` does: sends by `assignment`, and also accepts frames of the
    /// previous plan version.
    fn move_process(
        &mut self,
        id: ProcessId,
        to: &Assignment,
        previous: Option<PlanVersion>,
    ) -> Result<(), String> {
        let now = Instant::from_nanos(self.wire.now);
        let process = &mut self.processes[id.0 as usize];
        let open: Vec<PlanVersion> = match &process.role {
            Role::Worker(worker) => worker.flow.open_plan_versions().collect(),
            Role::Server(server, _) => server.open_plan_versions(),
            Role::Gone(_) | Role::Absent => return Ok(()),
        };
        let (current, other) = (open.first().copied(), open.get(1).copied());
        let close = |role: &mut Role| match role {
            Role::Worker(worker) => worker.flow.close_old_plan_version(),
            Role::Server(server, _) => server.close_old_plan_version(),
            Role::Gone(_) | Role::Absent => {}
        };
        if other.is_some() && other != Some(to.plan_version) && other != previous {
            close(&mut process.role);
        }
        if current != Some(to.plan_version) {
            let moved = match &mut process.role {
                Role::Worker(worker) => worker.flow.reroute(now, to.clone()),
                Role::Server(server, _) => server.reroute(to.clone()),
                Role::Gone(_) | Role::Absent => Ok(()),
            };
            moved.map_err(|why| why.to_string())?;
        }
        if previous.is_none() {
            close(&mut process.role);
        }
        process.assignment.clone_from(to);
        self.pump(id);
        Ok(())
    }

    /// Handles a host's answer at the controller.
    pub(super) fn answered(&mut self, id: ProcessId, answered: Answered) {
        let job = self.processes[id.0 as usize].job;
        let Answered { incarnation, view, version, ending, started, holds, moved } = answered;
        if view != self.daemon.jobs[job].instruction.view {
            return;
        }
        self.daemon.jobs[job].answers.insert(id, (version, moved));
        if let Some(member) = self.member(id) {
            let host = member.name.clone();
            self.at_rendezvous(job, |membership, now| {
                membership.answered(now, &host, incarnation, ending, started, holds);
            });
        }
    }

    /// Returns whether all hosts of a job have carried out the last instruction; `None` if an answer is
    /// missing.
    pub(super) fn all_follow(&self, job: usize) -> Option<Result<(), String>> {
        let live = &self.daemon.jobs[job];
        let answer = |id: ProcessId| {
            let (version, moved) = live.answers.get(&id)?;
            (*version == live.instruction.version).then_some(moved)
        };
        let expected: Vec<ProcessId> = match &live.meeting {
            Some(meeting) => meeting.seated.clone(),
            None => self.processes_of(job),
        };
        let refusal = expected.iter().filter_map(|id| answer(*id)).find_map(|moved| moved.clone().err());
        if let Some(why) = refusal {
            return Some(Err(why));
        }
        if expected.iter().all(|id| answer(*id).is_some()) {
            return Some(Ok(()));
        }
        live.meeting.as_ref().and_then(|meeting| meeting.absent()).map(Err)
    }
}
