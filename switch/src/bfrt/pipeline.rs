//! A program with the entries that controllers wrote for it.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::bfrt_proto::{ForwardingPipelineConfig, TableEntry};
use inart_bfruntime::{Entry, Info, Table};
use tonic::Status;

use super::multicast::{Changed, Multicast};
use super::ports::{PortChange, Ports};
use super::status::{invalid, misfit, refused, unknown, unserved};
use super::tables::{Kind, kind};
use super::verify::Verified;
use super::{arrays, rows};
use crate::control::ControlError;
use crate::server::limits;
use crate::{Program, Switch};

/// A program, the switch that runs it or shall, and the device's tables.
pub(super) struct Pipeline {
    pub info: Arc<Info>,
    pub config: ForwardingPipelineConfig,
    pub ports: Ports,
    pub(super) program: Arc<Program>,
    pub(super) switch: Arc<Mutex<Switch>>,
    pub(super) multicast: Multicast,
}

/// Makes packets wait while the switch is changed or read. A panic elsewhere leaves the switch usable: it
/// holds no lock over several steps.
pub(super) fn lock(switch: &Mutex<Switch>) -> MutexGuard<'_, Switch> {
    switch.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipeline {
    /// Creates a program on a switch of its own, without packets.
    pub fn stage(verified: Verified, ports: Ports) -> Result<Self, Status> {
        let mut switch = Switch::new(0);
        switch.load(verified.program.clone()).map_err(refused)?;
        Ok(Self {
            info: Arc::new(verified.info),
            config: verified.config,
            ports,
            program: verified.program,
            switch: Arc::new(Mutex::new(switch)),
            multicast: Multicast::default(),
        })
    }

    /// Makes the switch with the packets run it, between two of them.
    pub fn run_on(mut self, switch: &Arc<Mutex<Switch>>) -> Self {
        let fresh = std::mem::replace(&mut *lock(&self.switch), Switch::new(0));
        let mut running = lock(switch);
        let old = running.take_over(fresh);
        running.set_loopback(self.ports.loopback());
        drop(running);
        // Frames need not wait until its memory is given back.
        drop(old);
        self.switch = switch.clone();
        self
    }

    /// Returns the switch that it is written to.
    pub fn switch(&self) -> Arc<Mutex<Switch>> {
        self.switch.clone()
    }

    /// Returns an entry in names, with its table.
    pub fn decode(&self, given: &TableEntry) -> Result<(Table, Entry), Status> {
        let table = self.info.table_by_id(given.table_id).map_err(unknown)?;
        let entry = self.info.decode(given).map_err(misfit)?;
        Ok((table.clone(), entry))
    }

    /// Returns the state of the table at the entry, to restore it later.
    pub fn before(&self, switch: &Switch, given: &TableEntry) -> Result<rows::Before, Status> {
        let (table, entry) = self.decode(given)?;
        match kind(&table, &self.program) {
            Kind::Match(name) => rows::before(switch, name, &table, &entry),
            _ => Err(no_transaction(&table)),
        }
    }

    /// Applies one update, which costs some of `work`. Packets wait for a few cells or one entry at a time.
    pub fn write_alone(
        &mut self,
        update: Type,
        given: &TableEntry,
        work: &mut u64,
    ) -> Result<Vec<PortChange>, Status> {
        let (table, entry) = self.decode_written(given)?;
        let (program, switch) = (self.program.clone(), self.switch.clone());
        match kind(&table, &program) {
            Kind::Match(name) => rows::write(&mut lock(&switch), name, &table, update, &entry)?,
            Kind::Counter(name) => {
                let (cells, value) = arrays::counters_to_write(&table, update, &entry)?;
                each_stride(&switch, cells, work, |switch, part| switch.set_counters(name, part, value))?;
            }
            Kind::Registers(names) => {
                let (cells, values) = arrays::registers_to_write(&names, &table, update, &entry)?;
                each_stride(&switch, cells, work, |switch, part| {
                    let mut values = values.iter();
                    values.try_for_each(|(name, value)| switch.set_register_cells(name, part.clone(), value))
                })?;
            }
            Kind::Groups => replicate(&mut lock(&switch), self.multicast.write_group(update, &entry, work)?)?,
            Kind::Nodes => replicate(&mut lock(&switch), self.multicast.write_node(update, &entry, work)?)?,
            Kind::Ports => {
                let changes = self.ports.write(update, &entry)?;
                lock(&switch).set_loopback(self.ports.loopback());
                return Ok(changes);
            }
            Kind::PortCounts => self.ports.write_counts(&table, update, &entry)?,
            Kind::FrontPorts => return Err(unserved(format!("{} is only read", table.name))),
            Kind::Unserved => return Err(unserved(format!("{} is not served here", table.name))),
        }
        Ok(Vec::new())
    }

    /// Applies one update of a transaction, during which packets wait.
    pub fn write(&self, switch: &mut Switch, update: Type, given: &TableEntry) -> Result<(), Status> {
        let (table, entry) = self.decode_written(given)?;
        match kind(&table, &self.program) {
            Kind::Match(name) => rows::write(switch, name, &table, update, &entry),
            _ => Err(no_transaction(&table)),
        }
    }

    /// Returns an entry that is to be written, in names.
    fn decode_written(&self, given: &TableEntry) -> Result<(Table, Entry), Status> {
        let (table, entry) = self.decode(given)?;
        let by_device = |name: &String| table.data.iter().any(|field| field.read_only && field.name == *name);
        match entry.data.keys().find(|name| by_device(name)) {
            Some(field) => Err(invalid(format!("{}: {field} is the device's to write", table.name))),
            None => Ok((table, entry)),
        }
    }
}

fn no_transaction(table: &Table) -> Status {
    unserved(format!("{} takes part in no transaction: write it with CONTINUE_ON_ERROR", table.name))
}

/// Cells, a few at a time.
fn strides(cells: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = cells.end;
    cells.step_by(limits::STRIDE).map(move |from| from..end.min(from + limits::STRIDE))
}

/// Changes cells of arrays, a few under one lock.
fn each_stride(
    switch: &Mutex<Switch>,
    cells: Range<usize>,
    work: &mut u64,
    mut change: impl FnMut(&mut Switch, Range<usize>) -> Result<(), ControlError>,
) -> Result<(), Status> {
    limits::spend(work, cells.len() as u64)?;
    strides(cells).try_for_each(|part| change(&mut lock(switch), part).map_err(refused))
}

/// Installs checked groups in the switch.
fn replicate(switch: &mut Switch, changed: Vec<Changed>) -> Result<(), Status> {
    for (group, replicas) in changed {
        let exists = switch.has_multicast_group(group);
        match replicas {
            Some(replicas) => switch.put_multicast_group(group, replicas, exists),
            None if exists => switch.delete_multicast_group(group),
            None => Ok(()),
        }
        .map_err(refused)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_changed_a_few_under_one_lock_and_cost_work() {
        let (switch, mut work, mut seen) = (Mutex::new(Switch::new(1)), 1000, Vec::new());
        let done = each_stride(&switch, 5..1000, &mut work, |_, part| {
            seen.push(part);
            Ok(())
        });
        assert!(done.is_ok() && work == 5);
        assert!(seen.iter().all(|part| part.len() <= limits::STRIDE), "{seen:?}");
        assert_eq!(seen.into_iter().flatten().collect::<Vec<_>>(), (5..1000).collect::<Vec<_>>());
        let refused = each_stride(&switch, 0..6, &mut work, |_, _| panic!("the walk must not start"));
        assert_eq!(refused.map_err(|status| status.code()), Err(tonic::Code::ResourceExhausted));
    }
}
