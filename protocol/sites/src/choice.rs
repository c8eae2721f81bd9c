//! Which way a chunk takes between two neighbours of a tree: the tree's link, or an auxiliary path around it
//! (NETSTORM, Section IV-C), and in which order chunks go.

/// How a site hands chunks to its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sending {
    /// As soon as they can go, by the tree's link.
    AtOnce,
    /// By the tree's link or an auxiliary path.
    Auxiliary(AuxiliaryUse),
    /// The chunk of least number first: a link is given another one when it holds fewer than so many. So the
    /// sums of early chunks do not wait behind what leaves have to send of late ones.
    InOrder {
        /// At least 1; 2 keep a link busy.
        on_link: u32,
    },
}

/// When the way of a chunk is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuxiliaryChoice {
    /// When it is to be sent.
    Eager,
    /// When a link has room for it.
    Lazy,
}

/// How auxiliary paths are used, by what waits or is being sent on links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AuxiliaryUse {
    /// When the way is chosen.
    pub choice: AuxiliaryChoice,
    /// The tree's link is busy above so many chunks (PRIMARY_BUSY_BOUND).
    pub busy_bound: u32,
    /// A path may take a chunk while its first link holds fewer than so many (AUXILIARY_QUEUE_LENGTH).
    pub queue_length: u32,
}

impl Default for AuxiliaryUse {
    /// Table II of the NETSTORM paper, and `lazy`.
    fn default() -> Self {
        AuxiliaryUse { choice: AuxiliaryChoice::Lazy, busy_bound: 2, queue_length: 1 }
    }
}

impl AuxiliaryUse {
    /// Whether the tree's link, with so many chunks on it, takes no more while there are other ways.
    pub fn is_busy(self, on_link: u32) -> bool {
        on_link > self.busy_bound
    }

    /// Whether a path whose first link holds so many chunks may take one.
    pub fn has_room(self, on_link: u32) -> bool {
        on_link < self.queue_length
    }
}
