//! Where a flow is that follows its server from one plan version to another.

use alloc::vec::Vec;

/// Of a flow that follows its server. In that time every chunk belongs to one plan version, the same at all
/// workers: that which the result of the chunk before it at its window position says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Following {
    /// Whether the server leads, or will: until the previous plan version is closed, or the worker is told to
    /// move.
    pub coordinated: bool,
    /// Whether everything is sent in the plan version that the worker came from, until the server moves.
    pub behind: bool,
    /// Chunks that were never sent and go in that plan version although the server has moved: other workers
    /// may have sent them before.
    pub early: Vec<u64>,
    /// The planned rate from when on nothing of that plan version is left, in bits of Ethernet frames per
    /// second.
    pub next_bps: Option<f64>,
}

impl Following {
    /// That chunk is sent for the first time; whether it goes in the plan version that the worker came from
    /// although the server has moved.
    pub fn take_early(&mut self, chunk: u64) -> bool {
        let place = self.early.iter().position(|early| *early == chunk);
        place.map(|place| self.early.swap_remove(place)).is_some()
    }
}
