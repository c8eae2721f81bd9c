//! Updates of a switch, and their computation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::numbers::{GroupId, PortNo};
use crate::row::Row;

/// Operation on an [`Item`](crate::Item).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Add it; it must not be there.
    Insert,
    /// Change it; it must be there.
    Modify,
    /// Remove it; it must be there.
    Delete,
}

/// An [`Item`](crate::Item) in names and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entity<'a> {
    /// An entry or a default action.
    Row(Row),
    /// A multicast group and its ports.
    Group(GroupId, &'a BTreeSet<PortNo>),
}

/// A row as it stands, or as in `group 3: 1, 2`.
impl fmt::Display for Entity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entity::Row(row) => row.fmt(f),
            Entity::Group(group, ports) => {
                let ports: Vec<_> = ports.iter().map(PortNo::to_string).collect();
                write!(f, "group {group}: {}", ports.join(", "))
            }
        }
    }
}

/// Reason that an update cannot be applied to tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Insert of an existing item.
    #[error("already there")]
    AlreadyThere,
    /// Modify or delete of a missing item.
    #[error("not there")]
    NotThere,
}

/// Adds the inserts and modifies to `make`, and the deletes to `remove`. An update is an operation on a key
/// and its value.
pub(crate) fn compare<K: Ord + Copy, V: PartialEq + Clone, U>(
    from: &BTreeMap<K, V>,
    to: &BTreeMap<K, V>,
    make: &mut Vec<U>,
    update: impl Fn(Op, K, V) -> U,
) -> Vec<U> {
    for (key, value) in to {
        let op = match from.get(key) {
            Some(present) if present == value => continue,
            Some(_) => Op::Modify,
            None => Op::Insert,
        };
        make.push(update(op, *key, value.clone()));
    }
    let gone = from.iter().filter(|(key, _)| !to.contains_key(key));
    gone.map(|(key, value)| update(Op::Delete, *key, value.clone())).collect()
}

/// Applies an operation to one entry.
pub(crate) fn apply<K: Ord + Copy, V: Clone>(
    map: &mut BTreeMap<K, V>,
    op: Op,
    key: &K,
    value: &V,
) -> Result<(), ApplyError> {
    match (op, map.contains_key(key)) {
        (Op::Insert, true) => return Err(ApplyError::AlreadyThere),
        (Op::Modify | Op::Delete, false) => return Err(ApplyError::NotThere),
        (Op::Delete, true) => drop(map.remove(key)),
        (Op::Insert, false) | (Op::Modify, true) => drop(map.insert(*key, value.clone())),
    }
    Ok(())
}
