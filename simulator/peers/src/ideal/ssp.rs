//! Stale synchronous training in virtual time: every peer computes, sends, and waits if it is too far ahead.

use inart_planner_peers::{
    Gate, Options, Pairs, PlanError, Reading, Round as _, Scheme, Session, Setting, Sharing, Task, Waits,
    join, rates, receivers_of, receivers_random, reselect,
};
use inart_topologies::peers::{Compute, Mesh, PeerJob, Ports};
use inart_virtual::SplitMix64;
use serde::Serialize;

use super::draw::Draw;

/// A multicast with less left than this part of its update is done: rounding.
const DONE: f64 = 1e-9;

/// Most rounds of a peer in a run.
const MOST_ROUNDS: f64 = 1e6;

/// Options of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct SspOptions {
    /// Options of the scheme; `force_after` is the fairness bound k.
    pub plan: Options,
    /// Reading of Algorithm 2.
    pub reading: Reading,
    /// Policy of `orpheus`' draws.
    pub draw: Draw,
    /// Lead bound: rounds that a peer may be ahead of the slowest at the start of a round; `None` for no
    /// bound.
    pub staleness: Option<u64>,
    /// Rule of sharing ports.
    pub sharing: Sharing,
    /// Duration in seconds.
    pub duration_s: f64,
}

/// Statistics of a training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ssp {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Maker of the copies.
    pub multicast: &'static str,
    /// Mean share of the time in which peers compute.
    pub utilization: f64,
    /// Mean number of receivers of an ended multicast, over the number of peers.
    pub scale: f64,
    /// Ended multicasts.
    pub rounds: u64,
    /// Rounds by which the fastest peer is ahead of the slowest at the end.
    pub max_gap: u64,
    /// Most rounds since a peer last sent to another, of all pairs at all times.
    pub longest_wait: u32,
}

/// Phase of a peer.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Computing until this time, in seconds.
    Computing(f64),
    Sending {
        to: Vec<usize>,
        left_bits: f64,
    },
    Waiting,
}

struct Training<'t> {
    mesh: &'t Mesh,
    job: &'t PeerJob,
    options: &'t SspOptions,
    computes: &'t [Compute],
    bits: Vec<f64>,
    ports: Ports,
    phases: Vec<Phase>,
    gate: Gate,
    waited: Waits,
    /// Compute times, and receivers of `orpheus`, in the order of events.
    random: SplitMix64,
    fixed: Vec<Option<Vec<usize>>>,
    now_s: f64,
    computed_s: f64,
    ended: u64,
    reached: u64,
    longest_wait: u32,
}

/// Runs a job's peers, all of which start to compute at 0.
///
/// # Errors
/// The scheme plans whole rounds only; the job has no compute times; the duration is too long for them.
pub fn run_ssp(mesh: &Mesh, job: &PeerJob, options: &SspOptions) -> Result<Ssp, PlanError> {
    let scheme = options.plan.scheme;
    if scheme == Scheme::Optimal {
        return Err(PlanError::RoundsOnly { scheme });
    }
    options.plan.require_given(&mut Pairs::none(job.peers.len()))?;
    if job.computes.is_empty() {
        return Err(PlanError::NoCompute { job: job.name.clone() });
    }
    let shortest = job.computes.iter().map(|compute| compute.mean_seconds).fold(f64::INFINITY, f64::min);
    let rounds = options.duration_s / shortest;
    if rounds > MOST_ROUNDS {
        return Err(PlanError::TooLong { job: job.name.clone(), rounds, most: MOST_ROUNDS });
    }
    let mut training = Training::new(mesh, job, options);
    training.run();
    let n = job.peers.len() as f64;
    Ok(Ssp {
        scheme: scheme.name(),
        multicast: options.plan.multicast.name(),
        utilization: training.computed_s / (n * options.duration_s),
        scale: training.reached as f64 / training.ended.max(1) as f64 / n,
        rounds: training.ended,
        max_gap: training.gate.gap(),
        longest_wait: training.longest_wait,
    })
}

