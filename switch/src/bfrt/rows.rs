//! Entries of match-action tables: written, read, and put back as they were.

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Table, Value};
use tonic::Status;

use super::keys::{self, Key, number};
use super::status::{invalid, refused, unserved};
use super::tables::same;
use crate::control::{ActionCall, CounterValue, Entry as Row, EntryAction};
use crate::{EntryView, Switch};

const PACKETS: &str = "$COUNTER_SPEC_PKTS";
const BYTES: &str = "$COUNTER_SPEC_BYTES";

/// State of a table before a batch, where the batch changes it.
#[derive(Debug)]
pub(super) enum Before {
    Row { table: String, key: Key, row: Option<EntryView> },
    Default { table: String, call: Option<ActionCall> },
    All { table: String, rows: Vec<EntryView> },
}

/// Returns the state of the table where this update would change it.
pub(super) fn before(switch: &Switch, name: &str, table: &Table, entry: &Entry) -> Result<Before, Status> {
    let name = name.to_owned();
    if entry.is_default {
        let call = switch.default_action(&name).map_err(refused)?.0;
        return Ok(Before::Default { table: name, call });
    }
    if entry.key.is_empty() && !table.key.is_empty() {
        let rows = switch.entries(&name).map_err(refused)?.collect();
        return Ok(Before::All { table: name, rows });
    }
    let key = keys::to_switch(table, entry)?;
    let row = switch.entry(&name, &key.matches, key.priority).ok();
    Ok(Before::Row { table: name, key, row })
}

impl Before {
    /// Puts it back.
    pub fn restore(self, switch: &mut Switch) -> Result<(), Status> {
        match self {
            Before::Default { table, call } => switch.set_default(&table, call).map_err(refused),
            Before::All { table, rows } => {
                clear(switch, &table)?;
                rows.into_iter().try_for_each(|row| put(switch, &table, row))
            }
            Before::Row { table, key, row } => {
                if switch.entry(&table, &key.matches, key.priority).is_ok() {
                    switch.delete_entry(&table, &key.matches, key.priority).map_err(refused)?;
                }
                row.map_or(Ok(()), |row| put(switch, &table, row))
            }
        }
    }
}

fn put(switch: &mut Switch, table: &str, row: EntryView) -> Result<(), Status> {
    let (key, priority) = (row.entry.key.clone(), row.entry.priority);
    switch.insert_entry(table, row.entry).map_err(refused)?;
    if row.counter != CounterValue::default() {
        switch.set_direct_counter(table, &key, priority, row.counter).map_err(refused)?;
    }
    Ok(())
}

fn clear(switch: &mut Switch, table: &str) -> Result<(), Status> {
    let rows: Vec<EntryView> = switch.entries(table).map_err(refused)?.collect();
    for row in rows {
        switch.delete_entry(table, &row.entry.key, row.entry.priority).map_err(refused)?;
    }
    Ok(())
}

/// Applies an update of an entry, of the default entry, or (a delete without a key) of all entries.
pub(super) fn write(
    switch: &mut Switch,
    name: &str,
    table: &Table,
    kind: Type,
    entry: &Entry,
) -> Result<(), Status> {
    if entry.is_default {
        return match kind {
            Type::Modify => {
                let call = call(switch, table, entry)?;
                switch.set_default(name, Some(call)).map_err(refused)
            }
            Type::Delete => switch.set_default(name, None).map_err(refused),
            _ => Err(unserved("a default entry is always there: modify it, or delete it to reset it")),
        };
    }
    if entry.key.is_empty() && !table.key.is_empty() {
        return match kind {
            Type::Delete => clear(switch, name),
            _ => Err(invalid(format!("table {name}: the entry has no key"))),
        };
    }
    let key = keys::to_switch(table, entry)?;
    let exists = switch.entry(name, &key.matches, key.priority).is_ok();
    match kind {
        Type::Delete => return switch.delete_entry(name, &key.matches, key.priority).map_err(refused),
        Type::Insert => insert(switch, name, table, entry, &key)?,
        Type::Modify => modify(switch, name, table, entry, &key)?,
        Type::InsertOrModify if exists => modify(switch, name, table, entry, &key)?,
        Type::InsertOrModify => insert(switch, name, table, entry, &key)?,
        Type::Unspecified => return Err(invalid("the update's type is not set")),
        Type::ModifyInc | Type::Reset => {
            return Err(unserved(format!("table {name}: {} is not served", kind.as_str_name())));
        }
    }
    match counts(entry) {
        Some(counts) => switch.set_direct_counter(name, &key.matches, key.priority, counts).map_err(refused),
        None => Ok(()),
    }
}

