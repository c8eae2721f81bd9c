//! Migration of running jobs to other plans: the daemon on switches in memory, with hosts as threads that
//! watch it over its API. Whatever fails, the job continues under one of the two plans, and nothing remains
//! of the other.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_controller::daemon::Config;
use inart_controller::{Network, PortMap, Records, Stage};
use inart_controller_api::{Ending, Following, HostProgress, Instruction, NotDone};
use inart_planner_aggregation::{Options, Plan, Scheme, plan, schemes};
use inart_protocol_aggregation::{MigrationProgress, MigrationStep};
use inart_targets::memory::InMemory;
use inart_targets::{Failpoint, Precedence};
use inart_wire::{Incarnation, JobId, PlanVersion, ValuesPerFrame};
use support::daemon::{Daemon, config};
use support::walker::{Walker, check_own_slots};
use support::{LIMITS, fig1, job};
use tempfile::TempDir;

const SWITCHES: [&str; 2] = ["v1", "v2"];
const JOB: fn() -> JobId = || JobId::from(1);

/// Returns a plan of Fig. 1's job; these schemes give both servers the same share.
fn planned(scheme: &dyn Scheme) -> Plan {
    let topology = fig1();
    plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap()
}

/// Returns all roles of Fig. 1's job.
fn roles() -> Vec<String> {
    let workers = (0..6).map(|rank| format!("worker-{rank}"));
    workers.chain((0..2).map(|shard| format!("server-{shard}"))).collect()
}

/// Daemon on switches in memory, started with ATP's plan.
struct Session(Daemon);

impl Session {
    /// Listens on the socket in `folder`, where its records are.
    async fn start(target: &InMemory, folder: &Path, precedence: u128, within: Duration) -> Self {
        let config = config(target, folder, fig1(), vec![job(1, &planned(schemes::ATP))]);
        let config = Config { precedence: Precedence(precedence), change_within: within, ..config };
        Session(Daemon::at(config, address(folder)).await)
    }

    /// Returns the result of a change to a plan.
    async fn change(&self, plan: &Plan) -> ChangeStatus {
        let number = self.api.update_plan(plan.to_json()).await.unwrap();
        self.end_of(number).await
    }

    /// Returns the plan version that new hosts get.
    async fn plan_version(&self) -> u16 {
        self.api.assignment("").await.unwrap().plan_version.get()
    }

    /// Ends like a killed process, with all its connections.
    fn kill(self) {
        self.0.kill();
    }
}

impl std::ops::Deref for Session {
    type Target = Daemon;

    fn deref(&self) -> &Daemon {
        &self.0
    }
}

fn address(folder: &Path) -> String {
    format!("unix:{}", folder.join("api.sock").display())
}

/// Plan versions of an instruction.
type Versions = (u16, Option<u16>);

/// Host with a role, and the plan versions of its instructions.
struct Host {
    _following: Following,
    received: Arc<Mutex<Vec<Versions>>>,
}

impl Host {
    /// Starts a host that follows its instructions unless `refuses` returns a reason.
    async fn start(
        session: &Session,
        role: &str,
        refuses: impl Fn(Versions) -> Option<NotDone> + Send + 'static,
    ) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let apply = {
            let received = received.clone();
            move |instruction: &Instruction| {
                let plan_versions = (
                    instruction.assignment.plan_version.get(),
                    instruction.previous_plan_version.map(PlanVersion::get),
                );
                received.lock().unwrap().push(plan_versions);
                refuses(plan_versions).map_or(Ok(MigrationProgress::default()), Err)
            }
        };
        let following = session.host("", role, apply).await;
        Host { _following: following, received }
    }

    /// Returns the plan versions of the host's instructions, in order, without consecutive duplicates.
    fn instructions(&self) -> Vec<Versions> {
        let mut received = self.received.lock().unwrap().clone();
        received.dedup();
        received
    }

    /// Waits until the last instruction has these plan versions.
    async fn until(&self, wish: Versions) {
        for _ in 0..6000 {
            if self.instructions().last() == Some(&wish) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("waits for {wish:?}: {:?}", self.instructions());
    }
}

