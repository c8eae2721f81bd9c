//! Coordinated migration of real hosts from plan to plan: the daemon on switches in memory, with workers
//! and servers as threads on a network within the process. Every sum is checked, and a coordinated change
//! retransmits nothing.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use inart_controller::api::proto::{ChangeStage, ChangeStatus};
use inart_controller_api::{Following, Instruction, NotDone};
use inart_host_agent::{InProcess, MigrationError, Migrator, Options, Server, Stopper, Worker};
use inart_planner_aggregation::{Options as PlanOptions, Plan, Scheme, plan, schemes};
use inart_protocol_aggregation::{MigrationProgress, MigrationStep, WorkerCounters};
use inart_targets::memory::InMemory;
use inart_wire::ValuesPerFrame;
use support::daemon::{Daemon, config};
use support::{LIMITS, fig1, job};
use tempfile::TempDir;

const WORKERS: u16 = 6;
const LEN: usize = 20_000;

fn planned(scheme: &dyn Scheme) -> Plan {
    let topology = fig1();
    plan(&topology, &topology.jobs()[0], &PlanOptions::new(scheme)).unwrap()
}

fn apply(migrator: &Migrator, instruction: &Instruction) -> Result<MigrationProgress, NotDone> {
    migrator
        .take(instruction.step, instruction.assignment.clone(), instruction.previous_plan_version)
        .map_err(|error| match error {
            MigrationError::Refused(why) => NotDone::Refused(why.to_string()),
            MigrationError::Ended => NotDone::Ended,
        })
}

/// Action of a host with an instruction before it carries it out.
type Before = Arc<dyn Fn(&str, &Instruction) -> Result<(), NotDone> + Send + Sync>;

/// Job whose workers train until the test ends them.
struct Job {
    daemon: Daemon,
    _folder: TempDir,
    following: Vec<Following>,
    servers: Vec<(Stopper, JoinHandle<()>)>,
    workers: Vec<JoinHandle<(u32, WorkerCounters)>>,
    is_done: Arc<AtomicBool>,
    rounds: Arc<Mutex<u32>>,
}

impl Job {
    async fn start(before: Before) -> Self {
        Self::held(before, Arc::default()).await
    }

    /// Starts a job whose worker 3 starts no round while it is held.
    async fn held(before: Before, held: Arc<AtomicBool>) -> Self {
        let (target, folder) = (InMemory::new(ValuesPerFrame::N64, LIMITS), TempDir::new().unwrap());
        let jobs = vec![job(1, &planned(schemes::ATP))];
        let config = config(&target, folder.path(), fig1(), jobs);
        let daemon = Daemon::start(config, folder.path()).await;
        let (network, assignment) = (InProcess::new(), daemon.api.assignment("").await.unwrap());
        let (mut following, mut servers, mut workers) = (Vec::new(), Vec::new(), Vec::new());
        let is_done = Arc::new(AtomicBool::new(false));
        let options = || Options { peer_timeout: Duration::from_secs(60), ..Options::default() };
        let follows = |role: String, migrator: Migrator| {
            let before = before.clone();
            move |instruction: &Instruction| {
                before(&role, instruction)?;
                apply(&migrator, instruction)
            }
        };
        for shard in 0..2u16 {
            let port = network.port(assignment.shards[usize::from(shard)].mac);
            let mut server =
                Server::with_transport(assignment.clone(), shard.into(), port, options()).unwrap();
            let (role, migrator, stopper) = (format!("server-{shard}"), server.migrator(), server.stopper());
            following.push(daemon.host("", &role, follows(role.clone(), migrator)).await);
            servers.push((stopper, thread::spawn(move || server.run().unwrap())));
        }
        let rounds = Arc::new(Mutex::new(0));
        for rank in 0..WORKERS {
            let port = network.port(assignment.workers[usize::from(rank)].mac);
            let number = rank.try_into().unwrap();
            let worker = Worker::with_options(assignment.clone(), number, port, options()).unwrap();
            let role = format!("worker-{rank}");
            following.push(daemon.host("", &role, follows(role.clone(), worker.migrator())).await);
            let (is_done, rounds) = (is_done.clone(), rounds.clone());
            let held = if rank == 3 { held.clone() } else { Arc::default() };
            workers.push(thread::spawn(move || train(&worker, &is_done, &rounds, &held)));
        }
        Job { daemon, _folder: folder, following, servers, workers, is_done, rounds }
    }

