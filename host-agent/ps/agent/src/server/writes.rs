//! Writes of checkpoints.

use std::sync::Arc;

use inart_connections::Work;

use super::ServerAgent;
use super::checkpoints::{CheckpointStore, Checkpoints, TrainingCheckpoint};
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    /// Stores each version in `store`, from the start on: later incarnations continue this training.
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn CheckpointStore>) -> Self {
        self.checkpoints = Checkpoints { store: Some(store), is_due: true, ..Checkpoints::default() };
        self
    }

    /// Returns the write that must precede the next report or message.
    pub(super) fn next_write(&mut self) -> Option<Work<Result<(), String>>> {
        if !self.checkpoints.is_due || self.checkpoints.covered > 0 {
            return None;
        }
        let store = self.checkpoints.store.clone()?;
        (self.checkpoints.is_due, self.checkpoints.is_writing) = (false, true);
        self.checkpoints.covered = self.outputs.len();
        let training = TrainingCheckpoint {
            number: self.training.number,
            terms: self.training.agreement.all(),
            kept: self.sequencer.kept(),
        };
        Some(Work::new(move || store.keep(&training)))
    }
}