/// Starts all hosts of the job; worker-3 may refuse.
async fn hosts(
    session: &Session,
    refuses: impl Fn(Versions) -> Option<NotDone> + Send + Clone + 'static,
) -> Vec<Host> {
    let mut hosts = Vec::new();
    for role in roles() {
        let refuses = refuses.clone();
        let is_it = role == "worker-3";
        let refuses = move |at| if is_it { refuses(at) } else { None };
        hosts.push(Host::start(session, &role, refuses).await);
    }
    hosts
}

/// Returns a refusal function that blocks at an instruction until the sender is dropped.
fn blocked(at: Versions) -> (mpsc::Sender<()>, impl Fn(Versions) -> Option<NotDone> + Clone) {
    let (release, held) = mpsc::channel();
    let held = Arc::new(Mutex::new(held));
    let waits = move |received: Versions| {
        if received == at {
            let _: Result<(), _> = held.lock().unwrap().recv();
        }
        None
    };
    (release, waits)
}

fn tables(target: &InMemory) -> Network {
    SWITCHES.iter().map(|name| ((*name).to_owned(), target.switch(name).tables)).collect()
}

/// Returns the job's plan versions on any switch.
fn plan_versions(target: &InMemory) -> Vec<u16> {
    let all: BTreeSet<_> = tables(target).values().flat_map(|tables| tables.plan_versions(JOB())).collect();
    all.into_iter().map(PlanVersion::get).collect()
}

/// Waits until the switches hold these tables.
async fn until_held(target: &InMemory, wanted: &Network) {
    for _ in 0..6000 {
        if tables(target) == *wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the switches hold {:?}", plan_versions(target));
}

fn walks(target: &InMemory, plan: &Plan, plan_version: u16) {
    let (topology, tables) = (fig1(), tables(target));
    let ports = PortMap::new(&topology).unwrap();
    Walker::new(&topology, &tables, &ports, plan, JOB(), PlanVersion::from(plan_version)).check().unwrap();
    check_own_slots(&tables).unwrap();
}

fn target() -> InMemory {
    InMemory::new(ValuesPerFrame::N64, LIMITS)
}

/// Longer than any step here; only a failure waits for it.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_running_job_migrates_repeatedly() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let hosts = hosts(&session, |_| None).await;
    let [atp, lbmm] = [schemes::ATP, schemes::LBMM].map(planned);
    for (plan, plan_version) in [(&lbmm, 2), (&atp, 3), (&lbmm, 4)] {
        let ended = session.change(plan).await;
        assert_eq!(ended.stage(), ChangeStage::Done, "{ended:?}");
        assert_eq!((ended.from, ended.to), (u32::from(plan_version) - 1, u32::from(plan_version)));
        assert_eq!((ended.hosts, ended.confirmed), (8, 8));
        assert!(ended.updates_written > 10 && ended.updates_removed > 10, "{ended:?}");
        assert_eq!(plan_versions(&target), [plan_version]);
        walks(&target, plan, plan_version);
        assert_eq!(session.plan_version().await, plan_version);
    }
    let steps = [(1, None), (2, Some(1)), (2, None), (3, Some(2)), (3, None), (4, Some(3)), (4, None)];
    hosts.iter().for_each(|host| assert_eq!(host.instructions(), steps));
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!((record.live().unwrap().plan_version.get(), record.change), (4, None));
    assert!(record.stale.is_empty() && record.claimed.roles().count() == 8, "{record:?}");
    // They run under the new plan version, and no other host does.
    let again =
        session.api.register_host(JOB(), PlanVersion::from(4), "worker-0", Incarnation::from(9)).await;
    assert!(again.unwrap_err().to_string().contains("worker-0 has run under plan version 4 before"));
}

