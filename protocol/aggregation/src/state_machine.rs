//! Interface between state machines and their drivers.

use crate::Instant;

/// A host's side of the protocol, driven by a shell that owns a network interface and a clock, or by a
/// simulation.
///
/// The driver calls [`poll_transmit`](Self::poll_transmit) until it returns `None`, after every input and
/// whenever [`next_deadline`](Self::next_deadline) is reached. Time never goes backwards.
pub trait StateMachine {
    /// Handles a frame from the network; invalid frames are counted.
    fn handle_frame(&mut self, now: Instant, bytes: &[u8]);

    /// Writes the next frame to send now to the front of `buffer` and returns its length. The buffer has room
    /// for a frame of the job.
    fn poll_transmit(&mut self, now: Instant, buffer: &mut [u8]) -> Option<usize>;

    /// Returns when to call `poll_transmit` next if no frame arrives.
    fn next_deadline(&self) -> Option<Instant>;
}
