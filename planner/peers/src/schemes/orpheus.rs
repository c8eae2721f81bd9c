//! Orpheus: random receivers, regardless of the ports' rates.

use crate::pairs::Pairs;
use inart_virtual::SplitMix64;

/// Draws one peer's receivers: forced ones first, then others at random until there are `receivers`.
pub fn receivers_of(from: usize, forced: &Pairs, receivers: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut chosen: Vec<usize> = forced.receivers(from).collect();
    let free: Vec<usize> = (0..forced.peers()).filter(|&to| to != from && !forced.has(from, to)).collect();
    chosen.extend(random.sample(&free, receivers.saturating_sub(chosen.len())));
    chosen.sort_unstable();
    chosen
}

/// Returns all peers' receivers, peers ascending.
pub(crate) fn select(forced: &Pairs, receivers: usize, random: &mut SplitMix64) -> Pairs {
    let mut chosen = Pairs::none(forced.peers());
    for from in 0..forced.peers() {
        for to in receivers_of(from, forced, receivers, random) {
            chosen.insert(from, to);
        }
    }
    chosen
}
