//! Participants: workers by rank, switches and the server.

/// Ranks as a bitmap.
pub type Ranks = u8;

/// Returns that worker alone.
pub fn one(worker: u8) -> Ranks {
    1 << worker
}

/// Returns the ranks in a bitmap, ascending.
pub fn ranks(bitmap: Ranks) -> impl Iterator<Item = u8> {
    (0..8).filter(move |worker| bitmap >> worker & 1 == 1)
}

/// Next node of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// The switch of that number.
    Switch(u8),
    /// Tofino switch for the second time, for the other half of the values.
    Again(u8),
    /// The parameter server.
    Server,
    /// The worker of that rank.
    Worker(u8),
    /// Every worker: a multicast, of which each copy has its own fate.
    Workers,
}
