//! A client of federated training: some local steps from the received model, on its own images.

use std::sync::Arc;

use crate::digits::{self, Digits, Sampler};
use crate::draw::Draw;
use crate::mlp::{Mlp, PARAMETERS};
use crate::shards::deal;
use crate::trainer::{Config, ConfigError, Evaluation};

/// Settings of a client's training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Shards of images sorted by digit that each client has: the fewer, the less even the data.
    pub shards: usize,
    /// Steps of a round.
    pub steps: usize,
    /// Along the mean gradient of a batch.
    pub step: f32,
}

/// Work of a client in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Images of a step.
    pub batch: usize,
    /// Number of steps.
    pub steps: usize,
    /// Along the mean gradient of a batch.
    pub step: f32,
}

/// A client without a model.
#[derive(Clone)]
pub struct Client {
    seed: u64,
    batch: usize,
    steps: usize,
    step: f32,
    train: Arc<Digits>,
    test: Arc<Digits>,
    own: Vec<usize>,
    sampler: Sampler,
    model: Mlp,
}

impl Client {
    /// A client: `config.rank` of `config.workers`.
    ///
    /// # Errors
    /// [`ConfigError`] for a rank that is not below the number of clients, an empty batch, a round without a
    /// step, or shards without images.
    pub fn new(config: Config, local: Local) -> Result<Self, ConfigError> {
        let Config { seed, rank, workers, batch } = config;
        if rank >= workers {
            return Err(ConfigError::Rank { rank, workers });
        }
        let (train, test) = digits::split(seed);
        let own = deal(&train, seed, workers, local.shards)?.swap_remove(rank);
        let round = Round { batch, steps: local.steps, step: local.step };
        Client::with(seed, round, [train, test].map(Arc::new), own)
    }

    /// All clients of a job, each with the images that it draws.
    ///
    /// # Errors
    /// [`ConfigError`] for an empty batch, a round without a step, or a draw that cannot be.
    pub fn drawn(seed: u64, round: Round, draws: &[Draw]) -> Result<Vec<Client>, ConfigError> {
        let (train, test) = digits::split(seed);
        let data = [train, test].map(Arc::new);
        let client = |(rank, draw): (usize, &Draw)| {
            let own = draw.images(&data[0], seed, rank)?;
            Client::with(seed, round, data.clone(), own)
        };
        draws.iter().enumerate().map(client).collect()
    }

    fn with(seed: u64, round: Round, data: [Arc<Digits>; 2], own: Vec<usize>) -> Result<Self, ConfigError> {
        let Round { batch, steps, step } = round;
        if batch == 0 {
            return Err(ConfigError::EmptyBatch);
        }
        if steps == 0 {
            return Err(ConfigError::NoStep);
        }
        let [train, test] = data;
        let sampler = Sampler::new(seed, own.len());
        Ok(Client { seed, batch, steps, step, train, test, own, sampler, model: Mlp::new(seed) })
    }

    /// The seed's first weights.
    pub fn first_model(&self) -> Vec<f32> {
        Mlp::new(self.seed).parameters().to_vec()
    }

    /// Returns the model after a round (from 0 on) on this client's images.
    ///
    /// # Panics
    /// If the model has another length than [`first_model`](Self::first_model).
    pub fn train(&mut self, model: &[f32], round: u64) -> Vec<f32> {
        self.model.parameters_mut().copy_from_slice(model);
        let (batch, steps) = (self.batch as u64, self.steps as u64);
        let weight = 1.0 / batch as f32;
        let mut gradient = vec![0.0; PARAMETERS];
        for step in 0..steps {
            gradient.fill(0.0);
            let first = round.wrapping_mul(steps).wrapping_add(step).wrapping_mul(batch);
            for position in first..first.saturating_add(batch) {
                let index = self.own[self.sampler.index(position)];
                self.model.accumulate(&self.train, index, weight, &mut gradient);
            }
            let weights = self.model.parameters_mut().iter_mut();
            weights.zip(&gradient).for_each(|(weight, slope)| *weight -= self.step * slope);
        }
        self.model.parameters().to_vec()
    }

