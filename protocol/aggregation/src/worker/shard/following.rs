//! State of a flow that follows its server to another plan version.

use alloc::vec::Vec;

/// State of a flow that follows its server. Meanwhile every chunk belongs to one plan version, equal at all
/// workers: the one named by the result of the previous chunk at its window position.
#[derive(Clone, Debug, Default)]
pub(crate) struct Following {
    /// Whether the server coordinates the migration, or will: until the previous plan version is closed, or
    /// the worker is ordered to migrate.
    pub coordinated: bool,
    /// Whether everything is sent in the worker's previous plan version, until the server migrates.
    pub behind: bool,
    /// Unsent chunks of that plan version although the server has migrated: other workers may have sent them
    /// before.
    pub early: Vec<u64>,
    /// Planned rate once nothing of that plan version is left, in bits of Ethernet frames per second.
    pub next_bps: Option<f64>,
}

impl Following {
    /// Handles a chunk's first transmission. Returns whether it uses the worker's previous plan version
    /// although the server has migrated.
    pub fn take_early(&mut self, chunk: u64) -> bool {
        let place = self.early.iter().position(|early| *early == chunk);
        place.map(|place| self.early.swap_remove(place)).is_some()
    }
}
