//! A world of peers on the loopback interface, with records of sent and received updates.

mod certificates;
mod check;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::loopback::loopback;
use certificates::{Authority, ConnectionProbe};
pub use check::check;
use inart_peers_agent::Schemes;
use inart_peers_host::{
    CoordinatorEvent, CoordinatorHost, HostError, HostOptions, Job, Patience, PeerHost, Schedule,
};
use inart_planner_peers::{Reading, Scheme};
use inart_quic::Congestion;
use inart_tls::MutualTls;
use inart_topologies::peers::Mesh;
pub use record::Recorded;
use record::Recorder;

/// Action when a peer computes a round.
type Action = Box<dyn FnOnce() + Send>;

pub struct World {
    pub job: Job,
    pub patience: Patience,
    document: String,
    authority: Arc<Authority>,
    addresses: BTreeMap<String, SocketAddr>,
    coordinators: BTreeMap<String, SocketAddr>,
    slow: BTreeMap<String, Duration>,
    dying: BTreeMap<String, u32>,
    spoiling: BTreeMap<String, u32>,
    restarting: BTreeSet<String>,
    actions: Mutex<Vec<(String, u32, Action)>>,
}

fn document(peers: usize, receivers: usize, values: usize) -> String {
    let names: Vec<String> = (1..=peers).map(|at| format!("p{at}")).collect();
    let nodes: Vec<String> = names.iter().map(|name| format!("  - {{name: {name}, kind: peer}}\n")).collect();
    let links: Vec<String> =
        names.iter().map(|name| format!("  - {{ends: [{name}, s1], rate: 1 Gbps}}\n")).collect();
    format!(
        "name: mesh\nnodes:\n  - {{name: s1, kind: switch}}\n{}links:\n{}jobs:\n  - {{name: job, receivers: {receivers}, \
         update: {} B}}\n",
        nodes.concat(),
        links.concat(),
        4 * values
    )
}

fn job(document: &str, schedule: Schedule) -> Job {
    let mesh = Mesh::from_yaml(document).unwrap();
    Job::new(&mesh, &mesh.jobs()[0], schedule).unwrap()
}

fn free_addresses(names: &[String]) -> BTreeMap<String, SocketAddr> {
    let sockets: Vec<_> = names.iter().map(|_| UdpSocket::bind((loopback(), 0)).unwrap()).collect();
    let address = |(name, socket): (&String, &UdpSocket)| (name.clone(), socket.local_addr().unwrap());
    names.iter().zip(&sockets).map(address).collect()
}

impl World {
    pub fn new(peers: usize, receivers: usize, values: usize, schedule: Schedule) -> Self {
        let document = document(peers, receivers, values);
        let job = job(&document, schedule);
        let names: Vec<String> = job.peers().iter().cloned().chain(["c1".into(), "c2".into()]).collect();
        let mut addresses = free_addresses(&names);
        let c1 = addresses.remove("c1").unwrap();
        addresses.remove("c2");
        World {
            job,
            patience: Patience::default(),
            document,
            authority: Arc::new(Authority::found()),
            addresses,
            coordinators: BTreeMap::from([("c1".to_owned(), c1)]),
            slow: BTreeMap::new(),
            dying: BTreeMap::new(),
            spoiling: BTreeMap::new(),
            restarting: BTreeSet::new(),
            actions: Mutex::new(Vec::new()),
        }
    }

    /// Returns the same peers and addresses with another schedule.
    pub fn with_schedule(&self, schedule: Schedule) -> Self {
        World {
            job: job(&self.document, schedule),
            patience: self.patience,
            document: self.document.clone(),
            authority: self.authority.clone(),
            addresses: self.addresses.clone(),
            coordinators: self.coordinators.clone(),
            slow: BTreeMap::new(),
            dying: BTreeMap::new(),
            spoiling: BTreeMap::new(),
            restarting: BTreeSet::new(),
            actions: Mutex::new(Vec::new()),
        }
    }

    /// Sets timeouts that are short, and longer than a busy machine delays an answer.
    pub fn with_short_timeouts(mut self) -> Self {
        self.patience = Patience {
            choice: Duration::from_millis(500),
            peer_timeout: Duration::from_secs(6),
            meeting: Duration::from_secs(60),
        };
        self
    }

    pub fn with_coordinators(mut self, names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        self.coordinators = free_addresses(&names);
        self
    }

    /// Delays the computations of a peer.
    pub fn slow(mut self, name: &str, by: Duration) -> Self {
        self.slow.insert(name.to_owned(), by);
        self
    }

    /// Makes a peer's program crash instead of computing that round.
    pub fn dying(mut self, name: &str, round: u32) -> Self {
        self.dying.insert(name.to_owned(), round);
        self
    }

    /// Restarts a peer after its crash; its second record follows all others.
    pub fn restarting(mut self, name: &str) -> Self {
        self.restarting.insert(name.to_owned());
        self
    }

    /// Puts a NaN into a peer's update of that round.
    pub fn spoiling(mut self, name: &str, round: u32) -> Self {
        self.spoiling.insert(name.to_owned(), round);
        self
    }

    /// Runs an action when a peer computes a round.
    pub fn at_round(self, name: &str, round: u32, action: Action) -> Self {
        self.actions.lock().unwrap().push((name.to_owned(), round, action));
        self
    }

    pub fn identity(&self, name: &str) -> MutualTls {
        self.authority.identify(name)
    }

