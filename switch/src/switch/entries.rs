//! Control of table entries and default actions.

use std::ops::Range;

use super::view::EntryView;
use super::{Loaded, Switch};
use crate::control::{
    ActionCall, ControlError, CounterValue, Entry, EntryAction, Match, MeterConfig, Result,
};
use crate::program::TableInfo;
use crate::tables::{MAX_ENTRIES, Profile};

fn view(row: &crate::tables::Row) -> EntryView {
    EntryView {
        entry: row.entry.clone(),
        counter: row.counter,
        meter: row.meter.config,
        last_hit_us: row.last_hit_us,
    }
}

impl Loaded {
    fn table_index(&self, name: &str) -> Result<usize> {
        let index = self.program.table_names.get(name).copied();
        index.ok_or_else(|| ControlError::NotFound(format!("the program has no table {name}")))
    }

    fn table(&self, name: &str) -> Result<(&TableInfo, &crate::tables::Table)> {
        let index = self.table_index(name)?;
        Ok((&self.program.tables[index], &self.tables.tables[index]))
    }
}

/// Refuses an entry that names members or groups that are not there.
fn check_profile(info: &TableInfo, profiles: &[Profile], entry: &Entry) -> Result<()> {
    let Some(profile) = info.profile_index.map(|index| &profiles[index]) else { return Ok(()) };
    let name = info.profile.as_deref().unwrap_or_default();
    match entry.action {
        EntryAction::Member(member) if !profile.members.contains_key(&member) => {
            Err(ControlError::NotFound(format!("{name} has no member {member}; insert it first")))
        }
        EntryAction::Group(group) if !profile.groups.contains_key(&group) => {
            Err(ControlError::NotFound(format!("{name} has no group {group}; insert it first")))
        }
        _ => Ok(()),
    }
}

impl Switch {
    /// Adds an entry to a table.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown or full, the entry does not fit it, or its key is there
    /// already.
    pub fn insert_entry(&mut self, table: &str, entry: Entry) -> Result<()> {
        let now_us = self.now_us;
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        let info = &loaded.program.tables[index];
        check_profile(info, &loaded.tables.profiles, &entry)?;
        if loaded.tables.entries >= MAX_ENTRIES {
            return Err(ControlError::ResourceExhausted(format!(
                "table {table}: all tables together hold {MAX_ENTRIES} entries; delete some"
            )));
        }
        let action = info.profile_index.map(|profile| (profile, entry.action.clone()));
        loaded.tables.tables[index].insert(&loaded.program, info, entry, now_us)?;
        loaded.tables.entries += 1;
        if let Some((profile, action)) = action {
            loaded.tables.profiles[profile].count_entry(&action, true);
        }
        Ok(())
    }

    /// Adds an entry of whole numbers, all of them matched exactly; without a key, sets the table's default
    /// action.
    ///
    /// # Errors
    /// As for [`Switch::insert_entry`] and [`Switch::set_default`].
    pub fn put_numbers(
        &mut self,
        table: &str,
        key: Option<&[u64]>,
        action: &str,
        params: &[u64],
    ) -> Result<()> {
        let bytes = |number: &u64| number.to_be_bytes().to_vec();
        let call = ActionCall { action: action.to_owned(), params: params.iter().map(bytes).collect() };
        match key {
            None => self.set_default(table, Some(call)),
            Some(key) => {
                let key = key.iter().map(|number| Match::Exact(bytes(number))).collect();
                self.insert_entry(table, Entry::new(key, 0, EntryAction::Call(call)))
            }
        }
    }

    /// Replaces the action of the entry with the same key and priority.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown, the entry does not fit it, or its key is not there.
    pub fn modify_entry(&mut self, table: &str, entry: Entry) -> Result<()> {
        let now_us = self.now_us;
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        let info = &loaded.program.tables[index];
        check_profile(info, &loaded.tables.profiles, &entry)?;
        let action = info.profile_index.map(|profile| (profile, entry.action.clone()));
        let before = loaded.tables.tables[index].modify(&loaded.program, info, entry, now_us)?;
        if let Some((profile, action)) = action {
            loaded.tables.profiles[profile].count_entry(&action, true);
            loaded.tables.profiles[profile].count_entry(&before, false);
        }
        Ok(())
    }

