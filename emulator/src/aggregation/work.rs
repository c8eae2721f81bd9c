//! Work of an emulation's workers.

use inart_training::PARAMETERS;

use crate::error::Error;

/// Amount of work of every job's workers under a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Rounds, one all-reduce each.
    pub rounds: u32,
    /// Computation between all-reduces.
    pub workload: Workload,
}

/// Computation of workers between all-reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A model is trained on the digits data set.
    Train {
        /// Images per worker and round.
        batch: usize,
    },
    /// No computation: gradients are random numbers.
    AllReduce {
        /// Values of a gradient, 4 bytes each.
        values: usize,
    },
}

/// The most rounds.
const MAX_ROUNDS: u32 = 100_000;
/// The training set has 1438 images.
const MAX_BATCH: usize = 1000;
/// 400 MB, of which every worker reports four times as much per round.
const MAX_VALUES: usize = 100_000_000;

impl Work {
    /// Refuses what cannot be emulated.
    ///
    /// # Errors
    /// [`Error::Option`] names the first setting that is refused, and why.
    pub fn validate(self) -> Result<(), Error> {
        let refuse = |option, problem: String| Err(Error::Option { option, problem });
        let Work { rounds, workload } = self;
        if !(1..=MAX_ROUNDS).contains(&rounds) {
            return refuse("rounds", format!("{rounds}; give a number from 1 to {MAX_ROUNDS}"));
        }
        match workload {
            Workload::Train { batch } if !(1..=MAX_BATCH).contains(&batch) => {
                refuse("batch", format!("{batch}; give a number from 1 to {MAX_BATCH}"))
            }
            Workload::AllReduce { values } if !(1..=MAX_VALUES).contains(&values) => {
                let problem = format!("{values} values of 4 B; give from 4 B to 400 MB");
                refuse("gradient", problem)
            }
            _ => Ok(()),
        }
    }
}

impl Workload {
    /// Values of a gradient.
    pub fn gradient_len(self) -> usize {
        match self {
            Workload::Train { .. } => PARAMETERS,
            Workload::AllReduce { values } => values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named() {
        assert!(Work { rounds: 1, workload: Workload::Train { batch: 1 } }.validate().is_ok());
        for (rounds, workload, named) in [
            (0, Workload::Train { batch: 1 }, "rounds: 0;"),
            (1, Workload::Train { batch: 1001 }, "batch: 1001;"),
            (1, Workload::AllReduce { values: 0 }, "gradient: 0 values"),
        ] {
            let message = Work { rounds, workload }.validate().expect_err(named).to_string();
            assert!(message.starts_with(named), "{message}");
        }
    }
}