/// Every update fails in turn, in three ways: no host gets an instruction, and everything stays as before.
#[tokio::test]
async fn a_switch_that_refuses_or_dies_leaves_the_active_plan() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let hosts = hosts(&session, |_| None).await;
    let (before, lbmm) = (tables(&target), planned(schemes::LBMM));
    for name in SWITCHES {
        for kind in [Failpoint::Refuse, Failpoint::Broken, Failpoint::Gone] {
            for k in (0..12).step_by(2) {
                target.change(name, |switch| switch.failpoint = kind(switch.updates + k));
                let ended = session.change(&lbmm).await;
                assert_eq!(ended.stage(), ChangeStage::Undone, "{ended:?}");
                assert!(ended.problem.starts_with(&format!("switch {name}: ")), "{}", ended.problem);
                target.change(name, |switch| switch.failpoint = Failpoint::Never);
                until_held(&target, &before).await;
                let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
                assert_eq!((record.live().unwrap().plan_version.get(), record.change), (1, None));
            }
        }
    }
    hosts.iter().for_each(|host| assert_eq!(host.instructions(), [(1, None)], "no host got an instruction"));
    assert_eq!(session.change(&lbmm).await.stage(), ChangeStage::Done);
    walks(&target, &lbmm, 2);
}

/// A switch fails after all hosts have migrated: the new plan is active, and the old entries are removed
/// later.
#[tokio::test]
async fn entries_of_the_previous_plan_version_are_removed_when_the_switch_recovers() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = target.switch("v1").updates;
    let [atp, lbmm] = [schemes::ATP, schemes::LBMM].map(planned);
    session.change(&lbmm).await;
    let removed = target.switch("v1").tables.clone();
    session.change(&atp).await;
    // The third change writes as many entries as the first.
    let lbmm_entries = removed.steer.len() + 2 * removed.results.len();
    target.change("v1", |switch| switch.failpoint = Failpoint::Gone(switch.updates + lbmm_entries));
    let ended = session.change(&lbmm).await;
    assert_eq!((ended.stage(), ended.to), (ChangeStage::Done, 4), "{ended:?}");
    assert!(target.switch("v1").updates > before + lbmm_entries);
    assert_eq!(plan_versions(&target), [3, 4]);
    let record = || Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!(record().stale, [PlanVersion::from(3)].into());
    target.change("v1", |switch| switch.failpoint = Failpoint::Never);
    for _ in 0..6000 {
        if plan_versions(&target) == [4] {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    walks(&target, &lbmm, 4);
    assert_eq!(plan_versions(&target), [4]);
    // Nothing is left for the next change to remove.
    assert_eq!(session.change(&atp).await.stage(), ChangeStage::Done);
    assert!(record().stale.is_empty());
}

#[tokio::test]
async fn a_refusal_makes_all_hosts_migrate_back() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let refuses = |at: Versions| (at.0 == 2).then(|| NotDone::Refused("not today".into()));
    let hosts = hosts(&session, refuses).await;
    let (before, lbmm) = (tables(&target), planned(schemes::LBMM));
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Undone);
    assert_eq!(ended.problem, "worker-3 refuses: not today");
    assert_eq!(tables(&target), before);
    let back = [(1, None), (2, Some(1)), (1, Some(2)), (1, None)];
    assert_eq!(hosts[3].instructions(), back);
    // Other hosts may get the instruction to return before they have read the first one.
    let ends = [&back[..], &[back[0], back[2], back[3]]];
    hosts
        .iter()
        .for_each(|host| assert!(ends.contains(&&host.instructions()[..]), "{:?}", host.instructions()));
    // Hosts got plan version 2: it is never reused.
    let ended = session.change(&lbmm).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Done, 1, 3));
    walks(&target, &lbmm, 3);
}

