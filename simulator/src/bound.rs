//! The error bound that `docs/protocol.md` states (*Numbers*), round after round: in terms of the exponents,
//! and those in terms of the sums before.

use std::ops::Range;

use crate::record::Record;

/// Quantised values that are all below this in size may have vanished.
const VANISHING: u32 = 1 << 16;
/// What `f64` loses when it sums floats, far below what a bound allows.
const SLACK: f64 = 1.0 + 1e-9;

/// What the round before tells of a chunk.
#[derive(Clone, Copy, Debug)]
enum Before {
    /// There was none.
    Nothing,
    /// The size of the largest sum, not 0.
    Largest(f64),
    /// Sums of 0, and `W · 2^(e-1)` then.
    Zeros(f64),
    /// Sums of 0 of values that were not.
    Vanished,
}

/// The bound on the sums of a job that is not exact.
#[derive(Debug)]
pub(crate) struct Bound {
    /// By chunk.
    before: Vec<Before>,
}

impl Bound {
    pub fn new(chunks: usize) -> Self {
        Self { before: vec![Before::Nothing; chunks] }
    }

    /// Checks the next round, which every worker has ended. By rank: what it put in, as floats, and its
    /// record; all have the same sums.
    ///
    /// # Errors
    /// Which value of which chunk is off, and by how much.
    pub fn check(
        &mut self,
        chunks: &[Range<usize>],
        floats: &[Vec<f32>],
        records: &[Record],
    ) -> Result<(), String> {
        for (chunk, range) in chunks.iter().enumerate() {
            let (e, r) = (records[0].exponents[chunk], records[0].result_exponents[chunk]);
            let workers = floats.len() as f64;
            let rounding = workers * power(i32::from(e) - 1);
            let allowed = self.allowed(chunk, range, floats);
            if rounding > allowed {
                return Err(format!(
                    "chunk {chunk}: exponent {e}, which errs by up to {rounding:e}; {allowed:e} is promised"
                ));
            }
            let bound = rounding + if r > e { power(i32::from(r) - 1) } else { 0.0 };
            let results = &records[0].result[range.clone()];
            for (index, result) in range.clone().zip(results) {
                let right: f64 = floats.iter().map(|floats| f64::from(floats[index])).sum();
                let sum = f64::from(*result) * power(r.into());
                if (sum - right).abs() > bound * SLACK {
                    return Err(format!(
                        "chunk {chunk}, value {index}: {sum:e} for {right:e}; it may err by {bound:e}"
                    ));
                }
            }
            let largest = results.iter().map(|result| result.unsigned_abs()).max().unwrap_or(0);
            let vanished = |(floats, record): (&Vec<f32>, &Record)| {
                floats[range.clone()].iter().any(|value| *value != 0.0)
                    && record.sent[range.clone()].iter().all(|sent| sent.unsigned_abs() < VANISHING)
            };
            self.before[chunk] = match largest {
                0 if floats.iter().zip(records).any(vanished) => Before::Vanished,
                0 => Before::Zeros(rounding),
                _ => Before::Largest(f64::from(largest) * power(r.into())),
            };
        }
        Ok(())
    }

    /// The most that `W · 2^(e-1)` may be.
    fn allowed(&self, chunk: usize, range: &Range<usize>, floats: &[Vec<f32>]) -> f64 {
        let workers = floats.len() as f64;
        let bits = workers.log2().ceil() as i32;
        let by_sums = match self.before[chunk] {
            Before::Nothing => workers * power(bits - 24),
            Before::Largest(largest) => workers * power(bits - 23) * largest,
            Before::Zeros(then) => then,
            Before::Vanished => 0.0,
        };
        let values = floats.iter().flat_map(|floats| &floats[range.clone()]);
        let largest = f64::from(values.fold(0f32, |largest, value| largest.max(value.abs())));
        by_sums.max(workers * power(-31) * largest).max(workers * power(-128))
    }
}

/// 2^exponent, exactly.
fn power(exponent: i32) -> f64 {
    2f64.powi(exponent)
}
