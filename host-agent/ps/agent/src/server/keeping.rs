//! Versions on the disk: a server reports a version, and sends what follows from it, once it is kept.

use std::fmt;
use std::sync::Arc;

use inart_connections::Work;
use inart_terms::Terms;

use super::ServerAgent;
use crate::sequencer::{Kept, Sequencer};

/// Training as a server keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptTraining {
    /// The training's number.
    pub number: u64,
    /// Terms that its processes share.
    pub terms: Terms,
    /// The model and its counts.
    pub kept: Kept,
}

/// Place where a server keeps its model, such as a file.
pub trait Keeper: fmt::Debug + Send + Sync {
    /// Replaces what is kept. Returns once a restarted server would find it.
    ///
    /// # Errors
    /// The reason, as a line that names the place.
    fn keep(&self, training: &KeptTraining) -> Result<(), String>;
}

/// Progress of keeping.
#[derive(Debug, Clone, Default)]
pub struct Keeping {
    pub keeper: Option<Arc<dyn Keeper>>,
    /// A version that is not kept.
    pub is_due: bool,
    pub is_writing: bool,
    /// Reports that the last write covers.
    pub covered: usize,
}

impl<S: Sequencer> ServerAgent<S> {
    /// Keeps each version there, from the start on: a life that follows is of this training.
    #[must_use]
    pub fn with_keeper(mut self, keeper: Arc<dyn Keeper>) -> Self {
        self.keeping = Keeping { keeper: Some(keeper), is_due: true, ..Keeping::default() };
        self
    }

    /// The write that is due before the next report or message.
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
