//! The training program around peers, and the audit.

use std::sync::Arc;
use std::time::Duration;

use inart_connections::PeerNo;
use inart_peers_agent::{
    Coordinator, CoordinatorProcess, CoordinatorReport, Framing, Peer, PeerProcess, PeerReport, Schemes,
    Start, Sync,
};
use inart_protocol_peers::FrameWriter;
use inart_topologies::peers::{Compute, Mesh, PeerJob};
use inart_virtual::SplitMix64;
use inart_wire::MacAddr;
use inart_world::{Later, Program};

use crate::agent::{Agent, Report};
use crate::audit::{self, Audit};
use crate::error::SimulationError;
use crate::links::address;
use crate::options::Options;
use crate::port::ns;
use crate::setup::{FRAME, Setting};
use crate::tally::Tally;

/// The program of one peer.
struct Host {
    draws: SplitMix64,
    compute: Option<Compute>,
    model: Vec<f32>,
    has_finished: bool,
}

/// The programs of all peers.
pub(crate) struct Training {
    pub setting: Setting,
    names: Vec<String>,
    hosts: Vec<Host>,
    /// Rate of the slowest port, in bit/s.
    least_bps: f64,
    schemes: Option<Schemes>,
    pub audit: Audit,
    pub tally: Tally,
}

impl Training {
    /// Creates programs before their first update. Random numbers of links are those of stream 0.
    pub fn new(setting: Setting, mesh: &Mesh, job: &PeerJob, options: &Options, least_bps: f64) -> Self {
        let n = setting.ranks.len();
        let host = |rank: usize| Host {
            draws: SplitMix64::stream(options.seed, rank as u64 + 1),
            compute: job.computes.get(rank).copied(),
            model: Vec::new(),
            has_finished: false,
        };
        let schemes = Schemes::new(options.scheme, options.reading.clone(), options.seed, &job.name);
        Training {
            names: (0..n).map(|rank| mesh.name_of(job, rank).to_owned()).collect(),
            hosts: (0..n).map(host).collect(),
            least_bps,
            schemes: Some(schemes.following(options.given.clone())),
            audit: Audit::new(n, options.sync == Sync::Bsp),
            tally: Tally::default(),
            setting,
        }
    }

    /// Returns the first peer that has not finished.
    pub fn unfinished(&self) -> Option<usize> {
        self.hosts.iter().position(|host| !host.has_finished)
    }

    fn check(&self, found: Result<(), audit::Wrong>) -> Result<(), SimulationError> {
        found.map_err(|(peer, round, what)| SimulationError::Wrong {
            peer: self.names[peer].clone(),
            round,
            what,
        })
    }

    fn average(&mut self, at: usize, start: &Start) -> Result<(), SimulationError> {
        let Some(average) = &start.average else { return Ok(()) };
        let found = self.audit.averages(at, &self.hosts[at].model, start.round - 1, average);
        self.check(found)
    }

    /// Computes an update, which is ready after the compute time.
    fn compute(
        &mut self,
        at: usize,
        round: u32,
        now: Duration,
        later: &mut Later<Vec<f32>>,
    ) -> Result<(), SimulationError> {
        let (values, end_ns) = (self.setting.values(), self.setting.end_ns);
        let host = &mut self.hosts[at];
        let compute = host.compute;
        let takes = compute.map(|Compute { mean_seconds, cv }| host.draws.log_normal(mean_seconds, cv));
        let takes_ns = takes.map_or(0, ns);
        host.model = audit::model(values, &mut host.draws);
        let (model, now_ns) = (host.model.clone(), now.as_nanos() as u64);
        let until_ns = now_ns.saturating_add(takes_ns).min(end_ns);
        self.tally.computed_s += (until_ns - now_ns) as f64 * 1e-9;
        let found = self.audit.sends(at, round, &model);
        self.check(found)?;
        later.push((Duration::from_nanos(takes_ns), model));
        Ok(())
    }

    fn take(
        &mut self,
        at: usize,
        peer: &Peer,
        report: PeerReport,
        now: Duration,
        later: &mut Later<Vec<f32>>,
    ) -> Result<(), SimulationError> {
        match report {
            PeerReport::Received(update) => {
                let found = self.audit.receives(at, &update);
                self.check(found)
            }
            PeerReport::Ended { outcome, .. } => {
                let found = self.audit.ends(at, &outcome);
                self.check(found)?;
                self.tally.ended(&outcome, now.as_nanos() as u64);
                Ok(())
            }
            PeerReport::Compute(start) => {
                self.average(at, &start)?;
                self.compute(at, peer.round(), now, later)
            }
            PeerReport::Finished(start) => {
                self.average(at, &start)?;
                self.hosts[at].has_finished = true;
                Ok(())
            }
            PeerReport::Rejected(_) => {
                Err(SimulationError::Stuck { seconds: now.as_secs_f64(), waits: peer.describe() })
            }
            PeerReport::Update(error) => Err(SimulationError::Wrong {
                peer: self.names[at].clone(),
                round: peer.round(),
                what: error.to_string(),
            }),
        }
    }

    /// Creates a peer as its host runs it.
    fn peer(&self, rank: usize) -> Result<PeerProcess, SimulationError> {
        let setup = self.setting.peer(rank, self.least_bps);
        let (me, peers) = (setup.me, self.hosts.len());
        let writer = FrameWriter::new(address(rank), MacAddr::results_of(setup.job), FRAME);
        let process = PeerProcess::new(Peer::new(Arc::new(setup))?, me, peers);
        Ok(match self.setting.by_switch {
            true => process.by_frames(Framing::new(writer, (0..peers).map(address).collect())),
            false => process,
        })
    }
}

impl Program<Agent> for Training {
    type Error = SimulationError;

    /// Starts peers by rank, then the coordinator.
    fn start(&mut self, who: PeerNo, _now: Duration) -> Result<Agent, SimulationError> {
        if who.index() < self.hosts.len() {
            return Ok(Agent::Peer(Box::new(self.peer(who.index())?)));
        }
        let schemes = self.schemes.take().expect("one coordinator starts, once");
        let coordinator = Coordinator::new(self.setting.coordinator(), schemes);
        Ok(Agent::Coordinator(Box::new(CoordinatorProcess::new(coordinator))))
    }

    /// Does nothing: no process is killed.
    fn killed(&mut self, _who: PeerNo, _machine: Agent) {}

    fn report(
        &mut self,
        who: PeerNo,
        machine: &mut Agent,
        report: Report,
        now: Duration,
        later: &mut Later<Vec<f32>>,
    ) -> Result<(), SimulationError> {
        match (report, machine) {
            (Report::Peer(report), Agent::Peer(process)) => {
                self.take(who.index(), process.peer(), report, now, later)
            }
            (Report::Coordinator(CoordinatorReport::Chosen { round, rate_bps, .. }), _) => {
                self.tally.planned(round, self.setting.update_bits() / rate_bps);
                Ok(())
            }
            (Report::Coordinator(CoordinatorReport::InCharge { .. }), _) => Ok(()),
            (Report::Coordinator(CoordinatorReport::NotChosen { why }), _) => {
                Err(SimulationError::NotChosen { why })
            }
            (Report::Coordinator(_) | Report::Peer(_), _) => {
                Err(SimulationError::Stuck { seconds: now.as_secs_f64(), waits: String::new() })
            }
        }
    }

    fn is_over(&self, _machines: &[Option<Agent>]) -> bool {
        self.unfinished().is_none()
    }
}
