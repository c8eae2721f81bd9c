//! What can be read of an entry.

use crate::control::{CounterValue, Entry, MeterConfig};

/// An entry with what it has gathered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryView {
    /// The entry, with the key in its shortest form.
    pub entry: Entry,
    /// Its direct counter.
    pub counter: CounterValue,
    /// Its direct meter.
    pub meter: Option<MeterConfig>,
    /// When it was last hit or written, in the switch's microseconds; for tables with idle timeout.
    pub last_hit_us: u64,
}
