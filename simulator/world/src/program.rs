//! The program around the machines.

use std::time::Duration;

use inart_connections::{Machine, PeerNo};

use crate::later::Later;
use crate::links::Transfer;

/// Starts machines, takes their reports and calls them: the training program, and the audit.
pub trait Program<M: Machine> {
    /// Error that ends a run.
    type Error;

    /// Returns the machine of a process that starts.
    ///
    /// # Errors
    /// The process cannot start.
    fn start(&mut self, who: PeerNo, now: Duration) -> Result<M, Self::Error>;

    /// Takes the machine of a crashed process.
    fn killed(&mut self, who: PeerNo, machine: M);

    /// Takes note that a connection of a process to another one has ended, before machines do. Each end is
    /// reported as the first of `ends` once.
    fn disconnected(&mut self, ends: [PeerNo; 2], machines: &[Option<M>], now: Duration) {
        let _ = (ends, machines, now);
    }

    /// Takes note of a transfer before its receiver does. Returns whether the receiver gets the transfer.
    fn arrives(&mut self, transfer: &Transfer, machine: &M, now: Duration) -> bool {
        let _ = (transfer, machine, now);
        true
    }

    /// Takes note that a receiver has taken a transfer.
    fn taken(&mut self, transfer: &Transfer, machine: &M) {
        let _ = (transfer, machine);
    }

    /// Takes a report of a process. The process gets the commands in `later` after their times, if it runs
    /// then.
    ///
    /// # Errors
    /// A finding of the audit.
    fn report(
        &mut self,
        who: PeerNo,
        machine: &mut M,
        report: M::Report,
        now: Duration,
        later: &mut Later<M::Command>,
    ) -> Result<(), Self::Error>;

    /// Returns whether the run is over; machines are `None` while their processes are dead.
    fn is_over(&self, machines: &[Option<M>]) -> bool;
}
