//! A parameter server, whose sums are its results or go on to others.

use std::time::Duration;

use inart_protocol_aggregation::policy::Onward;
use inart_protocol_aggregation::{
    Assignment, AssignmentError, Failure, RerouteError, ServerCounters, ServerShard, StateMachine,
};
use inart_wire::{Epoch, Incarnation, ShardId};

/// A parameter server.
#[derive(Debug)]
pub(crate) enum Server {
    /// Its sums are its results.
    Lockstep(ServerShard),
    /// They go on. Beside it, its incarnation.
    Onward(ServerShard<Onward>, Incarnation),
}

/// The same for both kinds.
macro_rules! of_both {
    ($server:expr, $shard:ident => $what:expr) => {
        match $server {
            Server::Lockstep($shard) => $what,
            Server::Onward($shard, _) => $what,
        }
    };
}

impl Server {
    pub fn new(
        assignment: &Assignment,
        shard: ShardId,
        life: Incarnation,
        peer_timeout: Duration,
        goes_on: bool,
    ) -> Result<Self, AssignmentError> {
        let assignment = assignment.clone();
        Ok(match goes_on {
            true => {
                let policy = Onward::new(assignment.workers.len());
                let server = ServerShard::with_policy(assignment, shard, life, peer_timeout, policy)?;
                Self::Onward(server, life)
            }
            false => Self::Lockstep(ServerShard::new(assignment, shard, life, peer_timeout)?),
        })
    }

    pub fn state_machine(&mut self) -> &mut dyn StateMachine {
        of_both!(self, shard => shard)
    }

    pub fn counters(&self) -> ServerCounters {
        of_both!(self, shard => shard.counters())
    }

    pub fn failure(&self) -> Option<Failure> {
        of_both!(self, shard => shard.failure())
    }

    pub fn open_epochs(&self) -> Vec<Epoch> {
        of_both!(self, shard => shard.open_epochs().collect())
    }

    pub fn close_old_epoch(&mut self) {
        of_both!(self, shard => shard.close_old_epoch());
    }

    pub fn reroute(&mut self, next: Assignment) -> Result<(), RerouteError> {
        of_both!(self, shard => shard.reroute(next))
    }

    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        of_both!(self, shard => shard.lead(next))
    }
}
