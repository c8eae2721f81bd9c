//! A policy as a value, checked.

use crate::order::{Order, Spacing};
use crate::part::Part;
use crate::policies::{Applied, Asp, Blocking, Bsp, R2sp, Safa, Ssp};
use crate::seats::{Seats, WorkerNo};

/// One of the policies that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// All together.
    Bsp(Bsp),
    /// Everybody by itself.
    Asp(Asp),
    /// Nobody too far ahead.
    Ssp(Ssp),
    /// A part together, the others when they come.
    Safa(Safa),
    /// In turn.
    R2sp(R2sp),
}

/// What is wrong with a policy's numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// r is no part.
    #[error("a relaxation of {0}: give a part from 0 to 1")]
    Relaxation(f64),
    /// C is no part, or nothing.
    #[error("a fraction of {0}: give a part above 0, at most 1")]
    Fraction(f64),
    /// Nobody could ever commit.
    #[error("a bound of 0 before commit: no worker could be the first; give at least 1, or use bsp")]
    Bound,
}

impl Policy {
    /// BSP.
    pub fn bsp() -> Policy {
        Policy::Bsp(Bsp)
    }

    /// ASP.
    pub fn asp() -> Policy {
        Policy::Asp(Asp)
    }

    /// SSP with a bound in iterations.
    ///
    /// # Errors
    /// A bound of 0 before commit.
    pub fn ssp(bound: u64, blocking: Blocking) -> Result<Policy, PolicyError> {
        if bound == 0 && blocking == Blocking::BeforeCommit {
            return Err(PolicyError::Bound);
        }
        Ok(Policy::Ssp(Ssp { bound, blocking }))
    }

    /// SAFA, which waits for a fraction of the workers and for who lags more versions behind than `lag`.
    ///
    /// # Errors
    /// A fraction that is not above 0 and at most 1.
    pub fn safa(fraction: f64, lag: u64) -> Result<Policy, PolicyError> {
        Ok(Policy::Safa(Safa { fraction: fraction_of(fraction)?, lag }))
    }

    /// R²SP with the relaxation r.
    ///
    /// # Errors
    /// An r that is not from 0 to 1.
    pub fn r2sp(relaxation: f64, applied: Applied) -> Result<Policy, PolicyError> {
        Ok(Policy::R2sp(R2sp { spacing: Spacing::Fixed(relaxation_of(relaxation)?), applied }))
    }

    /// R²SP with an r that the server tunes.
    pub fn r2sp_tuned(applied: Applied) -> Policy {
        Policy::R2sp(R2sp { spacing: Spacing::Tuned, applied })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Policy::Bsp(_) => "bsp",
            Policy::Asp(_) => "asp",
            Policy::Ssp(_) => "ssp",
            Policy::Safa(_) => "safa",
            Policy::R2sp(_) => "r2sp",
        }
    }

    fn order(&self) -> &dyn Order {
        match self {
            Policy::Bsp(order) => order,
            Policy::Asp(order) => order,
            Policy::Ssp(order) => order,
            Policy::Safa(order) => order,
            Policy::R2sp(order) => order,
        }
    }
}

/// The fraction of participants that is waited for.
///
/// # Errors
/// What is not above 0 and at most 1.
pub fn fraction_of(fraction: f64) -> Result<Part, PolicyError> {
    let part = Part::new(fraction).filter(|part| *part > Part::NONE);
    part.ok_or(PolicyError::Fraction(fraction))
}

/// The relaxation r.
///
/// # Errors
/// What is not from 0 to 1.
pub fn relaxation_of(relaxation: f64) -> Result<Part, PolicyError> {
    Part::new(relaxation).ok_or(PolicyError::Relaxation(relaxation))
}

impl Order for Policy {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        self.order().applied(seats)
    }

    fn permits(&self, seats: &Seats, worker: WorkerNo) -> bool {
        self.order().permits(seats, worker)
    }

    fn spacing(&self) -> Spacing {
        self.order().spacing()
    }
}
