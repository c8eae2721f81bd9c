//! The hosts that may take part in a job, and their places in a view.

use std::fmt;

use inart_topologies::switched::{Job, Topology};

/// The hosts that may take part in a job, as the topology lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    /// Name of the job.
    pub job: String,
    /// Its workers.
    pub workers: Vec<String>,
    /// Its servers.
    pub servers: Vec<String>,
}

impl Roster {
    /// The hosts of a job of that topology.
    pub fn of(topology: &Topology, job: &Job) -> Self {
        let names = |ids: &[inart_topologies::switched::NodeId]| {
            ids.iter().map(|id| topology.node(*id).name.clone()).collect::<Vec<_>>()
        };
        Self { job: job.name.clone(), workers: names(&job.workers), servers: names(&job.servers) }
    }

    /// All of them, workers first.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.workers.iter().chain(&self.servers).map(String::as_str)
    }

    /// The host of that name, or in that place of the list (`worker-3`, `server-0`).
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

/// What a member is in a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The worker of that rank.
    Worker(usize),
    /// The server of that shard.
    Server(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worker(rank) => write!(f, "worker-{rank}"),
            Self::Server(shard) => write!(f, "server-{shard}"),
        }
    }
}
