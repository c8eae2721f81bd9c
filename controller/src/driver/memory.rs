//! A switch that is a value: keeps entries, refuses duplicates, enforces sizes, and fails when told to.

use super::{DriverError, Running, SwitchDriver};
use crate::diff::{Op, Update};
use crate::entries::SwitchTables;
use crate::program::Limits;

/// When writes fail. Updates are counted over the driver's life, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failpoint {
    /// Never.
    Never,
    /// The `n`-th update alone is refused, the rest of its batch is applied (continue on error).
    Refuse(usize),
    /// From the `n`-th update on the switch is gone: nothing is applied, nothing can be read.
    Gone(usize),
    /// As `Gone`, but the connection comes back for whatever follows the failed write.
    Broken(usize),
}

/// A switch in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    /// What it runs.
    pub running: Running,
    /// What it holds.
    pub tables: SwitchTables,
    /// Updates it was asked for so far.
    pub updates: usize,
    /// When it fails.
    pub failpoint: Failpoint,
    limits: Limits,
}

impl Memory {
    /// A switch that runs nothing yet.
    pub fn new(limits: Limits) -> Self {
        Memory {
            running: Running::Nothing,
            tables: SwitchTables::default(),
            updates: 0,
            failpoint: Failpoint::Never,
            limits,
        }
    }

    fn alive(&self) -> Result<(), DriverError> {
        match self.failpoint {
            Failpoint::Gone(at) if self.updates > at => Err(gone()),
            _ => Ok(()),
        }
    }
}

fn gone() -> DriverError {
    DriverError::Memory("the switch is gone".into())
}

impl SwitchDriver for Memory {
    async fn running(&mut self) -> Result<Running, DriverError> {
        self.alive()?;
        Ok(self.running.clone())
    }

    async fn set_pipeline(&mut self) -> Result<(), DriverError> {
        self.alive()?;
        self.running = Running::Ours;
        self.tables = SwitchTables::default();
        Ok(())
    }

    async fn read(&mut self) -> Result<SwitchTables, DriverError> {
        self.alive()?;
        Ok(self.tables.clone())
    }

    async fn write(&mut self, updates: &[Update]) -> Result<(), DriverError> {
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
                // Only an insert can be one too many.
                self.tables
                    .apply(&Update { op: Op::Delete, ..update.clone() })
                    .expect("it was inserted just now");
                refused.push(error.to_string());
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(DriverError::Memory(refused.join("; "))) }
    }
}
