//! Random trials: networks, orders and faults by a seed.

use std::fmt::Write as _;

use inart_protocol_ps::{Applied, BatchRule, Blocking, SyncModel, SyncModelError};
use inart_ps_agent::{Checkpoint, Sequencer};
use inart_topologies::NetworkError;
use inart_topologies::faults::quantity::{BitRate, Share, Span};
use inart_topologies::faults::{Error as FaultsError, FaultEvent, Faults, LinkFaults, Schedule};
use inart_topologies::ps::{Cluster, Job};
use inart_topologies::switched::Topology;
use inart_virtual::SplitMix64;

use super::error::AgentError;
use super::faults::CAPABILITIES;
use super::options::{AgentOptions, MODEL, Sync};
use super::outcome::AgentRun;
use super::run::run_sequencer;
use super::sequencer::Either;

/// Error that ends a trial.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Unreadable network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Schedule that does not fit.
    #[error(transparent)]
    Faults(#[from] FaultsError),
    /// Run that failed.
    #[error(transparent)]
    Run(#[from] AgentError),
}

/// One trial.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Document of the network.
    pub network: String,
    /// Fault schedule.
    pub faults: Faults,
    /// Options of the job's run.
    pub options: AgentOptions,
}

struct Draws(SplitMix64);

impl Draws {
    fn whole(&mut self, from: u64, until: u64) -> u64 {
        from + self.0.next_u64() % (until - from)
    }

    fn chance(&mut self, part: f64) -> bool {
        self.0.fraction() < part
    }

    fn span(&mut self, from_s: f64, until_s: f64) -> Span {
        Span((self.0.uniform(from_s, until_s) * 1e9) as u64)
    }

    fn sync(&mut self) -> Result<Sync, SyncModelError> {
        Ok(Sync::Order(match self.whole(0, 9) {
            0 => SyncModel::bsp(),
            1 => SyncModel::asp(),
            2 => SyncModel::ssp(self.whole(0, 3), Blocking::AfterPush)?,
            3 => SyncModel::ssp(self.whole(1, 3), Blocking::BeforeCommit)?,
            4 => SyncModel::safa(self.0.uniform(0.3, 1.0), self.whole(0, 4))?,
            5 => SyncModel::r2sp(0.8, Applied::OnArrival)?,
            6 => SyncModel::r2sp_tuned(Applied::InTurn),
            _ => SyncModel::r2sp(self.0.fraction(), Applied::InTurn)?,
        }))
    }
}

impl Trial {
    /// Returns the trial of workers for a seed.
    ///
    /// # Errors
    /// A synchronization model is invalid, which no test has seen.
    pub fn random(seed: u64) -> Result<Trial, TrialError> {
        let mut draws = Draws(SplitMix64::stream(seed, 0));
        let workers = draws.whole(1, 7) as usize;
        let sync = draws.sync().map_err(AgentError::from)?;
        Self::of(seed, workers, sync, &mut draws)
    }

    /// Returns the trial of clients in groups for a seed.
    ///
    /// # Errors
    /// As for [`Trial::random`].
    pub fn of_groups(seed: u64) -> Result<Trial, TrialError> {
        let mut draws = Draws(SplitMix64::stream(seed, 1));
        let clients = draws.whole(2, 8) as usize;
        let groups = draws.whole(1, 1 + clients.min(3) as u64) as usize;
        let (fraction, relaxation) = (draws.0.uniform(0.3, 1.0), draws.0.fraction());
        Self::of(seed, clients, Sync::Groups { groups, fraction, relaxation }, &mut draws)
    }

    fn of(seed: u64, count: usize, sync: Sync, draws: &mut Draws) -> Result<Trial, TrialError> {
        let compute_ms = draws.whole(20, 400);
        let network = network(count, compute_ms, matches!(sync, Sync::Groups { .. }), draws);
        let iterations = draws.whole(3, 13) as u32;
        let mut options = AgentOptions::new(sync, iterations);
        (options.seed, options.chunks) = (seed, draws.whole(1, 25) as u32);
        if matches!(sync, Sync::Order(_)) && draws.chance(0.3) {
            options.tuning =
                Some(if draws.chance(0.5) { BatchRule::FillIdle } else { BatchRule::Proportional });
        }
        options.gather = draws.span(0.3, 4.0).duration();
        options.absence = draws.span(0.5, 8.0).duration();
        if draws.chance(0.3) {
            options.patience = draws.span(1.0, 4.0).duration();
        }
        let topology = Topology::from_yaml(&network)?;
        let horizon_s = f64::from(iterations) * (compute_ms as f64 * 1e-3 + 0.3);
        let faults = random_faults(&topology, &topology.jobs()[0].name, horizon_s, seed);
        Ok(Trial { network, faults, options })
    }

