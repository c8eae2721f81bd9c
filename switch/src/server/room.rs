//! Memory for entities that controllers write: entries, members, groups, sessions and value sets, in bytes.

use prost::Message;
use tonic::Status;

use super::limits::{self, beyond};

/// Bytes that an entity takes of the switch's memory in addition to its message.
const OVERHEAD: u64 = 512;

/// Memory that the entities of a pipeline take.
#[derive(Debug)]
pub(super) struct Room {
    used: u64,
    most: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self { used: 0, most: limits::WRITTEN_BYTES }
    }
}

fn bytes(entity: &impl Message) -> u64 {
    entity.encoded_len() as u64 + OVERHEAD
}

impl Room {
    /// Refuses an entity, in place of one before, for which there is no room.
    pub fn check<M: Message>(&self, before: Option<&M>, given: &M) -> Result<(), Status> {
        let used = self.used.saturating_sub(before.map_or(0, bytes)) + bytes(given);
        match used > self.most && used > self.used {
            true => Err(beyond(format!(
                "all entities would take {used} bytes of memory, at most {}: delete some",
                self.most
            ))),
            false => Ok(()),
        }
    }

    /// Counts an entity in place of one before.
    pub fn count<M: Message>(&mut self, before: Option<&M>, after: Option<&M>) {
        self.used = self.used.saturating_sub(before.map_or(0, bytes)) + after.map_or(0, bytes);
    }
}

#[cfg(test)]
#[path = "room_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
