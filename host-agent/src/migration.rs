//! Moving a host that runs to another plan of its job.

use std::sync::{Arc, mpsc};

use inart_ethernet::Wake;
use inart_protocol_aggregation::completion_rule::CompletionRule;
use inart_protocol_aggregation::{
    Assignment, Instant, MigrationProgress, MigrationStep, RerouteError, ServerShard, StateMachine,
    WorkerFlow,
};
use inart_wire::PlanVersion;

/// Moves a host that runs to another plan of its job, from any thread.
#[derive(Clone)]
pub struct Migrator {
    orders: mpsc::Sender<Order>,
    wake: Arc<dyn Wake>,
}

/// Why a host has not moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MigrationError {
    /// It refuses, and goes on as it did.
    #[error(transparent)]
    Refused(#[from] RerouteError),
    /// It runs no more.
    #[error("the host has ended")]
    Ended,
}

/// What a host is told.
struct Order {
    assignment: Assignment,
    beside: Option<PlanVersion>,
    step: MigrationStep,
    done: mpsc::SyncSender<Result<MigrationProgress, RerouteError>>,
}

impl Migrator {
    /// Moves the host to `assignment`, which differs from its own in plan version, bitmap indices and rates
    /// only, and waits until it has: it sends by the new plan then. Frames of plan version `beside` are still
    /// accepted; all other plan versions are closed. What the host does already changes nothing.
    ///
    /// # Errors
    /// Why it has not moved.
    pub fn move_to(&self, assignment: Assignment, beside: Option<PlanVersion>) -> Result<(), MigrationError> {
        self.take(MigrationStep::Move, assignment, beside).map(drop)
    }

    /// Takes one step on the way to `assignment`, and waits until it is taken; how far the host is then. A
    /// worker that is told [`MigrationStep::Lead`] lags for as long as its servers have not led it there: ask
    /// again. With [`MigrationStep::Move`] it is [`move_to`](Self::move_to).
    ///
    /// # Errors
    /// Why it has not taken it.
    pub fn take(
        &self,
        step: MigrationStep,
        assignment: Assignment,
        beside: Option<PlanVersion>,
    ) -> Result<MigrationProgress, MigrationError> {
        let (done, answer) = mpsc::sync_channel(1);
        self.orders.send(Order { assignment, beside, step, done }).map_err(|_| MigrationError::Ended)?;
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

    /// The host has ended: whoever waits is told so.
    pub(crate) fn close(&mut self) {
        *self = Self::new();
    }

    /// Carries out what has come; whether there was anything.
    pub(crate) fn carry_out(&self, now: Instant, host: &mut impl Moves) -> bool {
        let mut any = false;
        for Order { assignment, beside, step, done } in self.receiver.try_iter() {
            any = true;
            // Whoever gave the order may be gone.
            let _ = done.send(go(host, now, (step, assignment), beside));
        }
        any
    }
}

/// What can be moved.
pub(crate) trait Moves: StateMachine {
    /// The plan version that it was told of last, and the other one whose frames it accepts.
    fn open(&self) -> (Option<PlanVersion>, Option<PlanVersion>);

    /// Takes a step to another plan, or the same one again.
    fn step(&mut self, now: Instant, step: MigrationStep, to: Assignment) -> Result<(), RerouteError>;

    /// Accepts frames of the plan version that it was told of last only.
    fn close_other(&mut self);

    /// How far it is on its way there.
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
    beside: Option<PlanVersion>,
) -> Result<MigrationProgress, RerouteError> {
    let (current, other) = host.open();
    let goal = Some(to.plan_version);
    if other.is_some() && other != goal && other != beside {
        host.close_other();
    }
    // Beside no other plan version, a host that is there has nothing to do.
    if current != goal || beside.is_some() {
        host.step(now, step, to)?;
    }
    if beside.is_none() {
        host.close_other();
    }
    Ok(host.progress())
}
