//! A controller's daemon on switches in memory, in a separate thread, and an in-process network.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use inart_controller::api::proto::ChangeStage;
use inart_controller::api::{self, Listener};
use inart_controller::daemon::{self, Config, State, Steer};
use inart_controller::membership::Timing;
use inart_controller::{JobPlan, PortMap, Records, job_number};
use inart_controller_api::Source;
use inart_elastic::Host;
use inart_host_agent::{InProcess, Options};
use inart_planner_aggregation::{Options as Planning, plan_all, schemes};
use inart_steering::{Decision, ReplanThresholds};
use inart_tables::Limits;
use inart_targets::memory::InMemory;
use inart_targets::{Endpoint, Precedence, Target};
use inart_tls::Security;
use inart_topologies::switched::Topology;
use inart_wire::{MacAddr, ValuesPerFrame};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// Sizes as in the real program.
const LIMITS: Limits = Limits {
    slots: 4096,
    ports: 510,
    steer: 65536,
    results: 4096,
    updates: 65536,
    receivers: 16384,
    mac: 4096,
    switch_ports: 512,
};

/// Three workers and two servers at one switch.
const NETWORK: &str = "
name: star
nodes:
  - {name: v1, kind: switch, aggregation_capacity: 6 Gbps}
  - {name: s1, kind: server}
  - {name: s2, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
  - {name: w3, kind: worker}
links:
  - {ends: [w1, v1], rate: 1 Gbps}
  - {ends: [w2, v1], rate: 1 Gbps}
  - {ends: [w3, v1], rate: 1 Gbps}
  - {ends: [s1, v1], rate: 1 Gbps}
  - {ends: [s2, v1], rate: 1 Gbps}
jobs:
  - {name: digits, elastic: true}
";

/// A daemon's thread, which ends when the sender is dropped.
type Daemon = (oneshot::Sender<()>, JoinHandle<()>);

/// A controller and the network of its hosts.
#[derive(Clone)]
pub struct Controller {
    topology: Topology,
    follows: bool,
    /// Ends the daemon, with all its connections.
    running: Arc<Mutex<Option<Daemon>>>,
    /// Switches, whose tables outlive it.
    target: InMemory,
    network: InProcess,
    ports: Arc<PortMap>,
    address: String,
    folder: Arc<TempDir>,
}

impl Controller {
    /// Starts one. Its job is elastic, unless `kind` is `rigid`. If it `follows` its network, the servers'
    /// links are slow.
    pub fn start(kind: &str) -> Self {
        let text = match kind {
            "rigid" => NETWORK.replace(", elastic: true", ""),
            "follows" => NETWORK
                .replace("[s1, v1], rate: 1 Gbps", "[s1, v1], rate: 400 Mbps")
                .replace("[s2, v1], rate: 1 Gbps", "[s2, v1], rate: 400 Mbps"),
            _ => NETWORK.to_owned(),
        };
        let follows = kind == "follows";
        let topology = Topology::from_yaml(&text).unwrap();
        let folder = Arc::new(TempDir::new().unwrap());
        let address = format!("unix:{}", folder.path().join("api.sock").display());
        let (network, ports) = (InProcess::new(), Arc::new(PortMap::new(&topology).unwrap()));
        let (running, target) = (Arc::default(), InMemory::new(ValuesPerFrame::N64, LIMITS));
        let controller = Self { topology, follows, running, target, network, ports, address, folder };
        controller.begin(1);
        controller
    }

    /// Starts the daemon with that precedence.
    fn begin(&self, precedence: u128) {
        let (topology, target) = (self.topology.clone(), self.target.clone());
        let (listening, records) = (self.address.clone(), self.folder.path().to_owned());
        let (stop, stopped) = oneshot::channel();
        let steer = self.follows.then(|| Steer {
            thresholds: ReplanThresholds::default(),
            every: Duration::from_millis(50),
            plan_within: Duration::from_millis(300),
            scheme: schemes::OPTIMIZED,
        });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = run(topology, target, precedence, (&records, &listening), steer) => {}
                    _ = stopped => {}
                }
            });
        });
        *self.running.lock().unwrap() = Some((stop, thread));
    }

    /// Ends the daemon as a process that is killed does.
    pub fn kill(&self) {
        let (stop, thread) = self.running.lock().unwrap().take().unwrap();
        drop(stop);
        thread.join().unwrap();
    }

    /// Starts it again on the same records.
    pub fn restart(&self) {
        self.begin(2);
    }

    /// Orders a plan for the job that was made for a slower link of server s1; how that ends.
    pub fn change_shares(&self) -> ChangeStage {
        let slow = NETWORK.replace("[s1, v1], rate: 1 Gbps", "[s1, v1], rate: 300 Mbps");
        let slow = match self.follows {
            true => slow
                .replace("rate: 300 Mbps", "rate: 100 Mbps")
                .replace("[s2, v1], rate: 1 Gbps", "[s2, v1], rate: 400 Mbps"),
            false => slow,
        };
        let topology = Topology::from_yaml(&slow).unwrap();
        let plan = plan_all(&topology, &Planning::new(schemes::OPTIMIZED)).unwrap().remove(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = api::Client::connect(&self.address, &Security::Local).await.unwrap();
            let number = client.update_plan(plan.to_json()).await.unwrap();
            for _ in 0..6000 {
                let status = client.status().await.unwrap();
                let change = status.changes.iter().find(|change| change.number == number).unwrap();
                if !matches!(change.stage(), ChangeStage::Waiting | ChangeStage::Migrating) {
                    eprintln!("{change:?}");
                    return change.stage();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("the controller did not start in time");
        })
    }

    /// Requests new shares at once, and returns the decision.
    pub fn ask_for_shares(&self) -> Decision {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(async {
            let client = api::Client::connect(&self.address, &Security::Local).await.unwrap();
            loop {
                match client.replan(true).await {
                    Ok(decision) => return decision,
                    // Between two views no host follows, and a request fails.
                    Err(why) => eprintln!("{why}"),
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        serde_json::from_str(&answer.json).unwrap()
    }

    pub fn source(&self) -> Source {
        Source::Controller { address: self.address.clone(), job: String::new(), security: Security::Local }
    }

    /// Creates a host of that name, with a peer timeout of three seconds. Even a busy machine answers within
    /// that time.
    pub fn host(&self, name: &str) -> Host {
        let (network, mac) = (self.network.clone(), self.ports.mac(name).unwrap_or(MacAddr([2; 6])));
        let open = move || Ok(Box::new(network.port(mac)) as Box<_>);
        Host::with_transport(self.source(), name, open)
            .options(|| Ok(Options { peer_timeout: Duration::from_secs(3), ..Options::default() }))
    }

    /// Returns the hosts that wait for a view.
    pub fn waiting(&self) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = api::Client::connect(&self.address, &Security::Local).await.unwrap();
            client.status().await.unwrap().jobs.remove(0).rendezvous.unwrap().waiting
        })
    }

    /// Waits until a host waits for the next view.
    pub fn wait_for_host(&self, name: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for _ in 0..6000 {
                // The controller may just be starting.
                if let Ok(client) = api::Client::connect(&self.address, &Security::Local).await
                    && let Ok(status) = client.status().await
                    && let Some(rendezvous) = status.jobs.first().and_then(|job| job.rendezvous.clone())
                    && rendezvous.waiting.iter().any(|host| host == name)
                {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("{name} did not get there in time");
        });
    }

    /// Waits until the job's status is one of these texts, separated by `|`.
    pub fn wait_for_phase(&self, words: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut seen = String::new();
            for _ in 0..6000 {
                // It may just be starting.
                if let Ok(client) = api::Client::connect(&self.address, &Security::Local).await
                    && let Ok(status) = client.status().await
                    && let Some(job) = status.jobs.first()
                {
                    seen = job.rendezvous.clone().unwrap().phase;
                }
                if words.split('|').any(|words| seen.contains(words)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("timeout: {seen}");
        });
    }
}

async fn run(
    topology: Topology,
    target: InMemory,
    precedence: u128,
    (folder, address): (&Path, &str),
    steer: Option<Steer>,
) {
    let plans = plan_all(&topology, &Planning::new(schemes::LBMM)).unwrap();
    let jobs = plans.into_iter().map(|plan| JobPlan {
        job: job_number(&topology, &plan.job).unwrap(),
        plan,
        window_chunks: 16,
        rate_scale: 1.0,
        new_plan_version: false,
    });
    let state = Arc::new(State::new(topology.name(), [("v1", "v1")].into_iter()));
    let config = Config {
        peers: None,
        jobs: jobs.collect(),
        program: target.program(ValuesPerFrame::N64, None).unwrap(),
        switches: BTreeMap::from([("v1".to_owned(), Endpoint::local("v1", 0))]),
        precedence: Precedence(precedence),
        records: Records::open(folder, topology.name()).unwrap(),
        replace_program: false,
        switches_within: Duration::from_secs(60),
        check_every: Duration::from_secs(5),
        change_within: Duration::from_secs(60),
        steer,
        timing: Timing {
            gather_within: Duration::from_secs(3),
            gone_after: Duration::from_secs(6),
            ..Timing::default()
        },
        remove_departed: false,
        chance: daemon::by_chance(),
        topology,
    };
    let listener = Listener::bind(address, false).await.unwrap();
    tokio::select! {
        ended = daemon::run(config, state.clone()) => panic!("it ended: {ended:?}"),
        served = api::serve(listener, None, state, pending()) => served.unwrap(),
    }
}
