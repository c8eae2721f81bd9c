//! Switch in memory, and a session with it.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use inart_tables::{Limits, Op, PortNo, SwitchTables, Update};

use crate::counters::{Counts, SwitchCounters, Traffic};
use crate::endpoint::Precedence;
use crate::error::SwitchError;
use crate::target::{Running, Session};

/// Time of a failure. Updates count from 0 over the life of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failpoint {
    /// No failure.
    Never,
    /// Refusal of the `n`-th update alone; the rest of its batch is applied (continue on error).
    Refuse(usize),
    /// Loss of the switch from the `n`-th update on: nothing is applied, and nothing can be read.
    Gone(usize),
    /// Loss as in `Gone`, but the connection recovers for requests after the failed write.
    Broken(usize),
}

/// Switch in memory, and a session with it.
#[derive(Debug, Clone)]
pub struct Memory {
    /// What the switch runs.
    pub running: Running,
    /// Tables.
    pub tables: SwitchTables,
    /// Number of requested updates so far.
    pub updates: usize,
    /// Failure.
    pub failpoint: Failpoint,
    /// Counters that the switch reports.
    pub traffic: Traffic,
    limits: Limits,
}

impl Memory {
    /// Creates a switch without a program.
    pub fn new(limits: Limits) -> Self {
        Memory {
            running: Running::Nothing,
            tables: SwitchTables::default(),
            updates: 0,
            failpoint: Failpoint::Never,
            traffic: Traffic::default(),
            limits,
        }
    }

    fn alive(&self) -> Result<(), SwitchError> {
        match self.failpoint {
            Failpoint::Gone(at) if self.updates > at => Err(gone()),
            _ => Ok(()),
        }
    }

    pub(super) fn apply(&mut self, updates: &[Update]) -> Result<(), SwitchError> {
        let mut refused = Vec::new();
        for update in updates {
            self.alive()?;
            let number = self.updates;
            self.updates += 1;
            match self.failpoint {
                Failpoint::Gone(at) | Failpoint::Broken(at) if number == at => return Err(gone()),
                Failpoint::Refuse(at) if number == at => {
                    refused.push("refused by the failpoint".to_string());
                    continue;
                }
                _ => {}
            }
            if let Err(error) = self.tables.apply(update) {
                refused.push(format!("{update:?}: {error}"));
            } else if let Err(error) = self.limits.check(&self.tables) {
                // Only an insert can exceed a limit.
                self.tables
                    .apply(&Update { op: Op::Delete, ..update.clone() })
                    .expect("it was inserted just now");
                refused.push(error.to_string());
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(SwitchError::Refused(refused.join("; "))) }
    }
}

fn gone() -> SwitchError {
    SwitchError::Refused("the switch has stopped".into())
}

impl Session for Memory {
    fn precedence(&self) -> Option<Precedence> {
        Some(Precedence(1))
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        ready(self.alive().map(|()| self.running)).boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        let alive = self.alive();
        if alive.is_ok() {
            (self.running, self.tables) = (Running::Ours, SwitchTables::default());
        }
        ready(alive).boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        ready(self.alive().map(|()| self.tables.clone())).boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        async { self.apply(updates) }.boxed()
    }

    /// No frame passes a switch in memory: all counters are 0.
    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        let steer = self.tables.steer.iter().map(|(key, action)| (*key, (*action, Counts::default())));
        let counters = SwitchCounters { steer: steer.collect(), ..SwitchCounters::default() };
        ready(self.alive().map(|()| counters)).boxed()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        let of_port = |port: &PortNo| (*port, self.traffic.ports.get(port).copied().unwrap_or_default());
        let ports = ports.iter().map(of_port).collect();
        let traffic = Traffic { ports, outcomes: self.traffic.outcomes.clone() };
        ready(self.alive().map(|()| traffic)).boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        match self.alive() {
            Ok(()) => std::future::pending().boxed(),
            Err(error) => ready(error).boxed(),
        }
    }
}
