//! Checks whether jobs send frames, as `inart remove` does, while workers compute.

use inart_controller::LISTEN;
use inart_topologies::faults::Step;
use inart_wire::{Frame, HeaderRepr, Kind};

use super::orders::Pending;
use super::state::UsageCheck;
use crate::event_queue::FrameId;
use crate::host::Role;
use crate::simulation::{Node, Simulation};

impl Simulation<'_> {
    /// Starts a check, unless a fault keeps frames from switches before it ends.
    pub(super) fn begin_usage_check(&mut self) {
        let until = self.wire.now + LISTEN.as_nanos() as u64;
        let is_harmless = |step: &Step| matches!(step, Step::Stale(..) | Step::Forge(..));
        let steps = self.schedule.steps.iter();
        let comes =
            steps.filter(|(at, step)| at.0 > self.wire.now && at.0 <= until && !is_harmless(step)).count();
        let is_undisturbed = |node: &Node| match node {
            Node::Switch(node) => node.switch.program().is_some(),
            Node::Host(host) => host.paused == 0,
        };
        let is_up = self.wire.channels.iter().all(|channel| channel.down == 0);
        if comes > 0 || !is_up || !self.nodes.iter().all(is_undisturbed) || self.daemon.usage_check.is_some()
        {
            return;
        }
        let running = (0..self.daemon.jobs.len()).filter(|job| self.has_worker(*job)).collect();
        self.daemon.usage_check = Some(UsageCheck { running, ..UsageCheck::default() });
        self.post_at(until, Pending::EndUsageCheck);
    }

    /// Ends a check: no job with a running worker may count as unused.
    pub(super) fn end_usage_check(&mut self) {
        let Some(UsageCheck { running, moved }) = self.daemon.usage_check.take() else { return };
        for job in running {
            let number = self.daemon.jobs[job].instruction.assignment.job;
            if self.daemon.jobs[job].is_removed || !self.has_worker(job) {
                continue;
            }
            self.wire.tally.looks += 1;
            if !moved.contains(&number) {
                self.complain(job, "it would be taken for unused while its workers compute".to_owned());
            }
        }
    }

    /// Returns whether some worker of a job is in a view.
    fn has_worker(&self, job: usize) -> bool {
        let runs = |role: &Role| matches!(role, Role::Worker(worker) if worker.end.is_none());
        self.processes.iter().any(|process| process.job == job && runs(&process.role))
    }

    /// Records a frame at a switch, which counts gradients, partials and messages by job.
    pub(crate) fn note_moving(&mut self, frame: FrameId) {
        let Some(usage_check) = &mut self.daemon.usage_check else { return };
        let bytes = &self.wire.frames.get(frame).bytes;
        let Ok(frame) = Frame::new_checked(bytes.as_slice()) else { return };
        let Ok(header) = HeaderRepr::parse(&frame) else { return };
        if header.kind != Kind::Result {
            usage_check.moved.insert(header.job);
        }
    }
}
