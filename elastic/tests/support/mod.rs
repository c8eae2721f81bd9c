//! A controller's daemon on switches in memory, in a thread of its own, and a network within the process.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use inart_control::Source;
use inart_controller::api::{self, Listener};
use inart_controller::daemon::{self, Config, State};
use inart_controller::membership::Timing;
use inart_controller::{JobPlan, PortMap, Records, job_number};
use inart_elastic::Host;
use inart_host_agent::{InProcess, Options};
use inart_planner::{Options as Planning, Topology, plan_all, schemes};
use inart_tables::Limits;
use inart_targets::memory::InMemory;
use inart_targets::{Place, Precedence, Target};
use inart_tls::Security;
use inart_wire::{MacAddr, ValuesPerPacket};
use tempfile::TempDir;

/// Sizes as in the real program.
const LIMITS: Limits =
    Limits { slots: 4096, ports: 510, steer: 65536, results: 4096, mac: 4096, switch_ports: 512 };

/// Three workers and two servers at one switch.
const NETWORK: &str = "
name: star
nodes:
  - {name: v1, kind: switch, aggregation: 6 Gbps}
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

/// A controller and the network of its hosts.
#[derive(Clone)]
pub struct Controller {
    network: InProcess,
    ports: Arc<PortMap>,
    address: String,
    _folder: Arc<TempDir>,
}

impl Controller {
    /// Starts one. Its job is elastic, unless that is `rigid`.
    pub fn start(kind: &str) -> Self {
        let text = if kind == "rigid" { NETWORK.replace(", elastic: true", "") } else { NETWORK.to_owned() };
        let topology = Topology::from_yaml(&text).unwrap();
        let folder = Arc::new(TempDir::new().unwrap());
        let address = format!("unix:{}", folder.path().join("api.sock").display());
        let (network, ports) = (InProcess::new(), Arc::new(PortMap::new(&topology).unwrap()));
        let (listening, records) = (address.clone(), folder.path().to_owned());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(run(topology, &records, &listening));
        });
        Self { network, ports, address, _folder: folder }
    }

    fn source(&self) -> Source {
        Source::Controller { address: self.address.clone(), job: String::new(), security: Security::Local }
    }

    /// A host of that name, which notices within half a second that a peer is silent.
    pub fn host(&self, name: &str) -> Host {
        let (network, mac) = (self.network.clone(), self.ports.mac(name).unwrap_or(MacAddr([2; 6])));
        let open = move || Ok(Box::new(network.port(mac)) as Box<_>);
        Host::with_transport(self.source(), name, open)
            .options(|| Ok(Options { peer_timeout: Duration::from_millis(500), ..Options::default() }))
    }

    /// Waits until the job is at something, in the words of its status; several are separated by `|`.
    pub fn wait_for_phase(&self, words: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut seen = String::new();
            for _ in 0..6000 {
                let client = api::Client::connect(&self.address, &Security::Local).await.unwrap();
                seen = client.status().await.unwrap().jobs[0].rendezvous.clone().unwrap().phase;
                if words.split('|').any(|words| seen.contains(words)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            panic!("in vain: {seen}");
        });
    }
}

async fn run(topology: Topology, folder: &Path, address: &str) {
    let plans = plan_all(&topology, &Planning::new(schemes::LBMM)).unwrap();
    let jobs = plans.into_iter().map(|plan| JobPlan {
        job: job_number(&topology, &plan.job).unwrap(),
        plan,
        window_chunks: 16,
        rate_scale: 1.0,
        new_epoch: false,
    });
    let state = Arc::new(State::new(topology.name(), [("v1", "v1")].into_iter()));
    let config = Config {
        jobs: jobs.collect(),
        program: InMemory::new(ValuesPerPacket::N64, LIMITS).program(ValuesPerPacket::N64, None).unwrap(),
        switches: BTreeMap::from([("v1".to_owned(), Place::local("v1", 0))]),
        precedence: Precedence(1),
        records: Records::open(folder, topology.name()).unwrap(),
        replace_program: false,
        check_every: Duration::from_secs(5),
        change_within: Duration::from_secs(5),
        timing: Timing {
            gather_within: Duration::from_secs(1),
            gone_after: Duration::from_secs(2),
            ..Timing::default()
        },
        remove_departed: false,
        topology,
    };
    let listener = Listener::bind(address, false).await.unwrap();
    tokio::select! {
        ended = daemon::run(config, state.clone()) => panic!("it ended: {ended:?}"),
        served = api::serve(listener, None, state, pending()) => served.unwrap(),
    }
}
