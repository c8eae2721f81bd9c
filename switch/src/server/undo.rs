//! Undo of an update: the current state of the changed entities, as updates.

use inart_p4runtime::p4::v1::entity::Entity as Kind;
use inart_p4runtime::p4::v1::packet_replication_engine_entry::Type as Pre;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{CounterData, Entity, MeterConfig, TableEntry, Update};
use tonic::Status;

use super::arrays::{direct_counter, direct_meter};
use super::check::known;
use super::entries::store_key;
use super::limits;
use super::pipeline::Pipeline;

impl Pipeline {
    /// Returns the updates that take one back, in the present state; at most `most` of them.
    pub fn inverse(&self, update: &Update, most: usize) -> Result<Vec<Update>, Status> {
        let Some(entity) = &update.entity else { return Ok(Vec::new()) };
        if update.r#type() == Type::Insert {
            return Ok(vec![Update::delete(entity.clone())]);
        }
        let again = if update.r#type() == Type::Delete { Update::insert } else { Update::modify };
        let mut undo = Vec::new();
        let mut keep = |found: Vec<Entity>| {
            let hint = "use CONTINUE_ON_ERROR, or send less at a time";
            limits::at_most(undo.len() + found.len(), most, "entities to restore if a write fails", hint)?;
            undo.extend(found.into_iter().map(writable).map(again));
            Ok(())
        };
        // An entry is found by its key only, which may have no field.
        match &entity.entity {
            Some(Kind::TableEntry(entry)) if !entry.is_default_action => {
                keep(self.present(entry)?.map(Entity::from).into_iter().collect())?;
            }
            Some(Kind::DirectCounterEntry(direct)) => {
                let entry = direct.table_entry.as_ref().map(|entry| self.present(entry)).transpose()?;
                keep(entry.flatten().map(direct_counter).into_iter().collect())?;
            }
            Some(Kind::DirectMeterEntry(direct)) => {
                let entry = direct.table_entry.as_ref().map(|entry| self.present(entry)).transpose()?;
                keep(entry.flatten().map(direct_meter).into_iter().collect())?;
            }
            _ => self.read_all(&whole(entity), keep)?,
        }
        Ok(undo)
    }

    /// Returns the entry of that key and priority with its direct resources, if there is one.
    fn present(&self, given: &TableEntry) -> Result<Option<TableEntry>, Status> {
        if given.is_default_action {
            return Ok(None);
        }
        let table = known(self.schema.table_by_id(given.table_id))?;
        let key = store_key(&self.key(table, given)?.fields, given.priority);
        let stored = self.tables.get(&table.id()).and_then(|entries| entries.by_key.get(&key));
        let with_direct = TableEntry {
            counter_data: Some(CounterData::default()),
            meter_config: Some(MeterConfig::default()),
            ..Default::default()
        };
        stored.map(|stored| self.row(table, stored, &with_direct)).transpose()
    }
}

/// Returns an entity as it is read, in the form in which it can be written: of a const entry only its direct
/// resources.
fn writable(mut entity: Entity) -> Entity {
    if let Some(Kind::TableEntry(entry)) = &mut entity.entity
        && entry.is_const
        && !entry.is_default_action
    {
        (entry.is_const, entry.action) = (false, None);
    }
    entity
}

/// Returns the filter for an entity's present state, with all that belongs to it.
fn whole(entity: &Entity) -> Entity {
    let mut filter = entity.clone();
    match &mut filter.entity {
        Some(Kind::TableEntry(entry)) => {
            let (table_id, is_default_action) = (entry.table_id, entry.is_default_action);
            *entry = TableEntry { table_id, is_default_action, ..Default::default() };
        }
        Some(Kind::PacketReplicationEngineEntry(entry)) => match &mut entry.r#type {
            Some(Pre::MulticastGroupEntry(group)) => group.replicas.clear(),
            Some(Pre::CloneSessionEntry(session)) => session.replicas.clear(),
            None => {}
        },
        Some(Kind::ValueSetEntry(entry)) => entry.members.clear(),
        _ => {}
    }
    filter
}
