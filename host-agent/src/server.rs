//! A parameter server's loop.

use std::time::Duration;

use inart_core::{Assignment, Instant, ServerCounters, ServerShard};
use inart_wire::ShardId;

use crate::agent::Agent;
use crate::port::Port;
use crate::status::HostStatus;
use crate::{Error, Options};

/// The server of one shard of a job.
pub struct Server {
    agent: Agent<ServerShard>,
}

impl Server {
    /// How long workers that have not heard that the job was given up are still told.
    const LINGER: Duration = Duration::from_secs(2);

    /// The server of that shard on a network interface.
    pub fn new(
        assignment: Assignment,
        shard: ShardId,
        interface: &str,
        options: Options,
    ) -> Result<Self, Error> {
        let machine = ServerShard::new(assignment, shard, options.incarnation, options.patience)?;
        let mut agent = Agent::new(machine, Port::open(interface)?, options.stop);
        agent.status = options.status;
        Ok(Self { agent })
    }

    /// Serves until told to stop, or until the job is given up.
    pub fn run(&mut self) -> Result<(), Error> {
        let mut until: Option<Instant> = None;
        while !self.agent.is_stopped()? {
            self.agent.transmit()?;
            if let Some(failure) = self.agent.machine.failure() {
                let end = *until.get_or_insert(self.agent.now() + Self::LINGER);
                if self.agent.now() >= end {
                    return Err(failure.into());
                }
            }
            self.agent.publish(false, |shard, now| HostStatus::Server(shard.status(now)));
            self.agent.receive(until)?;
        }
        Ok(())
    }

    /// What was counted since the start.
    pub fn counters(&self) -> ServerCounters {
        self.agent.machine.counters()
    }
}
