//! The entries of tables as the controller wrote them.

use std::collections::BTreeMap;

use inart_p4runtime::p4::v1::{FieldMatch, TableEntry};
use prost::Message;

use super::matches::Key;

/// The entries of one table as the controller wrote them.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub by_key: BTreeMap<Vec<u8>, Stored>,
    /// Entry that the controller set; `None` while the program's own default is active.
    pub default: Option<TableEntry>,
}

#[derive(Debug)]
pub(super) struct Stored {
    /// Canonical, without direct resources and time.
    pub entry: TableEntry,
    pub key: Key,
    /// Time at which it was written or last reported idle, in the switch's microseconds.
    pub touched_us: u64,
    /// Time of its next examination for being idle; `None` without a time-out.
    pub look_us: Option<u64>,
}

/// Orders entries by field ids and values, then by priority.
pub(super) fn store_key(fields: &[FieldMatch], priority: i32) -> Vec<u8> {
    TableEntry { r#match: fields.to_vec(), priority, ..Default::default() }.encode_to_vec()
}
