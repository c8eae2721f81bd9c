//! Trainings in virtual time. The order of a run decides from which version of the model each gradient is
//! computed, and when it is applied. The gradients are real.

use std::rc::Rc;

use inart_protocol_ps::Update;
use inart_simulator_ps::{WorkerEvent, WorkerOptions, run_workers_watched};
use inart_topologies::ps::Job;
use inart_training::{Config, ConfigError, Stepper};

use super::memo::Memo;
use super::workers;
use crate::trials::StudyError;

/// Step along the gradient of all workers together, as in `inart emulate`.
const STEP: f64 = 0.3;
/// Images of a worker's first batch, as in `inart emulate`. The published model's batch does not matter.
const IMAGES: u32 = 16;
/// Loss on the test set below which a training converges, in nats: the R²SP paper's criterion for ResNet32
/// (Section VI-A, "Metrics").
const TARGET: f64 = 0.25;
/// Number of consecutive evaluations below the target, one per iteration of all workers.
const IN_A_ROW: u32 = 10;
/// Small step, for comparison.
const SMALL_STEP: f64 = 0.05;
/// Iterations of each worker after which a training counts as not converging.
const ITERATIONS: u32 = 900;

/// Quantity measured of a training until it converges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Mean number of iterations of a worker: updates over workers.
    Steps,
    /// Virtual seconds.
    Seconds,
}

/// A training without its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    run: workers::Case,
    measure: Measure,
    step: f64,
}

/// Iterations and seconds, by training, without its quantity, and seed.
static MEMO: Memo<(Case, u64), [f64; 2]> = Memo::new();

/// A training that does not converge.
#[derive(Debug, thiserror::Error)]
#[error(
    "after {ITERATIONS} iterations of each worker the loss has been {least:.3} at least, not below {TARGET}"
)]
struct NotConverged {
    least: f64,
}

impl Case {
    /// Returns a training in the order of a run.
    pub fn new(run: workers::Case, measure: Measure) -> Self {
        Case { run, measure, step: STEP }
    }

    /// Returns the training with a sixth of the usual step.
    pub fn with_small_steps(self) -> Self {
        Case { step: SMALL_STEP, ..self }
    }

    /// Runs the training with a seed and returns the quantity.
    ///
    /// # Errors
    /// A run that fails, or a training that does not converge.
    pub fn run(&self, seed: u64) -> Result<f64, StudyError> {
        let key = (Case { measure: Measure::Steps, ..*self }, seed);
        let [steps, seconds] = MEMO.get(key, || self.trained(seed))?;
        Ok(match self.measure {
            Measure::Steps => steps,
            Measure::Seconds => seconds,
        })
    }

    /// Returns iterations and seconds until convergence.
    fn trained(&self, seed: u64) -> Result<[f64; 2], StudyError> {
        let (job, options) = self.run.setting(seed, ITERATIONS)?;
        let failed = |source| StudyError::new(self, seed, source);
        let mut training = Training::new(&job, seed, self.step).map_err(failed)?;
        train(&job, &options, &mut training).map_err(|source| StudyError::new(self, seed, source))?;
        let missed = || StudyError::new(self, seed, NotConverged { least: training.least });
        training.reached.ok_or_else(missed)
    }
}

fn train(
    job: &Job,
    options: &WorkerOptions,
    training: &mut Training,
) -> Result<(), inart_simulator_ps::RunError> {
    run_workers_watched(job, options, &mut |at_s, event| match event {
        WorkerEvent::Pull { worker, .. } => training.pulled(worker),
        WorkerEvent::Apply { updates, .. } => training.applied(at_s, &updates),
        WorkerEvent::Push { .. } | WorkerEvent::Gone { .. } => {}
    })?;
    Ok(())
}

/// A server's model, and the versions that its workers pulled.
struct Training {
    steppers: Vec<Stepper>,
    model: Rc<Vec<f32>>,
    pulled: Vec<Rc<Vec<f32>>>,
    updates: u64,
    evaluated: u64,
    /// Least loss.
    least: f64,
    /// Consecutive evaluations below the target.
    below: u32,
    /// Iterations and seconds at convergence.
    reached: Option<[f64; 2]>,
}

impl Training {
    fn new(job: &Job, seed: u64, step: f64) -> Result<Self, ConfigError> {
        let workers = job.participants.len();
        let stepper = |rank| {
            let config = Config { seed, rank, workers, batch: IMAGES as usize };
            Stepper::new(config, (step / workers as f64) as f32)
        };
        let steppers = (0..workers).map(stepper).collect::<Result<Vec<_>, _>>()?;
        let model = Rc::new(steppers[0].first_model());
        let pulled = vec![Rc::clone(&model); workers];
        Ok(Training {
            steppers,
            model,
            pulled,
            updates: 0,
            evaluated: 0,
            least: f64::INFINITY,
            below: 0,
            reached: None,
        })
    }

