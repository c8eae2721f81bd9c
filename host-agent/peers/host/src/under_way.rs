//! Messages that were given to the connections and have not ended.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::Rank;

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A chunk of an update.
    Chunk { round: u32, to: Rank, chunk: u32 },
    /// That this peer has ended its last round.
    LastNotice { to: Rank },
    /// Something to a coordinator.
    Report { to: String },
    /// Something that is said again if it is lost.
    Other,
}

/// Messages by their numbers; and who has heard of this peer's end.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    next_id: u64,
    sent: BTreeMap<u64, Sent>,
    told: BTreeSet<Rank>,
}

impl UnderWay {
    /// The number of the next message.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// A message of that number is given to a connection.
    pub fn begin(&mut self, what: Sent) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.sent.insert(id, what);
        id
    }

    /// A message has ended; what it was.
    pub fn end(&mut self, id: u64, is_taken: bool) -> Option<Sent> {
        let what = self.sent.remove(&id)?;
        if let Sent::LastNotice { to } = what
            && is_taken
        {
            self.told.insert(to);
        }
        Some(what)
    }

    /// Whether a peer has heard that this one has ended its last round.
    pub fn has_told(&self, rank: Rank) -> bool {
        self.told.contains(&rank)
    }

    /// A peer's connection has ended: what it has heard, another life of it may not know.
    pub fn forget(&mut self, rank: Rank) {
        self.told.remove(&rank);
    }
}
