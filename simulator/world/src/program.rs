//! The program around the machines.

use std::time::Duration;

use inart_connections::{Machine, PeerNo};

use crate::later::Later;

/// Starts machines, hears their news and calls them: the training program, and the audit.
pub trait Program<M: Machine> {
    /// Why a run cannot go on.
    type Error;

    /// Returns the machine of a process that starts.
    ///
    /// # Errors
    /// A process that cannot start.
    fn start(&mut self, who: PeerNo, now: Duration) -> Result<M, Self::Error>;

    /// A process is killed.
    fn killed(&mut self, who: PeerNo, machine: M);

    /// A connection of a process has ended.
    fn disconnected(&mut self, _who: PeerNo) {}

    /// Hears a notice of a process. The process gets commands in `later` after their times, if it lives then.
    ///
    /// # Errors
    /// A finding of the audit.
    fn hear(
        &mut self,
        who: PeerNo,
        machine: &mut M,
        news: M::News,
        now: Duration,
        later: &mut Later<M::Command>,
    ) -> Result<(), Self::Error>;

    /// Whether the run is over; machines are `None` while their processes are dead.
    fn is_over(&self, machines: &[Option<M>]) -> bool;
}
