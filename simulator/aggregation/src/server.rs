//! A parameter server, whose sums are its results or are forwarded.

use std::time::Duration;

use inart_protocol_aggregation::completion_rule::Onward;
use inart_protocol_aggregation::{
    Assignment, AssignmentError, Failure, RerouteError, ServerCounters, ServerShard, StateMachine,
};
use inart_wire::{Incarnation, PlanVersion, ShardId};

/// A parameter server.
#[derive(Debug)]
pub(crate) enum Server {
    /// Sums are the results.
    Lockstep(ServerShard),
    /// Sums are forwarded; with the incarnation.
    Onward(ServerShard<Onward>, Incarnation),
}

/// Applies an expression to both kinds.
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
        incarnation: Incarnation,
        peer_timeout: Duration,
        forwards_sums: bool,
    ) -> Result<Self, AssignmentError> {
        let assignment = assignment.clone();
        Ok(match forwards_sums {
            true => {
                let completion_rule = Onward::new(assignment.workers.len());
                let server = ServerShard::with_completion_rule(
                    assignment,
                    shard,
                    incarnation,
                    peer_timeout,
                    completion_rule,
                )?;
                Self::Onward(server, incarnation)
            }
            false => Self::Lockstep(ServerShard::new(assignment, shard, incarnation, peer_timeout)?),
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

    pub fn open_plan_versions(&self) -> Vec<PlanVersion> {
        of_both!(self, shard => shard.open_plan_versions().collect())
    }

    pub fn close_old_plan_version(&mut self) {
        of_both!(self, shard => shard.close_old_plan_version());
    }

    pub fn reroute(&mut self, next: Assignment) -> Result<(), RerouteError> {
        of_both!(self, shard => shard.reroute(next))
    }

    pub fn lead(&mut self, next: Assignment) -> Result<(), RerouteError> {
        of_both!(self, shard => shard.lead(next))
    }
}
