//! The training program's state, in parts that take their time.

use inart_protocol_sites::SiteNo;
use inart_sites_agent::{PART_BYTES, TrainingState};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::World;
use crate::error::SimulationError;

/// Time that a whole part of a state is on a link, in seconds. Links are as slow as the gradient is short;
/// parts are not shorter, so they do not take the links' rates.
const PART_S: f64 = 1.5;

impl World<'_> {
    /// The state before a round, the same at all sites.
    pub(super) fn state_before(&mut self, round: u32) -> TrainingState {
        let (seed, length) = (self.options.seed, self.options.state_bytes);
        let state = self.states.entry(round).or_insert_with(|| {
            let mut bytes = vec![0; length];
            let mut draws = ChaCha8Rng::seed_from_u64(seed);
            draws.set_stream(1 << 32 | u64::from(round));
            draws.fill_bytes(&mut bytes);
            TrainingState::new(bytes.into())
        });
        state.clone()
    }

    /// A site has loaded a state.
    pub(super) fn loaded(&mut self, at: usize, round: u32, training: &[u8]) {
        if self.state_before(round).bytes()[..] != *training {
            let site = self.overlay.sites()[at].clone();
            self.failure = Some(SimulationError::State { site, round });
        } else if training.len() > PART_BYTES {
            self.count("state loaded in parts");
        }
    }

    /// Returns the time that a part of `bytes` is under way, behind the parts before it, beside the link's
    /// delay, in seconds.
    pub(super) fn part_takes_s(&mut self, from: SiteNo, to: SiteNo, bytes: usize) -> f64 {
        let now_s = self.now_s();
        let free_s = self.parts_s.entry((from, to)).or_insert(0.0);
        *free_s = free_s.max(now_s) + PART_S * bytes as f64 / PART_BYTES as f64;
        *free_s - now_s
    }

    /// Counts a request for a state from this byte on, if it asks for the rest of one.
    pub(super) fn wants_state(&mut self, offset: u64) {
        if offset > 0 {
            self.count("state resumed after its first parts");
        }
    }
}
