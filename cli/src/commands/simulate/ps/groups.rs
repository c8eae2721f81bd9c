//! Groups whose gradients switches sum, in round-robin order: `inart simulate TOPOLOGY --sync r2sp
//! --aggregated-groups`, and the predictions for their processes.

use std::fmt::Write as _;

use anyhow::{Context, anyhow, ensure};
use inart_planner_ps::{Considered, RackError, Racks, candidate_racks, choose_racks};
use inart_simulator_ps::{RackOptions, RackRun, run_racks};
use inart_topologies::ps::Job;
use inart_topologies::switched::Topology;
use inart_topologies::units::{counted, display_rate};

use crate::commands::ps::common::Common;
use crate::commands::ps::workers::WorkerArgs;

/// Value in place of a number of groups.
pub const BY_RULE: &str = "auto";

/// Runs a job in groups and returns the text or the document to print. `groups` is a number, or [`BY_RULE`].
pub fn run(
    topology: &Topology,
    job: &Job,
    groups: &str,
    workers: &WorkerArgs,
    common: &Common<'_>,
    json: bool,
) -> anyhow::Result<String> {
    ensure!(common.sync == "r2sp", "--aggregated-groups: it is for --sync r2sp only; leave it out");
    workers.refused_in_groups()?;
    for (is_given, flag) in [
        (common.relaxation.is_some(), "relaxation"),
        (common.fraction.is_some(), "fraction"),
        (common.patience_s.is_some(), "push-timeout"),
        (!common.absent.is_empty(), "absent"),
    ] {
        ensure!(
            !is_given,
            "--{flag}: groups (--aggregated-groups) meet the servers in turn without it; leave it out"
        );
    }
    let options = RackOptions { iterations: workers.checked_iterations()?, seed: common.seed };
    let planned = topology.job_named(&job.name).context("the planner knows every job that trains")?;
    let (racks, together, considered) = if groups == BY_RULE {
        let candidates = candidate_racks(topology, planned)?;
        let together = candidates.first().map(|racks| run_racks(job, racks, &options)).transpose()?;
        let choice = choose_racks(&candidates, job).context("a job has workers")?;
        (choice.racks.clone(), together, choice.considered)
    } else {
        let wrong = || {
            anyhow!(
                "--aggregated-groups={groups}: give a number of groups from 1 on, or leave the number out"
            )
        };
        let groups: usize = groups.parse().map_err(|_| wrong())?;
        let racks = Racks::plan(topology, planned, groups).map_err(|error| match error {
            RackError::Groups { .. } => anyhow!("--aggregated-groups={groups}: {error}"),
            other => other.into(),
        })?;
        let together = run_racks(job, &Racks::plan(topology, planned, 1)?, &options)?;
        (racks, Some(together), Vec::new())
    };
    let run = run_racks(job, &racks, &options)?;
    let run = RackRun { single_group_s: together.map(|together| together.iteration_s), ..run };
    if json {
        return Ok(serde_json::to_string(&run)? + "\n");
    }
    Ok(table(&run, &considered))
}

fn table(run: &RackRun, considered: &[Considered]) -> String {
    let alone = run.single_group_s.map(|s| format!("; InArt alone {s:.4} s")).unwrap_or_default();
    let mut out = format!(
        "{} between {}, at most {} at once: {:.4} s per iteration{alone}\n\
         no iteration of these groups is shorter than {:.4} s; groups wait {:.4} s for their turn\n\
         staleness: mean {:.2}, at most {}\n\
         a group pushes {:.1}% of the time; {} in {:.1} s\n",
        run.sync,
        counted(run.groups.len(), "group"),
        run.concurrent_groups,
        run.iteration_s,
        run.bound_s,
        run.waiting_s,
        run.staleness.mean,
        run.staleness.max,
        run.busy * 100.0,
        counted(run.pushes, "sum"),
        run.seconds,
    );
    for (at, group) in run.groups.iter().enumerate() {
        let _ = writeln!(
            out,
            "group {}: {} (at most {}), a turn of {:.4} s: {}",
            at + 1,
            display_rate(group.rate_bps),
            display_rate(group.bound_bps),
            group.push_s,
            group.workers.join(", ")
        );
    }
    if !considered.is_empty() {
        let all: Vec<_> =
            considered.iter().map(|one| format!("{} {:.4} s", one.groups, one.predicted_s)).collect();
        let _ = writeln!(out, "groups, and what is predicted: {}", all.join(", "));
    }
    out
}