/// A host's text may have any length; the daemon keeps and shows 1,024 bytes.
#[tokio::test]
async fn the_text_of_a_refusal_is_cut() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let refuses = |at: Versions| (at.0 == 2).then(|| NotDone::Refused(format!("x{}", "ä".repeat(200_000))));
    let _hosts = hosts(&session, refuses).await;
    let ended = session.change(&planned(schemes::LBMM)).await;
    assert_eq!(ended.stage(), ChangeStage::Undone);
    // Between two letters, so one byte less.
    assert_eq!(ended.problem, format!("worker-3 refuses: x{}", "ä".repeat(511)));
}

#[tokio::test]
async fn silent_hosts_are_named_and_the_change_is_undone() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, Duration::from_millis(400)).await;
    let lbmm = planned(schemes::LBMM);
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Refused, "no host watches");
    assert!(
        ended.problem.starts_with("no acknowledgement from server-0, server-1, worker-0"),
        "{}",
        ended.problem
    );
    assert!(ended.problem.contains("apply the plan after the job has ended"), "{}", ended.problem);

    // One that disconnects during the change: it ends at the instruction to migrate.
    let hosts = hosts(&session, |at| (at.0 == 2).then_some(NotDone::Ended)).await;
    for host in &hosts {
        host.until((1, None)).await;
    }
    let before = tables(&target);
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Undone, "{ended:?}");
    assert_eq!(ended.problem, "no acknowledgement from worker-3 within 0.4 s");
    assert_eq!(tables(&target), before);
    hosts[0].until((1, None)).await;
}

#[tokio::test]
async fn plans_that_a_job_cannot_migrate_to_are_refused_without_a_change() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = tables(&target);
    let mut shares = planned(schemes::LBMM);
    (shares.shards[0].share, shares.shards[1].share) = (0.75, 0.25);
    let unknown = Plan { job: "letters".into(), ..planned(schemes::LBMM) };
    for (plan, says) in [
        (shares, "the share of server s1 is 0.5 in the active plan"),
        (unknown, "no job \"letters\"; name one of digits"),
        (planned(schemes::ATP), "this plan is already active, under plan version 1"),
    ] {
        let ended = session.change(&plan).await;
        assert_eq!(ended.stage(), ChangeStage::Refused, "{ended:?}");
        assert!(ended.problem.contains(says) && !ended.problem.contains('\n'), "{}", ended.problem);
        assert_eq!(tables(&target), before);
    }
    let error = session.api.update_plan("{}".into()).await.unwrap_err().to_string();
    assert!(error.contains("the plan: "), "{error}");
}

/// A host watches for the role that it was granted, in the incarnation that was granted it, and for no
/// other.
#[tokio::test]
async fn only_the_host_with_a_role_watches_and_acknowledges_for_it() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (one, other) = (Incarnation::from(1), Incarnation::from(2));
    let assignment = session.api.assignment("").await.unwrap();
    session.api.register_host(assignment.job, assignment.plan_version, "worker-0", one).await.unwrap();
    let mut instructions = session.api.watch_instructions(assignment.job, "worker-0", one).await.unwrap();
    let first = instructions.next().await.unwrap().unwrap();
    assert_eq!(
        first,
        Instruction {
            assignment: assignment.clone(),
            previous_plan_version: None,
            step: MigrationStep::Move,
            ending: Ending::None
        }
    );
    session.api.ack_instruction("worker-0", one, &first, Ok(HostProgress::default())).await.unwrap();
    for (job, role, incarnation) in [
        (assignment.job, "worker-0", other),
        (assignment.job, "worker-0", Incarnation::UNKNOWN),
        (assignment.job, "worker-1", one),
        (JobId::from(2), "worker-0", one),
    ] {
        let refused = session.api.watch_instructions(job, role, incarnation).await.err().unwrap().to_string();
        assert!(refused.contains(&format!("{role} of job {job} was not granted to this host")), "{refused}");
        let mut answer = first.clone();
        answer.assignment.job = job;
        let refused = session
            .api
            .ack_instruction(role, incarnation, &answer, Ok(HostProgress::default()))
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("was not granted"), "{refused}");
    }
}

