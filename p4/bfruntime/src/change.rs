//! Changes of entries, and the rest of a batch after a failure.

use std::fmt;

use crate::bfrt_proto::{self as v, entity, update, write_request};
use crate::entry::Entry;

/// Operation on an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Add it; it must not be there.
    Insert,
    /// Change it; it must be there.
    Modify,
    /// Add it, or change it if it is there.
    Put,
    /// Removal of an existing entry. For a default entry: return to the program's own.
    Delete,
}

/// An entry and the operation on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Operation.
    pub operation: Operation,
    /// The entry. To be removed, its key is enough.
    pub entry: Entry,
}

/// Handling of the other changes of a batch when one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// Other changes are tried.
    Continue,
    /// Other changes are undone: the batch is a transaction. The driver has none for multicast and ports.
    Rollback,
}

impl Change {
    /// Creates an entry to add.
    pub fn insert(entry: Entry) -> Self {
        Self { operation: Operation::Insert, entry }
    }

    /// Creates an entry to change.
    pub fn modify(entry: Entry) -> Self {
        Self { operation: Operation::Modify, entry }
    }

    /// Creates an entry to add, or to change if it exists.
    pub fn put(entry: Entry) -> Self {
        Self { operation: Operation::Put, entry }
    }

    /// Creates an entry to remove.
    pub fn delete(entry: Entry) -> Self {
        Self { operation: Operation::Delete, entry }
    }
}

impl From<Operation> for update::Type {
    fn from(operation: Operation) -> Self {
        match operation {
            Operation::Insert => update::Type::Insert,
            Operation::Modify => update::Type::Modify,
            Operation::Put => update::Type::InsertOrModify,
            Operation::Delete => update::Type::Delete,
        }
    }
}

impl From<Batch> for write_request::Atomicity {
    fn from(batch: Batch) -> Self {
        match batch {
            Batch::Continue => write_request::Atomicity::ContinueOnError,
            Batch::Rollback => write_request::Atomicity::RollbackOnError,
        }
    }
}

impl From<v::TableEntry> for v::Entity {
    fn from(entry: v::TableEntry) -> Self {
        Self { entity: Some(entity::Entity::TableEntry(entry)) }
    }
}

impl From<v::TableOperation> for v::Entity {
    fn from(operation: v::TableOperation) -> Self {
        Self { entity: Some(entity::Entity::TableOperation(operation)) }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Insert => "insert",
            Operation::Modify => "modify",
            Operation::Put => "put",
            Operation::Delete => "delete",
        })
    }
}

/// As in `insert steer[plan_version=1] -> forward(port=3)`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operation, self.entry)
    }
}
