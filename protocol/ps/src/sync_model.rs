//! A synchronization model as a value, checked.

use crate::order::{Order, Spacing};
use crate::part::Part;
use crate::sync_models::{Applied, Asp, Blocking, Bsp, R2sp, Safa, Ssp};
use crate::worker_states::{WorkerNo, WorkerStates};

/// A provided synchronization model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncModel {
    /// Bulk synchronous.
    Bsp(Bsp),
    /// Asynchronous.
    Asp(Asp),
    /// Stale synchronous.
    Ssp(Ssp),
    /// Semi-synchronous: a part of the workers together, the others on arrival.
    Safa(Safa),
    /// Round-robin synchronous.
    R2sp(R2sp),
}

/// Invalid setting of a synchronization model.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SyncModelError {
    /// r outside 0 to 1.
    #[error("a relaxation of {0}: give a part from 0 to 1")]
    Relaxation(f64),
    /// C of 0, or outside 0 to 1.
    #[error("a fraction of {0}: give a part above 0, at most 1")]
    Fraction(f64),
    /// Bound that no worker could meet.
    #[error("a bound of 0 before commit: no worker could be the first; give at least 1, or use bsp")]
    Bound,
}

impl SyncModel {
    /// Returns BSP.
    pub fn bsp() -> SyncModel {
        SyncModel::Bsp(Bsp)
    }

    /// Returns ASP.
    pub fn asp() -> SyncModel {
        SyncModel::Asp(Asp)
    }

    /// Returns SSP with a bound in iterations.
    ///
    /// # Errors
    /// The bound is 0 before commit.
    pub fn ssp(bound: u64, blocking: Blocking) -> Result<SyncModel, SyncModelError> {
        if bound == 0 && blocking == Blocking::BeforeCommit {
            return Err(SyncModelError::Bound);
        }
        Ok(SyncModel::Ssp(Ssp { bound, blocking }))
    }

    /// Returns SAFA, which waits for a fraction of the workers, and for each that lags more than `lag`
    /// versions behind.
    ///
    /// # Errors
    /// The fraction is not above 0 and at most 1.
    pub fn safa(fraction: f64, lag: u64) -> Result<SyncModel, SyncModelError> {
        Ok(SyncModel::Safa(Safa { fraction: fraction_of(fraction)?, lag }))
    }

    /// Returns R²SP with the relaxation r.
    ///
    /// # Errors
    /// r is not from 0 to 1.
    pub fn r2sp(relaxation: f64, applied: Applied) -> Result<SyncModel, SyncModelError> {
        Ok(SyncModel::R2sp(R2sp { spacing: Spacing::Fixed(relaxation_of(relaxation)?), applied }))
    }

    /// Returns R²SP with an r that the server tunes.
    pub fn r2sp_tuned(applied: Applied) -> SyncModel {
        SyncModel::R2sp(R2sp { spacing: Spacing::Tuned, applied })
    }

    /// Returns the name.
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

/// Returns the fraction of participants that is awaited.
///
/// # Errors
/// The fraction is not above 0 and at most 1.
pub fn fraction_of(fraction: f64) -> Result<Part, SyncModelError> {
    let part = Part::new(fraction).filter(|part| *part > Part::NONE);
    part.ok_or(SyncModelError::Fraction(fraction))
}

/// Returns the relaxation r.
///
/// # Errors
/// r is not from 0 to 1.
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
