//! Runs of workers.

use inart_protocol_ps::{Applied, BatchRule, Blocking, SyncModel, SyncModelError};
use inart_simulator_ps::{WorkerOptions, WorkerRun, run_workers};
use inart_topologies::ps::{Job, Kind, Nic, Participant, Time};

use super::models::Model;
use crate::trials::StudyError;

/// Iterations of a run, of which the first third is not counted (Section VI-A4).
const ITERATIONS: u32 = 200;
/// Coefficient of variation of compute times, where they vary. Assumed: the R²SP paper does not state one.
const NOISE: f64 = 0.05;

/// Set of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fleet {
    /// Equal workers: sixteen have four servers (cluster A), fewer have two.
    Alike(usize),
    /// Cluster B, eight of three kinds; the blocking of Table III reduces the compute time of fast ones.
    ByBlocking,
    /// Cluster B; the compute time is the batch over Table III's speed.
    BySpeed,
    /// Eight workers, two of them delayed by 0.5 s and two by 1 s (Section VI-A5).
    Delayed,
}

/// Order at the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sync {
    Bsp,
    Asp,
    /// With the R²SP paper's bound of 5.
    Ssp,
    /// With the fraction 0.75 and a lag of 5: the R²SP paper states neither.
    Safa,
    /// R²SP with this r.
    R2sp(f64),
    /// R²SP with this r and batches that fill idle time.
    R2spBatches(f64),
    /// R²SP that tunes r itself.
    Tuned,
    /// R²SP that tunes r, with batches that fill idle time.
    TunedBatches,
}

/// Quantity measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Seconds of an iteration.
    Iteration,
    /// Seconds of an iteration without computing.
    Communication,
    /// Part of the gaps between pushes that are zero.
    ZeroGaps,
    /// Seconds per iteration from a push to the next pull.
    Blocking,
    /// Seconds per iteration from a push to the next pull, of the worker at this position.
    BlockingOf(usize),
    /// Batch of the worker at this position.
    BatchOf(usize),
    /// Samples a second.
    Samples,
    /// Unused part of the rate into the server.
    IdleIn,
    /// Unused part of the rate out of the server.
    IdleOut,
    /// Seconds of a push.
    Push,
    /// Seconds of a pull.
    Pull,
}

/// A run without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    model: Model,
    fleet: Fleet,
    sync: Sync,
    /// Rate of all ports, as a part of the R²SP paper's.
    rate: f64,
    /// Coefficient of variation of compute times.
    cv: f64,
    measure: Measure,
}

impl Case {
    /// Returns the time of an iteration in cluster A, with varying compute times.
    pub fn new(model: Model, sync: Sync) -> Self {
        let (fleet, measure) = (Fleet::Alike(16), Measure::Iteration);
        Case { model, fleet, sync, rate: 1.0, cv: NOISE, measure }
    }

    /// Returns the case with other workers.
    pub fn of(self, fleet: Fleet) -> Self {
        Case { fleet, ..self }
    }

    /// Returns the case at this part of the R²SP paper's rates.
    pub fn at(self, rate: f64) -> Self {
        Case { rate, ..self }
    }

    /// Returns the case with constant compute times.
    pub fn even(self) -> Self {
        self.varying(0.0)
    }

    /// Returns the case with compute times of this coefficient of variation.
    pub fn varying(self, cv: f64) -> Self {
        Case { cv, ..self }
    }

    /// Returns the case with another quantity.
    pub fn measuring(self, measure: Measure) -> Self {
        Case { measure, ..self }
    }

    /// Returns the job. The unit of rate is that of two servers' ports; a worker has half of it.
    fn job(&self) -> Job {
        let (workers, server) = match self.fleet {
            Fleet::Alike(16) => (16, 2.0),
            Fleet::Alike(workers) => (workers, 1.0),
            Fleet::ByBlocking | Fleet::BySpeed | Fleet::Delayed => (8, 1.0),
        };
        let nic = |rate: f64| Nic { out_bps: rate * self.rate, in_bps: rate * self.rate };
        let participant = |at: usize| {
            let (mean_s, batch, speed) = self.worker(at);
            let compute = Time { mean_s, cv: self.cv };
            Participant { name: format!("{at:02}"), nic: nic(0.5), delay_s: 0.0, compute, batch, speed }
        };
        Job {
            name: self.model.name().to_owned(),
            kind: Kind::Workers,
            participants: (0..workers).map(participant).collect(),
            server: nic(server),
            bits: self.model.pass_s(),
            pause: Time { mean_s: 0.0, cv: 0.0 },
        }
    }