    fn pulled(&mut self, worker: usize) {
        self.pulled[worker] = Rc::clone(&self.model);
    }

    fn applied(&mut self, at_s: f64, updates: &[Update]) {
        if self.reached.is_some() {
            return;
        }
        for update in updates {
            let worker = update.worker.index();
            let images = (update.scale() * f64::from(IMAGES)).round() as usize;
            let base = Rc::clone(&self.pulled[worker]);
            let stepper = &mut self.steppers[worker];
            let change = stepper.update(&base, update.iteration, images.max(1)).expect("a batch has images");
            let scale = update.scale() as f32;
            let model = Rc::make_mut(&mut self.model);
            model.iter_mut().zip(&change).for_each(|(value, change)| *value += scale * change);
        }
        self.updates += updates.len() as u64;
        // About once per iteration of all workers.
        let workers = self.steppers.len() as u64;
        if self.updates / workers > self.evaluated {
            self.evaluated = self.updates / workers;
            let loss = self.steppers[0].evaluate(&self.model).loss;
            self.least = self.least.min(loss);
            self.below = if loss < TARGET { self.below + 1 } else { 0 };
            if self.below == IN_A_ROW {
                self.reached = Some([self.updates as f64 / workers as f64, at_s]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use inart_protocol_ps::WorkerNo;

    use super::super::models::Model;
    use super::super::workers::{Case as Run, Fleet, Sync};
    use super::*;

    fn update(worker: u32, iteration: u64, batch: u32) -> Update {
        Update { worker: WorkerNo(worker), iteration, staleness: 0, batch, first_batch: 128 }
    }

    fn added(mut model: Vec<f32>, change: &[f32], scale: f32) -> Vec<f32> {
        model.iter_mut().zip(change).for_each(|(value, change)| *value += scale * change);
        model
    }

    /// An applied update was computed from the version that its worker pulled, not from the current one. A
    /// batch of 1.5 times the size has 1.5 times the images and the weight.
    #[test]
    fn updates_are_of_the_version_that_was_pulled() {
        let (job, _) = Run::new(Model::Vgg16, Sync::Bsp).of(Fleet::Alike(2)).setting(3, 9).unwrap();
        let mut training = Training::new(&job, 3, STEP).unwrap();
        let worker = |rank: usize, model: &[f32], iteration, images| {
            let config = Config { seed: 3, rank, workers: 2, batch: 16 };
            Stepper::new(config, 0.15).unwrap().update(model, iteration, images).unwrap()
        };
        let first = training.model.to_vec();
        [0, 1].into_iter().for_each(|worker| training.pulled(worker));
        training.applied(1.0, &[update(0, 0, 128)]);
        training.pulled(0);
        training.applied(2.0, &[update(1, 0, 192)]);
        let second = added(first.clone(), &worker(0, &first, 0, 16), 1.0);
        let third = added(second.clone(), &worker(1, &first, 0, 24), 1.5);
        assert_eq!(*training.model, third);
        training.applied(3.0, &[update(0, 1, 128)]);
        assert_eq!(*training.model, added(third.clone(), &worker(0, &second, 1, 16), 1.0));
        assert_ne!(*training.model, added(third.clone(), &worker(0, &third, 1, 16), 1.0));
    }

    /// Under BSP the result does not depend on time, and an iteration takes its closed form.
    #[test]
    fn bsp_learns_the_same_in_other_times() {
        let reached = |model, rate| {
            let run = Run::new(model, Sync::Bsp).of(Fleet::Alike(8)).even().at(rate);
            let (job, options) = run.setting(1, ITERATIONS).unwrap();
            let mut training = Training::new(&job, 1, STEP).unwrap();
            train(&job, &options, &mut training).unwrap();
            training.reached.unwrap()
        };
        let [[steps, seconds], [same, longer]] = [reached(Model::Vgg16, 1.0), reached(Model::Vgg16, 0.5)];
        assert_eq!(steps, same);
        assert!((seconds / steps / 9.74 - 1.0).abs() < 1e-6 && longer > 1.9 * seconds, "{seconds} {longer}");
    }

    #[test]
    fn a_training_that_does_not_converge_is_an_error() {
        let error = NotConverged { least: 0.5 }.to_string();
        assert!(error.contains("0.500") && error.contains("0.25"), "{error}");
    }
}
