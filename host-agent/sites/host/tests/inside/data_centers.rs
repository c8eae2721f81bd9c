//! Three sites, each on a thread: two with workers on separate threads, one without workers.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use inart_host_agent::{InProcess, OnwardServer, Options, Worker};
use inart_planner_sites::{AuxiliaryUse, Options as TreeOptions, Scheme};
use inart_protocol_aggregation::{Assignment, RoundRecord, ShardAssignment, WorkerAddress};
use inart_quic::{Congestion, PROTOCOL};
use inart_sites_agent::{Inside, Setup};
use inart_sites_host::{GatewayRound, HostError, HostOptions, Next, SiteHost};
use inart_tls::{IdentityFiles, MutualTls};
use inart_topologies::sites::Hierarchy;
use inart_wire::{MacAddr, ValuesPerFrame};

use crate::certificates::certify;
use crate::loopback::loopback;
use crate::three::{NETWORK, SITES, TENSORS};

/// A worker on a thread of its own.
type WorkerThread = JoinHandle<Result<Rounds, inart_host_agent::Error>>;

/// Result of a site with workers.
#[derive(Debug)]
pub struct SiteResult {
    pub rounds: Vec<GatewayRound>,
}

type Rounds = Vec<(Vec<f32>, RoundRecord)>;

/// Results of all processes: sites with workers, workers by index, and the site without workers.
pub struct Results {
    pub sites: Vec<Result<SiteResult, HostError>>,
    pub workers: Vec<Result<Rounds, inart_host_agent::Error>>,
    pub bare: Result<Vec<Vec<f32>>, HostError>,
}

pub struct DataCenters {
    hierarchy: Hierarchy,
    addresses: BTreeMap<&'static str, SocketAddr>,
    identities: BTreeMap<&'static str, MutualTls>,
    rounds: u32,
    peer_timeout: Duration,
}

/// Creates certificates of one authority.
fn identities(folder: &Path) -> BTreeMap<&'static str, MutualTls> {
    certify(folder, &SITES.map(|(name, _)| name));
    let identity = |(name, _): (&'static str, _)| {
        let file = |end: &str| folder.join(format!("{name}.{end}"));
        let files = IdentityFiles { certificate: file("pem"), key: file("key") };
        (name, MutualTls::load(&folder.join("ca.pem"), &files, PROTOCOL).unwrap())
    };
    SITES.map(identity).into()
}

impl DataCenters {
    pub fn new(rounds: u32, peer_timeout: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sockets = SITES.map(|(name, _)| (name, UdpSocket::bind((loopback(), 0)).unwrap()));
        let hierarchy = Hierarchy::from_yaml(NETWORK).unwrap();
        let addresses = sockets.iter().map(|(name, socket)| (*name, socket.local_addr().unwrap())).collect();
        Self { hierarchy, addresses, identities: identities(folder.path()), rounds, peer_timeout }
    }

    fn setup(&self, name: &str) -> Setup {
        let overlay = &self.hierarchy.overlay;
        let options = TreeOptions::new(Scheme::Optimized);
        Setup::new(overlay, &overlay.jobs()[0], name, &options, AuxiliaryUse::default()).unwrap()
    }

    fn open(&self, name: &'static str) -> SiteHost {
        let setup = Arc::new(self.setup(name));
        let peers = setup.my_neighbors().iter().map(|site| setup.name(*site));
        let peers = peers.map(|peer| (peer.clone(), self.addresses[&*peer])).collect();
        let options = HostOptions {
            listen: self.addresses[name],
            tls: self.identities[name].clone(),
            peers,
            scheduler: None,
            congestion: Congestion::default(),
        };
        SiteHost::open(&self.hierarchy.overlay, setup, options).unwrap()
    }

    fn assignment(&self, name: &str) -> Assignment {
        let at = self.hierarchy.insides.iter().position(|inside| inside.site == name).unwrap();
        let topology = &self.hierarchy.insides[at].topology;
        let mac = |number: usize| MacAddr([2, 0, 0, 0, at as u8, number as u8]);
        let workers = topology.jobs()[0].workers.iter().enumerate();
        Assignment {
            job: 1.into(),
            name: topology.jobs()[0].name.clone(),
            plan_version: 1.into(),
            values_per_frame: ValuesPerFrame::N32,
            // Number of frames of the longest chunk between sites.
            window_chunks: 128,
            exact_sums: false,
            workers: workers
                .map(|(rank, &worker)| WorkerAddress {
                    name: topology.node(worker).name.clone(),
                    mac: mac(rank),
                })
                .collect(),
            shards: vec![ShardAssignment {
                server: name.into(),
                mac: mac(100),
                share: 1.0,
                rate_bps: 1e9,
                bitmap_indices: Vec::new(),
            }],
        }
    }

