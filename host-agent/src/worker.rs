//! A worker's all-reduce.

use std::time::Duration;

use inart_core::{Assignment, Instant, RoundRecord, WorkerCounters, WorkerFlow};
use inart_wire::WorkerId;

use crate::agent::Agent;
use crate::port::Port;
use crate::status::HostStatus;
use crate::{Error, Options};

/// A worker of a job: sums gradients with its peers, one round after the other.
pub struct Worker {
    agent: Agent<WorkerFlow>,
    rounds: u32,
}

fn worker_status(flow: &WorkerFlow, now: Instant) -> HostStatus {
    HostStatus::Worker(flow.status(now))
}

/// What a round took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundStats {
    /// Rounds count from 0.
    pub round: u32,
    /// From the call of all-reduce to its return.
    pub communication: Duration,
    /// What was counted during the round.
    pub counters: WorkerCounters,
}

impl Worker {
    /// The worker of that rank on a network interface, with default options.
    pub fn new(assignment: Assignment, rank: WorkerId, interface: &str) -> Result<Self, Error> {
        Self::with_options(assignment, rank, interface, Options::default())
    }

    /// The worker of that rank on a network interface.
    pub fn with_options(
        assignment: Assignment,
        rank: WorkerId,
        interface: &str,
        options: Options,
    ) -> Result<Self, Error> {
        let flow = WorkerFlow::new(assignment, rank, options.patience)?;
        let mut agent = Agent::new(flow, Port::open(interface)?, options.stop);
        agent.status = options.status;
        agent.publish(true, worker_status);
        Ok(Self { agent, rounds: 0 })
    }

    /// Replaces the gradient by the sum over all workers' gradients of this round (the caller divides, if it wants the
    /// mean). All rounds of a job have the same length. Returns when the sum is there, or with why there is none; then
    /// the job is over.
    ///
    /// The sum is that of the quantised gradients, exact to the bit and the same at every worker; for its distance
    /// from the sum of the floats see [`inart_core::quantise`].
    pub fn all_reduce(&mut self, gradient: &mut [f32]) -> Result<RoundStats, Error> {
        let start = self.agent.now();
        let before = self.agent.machine.counters();
        let started = self.agent.machine.start_round(start, gradient);
        loop {
            self.agent.transmit()?;
            if self.agent.machine.is_idle() {
                break;
            }
            self.agent.publish(false, worker_status);
            self.agent.receive(None)?;
            if self.agent.is_stopped()? {
                self.agent.machine.stop(self.agent.now());
            }
        }
        self.agent.publish(true, worker_status);
        started?;
        self.agent.machine.finish_round(gradient)?;
        let stats = RoundStats {
            round: self.rounds,
            communication: self.agent.now().since(start),
            counters: self.agent.machine.counters() - before,
        };
        self.rounds += 1;
        Ok(stats)
    }

    /// What this worker put into the last round's sum and what it got, bit for bit; `None` before the first.
    pub fn record(&self) -> Option<RoundRecord<'_>> {
        self.agent.machine.record()
    }
}
