//! Submission and deletion of jobs while others run: the daemon on a switch in memory, through its API.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::path::Path;
use std::time::Duration;

use inart_controller::api;
use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_controller::daemon::{Config, Steer};
use inart_controller::{JobPlan, Push, Records};
use inart_controller_api::Following;
use inart_planner_aggregation::{Options, plan, schemes};
use inart_steering::ReplanThresholds;
use inart_tables::SwitchTables;
use inart_targets::memory::InMemory;
use inart_targets::{Failpoint, Precedence};
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};
use support::daemon::{Daemon, config};
use support::{LIMITS, job};

/// Returns a topology of one switch that can aggregate 6 Mbps, which the first job alone uses. With
/// `second`, the second job is in the list.
fn topology(second: bool) -> Topology {
    let two = if second { ", {name: two, workers: [c, d], servers: [t]}" } else { "" };
    let text = format!(
        "{{name: shared, nodes: [{{name: v, kind: switch, aggregation_capacity: 6 Mbps}},
           {{name: s, kind: server}}, {{name: t, kind: server}},
           {{name: a, kind: worker}}, {{name: b, kind: worker}},
           {{name: c, kind: worker}}, {{name: d, kind: worker}}],
          links: [{{ends: [a, v], rate: 3 Mbps}}, {{ends: [b, v], rate: 3 Mbps}},
           {{ends: [c, v], rate: 3 Mbps}}, {{ends: [d, v], rate: 3 Mbps}},
           {{ends: [s, v], rate: 4 Mbps}}, {{ends: [t, v], rate: 4 Mbps}}],
          jobs: [{{name: one, workers: [a, b], servers: [s]}}{two}]}}"
    );
    Topology::from_yaml(&text).unwrap()
}

/// Returns the topology with faster links: another network.
fn faster(topology: &Topology) -> Topology {
    let jobs = topology.jobs().to_vec();
    topology.scaled(2.0).with_jobs(jobs)
}

/// Daemon in a dry run.
struct Watcher(Daemon);

impl std::ops::Deref for Watcher {
    type Target = Daemon;

    fn deref(&self) -> &Daemon {
        &self.0
    }
}

impl Watcher {
    /// Starts the daemon with the first job of the topology.
    async fn start(target: &InMemory, folder: &Path, precedence: u128, topology: Topology) -> Self {
        let first = plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap();
        Self::with_jobs(target, folder, precedence, topology, vec![job(1, &first)]).await
    }

    async fn with_jobs(
        target: &InMemory,
        folder: &Path,
        precedence: u128,
        topology: Topology,
        jobs: Vec<JobPlan>,
    ) -> Self {
        let config = Config {
            precedence: Precedence(precedence),
            change_within: Duration::from_millis(500),
            steer: Some(Steer {
                thresholds: ReplanThresholds { dry_run: true, ..ReplanThresholds::default() },
                every: Duration::from_millis(20),
                plan_within: Duration::from_millis(300),
                scheme: schemes::OPTIMIZED,
            }),
            ..config(target, folder, topology, jobs)
        };
        Watcher(Daemon::start(config, folder).await)
    }

    fn kill(self) {
        self.0.kill();
    }

    async fn submit(&self, topology: &Topology, job: &str) -> ChangeStatus {
        let number = self.api.create_job(topology.to_yaml(), job, None).await.unwrap();
        self.end_of(number).await
    }

    async fn delete(&self, job: &str, force: bool) -> ChangeStatus {
        let number = self.api.delete_job(job, force).await.unwrap();
        self.end_of(number).await
    }

    /// Returns name, plan version and rate in Mbps of each job.
    async fn jobs(&self) -> Vec<(String, u32, f64)> {
        let jobs = self.api.status().await.unwrap().jobs.into_iter();
        jobs.map(|job| (job.name, job.plan_version, (job.rate_bps / 1e3).round() / 1e3)).collect()
    }