    /// Loss and accuracy of a model on images that no client trains on.
    ///
    /// # Panics
    /// As [`train`](Self::train).
    pub fn evaluate(&mut self, model: &[f32]) -> Evaluation {
        self.model.parameters_mut().copy_from_slice(model);
        let images = self.test.len();
        let (mut loss, mut right) = (0.0, 0);
        for index in 0..images {
            let (image_loss, is_right) = self.model.evaluate(&self.test, index);
            loss += f64::from(image_loss);
            right += usize::from(is_right);
        }
        Evaluation { loss: loss / images as f64, accuracy: right as f64 / images as f64 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LOCAL: Local = Local { shards: 2, steps: 5, step: 0.2 };

    fn client(rank: usize) -> Client {
        Client::new(Config { seed: 1, rank, workers: 16, batch: 8 }, LOCAL).unwrap()
    }

    /// No client alone learns all digits; their mean does.
    #[test]
    fn clients_with_few_digits_learn_all_of_them_together() {
        let mut clients: Vec<_> = (0..16).map(client).collect();
        let mut model = clients[0].first_model();
        let mut alone = model.clone();
        for round in 0..40 {
            let trained: Vec<_> = clients.iter_mut().map(|client| client.train(&model, round)).collect();
            for (at, value) in model.iter_mut().enumerate() {
                *value = trained.iter().map(|own| own[at]).sum::<f32>() / 16.0;
            }
            alone = clients[0].train(&alone, round);
        }
        let (together, alone) = (clients[0].evaluate(&model), clients[0].evaluate(&alone));
        assert!(together.accuracy > 0.75, "{together:?}");
        assert!(alone.accuracy < 0.5, "{alone:?}");
    }

    #[test]
    fn a_round_depends_on_its_number_and_client_and_nothing_else() {
        let (mut first, mut second) = (client(0), client(1));
        let model = first.first_model();
        let trained = first.train(&model, 3);
        assert_ne!(trained, first.train(&model, 4));
        assert_ne!(trained, second.train(&model, 3));
        assert_eq!(trained, first.train(&model, 3));
        assert_eq!(trained, client(0).train(&model, 3));
    }

    /// With even draws, each client alone learns all digits; with skewed ones it does not.
    #[test]
    fn clients_that_draw_learn_what_they_have_drawn() {
        let round = Round { batch: 8, steps: 5, step: 0.2 };
        let draws = [Draw { alpha: 1e3, images: 400 }, Draw { alpha: 0.01, images: 400 }];
        let mut clients = Client::drawn(1, round, &draws).unwrap();
        let mut accuracy = |at: usize| {
            let mut model = clients[at].first_model();
            for round in 0..40 {
                model = clients[at].train(&model, round);
            }
            clients[at].evaluate(&model).accuracy
        };
        let [even, skewed] = [0, 1].map(&mut accuracy);
        assert!(even > 0.75 && skewed < 0.5, "{even} {skewed}");
        let refused = |round| Client::drawn(1, round, &draws).err();
        assert_eq!(refused(Round { batch: 0, ..round }), Some(ConfigError::EmptyBatch));
        assert_eq!(refused(Round { steps: 0, ..round }), Some(ConfigError::NoStep));
    }

    #[test]
    fn impossible_clients_are_refused() {
        let of = |config, local| Client::new(config, local).err();
        let config = Config { seed: 1, rank: 0, workers: 16, batch: 8 };
        assert_eq!(
            of(Config { rank: 16, ..config }, LOCAL),
            Some(ConfigError::Rank { rank: 16, workers: 16 })
        );
        assert_eq!(of(Config { batch: 0, ..config }, LOCAL), Some(ConfigError::EmptyBatch));
        assert_eq!(of(config, Local { steps: 0, ..LOCAL }), Some(ConfigError::NoStep));
        assert!(matches!(of(config, Local { shards: 0, ..LOCAL }), Some(ConfigError::Shards { .. })));
    }
}
