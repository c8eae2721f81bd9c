//! Entries with an idle time-out in the order of time, each waiting for its next look.

use std::collections::BTreeSet;

use super::entries::Stored;

/// Entries in the order in which they are looked at: when (in the switch's microseconds), table and key.
#[derive(Debug, Default)]
pub(super) struct IdleQueue(BTreeSet<(u64, u32, Vec<u8>)>);

/// Returns the time-out of an entry in microseconds, if it has one.
pub(super) fn timeout_us(stored: &Stored) -> Option<u64> {
    let timeout = u64::try_from(stored.entry.idle_timeout_ns).unwrap_or(0);
    (timeout > 0).then(|| timeout.div_ceil(1000))
}

impl IdleQueue {
    /// Schedules a written entry, in place of its schedule before.
    pub fn replace(&mut self, table: u32, key: &[u8], before: Option<&Stored>, after: Option<&Stored>) {
        if let Some(due) = before.and_then(|stored| stored.look_us) {
            self.0.remove(&(due, table, key.to_vec()));
        }
        if let Some(due) = after.and_then(|stored| stored.look_us) {
            self.0.insert((due, table, key.to_vec()));
        }
    }

    /// Schedules an entry.
    pub fn push(&mut self, due_us: u64, table: u32, key: Vec<u8>) {
        self.0.insert((due_us, table, key));
    }

    /// Removes the first entry that is due.
    pub fn pop(&mut self, now_us: u64) -> Option<(u32, Vec<u8>)> {
        if self.0.first()?.0 > now_us {
            return None;
        }
        self.0.pop_first().map(|(_, table, key)| (table, key))
    }
}

impl Stored {
    /// With its first look scheduled as [`IdleQueue::replace`] does.
    pub fn scheduled(mut self) -> Self {
        self.look_us = timeout_us(&self).map(|timeout| self.touched_us.saturating_add(timeout));
        self
    }
}
