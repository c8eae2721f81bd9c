//! Elastic training in one process: three workers, two parameter servers, and a controller. One worker fails;
//! the others continue without it. It rejoins, loads the weights of a peer, and all workers end with the same
//! weights.
//!
//!     cargo run --example elastic
//!
//! Between machines the same calls are made with `Host::new(controller, "w3", "eth0")`, and `inart controller
//! net.yaml` is the controller of a topology whose job is `elastic: true`.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use inart_controller::api::{self, Listener};
use inart_controller::daemon::{self, Config, State};
use inart_controller::membership::Timing;
use inart_controller::{JobPlan, PortMap, Records, job_number};
use inart_controller_api::Source;
use inart_elastic::{ElasticServer, ElasticWorker, Host};
use inart_host_agent::{InProcess, Options};
use inart_planner_aggregation::{Options as Planning, plan_all, schemes};
use inart_tables::Limits;
use inart_targets::memory::InMemory;
use inart_targets::{Endpoint, Precedence, Target};
use inart_tls::Security;
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const NETWORK: &str = "{name: star,
  nodes: [{name: v, kind: switch, aggregation_capacity: 6 Gbps}, {name: s1, kind: server},
  {name: s2, kind: server},
    {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}],
  links: [{ends: [w1, v], rate: 1 Gbps}, {ends: [w2, v], rate: 1 Gbps}, {ends: [w3, v], rate: 1 Gbps},
    {ends: [s1, v], rate: 1 Gbps}, {ends: [s2, v], rate: 1 Gbps}],
  jobs: [{name: example, elastic: true}]}";

/// Rounds of all three workers until the training ends.
const ROUNDS: u64 = 40;
/// Worker w2 dies before this one.
const DEATH: u64 = 5;

fn main() -> Result<()> {
    let weights = run()?;
    println!("all {} workers: {:?} ...", weights.len(), &weights[0][..5]);
    Ok(())
}

/// Runs a worker's program. Worker 2 fails if `died` is not set yet.
fn train(host: Host, number: u64, died: &AtomicBool) -> Result<Vec<f32>> {
    let mut weights = vec![number as f32; 1000];
    let mut job = ElasticWorker::join(host)?;
    job.load(&mut weights)?;
    let mut begun = job.rounds();
    while job.membership().workers.len() < 3 || job.rounds() < begun + ROUNDS {
        if number == 2 && job.rounds() == DEATH && !died.swap(true, Ordering::SeqCst) {
            return Ok(weights); // without a notice to the others
        }
        let mut sum: Vec<f32> = weights.iter().map(|weight| weight - number as f32).collect();
        match job.all_reduce(&mut sum) {
            Ok(_) => {
                let step = 0.5 / job.membership().workers.len() as f32;
                weights.iter_mut().zip(&sum).for_each(|(weight, sum)| *weight -= step * sum);
            }
            Err(error) if error.is_membership() => {
                println!("worker {number}, round {}: {error}", job.rounds());
                job.load(&mut weights)?;
                begun = job.rounds(); // the same round at every worker
            }
            Err(error) => return Err(error.into()),
        }
    }
    job.finish()?;
    Ok(weights)
}

/// Runs everything. The weights of each worker in the end.
///
/// # Errors
/// A host that fails, with its reason.
pub fn run() -> Result<Vec<Vec<f32>>> {
    let topology = Topology::from_yaml(NETWORK)?;
    let network = Network::start(topology)?;
    let mut servers = Vec::new();
    for name in ["s1", "s2"] {
        let mut server = ElasticServer::new(network.host(name));
        servers.push((server.stopper(), thread::spawn(move || server.run(|_, _| ()))));
    }
    let died = Arc::new(AtomicBool::new(false));
    let worker = |number: u64| {
        let (host, died) = (network.host(&format!("w{number}")), died.clone());
        thread::spawn(move || train(host, number, &died))
    };
    let mut workers = vec![worker(1), worker(2), worker(3)];
    workers.remove(1).join().map_err(|_| "w2 panicked")??;
    workers.push(worker(2));
    let weights = workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker panicked")?).collect();
    for (stopper, server) in servers {
        stopper.stop();
        server.join().map_err(|_| "a server panicked")??;
    }
    weights
}

/// A network within this process, and where its controller listens.
struct Network {
    frames: InProcess,
    ports: PortMap,
    controller: Source,
    _folder: tempfile::TempDir,
}

impl Network {
    /// Starts a controller, on switches that are tables in memory: servers do all sums here.
    fn start(topology: Topology) -> Result<Self> {
        let (ports, folder) = (PortMap::new(&topology)?, tempfile::tempdir()?);
        let address = format!("unix:{}", folder.path().join("controller.sock").display());
        let (listen, records) = (address.clone(), Records::open(folder.path(), topology.name())?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        thread::spawn(move || {
            runtime.block_on(async {
                if let Err(error) = control(topology, records, &listen).await {
                    println!("the controller: {error}");
                }
            });
        });
        let controller = Source::Controller { address, job: String::new(), security: Security::Local };
        Ok(Self { frames: InProcess::new(), ports, controller, _folder: folder })
    }

    /// Returns a host of that name. It considers a peer failed after half a second of silence.
    fn host(&self, name: &str) -> Host {
        let frames = self.frames.clone();
        let mac = self.ports.mac(name).expect("a host of the network");
        Host::with_transport(self.controller.clone(), name, move || Ok(Box::new(frames.port(mac))))
            .options(|| Ok(Options { peer_timeout: Duration::from_millis(500), ..Options::default() }))
    }
}

/// Runs a controller, as `inart controller` does.
async fn control(topology: Topology, records: Records, listen: &str) -> Result<()> {
    let plan = plan_all(&topology, &Planning::new(schemes::DEFAULT))?.remove(0);
    let job = job_number(&topology, &plan.job).ok_or("no such job")?;
    let job = JobPlan { job, plan, window_chunks: 16, rate_scale: 1.0, new_plan_version: false };
    let limits = Limits {
        slots: 4096,
        ports: 510,
        steer: 65536,
        results: 4096,
        updates: 65536,
        receivers: 16384,
        mac: 4096,
        switch_ports: 512,
    };
    let state = Arc::new(State::new(topology.name(), [("v", "v")].into_iter()));
    let config = Config {
        peers: None,
        topology,
        jobs: vec![job],
        program: InMemory::new(ValuesPerFrame::N64, limits).program(ValuesPerFrame::N64, None)?,
        switches: BTreeMap::from([("v".to_owned(), Endpoint::local("v", 0))]),
        precedence: Precedence(1),
        records,
        replace_program: false,
        switches_within: Duration::from_secs(60),
        check_every: Duration::from_secs(5),
        change_within: Duration::from_secs(5),
        timing: Timing::default(),
        steer: None,
        remove_departed: false,
        chance: daemon::by_chance(),
    };
    let listener = Listener::bind(listen, false).await?;
    tokio::select! {
        ended = daemon::run(config, state.clone()) => match ended? {},
        served = api::serve(listener, None, state, pending()) => Ok(served?),
    }
}
