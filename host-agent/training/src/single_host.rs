//! Training on a single host, for comparison.

use crate::trainer::{Config, ConfigError, Evaluation, Trainer};

/// Result of a training.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Mean loss of each round's images, before the round's step.
    pub losses: Vec<f32>,
    /// Evaluation on the test set, after the last round.
    pub evaluation: Evaluation,
    /// Digest of the last weights, see [`Trainer::digest`].
    pub digest: String,
}

/// Trains on one host over the mini-batches that `workers` workers with `batch` images each would take,
/// summing their gradients in 64-bit floats.
///
/// # Errors
/// [`ConfigError`] for no workers, or an empty batch.
pub fn train_single_host(
    seed: u64,
    workers: usize,
    batch: usize,
    rounds: usize,
) -> Result<History, ConfigError> {
    let mut trainers = (0..workers.max(1))
        .map(|rank| Trainer::new(Config { seed, rank, workers, batch }))
        .collect::<Result<Vec<_>, _>>()?;
    let length = trainers[0].gradient_len();
    let mut gradient = vec![0.0f32; length];
    let mut exact = vec![0.0f64; length];
    let mut losses = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        exact.fill(0.0);
        let mut loss = 0.0;
        for trainer in &mut trainers {
            loss += trainer.gradient(&mut gradient) / workers as f32;
            exact.iter_mut().zip(&gradient).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        gradient.iter_mut().zip(&exact).for_each(|(value, sum)| *value = *sum as f32);
        trainers.iter_mut().for_each(|trainer| trainer.apply(&gradient));
        losses.push(loss);
    }
    Ok(History { losses, evaluation: trainers[0].evaluate(), digest: trainers[0].digest() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_workers_learn_the_digits_within_a_hundred_rounds() {
        let history = train_single_host(1, 6, 32, 100).expect("valid");
        assert_eq!(history.losses.len(), 100);
        assert!(history.losses[0] > 2.0, "an untrained model guesses: {}", history.losses[0]);
        assert!(history.evaluation.accuracy >= 0.95, "{:?}", history.evaluation);
        assert!(history.evaluation.loss < 0.2, "{:?}", history.evaluation);
    }

    #[test]
    fn more_workers_with_smaller_batches_see_the_same_images() {
        let few = train_single_host(1, 2, 24, 4).expect("valid");
        let many = train_single_host(1, 6, 8, 4).expect("valid");
        for (a, b) in few.losses.iter().zip(&many.losses) {
            assert!((a - b).abs() < 1e-4, "{a} against {b}");
        }
        assert!(train_single_host(1, 0, 8, 4).is_err());
    }
}