fn insert(switch: &mut Switch, name: &str, table: &Table, entry: &Entry, key: &Key) -> Result<(), Status> {
    let action = EntryAction::Call(call(switch, table, entry)?);
    switch.insert_entry(name, Row::new(key.matches.clone(), key.priority, action)).map_err(refused)
}

/// Without an action only the counter changes.
fn modify(switch: &mut Switch, name: &str, table: &Table, entry: &Entry, key: &Key) -> Result<(), Status> {
    if entry.action.is_none() && counts(entry).is_some() {
        return Ok(());
    }
    let action = EntryAction::Call(call(switch, table, entry)?);
    switch.modify_entry(name, Row::new(key.matches.clone(), key.priority, action)).map_err(refused)
}

/// Returns the counter's value, if the entry sets one.
pub(super) fn counts(entry: &Entry) -> Option<CounterValue> {
    let part = |name| entry.number(name);
    let (packets, bytes) = (part(PACKETS), part(BYTES));
    (packets.is_some() || bytes.is_some())
        .then(|| CounterValue { packets: packets.unwrap_or(0), bytes: bytes.unwrap_or(0) })
}

/// Adds the counter's values to an entry of a table that counts.
pub(super) fn with_counts(table: &Table, mut entry: Entry, counts: CounterValue) -> Entry {
    for (name, value) in [(PACKETS, counts.packets), (BYTES, counts.bytes)] {
        if table.data.iter().any(|field| field.name == name) {
            entry = entry.with(name, value);
        }
    }
    entry
}

/// Returns the action with its parameters in order.
fn call(switch: &Switch, table: &Table, entry: &Entry) -> Result<ActionCall, Status> {
    let place = || format!("table {}", table.name);
    let given =
        entry.action.as_deref().ok_or_else(|| invalid(format!("{}: the entry has no action", place())))?;
    let action = table.action(given).map_err(super::status::unknown)?;
    if action.default_only && !entry.is_default {
        return Err(invalid(format!("{}: only the default entry may have action {given}", place())));
    }
    let all = switch.program().map(|program| program.actions()).unwrap_or_default();
    let full = same(all.iter().map(|info| info.name.as_str()), &action.name);
    let full = full.ok_or_else(|| invalid(format!("{}: the binary has no action {given}", place())))?;
    let params = action.params.iter().map(|param| match entry.data.get(&param.name) {
        Some(Value::Number(number)) => Ok(number.to_be_bytes().to_vec()),
        // As in the driver: 0 for an omitted optional parameter.
        None if !param.mandatory => Ok(vec![0]),
        _ => Err(invalid(format!("{}, action {given}: parameter {} is missing", place(), param.name))),
    });
    Ok(ActionCall { action: full.to_owned(), params: params.collect::<Result<_, Status>>()? })
}

/// Returns the entry of a row.
pub(super) fn found(table: &Table, row: &EntryView) -> Result<Entry, Status> {
    let entry = keys::of_switch(table, Entry::new(&table.name), &row.entry.key, row.entry.priority);
    let entry = match &row.entry.action {
        EntryAction::Call(call) => with_call(table, entry, call)?,
        _ => return Err(unserved(format!("table {}: action profiles are not served", table.name))),
    };
    Ok(with_counts(table, entry, row.counter))
}

/// Returns the default entry with that action.
pub(super) fn found_default(
    table: &Table,
    call: &ActionCall,
    counter: CounterValue,
) -> Result<Entry, Status> {
    Ok(with_counts(table, with_call(table, Entry::default_of(&table.name), call)?, counter))
}

fn with_call(table: &Table, entry: Entry, call: &ActionCall) -> Result<Entry, Status> {
    let action = table.action(&call.action).map_err(super::status::unknown)?;
    let params = action.params.iter().zip(&call.params);
    let entry = entry.action(&action.name);
    Ok(params.fold(entry, |entry, (param, value)| entry.with(&param.name, number(value))))
}