/// The controller is killed while hosts migrate: the next one returns them, and removes the new entries.
#[tokio::test]
async fn a_controller_that_is_killed_while_hosts_migrate_leaves_the_change_to_the_next() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (release, waits) = blocked((2, Some(1)));
    let hosts = hosts(&session, waits).await;
    let before = tables(&target);
    session.api.update_plan(planned(schemes::LBMM).to_json()).await.unwrap();
    hosts[0].until((2, Some(1))).await;
    assert_eq!(plan_versions(&target), [1, 2]);
    session.kill();
    drop(release);
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!(record.change.map(|change| (change.stage, change.other.get())), Some((Stage::Moving, 2)));

    let session = Session::start(&target, folder.path(), 2, LONG).await;
    let ended = session.end_of(1).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Undone, 1, 2), "{ended:?}");
    assert_eq!(tables(&target), before);
    for host in &hosts {
        host.until((1, None)).await;
    }
    let ended = session.change(&planned(schemes::LBMM)).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Done, 1, 3), "{ended:?}");
}

/// The controller is killed after all hosts have migrated: the next one closes the previous plan version.
#[tokio::test]
async fn a_controller_that_is_killed_while_it_closes_leaves_that_to_the_next() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (release, waits) = blocked((2, None));
    let hosts = hosts(&session, waits).await;
    let lbmm = planned(schemes::LBMM);
    session.api.update_plan(lbmm.to_json()).await.unwrap();
    hosts[0].until((2, None)).await;
    assert_eq!(plan_versions(&target), [1, 2], "worker-3 has not closed it");
    session.kill();
    drop(release);
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!(record.change.map(|change| (change.stage, change.other.get())), Some((Stage::Closing, 1)));

    // Started with the job's first plan, like the first controller.
    let session = Session::start(&target, folder.path(), 2, LONG).await;
    let ended = session.end_of(1).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Done, 1, 2), "{ended:?}");
    assert_eq!((plan_versions(&target), session.plan_version().await), (vec![2], 2));
    walks(&target, &lbmm, 2);
    let ended = session.change(&planned(schemes::ATP)).await;
    assert_eq!((ended.stage(), ended.to), (ChangeStage::Done, 3), "{ended:?}");
}

/// The controller is killed while it writes: no host got an instruction, so the next one removes the
/// entries.
#[tokio::test]
async fn a_controller_that_is_killed_while_it_writes_leaves_entries_that_the_next_removes() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = tables(&target);
    session.kill();
    // State after the write to the first switch.
    let mut model = support::controller(&fig1(), Records::default());
    let report = support::now(model.install(&[job(1, &planned(schemes::ATP))])).unwrap();
    let record = &model.records().jobs[&JOB()];
    let leads = inart_controller::live_change(
        model.fabric(),
        &report.desired,
        record,
        &report.assignments[0],
        planned(schemes::LBMM),
    );
    let half = leads.unwrap().both.remove("v1").unwrap();
    target.change("v1", |switch| switch.tables = half);
    assert_eq!(plan_versions(&target), [1, 2]);
    let file = folder.path().join("fig1.json");
    let mut kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    kept["jobs"]["1"]["change"] = serde_json::json!({"stage": "writing", "other": 2});
    std::fs::write(&file, kept.to_string()).unwrap();

    let session = Session::start(&target, folder.path(), 2, LONG).await;
    assert_eq!(tables(&target), before);
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!((record.live().unwrap().plan_version.get(), record.change), (1, None));
    let ended = session.change(&planned(schemes::LBMM)).await;
    assert_eq!((ended.stage(), ended.to), (ChangeStage::Done, 2), "{ended:?}");
}