impl<'t> Training<'t> {
    fn new(mesh: &'t Mesh, job: &'t PeerJob, options: &'t SspOptions) -> Self {
        let n = job.peers.len();
        let mut training = Training {
            mesh,
            job,
            options,
            computes: &job.computes,
            bits: job.update_bits(),
            ports: mesh.ports_at(job, 0.0),
            phases: vec![Phase::Waiting; n],
            gate: Gate::new(n, options.staleness),
            waited: job.waits(),
            random: receivers_random(options.plan.seed, n),
            fixed: vec![None; n],
            now_s: 0.0,
            computed_s: 0.0,
            ended: 0,
            reached: 0,
            longest_wait: 0,
        };
        (0..n).for_each(|peer| training.begin(peer));
        training
    }

    /// Starts a peer's computation; the part within the duration counts.
    fn begin(&mut self, peer: usize) {
        let Compute { mean_seconds, cv } = self.computes[peer];
        let until_s = self.now_s + self.random.log_normal(mean_seconds, cv);
        self.computed_s += until_s.min(self.options.duration_s) - self.now_s;
        self.phases[peer] = Phase::Computing(until_s);
    }

    fn run(&mut self) {
        let end_s = self.options.duration_s;
        loop {
            let (senders, rates) = self.rates();
            let mut next_s = self.mesh.next_change(self.job, self.now_s).unwrap_or(f64::INFINITY);
            let changes = next_s;
            for phase in &self.phases {
                if let Phase::Computing(until_s) = phase {
                    next_s = next_s.min(*until_s);
                }
            }
            for (&peer, bps) in senders.iter().zip(&rates) {
                if let Phase::Sending { left_bits, .. } = &self.phases[peer] {
                    next_s = next_s.min(self.now_s + left_bits / bps);
                }
            }
            if next_s >= end_s {
                break;
            }
            let step_s = next_s - self.now_s;
            self.now_s = next_s;
            for (&peer, bps) in senders.iter().zip(&rates) {
                if let Phase::Sending { left_bits, .. } = &mut self.phases[peer] {
                    *left_bits -= bps * step_s;
                }
            }
            if changes <= next_s {
                self.ports = self.mesh.ports_at(self.job, next_s);
            }
            self.end_multicasts(&senders, &rates);
            self.open();
            for peer in 0..self.phases.len() {
                if matches!(self.phases[peer], Phase::Computing(until_s) if until_s <= self.now_s) {
                    self.send(peer);
                }
            }
        }
    }

    fn rates(&self) -> (Vec<usize>, Vec<f64>) {
        let multicast = self.options.plan.multicast;
        let (mut senders, mut sessions) = (Vec::new(), Vec::new());
        for (peer, phase) in self.phases.iter().enumerate() {
            if let Phase::Sending { to, .. } = phase {
                senders.push(peer);
                let copies = multicast.copies(to.len());
                sessions.push(Session { from: peer, copies, to: to.clone(), pace_bps: f64::INFINITY });
            }
        }
        let rates = rates(self.options.sharing, &self.ports, &sessions);
        (senders, rates)
    }

    /// Ends multicasts that are done, or would be before the time's resolution.
    fn end_multicasts(&mut self, senders: &[usize], rates: &[f64]) {
        for (&peer, bps) in senders.iter().zip(rates) {
            let Phase::Sending { to, left_bits } = &self.phases[peer] else { continue };
            let is_next = self.now_s + left_bits / bps <= self.now_s;
            if *left_bits > DONE * self.bits[peer] && !is_next {
                continue;
            }
            self.ended += 1;
            self.reached += to.len() as u64;
            let to = to.clone();
            self.waited.ended(peer, to);
            self.longest_wait = self.longest_wait.max(self.waited.longest_of(peer));
            self.gate.end(peer);
            self.phases[peer] = Phase::Waiting;
        }
    }

    /// Lets peers that may start their next round compute.
    fn open(&mut self) {
        for peer in 0..self.phases.len() {
            if self.phases[peer] == Phase::Waiting && self.gate.is_open(peer) {
                self.begin(peer);
            }
        }
    }

