//! A host's place in a view of an elastic job.

use std::fmt;
use std::str::FromStr;

use inart_protocol_aggregation::Assignment;
use inart_wire::{PlanVersion, Rank, ShardId};

/// What a host is in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The worker of that rank.
    Worker(Rank),
    /// The server of that shard.
    Server(ShardId),
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(rank) => write!(f, "worker-{rank}"),
            Self::Server(shard) => write!(f, "server-{shard}"),
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |prefix| text.strip_prefix(prefix).and_then(|number| number.parse::<u16>().ok());
        let worker = number("worker-").and_then(|rank| Rank::try_from(rank).ok()).map(Role::Worker);
        let role = worker.or_else(|| number("server-").map(|shard| Role::Server(shard.into())));
        role.ok_or_else(|| format!("\"{text}\" is not a role; give one like worker-3 or server-0"))
    }
}

/// What a host of an elastic job is told when its view begins.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewMembership {
    /// What all hosts of the view are told.
    pub assignment: Assignment,
    /// The view's number: the plan version by which it began.
    pub view: PlanVersion,
    /// What this host is.
    pub role: Role,
    /// The worker with the newest state.
    pub newest: Rank,
    /// The rounds in that state.
    pub rounds: u64,
    /// Whether the workers load it before the next round: one of them is new or lacks a round, or the list of
    /// workers is another one than before.
    pub must_load_state: bool,
}
