//! One worker of synchronous data-parallel SGD.

use sha2::{Digest, Sha256};

use crate::digits::{self, Digits, Sampler};
use crate::mlp::{Mlp, PARAMETERS};

/// Step per round along the averaged gradient.
const LEARNING_RATE: f32 = 0.05;
/// Share of the last step that is kept.
const MOMENTUM: f32 = 0.9;

/// Worker and job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Decides the data split, the first weights and the order of the images; the same at every worker.
    pub seed: u64,
    /// Rank of this worker, counted from 0.
    pub rank: usize,
    /// Workers in the job.
    pub workers: usize,
    /// Images per worker and round.
    pub batch: usize,
}

/// A [`Config`] that no worker can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Ranks count from 0 to workers - 1.
    #[error("worker rank {rank} in a job of {workers} workers: give a rank below the number of workers")]
    Rank {
        /// Requested rank.
        rank: usize,
        /// The job's workers.
        workers: usize,
    },
    /// A gradient over no image has no meaning.
    #[error("a batch of 0 images: give at least 1")]
    EmptyBatch,
    /// More shards than images.
    #[error(
        "{shards} shards for each of {clients} clients: give from 1 to {most}, as there are {images} images"
    )]
    Shards {
        /// Shards of a client.
        shards: usize,
        /// The job's clients.
        clients: usize,
        /// Upper limit.
        most: usize,
        /// Images to train on.
        images: usize,
    },
    /// A client that changes nothing.
    #[error("0 steps in a round: give at least 1")]
    NoStep,
    /// A client without data.
    #[error("a client that draws 0 images: give at least 1")]
    NoImage,
    /// Invalid concentration of the distribution.
    #[error("a concentration that is not a number above 0: give one, small for data that is skewed")]
    Concentration,
}

/// Quality of the weights on images never trained on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Mean cross-entropy, nats.
    pub loss: f64,
    /// Accuracy on these images, 0 to 1.
    pub accuracy: f64,
}

/// One worker's model, data and optimizer.
#[derive(Clone)]
pub struct Trainer {
    config: Config,
    train: Digits,
    test: Digits,
    sampler: Sampler,
    model: Mlp,
    velocity: Vec<f32>,
    round: u64,
}