    /// Removes an entry.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown, or there is no such entry.
    pub fn delete_entry(&mut self, table: &str, key: &[Match], priority: i32) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        let info = &loaded.program.tables[index];
        let row = loaded.tables.tables[index].delete(info, key, priority)?;
        loaded.tables.entries -= 1;
        if let Some(profile) = info.profile_index {
            loaded.tables.profiles[profile].count_entry(&row.entry.action, false);
        }
        Ok(())
    }

    /// Returns one entry.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown, or there is no such entry.
    pub fn entry(&self, table: &str, key: &[Match], priority: i32) -> Result<EntryView> {
        let (info, table) = self.loaded()?.table(table)?;
        table.find(info, key, priority).map(view)
    }

    /// Returns the time at which an entry was last hit or written, in the switch's microseconds.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown, or there is no such entry.
    pub fn last_hit_us(&self, table: &str, key: &[Match], priority: i32) -> Result<u64> {
        let (info, table) = self.loaded()?.table(table)?;
        table.find(info, key, priority).map(|row| row.last_hit_us)
    }

    /// Returns all entries of a table, in no particular order.
    ///
    /// # Errors
    /// If no program is loaded, or the table is unknown.
    pub fn entries(&self, table: &str) -> Result<impl Iterator<Item = EntryView> + '_> {
        let (_, table) = self.loaded()?.table(table)?;
        Ok(table.rows().map(view))
    }

    /// Returns the places of entries of a table, some of which are empty. An entry keeps its place until it
    /// is deleted.
    pub(crate) fn entry_places(&self, table: &str) -> Result<usize> {
        self.loaded()?.table(table).map(|(_, table)| table.places())
    }

    /// Returns the entries at some places of a table.
    pub(crate) fn entries_at(&self, table: &str, places: Range<usize>) -> Result<Vec<EntryView>> {
        let (_, table) = self.loaded()?.table(table)?;
        Ok(table.rows_at(places).map(view).collect())
    }

    /// Number of entries of a table.
    ///
    /// # Errors
    /// If no program is loaded, or the table is unknown.
    pub fn entry_count(&self, table: &str) -> Result<usize> {
        self.loaded()?.table(table).map(|(_, table)| table.len())
    }

    /// Sets a table's default action; `None` restores the program's own.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown, its default is constant, or the action does not fit it.
    pub fn set_default(&mut self, table: &str, call: Option<ActionCall>) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        loaded.tables.tables[index].set_default(&loaded.program, &loaded.program.tables[index], call)
    }

    /// Returns a table's default action, if it has one, and the packets that took it (tables with counters).
    ///
    /// # Errors
    /// If no program is loaded, or the table is unknown.
    pub fn default_action(&self, table: &str) -> Result<(Option<ActionCall>, CounterValue)> {
        let (_, table) = self.loaded()?.table(table)?;
        Ok((table.default.as_ref().map(|call| call.given.clone()), table.default_counter))
    }

    /// Sets an entry's direct counter.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown or has no direct counter, or there is no such entry.
    pub fn set_direct_counter(
        &mut self,
        table: &str,
        key: &[Match],
        priority: i32,
        value: CounterValue,
    ) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        let info = &loaded.program.tables[index];
        if !info.direct_counter {
            return Err(ControlError::InvalidArgument(format!("table {table} has no direct counter")));
        }
        loaded.tables.tables[index].find_mut(info, key, priority)?.counter = value;
        Ok(())
    }

    /// Sets an entry's direct meter; `None` takes the configuration away.
    ///
    /// # Errors
    /// If no program is loaded, the table is unknown or has no direct meter, or there is no such entry.
    pub fn set_direct_meter(
        &mut self,
        table: &str,
        key: &[Match],
        priority: i32,
        config: Option<MeterConfig>,
    ) -> Result<()> {
        let loaded = self.loaded_mut()?;
        let index = loaded.table_index(table)?;
        let info = &loaded.program.tables[index];
        if !info.direct_meter {
            return Err(ControlError::InvalidArgument(format!("table {table} has no direct meter")));
        }
        loaded.tables.tables[index].find_mut(info, key, priority)?.meter.configure(config);
        Ok(())
    }

    /// Returns the entries whose idle timeout has passed at `now_us`.
    ///
    /// # Errors
    /// Returns an error if no program is loaded, or the table is unknown.
    pub fn idle_entries(&self, table: &str, now_us: u64) -> Result<Vec<Entry>> {
        let (_, table) = self.loaded()?.table(table)?;
        let idle = table.rows().filter(|row| {
            let timeout = row.entry.idle_timeout_us;
            timeout != 0 && now_us.saturating_sub(row.last_hit_us) >= timeout
        });
        Ok(idle.map(|row| row.entry.clone()).collect())
    }
}
