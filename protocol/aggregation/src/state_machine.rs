//! What drives a state machine, whichever it is.

use crate::Instant;

/// A host's side of the protocol, driven by a shell that owns a network interface and a clock, or by a
/// simulation.
///
/// The shell calls [`poll_transmit`](Self::poll_transmit) until it answers `None` after every input and
/// whenever [`next_deadline`](Self::next_deadline) is reached. Time never goes backwards.
pub trait StateMachine {
    /// Takes in a frame from the network; whatever it is, it is at least counted.
    fn handle_frame(&mut self, now: Instant, bytes: &[u8]);

    /// Writes the next frame to send now to the front of `buffer` and returns its length. The buffer has room
    /// for a frame of the job.
    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize>;

    /// When `poll_transmit` has something to do even if no frame comes.
    fn next_deadline(&self) -> Option<Instant>;
}
