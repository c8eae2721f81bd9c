//! Possible hosts of a job, and their roles in a view.

use std::fmt;

use inart_topologies::switched::{Job, Topology};

/// Possible hosts of a job, as the topology lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// Name of the job.
    pub job: String,
    /// Names of the workers.
    pub workers: Vec<String>,
    /// Names of the servers.
    pub servers: Vec<String>,
}

impl Roster {
    /// Returns the hosts of a job of a topology.
    pub fn of(topology: &Topology, job: &Job) -> Self {
        let names = |ids: &[inart_topologies::switched::NodeId]| {
            ids.iter().map(|id| topology.node(*id).name.clone()).collect::<Vec<_>>()
        };
        Self { job: job.name.clone(), workers: names(&job.workers), servers: names(&job.servers) }
    }

    /// Returns all hosts, workers first.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.workers.iter().chain(&self.servers).map(String::as_str)
    }

    /// Returns the host of that name, or at that position of the list (`worker-3`, `server-0`).
    pub fn host(&self, named: &str) -> Option<&str> {
        let in_place = |list: &'_ [String], kind: &str| {
            named.strip_prefix(kind)?.parse().ok().filter(|index: &usize| *index < list.len())
        };
        let by_place = || {
            let worker = in_place(&self.workers, "worker-").map(|index| &self.workers[index]);
            worker.or_else(|| in_place(&self.servers, "server-").map(|index| &self.servers[index]))
        };
        self.hosts().find(|host| *host == named).or_else(|| by_place().map(String::as_str))
    }
}

/// Role of a member in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberRole {
    /// Worker of a rank.
    Worker(usize),
    /// Server of a shard.
    Server(usize),
}

impl fmt::Display for MemberRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(rank) => write!(f, "worker-{rank}"),
            Self::Server(shard) => write!(f, "server-{shard}"),
        }
    }
}
