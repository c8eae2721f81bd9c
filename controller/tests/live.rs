//! Running jobs are moved to other plans: the daemon on switches in memory, its hosts as threads that follow
//! it over its API. Whatever fails, the job goes on under one of the two plans, and nothing is left behind.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_controller::daemon::Config;
use inart_controller::{Network, PortMap, Records, Stage};
use inart_controller_api::{Ending, Following, Held, Instruction, NotDone};
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

/// A plan of Fig. 1's job; these schemes give both servers the same share.
fn planned(scheme: &dyn Scheme) -> Plan {
    let topology = fig1();
    plan(&topology, &topology.jobs()[0], &Options::new(scheme)).unwrap()
}

/// All roles of Fig. 1's job.
fn roles() -> Vec<String> {
    let workers = (0..6).map(|rank| format!("worker-{rank}"));
    workers.chain((0..2).map(|shard| format!("server-{shard}"))).collect()
}

/// A daemon on switches in memory, started with ATP's plan.
struct Session(Daemon);

impl Session {
    /// Listens on the socket in `folder`, where its records are.
    async fn start(target: &InMemory, folder: &Path, precedence: u128, within: Duration) -> Self {
        let config = config(target, folder, fig1(), vec![job(1, &planned(schemes::ATP))]);
        let config = Config { precedence: Precedence(precedence), change_within: within, ..config };
        Session(Daemon::at(config, address(folder)).await)
    }

    /// What came of the change to a plan.
    async fn change(&self, plan: &Plan) -> ChangeStatus {
        let number = self.api.update_plan(plan.to_json()).await.unwrap();
        self.end_of(number).await
    }

    /// The plan version that hosts which start are told.
    async fn plan_version(&self) -> u16 {
        self.api.assignment("").await.unwrap().plan_version.get()
    }

    /// Ends as a process that is killed does, with all its connections.
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

/// The plan versions of an instruction.
type Told = (u16, Option<u16>);

/// A host that was granted its role, and what it was told.
struct Host {
    _following: Following,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Host {
    /// One that does as it is told, unless `refuses` says why not.
    async fn start(
        session: &Session,
        role: &str,
        refuses: impl Fn(Told) -> Option<NotDone> + Send + 'static,
    ) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        let apply = {
            let told = told.clone();
            move |instruction: &Instruction| {
                let plan_versions = (
                    instruction.assignment.plan_version.get(),
                    instruction.previous_plan_version.map(PlanVersion::get),
                );
                told.lock().unwrap().push(plan_versions);
                refuses(plan_versions).map_or(Ok(MigrationProgress::default()), Err)
            }
        };
        let following = session.host("", role, apply).await;
        Host { _following: following, told }
    }

    /// What it was told, in order, nothing twice in a row.
    fn told(&self) -> Vec<Told> {
        let mut told = self.told.lock().unwrap().clone();
        told.dedup();
        told
    }

