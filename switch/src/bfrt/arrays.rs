//! Counters and registers: tables whose key is the index of a cell.

use std::ops::Range;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{DataField, Entry, Match, Table, Value};
use tonic::Status;

use super::keys::number;
use super::rows::{counts, with_counts};
use super::status::{invalid, refused, unserved};
use crate::Switch;
use crate::control::CounterValue;

/// Returns the cells that a key names: one, or all.
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

/// Returns one counter, or all, and the value that it is to have.
pub(super) fn counters_to_write(
    table: &Table,
    kind: Type,
    entry: &Entry,
) -> Result<(Range<usize>, CounterValue), Status> {
    only_set(table, kind)?;
    let value = counts(entry).ok_or_else(|| invalid(format!("{}: the entry has no count", table.name)))?;
    Ok((cells(table, entry)?, value))
}

/// Returns the entries of some counters.
pub(super) fn read_counters(
    switch: &Switch,
    name: &str,
    table: &Table,
    cells: Range<usize>,
) -> Result<Vec<Entry>, Status> {
    let values = &switch.counters(name).map_err(refused)?[cells.clone()];
    Ok(cells.zip(values).map(|(cell, value)| with_counts(table, keyed(table, cell), *value)).collect())
}

/// New values of the arrays of a register, in big endian.
type Values<'n> = Vec<(&'n str, Vec<u8>)>;

/// Returns the values to write to one cell of a register, or to all. If the cells of several fields share one
/// array, the first is in its highest bits, as in the struct of the program.
pub(super) fn registers_to_write<'n>(
    names: &[&'n str],
    table: &Table,
    kind: Type,
    entry: &Entry,
) -> Result<(Range<usize>, Values<'n>), Status> {
    only_set(table, kind)?;
    let cells = cells(table, entry)?;
    let (mut whole, mut values): (u128, Values<'n>) = (0, Vec::new());
    for (place, field) in table.data.iter().enumerate() {
        let value = match entry.data.get(&field.name) {
            Some(Value::Number(number)) => *number,
            _ => return Err(invalid(format!("{}: field {} is missing", table.name, field.name))),
        };
        whole = whole.checked_shl(field.kind.bits().unwrap_or(0)).unwrap_or(0) | value;
        let name = names.get(place).copied().unwrap_or_default();
        values.push((name, value.to_be_bytes().to_vec()));
    }
    match names {
        [name] => Ok((cells, vec![(*name, whole.to_be_bytes().to_vec())])),
        _ => Ok((cells, values)),
    }
}

/// Reads the entries of some registers. A chip returns one value per pipe; this switch has one pipe.
pub(super) fn read_registers(
    switch: &mut Switch,
    names: &[&str],
    table: &Table,
    cells: Range<usize>,
) -> Result<Vec<Entry>, Status> {
    let mut arrays = Vec::with_capacity(names.len());
    for name in names {
        arrays.push(switch.register_cells(name, cells.clone()).map_err(refused)?);
    }
    let entry = |(at, cell): (usize, usize)| {
        let values: Vec<u128> = arrays.iter().map(|array| number(&array[at])).collect();
        let parts = if let [whole] = values.as_slice() { split(table, *whole) } else { values };
        let fields = table.data.iter().zip(parts);
        fields.fold(keyed(table, cell), |entry, (field, part)| entry.with(&field.name, part))
    };
    Ok(cells.clone().enumerate().map(entry).collect())
}

/// Returns the fields of a cell, the last of which is in the lowest bits.
fn split(table: &Table, whole: u128) -> Vec<u128> {
    let mut rest = whole;
    let part = |field: &DataField| {
        let bits = field.kind.bits().unwrap_or(0);
        let part = rest & 1u128.checked_shl(bits).map_or(u128::MAX, |above| above - 1);
        rest = rest.checked_shr(bits).unwrap_or(0);
        part
    };
    let mut parts: Vec<u128> = table.data.iter().rev().map(part).collect();
    parts.reverse();
    parts
}

fn keyed(table: &Table, cell: usize) -> Entry {
    let entry = Entry::new(&table.name);
    match table.key.first() {
        Some(field) => entry.exact(&field.name, cell as u128),
        None => entry,
    }
}