    pub fn options(&self, name: &str) -> HostOptions {
        let mut peers = self.addresses.clone();
        let listen = peers.remove(name).unwrap_or_else(|| self.coordinators[name]);
        let is_peer = self.addresses.contains_key(name);
        let coordinators = if is_peer { self.coordinators.clone() } else { BTreeMap::new() };
        let tls = self.identity(name);
        HostOptions { listen, tls, peers, coordinators, congestion: Congestion::Cubic }
    }

    pub fn coordinator(&self, name: &str) -> CoordinatorThread {
        start_coordinator(self.job.clone(), name.to_owned(), self.options(name))
    }

    /// Starts a coordinator when a peer computes that round.
    pub fn coordinator_at_round(
        &self,
        peer: &str,
        round: u32,
        name: &str,
    ) -> Arc<Mutex<Option<CoordinatorThread>>> {
        let started = Arc::new(Mutex::new(None));
        let (job, name, options) = (self.job.clone(), name.to_owned(), self.options(name));
        let place = started.clone();
        let action = move || *place.lock().unwrap() = Some(start_coordinator(job, name, options));
        self.actions.lock().unwrap().push((peer.to_owned(), round, Box::new(action)));
        started
    }

    /// Runs all peers to their ends.
    pub fn run_all(self) -> Vec<Result<Recorded, HostError>> {
        let world = &self;
        thread::scope(|scope| {
            let names = world.job.peers();
            let runs: Vec<_> = names.iter().map(|name| scope.spawn(move || world.run_one(name))).collect();
            let mut ended = Vec::new();
            let mut second = Vec::new();
            for (name, run) in names.iter().zip(runs) {
                if world.restarting.contains(name) {
                    ended.push(run.join().unwrap());
                    second.push(scope.spawn(move || world.run_incarnation(name, false)));
                } else {
                    second.push(run);
                }
            }
            let later: Vec<_> = second.into_iter().map(|run| run.join().unwrap()).collect();
            in_order(names, &world.restarting, &mut ended, later)
        })
    }

    /// Runs one peer to its end.
    pub fn run_one(&self, name: &str) -> Result<Recorded, HostError> {
        self.run_incarnation(name, true)
    }

    fn run_incarnation(&self, name: &str, is_first: bool) -> Result<Recorded, HostError> {
        let setup = self.job.setup(name, &self.patience).unwrap();
        let me = setup.me.index();
        let host = PeerHost::open(&self.job, setup, self.options(name))?;
        let of_me = |(peer, ..): &(String, u32, Action)| peer == name;
        let mut actions = self.actions.lock().unwrap();
        let (mine, others) = actions.drain(..).partition(of_me);
        *actions = others;
        drop(actions);
        let mut recorder = Recorder::new(me, self.job.values(), mine);
        recorder.takes = self.slow.get(name).copied().unwrap_or_default();
        recorder.spoils = self.spoiling.get(name).copied();
        if is_first && let Some(&round) = self.dying.get(name) {
            return Ok(recorder.crash_in(round, host));
        }
        let ending = host.run(&mut recorder)?;
        Ok(recorder.ended(Some(ending)))
    }

    /// Returns a probe with a certificate for a name outside the job.
    pub fn unknown_probe(&self, name: &str, to: &str) -> ConnectionProbe {
        self.probe(self.authority.identify(name), name, to)
    }

    /// Returns a probe with a certificate of another authority, which trusts this one's.
    pub fn forged_probe(&self, name: &str, to: &str) -> ConnectionProbe {
        self.probe(self.authority.forge(name), name, to)
    }

    fn probe(&self, tls: MutualTls, name: &str, to: &str) -> ConnectionProbe {
        ConnectionProbe { tls, name: name.to_owned(), to: to.to_owned(), address: self.addresses[to] }
    }
}

/// Returns first incarnations by rank, then second ones.
fn in_order(
    names: &[String],
    restarting: &BTreeSet<String>,
    first: &mut Vec<Result<Recorded, HostError>>,
    later: Vec<Result<Recorded, HostError>>,
) -> Vec<Result<Recorded, HostError>> {
    let (mut ended, mut again) = (Vec::new(), Vec::new());
    for (name, run) in names.iter().zip(later) {
        match restarting.contains(name) {
            true => {
                ended.push(first.remove(0));
                again.push(run);
            }
            false => ended.push(run),
        }
    }
    ended.extend(again);
    ended
}

/// A coordinator on a thread of its own, which ends when dropped.
pub struct CoordinatorThread {
    end: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<Option<HostError>>>,
    events: Arc<Mutex<Vec<CoordinatorEvent>>>,
}

fn start_coordinator(job: Job, name: String, options: HostOptions) -> CoordinatorThread {
    let (end, ended) = tokio::sync::oneshot::channel();
    let events: Arc<Mutex<Vec<CoordinatorEvent>>> = Arc::default();
    let log = events.clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let schemes = Schemes::new(Scheme::Optimized, Reading::default(), 1, job.name());
            let setup = job.coordinator_setup(Duration::from_secs(60));
            let host = CoordinatorHost::open(&job, setup, schemes, &name, options).unwrap();
            tokio::select! {
                error = host.run(|what| log.lock().unwrap().push(what)) => error.err(),
                _ = ended => None,
            }
        })
    };
    CoordinatorThread { end: Some(end), thread: Some(thread::spawn(run)), events }
}

impl CoordinatorThread {
    /// Waits for the coordinator's own end.
    pub fn ended(mut self) -> Option<HostError> {
        self.thread.take().unwrap().join().unwrap()
    }

    pub fn has_chosen(&self) -> bool {
        self.events.lock().unwrap().iter().any(|what| matches!(what, CoordinatorEvent::Chosen { .. }))
    }
}

impl Drop for CoordinatorThread {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(()); // it may have ended
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
