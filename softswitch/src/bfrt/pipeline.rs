//! A program with what controllers wrote for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::bfrt_proto::{Entity, ForwardingPipelineConfig, TableEntry, TableUsage, entity};
use inart_bfruntime::{Entry, Info, Table};
use tonic::Status;

use super::multicast::{Changed, Multicast};
use super::ports::{PortChange, Ports};
use super::status::{misfit, refused, unknown, unserved};
use super::tables::{Kind, kind};
use super::verify::Verified;
use super::{arrays, rows};
use crate::server::limits;
use crate::{Program, Switch};

/// A program, the switch that runs it or shall, and the device's tables.
pub(super) struct Pipeline {
    pub info: Arc<Info>,
    pub config: ForwardingPipelineConfig,
    pub ports: Ports,
    pub(super) program: Arc<Program>,
    switch: Arc<Mutex<Switch>>,
    multicast: Multicast,
}

/// Lets packets wait while the switch is changed or read. A panic elsewhere leaves the switch usable: it
/// holds no lock over several steps.
pub(super) fn lock(switch: &Mutex<Switch>) -> MutexGuard<'_, Switch> {
    switch.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pipeline {
    /// A program on a switch of its own, without packets.
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

    /// The switch that it is written to.
    pub fn switch(&self) -> Arc<Mutex<Switch>> {
        self.switch.clone()
    }

    /// An entry in names, with its table.
    pub fn decode(&self, given: &TableEntry) -> Result<(Table, Entry), Status> {
        let table = self.info.table_by_id(given.table_id).map_err(unknown)?;
        let entry = self.info.decode(given).map_err(misfit)?;
        Ok((table.clone(), entry))
    }

    /// How the table is where an entry would change it, so that it can be put back.
    pub fn before(&self, switch: &Switch, given: &TableEntry) -> Result<rows::Before, Status> {
        let (table, entry) = self.decode(given)?;
        match kind(&table, &self.program) {
            Kind::Match(name) => rows::before(switch, name, &table, &entry),
            _ => Err(unserved(format!(
                "{} takes part in no transaction: write it with CONTINUE_ON_ERROR",
                table.name
            ))),
        }
    }

    /// Applies one update.
    pub fn write(
        &mut self,
        switch: &mut Switch,
        update: Type,
        given: &TableEntry,
    ) -> Result<Vec<PortChange>, Status> {
        let (table, entry) = self.decode(given)?;
        let written = |name: &String| table.data.iter().any(|field| field.read_only && field.name == *name);
        if let Some(field) = entry.data.keys().find(|name| written(name)) {
            return Err(super::status::invalid(format!("{}: {field} is the device's to write", table.name)));
        }
        let program = self.program.clone();
        match kind(&table, &program) {
            Kind::Match(name) => rows::write(switch, name, &table, update, &entry)?,
            Kind::Counter(name) => arrays::write_counters(switch, name, &table, update, &entry)?,
            Kind::Registers(names) => arrays::write_registers(switch, &names, &table, update, &entry)?,
            Kind::Groups => {
                let mut multicast = self.multicast.clone();
                let changed = multicast.write_group(update, &entry)?;
                self.replicate(switch, multicast, changed)?;
            }
            Kind::Nodes => {
                let mut multicast = self.multicast.clone();
                let changed = multicast.write_node(update, &entry)?;
                self.replicate(switch, multicast, changed)?;
            }
            Kind::Ports => {
                let changes = self.ports.write(update, &entry)?;
                switch.set_loopback(self.ports.loopback());
                return Ok(changes);
            }
            Kind::PortCounts => self.ports.write_counts(&table, update, &entry)?,
            Kind::FrontPorts => return Err(unserved(format!("{} is only read", table.name))),
            Kind::Unserved => return Err(unserved(format!("{} is not served here", table.name))),
        }
        Ok(Vec::new())
    }

    /// Tells the switch of groups; what it refuses is not kept.
    fn replicate(
        &mut self,
        switch: &mut Switch,
        multicast: Multicast,
        changed: Vec<Changed>,
    ) -> Result<(), Status> {
        for (group, replicas) in changed {
            let exists = switch.multicast_groups().any(|(present, _)| present == group);
            match replicas {
                Some(replicas) => switch.put_multicast_group(group, replicas, exists),
                None if exists => switch.delete_multicast_group(group),
                None => Ok(()),
            }
            .map_err(refused)?;
        }
        self.multicast = multicast;
        Ok(())
    }

    /// Reads what a filter selects.
    pub fn read(&self, filter: &Entity) -> Result<Vec<Entity>, Status> {
        match &filter.entity {
            Some(entity::Entity::TableEntry(entry)) => {
                let found = self.read_entries(entry)?.into_iter();
                found.map(|entry| Ok(self.info.encode_found(&entry).map_err(misfit)?.into())).collect()
            }
            Some(entity::Entity::TableUsage(usage)) => {
                let table = self.info.table_by_id(usage.table_id).map_err(unknown)?;
                let Kind::Match(name) = kind(table, &self.program) else {
                    return Err(unserved(format!("{} has no usage", table.name)));
                };
                let usage = lock(&self.switch).entry_count(name).map_err(refused)? as u32;
                let usage = TableUsage { table_id: table.id, usage, ..Default::default() };
                Ok(vec![Entity { entity: Some(entity::Entity::TableUsage(usage)) }])
            }
            Some(_) => Err(unserved("only table entries and usages are read here")),
            None => Err(super::status::invalid("the entity is not set")),
        }
    }

    fn read_entries(&self, given: &TableEntry) -> Result<Vec<Entry>, Status> {
        let (table, filter) = self.decode(given)?;
        let switch = || lock(&self.switch);
        match kind(&table, &self.program) {
            Kind::Match(name) if filter.is_default => {
                let (call, counter) = switch().default_action(name).map_err(refused)?;
                let found = call.map(|call| rows::found_default(&table, &call, counter));
                Ok(found.transpose()?.into_iter().collect())
            }
            Kind::Match(name) if filter.key.is_empty() => self.read_rows(name, &table),
            Kind::Match(name) => {
                let key = super::keys::to_switch(&table, &filter)?;
                let row = switch().entry(name, &key.matches, key.priority).map_err(refused)?;
                Ok(vec![rows::found(&table, &row)?])
            }
            Kind::Counter(name) => {
                let cells = arrays::cells(&table, &filter)?;
                arrays::read_counters(&switch(), name, &table, cells)
            }
            Kind::Registers(names) => {
                let cells = arrays::cells(&table, &filter)?;
                let mut found = Vec::with_capacity(cells.len());
                for from in cells.clone().step_by(limits::STRIDE) {
                    let part = from..cells.end.min(from + limits::STRIDE);
                    found.extend(arrays::read_registers(&mut switch(), &names, &table, part)?);
                }
                Ok(found)
            }
            Kind::Groups => Ok(self.multicast.groups(&filter)),
            Kind::Nodes => Ok(self.multicast.nodes(&filter)),
            Kind::Ports => self.ports.read(&filter),
            Kind::PortCounts => self.ports.read_counts(&filter),
            Kind::FrontPorts => self.ports.front.read(&filter),
            Kind::Unserved => Err(unserved(format!("{} is not served here", table.name))),
        }
    }

    /// Some rows at a time, so that packets do not wait for all. Nobody writes meanwhile.
    fn read_rows(&self, name: &str, table: &Table) -> Result<Vec<Entry>, Status> {
        let mut found = Vec::new();
        loop {
            let part: Vec<_> = {
                let switch = lock(&self.switch);
                let rows = switch.entries(name).map_err(refused)?;
                rows.skip(found.len()).take(limits::PAGE).collect()
            };
            if part.is_empty() {
                return Ok(found);
            }
            for row in &part {
                found.push(rows::found(table, row)?);
            }
        }
    }
}
