//! Entries that have been idle for their time-out. Without frames an entry is looked at once in its time-out.

use inart_p4runtime::p4::v1::IdleTimeoutNotification;
use prost::Message;

use super::idle_queue::timeout_us;
use super::limits;
use super::pipeline::Pipeline;

/// Result of an examination of idle entries.
#[derive(Debug, Default)]
pub(super) struct Idle {
    pub notice: Option<IdleTimeoutNotification>,
    /// Entries that were looked at.
    #[cfg(test)]
    pub examined: usize,
    /// Whether there may be more.
    pub is_cut: bool,
}

impl Pipeline {
    /// Returns the entries that have been idle for their time-out, and restarts their timers. Examines few of
    /// the due ones: a notice fits into a message that clients accept.
    pub(super) fn idle_entries(&mut self) -> Idle {
        let schema = self.schema.clone();
        let now_us = self.clock.now_us();
        let (mut idle, mut examined, mut bytes) = (Vec::new(), 0, 0);
        let is_full = |examined, bytes| examined >= limits::PAGE || bytes >= limits::PAGE_BYTES;
        while !is_full(examined, bytes)
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
                bytes += stored.entry.encoded_len();
                idle.push(stored.entry.clone());
            }
            stored.look_us = Some(due_us);
            self.idle.push(due_us, id, key);
        }
        let timestamp = super::clock::epoch_ns();
        let notice = (!idle.is_empty()).then_some(IdleTimeoutNotification { table_entry: idle, timestamp });
        Idle {
            notice,
            #[cfg(test)]
            examined,
            is_cut: is_full(examined, bytes),
        }
    }
}
