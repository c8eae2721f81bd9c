//! Tables: writes in batches, reads, and operations.

use inart_rpc::{UpdateError, WriteError};
use tonic::Code;

use super::{Answer, Client, ClientError};
use crate::bfrt_proto::{self as v, entity, update, write_request};
use crate::change::{Batch, Change, Operation};
use crate::entry::Entry;
use crate::error::update_errors;
use crate::info::{Info, TableKind};

/// Times that a read is made when writes overtake it.
const READ_TRIES: usize = 4;

impl Client {
    /// Applies changes in order, as one batch.
    ///
    /// # Errors
    /// [`ClientError::Write`] lists the changes that failed; [`ClientError::Rpc`] if the device refused the
    /// call; others for an entry that does not fit the program.
    pub fn write<'a>(&'a self, changes: &'a [Change], batch: Batch) -> Answer<'a, ()> {
        Box::pin(async move {
            if changes.is_empty() {
                return Ok(());
            }
            let sent = self.in_time("Write", self.send(self.updates(changes)?, batch.into())).await?;
            sent.map_err(|status| self.write_error(changes, batch, status))
        })
    }

    /// Applies changes in order, with or without a binding: for tables outside the program.
    pub(super) async fn write_unbound(&self, changes: &[Change]) -> Result<(), ClientError> {
        if changes.is_empty() {
            return Ok(());
        }
        let sent = self.in_time("Write", self.send_named(self.updates(changes)?)).await?;
        sent.map_err(|status| self.write_error(changes, Batch::Continue, status))
    }

