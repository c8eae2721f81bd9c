//! Keeps one switch in order: watches its session, reconnects when that breaks, and repairs what differs.

use std::sync::Arc;
use std::time::Duration;

use inart_tables::SwitchTables;
use inart_targets::{Access, Place, Precedence, Program, Session, SwitchError};
use tokio::time::sleep;

use super::reconcile::{ReconcileError, reconcile};
use super::state::State;

/// The first wait before another attempt to connect; each further one is twice as long, up to
/// [`LONGEST_WAIT`].
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
pub(super) struct Reconciler {
    pub name: String,
    pub place: Place,
    /// Under which this controller writes.
    pub precedence: Precedence,
    pub program: Arc<dyn Program>,
    pub desired: SwitchTables,
    pub replace_program: bool,
    pub check_every: Duration,
    pub state: Arc<State>,
}

impl Reconciler {
    /// Runs until another controller takes the switch over, and returns in which words the switch says so.
    pub(super) async fn run(self, mut session: Box<dyn Session>) -> SwitchError {
        loop {
            let why = self.watch(&mut *session).await;
            if matches!(why, SwitchError::Superseded(_)) {
                return why;
            }
            self.state.lost(&self.name, why.to_string());
            tracing::warn!(switch = self.name, "session lost: {why}");
            session = match self.come_back().await {
                Ok(session) => session,
                Err(why) => return why,
            };
        }
    }

    /// Keeps the switch in order as long as the session lasts, and returns why it is over.
    async fn watch(&self, session: &mut dyn Session) -> SwitchError {
        loop {
            let lost = tokio::time::timeout(self.check_every, session.lost()).await;
            if let Ok(why) = lost {
                return why;
            }
            if let Err(error) = self.reconcile(session).await {
                self.state.problem(&self.name, error.to_string());
                tracing::error!(switch = self.name, "not in order: {error}");
            }
        }
    }

    /// Connects and repairs until the switch is in order again.
    async fn come_back(&self) -> Result<Box<dyn Session>, SwitchError> {
        let mut backoff = Backoff::new();
        let mut told = String::new();
        loop {
            let error = match self.program.open(self.place.clone(), Access::Resume(self.precedence)).await {
                Ok(mut session) => match self.reconcile(&mut *session).await {
                    Ok(()) => {
                        self.state.connected(&self.name);
                        tracing::info!(switch = self.name, "session open, in order");
                        return Ok(session);
                    }
                    Err(error) => error,
                },
                Err(error) => error.into(),
            };
            if let ReconcileError::Switch(why @ SwitchError::Superseded(_)) = error {
                return Err(why);
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

    async fn reconcile(&self, session: &mut dyn Session) -> Result<(), ReconcileError> {
        let repaired = reconcile(session, &self.desired, self.replace_program).await?;
        if repaired.loaded || repaired.updates > 0 {
            let program = if repaired.loaded { "program loaded, " } else { "" };
            tracing::warn!(
                switch = self.name,
                "it had lost its state: {program}{} updates written",
                repaired.updates
            );
        }
        self.state.reconciled(&self.name, repaired);
        Ok(())
    }
}
