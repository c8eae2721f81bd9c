//! Expected sums.

use inart_sites_agent::audit::sum_of_sites;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Recomputation of rounds.
pub struct Audit {
    seed: u64,
    sites: usize,
    tensors: Vec<usize>,
    /// Bits of the sums, from round 1 on.
    expected: Vec<Vec<u32>>,
    pub values: u64,
}

impl Audit {
    pub fn new(seed: u64, sites: usize, tensors: Vec<usize>) -> Self {
        Audit { seed, sites, tensors, expected: Vec::new(), values: 0 }
    }

    /// Returns a site's gradient in a round, independent of when it is computed. Magnitudes change from round
    /// to round.
    pub fn gradient(&self, site: usize, round: u32) -> Vec<f32> {
        let mut draws =
            ChaCha8Rng::seed_from_u64(self.seed ^ (site as u64) << 40 ^ u64::from(round).rotate_left(20));
        let size = [1.0, 1e-3, 1e3, 8.0][round as usize % 4];
        let values = self.tensors.iter().sum::<usize>();
        (0..values).map(|_| draws.random_range(-1.0f32..1.0) * size).collect()
    }

    /// Whether this is the sum of a round.
    pub fn is_correct(&mut self, round: u32, sum: &[f32]) -> bool {
        while self.expected.len() < round as usize {
            let next = self.expected.len() as u32 + 1;
            let all: Vec<_> = (0..self.sites).map(|site| self.gradient(site, next)).collect();
            let gradients: Vec<_> = all.iter().map(|gradient| &gradient[..]).collect();
            let sum = sum_of_sites(&gradients, &self.tensors);
            self.expected.push(sum.iter().map(|value| value.to_bits()).collect());
        }
        self.values += sum.len() as u64;
        let Some(expected) = self.expected.get(round as usize - 1) else { return false };
        sum.len() == expected.len() && sum.iter().zip(expected).all(|(value, bits)| value.to_bits() == *bits)
    }
}
