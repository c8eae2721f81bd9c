//! What the workers of an emulation do.

use inart_trainer::PARAMETERS;

/// How much the workers of every job do under a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Rounds, one all-reduce each.
    pub rounds: u32,
    /// What is done between them.
    pub workload: Workload,
}

/// What workers compute between all-reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A model is trained on the digits data set.
    Train {
        /// Images per worker and round.
        batch: usize,
    },
    /// Nothing: gradients are random numbers.
    AllReduce {
        /// Values of a gradient, 4 bytes each.
        values: usize,
    },
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
