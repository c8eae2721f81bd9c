//! A parameter server's loop.

use std::time::Duration;

use inart_core::{Assignment, Instant, ServerCounters, ServerShard, StateMachine};
use inart_wire::ShardId;

use crate::agent::{Agent, Stopper};
use crate::status::HostStatus;
use crate::{BatchedPort, Error, Mover, Options, Transport};

/// The server of one shard of a job.
pub struct Server {
    shard: ServerShard,
    agent: Agent,
}

impl Server {
    /// How long workers that have not heard that the job was aborted are still told.
    const LINGER: Duration = Duration::from_secs(2);

    /// The server of that shard on a network interface.
    ///
    /// # Errors
    /// What is wrong with the assignment or the interface.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        interface: &str,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(BatchedPort::open(interface)?)), options)
    }

    /// The same on a transport.
    ///
    /// # Errors
    /// What is wrong with the assignment or the transport.
    pub fn with_transport(
        assignment: Assignment,
        shard: ShardId,
        transport: impl Transport + 'static,
        options: Options,
    ) -> Result<Self, Error> {
        Self::on(assignment, shard, || Ok(Box::new(transport)), options)
    }

    /// The same on a transport that is opened once the assignment is known to be valid.
    fn on(
        assignment: Assignment,
        shard: ShardId,
        open: impl FnOnce() -> Result<Box<dyn Transport>, Error>,
        options: Options,
    ) -> Result<Self, Error> {
        let frame_bytes = assignment.values_per_packet.frame_bytes();
        let shard = ServerShard::new(assignment, shard, options.incarnation, options.peer_timeout)?;
        Ok(Self { shard, agent: Agent::new(open()?, frame_bytes, options)? })
    }

    /// Serves until told to stop, or until the job is aborted.
    ///
    /// # Errors
    /// Why the job was aborted, or what the transport says.
    pub fn run(&mut self) -> Result<(), Error> {
        let ended = self.serve();
        self.agent.end_moves();
        ended
    }

    fn serve(&mut self) -> Result<(), Error> {
        let mut until: Option<Instant> = None;
        while !self.agent.is_stopped()? {
            let moved = self.agent.carry_out_moves(&mut self.shard);
            self.agent.transmit(&mut self.shard)?;
            if let Some(failure) = self.shard.failure() {
                let now = self.agent.clock.now();
                if now >= *until.get_or_insert(now + Self::LINGER) {
                    return Err(failure.into());
                }
            }
            self.agent.publish(moved, |now| HostStatus::Server(self.shard.status(now)));
            self.agent.wait(self.shard.next_deadline().into_iter().chain(until).min())?;
            self.agent.take_in(&mut self.shard)?;
        }
        Ok(())
    }

    /// What tells it to stop while it [runs](Self::run).
    pub fn stopper(&self) -> Stopper {
        self.agent.stopper()
    }

    /// What moves it to another plan of its job while it [runs](Self::run).
    pub fn mover(&self) -> Mover {
        self.agent.mover()
    }

    /// What was counted since the start.
    pub fn counters(&self) -> ServerCounters {
        self.shard.counters()
    }
}
