//! Settings that all processes of a job must share.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use inart_controller::PortMap;
use inart_peers_agent::Sync;
use inart_peers_host::{CopiedBy, Interface, Job, Schedule};
use inart_planner_peers::Pairs;
use inart_topologies::peers::{Compute, Mesh};
use inart_wire::ValuesPerFrame;

use crate::commands::network;
use crate::commands::peers::own::OwnArgs;
use crate::commands::simulate::peers::{Limit, number_or_none};

/// Flags that are the same at all peers and coordinators of a job.
#[derive(clap::Args)]
pub struct JobArgs {
    /// Job to run [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Where updates are copied: hosts (QUIC) or switch (P4); the same at all processes.
    #[arg(long, default_value = "hosts", value_parser = ["hosts", "switch"])]
    multicast: String,
    /// With --multicast switch: values per frame: 32, 64, 256, 1024 or 2048, as the program.
    ///
    /// All processes must have the same.
    #[arg(long, default_value_t = ValuesPerFrame::N256)]
    values: ValuesPerFrame,
    /// Synchronization: bsp (rounds in lockstep) or ssp (bounded lead); the same at all processes.
    #[arg(long, default_value = "bsp", value_parser = ["bsp", "ssp"])]
    sync: String,
    /// With --sync ssp: most rounds that a peer may be ahead of the slowest; none for no bound.
    #[arg(long, default_value = "4", value_parser = number_or_none)]
    staleness: Limit,
    /// Fairness bound K: every pair exchanges at least once per K+1 rounds; none for no bound.
    ///
    /// All processes must have the same [default: none with bsp, 4 with ssp].
    #[arg(long = "fairness-bound", value_name = "K", value_parser = number_or_none)]
    force_after: Option<Limit>,
}

impl JobArgs {
    /// Returns the job with its number of rounds.
    pub fn job(&self, mesh: &Mesh, rounds: u32) -> anyhow::Result<Job> {
        let job = network::peer_job(mesh, self.job.as_deref())?;
        let is_bsp = self.sync == "bsp";
        let sync = match is_bsp {
            true => Sync::Bsp,
            false => Sync::Ssp { staleness: self.staleness.0.unwrap_or(u32::MAX) },
        };
        let force_after = self.force_after.unwrap_or(Limit(if is_bsp { None } else { Some(4) })).0;
        let copied_by = match self.is_by_switch() {
            true => CopiedBy::Switches(self.values),
            false => CopiedBy::Hosts,
        };
        Ok(Job::new(mesh, job, Schedule { sync, force_after, rounds })?.copied_by(copied_by))
    }

    /// Returns the receivers that a user has chosen, by rank; `None` without a plan.
    pub fn given(&self, mesh: &Mesh, path: &Path, own: &OwnArgs) -> anyhow::Result<Option<Arc<Pairs>>> {
        own.read(path, mesh, network::peer_job(mesh, self.job.as_deref())?)
    }

    /// Whether switches make the copies.
    pub fn is_by_switch(&self) -> bool {
        self.multicast == "switch"
    }

    /// Returns the interface of that name, and the Ethernet addresses that the peers of a job have by the
    /// document.
    pub fn interface(&self, mesh: &Mesh, name: &str, job: &Job) -> anyhow::Result<Interface> {
        let ports = PortMap::of_mesh(mesh)?;
        let address = |peer: &String| ports.mac(peer).with_context(|| format!("{peer} has no address"));
        let addresses = job.peers().iter().map(address).collect::<anyhow::Result<_>>()?;
        Ok(Interface { name: name.to_owned(), addresses })
    }

    /// Returns the compute time of the document for a peer of this rank.
    pub fn compute(&self, mesh: &Mesh, rank: usize) -> anyhow::Result<Compute> {
        let job = network::peer_job(mesh, self.job.as_deref())?;
        job.computes.get(rank).copied().with_context(|| {
            format!(
                "--simulate-compute: job {} does not state it; add compute: {{mean: 1 s, cv: 0.57}}",
                job.name
            )
        })
    }
}