    /// Waits until the controller replans a job, too. Returns the decision.
    async fn replanned(&self, job: &str) -> String {
        let mut last = String::new();
        for _ in 0..12_000 {
            match self.api.replan(false).await {
                Ok(decision) if decision.line.contains(&format!("; job {job}: ")) => return decision.line,
                Ok(decision) => last = decision.line,
                // The active plans changed meanwhile, or no host watches yet.
                Err(why) => last = why.to_string(),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("job {job} is not replanned: {last}");
    }

    /// Starts all hosts of a job of two workers and a server, which follow their instructions.
    async fn hosts(&self, job: &str) -> Vec<Following> {
        self.0.hosts(job, &["worker-0", "worker-1", "server-0"]).await
    }
}

fn tables(target: &InMemory) -> SwitchTables {
    target.switch("v").tables
}

fn plan_versions(target: &InMemory, job: u16) -> usize {
    tables(target).plan_versions(JobId::from(job)).len()
}

fn network() -> (InMemory, tempfile::TempDir) {
    (InMemory::new(ValuesPerFrame::N64, LIMITS), tempfile::tempdir().unwrap())
}

#[tokio::test]
async fn a_job_is_submitted_next_to_a_running_one_and_deleted_again() {
    let (target, folder) = network();
    let daemon = Watcher::start(&target, folder.path(), 1, topology(false)).await;
    let hosts = daemon.hosts("one").await;
    let (alone, before) = (daemon.jobs().await, tables(&target));
    assert_eq!(alone, [("one".to_owned(), 1, 3.0)]);

    let submitted = daemon.submit(&topology(true), "two").await;
    assert_eq!(submitted.stage(), ChangeStage::Done, "{}", submitted.problem);
    let both = daemon.jobs().await;
    let names: Vec<_> = both.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    let rates: Vec<_> = both.iter().map(|(_, _, rate)| *rate).collect();
    assert!(rates.iter().all(|rate| *rate >= 1.5) && rates[0] <= 3.0, "{both:?}");
    assert_eq!((plan_versions(&target, 1), plan_versions(&target, 2)), (1, 1), "{both:?}");
    assert_eq!(daemon.api.assignment("two").await.unwrap().workers.len(), 2);

    // Its hosts run: it stays, unless forced.
    let others = daemon.hosts("two").await;
    // The replanning includes the new job.
    let decision = daemon.replanned("two").await;
    assert!(!decision.contains("no plan") && !decision.contains("topology lacks"), "{decision}");
    let refused = daemon.delete("two", false).await;
    assert_eq!(refused.stage(), ChangeStage::Refused);
    assert!(refused.problem.contains(" of its hosts run: stop them first"), "{}", refused.problem);
    assert_eq!(daemon.jobs().await, both);
    let deleted = daemon.delete("two", true).await;
    assert_eq!(deleted.stage(), ChangeStage::Done, "{}", deleted.problem);
    drop(others);
    let left =
        daemon.until(|status| status.jobs.len() == 1 && (status.jobs[0].rate_bps - 3e6).abs() < 1.0).await;
    assert_eq!(left.jobs[0].name, "one", "the job that stays has its rate again");
    assert_eq!(plan_versions(&target, 2), 0, "its slots are free");
    assert_eq!(tables(&target).len(), before.len());
    assert!(daemon.api.assignment("two").await.is_err());

    // It may be submitted again, under another plan version.
    assert_eq!(daemon.submit(&topology(true), "two").await.stage(), ChangeStage::Done);
    let again = daemon.jobs().await;
    assert!(again[1].1 > both[1].1, "a plan version is never used twice: {again:?}");
    drop(hosts);
    daemon.kill();
}

#[tokio::test]
async fn a_controller_that_starts_with_the_longer_list_continues_both_jobs() {
    let (target, folder) = network();
    let daemon = Watcher::start(&target, folder.path(), 1, topology(false)).await;
    let hosts = daemon.hosts("one").await;
    assert_eq!(daemon.submit(&topology(true), "two").await.stage(), ChangeStage::Done);
    let (jobs, held) = (daemon.jobs().await, tables(&target));
    drop(hosts);
    daemon.kill();
    let records = Records::open(folder.path(), "shared").unwrap();
    let longer = topology(true);
    let pushes: Vec<(&JobId, &Push)> =
        records.jobs.iter().filter_map(|(job, record)| Some((job, record.live()?))).collect();
    assert!(
        pushes.iter().all(|(_, push)| push.is_on(&longer.to_yaml())),
        "each was installed on this network"
    );
    assert!(!pushes[0].1.is_on(&faster(&longer).to_yaml()), "not on another one");
    let plans = pushes.iter().map(|(job, push)| push.job_plan(**job)).collect();
    let next = Watcher::with_jobs(&target, folder.path(), 2, longer, plans).await;
    assert_eq!((next.jobs().await, tables(&target)), (jobs, held), "nothing was written");
    next.kill();
}

#[tokio::test]
async fn jobs_that_cannot_be_submitted_deleted_or_paused_are_named() {
    let (target, folder) = network();
    let daemon = Watcher::start(&target, folder.path(), 1, topology(false)).await;
    let before = tables(&target);
    let other = faster(&topology(true));
    for (document, job, named) in [
        (topology(true), "three", "no job \"three\""),
        (topology(true), "one", "job one runs already"),
        (other, "two", "not of the network that the controller runs"),
    ] {
        let refused = daemon.submit(&document, job).await;
        assert_eq!(refused.stage(), ChangeStage::Refused);
        assert!(refused.problem.contains(named), "{}", refused.problem);
    }
    let words = |error: api::ClientError| error.to_string();
    let refused = daemon.api.create_job("nodes: 7".into(), "two", None).await.map_err(words).unwrap_err();
    assert!(refused.contains("the topology: "), "{refused}");
    let refused =
        daemon.api.create_job(topology(true).to_yaml(), "two", Some(3)).await.map_err(words).unwrap_err();
    assert!(refused.contains("a window of 3 chunks: give a power of two"), "{refused}");
    let refused = daemon.api.delete_job("two", true).await.map_err(words).unwrap_err();
    assert!(refused.contains("the controller runs no job \"two\"; name one of one"), "{refused}");
    for refused in [daemon.api.pause_job("one").await, daemon.api.resume_job("one").await] {
        let refused = refused.map_err(words).unwrap_err();
        assert!(refused.contains("job one is not elastic, and only elastic jobs can be paused"), "{refused}");
    }
    assert_eq!(tables(&target), before, "nothing was written");
    daemon.kill();
}

#[tokio::test]
async fn a_switch_that_refuses_a_submitted_job_leaves_the_others_as_they_were() {
    let (target, folder) = network();
    let daemon = Watcher::start(&target, folder.path(), 1, topology(false)).await;
    let (before, jobs) = (tables(&target), daemon.jobs().await);
    target.change("v", |switch| switch.failpoint = Failpoint::Gone(switch.updates));
    let undone = daemon.submit(&topology(true), "two").await;
    assert_eq!(undone.stage(), ChangeStage::Undone, "{}", undone.problem);
    assert!(undone.problem.contains("switch v: "), "{}", undone.problem);
    target.change("v", |switch| switch.failpoint = Failpoint::Never);
    daemon.until(|status| status.switches[0].connected && status.switches[0].problem.is_empty()).await;
    for _ in 0..2000 {
        if tables(&target) == before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!((tables(&target), daemon.jobs().await), (before, jobs));
    daemon.kill();
}
