//! Membership of a host in a view of an elastic job.

use std::fmt;
use std::str::FromStr;

use inart_protocol_aggregation::Assignment;
use inart_wire::{PlanVersion, Rank, ShardId};

/// Role of a host in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Worker with a rank.
    Worker(Rank),
    /// Server of a shard.
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

/// What a host of an elastic job gets when its view begins.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewMembership {
    /// Assignment, equal for all hosts of the view.
    pub assignment: Assignment,
    /// Number of the view: the plan version at its start.
    pub view: PlanVersion,
    /// Role of this host.
    pub role: Role,
    /// Worker with the newest state.
    pub newest: Rank,
    /// Rounds in that state.
    pub rounds: u64,
    /// Whether the workers load that state before the next round, because one of them is new or lacks a
    /// round, or because the list of workers has changed.
    pub must_load_state: bool,
}