    /// Sends a peer's update to receivers that are chosen now.
    fn send(&mut self, peer: usize) {
        let n = self.phases.len();
        let force_after = self.options.plan.force_after;
        let scheme = self.options.plan.scheme;
        let to = match scheme {
            Scheme::Orpheus => self.drawn(peer, force_after),
            Scheme::Optimized => self.joined(peer, force_after),
            Scheme::Own => self.given(peer, force_after),
            Scheme::Selmcast | Scheme::Optimal => (0..n).filter(|&to| to != peer).collect(),
        };
        self.phases[peer] = Phase::Sending { to, left_bits: self.bits[peer] };
        if scheme == Scheme::Selmcast {
            self.reselect(force_after);
        }
    }

    fn drawn(&mut self, peer: usize, force_after: Option<u32>) -> Vec<usize> {
        let mut forced = self.required_of(peer, force_after);
        if let (Draw::Fixed, Some(fixed)) = (self.options.draw, &self.fixed[peer]) {
            fixed.iter().for_each(|&to| forced.insert(peer, to));
        }
        let chosen = receivers_of(peer, &forced, self.job.receivers, &mut self.random);
        self.fixed[peer].get_or_insert_with(|| chosen.clone());
        chosen
    }

    fn joined(&self, peer: usize, force_after: Option<u32>) -> Vec<usize> {
        join(&self.setting(&self.required_of(peer, force_after)), peer, &self.tasks())
    }

    /// Returns the user-defined receivers, and required ones.
    fn given(&self, peer: usize, force_after: Option<u32>) -> Vec<usize> {
        let mut chosen = self.required_of(peer, force_after);
        let given = self.options.plan.given.iter().flat_map(|given| given.receivers(peer));
        given.for_each(|to| chosen.insert(peer, to));
        chosen.receivers(peer).collect()
    }

    fn required_of(&self, peer: usize, force_after: Option<u32>) -> Pairs {
        let n = self.phases.len();
        let to = (0..n).filter(|&to| self.is_required(peer, to, force_after));
        Pairs::of(n, to.map(|to| (peer, to)))
    }

    fn setting<'s>(&'s self, required: &'s Pairs) -> Setting<'s> {
        Setting {
            ports: &self.ports,
            bits: &self.bits,
            receivers: self.job.receivers,
            multicast: self.options.plan.multicast,
            required,
            waited: &self.waited,
        }
    }

    /// Returns the active multicasts.
    fn tasks(&self) -> Vec<Task> {
        let straggler_s = self.straggler_s();
        let task = |(from, phase): (usize, &Phase)| {
            let Phase::Sending { to, left_bits } = phase else { return None };
            let wait_s = if self.gate.would_wait(from) { straggler_s } else { 0.0 };
            Some(Task { from, to: to.clone(), left_bits: *left_bits, wait_s })
        };
        self.phases.iter().enumerate().filter_map(task).collect()
    }

    fn is_required(&self, from: usize, to: usize, force_after: Option<u32>) -> bool {
        let is_first = self.gate.rounds(from) == 0;
        self.waited.is_forced(from, to, force_after) || (is_first && self.job.required.contains(&(from, to)))
    }

    /// Runs Algorithm 2 over all active multicasts.
    fn reselect(&mut self, force_after: Option<u32>) {
        let tasks = self.tasks();
        let pairs = tasks.iter().flat_map(|task| task.to.iter().map(|&to| (task.from, to)));
        let required = pairs.filter(|&(from, to)| self.is_required(from, to, force_after));
        let required = Pairs::of(self.phases.len(), required);
        let chosen = reselect(&self.setting(&required), &tasks, &self.options.reading);
        for (task, chosen) in tasks.iter().zip(chosen.to) {
            if let Phase::Sending { to, .. } = &mut self.phases[task.from] {
                *to = chosen;
            }
        }
    }

    /// Returns the longest time, in seconds, that one of the slowest peers still computes, or sends at its
    /// own port's rate.
    fn straggler_s(&self) -> f64 {
        let left = |peer: usize| match &self.phases[peer] {
            Phase::Computing(until_s) => until_s - self.now_s,
            Phase::Sending { left_bits, .. } => left_bits / self.ports.up_bps[peer],
            Phase::Waiting => 0.0,
        };
        self.gate.last().map(left).fold(0.0, f64::max)
    }
}
