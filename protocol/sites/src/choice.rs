//! Choice of a chunk's path between two tree neighbors, the tree's link or an auxiliary path around it
//! (NETSTORM, Section IV-C), and of the sending order.

/// Direction in which a site hands chunks to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sending {
    /// Immediate sending on the tree's link.
    AtOnce,
    /// Sending on the tree's link or an auxiliary path.
    Auxiliary(AuxiliaryUse),
    /// Sending in ascending order of chunk numbers: a link is given another chunk when it holds fewer than
    /// `on_link`. Sums of early chunks then do not wait behind late chunks of leaves.
    InOrder {
        /// At least 1; 2 keep a link busy.
        on_link: u32,
    },
}

/// Time at which the path of a chunk is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuxiliaryChoice {
    /// When the chunk is ready.
    Eager,
    /// When a link has room for the chunk.
    Lazy,
}

/// Use of auxiliary paths, by the load of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuxiliaryUse {
    /// Time of the choice.
    pub choice: AuxiliaryChoice,
    /// Number of chunks above which the tree's link is busy (PRIMARY_BUSY_BOUND).
    pub busy_bound: u32,
    /// Number of chunks on its first link below which a path may take another chunk (AUXILIARY_QUEUE_LENGTH).
    pub queue_length: u32,
}

impl Default for AuxiliaryUse {
    /// Returns the values of Table II of the NETSTORM paper, and `lazy`.
    fn default() -> Self {
        AuxiliaryUse { choice: AuxiliaryChoice::Lazy, busy_bound: 2, queue_length: 1 }
    }
}

impl AuxiliaryUse {
    /// Whether the tree's link, with `on_link` chunks, takes no more chunks while other paths have room.
    pub fn is_busy(self, on_link: u32) -> bool {
        on_link > self.busy_bound
    }

    /// Whether a path whose first link holds `on_link` chunks may take another one.
    pub fn has_room(self, on_link: u32) -> bool {
        on_link < self.queue_length
    }
}
