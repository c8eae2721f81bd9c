//! Writes of checkpoints.

use std::sync::Arc;

use inart_connections::Work;

use super::ServerAgent;
use super::keeping::{Keeper, Keeping, KeptTraining};
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    /// Stores each version in `keeper`, from the start on: later incarnations continue this training.
    #[must_use]
    pub fn with_keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.keeping = Keeping { keeper: Some(keeper), is_due: true, ..Keeping::default() };
        self
    }

    /// Returns the write that must precede the next report or message.
    pub(super) fn next_write(&mut self) -> Option<Work<Result<(), String>>> {
        if !self.keeping.is_due || self.keeping.covered > 0 {
            return None;
        }
        let keeper = self.keeping.keeper.clone()?;
        (self.keeping.is_due, self.keeping.is_writing) = (false, true);
        self.keeping.covered = self.outputs.len();
        let training = KeptTraining {
            number: self.training.number,
            terms: self.training.agreement.all(),
            kept: self.sequencer.kept(),
        };
        Some(Work::new(move || keeper.keep(&training)))
    }
}
