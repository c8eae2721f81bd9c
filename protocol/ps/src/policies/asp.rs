//! Asynchronous parallel: everybody by itself.

use crate::order::Order;
use crate::seats::{Seats, WorkerNo};

/// An update is applied when it arrives; its worker pulls at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Asp;

impl Order for Asp {
    fn applied(&self, seats: &Seats) -> Vec<WorkerNo> {
        seats.held().first().copied().into_iter().collect()
    }

    fn permits(&self, _: &Seats, _: WorkerNo) -> bool {
        true
    }
}
