//! A batch of updates: all are tried, or the first that fails undoes those before it.

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::bfrt_proto::write_request::Atomicity;
use inart_bfruntime::bfrt_proto::{TableEntry, TableOperation, Update, entity};
use tonic::Status;

use super::pipeline::{Pipeline, lock};
use super::ports::PortChange;
use super::status::{invalid, unknown, unserved};
use crate::Switch;
use crate::server::limits;

/// Result of a batch: one result per update that was tried, in order, and the ports that went up or down.
pub(super) struct Applied {
    pub results: Vec<Result<(), Status>>,
    pub ports: Vec<PortChange>,
}

/// Applies a batch. One that is undone by an error is applied under one lock, so packets see all or nothing
/// of it.
pub(super) fn apply(pipeline: &mut Pipeline, updates: &[Update], atomicity: Atomicity) -> Applied {
    match atomicity {
        Atomicity::ContinueOnError => all(pipeline, updates),
        Atomicity::RollbackOnError | Atomicity::DataplaneAtomic => all_or_nothing(pipeline, updates),
    }
}

fn all(pipeline: &mut Pipeline, updates: &[Update]) -> Applied {
    let mut work = limits::CELLS;
    let mut applied = Applied { results: Vec::with_capacity(updates.len()), ports: Vec::new() };
    for update in updates {
        let result = match meant(update) {
            Ok(Meant::Operation(operation)) => operate(pipeline, operation),
            Ok(Meant::Entry(kind, entry)) => pipeline.write_alone(kind, entry, &mut work).map(|ports| {
                applied.ports.extend(ports);
            }),
            Err(status) => Err(status),
        };
        applied.results.push(result);
    }
    applied
}

fn all_or_nothing(pipeline: &Pipeline, updates: &[Update]) -> Applied {
    let switch = pipeline.switch();
    let mut switch = lock(&switch);
    let (mut results, mut undo) = (Vec::with_capacity(updates.len()), Vec::new());
    for update in updates {
        let result = one(pipeline, &mut switch, update);
        let failed = result.is_err();
        results.push(result.map(|before| undo.extend(before)));
        if failed {
            break;
        }
    }
    if results.last().is_some_and(Result::is_err) {
        for before in undo.into_iter().rev() {
            if let (Err(status), Some(last)) = (before.restore(&mut switch), results.last_mut()) {
                *last = Err(Status::internal(format!("a change could not be undone: {status}")));
            }
        }
    }
    Applied { results, ports: Vec::new() }
}

/// Applies one update of a transaction. Returns the state before.
fn one(
    pipeline: &Pipeline,
    switch: &mut Switch,
    update: &Update,
) -> Result<Option<super::rows::Before>, Status> {
    match meant(update)? {
        Meant::Operation(operation) => operate(pipeline, operation).map(|()| None),
        Meant::Entry(kind, entry) => {
            let before = pipeline.before(switch, entry)?;
            match pipeline.write(switch, kind, entry) {
                Ok(()) => Ok(Some(before)),
                Err(status) => {
                    // A part of it may have been done.
                    before.restore(switch)?;
                    Err(status)
                }
            }
        }
    }
}

enum Meant<'a> {
    Entry(Type, &'a TableEntry),
    Operation(&'a TableOperation),
}

fn meant(update: &Update) -> Result<Meant<'_>, Status> {
    let kind =
        Type::try_from(update.r#type).map_err(|_| invalid(format!("update type {}", update.r#type)))?;
    match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) {
        Some(entity::Entity::TableEntry(entry)) => Ok(Meant::Entry(kind, entry)),
        Some(entity::Entity::TableOperation(operation)) => Ok(Meant::Operation(operation)),
        Some(_) => Err(unserved("only table entries and operations are written here")),
        None => Err(invalid("the update's entity is not set")),
    }
}

/// There is no copy of counters that could be old: a table's operations have nothing to do.
fn operate(pipeline: &Pipeline, operation: &TableOperation) -> Result<(), Status> {
    let table = pipeline.info.table_by_id(operation.table_id).map_err(unknown)?;
    let name = &operation.table_operations_type;
    match table.operations.contains(name) {
        true => Ok(()),
        false => Err(invalid(format!("{} has no operation {name}, only {:?}", table.name, table.operations))),
    }
}
