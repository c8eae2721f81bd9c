//! A run of clients in groups.

use std::fmt::Write as _;

use anyhow::{anyhow, ensure};
use inart_simulator_ps::{Absence, ClientOptions, ClientRun, run_clients};
use inart_topologies::ps::Job;
use inart_topologies::units::counted;

use crate::commands::ps::absent::warn_late;
use crate::commands::ps::common::{Common, refuse};

/// Default number of rounds of each group.
const ROUNDS: u32 = 30;
/// Largest number of rounds.
const MOST_ROUNDS: u32 = 100_000;

/// How clients are in groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Number of groups, M.
    pub groups: usize,
    /// Fraction to wait for, C.
    pub fraction: f64,
    /// Relaxation, r.
    pub relaxation: f64,
}

/// Reads the cosine of `--outliers`, below which an update is an outlier.
pub fn cosine(text: &str) -> Result<f64, String> {
    let threshold = text.parse().ok().filter(|threshold: &f64| (-1.0..=1.0).contains(threshold));
    threshold.ok_or_else(|| "give a cosine from -1 to 1".to_owned())
}

/// Flags of jobs of clients.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ClientArgs {
    /// With fl-r2sp: number of groups M [default: 8, or the number of clients if lower]
    ///
    /// Client i is in group i mod M; 1 is bsp.
    #[arg(long, value_name = "M")]
    groups: Option<usize>,
    /// With fl-r2sp: aggregations of every group; statistics leave out three [default: 30].
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
}

impl ClientArgs {
    /// Refuses flags of clients.
    pub fn refused(&self) -> anyhow::Result<()> {
        refuse(self.groups.is_some(), "groups", "fl-r2sp")?;
        refuse(self.rounds.is_some(), "rounds", "fl-r2sp")
    }

    /// Returns the groups of this number of clients: as the flags say, or one group with bsp.
    pub fn shape(&self, clients: usize, common: &Common<'_>) -> anyhow::Result<Shape> {
        if common.sync == "bsp" {
            refuse(self.groups.is_some(), "groups", "fl-r2sp")?;
            refuse(common.fraction.is_some(), "fraction", "safa or fl-r2sp")?;
            refuse(common.relaxation.is_some(), "relaxation", "r2sp or fl-r2sp")?;
            return Ok(Shape { groups: 1, fraction: 1.0, relaxation: 0.0 });
        }
        let groups = self.groups.unwrap_or(clients.min(8));
        ensure!(
            (1..=clients).contains(&groups),
            "--groups {groups}: give a number from 1 to {clients}, the clients"
        );
        let fraction = common.fraction.unwrap_or(0.75);
        ensure!(fraction > 0.0 && fraction <= 1.0, "--fraction {fraction}: give a part above 0, at most 1");
        let text = common.relaxation.unwrap_or("1");
        let relaxation: f64 =
            text.parse().map_err(|_| anyhow!("--relaxation {text}: give a part from 0 to 1"))?;
        ensure!((0.0..=1.0).contains(&relaxation), "--relaxation {text}: give a part from 0 to 1");
        Ok(Shape { groups, fraction, relaxation })
    }

    /// Returns the number of rounds; `None` without the flag.
    pub fn rounds(&self) -> anyhow::Result<Option<u32>> {
        if let Some(rounds) = self.rounds {
            ensure!(
                (1..=MOST_ROUNDS).contains(&rounds),
                "--rounds {rounds}: give a number from 1 to {MOST_ROUNDS}"
            );
        }
        Ok(self.rounds)
    }

    /// Returns the flags that give the groups to a server's process.
    pub fn flags(&self) -> Vec<String> {
        self.groups.map(|groups| format!("--groups={groups}")).into_iter().collect()
    }

    /// Removes the flags of other orders.
    pub fn of(&self, sync: &str) -> ClientArgs {
        ClientArgs { groups: self.groups.filter(|_| sync == "fl-r2sp"), rounds: self.rounds }
    }

    /// Runs a job and returns the text or the document to print.
    pub fn run(
        &self,
        job: &Job,
        common: &Common<'_>,
        absences: Vec<Absence>,
        json: bool,
    ) -> anyhow::Result<String> {
        let rounds = self.rounds.unwrap_or(ROUNDS);
        ensure!(
            (4..=MOST_ROUNDS).contains(&rounds),
            "--rounds {rounds}: give a number from 4 to {MOST_ROUNDS}"
        );
        let clients = job.participants.len();
        let Shape { groups, fraction, relaxation } = self.shape(clients, common)?;
        let options = ClientOptions {
            groups,
            fraction,
            relaxation,
            rounds,
            seed: common.seed,
            patience_s: common.patience_s,
            absences,
            usage_s: None,
        };
        let run = run_clients(job, &options)?;
        warn_late(common.absent, run.seconds);
        if json {
            return Ok(serde_json::to_string(&run)? + "\n");
        }
        Ok(table(clients, groups, &run))
    }
}

fn table(clients: usize, groups: usize, run: &ClientRun) -> String {
    let mut out = format!(
        "{}: {clients} in {groups}, {:.3} s per round of a group\n\
         push {:.3} s, wait {:.3} s, pull {:.3} s; the server's port is used {:.1}% outwards\n\
         {} of {} in {:.1} s; {} came after their round\n",
        run.sync,
        run.round_s,
        run.push_s,
        run.wait_s,
        run.pull_s,
        run.utilization_out * 100.0,
        counted(run.rounds, "aggregation"),
        counted(run.aggregated, "update"),
        run.seconds,
        counted(run.late, "push"),
        clients = counted(clients, "client"),
        groups = counted(groups, "group")
    );
    if run.given_up > 0 {
        let _ = writeln!(out, "{} of clients", counted(run.given_up, "eviction"));
    }
    out
}
