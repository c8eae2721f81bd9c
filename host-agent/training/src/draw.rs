//! More or less skewed data: each client draws its own images, the digits in parts that follow a symmetric
//! Dirichlet distribution (Yurochkin et al., "Bayesian Nonparametric Federated Learning of Neural Networks",
//! Section 4).

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::digits::{CLASSES, Digits};
use crate::trainer::ConfigError;

/// Settings of a client's draw of images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// The distribution's concentration, the same for each digit: the greater, the more even the data.
    pub alpha: f64,
    /// Number of images; one may occur several times, and at several clients.
    pub images: usize,
}

impl Draw {
    fn check(&self) -> Result<(), ConfigError> {
        if !(self.alpha.is_finite() && self.alpha > 0.0) {
            return Err(ConfigError::Concentration);
        }
        if self.images == 0 {
            return Err(ConfigError::NoImage);
        }
        Ok(())
    }

    /// The numbers of the images of the client in this position.
    pub(crate) fn images(&self, of: &Digits, seed: u64, rank: usize) -> Result<Vec<usize>, ConfigError> {
        self.check()?;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Apart from the streams that split the data (0), order it (1 and on) and deal shards (the last).
        random.set_stream(u64::MAX - 1 - rank as u64);
        let parts = dirichlet(&mut random, self.alpha);
        let mut by_digit = vec![Vec::new(); CLASSES];
        (0..of.len()).for_each(|image| by_digit[usize::from(of.get(image).1)].push(image));
        let mut image = || {
            let mut left: f64 = random.random();
            let digit = parts.iter().position(|part| {
                left -= part;
                left < 0.0
            });
            // Parts sum to one but for rounding.
            let own = &by_digit[digit.unwrap_or(CLASSES - 1)];
            own[random.random_range(0..own.len())]
        };
        Ok((0..self.images).map(|_| image()).collect())
    }
}

/// Ten parts of one.
fn dirichlet(random: &mut ChaCha8Rng, alpha: f64) -> [f64; CLASSES] {
    let logarithms: [f64; CLASSES] = std::array::from_fn(|_| log_gamma_draw(random, alpha));
    // All are tiny when alpha is: only their ratios count.
    let greatest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let draws = logarithms.map(|logarithm| (logarithm - greatest).exp());
    let sum: f64 = draws.iter().sum();
    draws.map(|draw| draw / sum)
}

/// The logarithm of a draw of the gamma distribution of this shape and scale 1 (Marsaglia and Tsang, "A
/// Simple Method for Generating Gamma Variables"; their Section 6 for shapes below 1).
fn log_gamma_draw(random: &mut ChaCha8Rng, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = above_zero(random).ln() / shape;
        return log_gamma_draw(random, shape + 1.0) + boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && above_zero(random).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return (d * v).ln();
        }
    }
}

/// Draws from the standard normal distribution (Box and Muller).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, turn) = ((-2.0 * above_zero(random).ln()).sqrt(), random.random::<f64>());
    radius * (std::f64::consts::TAU * turn).cos()
}

/// Draws from above 0 to 1.
fn above_zero(random: &mut ChaCha8Rng) -> f64 {
    1.0 - random.random::<f64>()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::digits::split;

    /// The variance of a part is (1/K)(1 - 1/K) / (K alpha + 1) for K digits.
    #[test]
    fn parts_have_the_mean_and_the_variance_of_the_distribution() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for alpha in [0.1, 1.0, 10.0] {
            let draws: Vec<_> = (0..4000).map(|_| dirichlet(&mut random, alpha)).collect();
            assert!(draws.iter().all(|parts| (parts.iter().sum::<f64>() - 1.0).abs() < 1e-9));
            for digit in 0..CLASSES {
                let mean = draws.iter().map(|parts| parts[digit]).sum::<f64>() / 4000.0;
                let square = draws.iter().map(|parts| (parts[digit] - 0.1).powi(2)).sum::<f64>() / 4000.0;
                let variance = 0.09 / (10.0 * alpha + 1.0);
                assert!((mean - 0.1).abs() < 5.0 * (variance / 4000.0).sqrt(), "{alpha} {digit}: {mean}");
                assert!((square / variance - 1.0).abs() < 0.25, "{alpha} {digit}: {square}");
            }
        }
        // So small that draws of the gamma distribution underflow to 0.
        let one = dirichlet(&mut random, 1e-4);
        assert!((one.iter().sum::<f64>() - 1.0).abs() < 1e-9 && one.iter().any(|part| *part > 0.99));
    }

    #[test]
    fn images_are_of_the_digits_that_were_drawn_and_depend_on_seed_and_rank() {
        let (train, _) = split(1);
        let even = Draw { alpha: 1e6, images: 5000 }.images(&train, 1, 0).unwrap();
        let mut counts = [0; CLASSES];
        even.iter().for_each(|&image| counts[usize::from(train.get(image).1)] += 1);
        assert!(counts.iter().all(|count| (400..600).contains(count)), "{counts:?}");
        let skewed = Draw { alpha: 1e-3, images: 300 };
        let own = skewed.images(&train, 1, 5).unwrap();
        let digit = train.get(own[0]).1;
        assert!(own.iter().filter(|&&image| train.get(image).1 == digit).count() > 250);
        assert_eq!(own, skewed.images(&train, 1, 5).unwrap());
        assert_ne!(own, skewed.images(&train, 1, 6).unwrap());
        assert_ne!(own, skewed.images(&train, 2, 5).unwrap());
    }

    #[test]
    fn draws_that_cannot_be_are_refused() {
        let (train, _) = split(1);
        for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Draw { alpha, images: 5 }.images(&train, 1, 0);
            assert_eq!(refused, Err(ConfigError::Concentration));
        }
        assert_eq!(Draw { alpha: 1.0, images: 0 }.images(&train, 1, 0), Err(ConfigError::NoImage));
    }
}
