//! Random trials of controllers: any number of real controller processes in virtual time, with in-memory
//! switches that become unreachable, restart empty, hang, lose rows and refuse updates.
//!
//! The clock is the paused clock of the daemon's Tokio runtime, so a trial takes milliseconds, and a seed
//! reproduces it. The verdict uses separate code: it computes rows from the plan and sums from the compiled
//! P4 program.
//!
//! Controllers of one machine share records, as processes that are given the same folder do: one that is
//! started again has the records of the one before. In some trials all machines share one folder.

mod audit;
mod draw;
mod duty;
mod hosts;
mod ledger;
mod plant;
mod rows;
mod session;
mod trial;
mod world;

use std::sync::Arc;

use crate::{Dataplane, Error, InstalledNetwork};
pub use trial::{Event, Fault, Outcome, Trial};

impl Trial {
    /// Runs the trial.
    ///
    /// # Errors
    ///
    /// [`Error`] if a job has no plan, or plans cannot be installed even without faults.
    pub fn run(&self, dataplane: &Arc<Dataplane>) -> Result<Outcome, Error> {
        let sets = self.plans()?;
        for plans in &sets {
            // A plan that the controller refuses without faults is not a valid trial.
            InstalledNetwork::install(&self.topology, dataplane, plans, self.window_chunks)?;
        }
        world::run(self, dataplane, sets)
    }

    /// Removes from a failing trial everything that the failure does not need.
    #[must_use]
    pub fn shrink(self, dataplane: &Arc<Dataplane>) -> Self {
        let fails = |trial: &Self| trial.run(dataplane).is_ok_and(|outcome| outcome.failure.is_some());
        let mut trial = self;
        while let Some(smaller) = trial.smaller().into_iter().find(fails) {
            trial = smaller;
        }
        trial
    }
}
