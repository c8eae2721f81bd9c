//! State of the training program.

use inart_sites_agent::{PART_BYTES, TrainingState};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Training;
use crate::error::SimulationError;

impl Training {
    /// Returns the state before a round, equal at all sites.
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

    /// Checks a state that a site has loaded.
    pub(super) fn loaded(&mut self, at: usize, round: u32, training: &[u8]) -> Result<(), SimulationError> {
        if self.state_before(round).bytes()[..] != *training {
            return Err(SimulationError::State { site: self.site_name(at), round });
        }
        if training.len() > PART_BYTES {
            self.count("state loaded in parts");
        }
        Ok(())
    }
}
