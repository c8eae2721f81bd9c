//! What a training program does.

use inart_peers_agent::{Received, Start};
use inart_protocol_peers::Outcome;

/// A training program, as its peer calls it: on the thread that runs the peer, one call at a time.
pub trait Training {
    /// Goes on from the average, if there is one, and computes the update of a round: as many values as the
    /// job says, all of them finite.
    fn compute(&mut self, start: &Start) -> Vec<f32>;

    /// The last round is over: takes the last average.
    fn finish(&mut self, start: &Start);

    /// An update of another peer is here, whole. There is nothing to do.
    fn received(&mut self, _update: &Received) {}

    /// The peer's own multicast of a round is over. `rounds_with_previous_receivers`: no choice of receivers
    /// came, so they were the last ones. There is nothing to do.
    fn ended(&mut self, _outcome: &Outcome, _without_choice: bool) {}
}
