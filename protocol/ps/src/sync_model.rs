//! A policy as a value, checked.

use crate::order::{Order, Spacing};
use crate::part::Part;
use crate::sync_models::{Applied, Asp, Blocking, Bsp, R2sp, Safa, Ssp};
use crate::worker_states::{WorkerNo, WorkerStates};

/// One of the policies that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncModel {
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
pub enum SyncModelError {
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

impl SyncModel {
    /// BSP.
    pub fn bsp() -> SyncModel {
        SyncModel::Bsp(Bsp)
    }

    /// ASP.
    pub fn asp() -> SyncModel {
        SyncModel::Asp(Asp)
    }

    /// SSP with a bound in iterations.
    ///
    /// # Errors
    /// A bound of 0 before commit.
    pub fn ssp(bound: u64, blocking: Blocking) -> Result<SyncModel, SyncModelError> {
        if bound == 0 && blocking == Blocking::BeforeCommit {
            return Err(SyncModelError::Bound);
        }
        Ok(SyncModel::Ssp(Ssp { bound, blocking }))
    }

    /// SAFA, which waits for a fraction of the workers and for who lags more versions behind than `lag`.
    ///
    /// # Errors
    /// A fraction that is not above 0 and at most 1.
    pub fn safa(fraction: f64, lag: u64) -> Result<SyncModel, SyncModelError> {
        Ok(SyncModel::Safa(Safa { fraction: fraction_of(fraction)?, lag }))
    }

    /// R²SP with the relaxation r.
    ///
    /// # Errors
    /// An r that is not from 0 to 1.
    pub fn r2sp(relaxation: f64, applied: Applied) -> Result<SyncModel, SyncModelError> {
        Ok(SyncModel::R2sp(R2sp { spacing: Spacing::Fixed(relaxation_of(relaxation)?), applied }))
    }

    /// R²SP with an r that the server tunes.
    pub fn r2sp_tuned(applied: Applied) -> SyncModel {
        SyncModel::R2sp(R2sp { spacing: Spacing::Tuned, applied })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            SyncModel::Bsp(_) => "bsp",
            SyncModel::Asp(_) => "asp",
            SyncModel::Ssp(_) => "ssp",
            SyncModel::Safa(_) => "safa",
            SyncModel::R2sp(_) => "r2sp",
        }
    }

    fn order(&self) -> &dyn Order {
        match self {
            SyncModel::Bsp(order) => order,
            SyncModel::Asp(order) => order,
            SyncModel::Ssp(order) => order,
            SyncModel::Safa(order) => order,
            SyncModel::R2sp(order) => order,
        }
    }
}

/// The fraction of participants that is waited for.
///
/// # Errors
/// What is not above 0 and at most 1.
pub fn fraction_of(fraction: f64) -> Result<Part, SyncModelError> {
    let part = Part::new(fraction).filter(|part| *part > Part::NONE);
    part.ok_or(SyncModelError::Fraction(fraction))
}

/// The relaxation r.
///
/// # Errors
/// What is not from 0 to 1.
pub fn relaxation_of(relaxation: f64) -> Result<Part, SyncModelError> {
    Part::new(relaxation).ok_or(SyncModelError::Relaxation(relaxation))
}

impl Order for SyncModel {
    fn applied(&self, worker_states: &WorkerStates) -> Vec<WorkerNo> {
        self.order().applied(worker_states)
    }

    fn permits(&self, worker_states: &WorkerStates, worker: WorkerNo) -> bool {
        self.order().permits(worker_states, worker)
    }

    fn spacing(&self) -> Spacing {
        self.order().spacing()
    }
}
