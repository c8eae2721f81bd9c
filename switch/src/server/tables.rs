//! Writes of table entries.

use inart_p4runtime::p4::config::v1::{Table, table::IdleTimeoutBehavior};
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{
    self, Action, ActionProfileActionSet, TableAction, TableEntry, action_profile_action::WatchKind,
    table_action,
};
use tonic::Status;

use super::actions::{self, Place};
use super::arrays;
use super::check::{existence, invalid, known, unsigned};
use super::entries::{Stored, store_key};
use super::limits::{self, at_most};
use super::matches::{self, Key};
use super::pipeline::Pipeline;
use super::plane::Row;
use super::profile_use::Share;
use crate::control::{ActionCall, Entry, EntryAction};

fn entries_are_const(table: &Table) -> Status {
    Status::permission_denied(format!("table {}: the program declares its entries const", table.short_name()))
}

impl Pipeline {
    /// Applies one update to a table.
    pub(super) fn write_table(&mut self, kind: Type, given: &TableEntry) -> Result<(), Status> {
        let schema = self.schema.clone();
        let table = known(schema.table_by_id(given.table_id))?;
        let name = table.short_name();
        if !self.runs(table) {
            return Err(Status::failed_precondition(format!(
                "table {name} is not in the device's program: p4c left it out, since no packet reaches it"
            )));
        }
        if given.is_const {
            return Err(invalid(format!("table {name}: is_const cannot be written")));
        }
        if kind != Type::Delete {
            if given.time_since_last_hit.is_some() {
                return Err(invalid(format!("table {name}: time_since_last_hit cannot be written")));
            }
            check_timeouts(table, given)?;
            let hint = "keep less with an entry";
            at_most(given.metadata.len(), limits::METADATA_BYTES, "bytes of metadata", hint)?;
            arrays::check_direct(&schema, table, given)?;
        }
        if given.is_default_action {
            return self.write_default(table, kind, given);
        }
        if table.match_fields.is_empty() {
            return Err(invalid(format!("table {name} has no key: it has a default entry only")));
        }
        let key = self.key(table, given)?;
        if table.is_const_table && (kind != Type::Modify || given.action.is_some()) {
            return Err(entries_are_const(table));
        }
        let store_key = store_key(&key.fields, given.priority);
        let held = self.tables.get(&given.table_id).and_then(|entries| entries.by_key.get(&store_key));
        existence(kind, held.is_some(), || format!("entry with this key and priority in table {name}"))?;
        if kind == Type::Delete {
            return self.delete_row(table, &key, &store_key, given.priority);
        }
        let row = Row { table: table.full_name(), key: &key.matches, priority: given.priority };
        if !table.is_const_table {
            let before = held.and_then(|held| held.entry.action.clone());
            let action = given.action.as_ref().or(before.as_ref());
            let action = action.ok_or_else(|| invalid(format!("table {name}: the entry has no action")))?;
            let (canonical, action) = self.table_action(table, action)?;
            let profile = schema.action_profile_by_id(table.implementation_id).ok();
            let shares = profile.map(|profile| {
                let share = |action: Option<&TableAction>| {
                    action.map(|action| Share::of_entry(profile, action)).unwrap_or_default()
                };
                (profile, share(before.as_ref()), share(Some(&canonical)))
            });
            if let Some((profile, before, after)) = shares {
                self.profile_use.check(profile, before, after)?;
            }
            let stored = TableEntry {
                r#match: key.fields.clone(),
                action: Some(canonical),
                idle_timeout_ns: given.idle_timeout_ns,
                ..kept(given)
            };
            self.room.check(held.map(|held| &held.entry), &stored)?;
            let entry = Entry {
                key: key.matches.clone(),
                priority: given.priority,
                action,
                idle_timeout_us: unsigned(given.idle_timeout_ns, || "idle timeout".to_owned())?
                    .div_ceil(1000),
                metadata: Vec::new(),
            };
            match kind {
                Type::Insert => self.plane.lock().insert_entry(table.full_name(), entry)?,
                _ => self.plane.lock().modify_entry(table.full_name(), entry)?,
            }
            self.store(table.id(), store_key, key.clone(), stored);
            if let Some((profile, before, after)) = shares {
                self.profile_use.count(profile.id(), before, after);
            }
        }
        // All reasons to reject were checked before the entry was written.
        self.write_direct(table, row, given)
    }

