//! Keeps one switch in order: watches its session, reconnects when that breaks, and repairs what differs.

use std::sync::Arc;
use std::time::Duration;

use inart_tables::SwitchTables;
use inart_targets::{Access, Place, Precedence, Program, Session, SwitchError};
use inart_topologies::units::counted;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::reconcile::{ReconcileError, Reconciled, reconcile};
use super::state::State;
use super::strangers::Strangers;

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

/// A check of a switch that takes longer is reported.
const SLOW: Duration = Duration::from_secs(5);

/// Waits for a check of a switch, and reports a switch that does not answer for five seconds: the calls
/// themselves have half a minute.
async fn said_if_slow<T>(state: &State, name: &str, check: impl Future<Output = T>) -> T {
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

/// Other tables for a switch.
pub(super) struct Order {
    pub desired: SwitchTables,
    /// Hears whether it holds them. Where it does not, it is tried for as long as nothing else is ordered.
    pub done: oneshot::Sender<Result<Reconciled, String>>,
}

/// One switch and what it should hold.
pub(super) struct Reconciler {
    pub name: String,
    pub place: Place,
    /// Under which this controller writes.
    pub precedence: Precedence,
    pub program: Arc<dyn Program>,
    /// Tables that this controller wants there.
    pub desired: SwitchTables,
    /// Entries that are not of the plans, which the switch keeps.
    pub strangers: Strangers,
    pub replace_program: bool,
    pub check_every: Duration,
    pub state: Arc<State>,
    pub orders: mpsc::UnboundedReceiver<Order>,
}

impl Reconciler {
    /// Runs until another controller takes the switch over, and returns in which words the switch says so.
    /// Without a session the switch is away.
    pub(super) async fn run(mut self, session: Option<Box<dyn Session>>) -> SwitchError {
        let opened = match session {
            Some(session) => Ok(session),
            None => self.come_back().await,
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
            session = match self.come_back().await {
                Ok(session) => session,
                Err(why) => return why,
            };
        }
    }

    /// Keeps the switch in order as long as the session lasts, and returns why it is over.
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
            if let Err(error) = said_if_slow(&state, &name, self.reconcile(session)).await {
                state.problem(&name, error.to_string());
                tracing::error!(switch = name, "not in order: {error}");
            }
        }
    }

    /// Makes the switch hold other tables from now on.
    async fn carry_out(&mut self, session: &mut dyn Session, Order { desired, done }: Order) {
        self.desired = desired;
        let held = self.write(session).await;
        match &held {
            Ok(written) => self.state.reconciled(&self.name, Reconciled { updates: 0, ..*written }),
            Err(error) => self.state.problem(&self.name, error.to_string()),
        }
        // Who ordered it may wait no longer.
        let _ = done.send(held.map_err(|error| error.to_string()));
    }

    /// Waits before another attempt to connect. What is ordered meanwhile is for later.
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

    /// Connects and repairs until the switch is in order again.
    async fn come_back(&mut self) -> Result<Box<dyn Session>, SwitchError> {
        let mut backoff = Backoff::new();
        let mut told = String::new();
        loop {
            // Where switches serve who comes first, one that was lost may be free again for a moment.
            if !self.program.has_precedence()
                && let Some(why) = self.state.replaced()
            {
                return Err(SwitchError::Superseded(why));
            }
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
                tracing::warn!(switch = self.name, "not reconnected yet: {error}");
                self.state.problem(&self.name, error.clone());
                told = error;
            }
            let why = told.clone();
            self.pause(&mut backoff, &why).await;
        }
    }

    /// Makes the switch hold what is wanted beside what is not this controller's.
    async fn write(&mut self, session: &mut dyn Session) -> Result<Reconciled, ReconcileError> {
        self.strangers.read(session).await?;
        let (slots, state) = (self.program.limits().slots, &self.state);
        let runs = |job| state.assigned(job).is_some();
        let wanted = self.strangers.beside(&self.desired, slots, runs).map_err(ReconcileError::Taken)?;
        reconcile(session, &wanted, self.replace_program).await
    }

    async fn reconcile(&mut self, session: &mut dyn Session) -> Result<(), ReconcileError> {
        let repaired = self.write(session).await?;
        if repaired.loaded || repaired.updates > 0 {
            let program = if repaired.loaded { "program loaded, " } else { "" };
            tracing::warn!(
                switch = self.name,
                "it had lost its state: {program}{} written",
                counted(repaired.updates, "update")
            );
        }
        self.state.reconciled(&self.name, repaired);
        Ok(())
    }
}