impl Trainer {
    /// A worker with the seed's first weights.
    ///
    /// # Errors
    /// [`ConfigError`] for a rank that is not below the number of workers, or an empty batch.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        if config.rank >= config.workers {
            return Err(ConfigError::Rank { rank: config.rank, workers: config.workers });
        }
        if config.batch == 0 {
            return Err(ConfigError::EmptyBatch);
        }
        let (train, test) = digits::split(config.seed);
        Ok(Self {
            config,
            sampler: Sampler::new(config.seed, train.len()),
            train,
            test,
            model: Mlp::new(config.seed),
            velocity: vec![0.0; PARAMETERS],
            round: 0,
        })
    }

    /// Length of the gradient: the model's parameters.
    pub fn gradient_len(&self) -> usize {
        PARAMETERS
    }

    /// Writes the mean gradient over this worker's part of this round's images; returns their mean loss.
    ///
    /// # Panics
    /// If `gradient` is not [`gradient_len`](Self::gradient_len) long.
    pub fn gradient(&mut self, gradient: &mut [f32]) -> f32 {
        let Config { rank, workers, batch, .. } = self.config;
        gradient.fill(0.0);
        let first = (self.round * workers as u64 + rank as u64) * batch as u64;
        let weight = 1.0 / batch as f32;
        let mut loss = 0.0;
        for position in first..first + batch as u64 {
            let index = self.sampler.index(position);
            loss += weight * self.model.accumulate(&self.train, index, weight, gradient);
        }
        loss
    }

    /// Takes one step along the mean of the workers' gradients, of which `summed` is the sum; ends the round.
    ///
    /// # Panics
    /// If `summed` is not [`gradient_len`](Self::gradient_len) long.
    pub fn apply(&mut self, summed: &[f32]) {
        assert_eq!(summed.len(), PARAMETERS, "a gradient has one value per parameter");
        let share = 1.0 / self.config.workers as f32;
        for ((weight, velocity), sum) in
            self.model.parameters_mut().iter_mut().zip(&mut self.velocity).zip(summed)
        {
            *velocity = MOMENTUM * *velocity + sum * share;
            *weight -= LEARNING_RATE * *velocity;
        }
        self.round += 1;
    }

    /// Changes the rank and the number of workers: the images of later rounds are dealt to these.
    ///
    /// # Errors
    /// [`ConfigError::Rank`] for a rank that is not below the number of workers.
    pub fn set_rank(&mut self, rank: usize, workers: usize) -> Result<(), ConfigError> {
        if rank >= workers {
            return Err(ConfigError::Rank { rank, workers });
        }
        (self.config.rank, self.config.workers) = (rank, workers);
        Ok(())
    }

    /// Changes the number of images per worker and round.
    ///
    /// # Errors
    /// [`ConfigError::EmptyBatch`].
    pub fn set_batch(&mut self, batch: usize) -> Result<(), ConfigError> {
        if batch == 0 {
            return Err(ConfigError::EmptyBatch);
        }
        self.config.batch = batch;
        Ok(())
    }

    /// Returns the state that a worker needs to continue like this one, in addition to the number of the
    /// round.
    pub fn state(&self) -> Vec<f32> {
        self.model.parameters().iter().chain(&self.velocity).copied().collect()
    }

    /// Continues like the worker that had that `state` after `rounds` rounds.
    ///
    /// # Panics
    ///
    /// If its length differs from [`state`](Self::state)'s.
    pub fn load(&mut self, state: &[f32], rounds: u64) {
        assert_eq!(state.len(), 2 * PARAMETERS, "a state has weights and velocities");
        let (weights, velocity) = state.split_at(PARAMETERS);
        self.model.parameters_mut().copy_from_slice(weights);
        self.velocity.copy_from_slice(velocity);
        self.round = rounds;
    }

    /// Loss and accuracy on the test set.
    pub fn evaluate(&mut self) -> Evaluation {
        let images = self.test.len();
        let (mut loss, mut right) = (0.0, 0);
        for index in 0..images {
            let (image_loss, is_right) = self.model.evaluate(&self.test, index);
            loss += f64::from(image_loss);
            right += usize::from(is_right);
        }
        Evaluation { loss: loss / images as f64, accuracy: right as f64 / images as f64 }
    }

    /// SHA-256 over the bits of the weights, in hexadecimal: equal only for equal weights.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for weight in self.model.parameters() {
            hash.update(weight.to_bits().to_be_bytes());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config { seed: 1, rank: 0, workers: 1, batch: 16 };

    fn digest_after(config: Config, rounds: usize) -> String {
        let mut trainer = Trainer::new(config).expect("valid");
        let mut gradient = vec![0.0; trainer.gradient_len()];
        for _ in 0..rounds {
            trainer.gradient(&mut gradient);
            trainer.apply(&gradient);
        }
        trainer.digest()
    }

    #[test]
    fn the_seed_decides_every_bit() {
        assert_eq!(digest_after(CONFIG, 3), digest_after(CONFIG, 3));
        assert_ne!(digest_after(CONFIG, 3), digest_after(Config { seed: 2, ..CONFIG }, 3));
        assert_ne!(digest_after(CONFIG, 3), digest_after(CONFIG, 2));
    }

    #[test]
    fn workers_share_the_weights_but_not_the_images() {
        let mut first = Trainer::new(Config { workers: 2, ..CONFIG }).expect("valid");
        let mut second = Trainer::new(Config { workers: 2, rank: 1, ..CONFIG }).expect("valid");
        assert_eq!(first.digest(), second.digest());
        let mut gradients = [vec![0.0; PARAMETERS], vec![0.0; PARAMETERS]];
        first.gradient(&mut gradients[0]);
        second.gradient(&mut gradients[1]);
        assert_ne!(gradients[0], gradients[1]);
    }

    #[test]
    fn a_worker_continues_from_the_state_of_another() {
        let mut first = Trainer::new(CONFIG).expect("valid");
        let mut gradient = vec![0.0; PARAMETERS];
        for _ in 0..3 {
            first.gradient(&mut gradient);
            first.apply(&gradient);
        }
        let mut second = Trainer::new(Config { workers: 2, rank: 1, ..CONFIG }).expect("valid");
        second.load(&first.state(), 3);
        second.set_rank(0, 1).expect("one of one");
        for trainer in [&mut first, &mut second] {
            trainer.gradient(&mut gradient);
            trainer.apply(&gradient);
        }
        assert_eq!(second.digest(), digest_after(CONFIG, 4));
        assert_eq!(second.set_rank(2, 2), Err(ConfigError::Rank { rank: 2, workers: 2 }));
    }

    #[test]
    fn impossible_workers_are_refused() {
        let rank = Trainer::new(Config { rank: 4, workers: 4, ..CONFIG }).err();
        assert_eq!(rank, Some(ConfigError::Rank { rank: 4, workers: 4 }));
        assert!(Trainer::new(Config { workers: 0, ..CONFIG }).is_err());
        assert_eq!(Trainer::new(Config { batch: 0, ..CONFIG }).err(), Some(ConfigError::EmptyBatch));
    }
}
