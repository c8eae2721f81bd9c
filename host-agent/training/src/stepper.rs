//! A worker of training at a parameter server: it computes an update to a given model.

use crate::trainer::{Config, ConfigError, Evaluation, Trainer};

/// A worker without a model.
#[derive(Clone)]
pub struct Stepper {
    trainer: Trainer,
    step: f32,
}

impl Stepper {
    /// A worker, with the step along the mean gradient of its batch.
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn new(config: Config, step: f32) -> Result<Self, ConfigError> {
        Ok(Stepper { trainer: Trainer::new(config)?, step })
    }

    /// The seed's first weights.
    pub fn first_model(&self) -> Vec<f32> {
        let mut state = self.trainer.state();
        state.truncate(self.trainer.gradient_len());
        state
    }

    /// Returns this worker's update to a model, by the images of its iteration (from 0 on).
    ///
    /// # Errors
    /// An empty batch.
    ///
    /// # Panics
    /// If the model has another length than [`first_model`](Self::first_model).
    pub fn update(&mut self, model: &[f32], iteration: u64, batch: usize) -> Result<Vec<f32>, ConfigError> {
        self.trainer.set_batch(batch)?;
        self.load(model, iteration);
        let mut update = vec![0.0; model.len()];
        self.trainer.gradient(&mut update);
        update.iter_mut().for_each(|value| *value *= -self.step);
        Ok(update)
    }

    /// Loss and accuracy of a model on images never trained on.
    ///
    /// # Panics
    /// As [`update`](Self::update).
    pub fn evaluate(&mut self, model: &[f32]) -> Evaluation {
        self.load(model, 0);
        self.trainer.evaluate()
    }

    fn load(&mut self, model: &[f32], round: u64) {
        let mut state = model.to_vec();
        state.resize(2 * model.len(), 0.0);
        self.trainer.load(&state, round);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of updates are equivalent to synchronous SGD without momentum.
    #[test]
    fn sixteen_workers_learn_the_digits_together_and_in_turn() {
        let worker = |rank| Stepper::new(Config { seed: 1, rank, workers: 16, batch: 8 }, 0.5 / 16.0);
        let mut workers: Vec<_> = (0..16).map(|rank| worker(rank).expect("valid")).collect();
        let first = workers[0].first_model();
        for in_turn in [false, true] {
            let mut model = first.clone();
            let mut pulled = vec![first.clone(); 16];
            for iteration in 0..60 {
                let start = model.clone();
                for (rank, worker) in workers.iter_mut().enumerate() {
                    // In turn, each uses the model of its last push.
                    let from = if in_turn { pulled[rank].clone() } else { start.clone() };
                    let update = worker.update(&from, iteration, 8).expect("a batch");
                    model.iter_mut().zip(update).for_each(|(value, change)| *value += change);
                    pulled[rank].clone_from(&model);
                }
            }
            let evaluation = workers[0].evaluate(&model);
            assert!(evaluation.accuracy > 0.9, "in turn: {in_turn}: {evaluation:?}");
        }
    }

    #[test]
    fn an_update_is_a_step_down_and_depends_on_the_batch() {
        let mut worker = Stepper::new(Config { seed: 1, rank: 0, workers: 2, batch: 8 }, 1.0).expect("valid");
        let model = worker.first_model();
        let small = worker.update(&model, 0, 8).expect("a batch");
        assert_ne!(small, worker.update(&model, 0, 16).expect("a batch"));
        assert_ne!(small, worker.update(&model, 1, 8).expect("a batch"));
        assert_eq!(small, worker.update(&model, 0, 8).expect("a batch"));
        assert_eq!(worker.update(&model, 0, 0), Err(ConfigError::EmptyBatch));
        let stepped: Vec<f32> =
            model.iter().zip(&small).map(|(value, change)| value + 0.1 * change).collect();
        assert!(worker.evaluate(&stepped).loss < worker.evaluate(&model).loss);
    }
}