    fn updates(&self, changes: &[Change]) -> Result<Vec<v::Update>, ClientError> {
        let info = self.info()?;
        let mut updates = Vec::with_capacity(changes.len());
        for change in changes {
            let mut entry = info.encode(&change.entry)?;
            if change.operation == Operation::Delete {
                entry.data = None;
            }
            let kind: update::Type = change.operation.into();
            updates.push(v::Update { r#type: kind.into(), entity: Some(entry.into()) });
        }
        Ok(updates)
    }

    /// Returns the error of changes, of which some failed.
    fn write_error(&self, changes: &[Change], batch: Batch, status: tonic::Status) -> ClientError {
        let Some(errors) = update_errors(&status) else {
            return self.device.rpc("Write", status);
        };
        let failures = errors.into_iter().zip(changes).enumerate();
        let failures = failures.filter(|(_, (error, _))| error.canonical_code != 0);
        let failures = failures.map(|(index, (error, change))| UpdateError {
            index,
            update: change.to_string(),
            code: error.canonical_code.into(),
            message: error.message,
        });
        let error = WriteError {
            address: self.target.address.clone(),
            device: self.target.device.0.into(),
            total: changes.len(),
            undone: batch == Batch::Rollback,
            failures: failures.collect(),
        };
        error.into()
    }

    async fn send(
        &self,
        updates: Vec<v::Update>,
        atomicity: write_request::Atomicity,
    ) -> Result<(), tonic::Status> {
        // Without the program's name: so the device takes the write only from the client that is bound.
        let request = v::WriteRequest {
            target: Some(self.everywhere()),
            client_id: self.target.client.0,
            updates,
            atomicity: atomicity.into(),
            p4_name: String::new(),
        };
        self.service.clone().write(request).await.map(drop)
    }

    /// Updates the driver's copy of a table's counters or registers from the chip. Does nothing for a table
    /// that has no such operation.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown table, or a refused call.
    pub fn sync<'a>(&'a self, table: &'a str) -> Answer<'a, ()> {
        Box::pin(async move {
            let info = self.info()?;
            let table = info.table(table)?;
            let Some(operation) = table.operations.iter().find(|name| name.starts_with("Sync")) else {
                return Ok(());
            };
            let table_operations_type = operation.clone();
            let operation = v::TableOperation { table_id: table.id, table_operations_type };
            let update = v::Update { r#type: update::Type::Insert.into(), entity: Some(operation.into()) };
            let sent = self.in_time("Write", self.send_named(vec![update])).await?;
            sent.map_err(|status| self.device.rpc("Write", status))
        })
    }

    /// As a client that is bound or not.
    async fn send_named(&self, updates: Vec<v::Update>) -> Result<(), tonic::Status> {
        let p4_name = self.chosen().map(|(name, _)| name).unwrap_or_default();
        let request = v::WriteRequest {
            target: Some(self.everywhere()),
            client_id: self.target.client.0,
            updates,
            p4_name,
            ..Default::default()
        };
        self.service.clone().write(request).await.map(drop)
    }

    /// Reads entries by their keys; without a key, the whole table. Reads the driver's copy, see
    /// [`Client::sync`]. A read that a write overtook is repeated, a few times: the embedded switch answers
    /// in parts, all of one state of the clients' entries.
    ///
    /// # Errors
    /// [`ClientError`] for an unknown table, an entry that does not fit the program, or a refused call.
    pub fn read<'a>(&'a self, wanted: &'a [Entry]) -> Answer<'a, Vec<Entry>> {
        Box::pin(async move {
            let (p4_name, info) = self.chosen()?;
            let entities = wanted.iter().map(|entry| Ok(info.encode(entry)?.into()));
            let request = v::ReadRequest {
                target: Some(self.everywhere()),
                client_id: self.target.client.0,
                entities: entities.collect::<Result<_, ClientError>>()?,
                p4_name,
            };
            let mut tries = 1;
            loop {
                let read = self.read_all(request.clone(), &info);
                match self.in_time("Read", read).await.flatten() {
                    Err(ClientError::Rpc { code: Code::Aborted, .. }) if tries < READ_TRIES => tries += 1,
                    read => return read,
                }
            }
        })
    }

    /// Decodes each part of the answer as it arrives.
    async fn read_all(&self, request: v::ReadRequest, info: &Info) -> Result<Vec<Entry>, ClientError> {
        let answer = self.service.clone().read(request).await;
        let mut answers = answer.map_err(|status| self.read_error(status))?.into_inner();
        let mut found = Vec::new();
        while let Some(part) = answers.message().await.map_err(|status| self.read_error(status))? {
            for entity in part.entities {
                if let Some(entity::Entity::TableEntry(entry)) = entity.entity {
                    found.push(info.decode(&entry)?);
                }
            }
        }
        Ok(found)
    }

    /// Returns the first entity's own error, which is more precise than the status.
    fn read_error(&self, status: tonic::Status) -> ClientError {
        let errors = update_errors(&status).unwrap_or_default();
        match errors.into_iter().find(|error| error.canonical_code != 0) {
            Some(error) => {
                let own = tonic::Status::new(error.canonical_code.into(), error.message);
                self.device.rpc("Read", own)
            }
            None => self.device.rpc("Read", status),
        }
    }

    /// Returns the entries of a table, without the default entry.
    ///
    /// # Errors
    /// As of [`Client::read`].
    pub async fn read_table(&self, table: &str) -> Result<Vec<Entry>, ClientError> {
        self.read(&[Entry::new(table)]).await
    }

    /// Returns the default entry of a table; `None` if it has none.
    ///
    /// # Errors
    /// As of [`Client::read`].
    pub async fn read_default(&self, table: &str) -> Result<Option<Entry>, ClientError> {
        let found = self.read(&[Entry::default_of(table)]).await?;
        Ok(found.into_iter().next())
    }

    /// Returns the counter tables of that name: a program has one in each control that counts.
    ///
    /// # Errors
    /// [`ClientError`] if the program's names are not known, or it has no such counter.
    pub fn counters(&self, name: &str) -> Result<Vec<String>, ClientError> {
        let info = self.info()?;
        let counters = info.ending(name).into_iter().filter(|table| table.kind == TableKind::Counter);
        let counters: Vec<_> = counters.map(|table| table.name.clone()).collect();
        if counters.is_empty() {
            info.table(name)?;
        }
        Ok(counters)
    }
}
