//! Keeps one switch in order: watches its session, reconnects when that breaks, and mends what differs.

use std::sync::Arc;
use std::time::Duration;

use inart_p4runtime::{ClientError, Target};
use tokio::time::sleep;

use super::repair::{RepairError, repair};
use super::state::State;
use crate::driver::{DriverError, P4Runtime};
use crate::entries::SwitchTables;
use crate::program::Program;

/// The first wait before another attempt to connect; each further one is twice as long, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// A switch that comes back waits for this long at most.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Waits between attempts.
pub(super) struct Backoff(Duration);

impl Backoff {
    pub(super) fn new() -> Self {
        Self(FIRST_WAIT)
    }

    pub(super) async fn wait(&mut self) {
        sleep(self.0).await;
        self.0 = (2 * self.0).min(LONGEST_WAIT);
    }
}

/// One switch and what it should hold.
pub(super) struct Keeper {
    pub name: String,
    /// With the election id under which this controller became primary.
    pub target: Target,
    pub program: Arc<Program>,
    pub desired: SwitchTables,
    pub replace_program: bool,
    pub check_every: Duration,
    pub state: Arc<State>,
}

impl Keeper {
    /// Runs until another controller takes the switch over, and returns why this one is not primary any more.
    pub(super) async fn run(self, mut driver: P4Runtime) -> ClientError {
        loop {
            let why = self.watch(&mut driver).await;
            if is_superseded(&why) {
                return why;
            }
            self.state.lost(&self.name, why.to_string());
            tracing::warn!(switch = self.name, "session lost: {why}");
            driver = match self.come_back().await {
                Ok(driver) => driver,
                Err(why) => return why,
            };
        }
    }

    /// Keeps the switch in order as long as the session lasts, and returns why it is over.
    async fn watch(&self, driver: &mut P4Runtime) -> ClientError {
        loop {
            let lost = tokio::time::timeout(self.check_every, driver.client().lost()).await;
            if let Ok(why) = lost {
                return why;
            }
            if let Err(error) = self.mend(driver).await {
                self.state.problem(&self.name, error.to_string());
                tracing::error!(switch = self.name, "not in order: {error}");
            }
        }
    }

    /// Connects and mends until the switch is in order again.
    async fn come_back(&self) -> Result<P4Runtime, ClientError> {
        let mut backoff = Backoff::new();
        let mut told = String::new();
        loop {
            let error = match P4Runtime::connect_as_known(self.target.clone(), self.program.clone()).await {
                Ok(mut driver) => match self.mend(&mut driver).await {
                    Ok(()) => {
                        self.state.connected(&self.name);
                        tracing::info!(switch = self.name, "session open, in order");
                        return Ok(driver);
                    }
                    Err(error) => error,
                },
                Err(error) => error.into(),
            };
            if let RepairError::Driver(DriverError::Client(why)) = &error
                && is_superseded(why)
            {
                return Err(why.clone());
            }
            let error = error.to_string();
            if error != told {
                tracing::warn!(switch = self.name, "not back yet: {error}");
                self.state.problem(&self.name, error.clone());
                told = error;
            }
            backoff.wait().await;
        }
    }

    async fn mend(&self, driver: &mut P4Runtime) -> Result<(), RepairError> {
        let mended = repair(driver, &self.desired, self.replace_program).await?;
        if mended.loaded || mended.updates > 0 {
            let program = if mended.loaded { "program loaded, " } else { "" };
            tracing::warn!(
                switch = self.name,
                "it had lost its state: {program}{} updates written",
                mended.updates
            );
        }
        self.state.reconciled(&self.name, mended);
        Ok(())
    }
}

/// Whether another controller has taken the switch over.
fn is_superseded(error: &ClientError) -> bool {
    matches!(error, ClientError::NotPrimary { asked, greatest, .. } if greatest > asked)
}
