//! Who takes part: workers by rank, switches and the server.

/// Ranks as a bitmap.
pub type Ranks = u8;

/// That worker alone.
pub fn one(worker: u8) -> Ranks {
    1 << worker
}

/// The ranks in a bitmap, ascending.
pub fn ranks(bitmap: Ranks) -> impl Iterator<Item = u8> {
    (0..8).filter(move |worker| bitmap >> worker & 1 == 1)
}

/// Where a frame arrives next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// The switch of that number.
    Switch(u8),
    /// The same switch of Tofino once more, for the other half of the values.
    Again(u8),
    /// The parameter server.
    Server,
    /// The worker of that rank.
    Worker(u8),
    /// Every worker: a multicast, of which each copy has its own fate.
    Workers,
}
