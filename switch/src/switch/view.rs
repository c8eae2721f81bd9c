//! Readable state of an entry.

use crate::control::{CounterValue, Entry, MeterConfig};

/// An entry with its collected state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryView {
    /// The entry, with the key in its shortest form.
    pub entry: Entry,
    /// Direct counter.
    pub counter: CounterValue,
    /// Direct meter.
    pub meter: Option<MeterConfig>,
    /// Time at which it was last hit or written, in the switch's microseconds; for tables with idle timeout.
    pub last_hit_us: u64,
}
