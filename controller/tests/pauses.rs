//! A paused job releases its slots, and gets new ones when it is resumed, or learns what is missing: the
//! daemon on a switch in memory, through its API, with hosts that join as tasks.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::time::Duration;

use inart_controller::api::proto::ChangeStage;
use inart_controller_api::{Answer, Joining};
use inart_planner_aggregation::{Options, plan_all, schemes};
use inart_tables::Limits;
use inart_targets::memory::InMemory;
use inart_topologies::switched::Topology;
use inart_wire::{JobId, ValuesPerFrame};
use support::daemon::{Daemon, INCARNATION, config};
use support::{LIMITS, job};
use tempfile::TempDir;

/// Returns a topology of one switch, and one server of all jobs, whose link they share; `two` is elastic.
fn topology(jobs: &str) -> Topology {
    let text = format!(
        "{{name: shared, nodes: [{{name: v, kind: switch, aggregation_capacity: 12 Mbps}},
           {{name: s, kind: server}},
           {{name: a, kind: worker}}, {{name: b, kind: worker}},
           {{name: c, kind: worker}}, {{name: d, kind: worker}}],
          links: [{{ends: [a, v], rate: 3 Mbps}}, {{ends: [b, v], rate: 3 Mbps}},
           {{ends: [c, v], rate: 3 Mbps}}, {{ends: [d, v], rate: 3 Mbps}},
           {{ends: [s, v], rate: 4 Mbps}}], jobs: [{jobs}]}}"
    );
    Topology::from_yaml(&text).unwrap()
}

const BOTH: &str =
    "{name: one, workers: [a, b], servers: [s]}, {name: two, workers: [c, d], servers: [s], elastic: true}";
const THREE: &str = "{name: one, workers: [a, b], servers: [s]},
    {name: two, workers: [c, d], servers: [s], elastic: true}, {name: three, workers: [a, c], servers: [s]}";

async fn both(target: &InMemory, folder: &TempDir) -> Daemon {
    let topology = topology(BOTH);
    let plans = plan_all(&topology, &Options::new(schemes::OPTIMIZED)).unwrap();
    let jobs = plans.iter().zip(1..).map(|(plan, number)| job(number, plan)).collect();
    let mut config = config(target, folder.path(), topology, jobs);
    // Without watching hosts no job can migrate.
    config.change_within = Duration::from_millis(500);
    Daemon::start(config, folder.path()).await
}

fn plan_versions(target: &InMemory, job: u16) -> usize {
    target.switch("v").tables.plan_versions(JobId::from(job)).len()
}

async fn rate(daemon: &Daemon, name: &str) -> f64 {
    let status = daemon.api.status().await.unwrap();
    status.jobs.iter().find(|job| job.name == name).unwrap().rate_bps
}

async fn phase(daemon: &Daemon) -> String {
    let status = daemon.api.status().await.unwrap();
    status.jobs.into_iter().find_map(|job| job.rendezvous).unwrap().phase
}

/// Lets all hosts of job two request a view until they have one.
async fn join(daemon: &Daemon) {
    let ask = async |host: &str| {
        let joining = Joining {
            host: host.into(),
            incarnation: INCARNATION(),
            last: None,
            stop_point: None,
            rounds: 0,
            must_load_state: false,
        };
        for _ in 0..60 {
            if let Answer::Admitted(bitmap_index) = daemon.api.join("two", &joining).await.unwrap() {
                return bitmap_index;
            }
        }
        panic!("{host} gets no bitmap index: {}", phase(daemon).await);
    };
    let (c, d, s) = futures::join!(ask("c"), ask("d"), ask("s"));
    assert!(c.view == d.view && d.view == s.view);
}

