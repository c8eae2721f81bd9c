//! Checks whether jobs send frames, as `inart remove` does, while workers compute.

use inart_controller::LISTEN;
use inart_topologies::faults::Step;
use inart_wire::{Frame, HeaderRepr, Kind};

use super::orders::Pending;
use super::state::Look;
use crate::event_queue::FrameId;
use crate::host::Role;
use crate::simulation::{Node, Simulation};

impl Simulation<'_> {
    /// Starts a check, unless a fault keeps frames from switches before it ends.
    pub(super) fn look(&mut self) {
        let until = self.wire.now + LISTEN.as_nanos() as u64;
        let is_harmless = |step: &Step| matches!(step, Step::Stale(..) | Step::Forge(..));
        let steps = self.schedule.steps.iter();
        let comes =
            steps.filter(|(at, step)| at.0 > self.wire.now && at.0 <= until && !is_harmless(step)).count();
        let is_well = |node: &Node| match node {
            Node::Switch(node) => node.switch.program().is_some(),
            Node::Host(host) => host.paused == 0,
        };
        let is_up = self.wire.channels.iter().all(|channel| channel.down == 0);
        if comes > 0 || !is_up || !self.nodes.iter().all(is_well) || self.daemon.look.is_some() {
            return;
        }
        let running = (0..self.daemon.jobs.len()).filter(|job| self.has_worker(*job)).collect();
        self.daemon.look = Some(Look { running, ..Look::default() });
        self.post_at(until, Pending::Looked);
    }

    /// Ends a check: no job with a running worker may count as unused.
    pub(super) fn looked(&mut self) {
        let Some(Look { running, moved }) = self.daemon.look.take() else { return };
        for job in running {
            let number = self.daemon.jobs[job].told.assignment.job;
            if self.daemon.jobs[job].is_gone || !self.has_worker(job) {
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
        let Some(look) = &mut self.daemon.look else { return };
        let bytes = &self.wire.frames.get(frame).bytes;
        let Ok(frame) = Frame::new_checked(bytes.as_slice()) else { return };
        let Ok(header) = HeaderRepr::parse(&frame) else { return };
        if header.kind != Kind::Result {
            look.moved.insert(header.job);
        }
    }
}
