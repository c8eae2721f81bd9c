//! What a host that runs is told.

use inart_core::Assignment;
use inart_wire::Epoch;

/// What a host that runs is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// By which it sends from then on. It differs from the one before in epoch, seats and rates only.
    pub assignment: Assignment,
    /// Another epoch by which frames of the job still come; `None` closes all others.
    pub beside: Option<Epoch>,
}

/// Why a host does not do as instructed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    /// It runs no more: nobody follows any longer.
    Ended,
    /// It goes on as before, for this reason.
    Refused(String),
}
