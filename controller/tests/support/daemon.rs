//! Daemon on switches in memory, in a thread and a runtime of its own, used through its API.

use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use inart_controller::api::proto::{ChangeStage, ChangeStatus, Status};
use inart_controller::api::{self, Listener};
use inart_controller::daemon::{self, Config, State};
use inart_controller::{JobPlan, PortMap, Records};
use inart_controller_api::{Following, Instruction, NotDone, Source};
use inart_protocol_aggregation::MigrationProgress;
use inart_targets::memory::InMemory;
use inart_targets::{Endpoint, Precedence, Target};
use inart_tls::Security;
use inart_topologies::switched::Topology;
use inart_wire::{Incarnation, ValuesPerFrame};
use tokio::sync::oneshot;

/// Incarnation of all hosts of these tests.
pub const INCARNATION: fn() -> Incarnation = || Incarnation::from(7);

/// Returns the settings of a daemon of these jobs without replanning, on switches that are checked every 10
/// ms; its records are in `folder`.
pub fn config(target: &InMemory, folder: &Path, topology: Topology, jobs: Vec<JobPlan>) -> Config {
    let ports = PortMap::new(&topology).unwrap();
    let place = |name: &str| (name.to_owned(), Endpoint::local(name, 0));
    Config {
        peers: None,
        jobs,
        program: target.program(ValuesPerFrame::N64, None).unwrap(),
        switches: ports.switches().map(place).collect(),
        precedence: Precedence(1),
        records: Records::open(folder, topology.name()).unwrap(),
        replace_program: false,
        switches_within: Duration::from_secs(60),
        check_every: Duration::from_millis(10),
        change_within: Duration::from_secs(60),
        timing: Default::default(),
        steer: None,
        remove_departed: false,
        chance: daemon::by_chance(),
        topology,
    }
}

pub struct Daemon {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    pub api: api::Client,
    pub address: String,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Daemon {
    /// Starts a daemon that listens on a socket in `folder`, and waits until everything is installed.
    pub async fn start(config: Config, folder: &Path) -> Self {
        let address = format!("unix:{}", folder.join(format!("{}.sock", config.precedence.0)).display());
        Self::at(config, address).await
    }

    /// Starts a daemon at an address, and waits until everything is installed.
    pub async fn at(config: Config, address: String) -> Self {
        let (listening, (stop, stopped)) = (address.clone(), oneshot::channel::<()>());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let addresses =
                    config.switches.iter().map(|(name, place)| (name.as_str(), place.address.as_str()));
                let state = Arc::new(State::new(config.topology.name(), addresses));
                let listener = Listener::bind(&listening, false).await.unwrap();
                tokio::select! {
                    ended = daemon::run(config, state.clone()) => panic!("the daemon ended: {ended:?}"),
                    served = api::serve(listener, None, state, pending()) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        let api = connected(&address).await;
        let daemon = Daemon { stop: Some(stop), thread: Some(thread), api, address };
        daemon.until(|status| status.installed).await;
        daemon
    }

    /// Ends like a killed process, with all its connections.
    pub fn kill(self) {
        drop(self);
    }

    /// Waits until the status satisfies `wish`.
    pub async fn until(&self, wish: impl Fn(&Status) -> bool) -> Status {
        for _ in 0..6000 {
            let status = self.api.status().await.unwrap();
            if wish(&status) {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("timed out: {:?}", self.api.status().await);
    }

    /// Returns the result of a change.
    pub async fn end_of(&self, number: u32) -> ChangeStatus {
        let ended = |change: &ChangeStatus| {
            let stage = change.stage();
            change.number == number
                && matches!(stage, ChangeStage::Done | ChangeStage::Undone | ChangeStage::Refused)
        };
        let status = self.until(|status| status.changes.iter().any(ended)).await;
        status.changes.into_iter().find(ended).unwrap()
    }

    /// Returns the source of assignments of a job's hosts.
    pub fn source(&self, job: &str) -> Source {
        Source::Controller { address: self.address.clone(), job: job.to_owned(), security: Security::Local }
    }

    /// Starts a host that has claimed its role, and watches.
    pub async fn host(
        &self,
        job: &str,
        role: &str,
        apply: impl FnMut(&Instruction) -> Result<MigrationProgress, NotDone> + Send + 'static,
    ) -> Following {
        let assignment = self.api.assignment(job).await.unwrap();
        self.api.register_host(assignment.job, assignment.plan_version, role, INCARNATION()).await.unwrap();
        self.source(job).follow(assignment.job, role, INCARNATION(), apply).unwrap().unwrap()
    }

    /// Starts hosts that follow their instructions.
    pub async fn hosts(&self, job: &str, roles: &[&str]) -> Vec<Following> {
        let mut hosts = Vec::new();
        for role in roles {
            hosts.push(self.host(job, role, |_| Ok(MigrationProgress::default())).await);
        }
        hosts
    }
}

/// Returns a client of the daemon, once it listens.
async fn connected(address: &str) -> api::Client {
    for _ in 0..6000 {
        if let Ok(client) = api::Client::connect(address, &Security::Local).await {
            return client;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no server listens on {address}");
}
