//! A worker's all-reduce.

use std::time::Duration;

use inart_core::{Assignment, RoundRecord, WorkerCounters, WorkerFlow};
use inart_wire::WorkerId;

use crate::agent::Agent;
use crate::keeper::Keeper;
use crate::{Error, Options, Port};

/// A worker of a job: sums gradients with its peers, one round after the other.
///
/// From its making until it is dropped its peers hear that it is there, in a round and between rounds. What goes wrong between
/// rounds (a peer gave the job up, this process was told to stop) is told by the next round.
pub struct Worker {
    keeper: Keeper,
    rounds: u32,
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
        let options = Options::default();
        let flow = WorkerFlow::new(assignment, rank, options.incarnation, options.patience)?;
        Self::start(flow, Port::open(interface)?, options)
    }

    /// The worker of that rank on an interface that was opened.
    pub fn with_options(
        assignment: Assignment,
        rank: WorkerId,
        port: Port,
        options: Options,
    ) -> Result<Self, Error> {
        Self::start(WorkerFlow::new(assignment, rank, options.incarnation, options.patience)?, port, options)
    }

    fn start(flow: WorkerFlow, port: Port, options: Options) -> Result<Self, Error> {
        let mut agent = Agent::new(flow, port, options.stop);
        agent.status = options.status;
        Ok(Self { keeper: Keeper::start(agent)?, rounds: 0 })
    }

    /// Replaces the gradient by the sum over all workers' gradients of this round (the caller divides, if it wants the
    /// mean). All rounds of a job have the same length. Returns when the sum is there, or with why there is none; then
    /// the job is over.
    ///
    /// The sum is that of the quantised gradients, exact to the bit and the same at every worker; for its distance
    /// from the sum of the floats see [`inart_core::quantise`]. In an exact job it is the sum of the floats, rounded once
    /// ([`inart_core::exact`]).
    pub fn all_reduce(&mut self, gradient: &mut [f32]) -> Result<RoundStats, Error> {
        let mut kept = self.keeper.hold();
        if let Some(error) = kept.error.take() {
            return Err(error);
        }
        let start = kept.agent.now();
        let before = kept.agent.machine.counters();
        let started = kept.agent.machine.start_round(start, gradient);
        loop {
            kept.agent.transmit()?;
            if kept.agent.machine.is_idle() {
                break;
            }
            kept.publish(false);
            kept.agent.receive(None)?;
            kept.heed_stop()?;
        }
        kept.publish(true);
        started?;
        kept.agent.machine.finish_round(gradient)?;
        let stats = RoundStats {
            round: self.rounds,
            communication: kept.agent.now().since(start),
            counters: kept.agent.machine.counters() - before,
        };
        self.rounds += 1;
        Ok(stats)
    }

    /// What this worker put into the last round's sum and what it got, bit for bit; `None` before the first.
    pub fn record(&self) -> Option<RoundRecord> {
        self.keeper.hold().agent.machine.record()
    }
}
