//! Computation of a worker between all-reduces.

use anyhow::bail;
use inart_protocol_aggregation::Assignment;
use inart_protocol_aggregation::audit::sum_of_part;
use inart_protocol_aggregation::exact_sum::EXACT_VALUES;
use inart_protocol_aggregation::scale::BLOCK_VALUES;
use inart_report::Trained;
use inart_training::{Config, Trainer};
use inart_virtual::{GAMMA, SplitMix64};
use inart_wire::Rank;

/// Flags of a worker's computation.
#[derive(clap::Args)]
pub struct WorkloadArgs {
    /// Data set to train a model on.
    #[arg(long, value_name = "DATA", required_unless_present = "all_reduce")]
    train: Option<DataSet>,
    /// Sum pseudo-random gradients of this many values and verify every sum bit for bit.
    #[arg(long, value_name = "VALUES", conflicts_with = "train")]
    all_reduce: Option<usize>,
    /// With --train: images per worker and round.
    #[arg(long, default_value_t = 32)]
    batch: usize,
    /// Random seed, the same at every worker.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Index of the worker among all that send gradients, such as 2/7, for jobs inside a site.
    ///
    /// The job's sums are then partial, so they are not verified here [default: the rank].
    #[arg(long = "data-shard", value_name = "K/N", value_parser = parse_part)]
    part: Option<(usize, usize)>,
}

/// Reads `K/N` with K below N.
pub fn parse_part(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once('/').and_then(|(at, of)| Some((at.parse().ok()?, of.parse().ok()?)));
    numbers.filter(|(at, of)| at < of).ok_or_else(|| "write K/N, with K from 0 to N - 1".into())
}

/// A data set to train on.
#[derive(Clone, Copy, clap::ValueEnum)]
enum DataSet {
    /// Handwritten digits, 8 × 8 pixels.
    Digits,
}

impl WorkloadArgs {
    /// Whether this worker's index is given.
    pub fn has_part(&self) -> bool {
        self.part.is_some()
    }

    /// Returns the workload of one worker.
    pub fn build(&self, workers: usize, rank: Rank) -> anyhow::Result<Workload> {
        let (rank, workers) = self.part.unwrap_or((rank.index(), workers));
        let is_whole = self.part.is_none();
        match (self.train, self.all_reduce) {
            (_, Some(len)) => Ok(Workload::Random { seed: self.seed, len, rank, is_whole }),
            (Some(DataSet::Digits) | None, None) => {
                let config = Config { seed: self.seed, rank, workers, batch: self.batch };
                Ok(Workload::Train(Box::new(Trainer::new(config)?)))
            }
        }
    }
}

/// A worker's computation.
pub enum Workload {
    Train(Box<Trainer>),
    /// `is_whole`: the sum is that of the job's workers alone.
    Random {
        seed: u64,
        len: usize,
        rank: usize,
        is_whole: bool,
    },
}

impl Workload {
    pub fn gradient_len(&self) -> usize {
        match self {
            Self::Train(trainer) => trainer.gradient_len(),
            Self::Random { len, .. } => *len,
        }
    }

    /// From now on this is the worker of that rank, of so many.
    pub fn set_rank(&mut self, new_rank: usize, workers: usize) -> anyhow::Result<()> {
        match self {
            Self::Train(trainer) => trainer.set_rank(new_rank, workers)?,
            Self::Random { rank, .. } => *rank = new_rank,
        }
        Ok(())
    }

    /// Returns the state from which another worker resumes. Random gradients have a state of one value.
    pub fn state(&self) -> Vec<f32> {
        match self {
            Self::Train(trainer) => trainer.state(),
            Self::Random { .. } => vec![0.0],
        }
    }

    /// Resumes from another worker's state after `rounds` rounds.
    pub fn load(&mut self, state: &[f32], rounds: u64) {
        if let Self::Train(trainer) = self {
            trainer.load(state, rounds);
        }
    }

    /// Computes this round's gradient; a training also returns its loss.
    pub fn gradient(&mut self, round: u32, gradient: &mut [f32]) -> Option<f32> {
        match self {
            Self::Train(trainer) => Some(trainer.gradient(gradient)),
            Self::Random { seed, rank, .. } => {
                for (index, value) in gradient.iter_mut().enumerate() {
                    *value = random_value(*seed, *rank, round, index);
                }
                None
            }
        }
    }

    /// Uses the sum: a training takes a step, and random gradients are verified. Verification takes as long
    /// as computing all workers' gradients, so it is left to the reader of reports if there is one
    /// (`audited`).
    pub fn apply(
        &mut self,
        round: u32,
        assignment: &Assignment,
        sum: &[f32],
        audited: bool,
    ) -> anyhow::Result<()> {
        match self {
            Self::Train(trainer) => trainer.apply(sum),
            Self::Random { is_whole, .. } if audited || !*is_whole => {}
            Self::Random { seed, len, .. } => check_sum(*seed, *len, round, assignment, sum)?,
        }
        Ok(())
    }

    /// Returns the accuracy of a training.
    pub fn finish(&mut self) -> Option<Trained> {
        let Self::Train(trainer) = self else { return None };
        let evaluation = trainer.evaluate();
        Some(Trained { loss: evaluation.loss, accuracy: evaluation.accuracy, digest: trainer.digest() })
    }
}

/// Returns a value from -1 to 1 that every worker can compute for every other. Every hundred values of a
/// worker have a scale of their own, a power of two from 2^-40 to 1, so blocks have different steps and
/// values are rounded.
fn random_value(seed: u64, rank: usize, round: u32, index: usize) -> f32 {
    let place = |index: usize| seed ^ (rank as u64) << 48 ^ u64::from(round) << 32 ^ index as u64;
    let value = (mixed(place(index)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
    let power = mixed(!place(index / 100)) % 41;
    value / (1u64 << power) as f32
}

/// Returns the value of SplitMix64 at an index.
fn mixed(place: u64) -> u64 {
    SplitMix64::new(place.wrapping_mul(GAMMA)).next_u64()
}

/// Computes all workers' gradients, and compares their sum with the received one bit for bit.
fn check_sum(seed: u64, len: usize, round: u32, assignment: &Assignment, sum: &[f32]) -> anyhow::Result<()> {
    if sum.len() != len {
        bail!("round {round}: the sum has {} values instead of {len}", sum.len());
    }
    let workers = assignment.workers.len();
    let exact = assignment.exact_sums || len <= EXACT_VALUES;
    // A few blocks at a time, so that all workers' gradients need not be in memory.
    for start in (0..len).step_by(16 * BLOCK_VALUES) {
        let values = start..(start + 16 * BLOCK_VALUES).min(len);
        let gradient =
            |rank| values.clone().map(|index| random_value(seed, rank, round, index)).collect::<Vec<_>>();
        let gradients: Vec<_> = (0..workers).map(gradient).collect();
        let gradients: Vec<_> = gradients.iter().map(Vec::as_slice).collect();
        let right = sum_of_part(&gradients, workers, exact);
        let differs = |(right, seen): (&f32, &f32)| right.to_bits() != seen.to_bits();
        if let Some(at) = right.iter().zip(&sum[values]).position(differs) {
            bail!("round {round}, value {}: the sum is not the workers' sum, bit for bit", start + at);
        }
    }
    Ok(())
}