    /// Runs the trial.
    ///
    /// # Errors
    /// The trial is unusable; a finding.
    pub fn run(&self) -> Result<AgentRun, TrialError> {
        self.run_with(|job, kept| Either::new(job, &self.options, MODEL, kept))
    }

    /// Runs the trial around another sequencer.
    ///
    /// # Errors
    /// As for [`Trial::run`].
    pub fn run_with<S: Sequencer>(
        &self,
        mut build: impl FnMut(&Job, Checkpoint) -> Result<S, AgentError>,
    ) -> Result<AgentRun, TrialError> {
        let topology = Topology::from_yaml(&self.network)?;
        let cluster = Cluster::from_yaml(&self.network)?;
        let schedule = Schedule::new(&topology, &self.faults, &CAPABILITIES)?;
        let job = &cluster.jobs[0];
        Ok(run_sequencer(&topology, job, &self.options, &schedule, |kept| build(job, kept))?)
    }
}

fn network(count: usize, compute_ms: u64, of_clients: bool, draws: &mut Draws) -> String {
    let mut nodes = String::from("{name: v1, kind: switch}, {name: s1, kind: server}");
    let mut links = format!("{{ends: [v1, s1], rate: {} Mbps}}", draws.whole(200, 2000));
    let mut names = Vec::new();
    for worker in 1..=count {
        let rate = draws.whole(50, 1000);
        let delay_ms = if draws.chance(0.5) { 0 } else { draws.whole(1, 30) };
        let _ = write!(nodes, ", {{name: w{worker}, kind: worker}}");
        let _ = write!(links, ", {{ends: [w{worker}, v1], rate: {rate} Mbps, delay: {delay_ms} ms}}");
        names.push(format!("w{worker}"));
    }
    let (names, size_kb, cv) = (names.join(", "), draws.whole(20, 4000), draws.whole(0, 6) as f64 / 10.0);
    let (kind, pause) = match of_clients {
        true => ("clients", ", upload_delay: {mean: 20 ms}"),
        false => ("workers", ""),
    };
    format!(
        "{{name: drawn, nodes: [{nodes}], links: [{links}], jobs: [{{name: j, gradient: {size_kb} KB, batch: 32, \
         {kind}: [{names}], servers: [s1], compute: {{mean: {compute_ms} ms, cv: {cv}}}{pause}}}]}}"
    )
}

/// Returns random faults of a job's hosts for a seed, up to a time in seconds. At least one participant
/// stays.
pub fn random_faults(topology: &Topology, job: &str, horizon_s: f64, seed: u64) -> Faults {
    let mut draws = Draws(SplitMix64::stream(seed, 3));
    let mut faults = Faults::default();
    let Some(planned) = topology.jobs().iter().find(|planned| planned.name == job) else { return faults };
    let name = |id| topology.node(id).name.clone();
    let workers: Vec<String> = planned.workers.iter().map(|id| name(*id)).collect();
    let servers: Vec<String> = planned.servers.iter().map(|id| name(*id)).collect();
    let hosts: Vec<_> = planned.workers.iter().chain(&planned.servers).copied().collect();
    if draws.chance(0.6) {
        let share = |draws: &mut Draws, most: f64| Share::near(draws.0.uniform(0.0, most));
        faults.links.push(LinkFaults {
            drop: share(&mut draws, 0.1),
            delay: share(&mut draws, 0.3),
            delay_by: Some(Span(40_000_000)),
            reorder: share(&mut draws, 0.3),
            reorder_by: Some(Span(20_000_000)),
            ..LinkFaults::default()
        });
    }
    for _ in 0..draws.whole(0, 7) {
        let at = draws.span(0.0, horizon_s);
        let lasts = Some(draws.span(0.001, 9.0));
        let host = hosts[draws.whole(0, hosts.len() as u64) as usize];
        let links = topology.neighbors(host).map(|(_, link)| link).collect::<Vec<_>>();
        let link = links.first().map(|link| topology.link(*link));
        let ends = link.map(|link| link.ends.map(name));
        let worker = workers[draws.whole(0, workers.len() as u64) as usize].clone();
        let event = FaultEvent { at, lasts, ..FaultEvent::default() };
        faults.events.push(match draws.whole(0, 9) {
            0..=2 => FaultEvent { crash: Some(worker), ..event },
            3 => FaultEvent { crash: servers.first().cloned(), ..event },
            4 => FaultEvent { link_down: ends, ..event },
            5 => {
                let part = 10f64.powf(draws.0.uniform(-2.0, 0.3));
                let rate = link.map(|link| BitRate((link.rate_bps() * part) as u64 + 1));
                FaultEvent { slow: ends, rate, ..event }
            }
            6 if worker != workers[0] => FaultEvent { crash: Some(worker), lasts: None, ..event },
            _ => FaultEvent { disconnect: Some(worker), lasts: None, ..event },
        });
    }
    faults
}
