//! Consecutive runs of a job: restarted hosts, under the same plan version, with unchanged switches.

use rand::Rng;

use crate::Error;
use crate::event_queue::{EventKind, ProcessId};
use crate::host::{Process, Role};
use crate::simulation::{Node, Simulation};

/// Delay before hosts restart: short, so that frames of the previous run are still in flight.
const PAUSE_NANOS: u64 = 20_000;
/// The least time after which they do.
const SOON_NANOS: f64 = 1e3;

impl Simulation<'_> {
    /// Schedules the next run of a job after all its workers have ended, if one is left.
    pub(crate) fn plan_rerun(&mut self, job: usize) {
        let state = &mut self.jobs[job];
        if state.runs_left > 0 {
            state.runs_left -= 1;
            self.running += state.workers.len();
            self.wire.events.at(self.wire.now + PAUSE_NANOS, EventKind::Rerun(job as u32));
        }
    }

    /// Schedules second copies of a host's last frames, each at a random time up to the duration of the
    /// earlier runs.
    fn delay_copies(&mut self, host: usize) {
        let Node::Host(host) = &mut self.nodes[host] else { return };
        let longest = (self.wire.now as f64).max(SOON_NANOS);
        for bytes in host.sent.drain(..) {
            let late = SOON_NANOS * (longest / SOON_NANOS).powf(self.wire.rng.random::<f64>());
            let frame = self.wire.frames.copy_of(&bytes);
            self.wire.tally.late += 1;
            self.wire.events.at(self.wire.now + late as u64, EventKind::Late(host.channel, frame));
        }
    }

    /// Restarts all hosts of a job.
    pub(crate) fn rerun(&mut self, job: usize) -> Result<(), Error> {
        self.wire.log.note(self.wire.now, || format!("job {} is run again", self.assignments[job].name));
        self.wire.tally.reruns += 1;
        self.audit_open(job);
        let failure = self.job_failure(job, true);
        self.jobs[job].failure = self.jobs[job].failure.take().or(failure);
        self.jobs[job].rounds.next_view();
        let peer_timeout = self.options.peer_timeout;
        let processes: Vec<_> =
            (0..self.processes.len()).filter(|&index| self.processes[index].job == job).collect();
        processes.iter().for_each(|&index| self.delay_copies(self.processes[index].host));
        for &index in &processes {
            let host = self.processes[index].host;
            let incarnation = self.new_incarnation();
            let assignment = &self.processes[index].assignment;
            self.processes[index] = match &self.processes[index].role {
                Role::Worker(worker) => {
                    let how = (peer_timeout, self.handling());
                    Process::worker(assignment, job, host, worker.rank, incarnation, how)?
                }
                Role::Server(_, shard) | Role::Gone(shard) => {
                    let patience = (peer_timeout, self.forwards_sums(&assignment.name));
                    Process::server(assignment, job, host, *shard, incarnation, patience)?
                }
                Role::Absent => continue,
            };
        }
        for id in processes.into_iter().map(|index| ProcessId(index as u32)) {
            self.start_round(id);
            self.pump(id);
        }
        Ok(())
    }
}
