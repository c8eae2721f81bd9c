//! Interface of training programs.

use inart_peers_agent::{Received, Start};
use inart_protocol_peers::Outcome;

/// A training program, as its peer calls it: on the thread that runs the peer, one call at a time.
pub trait Training {
    /// Starts from the average, if there is one, and computes the update of a round: as many values as the
    /// job has, all of them finite.
    fn compute(&mut self, start: &Start) -> Vec<f32>;

    /// Takes the last average after the last round.
    fn finish(&mut self, start: &Start);

    /// Takes note of another peer's complete update. The default does nothing.
    fn received(&mut self, _update: &Received) {}

    /// Takes note of the end of the peer's own multicast of a round. `rounds_with_previous_receivers`: no
    /// choice of receivers arrived, so the previous ones were used. The default does nothing.
    fn ended(&mut self, _outcome: &Outcome, _without_choice: bool) {}
}
