//! A whole job within this process, for trials: no network, no root.

use inart_host_agent::{Error, InProcess, Options, Server, Worker as Agent};
use inart_protocol_aggregation::{Assignment, NonFinite, ShardAssignment, WorkerAddress};
use inart_wire::{MacAddr, Rank, ShardId, ValuesPerFrame};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::Trouble;
use crate::join::{non_finite, peer_timeout};
use crate::servers::Servers;
use crate::shared::{Joined, Shared};
use crate::worker::{Worker, named};

/// Creates a job of `workers` workers, with parameter servers as threads. Returns the workers by rank.
#[pyfunction]
pub(crate) fn local(
    py: Python<'_>,
    world_size: u16,
    servers: u16,
    exact: bool,
    peer_timeout_seconds: Option<f64>,
    non_finite_name: &str,
) -> PyResult<Vec<Worker>> {
    if world_size == 0 || world_size > MOST_HOSTS || servers == 0 || servers > MOST_HOSTS {
        return Err(PyValueError::new_err(format!(
            "{world_size} workers and {servers} servers: give 1 to {MOST_HOSTS} of each"
        )));
    }
    let job = Job {
        assignment: assignment(world_size, servers, exact),
        peer_timeout: peer_timeout(peer_timeout_seconds)?,
        non_finite: non_finite(non_finite_name)?,
    };
    py.detach(|| job.start()).map_err(|error| Trouble::from(error).raise(py))
}

/// Threads cost something.
const MOST_HOSTS: u16 = 64;
/// In bits per second: a rate that memory does not reach.
const RATE_BPS: f64 = 1e11;

struct Job {
    assignment: Assignment,
    peer_timeout: std::time::Duration,
    non_finite: NonFinite,
}

impl Job {
    fn options(&self) -> Options {
        Options { peer_timeout: self.peer_timeout, non_finite: self.non_finite, ..Options::default() }
    }

    fn start_servers(&self, network: &InProcess) -> Result<Servers, Error> {
        let mut servers = Vec::new();
        for (index, address) in self.assignment.shards.iter().enumerate() {
            let shard = ShardId::try_from(index).expect("at most MOST_HOSTS servers");
            let port = network.port(address.mac);
            servers.push(Server::with_transport(self.assignment.clone(), shard, port, self.options())?);
        }
        Ok(Servers::start(servers))
    }

    fn start(&self) -> Result<Vec<Worker>, Error> {
        let network = InProcess::new();
        let servers = self.start_servers(&network)?;
        (0u16..)
            .zip(&self.assignment.workers)
            .map(|(rank, address)| {
                let rank = Rank::try_from(rank).expect("at most MOST_HOSTS workers");
                let port = network.port(address.mac);
                let worker = Agent::with_options(self.assignment.clone(), rank, port, self.options())?;
                let joined = Joined { _following: None, _reporting: None, worker };
                let who = named(&self.assignment, rank);
                let shared = Shared::new(joined, who, None, Some(servers.clone()));
                Ok(Worker::new(shared, &self.assignment, rank))
            })
            .collect()
    }
}

fn assignment(workers: u16, servers: u16, exact_sums: bool) -> Assignment {
    // Locally administered addresses: workers first, then servers.
    let mac = |host: u16| MacAddr([2, 0, 0, 0, (host >> 8) as u8, host as u8]);
    let worker = |rank| WorkerAddress { name: format!("w{rank}"), mac: mac(rank) };
    let shard = |shard| ShardAssignment {
        server: format!("s{shard}"),
        mac: mac(workers + shard),
        share: 1.0 / f64::from(servers),
        rate_bps: RATE_BPS / f64::from(servers),
        bitmap_indices: Vec::new(),
    };
    Assignment {
        job: 1.into(),
        name: "local".into(),
        plan_version: 1.into(),
        values_per_frame: ValuesPerFrame::N256,
        window_chunks: 64,
        exact_sums,
        workers: (0..workers).map(worker).collect(),
        shards: (0..servers).map(shard).collect(),
    }
}
