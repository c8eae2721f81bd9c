//! A job that is run again: by hosts that begin anew, under the same plan version, on switches that hold what
//! they held.

use rand::Rng;

use crate::Error;
use crate::event_queue::{EventKind, ProcessId};
use crate::host::{Process, Role};
use crate::simulation::{Node, Simulation};

/// Whoever starts the hosts again is quick: frames of the run before are still under way.
const PAUSE_NANOS: u64 = 20_000;
/// The least time after which they do.
const SOON_NANOS: f64 = 1e3;

impl Simulation<'_> {
    /// Plans the next run of a job whose workers have all ended, if there is to be one.
    pub(crate) fn plan_rerun(&mut self, job: usize) {
        let state = &mut self.jobs[job];
        if state.runs_left > 0 {
            state.runs_left -= 1;
            self.running += state.workers.len();
            self.wire.events.at(self.wire.now + PAUSE_NANOS, EventKind::Rerun(job as u32));
        }
    }

    /// Lets what a host sent last come once more, each frame at some time, soon or as late as the runs before
    /// took.
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

    /// Starts all hosts of a job anew.
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
            let told = &self.processes[index].told;
            self.processes[index] = match &self.processes[index].role {
                Role::Worker(worker) => {
                    let how = (peer_timeout, self.handling());
                    Process::worker(told, job, host, worker.rank, incarnation, how)?
                }
                Role::Server(_, shard) | Role::Gone(shard) => {
                    let patience = (peer_timeout, self.goes_on(&told.name));
                    Process::server(told, job, host, *shard, incarnation, patience)?
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