    /// Returns the compute time in seconds, the batch and the samples per second of a worker, by position.
    fn worker(&self, at: usize) -> (f64, u32, f64) {
        let compute_s = self.model.compute_s();
        // Table III: samples a second, and seconds blocked. Two workers, two and four are of a kind.
        let kind = [0, 0, 1, 1, 2, 2, 2, 2][at.min(7)];
        let (speed, blocked_s) = [(429.0, 0.0), (628.0, 0.62), (917.0, 0.82)][kind];
        match self.fleet {
            Fleet::Alike(_) => (compute_s, 128, 128.0 / compute_s),
            Fleet::ByBlocking => (512.0 / 429.0 - blocked_s, 512, speed),
            Fleet::BySpeed => (512.0 / speed, 512, speed),
            Fleet::Delayed => {
                let delay_s = [0.5, 0.5, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0][at.min(7)];
                (compute_s + delay_s, 400, 400.0 / compute_s)
            }
        }
    }

    fn sync_model(&self) -> Result<SyncModel, SyncModelError> {
        match self.sync {
            Sync::Bsp => Ok(SyncModel::bsp()),
            Sync::Asp => Ok(SyncModel::asp()),
            Sync::Ssp => SyncModel::ssp(5, Blocking::AfterPush),
            Sync::Safa => SyncModel::safa(0.75, 5),
            Sync::R2sp(r) | Sync::R2spBatches(r) => SyncModel::r2sp(r, Applied::InTurn),
            Sync::Tuned | Sync::TunedBatches => Ok(SyncModel::r2sp_tuned(Applied::InTurn)),
        }
    }

    /// Returns the job and the options of a run.
    ///
    /// # Errors
    /// An invalid policy.
    pub fn setting(&self, seed: u64, iterations: u32) -> Result<(Job, WorkerOptions), StudyError> {
        let sync_model = self.sync_model().map_err(|source| StudyError::new(self, seed, source))?;
        let are_tuned = matches!(self.sync, Sync::R2spBatches(_) | Sync::TunedBatches);
        let tuning = are_tuned.then_some(BatchRule::FillIdle);
        Ok((self.job(), WorkerOptions { seed, tuning, ..WorkerOptions::new(sync_model, iterations) }))
    }

    /// Runs the case with a seed and returns the quantity.
    ///
    /// # Errors
    /// A run that fails.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let (job, options) = self.setting(seed, ITERATIONS)?;
        let run = run_workers(&job, &options).map_err(|source| StudyError::new(self, seed, source))?;
        Ok(self.measured(&job, &run))
    }

    fn measured(&self, job: &Job, run: &WorkerRun) -> f64 {
        let of = |at: usize| job.participants.get(at).map(|worker| &worker.name);
        match self.measure {
            Measure::Iteration => run.iteration_s,
            Measure::Communication => run.iteration_s - self.model.compute_s(),
            Measure::ZeroGaps => run.bunched_arrivals,
            Measure::Blocking => run.blocking_s,
            Measure::BlockingOf(at) => {
                of(at).and_then(|name| run.blockings_s.get(name)).copied().unwrap_or(0.0)
            }
            Measure::BatchOf(at) => {
                of(at).and_then(|name| run.batches.get(name)).copied().unwrap_or(0).into()
            }
            Measure::Samples => run.samples as f64 / run.seconds,
            Measure::IdleIn => 1.0 - run.utilization_in,
            Measure::IdleOut => 1.0 - run.utilization_out,
            Measure::Push => run.push_s,
            Measure::Pull => run.pull_s,
        }
    }
}