    /// Keeps an entry as the controller wrote it.
    fn store(&mut self, table: u32, store_key: Vec<u8>, key: Key, entry: TableEntry) {
        let stored = Stored { entry, key, touched_us: self.clock.now_us(), look_us: None }.scheduled();
        let entries = &mut self.tables.entry(table).or_default().by_key;
        let before = entries.get(&store_key);
        self.idle.replace(table, &store_key, before, Some(&stored));
        self.room.count(before.map(|before| &before.entry), Some(&stored.entry));
        entries.insert(store_key, stored);
    }

    fn delete_row(
        &mut self,
        table: &Table,
        key: &Key,
        store_key: &[u8],
        priority: i32,
    ) -> Result<(), Status> {
        self.plane.lock().delete_entry(table.full_name(), &key.matches, priority)?;
        let removed = self.tables.entry(table.id()).or_default().by_key.remove(store_key);
        self.idle.replace(table.id(), store_key, removed.as_ref(), None);
        self.room.count(removed.as_ref().map(|removed| &removed.entry), None);
        let profile = self.schema.action_profile_by_id(table.implementation_id);
        if let (Some(action), Ok(profile)) = (removed.and_then(|removed| removed.entry.action), profile) {
            let share = Share::of_entry(profile, &action);
            self.profile_use.count(profile.id(), share, Share::default());
        }
        Ok(())
    }

