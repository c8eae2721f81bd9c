//! Sums for the larger job, and its results, as the real server has them.

use inart_model::Sum;
use inart_protocol_aggregation::completion_rule::{Answer, OwnSum};

use super::codec::Codec;
use super::numbers::bits;

impl Codec {
    /// Returns a sum that goes on: its chunk, the bits of its floats, and whether the tensor ends with it.
    pub fn own_sum(&self, sequence: u8, sum: Sum) -> (u8, Vec<u32>, bool) {
        (sequence, bits(&self.floats(sequence, sum)), self.config.is_last(0, sequence))
    }

    /// Returns the contents of a real sum.
    pub fn read_own_sum(&self, own: &OwnSum) -> (u8, Vec<u32>, bool) {
        (own.sequence.get() as u8, bits(&own.values), own.last)
    }

    /// Returns the larger job's answer to a real sum.
    pub fn back(&self, own: &OwnSum, sum: Sum) -> Answer {
        let floats = self.floats(own.sequence.get() as u8, sum);
        let (answer, read) = own.answer(&floats);
        assert_eq!(bits(&read), bits(&floats), "all workers read the sum of all");
        answer
    }
}