    /// Waits until it is told this.
    async fn until(&self, wish: Told) {
        for _ in 0..6000 {
            if self.told().last() == Some(&wish) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("waits for {wish:?}: {:?}", self.told());
    }
}

/// All hosts of the job; worker-3 may refuse.
async fn hosts(
    session: &Session,
    refuses: impl Fn(Told) -> Option<NotDone> + Send + Clone + 'static,
) -> Vec<Host> {
    let mut hosts = Vec::new();
    for role in roles() {
        let refuses = refuses.clone();
        let is_it = role == "worker-3";
        let refuses = move |told| if is_it { refuses(told) } else { None };
        hosts.push(Host::start(session, &role, refuses).await);
    }
    hosts
}

/// What a host does that does not come to an instruction until that is dropped.
fn held_up(at: Told) -> (mpsc::Sender<()>, impl Fn(Told) -> Option<NotDone> + Clone) {
    let (release, held) = mpsc::channel();
    let held = Arc::new(Mutex::new(held));
    let waits = move |told: Told| {
        if told == at {
            let _: Result<(), _> = held.lock().unwrap().recv();
        }
        None
    };
    (release, waits)
}

fn tables(target: &InMemory) -> Network {
    SWITCHES.iter().map(|name| ((*name).to_owned(), target.switch(name).tables)).collect()
}

/// The job's plan versions on any switch.
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

/// Longer than anything takes here; only a failure waits for it.
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_running_job_is_moved_again_and_again() {
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
    hosts.iter().for_each(|host| assert_eq!(host.told(), steps));
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!((record.live().unwrap().plan_version.get(), record.change), (4, None));
    assert!(record.stale.is_empty() && record.claimed.roles().count() == 8, "{record:?}");
    // They run under the new plan version: nobody else does.
    let again =
        session.api.register_host(JOB(), PlanVersion::from(4), "worker-0", Incarnation::from(9)).await;
    assert!(again.unwrap_err().to_string().contains("worker-0 has run under plan version 4 before"));
}

/// Every update fails in turn, in three ways: no host hears of it, and all is as it was.
#[tokio::test]
async fn a_switch_that_refuses_or_dies_leaves_the_plan_in_force() {
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
    hosts.iter().for_each(|host| assert_eq!(host.told(), [(1, None)], "nobody was told"));
    assert_eq!(session.change(&lbmm).await.stage(), ChangeStage::Done);
    walks(&target, &lbmm, 2);
}

/// A switch dies when all hosts have moved: the new plan is in force, and the old entries go later.
#[tokio::test]
async fn what_a_switch_keeps_of_the_plan_version_before_is_removed_when_it_is_back() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = target.switch("v1").updates;
    let [atp, lbmm] = [schemes::ATP, schemes::LBMM].map(planned);
    session.change(&lbmm).await;
    let removed = target.switch("v1").tables.clone();
    session.change(&atp).await;
    // The third change writes as many entries as the first did.
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
    // Nothing is left to be removed by the next one.
    assert_eq!(session.change(&atp).await.stage(), ChangeStage::Done);
    assert!(record().stale.is_empty());
}

#[tokio::test]
async fn a_host_that_refuses_makes_all_move_back() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let refuses = |told: Told| (told.0 == 2).then(|| NotDone::Refused("not today".into()));
    let hosts = hosts(&session, refuses).await;
    let (before, lbmm) = (tables(&target), planned(schemes::LBMM));
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Undone);
    assert_eq!(ended.problem, "worker-3 refuses: not today");
    assert_eq!(tables(&target), before);
    let back = [(1, None), (2, Some(1)), (1, Some(2)), (1, None)];
    assert_eq!(hosts[3].told(), back);
    // Others may have been told to go back before they had read that they should go.
    let ends = [&back[..], &[back[0], back[2], back[3]]];
    hosts.iter().for_each(|host| assert!(ends.contains(&&host.told()[..]), "{:?}", host.told()));
    // Hosts were told plan version 2: it is never used again.
    let ended = session.change(&lbmm).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Done, 1, 3));
    walks(&target, &lbmm, 3);
}

/// A host's text may be of any length; the daemon keeps and shows 1,024 bytes of it.
#[tokio::test]
async fn the_text_of_a_refusal_is_cut() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let refuses = |told: Told| (told.0 == 2).then(|| NotDone::Refused(format!("x{}", "ä".repeat(200_000))));
    let _hosts = hosts(&session, refuses).await;
    let ended = session.change(&planned(schemes::LBMM)).await;
    assert_eq!(ended.stage(), ChangeStage::Undone);
    // Between two letters, so one byte less.
    assert_eq!(ended.problem, format!("worker-3 refuses: x{}", "ä".repeat(511)));
}

#[tokio::test]
async fn hosts_that_say_nothing_are_named_and_the_change_is_undone() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, Duration::from_millis(400)).await;
    let lbmm = planned(schemes::LBMM);
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Refused, "nobody follows");
    assert!(ended.problem.starts_with("no word from server-0, server-1, worker-0"), "{}", ended.problem);
    assert!(ended.problem.contains("push the plan when the job has ended"), "{}", ended.problem);

    // One that goes away in the middle of it: it ends when it is told to move.
    let hosts = hosts(&session, |told| (told.0 == 2).then_some(NotDone::Ended)).await;
    for host in &hosts {
        host.until((1, None)).await;
    }
    let before = tables(&target);
    let ended = session.change(&lbmm).await;
    assert_eq!(ended.stage(), ChangeStage::Undone, "{ended:?}");
    assert_eq!(ended.problem, "no word from worker-3 within 0.4 s");
    assert_eq!(tables(&target), before);
    hosts[0].until((1, None)).await;
}

