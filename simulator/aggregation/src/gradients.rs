//! Inputs of workers: gradients as a pure function of a seed.

use std::fmt;
use std::str::FromStr;

use inart_topologies::faults::quantity::Share;
use inart_virtual::SplitMix64;

/// Magnitude of the values of gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sizes {
    /// Values from -1 to 1.
    #[default]
    Even,
    /// Values from -1e-12 to 1e-12.
    Tiny,
    /// Three values of four are zeros, and so are all of every third round.
    Sparse,
    /// Tiny, but for one value of a million at one worker in every fifth round.
    Outlier,
    /// Values from -2^k to 2^k, with another k from -130 to 100 in every round.
    Wild,
    /// Values like `Wild`, with another k for every 100 values at each worker; about one hundred in five is
    /// all zeros.
    Mixed,
}

impl Sizes {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Even, Self::Tiny, Self::Sparse, Self::Outlier, Self::Wild, Self::Mixed];

    fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Tiny => "tiny",
            Self::Sparse => "sparse",
            Self::Outlier => "outlier",
            Self::Wild => "wild",
            Self::Mixed => "mixed",
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|sizes| sizes.name() == text);
        found.ok_or_else(|| format!("\"{text}\" is not one; give {}", Self::ALL.map(Self::name).join(", ")))
    }
}

/// Changes the gradient that was drawn: the job and the worker's rank, both from 0, and the round, then the
/// values.
pub type Adjust = fn(usize, usize, u32, &mut [f32]);

/// The gradients of one run of a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gradients {
    pub seed: u64,
    /// The job, from 0.
    pub job: usize,
    /// Number of earlier runs of the job.
    pub run: u32,
    /// Share of gradients with one value that is far larger than the others.
    pub spikes: Share,
    pub sizes: Sizes,
    /// Share of gradients with a NaN or an infinity.
    pub spoilt: Share,
    pub adjust: Option<Adjust>,
}

impl Gradients {
    /// Writes the gradient of the worker of that rank in that round.
    pub fn write(&self, rank: usize, round: u32, out: &mut [f32]) {
        let seed = self.seed
            ^ (self.job as u64).wrapping_mul(0xa076_1d64_78bd_642f)
            ^ (rank as u64).wrapping_mul(0xe703_7ed1_a0b4_28db)
            ^ u64::from(round).wrapping_mul(0x8ebc_6af0_9c88_c6e3)
            ^ u64::from(self.run).wrapping_mul(0x589f_65d1_6a09_3b27);
        let mut draws = SplitMix64::new(seed);
        for value in out.iter_mut() {
            *value = unit(&mut draws) * 2.0 - 1.0;
        }
        let spikes = self.spikes.get();
        if spikes > 0.0 && f64::from(unit(&mut draws)) < spikes && !out.is_empty() {
            let index = (unit(&mut draws) * out.len() as f32) as usize % out.len();
            out[index] *= 2f32.powi(4 + (unit(&mut draws) * 24.0) as i32);
        }
        self.scale(rank, round, out);
        if let Some((place, value)) = self.spoilt(rank, round)
            && !out.is_empty()
        {
            let place = (place * out.len() as f32) as usize % out.len();
            out[place] = value;
        }
        if let Some(adjust) = self.adjust {
            adjust(self.job, rank, round, out);
        }
    }

    /// Returns the non-finite value of a gradient, and its relative position from 0 to 1; `None` if all its
    /// values are finite.
    pub fn spoilt(&self, rank: usize, round: u32) -> Option<(f32, f32)> {
        let share = self.spoilt.get();
        if share <= 0.0 {
            return None;
        }
        let of = u64::from(round) ^ (rank as u64) << 20 ^ (self.job as u64) << 40 ^ u64::from(self.run) << 50;
        let mut draws = SplitMix64::new(self.seed ^ of.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let is_spoilt = f64::from(unit(&mut draws)) < share;
        let place = unit(&mut draws);
        let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        let value = values[(unit(&mut draws) * 3.0) as usize % 3];
        is_spoilt.then_some((place, value))
    }

    fn scale(&self, rank: usize, round: u32, out: &mut [f32]) {
        match self.sizes {
            Sizes::Even => {}
            Sizes::Tiny => out.iter_mut().for_each(|value| *value *= 1e-12),
            Sizes::Sparse => {
                let zeros = out.iter_mut().enumerate().filter(|(index, _)| round % 3 == 1 || index % 4 != 0);
                zeros.for_each(|(_, value)| *value = 0.0);
            }
            Sizes::Outlier => {
                out.iter_mut().for_each(|value| *value *= 1e-12);
                if rank == 0
                    && round.is_multiple_of(5)
                    && let Some(first) = out.first_mut()
                {
                    *first = 1e6;
                }
            }
            Sizes::Wild => {
                // Equal at all workers.
                let mut draws =
                    SplitMix64::new(self.seed ^ u64::from(round).wrapping_mul(0x8ebc_6af0_9c88_c6e3));
                let power = (unit(&mut draws) * 231.0) as i32 - 130;
                scale_by(power, out);
            }
            Sizes::Mixed => {
                for (place, part) in (0u64..).zip(out.chunks_mut(100)) {
                    let place = place ^ u64::from(round) << 20 ^ (rank as u64) << 40;
                    let mut draws = SplitMix64::new(self.seed ^ place.wrapping_mul(0x8ebc_6af0_9c88_c6e3));
                    let power = (unit(&mut draws) * 231.0) as i32 - 130;
                    match unit(&mut draws) < 0.2 {
                        true => part.fill(0.0),
                        false => scale_by(power, part),
                    }
                }
            }
        }
    }
}

fn scale_by(power: i32, values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = (f64::from(*value) * 2f64.powi(power)) as f32);
}

/// A number from 0 to 1.
fn unit(draws: &mut SplitMix64) -> f32 {
    (draws.next_u64() >> 40) as f32 / (1u64 << 24) as f32
}