    fn write_default(&mut self, table: &Table, kind: Type, given: &TableEntry) -> Result<(), Status> {
        let name = table.short_name();
        if kind != Type::Modify {
            return Err(invalid(format!(
                "the default entry of table {name} always exists: it can only be modified"
            )));
        }
        if !given.r#match.is_empty() || given.priority != 0 {
            return Err(invalid(format!(
                "table {name}: the default entry has neither matches nor a priority"
            )));
        }
        if table.const_default_action_id != 0 {
            return Err(Status::permission_denied(format!("table {name}: its default action is const")));
        }
        if table.implementation_id != 0 {
            return Err(Status::permission_denied(format!(
                "table {name}: the default entry of a table with an action profile cannot be changed"
            )));
        }
        if given.counter_data.is_some() || given.meter_config.is_some() {
            return Err(Status::unimplemented(format!(
                "table {name}: the default entry's counter can only be read, and it has no meter"
            )));
        }
        let default = match given.action.as_ref().map(|action| &action.r#type) {
            None => {
                self.plane.lock().set_default(table.full_name(), None)?;
                None
            }
            Some(Some(table_action::Type::Action(action))) => {
                actions::allowed(&self.schema, table, action.action_id, Place::Default)?;
                let (canonical, call) = actions::call(&self.schema, action)?;
                self.plane.lock().set_default(table.full_name(), Some(call))?;
                Some(TableEntry { action: Some(canonical.into()), is_default_action: true, ..kept(given) })
            }
            Some(_) => return Err(invalid(format!("table {name}: the default entry needs an action"))),
        };
        self.tables.entry(given.table_id).or_default().default = default;
        Ok(())
    }

    /// Returns a table's key, with the priority that it calls for.
    pub(super) fn key(&self, table: &Table, given: &TableEntry) -> Result<Key, Status> {
        let name = table.short_name();
        match table.has_priority() {
            true if given.priority <= 0 => Err(invalid(format!(
                "table {name} has ternary, range or optional fields: its entries need a priority of 1 or more"
            ))),
            false if given.priority != 0 => Err(invalid(format!(
                "table {name} has no ternary, range or optional field: its entries have no priority"
            ))),
            _ => matches::key(&format!("table {name}"), &table.match_fields, &given.r#match),
        }
    }

    /// Returns the key of the entry that a direct counter or meter belongs to.
    pub(super) fn direct_key(&self, table: &Table, given: &TableEntry) -> Result<Key, Status> {
        if given.is_default_action {
            return Err(Status::unimplemented(format!(
                "table {}: the default entry's counter can only be read, and it has no meter",
                table.short_name()
            )));
        }
        let key = self.key(table, given)?;
        let store_key = store_key(&key.fields, given.priority);
        match self.tables.get(&table.id()).is_some_and(|entries| entries.by_key.contains_key(&store_key)) {
            true => Ok(key),
            false => Err(Status::not_found(format!(
                "there is no entry with this key and priority in table {}",
                table.short_name()
            ))),
        }
    }

    fn table_action(&self, table: &Table, given: &TableAction) -> Result<(TableAction, EntryAction), Status> {
        let name = table.short_name();
        let kind =
            given.r#type.as_ref().ok_or_else(|| invalid(format!("table {name}: the action is not set")))?;
        let id = table.implementation_id;
        let selector = self.schema.action_profile_by_id(id).is_ok_and(|profile| profile.with_selector);
        let missing =
            |what: &str, id: u32| Status::not_found(format!("table {name}: there is no {what} {id}"));
        let (canonical, action) = match kind {
            table_action::Type::Action(action) if id == 0 => {
                let (canonical, call) = self.entry_action(table, action)?;
                (table_action::Type::Action(canonical), EntryAction::Call(call))
            }
            table_action::Type::ActionProfileMemberId(member) if id != 0 => {
                if !self.members.contains_key(&(id, *member)) {
                    return Err(missing("member", *member));
                }
                (kind.clone(), EntryAction::Member(*member))
            }
            table_action::Type::ActionProfileGroupId(group) if selector => {
                if !self.groups.contains_key(&(id, *group)) {
                    return Err(missing("group", *group));
                }
                (kind.clone(), EntryAction::Group(*group))
            }
            table_action::Type::ActionProfileActionSet(set) if selector => self.one_shot(table, set)?,
            _ => {
                let right = match (id, selector) {
                    (0, _) => "an action",
                    (_, true) => "a member, a group or an action set",
                    _ => "a member",
                };
                return Err(invalid(format!("table {name}: its entries need {right}")));
            }
        };
        Ok((canonical.into(), action))
    }

    fn entry_action(&self, table: &Table, action: &Action) -> Result<(Action, ActionCall), Status> {
        actions::allowed(&self.schema, table, action.action_id, Place::Entry)?;
        actions::call(&self.schema, action)
    }

    fn one_shot(
        &self,
        table: &Table,
        set: &ActionProfileActionSet,
    ) -> Result<(table_action::Type, EntryAction), Status> {
        let profile = known(self.schema.action_profile_by_id(table.implementation_id))?;
        let place = || format!("table {}, action set", table.short_name());
        if set.action_profile_actions.is_empty() {
            return Err(invalid(format!("{} is empty", place())));
        }
        let mut canonical = ActionProfileActionSet::default();
        let mut calls = Vec::with_capacity(set.action_profile_actions.len());
        for one in &set.action_profile_actions {
            if matches!(&one.watch_kind, Some(WatchKind::WatchPort(port)) if !port.is_empty()) {
                return Err(Status::unimplemented(format!("{}: this switch has no watch ports", place())));
            }
            let weight = u32::try_from(one.weight).ok().filter(|&weight| weight > 0);
            let weight =
                weight.ok_or_else(|| invalid(format!("{}: weight {} is below 1", place(), one.weight)))?;
            let action = one.action.as_ref().ok_or_else(|| invalid(format!("{}: no action", place())))?;
            let (action, call) = self.entry_action(table, action)?;
            calls.push((call, weight));
            let one = v1::ActionProfileAction { action: Some(action), ..one.clone() };
            canonical.action_profile_actions.push(one);
        }
        super::profiles::check_size(profile, calls.iter().map(|(_, weight)| *weight), profile.max_group_size)
            .map_err(invalid)?;
        Ok((table_action::Type::ActionProfileActionSet(canonical), EntryAction::OneShot(calls)))
    }
}

/// Fields that the switch stores for the controller without using them, and the entry's place.
#[allow(deprecated)]
fn kept(given: &TableEntry) -> TableEntry {
    TableEntry {
        table_id: given.table_id,
        priority: given.priority,
        controller_metadata: given.controller_metadata,
        metadata: given.metadata.clone(),
        ..Default::default()
    }
}

/// Refuses idle timeouts where the table or entry has none.
pub(super) fn check_timeouts(table: &Table, given: &TableEntry) -> Result<(), Status> {
    let name = table.short_name();
    let timed = given.idle_timeout_ns != 0 || given.time_since_last_hit.is_some();
    if timed && table.idle_timeout_behavior() != IdleTimeoutBehavior::NotifyControl {
        return Err(invalid(format!("table {name} has no idle timeout: the program does not ask for it")));
    }
    if timed && given.is_default_action {
        return Err(invalid(format!("table {name}: the default entry has no idle timeout")));
    }
    unsigned(given.idle_timeout_ns, || format!("table {name}, idle timeout")).map(|_| ())
}
