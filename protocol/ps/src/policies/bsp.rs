//! Bulk synchronous parallel: all together.

use crate::order::Order;
use crate::seats::{Seats, WorkerNo};

/// An iteration ends when all have pushed; then all pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bsp;

impl Order for Bsp {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        let all = seats.members().iter().all(|&member| seats.seat(member).is_held());
        if all { seats.held().iter().copied().collect() } else { Vec::new() }
    }

    fn permits(&self, _: &Seats, _: WorkerNo) -> bool {
        true
    }
}
