//! Moving a host that runs to another plan of its job.

use std::sync::{Arc, mpsc};

use inart_core::{Assignment, Instant, RerouteError, ServerShard, StateMachine, WorkerFlow};
use inart_wire::Epoch;

use crate::transport::Wake;

/// Moves a host that runs to another plan of its job, from any thread.
#[derive(Clone)]
pub struct Mover {
    orders: mpsc::Sender<Order>,
    wake: Arc<dyn Wake>,
}

/// Why a host has not moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MoveError {
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
    beside: Option<Epoch>,
    done: mpsc::SyncSender<Result<(), RerouteError>>,
}

impl Mover {
    /// Moves the host to `assignment`, which differs from its own in epoch, seats and rates only, and waits
    /// until it has: it sends by the new plan then. Frames of epoch `beside` are still accepted; all other
    /// epochs are closed. What the host does already changes nothing.
    ///
    /// # Errors
    /// Why it has not moved.
    pub fn move_to(&self, assignment: Assignment, beside: Option<Epoch>) -> Result<(), MoveError> {
        let (done, answer) = mpsc::sync_channel(1);
        self.orders.send(Order { assignment, beside, done }).map_err(|_| MoveError::Ended)?;
        self.wake.wake();
        Ok(answer.recv().map_err(|_| MoveError::Ended)??)
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

    pub(crate) fn mover(&self, wake: Arc<dyn Wake>) -> Mover {
        Mover { orders: self.sender.clone(), wake }
    }

    /// The host has ended: whoever waits is told so.
    pub(crate) fn close(&mut self) {
        *self = Self::new();
    }

    /// Carries out what has come; whether there was anything.
    pub(crate) fn carry_out(&self, now: Instant, host: &mut impl Moves) -> bool {
        let mut any = false;
        for Order { assignment, beside, done } in self.receiver.try_iter() {
            any = true;
            // Whoever gave the order may be gone.
            let _ = done.send(go(host, now, assignment, beside));
        }
        any
    }
}

/// What can be moved.
pub(crate) trait Moves: StateMachine {
    /// The epoch that it sends in, and the other one whose frames it accepts.
    fn open(&self) -> (Option<Epoch>, Option<Epoch>);

    /// Sends by another plan from now on.
    fn move_on(&mut self, now: Instant, to: Assignment) -> Result<(), RerouteError>;

    /// Accepts frames of the epoch that it sends in only.
    fn close_other(&mut self);
}

impl Moves for WorkerFlow {
    fn open(&self) -> (Option<Epoch>, Option<Epoch>) {
        let mut open = self.open_epochs();
        (open.next(), open.next())
    }

    fn move_on(&mut self, now: Instant, to: Assignment) -> Result<(), RerouteError> {
        self.reroute(now, to)
    }

    fn close_other(&mut self) {
        self.close_old_epoch();
    }
}

impl Moves for ServerShard {
    fn open(&self) -> (Option<Epoch>, Option<Epoch>) {
        let mut open = self.open_epochs();
        (open.next(), open.next())
    }

    fn move_on(&mut self, _: Instant, to: Assignment) -> Result<(), RerouteError> {
        self.reroute(to)
    }

    fn close_other(&mut self) {
        self.close_old_epoch();
    }
}

/// Moves a host. It may have missed orders before.
fn go(
    host: &mut impl Moves,
    now: Instant,
    to: Assignment,
    beside: Option<Epoch>,
) -> Result<(), RerouteError> {
    let (current, other) = host.open();
    let goal = Some(to.epoch);
    if other.is_some() && other != goal && other != beside {
        host.close_other();
    }
    if current != goal {
        host.move_on(now, to)?;
    }
    if beside.is_none() {
        host.close_other();
    }
    Ok(())
}
