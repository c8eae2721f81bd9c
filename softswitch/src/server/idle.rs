//! Entries that have been idle for their time-out. Each waits in the order of time for its next look: without
//! frames an entry is looked at once in its time-out.

use std::collections::BTreeSet;

use inart_p4runtime::p4::v1::IdleTimeoutNotification;

use super::entries::Stored;
use super::limits;
use super::pipeline::Pipeline;

/// Entries in the order in which they are looked at: when (in the switch's microseconds), table and key.
#[derive(Debug, Default)]
pub(super) struct IdleQueue(BTreeSet<(u64, u32, Vec<u8>)>);

/// The time-out of an entry in microseconds, if it has one.
fn timeout_us(stored: &Stored) -> Option<u64> {
    let timeout = u64::try_from(stored.entry.idle_timeout_ns).unwrap_or(0);
    (timeout > 0).then(|| timeout.div_ceil(1000))
}

impl IdleQueue {
    /// Lets an entry wait that was written, in place of how it was before.
    pub fn replace(&mut self, table: u32, key: &[u8], before: Option<&Stored>, after: Option<&Stored>) {
        let due = |stored: &Stored| Some(stored.touched_us.saturating_add(timeout_us(stored)?));
        if let Some(due) = before.and_then(|stored| stored.look_us) {
            self.0.remove(&(due, table, key.to_vec()));
        }
        if let Some(due) = after.and_then(due) {
            self.0.insert((due, table, key.to_vec()));
        }
    }

    fn pop(&mut self, now_us: u64) -> Option<(u32, Vec<u8>)> {
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

/// What a look at idle entries found.
#[derive(Debug, Default)]
pub(super) struct Idle {
    pub notice: Option<IdleTimeoutNotification>,
    /// Entries that were looked at.
    pub examined: usize,
}

impl Pipeline {
    /// The entries that have been idle for their time-out, and starts their timers again. Looks at few of
    /// those whose time has come; there may be more if it looked at [`limits::PAGE`].
    pub(super) fn idle_entries(&mut self) -> Idle {
        let schema = self.schema.clone();
        let now_us = self.clock.now_us();
        let (mut idle, mut examined) = (Vec::new(), 0);
        while examined < limits::PAGE
            && let Some((id, key)) = self.idle.pop(now_us)
        {
            examined += 1;
            let Ok(table) = schema.table_by_id(id) else { continue };
            let stored = self.tables.get_mut(&id).and_then(|entries| entries.by_key.get_mut(&key));
            let Some(stored) = stored else { continue };
            let Some(timeout) = timeout_us(stored) else { continue };
            let matches = &stored.key.matches;
            let hit_us = self.plane.lock().last_hit_us(table.full_name(), matches, stored.entry.priority);
            let last_us = hit_us.unwrap_or(now_us).max(stored.touched_us);
            let mut due_us = last_us.saturating_add(timeout);
            if due_us <= now_us {
                stored.touched_us = now_us;
                due_us = now_us.saturating_add(timeout);
                idle.push(stored.entry.clone());
            }
            stored.look_us = Some(due_us);
            self.idle.0.insert((due_us, id, key));
        }
        let timestamp = super::clock::epoch_ns();
        let notice = (!idle.is_empty()).then_some(IdleTimeoutNotification { table_entry: idle, timestamp });
        Idle { notice, examined }
    }
}
