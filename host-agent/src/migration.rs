//! Moving a host that runs to another plan of its job.

use std::sync::{Arc, mpsc};

use inart_ethernet::Wake;
use inart_protocol_aggregation::completion_rule::CompletionRule;
use inart_protocol_aggregation::{
    Assignment, Instant, MigrationProgress, MigrationStep, RerouteError, ServerShard, StateMachine,
    WorkerFlow,
};
use inart_wire::PlanVersion;

/// Migrates a running host to another plan of its job, from any thread.
#[derive(Clone)]
pub struct Migrator {
    orders: mpsc::Sender<Order>,
    wake: Arc<dyn Wake>,
}

/// Reason why a host has not migrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MigrationError {
    /// Refusal; the host continues as before.
    #[error(transparent)]
    Refused(#[from] RerouteError),
    /// End of the host.
    #[error("the host has ended")]
    Ended,
}

/// Migration order to a host.
struct Order {
    assignment: Assignment,
    previous: Option<PlanVersion>,
    step: MigrationStep,
    done: mpsc::SyncSender<Result<MigrationProgress, RerouteError>>,
}

impl Migrator {
    /// Migrates the host to `assignment`, which differs from its own in plan version, bitmap indices and
    /// rates only, and waits until it sends by the new plan. Frames of plan version `previous` are still
    /// accepted; all other plan versions are closed. Repeated orders change nothing.
    ///
    /// # Errors
    ///
    /// The reason why it has not migrated.
    pub fn move_to(
        &self,
        assignment: Assignment,
        previous: Option<PlanVersion>,
    ) -> Result<(), MigrationError> {
        self.take(MigrationStep::Move, assignment, previous).map(drop)
    }

    /// Takes one step towards `assignment`, waits until it is done, and returns the host's progress. A worker
    /// with [`MigrationStep::Lead`] lags until its servers have migrated: ask again. [`MigrationStep::Move`]
    /// is equivalent to [`move_to`](Self::move_to).
    ///
    /// # Errors
    /// Why it has not taken it.
    pub fn take(
        &self,
        step: MigrationStep,
        assignment: Assignment,
        previous: Option<PlanVersion>,
    ) -> Result<MigrationProgress, MigrationError> {
        let (done, answer) = mpsc::sync_channel(1);
        self.orders.send(Order { assignment, previous, step, done }).map_err(|_| MigrationError::Ended)?;
        self.wake.wake();
        Ok(answer.recv().map_err(|_| MigrationError::Ended)??)
    }
}

/// A host's orders, which its thread carries out.
pub(crate) struct Orders {
    sender: mpsc::Sender<Order>,
    receiver: mpsc::Receiver<Order>,
}

impl Orders {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { sender, receiver }
    }

    pub(crate) fn migrator(&self, wake: Arc<dyn Wake>) -> Migrator {
        Migrator { orders: self.sender.clone(), wake }
    }

    /// Closes the queue after the host has ended: waiting callers are notified.
    pub(crate) fn close(&mut self) {
        *self = Self::new();
    }

    /// Carries out queued orders. Returns whether there were any.
    pub(crate) fn carry_out(&self, now: Instant, host: &mut impl Moves) -> bool {
        let mut any = false;
        for Order { assignment, previous, step, done } in self.receiver.try_iter() {
            any = true;
            // The sender of the order may have ended.
            let _ = done.send(go(host, now, (step, assignment), previous));
        }
        any
    }
}

/// A state machine that can migrate.
pub(crate) trait Moves: StateMachine {
    /// Returns the newest plan version, and the other one whose frames it accepts.
    fn open(&self) -> (Option<PlanVersion>, Option<PlanVersion>);

    /// Takes a step to another plan, or the same one again.
    fn step(&mut self, now: Instant, step: MigrationStep, to: Assignment) -> Result<(), RerouteError>;

    /// Accepts frames of the newest plan version only.
    fn close_other(&mut self);

    /// Returns its progress of the migration.
    fn progress(&self) -> MigrationProgress;
}

impl Moves for WorkerFlow {
    fn open(&self) -> (Option<PlanVersion>, Option<PlanVersion>) {
        let mut open = self.open_plan_versions();
        (open.next(), open.next())
    }

    fn step(&mut self, now: Instant, step: MigrationStep, to: Assignment) -> Result<(), RerouteError> {
        match step {
            MigrationStep::Move => self.reroute(now, to),
            MigrationStep::Prepare | MigrationStep::Lead => self.prepare(to),
        }
    }

    fn close_other(&mut self) {
        self.close_old_plan_version();
    }

    fn progress(&self) -> MigrationProgress {
        MigrationProgress { is_lagging: !self.has_moved(), results: self.counters().results }
    }
}

impl<P: CompletionRule> Moves for ServerShard<P> {
    fn open(&self) -> (Option<PlanVersion>, Option<PlanVersion>) {
        let mut open = self.open_plan_versions();
        (open.next(), open.next())
    }

    fn step(&mut self, _: Instant, step: MigrationStep, to: Assignment) -> Result<(), RerouteError> {
        match step {
            MigrationStep::Move => self.reroute(to),
            MigrationStep::Prepare => Ok(()),
            MigrationStep::Lead => self.lead(to),
        }
    }

    fn close_other(&mut self) {
        self.close_old_plan_version();
    }

    fn progress(&self) -> MigrationProgress {
        MigrationProgress::default()
    }
}

/// Takes a step. The host may have missed orders before.
fn go(
    host: &mut impl Moves,
    now: Instant,
    (step, to): (MigrationStep, Assignment),
    previous: Option<PlanVersion>,
) -> Result<MigrationProgress, RerouteError> {
    let (current, other) = host.open();
    let goal = Some(to.plan_version);
    if other.is_some() && other != goal && other != previous {
        host.close_other();
    }
    // Without another open plan version, a host that has migrated has nothing to do.
    if current != goal || previous.is_some() {
        host.step(now, step, to)?;
    }
    if previous.is_none() {
        host.close_other();
    }
    Ok(host.progress())
}
