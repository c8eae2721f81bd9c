//! Reads of table entries, the entries that the program declares.

use std::ops::Bound;

use inart_p4runtime::p4::config::v1::Table;
use inart_p4runtime::p4::v1::table_entry::IdleTimeout;
use inart_p4runtime::p4::v1::{Entity, FieldMatch, TableEntry, table_action};
use tonic::Status;

use super::actions;
use super::check::{invalid, known};
use super::entries::{Stored, store_key};
use super::matches::{self, Key};
use super::page::{Page, Position};
use super::pipeline::Pipeline;
use super::plane::Row;
use super::tables::check_timeouts;
use crate::control::EntryAction;

impl Pipeline {
    /// Returns whether packets can meet a table: p4c leaves others out of the device's program.
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
                let stored = Stored { entry, key, touched_us: self.clock.now_us(), look_us: None };
                self.room.count(None, Some(&stored.entry));
                self.tables.entry(table.id()).or_default().by_key.insert(store_key, stored);
            }
        }
        Ok(())
    }

    /// Reads the entries that a filter selects.
    pub(super) fn read_table(
        &self,
        filter: &TableEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let tables: Vec<_> = match filter.table_id {
            0 if !filter.r#match.is_empty() || filter.action.is_some() || filter.priority != 0 => {
                return Err(invalid(
                    "entries are selected by match, action or priority in a given table only",
                ));
            }
            0 => self.schema.info().tables.iter().collect(),
            id => vec![known(self.schema.table_by_id(id))?],
        };
        self.read_tables(&tables, filter, at, page, Into::into)
    }

    /// Reads the entries of some tables that a filter selects, each as the entity that it makes.
    pub(super) fn read_tables(
        &self,
        tables: &[&Table],
        filter: &TableEntry,
        at: Position,
        page: &mut Page,
        entity: impl Fn(TableEntry) -> Entity,
    ) -> Result<Option<Position>, Status> {
        let (mut index, mut after) = at.row();
        while let Some(table) = tables.get(index) {
            if page.is_full() {
                return Ok(Some(Position::Row(index, after)));
            }
            let filter = TableEntry { table_id: table.id(), ..filter.clone() };
            if let Some(last) = self.read_rows(table, &filter, after.take(), page, &entity)? {
                return Ok(Some(Position::Row(index, Some(last))));
            }
            index += 1;
        }
        Ok(None)
    }

    /// Reads one table after a key; gives the last key when there may be more.
    fn read_rows(
        &self,
        table: &Table,
        filter: &TableEntry,
        after: Option<Vec<u8>>,
        page: &mut Page,
        entity: impl Fn(TableEntry) -> Entity,
    ) -> Result<Option<Vec<u8>>, Status> {
        page.look(1);
        if !self.runs(table) {
            return Ok(None);
        }
        check_timeouts(table, filter)?;
        if filter.is_default_action {
            let mut entry = self.default_entry(table)?;
            self.read_direct(table, None, filter, &mut entry)?;
            page.push(entity(entry));
            return Ok(None);
        }
        let selection = Selection::new(table, filter)?;
        let Some(entries) = self.tables.get(&table.id()) else { return Ok(None) };
        if let Some(key) = selection.key(table) {
            // The whole key names one entry: no need to look at the others.
            if let Some(stored) = entries.by_key.get(&key).filter(|stored| selection.takes(stored)) {
                page.push(entity(self.row(table, stored, filter)?));
            }
            return Ok(None);
        }
        let mut last = None;
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        for (key, stored) in entries.by_key.range((from, Bound::Unbounded)) {
            if let Some(last) = last.filter(|_| page.is_full()) {
                return Ok(Some(Vec::clone(last)));
            }
            page.look(1);
            if selection.takes(stored) {
                page.push(entity(self.row(table, stored, filter)?));
            }
            last = Some(key);
        }
        Ok(None)
    }

    /// Returns an entry with the requested direct resources and time.
    pub(super) fn row(
        &self,
        table: &Table,
        stored: &Stored,
        filter: &TableEntry,
    ) -> Result<TableEntry, Status> {
        let mut entry = stored.entry.clone();
        let row = Row { table: table.full_name(), key: &stored.key.matches, priority: entry.priority };
        self.read_direct(table, Some(row), filter, &mut entry)?;
        if filter.time_since_last_hit.is_some() {
            let elapsed_ns = self.idle_us(table, stored)?.saturating_mul(1000);
            let elapsed_ns = i64::try_from(elapsed_ns).unwrap_or(i64::MAX);
            entry.time_since_last_hit = Some(IdleTimeout { elapsed_ns });
        }
        Ok(entry)
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
        let matches = &stored.key.matches;
        let hit = self.plane.lock().last_hit_us(table.full_name(), matches, stored.entry.priority)?;
        Ok(self.clock.now_us().saturating_sub(hit.max(stored.touched_us)))
    }
}

/// Selection of a table's entries by a filter.
struct Selection<'a> {
    filter: &'a TableEntry,
    fields: Option<Vec<FieldMatch>>,
    action: Option<u32>,
}

impl<'a> Selection<'a> {
    fn new(table: &Table, filter: &'a TableEntry) -> Result<Self, Status> {
        let action = match filter.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            None => None,
            Some(table_action::Type::Action(action)) => Some(action.action_id),
            Some(_) => return Err(invalid("entries can be selected by action, not by member or group")),
        };
        let place = format!("table {}", table.short_name());
        let fields = match filter.r#match.as_slice() {
            [] => None,
            given => Some(matches::key(&place, &table.match_fields, given)?.fields),
        };
        Ok(Self { filter, fields, action })
    }

    /// Returns the key of the one entry that is selected, if it is one.
    fn key(&self, table: &Table) -> Option<Vec<u8>> {
        let whole = self.filter.priority != 0 || !table.has_priority();
        self.fields.as_ref().filter(|_| whole).map(|fields| store_key(fields, self.filter.priority))
    }

    #[allow(deprecated)]
    fn takes(&self, stored: &Stored) -> bool {
        let (entry, filter) = (&stored.entry, self.filter);
        let runs = match entry.action.as_ref().and_then(|action| action.r#type.as_ref()) {
            Some(table_action::Type::Action(action)) => Some(action.action_id),
            _ => None,
        };
        self.fields.as_ref().is_none_or(|fields| *fields == entry.r#match)
            && (filter.priority == 0 || filter.priority == entry.priority)
            && (self.action.is_none() || self.action == runs)
            && (filter.controller_metadata == 0 || filter.controller_metadata == entry.controller_metadata)
            && (filter.metadata.is_empty() || filter.metadata == entry.metadata)
    }
}