    fn agent(&self) -> Options {
        Options { peer_timeout: self.peer_timeout, ..Options::default() }
    }

    /// Starts a site with workers, and its workers; `first` is the index of the first worker.
    fn data_center<G>(
        &self,
        name: &'static str,
        first: usize,
        gradient: &Arc<G>,
    ) -> (JoinHandle<Result<SiteResult, HostError>>, Vec<WorkerThread>)
    where
        G: Fn(usize, u32) -> Option<Vec<f32>> + Send + Sync + 'static,
    {
        let (assignment, switch) = (self.assignment(name), InProcess::new());
        let port = switch.port(assignment.shards[0].mac);
        let server = OnwardServer::with_transport(assignment.clone(), port, self.agent()).unwrap();
        let setup = self.setup(name);
        let inside = Inside::new(&setup.tensors, &setup.chunk_values, &assignment).unwrap();
        let (site, rounds) = (self.open(name), self.rounds);
        let site = thread::spawn(move || {
            let mut all = Vec::new();
            site.serve(inside, server, rounds, &mut |round| all.push(round))
                .map(|_| SiteResult { rounds: all })
        });
        let workers = (0..assignment.workers.len()).map(|rank| {
            let (assignment, options, gradient) = (assignment.clone(), self.agent(), Arc::clone(gradient));
            let port = switch.port(assignment.workers[rank].mac);
            thread::spawn(move || {
                let id = rank.try_into().unwrap();
                let mut worker = Worker::with_options(assignment, id, port, options)?;
                let mut all = Vec::new();
                for round in 1..=rounds {
                    let Some(mut values) = gradient(first + rank, round) else { return Ok(all) };
                    // The second tensor has its length, independent of the gradient's.
                    let of_first = values.len() - TENSORS[1];
                    let (first, second) = values.split_at_mut(of_first);
                    worker.all_reduce(first)?;
                    let mut record = worker.record().unwrap();
                    worker.all_reduce(second)?;
                    record.append(worker.record().unwrap());
                    all.push((values, record));
                }
                Ok(all)
            })
        });
        (site, workers.collect())
    }

    /// Runs all rounds; a worker without a gradient exits. The site without workers has index 5.
    pub fn run<G>(&self, gradient: G) -> Results
    where
        G: Fn(usize, u32) -> Option<Vec<f32>> + Send + Sync + 'static,
    {
        self.run_all(gradient, false)
    }

    /// Runs all rounds, but drops the site without workers after three rounds and restarts it from scratch.
    pub fn run_and_restart_the_bare_site<G>(&self, gradient: G) -> Results
    where
        G: Fn(usize, u32) -> Option<Vec<f32>> + Send + Sync + 'static,
    {
        self.run_all(gradient, true)
    }

    fn run_all<G>(&self, gradient: G, restarts: bool) -> Results
    where
        G: Fn(usize, u32) -> Option<Vec<f32>> + Send + Sync + 'static,
    {
        let gradient = Arc::new(gradient);
        let (first, mut workers) = self.data_center("n1", 0, &gradient);
        let (second, others) = self.data_center("n2", 3, &gradient);
        workers.extend(others);
        if restarts {
            bare_site(self.open("n3"), 3, &*gradient, true).unwrap();
        }
        let bare = bare_site(self.open("n3"), self.rounds, &*gradient, false);
        Results {
            sites: [first, second].map(|site| site.join().unwrap()).into(),
            workers: workers.into_iter().map(|worker| worker.join().unwrap()).collect(),
            bare,
        }
    }
}

fn bare_site(
    mut host: SiteHost,
    rounds: u32,
    gradient: &dyn Fn(usize, u32) -> Option<Vec<f32>>,
    is_killed: bool,
) -> Result<Vec<Vec<f32>>, HostError> {
    let mut next = host.start()?;
    let mut sums = Vec::new();
    while let Next::Round { round, .. } = next
        && round <= rounds
    {
        let reduced = host.all_reduce(gradient(5, round).unwrap(), &Bytes::new)?;
        sums.extend(reduced.sum);
        next = reduced.next;
    }
    if !is_killed {
        host.finish(Bytes::new())?;
    }
    Ok(sums)
}
