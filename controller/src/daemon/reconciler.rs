//! Keeps one switch configured: watches its session, reconnects, and repairs what differs.

use std::sync::Arc;
use std::time::Duration;

use inart_tables::SwitchTables;
use inart_targets::{Access, Endpoint, Precedence, Program, Session, SwitchError};
use inart_topologies::units::counted;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::kept_entries::KeptEntries;
use super::reconcile::{ReconcileError, Reconciled, reconcile};
use super::state::State;

/// First pause before a reconnection attempt; doubles per attempt, up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// Longest pause between reconnection attempts.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Pauses between attempts.
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

/// Time after which a check of a switch is reported as slow.
const SLOW: Duration = Duration::from_secs(5);

/// Waits for a check of a switch, and reports a switch that does not answer for five seconds; the calls
/// themselves time out after half a minute.
async fn warn_if_slow<T>(state: &State, name: &str, check: impl Future<Output = T>) -> T {
    tokio::pin!(check);
    tokio::select! {
        biased;
        done = &mut check => return done,
        () = sleep(SLOW) => {}
    }
    let problem = format!("it has not answered for {SLOW:?}; is its process stopped?");
    tracing::warn!(switch = name, "not checked: {problem}");
    state.problem(name, problem);
    check.await
}

/// Order to set other tables.
pub(super) struct Order {
    pub desired: SwitchTables,
    /// Receives the result. A failed order is retried until the next order.
    pub done: oneshot::Sender<Result<Reconciled, String>>,
}

/// One switch and the tables that it should hold.
pub(super) struct Reconciler {
    pub name: String,
    pub place: Endpoint,
    /// Precedence of this controller.
    pub precedence: Precedence,
    pub program: Arc<dyn Program>,
    /// Tables that this controller wants there.
    pub desired: SwitchTables,
    /// Entries outside of the plans, which the switch keeps.
    pub kept_entries: KeptEntries,
    pub replace_program: bool,
    pub check_every: Duration,
    pub state: Arc<State>,
    pub orders: mpsc::UnboundedReceiver<Order>,
}

impl Reconciler {
    /// Runs until another controller takes the switch over. Returns the switch's report of that. Without a
    /// session the switch is disconnected.
    pub(super) async fn run(mut self, session: Option<Box<dyn Session>>) -> SwitchError {
        let opened = match session {
            Some(session) => Ok(session),
            None => self.reconnect().await,
        };
        let mut session = match opened {
            Ok(session) => session,
            Err(why) => return why,
        };
        loop {
            let why = self.watch(&mut *session).await;
            if matches!(why, SwitchError::Superseded(_)) {
                return why;
            }
            self.state.lost(&self.name, why.to_string());
            tracing::warn!(switch = self.name, "session lost: {why}");
            session = match self.reconnect().await {
                Ok(session) => session,
                Err(why) => return why,
            };
        }
    }

    /// Keeps the switch configured for the lifetime of the session. Returns why the session ended.
    async fn watch(&mut self, session: &mut dyn Session) -> SwitchError {
        loop {
            let ordered = tokio::select! {
                biased;
                why = session.lost() => return why,
                Some(order) = self.orders.recv() => Some(order),
                () = sleep(self.check_every) => None,
            };
            if let Some(order) = ordered {
                self.carry_out(session, order).await;
                continue;
            }
            let (state, name) = (Arc::clone(&self.state), self.name.clone());
            if let Err(error) = warn_if_slow(&state, &name, self.reconcile(session)).await {
                state.problem(&name, error.to_string());
                tracing::error!(switch = name, "tables not verified: {error}");
            }
        }
    }

    /// Sets other tables.
    async fn carry_out(&mut self, session: &mut dyn Session, Order { desired, done }: Order) {
        self.desired = desired;
        let held = self.write(session).await;
        match &held {
            Ok(written) => self.state.reconciled(&self.name, Reconciled { updates: 0, ..*written }),
            Err(error) => self.state.problem(&self.name, error.to_string()),
        }
        // The requester may wait no longer.
        let _ = done.send(held.map_err(|error| error.to_string()));
    }

    /// Pauses before a reconnection attempt. Orders meanwhile are kept for later.
    async fn pause(&mut self, backoff: &mut Backoff, why: &str) {
        let wait = backoff.wait();
        tokio::pin!(wait);
        loop {
            tokio::select! {
                biased;
                () = &mut wait => return,
                Some(Order { desired, done }) = self.orders.recv() => {
                    self.desired = desired;
                    let _ = done.send(Err(why.to_owned()));
                }
            }
        }
    }

    /// Reconnects and repairs the switch.
    async fn reconnect(&mut self) -> Result<Box<dyn Session>, SwitchError> {
        let mut backoff = Backoff::new();
        let mut last = String::new();
        loop {
            // On switches without precedences, a lost switch may be free for a moment.
            if !self.program.has_precedence()
                && let Some(why) = self.state.replaced()
            {
                return Err(SwitchError::Superseded(why));
            }
            let error = match self.program.open(self.place.clone(), Access::Resume(self.precedence)).await {
                Ok(mut session) => match self.reconcile(&mut *session).await {
                    Ok(()) => {
                        self.state.connected(&self.name);
                        tracing::info!(switch = self.name, "session open, tables verified");
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
            if error != last {
                tracing::warn!(switch = self.name, "not reconnected yet: {error}");
                self.state.problem(&self.name, error.clone());
                last = error;
            }
            let why = last.clone();
            self.pause(&mut backoff, &why).await;
        }
    }

    /// Writes the wanted tables next to entries that are not this controller's.
    async fn write(&mut self, session: &mut dyn Session) -> Result<Reconciled, ReconcileError> {
        self.kept_entries.read(session).await?;
        let (slots, state) = (self.program.limits().slots, &self.state);
        let runs = |job| state.assigned(job).is_some();
        let wanted =
            self.kept_entries.merged(&self.desired, slots, runs).map_err(ReconcileError::Conflict)?;
        reconcile(session, &wanted, self.replace_program).await
    }

    async fn reconcile(&mut self, session: &mut dyn Session) -> Result<(), ReconcileError> {
        let repaired = self.write(session).await?;
        if repaired.loaded || repaired.updates > 0 {
            let program = if repaired.loaded { "program loaded, " } else { "" };
            tracing::warn!(
                switch = self.name,
                "state lost and repaired: {program}{} written",
                counted(repaired.updates, "update")
            );
        }
        self.state.reconciled(&self.name, repaired);
        Ok(())
    }
}
