//! The host that keeps a worker waiting.

use alloc::string::String;
use core::fmt;

use inart_wire::{Rank, ShardId};

/// The sum that a worker waits for, and the host that keeps it waiting. Reads as "tensor 3: worker 1 (w2) has
/// not joined".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The tensor's number: how many this worker started before.
    pub tensor: u64,
    /// Host.
    pub host: AwaitedHost,
}

/// A host that keeps a worker waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AwaitedHost {
    /// A parameter server that has never answered.
    Server {
        /// Shard.
        shard: ShardId,
        /// Name.
        name: String,
    },
    /// Workers that have not joined, or have not started the tensor.
    Workers {
        /// The lowest rank of them.
        rank: Rank,
        /// Name.
        name: String,
        /// Number of further workers.
        others: u16,
        /// Whether they have joined.
        have_joined: bool,
    },
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tensor, host } = self;
        write!(f, "tensor {tensor}: ")?;
        match host {
            AwaitedHost::Server { shard, name } => {
                write!(f, "parameter server {name} (shard {shard}) has not answered")
            }
            AwaitedHost::Workers { rank, name, others, have_joined } => {
                write!(f, "worker {rank} ({name})")?;
                match others {
                    0 => f.write_str(" has")?,
                    1 => f.write_str(" and 1 other have")?,
                    others => write!(f, " and {others} others have")?,
                }
                f.write_str(if *have_joined { " not started it" } else { " not joined" })
            }
        }
    }
}
