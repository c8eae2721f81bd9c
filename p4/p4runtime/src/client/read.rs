//! Reads: tables, counters, multicast groups, and anything else as messages.

use tonic::Code;

use super::{Answer, Client, ClientError};
use crate::entry::{Counts, Entry};
use crate::p4::v1::{self, entity::Entity, packet_replication_engine_entry as pre};

/// Times that a read is made when writes overtake it.
const READ_TRIES: usize = 4;

impl Client {
    /// Reads the entities that match any of the given ones, whose unset parts match anything. All results are
    /// of one state of the controllers' entries; a read that a write overtook is repeated, a few times.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses the call.
    pub fn read(&self, filters: Vec<v1::Entity>) -> Answer<'_, Vec<v1::Entity>> {
        Box::pin(async move {
            let mut tries = 1;
            loop {
                let read = self.read_once(filters.clone());
                match self.device.in_time("Read", self.target.call_timeout, read).await.flatten() {
                    Err(ClientError::Rpc { code: Code::Aborted, .. }) if tries < READ_TRIES => tries += 1,
                    read => return read,
                }
            }
        })
    }

    async fn read_once(&self, filters: Vec<v1::Entity>) -> Result<Vec<v1::Entity>, ClientError> {
        let request = v1::ReadRequest {
            device_id: self.target.device.0,
            role: self.target.role.clone(),
            entities: filters,
        };
        let answer = self.service.clone().read(request).await;
        let answer = answer.map_err(|status| self.device.rpc("Read", status));
        let mut answers = answer?.into_inner();
        let mut entities = Vec::new();
        loop {
            match answers.message().await {
                Ok(Some(part)) => entities.extend(part.entities),
                Ok(None) => return Ok(entities),
                Err(status) => return Err(self.device.rpc("Read", status)),
            }
        }
    }

    /// Returns the entries of a table with their direct counters; the default entry is not among them.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown table, an entry that does not fit the program, or a refused call.
    pub async fn read_table(&self, table: &str) -> Result<Vec<Entry>, ClientError> {
        self.read_entries(table, false).await
    }

    /// Returns the default entry of a table; `None` when the program gives it none.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown table, an entry that does not fit the program, or a refused call.
    pub async fn read_default(&self, table: &str) -> Result<Option<Entry>, ClientError> {
        Ok(self.read_entries(table, true).await?.into_iter().next())
    }

    async fn read_entries(&self, table: &str, default: bool) -> Result<Vec<Entry>, ClientError> {
        let schema = self.schema()?;
        let found = schema.table(table)?;
        let counted = found.direct_resource_ids.iter().any(|&id| schema.direct_counter_by_id(id).is_ok());
        let filter = v1::TableEntry {
            table_id: found.id(),
            is_default_action: default,
            counter_data: counted.then(v1::CounterData::default),
            ..Default::default()
        };
        let mut entries = Vec::new();
        for entity in self.read(vec![filter.into()]).await? {
            if let Some(Entity::TableEntry(entry)) = entity.entity {
                entries.push(schema.decode(&entry)?);
            }
        }
        Ok(entries)
    }

    /// Returns the cells of an indirect counter, from index 0.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown counter, or a refused call.
    pub async fn read_counter(&self, counter: &str) -> Result<Vec<Counts>, ClientError> {
        let counter_id = self.schema()?.counter(counter)?.id();
        let filter = v1::CounterEntry { counter_id, ..Default::default() };
        let mut cells = std::collections::BTreeMap::new();
        for entity in self.read(vec![filter.into()]).await? {
            if let Some(Entity::CounterEntry(cell)) = entity.entity {
                let index = cell.index.map_or(0, |index| index.index);
                cells.insert(index, cell.data.unwrap_or_default().into());
            }
        }
        Ok(cells.into_values().collect())
    }

    /// Cells of indirect counters, by name and index, in one call; in the order of `cells`. A cell that the
    /// device does not answer for has counted nothing.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown counter, or a refused call.
    pub async fn read_cells(&self, cells: &[(&str, i64)]) -> Result<Vec<Counts>, ClientError> {
        let schema = self.schema()?;
        let mut wanted = Vec::with_capacity(cells.len());
        for &(counter, index) in cells {
            wanted.push((schema.counter(counter)?.id(), index));
        }
        let filters = wanted.iter().map(|&(counter_id, index)| {
            let index = Some(v1::Index { index });
            v1::CounterEntry { counter_id, index, ..Default::default() }.into()
        });
        let mut found = std::collections::BTreeMap::new();
        for entity in self.read(filters.collect()).await? {
            if let Some(Entity::CounterEntry(cell)) = entity.entity {
                let index = cell.index.map_or(0, |index| index.index);
                found.insert((cell.counter_id, index), Counts::from(cell.data.unwrap_or_default()));
            }
        }
        Ok(wanted.iter().map(|cell| found.get(cell).copied().unwrap_or_default()).collect())
    }

    /// Returns all multicast groups.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] if the device refuses the call.
    pub async fn read_multicast_groups(&self) -> Result<Vec<v1::MulticastGroupEntry>, ClientError> {
        let entities = self.read(vec![v1::MulticastGroupEntry::default().into()]).await?;
        let groups = entities.into_iter().filter_map(|entity| match entity.entity {
            Some(Entity::PacketReplicationEngineEntry(entry)) => match entry.r#type {
                Some(pre::Type::MulticastGroupEntry(group)) => Some(group),
                _ => None,
            },
            _ => None,
        });
        Ok(groups.collect())
    }
}
