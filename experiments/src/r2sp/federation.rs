//! Trainings of clients in virtual time, until they converge.

use inart_protocol_ps::{OutlierRule, SyncModel};
use inart_simulator_ps::{RunError, WorkerEvent, WorkerOptions};
use inart_simulator_ps::{run_clients_judged, run_workers_watched};
use inart_topologies::ps::{Job, Kind, Time};

use super::clients::{self, CLIENTS};
use super::convergence::{Converged, TARGET};
use super::federated_model::{Federation, Outliers};
use super::memo::Memo;
use super::models::ClientModel;
use crate::trials::StudyError;

/// Rounds of each client after which a training counts as not converging.
const ROUNDS: u32 = 400;

/// Synchronization of clients with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// One group of all clients.
    Bsp,
    /// Groups of the R²SP paper.
    FlR2sp,
    /// Each client alone, when it is ready: Algorithm 2 with groups of one, without turns.
    Asp,
}

/// Quantity measured of a training until it converges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Best test accuracy, 0 to 1.
    Accuracy,
    /// Rounds of all clients.
    Rounds,
    /// Virtual seconds.
    Seconds,
    /// Virtual seconds until the accuracy is [`TARGET`].
    ToTarget,
    /// Excluded part of the outliers.
    OutliersOut,
    /// Excluded part of the other clients.
    OthersOut,
}

/// A training without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    model: ClientModel,
    scheme: Scheme,
    is_filtered: bool,
    outliers: Outliers,
    measure: Measure,
}

/// Result of a training.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    converged: Converged,
    /// Excluded parts of outliers and of other clients.
    left_out: [f64; 2],
}

/// A training that stagnates too early.
#[derive(Debug, thiserror::Error)]
#[error("the accuracy has been {best:.3} at best, not {TARGET}")]
struct TooLow {
    best: f64,
}

/// Results of trainings by case, without its quantity, and seed: several numbers come from one training.
static MEMO: Memo<(Case, u64), Outcome> = Memo::new();

impl Case {
    /// Returns a training with the outlier filter. ASP has none: its clients start from different models.
    pub fn new(model: ClientModel, scheme: Scheme, measure: Measure) -> Self {
        let (is_filtered, outliers) = (scheme != Scheme::Asp, Outliers::Skewed);
        Case { model, scheme, is_filtered, outliers, measure }
    }

    /// Returns the training without the filter.
    pub fn unfiltered(self) -> Self {
        Case { is_filtered: false, ..self }
    }

    /// Returns the training with other outliers.
    pub fn with(self, outliers: Outliers) -> Self {
        Case { outliers, ..self }
    }

    /// Runs the training with a seed and returns the quantity.
    ///
    /// # Errors
    /// A run that fails, or a training that does not converge.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let key = (Case { measure: Measure::Accuracy, ..*self }, seed);
        let outcome = MEMO.get(key, || self.trained(seed))?;
        let converged = outcome.converged;
        Ok(match self.measure {
            Measure::Accuracy => converged.accuracy,
            Measure::Rounds => f64::from(converged.rounds),
            Measure::Seconds => converged.seconds,
            Measure::ToTarget => {
                let missed = TooLow { best: converged.accuracy };
                converged.to_target_s.ok_or_else(|| StudyError::new(self, seed, missed))?
            }
            Measure::OutliersOut => outcome.left_out[0],
            Measure::OthersOut => outcome.left_out[1],
        })
    }

    fn trained(&self, seed: u64) -> Result<Outcome, StudyError> {
        let run = match self.scheme {
            Scheme::Bsp | Scheme::Asp => clients::Case::bsp(self.model, clients::Measure::Round),
            Scheme::FlR2sp => clients::Case::fl(self.model, clients::Measure::Round),
        };
        let groups = if self.scheme == Scheme::Asp { CLIENTS } else { run.groups() };
        let failed = |source| StudyError::new(self, seed, source);
        let mut training = Federation::new(seed, groups, self.is_filtered, self.outliers).map_err(failed)?;
        let job = run.job();
        match self.scheme {
            Scheme::Asp => one_by_one(job, seed, &mut training),
            Scheme::Bsp | Scheme::FlR2sp => {
                let options = run.options(seed, ROUNDS);
                let rule = self.is_filtered.then(OutlierRule::default);
                run_clients_judged(&job, &options, rule, &mut |at_s, event| training.on_event(at_s, event))
                    .map(|_| ())
            }
        }
        .map_err(|source| StudyError::new(self, seed, source))?;
        let left_out = training.left_out();
        match training.convergence.reached() {
            Ok(converged) => Ok(Outcome { converged, left_out }),
            Err(not) => Err(StudyError::new(self, seed, not)),
        }
    }
}

/// Runs clients as workers that do not wait for each other.
fn one_by_one(job: Job, seed: u64, training: &mut Federation) -> Result<(), RunError> {
    let job = Job { kind: Kind::Workers, ..with_pauses(job) };
    let options = WorkerOptions { seed, ..WorkerOptions::new(SyncModel::asp(), ROUNDS) };
    run_workers_watched(&job, &options, &mut |at_s, event| match event {
        WorkerEvent::Pull { worker, .. } => training.pulled(worker),
        WorkerEvent::Apply { updates, .. } => {
            for update in updates {
                training.arrived(at_s, update.worker.index(), update.iteration);
            }
        }
        WorkerEvent::Push { .. } | WorkerEvent::Gone { .. } => {}
    })?;
    Ok(())
}

/// Adds the pauses of clients to compute times, with the mean and the variance of the sum: workers have none.
fn with_pauses(mut job: Job) -> Job {
    let deviation = |time: Time| time.mean_s * time.cv;
    for participant in &mut job.participants {
        let compute = participant.compute;
        let mean_s = compute.mean_s + job.pause.mean_s;
        let cv = deviation(compute).hypot(deviation(job.pause)) / mean_s;
        participant.compute = Time { mean_s, cv };
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of compute times include the pauses.
    #[test]
    fn pauses_are_in_the_times_to_compute_of_workers() {
        let job = clients::Case::bsp(ClientModel::Cnn, clients::Measure::Round).job();
        let compute = with_pauses(job).participants[0].compute;
        assert!((compute.mean_s - (7.048 + (-1.5f64).exp())).abs() < 1e-9);
        let deviations = [0.05 * 7.048, (-1.5f64).exp() * (1f64.exp() - 1.0).sqrt()];
        assert!((compute.mean_s * compute.cv / deviations[0].hypot(deviations[1]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn trainings_that_miss_the_target_are_errors() {
        let error = TooLow { best: 0.5 }.to_string();
        assert!(error.contains("0.500") && error.contains("0.95"), "{error}");
    }
}
