//! Counters and registers: tables whose key is the index of a cell.

use std::ops::Range;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Match, Table, Value};
use tonic::Status;

use super::keys::number;
use super::rows::{counts, with_counts};
use super::status::{invalid, refused, unserved};
use crate::Switch;

/// The cells that a key names: one, or all.
pub(super) fn cells(table: &Table, entry: &Entry) -> Result<Range<usize>, Status> {
    let Some(field) = table.key.first() else { return Ok(0..table.size) };
    let Some(with) = entry.key.get(&field.name) else { return Ok(0..table.size) };
    let index = match with {
        Match::Exact(index) => usize::try_from(*index).ok().filter(|index| *index < table.size),
        _ => None,
    };
    let wrong = || invalid(format!("{}: it has {} cells, there is no {with}", table.name, table.size));
    let index = index.ok_or_else(wrong)?;
    Ok(index..index + 1)
}

/// For cells, which are always there.
fn only_set(table: &Table, kind: Type) -> Result<(), Status> {
    match kind {
        Type::Insert | Type::Modify | Type::InsertOrModify => Ok(()),
        _ => Err(unserved(format!("{}: cells are always there, modify them", table.name))),
    }
}

/// Sets one counter, or all.
pub(super) fn write_counters(
    switch: &mut Switch,
    name: &str,
    table: &Table,
    kind: Type,
    entry: &Entry,
) -> Result<(), Status> {
    only_set(table, kind)?;
    let value = counts(entry).ok_or_else(|| invalid(format!("{}: the entry has no count", table.name)))?;
    cells(table, entry)?.try_for_each(|cell| switch.set_counter(name, cell, value).map_err(refused))
}

/// The entries of some counters.
pub(super) fn read_counters(
    switch: &Switch,
    name: &str,
    table: &Table,
    cells: Range<usize>,
) -> Result<Vec<Entry>, Status> {
    let values = &switch.counters(name).map_err(refused)?[cells.clone()];
    Ok(cells.zip(values).map(|(cell, value)| with_counts(table, keyed(table, cell), *value)).collect())
}

/// Sets one register, or all. A register of several fields holds the first in its highest bits, as the struct
/// of the program does.
pub(super) fn write_registers(
    switch: &mut Switch,
    name: &str,
    table: &Table,
    kind: Type,
    entry: &Entry,
) -> Result<(), Status> {
    only_set(table, kind)?;
    let mut whole: u128 = 0;
    for field in &table.data {
        let value = match entry.data.get(&field.name) {
            Some(Value::Number(number)) => *number,
            _ => return Err(invalid(format!("{}: field {} is missing", table.name, field.name))),
        };
        whole = whole.checked_shl(field.kind.bits().unwrap_or(0)).unwrap_or(0) | value;
    }
    let cells = cells(table, entry)?;
    switch.set_register_cells(name, cells, &whole.to_be_bytes()).map_err(refused)
}

/// The entries of some registers. A chip tells one value of each of its pipes; this switch has one pipe.
pub(super) fn read_registers(
    switch: &mut Switch,
    name: &str,
    table: &Table,
    cells: Range<usize>,
) -> Result<Vec<Entry>, Status> {
    let values = switch.register_cells(name, cells.clone()).map_err(refused)?;
    let entry = |(cell, value): (usize, Vec<u8>)| {
        let mut rest = number(&value);
        // From the last field, in the lowest bits, to the first.
        table.data.iter().rev().fold(keyed(table, cell), |entry, field| {
            let bits = field.kind.bits().unwrap_or(0);
            let part = rest & 1u128.checked_shl(bits).map_or(u128::MAX, |above| above - 1);
            rest = rest.checked_shr(bits).unwrap_or(0);
            entry.with(&field.name, part)
        })
    };
    Ok(cells.zip(values).map(entry).collect())
}

fn keyed(table: &Table, cell: usize) -> Entry {
    let entry = Entry::new(&table.name);
    match table.key.first() {
        Some(field) => entry.exact(&field.name, cell as u128),
        None => entry,
    }
}
