//! Sums that go on, and what comes back, as the real server has them.

use inart_core::policy::OwnSum;
use inart_model::{Life, Sum};
use inart_wire::Exponent;

use super::codec::{Codec, LANES, PLACES, values_per_packet};

impl Codec {
    /// The sum that every worker should end with.
    pub fn sum(&self) -> Vec<f32> {
        let gradients: Vec<_> =
            (0..self.config.workers).map(|rank| self.gradient(rank, Life::First)).collect();
        let others: Vec<_> =
            (0..self.config.chunks).flat_map(|chunk| self.floats(self.config.of_others(chunk))).collect();
        let sum = |index: usize| gradients.iter().map(|gradient| gradient[index]).sum::<f32>();
        (0..gradients[0].len()).map(|index| sum(index) + others[index]).collect()
    }

    /// A sum that goes on: its chunk, its values at the agreed exponent, and whether the tensor ends with it.
    pub fn own_sum(&self, sequence: u8, sum: Sum) -> (u8, [i64; LANES], bool) {
        (sequence, self.values(sum), sequence + 1 == self.config.chunks)
    }

    /// The same of a real one.
    pub fn read_own_sum(&self, own: &OwnSum) -> (u8, [i64; LANES], bool) {
        let steps = own.exponent.get() - self.agreed.get();
        let values = PLACES.map(|place| i64::from(own.values[place]) << steps);
        assert_eq!(own.values.len(), values_per_packet(&self.config).get());
        (own.sequence.get() as u8, values, own.last)
    }

    /// What comes back for a real sum that went on, in whole numbers at the least exponent that holds them.
    pub fn back(&self, own: &OwnSum, sum: Sum) -> (Vec<i32>, Exponent) {
        let lanes = self.values(sum);
        let mut exponent = own.exponent;
        let at = |exponent: Exponent, lane: i64| i32::try_from(lane >> (exponent.get() - self.agreed.get()));
        while lanes.iter().any(|lane| at(exponent, *lane).is_err()) {
            exponent = Exponent::from(exponent.get() + 1);
        }
        let mut values = vec![0; own.values.len()];
        for (place, lane) in PLACES.iter().zip(lanes) {
            values[*place] = at(exponent, lane).unwrap();
        }
        (values, exponent)
    }
}
