//! Reads of table entries, the entries that the program declares, and entries that went idle.

use inart_p4runtime::p4::config::v1::{Table, table::IdleTimeoutBehavior};
use inart_p4runtime::p4::v1::table_entry::IdleTimeout;
use inart_p4runtime::p4::v1::{IdleTimeoutNotification, TableEntry, table_action};
use tonic::Status;

use super::actions;
use super::check::{invalid, known};
use super::matches::{self, Key};
use super::pipeline::Pipeline;
use super::plane::Row;
use super::tables::{Stored, check_timeouts, store_key};
use crate::control::EntryAction;

impl Pipeline {
    /// Whether packets can meet a table: p4c leaves others out of the device's program.
    pub(super) fn runs(&self, table: &Table) -> bool {
        self.plane.lock().program().is_some_and(|program| program.table(table.full_name()).is_some())
    }

    /// Takes over the entries that the program itself declares.
    pub(super) fn adopt_initial_entries(&mut self) -> Result<(), Status> {
        let schema = self.schema.clone();
        for table in &schema.info().tables {
            if !self.runs(table) {
                continue;
            }
            let initial: Vec<_> = self.plane.lock().entries(table.full_name())?.collect();
            for view in initial {
                let EntryAction::Call(call) = &view.entry.action else { continue };
                let fields = matches::fields(&table.match_fields, &view.entry.key);
                let priority = view.entry.priority;
                let entry = TableEntry {
                    table_id: table.id(),
                    r#match: fields.clone(),
                    action: Some(actions::message(&schema, call)?.into()),
                    priority,
                    is_const: table.is_const_table,
                    ..Default::default()
                };
                let store_key = store_key(&fields, priority);
                let key = Key { fields, matches: view.entry.key };
                let stored = Stored { entry, key, touched_us: self.clock.now_us() };
                self.tables.entry(table.id()).or_default().by_key.insert(store_key, stored);
            }
        }
        Ok(())
    }

    /// Reads the entries that a filter selects.
    pub(super) fn read_table(&self, filter: &TableEntry) -> Result<Vec<TableEntry>, Status> {
        let schema = self.schema.clone();
        if filter.table_id == 0 {
            if !filter.r#match.is_empty() || filter.action.is_some() || filter.priority != 0 {
                return Err(invalid(
                    "entries are selected by match, action or priority in a given table only",
                ));
            }
            let tables = schema.info().tables.iter();
            let each =
                tables.map(|table| self.read_table(&TableEntry { table_id: table.id(), ..filter.clone() }));
            return Ok(each.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let table = known(schema.table_by_id(filter.table_id))?;
        if !self.runs(table) {
            return Ok(Vec::new());
        }
        check_timeouts(table, filter)?;
        if filter.is_default_action {
            let mut entry = self.default_entry(table)?;
            self.read_direct(table, None, filter, &mut entry)?;
            return Ok(vec![entry]);
        }
        let mut found = Vec::new();
        for stored in self.select(table, filter)? {
            let mut entry = stored.entry.clone();
            let row = Row { table: table.full_name(), key: &stored.key.matches, priority: entry.priority };
            self.read_direct(table, Some(row), filter, &mut entry)?;
            if filter.time_since_last_hit.is_some() {
                let elapsed_ns = self.idle_us(table, stored)?.saturating_mul(1000);
                let elapsed_ns = i64::try_from(elapsed_ns).unwrap_or(i64::MAX);
                entry.time_since_last_hit = Some(IdleTimeout { elapsed_ns });
            }
            found.push(entry);
        }
        Ok(found)
    }

    fn select(&self, table: &Table, filter: &TableEntry) -> Result<Vec<&Stored>, Status> {
        let Some(entries) = self.tables.get(&table.id()) else { return Ok(Vec::new()) };
        let action = match filter.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            None => None,
            Some(table_action::Type::Action(action)) => Some(action.action_id),
            Some(_) => return Err(invalid("entries can be selected by action, not by member or group")),
        };
        let fields = match filter.r#match.as_slice() {
            [] => None,
            given => Some(
                matches::key(&format!("table {}", table.short_name()), &table.match_fields, given)?.fields,
            ),
        };
        // The whole key names one entry: no need to look at the others.
        if let Some(fields) = &fields
            && (filter.priority != 0 || !table.has_priority())
        {
            let stored = entries.by_key.get(&store_key(fields, filter.priority));
            return Ok(stored.filter(|stored| keeps(stored, filter, action)).into_iter().collect());
        }
        let wanted = |stored: &&Stored| {
            fields.as_ref().is_none_or(|fields| *fields == stored.entry.r#match)
                && (filter.priority == 0 || filter.priority == stored.entry.priority)
                && keeps(stored, filter, action)
        };
        Ok(entries.by_key.values().filter(wanted).collect())
    }

    fn default_entry(&self, table: &Table) -> Result<TableEntry, Status> {
        if let Some(entry) = self.tables.get(&table.id()).and_then(|entries| entries.default.clone()) {
            return Ok(entry);
        }
        let (action, _) = self.plane.lock().default_action(table.full_name())?;
        // An action that P4Info does not name is one that p4c made up; it shows as none.
        let action = action.and_then(|call| actions::message(&self.schema, &call).ok());
        Ok(TableEntry {
            table_id: table.id(),
            action: action.filter(|_| table.implementation_id == 0).map(Into::into),
            is_default_action: true,
            is_const: table.const_default_action_id != 0,
            ..Default::default()
        })
    }

    fn idle_us(&self, table: &Table, stored: &Stored) -> Result<u64, Status> {
        let hit = self
            .plane
            .lock()
            .entry(table.full_name(), &stored.key.matches, stored.entry.priority)?
            .last_hit_us;
        Ok(self.clock.now_us().saturating_sub(hit.max(stored.touched_us)))
    }

    /// The entries that have been idle for their timeout, and starts their timers anew.
    pub(super) fn idle_entries(&mut self) -> Option<IdleTimeoutNotification> {
        let schema = self.schema.clone();
        let now_us = self.clock.now_us();
        let mut idle = Vec::new();
        let timed = |table: &&Table| table.idle_timeout_behavior() == IdleTimeoutBehavior::NotifyControl;
        for table in schema.info().tables.iter().filter(timed) {
            let Some(entries) = self.tables.get_mut(&table.id()) else { continue };
            let switch = self.plane.lock();
            for stored in entries.by_key.values_mut().filter(|stored| stored.entry.idle_timeout_ns > 0) {
                let row = switch.entry(table.full_name(), &stored.key.matches, stored.entry.priority);
                let hit_us = row.map_or(now_us, |view| view.last_hit_us).max(stored.touched_us);
                let timeout_us = (stored.entry.idle_timeout_ns as u64).div_ceil(1000);
                if now_us.saturating_sub(hit_us) >= timeout_us {
                    stored.touched_us = now_us;
                    idle.push(stored.entry.clone());
                }
            }
        }
        let timestamp = super::clock::epoch_ns();
        (!idle.is_empty()).then_some(IdleTimeoutNotification { table_entry: idle, timestamp })
    }
}

/// Whether an entry passes the filters that do not concern its key.
#[allow(deprecated)]
fn keeps(stored: &Stored, filter: &TableEntry, action: Option<u32>) -> bool {
    let entry = &stored.entry;
    let runs = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
        Some(table_action::Type::Action(action)) => Some(action.action_id),
        _ => None,
    };
    (action.is_none() || action == runs)
        && (filter.controller_metadata == 0 || filter.controller_metadata == entry.controller_metadata)
        && (filter.metadata.is_empty() || filter.metadata == entry.metadata)
}
