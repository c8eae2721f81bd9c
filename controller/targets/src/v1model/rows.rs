//! Conversion of rows to P4Runtime's entries and back, for any table.

use inart_p4runtime::p4::v1;
use inart_p4runtime::{ActionCall, ClientError, Entry, EntryError, Match, Schema, TableAction};
use inart_tables::{Entity, Foreign, Op, Row, TableSpec, Update};

use super::ports;
use crate::error::SwitchError;

/// Returns the entry of a row.
///
/// # Errors
/// A port that no switch of this target has.
pub fn entry(row: Row) -> Result<Entry, Foreign> {
    let row = row.with_target_ports(ports::number)?;
    let entry = match row.key {
        Some(_) => Entry::new(row.table.name),
        None => Entry::default_of(row.table.name),
    };
    let entry = row.key_cells().fold(entry, |entry, (field, number)| entry.exact(field.name, number));
    Ok(entry.action(row.action.name, row.param_cells().map(|(field, number)| (field.name, number))))
}

/// Returns the row of an entry of a table.
///
/// # Errors
/// An entry that no program of ours writes.
pub fn row(table: &'static TableSpec, entry: &Entry) -> Result<Row, Foreign> {
    let foreign = |what: &str| Foreign::new(entry, what);
    let key = entry.matches.iter().map(|(name, with)| match with {
        Match::Exact(value) => Some((name.as_str(), value.to_u64()?)),
        _ => None,
    });
    let key: Option<Vec<_>> = key.collect();
    let key = key.ok_or_else(|| foreign("a key field is not an integer of 64 bits"))?;
    let Some(TableAction::Call(ActionCall { action, params })) = &entry.action else {
        return Err(foreign("the entry calls no action"));
    };
    let params = params.iter().map(|(name, value)| Some((name.as_str(), value.to_u64()?)));
    let params: Option<Vec<_>> = params.collect();
    let params = params.ok_or_else(|| foreign("a parameter is not an integer of 64 bits"))?;
    let key = (!entry.is_default).then_some(&key[..]);
    Row::from_names(table, key, action, &params)?.with_our_ports(ports::port_of)
}

/// Returns the message of an update.
///
/// # Errors
/// A port that no switch of this target has, or an entry that does not fit the program.
pub fn update(schema: &Schema, update: &Update) -> Result<v1::Update, SwitchError> {
    let misfit = |error: EntryError| SwitchError::Refused(ClientError::from(error).to_string());
    let refused = |error: Foreign| SwitchError::Refused(error.to_string());
    let entity: v1::Entity = match update.item.entity() {
        Entity::Row(row) => schema.encode(&entry(row).map_err(refused)?).map_err(misfit)?.into(),
        Entity::Group(group, ports) => {
            let replica = |port: &inart_tables::PortNo| {
                let number = ports::number(*port).and_then(|number| u32::try_from(number).ok());
                let wrong = || Foreign::new(format!("multicast group {group}"), format!("no port {port}"));
                Ok((number.ok_or_else(wrong)?, 1))
            };
            let replicas = ports.iter().map(replica).collect::<Result<Vec<_>, _>>().map_err(refused)?;
            v1::MulticastGroupEntry::new(u32::from(group.0), replicas).into()
        }
    };
    Ok(match update.op {
        Op::Insert => v1::Update::insert(entity),
        Op::Modify => v1::Update::modify(entity),
        Op::Delete => v1::Update::delete(entity),
    })
}
