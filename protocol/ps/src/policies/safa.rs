//! Semi-synchronous parallel (SAFA, Wu et al., IEEE Trans. Computers 70(5)): a part of the workers together,
//! the others when they come.

use crate::order::Order;
use crate::part::Part;
use crate::seats::{Seats, Standing, WorkerNo};

/// A version ends when a part of the workers have pushed, and nobody else lags too far behind; then those
/// that pushed pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Safa {
    /// C: the part of the workers; above 0.
    pub fraction: Part,
    /// The most versions that a worker may lag behind when a version ends.
    pub lag: u64,
}

impl Order for Safa {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        let needed = self.fraction.at_least_of(seats.members().len()).max(1);
        let lags = |worker: &WorkerNo| {
            let seat = seats.seat(*worker);
            seat.standing() == Standing::Working && seats.version() - seat.base() > self.lag
        };
        // Without members, what is held was pushed by those that left.
        let is_enough = seats.held().len() >= needed || seats.members().is_empty();
        match is_enough && !seats.members().iter().any(lags) {
            true => seats.held().iter().copied().collect(),
            false => Vec::new(),
        }
    }

    fn permits(&self, _: &Seats, _: WorkerNo) -> bool {
        true
    }
}
