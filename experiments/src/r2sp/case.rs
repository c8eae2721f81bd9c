//! Cases of all kinds.

use super::{clients, federation, racks, training, workers};
use crate::trials::{StudyError, Trial};

/// A run with its measurement, without the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Case {
    Workers(workers::Case),
    Clients(clients::Case),
    Racks(racks::Case),
    Training(training::Case),
    Federation(federation::Case),
}

impl From<workers::Case> for Case {
    fn from(case: workers::Case) -> Self {
        Case::Workers(case)
    }
}

impl From<clients::Case> for Case {
    fn from(case: clients::Case) -> Self {
        Case::Clients(case)
    }
}

impl From<racks::Case> for Case {
    fn from(case: racks::Case) -> Self {
        Case::Racks(case)
    }
}

impl From<training::Case> for Case {
    fn from(case: training::Case) -> Self {
        Case::Training(case)
    }
}

impl From<federation::Case> for Case {
    fn from(case: federation::Case) -> Self {
        Case::Federation(case)
    }
}

impl Trial for Case {
    type Run = f64;

    fn run(&self, seed: u64) -> Result<f64, StudyError> {
        match self {
            Case::Workers(case) => case.run(seed),
            Case::Clients(case) => case.run(seed),
            Case::Racks(case) => case.run(seed),
            Case::Training(case) => case.run(seed),
            Case::Federation(case) => case.run(seed),
        }
    }
}