async fn until_removed(target: &InMemory, job: u16) {
    for _ in 0..2000 {
        if plan_versions(target, job) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("job {job} holds entries");
}

#[tokio::test]
async fn a_paused_job_releases_its_slots_and_gets_others_when_it_is_resumed() {
    let (target, folder) = (InMemory::new(ValuesPerFrame::N64, LIMITS), TempDir::new().unwrap());
    let daemon = both(&target, &folder).await;
    let _hosts = daemon.hosts("one", &["worker-0", "worker-1", "server-0"]).await;
    let with_both = rate(&daemon, "one").await;
    assert_eq!((plan_versions(&target, 1), plan_versions(&target, 2)), (1, 1));

    daemon.api.pause_job("two").await.unwrap();
    until_removed(&target, 2).await;
    assert_eq!(phase(&daemon).await, "the job is paused");
    // The other job gets the released capacity.
    daemon
        .until(|status| {
            status.jobs.iter().any(|job| job.name == "one" && (job.rate_bps - 3e6).abs() < 1.0)
                && status.changes.iter().all(|change| change.stage() == ChangeStage::Done)
        })
        .await;
    assert!(with_both < 2.9e6, "{with_both}");
    assert_eq!(plan_versions(&target, 2), 0);

    daemon.api.resume_job("two").await.unwrap();
    join(&daemon).await;
    assert_eq!(plan_versions(&target, 2), 1);
    let (one, two) = (rate(&daemon, "one").await, rate(&daemon, "two").await);
    assert!(one < 2.9e6 && two > 1e6, "{one} {two}");
    assert!(
        target
            .switch("v")
            .tables
            .plan_versions(JobId::from(2))
            .into_iter()
            .all(|plan_version| plan_version.get() > 1)
    );
}

/// Another job uses its slots: the resumed job learns what is missing, and runs once it is available.
#[tokio::test]
async fn a_job_without_slots_reports_it_and_waits_for_them() {
    // Room for two jobs of 64 slots.
    let limits = Limits { slots: 128, ..LIMITS };
    let (target, folder) = (InMemory::new(ValuesPerFrame::N64, limits), TempDir::new().unwrap());
    let daemon = both(&target, &folder).await;
    let number = daemon.api.create_job(topology(THREE).to_yaml(), "three", None).await.unwrap();
    let refused = daemon.end_of(number).await;
    assert_eq!(refused.stage(), ChangeStage::Refused, "{refused:?}");
    assert!(refused.problem.contains("slots"), "{}", refused.problem);

    daemon.api.pause_job("two").await.unwrap();
    until_removed(&target, 2).await;
    let number = daemon.api.create_job(topology(THREE).to_yaml(), "three", None).await.unwrap();
    let done = daemon.end_of(number).await;
    assert_eq!(done.stage(), ChangeStage::Done, "{}", done.problem);
    let again = daemon.api.create_job(topology(THREE).to_yaml(), "two", None).await.unwrap();
    let refused = daemon.end_of(again).await;
    assert!(refused.problem.contains("job two runs already"), "it is not forgotten: {refused:?}");

    daemon.api.resume_job("two").await.unwrap();
    let wait = async {
        loop {
            let reported = phase(&daemon).await;
            if reported.contains("no view can be formed") {
                return reported;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let reported = tokio::select! {
        () = join(&daemon) => panic!("there is no room"),
        reported = wait => reported,
    };
    assert!(reported.contains("slots") && reported.contains("switch v"), "{reported}");
    let number = daemon.api.delete_job("three", true).await.unwrap();
    assert_eq!(daemon.end_of(number).await.stage(), ChangeStage::Done);
    join(&daemon).await;
    assert_eq!((plan_versions(&target, 2), plan_versions(&target, 3)), (1, 0));
}

/// A change that waits for the end of a view ends with its job; clients would wait for it forever
/// otherwise.
#[tokio::test]
async fn a_change_for_the_next_view_of_a_deleted_job_ends() {
    let (target, folder) = (InMemory::new(ValuesPerFrame::N64, LIMITS), TempDir::new().unwrap());
    let daemon = both(&target, &folder).await;
    join(&daemon).await;
    let assignment = daemon.api.assignment("two").await.unwrap();
    let mut hosts = Vec::new();
    for role in ["worker-0", "worker-1", "server-0"] {
        let stay = |_: &_| Ok(Default::default());
        hosts.extend(daemon.source("two").follow(assignment.job, role, INCARNATION(), stay).unwrap());
    }
    let fewer = topology("{name: two, workers: [c], servers: [s], elastic: true}");
    let plan = plan_all(&fewer, &Options::new(schemes::OPTIMIZED)).unwrap().remove(0);
    let change = daemon.api.update_plan(serde_json::to_string(&plan).unwrap()).await.unwrap();
    let waits = |status: &inart_controller::api::proto::Status| {
        let found = status.changes.iter().find(|found| found.number == change);
        found.is_some_and(|found| found.stage() == ChangeStage::Migrating)
    };
    daemon.until(waits).await;
    let deleted = daemon.api.delete_job("two", true).await.unwrap();
    assert_eq!(daemon.end_of(deleted).await.stage(), ChangeStage::Done);
    let ended = daemon.end_of(change).await;
    assert_eq!(ended.stage(), ChangeStage::Refused, "{ended:?}");
    assert!(ended.problem.contains("deleted the job"), "{}", ended.problem);
}
