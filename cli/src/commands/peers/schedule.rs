//! What all processes of a job have to agree on.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use inart_peer_agent::Sync;
use inart_peer_host::{Job, Schedule};
use inart_peers::Compute;
use inart_planner::units::Seconds;

use super::network;
use super::simulate::{Limit, number_or_none};

/// Flags that are the same at all peers and coordinators of a job.
#[derive(clap::Args)]
pub struct JobArgs {
    /// The network document (YAML or JSON), the same everywhere.
    topology: PathBuf,
    /// The job [default: the only one].
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// Who makes the copies of an update: hosts (once per receiver, over QUIC).
    #[arg(long, default_value = "hosts", value_parser = ["hosts"])]
    multicast: String,
    /// When peers go on: bsp (all at once, when all copies have arrived), or ssp (each by itself); the same
    /// everywhere.
    #[arg(long, default_value = "bsp", value_parser = ["bsp", "ssp"])]
    sync: String,
    /// With ssp: how many rounds a peer may be ahead of the last when it begins one; none for any number.
    #[arg(long, default_value = "4", value_parser = number_or_none)]
    staleness: Limit,
    /// The rule of k: whoever was not in a sender's last K rounds receives; none for no such rule; the same
    /// everywhere. [default: none with bsp, 4 with ssp]
    #[arg(long, value_name = "K", value_parser = number_or_none)]
    force_after: Option<Limit>,
}

impl JobArgs {
    /// The job, until a last round.
    pub fn job(&self, rounds: u32) -> anyhow::Result<Job> {
        let mesh = network::read(&self.topology)?;
        let job = network::job(&mesh, self.job.as_deref())?;
        let is_bsp = self.sync == "bsp";
        let sync = match is_bsp {
            true => Sync::Bsp,
            false => Sync::Ssp { staleness: self.staleness.0.unwrap_or(u32::MAX) },
        };
        let force_after = self.force_after.unwrap_or(Limit(if is_bsp { None } else { Some(4) })).0;
        Ok(Job::new(&mesh, job, Schedule { sync, force_after, rounds })?)
    }

    /// How long a peer computes, as the document states it; its rank.
    pub fn compute(&self, rank: usize) -> anyhow::Result<Compute> {
        let mesh = network::read(&self.topology)?;
        let job = network::job(&mesh, self.job.as_deref())?;
        job.computes.get(rank).copied().with_context(|| {
            format!(
                "--stated-compute: job {} does not state it; add compute: {{mean: 1 s, cv: 0.57}}",
                job.name
            )
        })
    }
}

/// The time of a flag, which is above 0.
pub fn time(flag: &str, seconds: Seconds) -> anyhow::Result<Duration> {
    const LONGEST: f64 = 1e7;
    let Seconds(seconds) = seconds;
    ensure!(
        seconds > 0.0 && seconds <= LONGEST,
        "{flag} {seconds}: give a time above 0 with its unit, like 500ms or 5s"
    );
    Ok(Duration::from_secs_f64(seconds))
}
