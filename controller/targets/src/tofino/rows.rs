//! Conversion of rows to BFRuntime's entries and back, for any table.

use inart_bfruntime::{Entry, Match};
use inart_tables::{Foreign, Row, TableSpec};

use super::ports::Numbering;

/// Returns the entry of a row.
///
/// # Errors
/// A port that no switch of this target has.
pub fn entry(row: Row, numbering: &Numbering) -> Result<Entry, Foreign> {
    let row = row.with_target_ports(|port| numbering.number(port))?;
    let name = row.table.full_name;
    let entry = if row.key.is_some() { Entry::new(name) } else { Entry::default_of(name) };
    let entry = row.key_cells().fold(entry, |entry, (field, number)| entry.exact(field.name, number));
    let entry = entry.action(row.action.name);
    Ok(row.param_cells().fold(entry, |entry, (field, number)| entry.with(field.name, number)))
}

/// Returns the row of an entry of a table.
///
/// # Errors
/// An entry that no program of ours writes.
pub fn row(table: &'static TableSpec, entry: &Entry, numbering: &Numbering) -> Result<Row, Foreign> {
    let foreign = |what: &str| Foreign::new(entry, what);
    let key = entry.key.iter().map(|(name, with)| match with {
        Match::Exact(value) => Some((name.as_str(), u64::try_from(*value).ok()?)),
        _ => None,
    });
    let key: Option<Vec<_>> = key.collect();
    let key = key.ok_or_else(|| foreign("a key field is not an integer of 64 bits"))?;
    let action = entry.action.as_deref().ok_or_else(|| foreign("the entry calls no action"))?;
    // Counters and the like are the driver's own fields.
    let params = entry.data.iter().filter(|(name, _)| !name.starts_with('$'));
    let params = params.map(|(name, value)| Some((name.as_str(), value.to_u64()?)));
    let params: Option<Vec<_>> = params.collect();
    let params = params.ok_or_else(|| foreign("a parameter is not an integer of 64 bits"))?;
    let key = (!entry.is_default).then_some(&key[..]);
    Row::from_names(table, key, action, &params)?.with_our_ports(|number| numbering.port_of(number))
}
