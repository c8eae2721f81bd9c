//! Random trials of controllers: the real daemon, any number of processes of it, in virtual time, on switches
//! in memory that are out of reach, restart empty, stand still, lose rows and refuse updates.
//!
//! The clock is the paused one of the daemon's own runtime, so a trial takes milliseconds, and a seed gives
//! the same trial each time. The verdict is other code: it computes rows from the plan and sums from the
//! compiled P4 program.
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
    /// [`Error`] if a job has no plan, or plans cannot be installed at all.
    pub fn run(&self, dataplane: &Arc<Dataplane>) -> Result<Outcome, Error> {
        let sets = self.plans()?;
        for plans in &sets {
            // What the controller refuses under no faults is no trial.
            InstalledNetwork::install(&self.topology, dataplane, plans, self.window_chunks)?;
        }
        world::run(self, dataplane, sets)
    }

    /// Leaves out of a trial that fails whatever it also fails without.
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