#[tokio::test]
async fn what_cannot_be_moved_is_refused_and_changes_nothing() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = tables(&target);
    let mut shares = planned(schemes::LBMM);
    (shares.shards[0].share, shares.shards[1].share) = (0.75, 0.25);
    let stranger = Plan { job: "letters".into(), ..planned(schemes::LBMM) };
    for (plan, says) in [
        (shares, "the share of server s1 is 0.5 in the active plan"),
        (stranger, "no job \"letters\"; name one of digits"),
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

/// A host follows for the role that it was granted, in the incarnation that it was granted to, and for no
/// other.
#[tokio::test]
async fn only_who_was_granted_a_role_follows_and_answers_for_it() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (one, other) = (Incarnation::from(1), Incarnation::from(2));
    let told = session.api.assignment("").await.unwrap();
    session.api.register_host(told.job, told.plan_version, "worker-0", one).await.unwrap();
    let mut instructions = session.api.watch_instructions(told.job, "worker-0", one).await.unwrap();
    let first = instructions.next().await.unwrap().unwrap();
    assert_eq!(
        first,
        Instruction {
            assignment: told.clone(),
            previous_plan_version: None,
            step: MigrationStep::Move,
            ending: Ending::None
        }
    );
    session.api.ack_instruction("worker-0", one, &first, Ok(Held::default())).await.unwrap();
    for (job, role, incarnation) in [
        (told.job, "worker-0", other),
        (told.job, "worker-0", Incarnation::UNKNOWN),
        (told.job, "worker-1", one),
        (JobId::from(2), "worker-0", one),
    ] {
        let refused = session.api.watch_instructions(job, role, incarnation).await.err().unwrap().to_string();
        assert!(refused.contains(&format!("{role} of job {job} was not granted to this host")), "{refused}");
        let mut answer = first.clone();
        answer.assignment.job = job;
        let refused = session
            .api
            .ack_instruction(role, incarnation, &answer, Ok(Held::default()))
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("was not granted"), "{refused}");
    }
}

/// The controller is killed while hosts move: the next one has them move back, and removes what is too many.
#[tokio::test]
async fn a_controller_that_is_killed_while_hosts_move_leaves_the_change_to_the_next() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (release, waits) = held_up((2, Some(1)));
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

/// The controller is killed when all hosts have moved: the next one closes the previous plan version.
#[tokio::test]
async fn a_controller_that_is_killed_while_it_closes_leaves_that_to_the_next() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let (release, waits) = held_up((2, None));
    let hosts = hosts(&session, waits).await;
    let lbmm = planned(schemes::LBMM);
    session.api.update_plan(lbmm.to_json()).await.unwrap();
    hosts[0].until((2, None)).await;
    assert_eq!(plan_versions(&target), [1, 2], "worker-3 has not closed it");
    session.kill();
    drop(release);
    let record = Records::open(folder.path(), "fig1").unwrap().jobs[&JOB()].clone();
    assert_eq!(record.change.map(|change| (change.stage, change.other.get())), Some((Stage::Closing, 1)));

    // It is started with the plan by which the job began, as the first was.
    let session = Session::start(&target, folder.path(), 2, LONG).await;
    let ended = session.end_of(1).await;
    assert_eq!((ended.stage(), ended.from, ended.to), (ChangeStage::Done, 1, 2), "{ended:?}");
    assert_eq!((plan_versions(&target), session.plan_version().await), (vec![2], 2));
    walks(&target, &lbmm, 2);
    let ended = session.change(&planned(schemes::ATP)).await;
    assert_eq!((ended.stage(), ended.to), (ChangeStage::Done, 3), "{ended:?}");
}

/// The controller is killed while it writes: no host was told, so the next one removes what is there.
#[tokio::test]
async fn a_controller_that_is_killed_while_it_writes_leaves_entries_that_the_next_removes() {
    let (target, folder) = (target(), TempDir::new().unwrap());
    let session = Session::start(&target, folder.path(), 1, LONG).await;
    let _hosts = hosts(&session, |_| None).await;
    let before = tables(&target);
    session.kill();
    // As it is after the first switch was written.
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