    /// Waits for a number of further rounds.
    async fn run_rounds(&self, more: u32) {
        let until = *self.rounds.lock().unwrap() + more;
        for _ in 0..6000 {
            if *self.rounds.lock().unwrap() >= until {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("no round ends");
    }

    async fn change(&self, scheme: &dyn Scheme) -> ChangeStatus {
        let number = self.daemon.api.update_plan(planned(scheme).to_json()).await.unwrap();
        self.daemon.end_of(number).await
    }

    /// Ends the job. Returns the rounds of the workers, which are equal, and the sum of their counters.
    fn end(self) -> (u32, WorkerCounters) {
        self.is_done.store(true, Ordering::Release);
        let ended: Vec<_> = self.workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        assert!(ended.iter().all(|(rounds, _)| *rounds == ended[0].0));
        drop(self.following);
        for (stopper, server) in self.servers {
            stopper.stop();
            server.join().unwrap();
        }
        let mut all = WorkerCounters::default();
        ended.iter().for_each(|(_, counters)| all += *counters);
        (ended[0].0, all)
    }
}

/// Trains until all workers see the end in the same round; checks each sum.
fn train(
    worker: &Worker,
    is_done: &AtomicBool,
    rounds: &Mutex<u32>,
    held: &AtomicBool,
) -> (u32, WorkerCounters) {
    let mut all = WorkerCounters::default();
    for round in 0u32.. {
        while held.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(5));
        }
        let value = (round % 512) as f32 + 0.5;
        let mut tensor = vec![value; LEN];
        tensor[LEN - 1] = f32::from(u8::from(is_done.load(Ordering::Acquire)));
        let (sum, stats) = worker.wait(worker.start(tensor).unwrap()).unwrap();
        all += stats.counters;
        let right = f32::from(WORKERS) * value;
        assert!(sum[..LEN - 1].iter().all(|value| *value == right), "round {round}");
        *rounds.lock().unwrap() = round + 1;
        if sum[LEN - 1] > 0.0 {
            return (round + 1, all);
        }
    }
    panic!("no worker was ended")
}

#[tokio::test]
async fn training_hosts_migrate_in_a_coordinated_cut_over() {
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = steps.clone();
    let job = Job::start(Arc::new(move |role, instruction| {
        seen.lock().unwrap().push((role.to_owned(), instruction.step));
        Ok(())
    }))
    .await;
    for (scheme, plan_version) in
        [(schemes::LBMM, 2), (schemes::ATP, 3), (schemes::LBMM, 4), (schemes::ATP, 5)]
    {
        job.run_rounds(2).await;
        let ended = job.change(scheme).await;
        assert_eq!((ended.stage(), ended.to), (ChangeStage::Done, plan_version), "{ended:?}");
        assert!(ended.coordinated, "{ended:?}");
        assert_eq!((ended.hosts, ended.confirmed), (8, 8));
    }
    job.run_rounds(2).await;
    let (rounds, counters) = job.end();
    eprintln!("{rounds} rounds: {counters:?}");
    assert!(rounds >= 10 && counters.results > 0, "{counters:?}");
    let steps = steps.lock().unwrap();
    for kind in ["worker", "server"] {
        let was_sent = |step| steps.iter().any(|(role, sent)| role.starts_with(kind) && *sent == step);
        assert!(
            [MigrationStep::Prepare, MigrationStep::Lead, MigrationStep::Move].into_iter().all(was_sent),
            "{kind}"
        );
    }
    // All workers know the plan version before a server leads.
    let first = |kind: &str, step| {
        steps.iter().position(|(role, sent)| role.starts_with(kind) && *sent == step).unwrap()
    };
    assert!(first("worker", MigrationStep::Prepare) < first("server", MigrationStep::Lead));
}

/// A worker's program stops during a change: the others wait for results without success, and all are
/// forced to migrate.
#[tokio::test]
async fn a_stopped_worker_forces_all_hosts_to_migrate() {
    let held: Arc<AtomicBool> = Arc::default();
    let hold = held.clone();
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = steps.clone();
    let before = move |role: &str, instruction: &Instruction| {
        if role == "worker-3" {
            seen.lock().unwrap().push(instruction.step);
        }
        if role == "worker-3" && instruction.step == MigrationStep::Prepare {
            hold.store(true, Ordering::Release);
            // The other workers send what they can.
            thread::sleep(Duration::from_millis(500));
        }
        Ok(())
    };
    let job = Job::held(Arc::new(before), held.clone()).await;
    job.run_rounds(2).await;
    let ended = job.change(schemes::LBMM).await;
    assert_eq!((ended.stage(), ended.coordinated), (ChangeStage::Done, false), "{ended:?}");
    held.store(false, Ordering::Release);
    job.run_rounds(2).await;
    job.end();
    let mut steps = steps.lock().unwrap().clone();
    steps.dedup();
    assert_eq!(
        steps,
        [MigrationStep::Move, MigrationStep::Prepare, MigrationStep::Lead, MigrationStep::Move]
    );
}

/// A server refuses to lead: other servers may have led already, and all hosts migrate back.
#[tokio::test]
async fn a_server_that_refuses_to_lead_makes_all_hosts_migrate_back() {
    let refuses = Arc::new(AtomicBool::new(true));
    let should_refuse = refuses.clone();
    let job = Job::start(Arc::new(move |role, instruction| {
        match role == "server-1"
            && instruction.step == MigrationStep::Lead
            && should_refuse.load(Ordering::Acquire)
        {
            true => {
                thread::sleep(Duration::from_millis(50));
                Err(NotDone::Refused("not today".into()))
            }
            false => Ok(()),
        }
    }))
    .await;
    job.run_rounds(2).await;
    let ended = job.change(schemes::LBMM).await;
    assert_eq!(ended.stage(), ChangeStage::Undone, "{ended:?}");
    assert_eq!(ended.problem, "server-1 refuses: not today");
    job.run_rounds(2).await;
    refuses.store(false, Ordering::Release);
    let ended = job.change(schemes::LBMM).await;
    assert_eq!((ended.stage(), ended.coordinated, ended.to), (ChangeStage::Done, true, 3), "{ended:?}");
    job.run_rounds(2).await;
    job.end();
}
